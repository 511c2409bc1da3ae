# SPDX-License-Identifier: Apache-2.0
"""Rows become persons: which are kept, in which order they stand, and what is refused. Also through files: `tests/cli/test_persons.py`."""

import numpy as np
import polars as pl
import pytest

from overt import read_file, read_frame
from overt.errors import InvalidInput
from overt.io.person_rows import PersonRows

VISITS = pl.DataFrame(
    {
        "id": ["b", "a ", "a", " b", "c", "a"],
        "born": [1950, 1960, 1960, 1950, 1970, None],
        "day": ["2024-01-05", "2024-03-01", "2024-01-01", "2024-02-02", "2024-05-05", "2024-02-01"],
        "ill": ["flu", "cold", "flu", "cold", "flu", "gout"],
    }
)
ROLES = {"quasi_identifiers": ["born", "day"], "sensitive": ["ill"], "person": "id", "varies": ["day"]}


def cells(column):
    return [column.values[code] for code in column.codes.tolist()]


def rows(table):
    """(person) -> the values of their rows, as `ill` and `day` say."""
    ill = table.column("ill")
    assert ill.bundles is not None
    first, code = ill.bundles.rows(ill.codes)
    days = [cells(column) for column in table.columns if column.name.startswith("day")]
    return [
        list(zip([ill.bundles.values[c] for c in code[a:b].tolist()], [str(day[x]) for day in days], strict=False))
        for x, (a, b) in enumerate(zip(first[:-1].tolist(), first[1:].tolist(), strict=True))
    ]


def test_rows_of_a_person_are_put_together_in_the_order_of_their_days():
    table = read_frame(VISITS, **ROLES, order="day")
    assert table.n_rows == 3 and table.persons.n_rows == 6 and table.persons.n_cut == 0
    assert cells(table.column("born")) == [
        1960,
        1950,
        1970,
    ]  # a missing cell takes the value of the person's other rows
    assert cells(table.column("number of rows")) == [3, 2, 1]
    assert rows(table) == [
        [("flu", "2024-01-01"), ("gout", "2024-02-01"), ("cold", "2024-03-01")],
        [("flu", "2024-01-05"), ("cold", "2024-02-02")],
        [("flu", "2024-05-05")],
    ]
    assert not table.persons.draws and table.order == ("number of rows", "born", "day (1)", "day (2)", "day (3)", "ill")


@pytest.mark.parametrize(("which", "kept"), [("latest", ["gout", "cold"]), ("first", ["flu", "gout"])])
def test_the_latest_or_the_first_rows_are_kept(which, kept):
    table = read_frame(VISITS, **ROLES, order="day", keep=2, which=which)
    assert [value for value, _ in rows(table)[0]] == kept
    assert table.persons.n_cut == 1 and cells(table.column("number of rows")) == [2, 2, 1]


def test_a_key_repeats_what_was_drawn_and_every_row_can_be():
    drawn = set()
    for key in range(40):
        one, again = (read_frame(VISITS, **ROLES, keep=1, key=key) for _ in range(2))
        assert cells(one.column("ill")) == cells(again.column("ill"))
        assert not one.has_bundles and one.persons.draws
        drawn.add(cells(one.column("ill"))[0])
    assert drawn == {"flu", "cold", "gout"}


def test_with_static_knowledge_visits_go_into_the_bundles_and_counts_are_not_known():
    table = read_frame(VISITS, **ROLES, known="static")
    assert [column.name for column in table.quasi_identifiers] == ["born"]
    assert table.column("day").bundles.carried and not table.column("ill").bundles.by_length


def test_ties_in_public_columns_are_broken_by_coins_and_never_by_what_is_sensitive():
    """Sorted by diagnosis inside a day, two persons with the same bundle would differ by which of their days are the same."""
    same = pl.DataFrame({"id": ["a", "a"], "born": [1, 1], "day": [5, 5], "other": [1, 2], "ill": ["flu", "cold"]})
    roles = ROLES | {"quasi_identifiers": ["born", "day", "other"], "varies": ["other"]}
    found = {
        cells(read_frame(same, **roles | {"varies": ["other"]}, order="day", key=key).column("ill"))[0]
        for key in range(20)
    }
    assert found == {"flu | cold", "cold | flu"}


REFUSED = [
    ({"varies": []}, "Column 'day' differs between the rows of 2 of 2 persons who have several"),
    ({"varies": ["day", "born"]}, "'born' has varies = true and is the same in all rows of each person"),
    ({"varies": ["ill"]}, "varies names 'ill', which is no quasi-identifier"),
    ({"person": "born"}, "says whose row it is and is never released"),
    ({"which": "latest", "keep": 1}, "needs order"),
    ({"order": "ill"}, "is sensitive and cannot be the order"),
    ({"keep": 0}, "whole number of at least 1"),
    ({"others": ["note"]}, "Columns without a role cannot be released"),
]


