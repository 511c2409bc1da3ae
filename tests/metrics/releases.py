# SPDX-License-Identifier: Apache-2.0
"""Random small releases: any rows in any groups, columns of every form, with and without missing values."""

from itertools import product

import numpy as np
import polars as pl
from hypothesis import strategies as st

from oracles import metrics as oracle
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
    group_of_row = np.array(draw(st.lists(st.integers(-1, 3), min_size=n_rows, max_size=n_rows)))
    group_of_row[0] = max(0, group_of_row[0])  # at least one row is not suppressed
    kept = group_of_row >= 0
    group_of_row[kept] = np.unique(group_of_row[kept], return_inverse=True)[1]
    partition = Partition(group_of_row.astype(np.int32), int(group_of_row.max()) + 1)
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
        if group >= 0:
            groups[group].append(row)
    return groups


def parts_of(release):
    """Lists of rows: the groups, and then the suppressed rows, if there are any."""
    suppressed = np.flatnonzero(release.partition.group_of_row < 0).tolist()
    return [*groups_of(release), *([suppressed] if suppressed else [])]


def cells_of(release, column):
    """The codes that each part allows."""
    form = {"number": "range", "secret": "set"}.get(column.name, column.name)
    codes = [[int(column.codes[row]) for row in group] for group in groups_of(release)]
    cells = [oracle.allowed(form, group, column.n_values, column.missing_code, _ancestor) for group in codes]
    return cells + [set(range(column.n_values))] * (len(parts_of(release)) - len(cells))


def seen_groups_of(release):
    """Lists of rows that a reader cannot tell apart by their quasi-identifiers."""
    cells = zip(*(cells_of(release, column) for column in release.table.quasi_identifiers), strict=True)
    seen = {}
    for group, shown in zip(groups_of(release), cells, strict=False):
        seen.setdefault(tuple(map(frozenset, shown)), []).extend(group)
    return list(seen.values())


def _ancestor(present):
    """The leaves below the lowest node of the prefix tree that covers some codes."""
    for length in (3, 2, 1):
        if len({CODES[code][:length] for code in present}) == 1:
            prefix = CODES[next(iter(present))][:length]
            return {code for code, text in enumerate(CODES) if text.startswith(prefix)}
    return set(range(len(CODES)))
