# SPDX-License-Identifier: Apache-2.0
"""Random small tables for property tests, built from codes."""

import numpy as np
import polars as pl
from hypothesis import strategies as st

from overt.table import Column, Kind, Role, Table


def table_of(quasi_identifiers, sensitive, *, n_codes=None, kinds=None):
    """A table from lists of codes: one list per quasi-identifier, one for the sensitive column (or several)."""
    if len(sensitive) and not isinstance(sensitive[0], (list, tuple, np.ndarray)):
        sensitive = [sensitive]
    columns = []
    for j, codes in enumerate(quasi_identifiers):
        kind = kinds[j] if kinds else Kind.NUMBER
        columns.append(column_of(f"q{j}", Role.QUASI_IDENTIFIER, kind, codes, n_codes and n_codes[j]))
    for j, codes in enumerate(sensitive):
        columns.append(column_of(f"s{j}", Role.SENSITIVE, Kind.CATEGORY, codes, None))
    return Table(tuple(columns), pl.DataFrame())


def column_of(name, role, kind, codes, n_codes=None):
    codes = np.asarray(codes, np.int32)
    n_codes = n_codes or int(codes.max(initial=0)) + 1
    values = list(range(n_codes)) if kind is Kind.NUMBER else [f"v{code:03}" for code in range(n_codes)]
    return Column(name, role, kind, codes, pl.Series(values))


@st.composite
def tables(draw, min_rows=1, max_rows=12, max_columns=3, max_code=4, max_value=3):
    """A table of up to `max_columns` quasi-identifiers and one sensitive column."""
    n_rows = draw(st.integers(min_rows, max_rows))
    n_columns = draw(st.integers(1, max_columns))
    kinds = draw(st.lists(st.sampled_from([Kind.NUMBER, Kind.CATEGORY]), min_size=n_columns, max_size=n_columns))
    rows = st.lists(st.integers(0, max_code), min_size=n_rows, max_size=n_rows)
    quasi = [draw(rows) for _ in range(n_columns)]
    sensitive = draw(st.lists(st.integers(0, max_value), min_size=n_rows, max_size=n_rows))
    return table_of(quasi, sensitive, n_codes=[max_code + 1] * n_columns, kinds=kinds)