@pytest.mark.parametrize(("said", "words"), REFUSED, ids=lambda said: str(said)[:40])
def test_what_does_not_fit_is_refused_in_words(said, words):
    frame = VISITS.with_columns(note=pl.lit("x"))
    with pytest.raises(InvalidInput, match=words):
        read_frame(frame, **(ROLES | said))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"column": ["id", "home"]}, "Several kinds of persons that are linked"),
        ({"column": "id", "known": "nothing"}, "choose one of 'visits', 'static'"),
        ({"column": "id", "keep": "most"}, "whole number of at least 1"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused_wherever_it_comes_from(said, words):
    with pytest.raises(InvalidInput, match=words):
        PersonRows(**said)


def test_rows_without_a_person_are_counted_and_located(tmp_path):
    path = tmp_path / "visits.csv"
    VISITS.with_columns(id=pl.Series(["b", "a", "", " ", "c", "a"])).write_csv(path)
    with pytest.raises(
        InvalidInput, match=r"Column 'id', which says whose row it is, is empty in 2 rows \(lines 4 and 5\)"
    ):
        read_file(path, **ROLES)


def test_one_person_with_very_many_rows_is_refused_with_a_number_to_keep():
    n = 5_000
    frame = pl.DataFrame(
        {"id": ["x"] * n + [str(i // 2) for i in range(200)], "born": [0] * n + [i // 2 for i in range(200)],
         "day": [i * 2_311 % (n + 200) for i in range(n + 200)], "ill": ["flu"] * (n + 200)}
    )  # fmt: skip
    with pytest.raises(InvalidInput, match=r"Somebody has 5,000 rows.*keep = 2"):
        read_frame(frame, **ROLES)
    assert read_frame(frame, **ROLES, keep=2).n_rows == 101
    assert read_frame(frame, **ROLES, known="static").n_rows == 101


def test_a_table_in_which_nobody_has_several_rows_is_an_ordinary_one():
    table = read_frame(VISITS.unique("born").filter(pl.col("born").is_not_null()), **ROLES | {"varies": []})
    assert not table.has_bundles and table.persons is not None and not table.persons.draws


def test_persons_without_a_sensitive_value_go_with_all_their_rows():
    frame = VISITS.with_columns(ill=pl.Series(["flu", "cold", None, "cold", "flu", "gout"]))
    with pytest.raises(InvalidInput, match="missing='drop' leaves out persons who lack one"):
        read_frame(frame, **ROLES)
    table = read_frame(frame, **ROLES, missing="drop")
    assert table.n_rows == 2 and table.n_dropped == 1
    assert read_frame(frame, **ROLES, missing="own value").n_rows == 3


def test_bundles_are_told_apart_however_their_values_are_written():
    frame = pl.DataFrame(
        {"id": [1, 1, 2, 3, 3], "born": [1, 1, 2, 3, 3], "ill": ["a", "b", "a | b", 'a" | "b', "missing"]}
    )
    table = read_frame(frame, quasi_identifiers=["born"], sensitive=["ill"], person="id", known="static")
    assert table.column("ill").n_values == 3 == table.column("ill").values.n_unique()
    assert np.unique(table.column("ill").codes).size == 3


def test_a_column_that_hardly_varies_never_stands_exactly_beside_what_is_sensitive():
    """Ages at two visits a year apart, and an address that few persons changed: either finds its person in a bundle."""
    n = 200
    frame = pl.DataFrame(
        {"id": [i // 2 for i in range(n)], "born": [1900 + i // 2 for i in range(n)], "age": [i // 2 + i % 2 for i in range(n)],
         "home": [f"street {i // 2 + (i == 1)}" for i in range(n)], "day": [i * 37 % n for i in range(n)], "ill": ["a", "b"] * (n // 2)}
    )  # fmt: skip
    roles = {"sensitive": ["ill"], "person": "id", "others": []}
    for name in ("age", "home"):
        said = roles | {"quasi_identifiers": ["born", name], "varies": [name]}
        with pytest.raises(InvalidInput, match=f"Column '{name}' differs little or seldom"):
            read_frame(frame, **said, known="static")
        assert read_frame(frame, **said).n_rows == n // 2
    assert (
        read_frame(frame, **roles, quasi_identifiers=["born", "day"], varies=["day"], known="static").n_rows == n // 2
    )
