# SPDX-License-Identifier: Apache-2.0
"""Tables: immutable, checked once, and clear about what is wrong."""

import numpy as np
import polars as pl
import pytest

from overt.errors import InvalidInput
from overt.hierarchy import Flat
from overt.table import Column, Kind, Role, Table
from tables import column_of, table_of


def column(codes, values, **settings):
    return Column("age", Role.QUASI_IDENTIFIER, Kind.NUMBER, np.asarray(codes, np.int32), pl.Series(values), **settings)


def test_codes_cannot_be_changed():
    codes = column([0, 1], [3, 4]).codes
    with pytest.raises(ValueError, match="read-only"):
        codes[0] = 1


def test_a_missing_value_has_the_last_code():
    assert column([0, 1], [3, None]).missing_code == 1
    assert column([0, 1], [3, 4]).missing_code is None


@pytest.mark.parametrize("codes", [[0, 2], [-1, 0]])
def test_codes_outside_the_dictionary_are_refused(codes):
    with pytest.raises(InvalidInput, match="codes outside its dictionary of 2 values"):
        column(codes, [3, 4])


def test_codes_of_another_type_are_refused():
    with pytest.raises(InvalidInput, match="codes of type int64; int32 is expected"):
        Column("age", Role.SENSITIVE, Kind.NUMBER, np.zeros(1, np.int64), pl.Series([1]))


def test_a_hierarchy_of_other_values_is_refused():
    tree = Flat().build(pl.Series([1, 2, 3]), Kind.NUMBER)
    with pytest.raises(InvalidInput, match="has 3 leaves, the column 2 values"):
        column([0, 1], [1, 2], hierarchy=tree)


def test_columns_by_role_and_name():
    table = table_of([[0, 1], [1, 0]], [[0, 0], [1, 0]])
    assert [column.name for column in table.quasi_identifiers] == ["q0", "q1"]
    assert [column.name for column in table.sensitive] == ["s0", "s1"]
    assert table.n_rows == 2 and table.column("s1").codes.tolist() == [1, 0]
    with pytest.raises(InvalidInput, match="no column 'age'; the columns are 'q0', 'q1', 's0', 's1'"):
        table.column("age")
    with pytest.raises(InvalidInput, match="Anatomy needs exactly one sensitive column and the table has 2"):
        table.the_sensitive("Anatomy")
    assert table_of([[0]], [0]).the_sensitive("Anatomy").name == "s0"


def test_tables_that_cannot_be():
    quasi = column_of("a", Role.QUASI_IDENTIFIER, Kind.NUMBER, [0, 1])
    short = column_of("b", Role.SENSITIVE, Kind.NUMBER, [0])
    with pytest.raises(InvalidInput, match=r"different lengths: \[1, 2\]"):
        Table((quasi, short), pl.DataFrame())
    with pytest.raises(InvalidInput, match=r"different lengths: \[1, 2\]"):
        Table((quasi,), pl.DataFrame({"x": [1]}))
    with pytest.raises(InvalidInput, match="two columns of the same name"):
        Table((quasi,), pl.DataFrame({"a": [1, 2]}))
    with pytest.raises(InvalidInput, match="two columns of the same name"):
        Table((quasi,), pl.DataFrame(), identifiers=("a",))
    with pytest.raises(InvalidInput, match="no quasi-identifier"):
        Table((short,), pl.DataFrame())
