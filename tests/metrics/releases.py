# SPDX-License-Identifier: Apache-2.0
"""Random small releases: any rows in any groups, columns of every form, with and without missing values."""

from itertools import product

import numpy as np
import polars as pl
from hypothesis import strategies as st

from overt.hierarchy import Prefixes
from overt.partition import Partition
from overt.release import BucketRelease, GeneralizedRelease
from overt.table import Column, Kind, Role, Table

CODES = ["".join(letters) for letters in product("ab", "cd", "ef")]  # eight texts, prefixes of length 1 and 2


@st.composite
def releases(draw, kinds=(GeneralizedRelease, BucketRelease), max_rows=12):
    n_rows = draw(st.integers(1, max_rows))
    numbers = [0, 1, 4, 9, 20] + ([None] if draw(st.booleans()) else [])
    texts = ["x", "y", "z"] + ([None] if draw(st.booleans()) else [])
    columns = (
        encoded("number", Role.QUASI_IDENTIFIER, Kind.NUMBER, numbers, draw_codes(draw, n_rows, numbers)),
        encoded("set", Role.QUASI_IDENTIFIER, Kind.CATEGORY, texts, draw_codes(draw, n_rows, texts)),
        encoded(
            "label", Role.QUASI_IDENTIFIER, Kind.CATEGORY, CODES, draw_codes(draw, n_rows, CODES), Prefixes((2, 1))
        ),
        encoded("secret", Role.SENSITIVE, Kind.CATEGORY, ["s", "t", "u"], draw_codes(draw, n_rows, "stu")),
    )
    group_of_row = draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    _, numbered = np.unique(group_of_row, return_inverse=True)
    partition = Partition(numbered.astype(np.int32), int(numbered.max()) + 1)
    return draw(st.sampled_from(kinds))(Table(columns, pl.DataFrame()), partition, None)


def draw_codes(draw, n_rows, values):
    return draw(st.lists(st.integers(0, len(values) - 1), min_size=n_rows, max_size=n_rows))


def encoded(name, role, kind, values, codes, builder=None):
    series = pl.Series(name, values)
    hierarchy = builder and builder.build(series, kind)
    return Column(name, role, kind, np.array(codes, np.int32), series, hierarchy)


def groups_of(release):
    """Lists of rows."""
    groups = [[] for _ in range(release.n_groups)]
    for row, group in enumerate(release.partition.group_of_row.tolist()):
        groups[group].append(row)
    return groups
