# SPDX-License-Identifier: Apache-2.0
"""Strata: what divides a table looks at quasi-identifiers only, is written in plain values, and refuses in words."""

import json
import tomllib
from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import overt
from overt.algorithms.blind_buckets import Among, ByColumns, Halvings, StrataTree, UpTo
from overt.algorithms.blind_buckets.strata import strata_of_plain
from tables import table_of, tables

FRAME = pl.DataFrame(
    {
        "Born": [date(1950, 1, 1), date(1960, 1, 1), date(1970, 1, 1), None],
        "Sex": ["F", "M", None, "F"],
        "Visits": [1, 2, 3, 4],
        "Disease": ["flu", "cold", "flu", "HIV"],
    }
)
TABLE = overt.read_frame(FRAME, quasi_identifiers=["Born", "Sex", "Visits"], sensitive=["Disease"])


def divided(strata, table=TABLE):
    return strata_of_plain(strata).divide(table).group_of_row.tolist()


def test_a_tree_asks_about_numbers_dates_and_categories():
    assert divided({"column": "Visits", "up_to": 2}) == [0, 0, 1, 1]
    assert divided({"column": "Visits", "up_to": 2.5, "yes": {"column": "Sex", "among": ["M", "X"]}}) == [1, 0, 2, 2]
    assert divided({"column": "Born", "up_to": "1960-01-01"}) == [0, 0, 1, 1]  # a missing value says no
    assert divided({"column": "Born", "up_to": date(1960, 1, 1)}) == [0, 0, 1, 1]
    assert divided({"column": "Sex", "among": ["F"]}) == [0, 1, 1, 0]
    assert divided({"column": "Visits", "up_to": 9}) == [0, 0, 0, 0]  # nobody says no: one stratum, not two
    assert divided({}) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "strata",
    [
        Halvings(3, ("Visits",)),
        ByColumns(("Sex",)),
        StrataTree(UpTo("Visits", 2), StrataTree(Among("Sex", ("F",)), StrataTree(), StrataTree()), StrataTree()),
    ],
    ids=lambda strata: type(strata).__name__,
)
def test_strata_survive_being_written(strata):
    assert strata_of_plain(strata.plain()) == strata
    assert strata_of_plain(json.loads(json.dumps(strata.plain()))) == strata
    assert hash(strata) == hash(strata_of_plain(strata.plain()))


def test_a_recipe_in_toml_is_read():
    plain = tomllib.loads('strata = { column = "Born", up_to = 1960-01-01, yes = { column = "Sex", among = ["F"] } }')
    assert divided(plain["strata"]) == [0, 1, 2, 2]


@given(table=tables(min_rows=2, max_rows=30), n=st.integers(0, 4), seed=st.integers(0, 9))
def test_halvings_do_not_look_at_values_or_at_the_order_of_rows(table, n, seed):
    strata = Halvings(n).divide(table)
    order = np.random.default_rng(seed).permutation(table.n_rows)
    columns = [column.codes[order] for column in table.quasi_identifiers]
    kinds = [column.kind for column in table.quasi_identifiers]
    shuffled = table_of(columns, [0] * table.n_rows, n_codes=[5] * len(columns), kinds=kinds)
    again = Halvings(n).divide(shuffled)
    assert again.group_of_row.tolist() == strata.group_of_row[order].tolist()
    assert strata.n_groups <= 2**n


def test_halves_are_as_even_as_values_allow():
    table = table_of([[0, 0, 0, 1, 2, 3, 3, 3]], [0] * 8)
    assert Halvings(1).divide(table).group_of_row.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    alike = table_of([[2, 2, 2]], [0] * 3)
    assert Halvings(3).divide(alike).n_groups == 1


@pytest.mark.parametrize(
    ("strata", "words"),
    [
        ("Sex", "Strata are written as a table"),
        ({"halvings": -1}, "halvings is -1"),
        ({"halvings": 2, "columns": "Sex"}, "'columns' needs texts in a list"),
        ({"halvings": 2, "columns": 3}, "'columns' needs texts in a list"),
        ({"halvings": 1, "columns": ["Disease"]}, "Strata need quasi-identifiers and 'Disease' is none"),
        ({"halvings": 1, "columns": ["Age"]}, "There is no column 'Age'"),
        ({"by": []}, "'by' is empty"),
        ({"by": ["Disease"]}, "a stratum made of values would give them away"),
        ({"column": "Visits"}, "Strata have the keys 'column'"),
        ({"column": "Visits", "up_to": 2, "among": ["F"]}, "Strata have the keys"),
        ({"column": "Visits", "upto": 2}, "Strata have the keys"),
        ({"column": "Visits", "up_to": True}, "needs a number or a date"),
        ({"column": "Visits", "up_to": "1960-01-01"}, "'up_to' of 'Visits' needs a number"),
        ({"column": "Born", "up_to": 3}, "'up_to' of 'Born' needs a date such as"),
        ({"column": "Born", "up_to": "60s"}, "'60s' is no date"),
        ({"column": "Sex", "up_to": 3}, "'Sex' has no order for 'up_to'"),
        ({"column": "Visits", "among": ["3"]}, "'Visits' has an order"),
        ({"column": 3, "up_to": 2}, "'column' needs the name of a quasi-identifier"),
        ({"column": "Disease", "among": ["HIV"]}, "Strata need quasi-identifiers and 'Disease' is none"),
        ({"column": "Visits", "up_to": float("nan")}, "not a finite number"),
    ],
)
def test_what_cannot_be_strata_is_refused_in_words(strata, words):
    with pytest.raises(overt.InvalidInput, match=words):
        divided(strata)


def test_strata_say_how_many_they_are():
    assert StrataTree().n_strata == 1
    assert StrataTree.of({"column": "Visits", "up_to": 2, "no": {"column": "Visits", "up_to": 3}}).n_strata == 3
    with pytest.raises(overt.InvalidInput, match="A tree has a question with what follows"):
        StrataTree(UpTo("Visits", 2))
