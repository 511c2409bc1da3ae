# SPDX-License-Identifier: Apache-2.0
from datetime import date, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import overt
from overt import KAnonymity, Mondrian, read_file, read_frame
from overt.engine.course import prepare
from overt.errors import InvalidInput, InvalidRecipe
from overt.hierarchy import Dates
from overt.io.date_formats import CANDIDATES, MONTHS, DateFormats, find_dates
from overt.io.recipe.recipe import parse_recipe
from overt.table import Kind

PLAIN = [form for form in CANDIDATES if "%b" not in form and "%y" not in form]


def found(*texts: str):
    return find_dates(pl.Series(texts), np.ones(len(texts), np.int64))


@given(st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31)), st.sampled_from(PLAIN))
def test_a_format_reads_what_pythons_calendar_writes(moment, form):
    read = DateFormats((form,)).iso_texts(pl.Series([moment.strftime(form)]))[0]
    assert datetime.fromisoformat(read) == datetime.strptime(moment.strftime(form), form)


@given(st.integers(0, 40), st.integers(0, 20), st.integers(1, 9999))
def test_a_day_that_is_not_in_the_calendar_is_not_read(day, month, year):
    read = DateFormats(("%d.%m.%Y",)).iso_texts(pl.Series([f"{day}.{month}.{year:04d}"]))[0]
    try:
        assert read == date(year, month, day).isoformat()
    except ValueError:
        assert read is None


def test_names_of_months_in_several_languages_and_two_digits_of_a_year():
    texts = pl.Series(["3 Mai 1999", "3 Ağustos 1999", "3 août 1999", "3 Dez. 1999", "3 Foo 1999"])
    iso = ["1999-05-03", "1999-08-03", "1999-08-03", "1999-12-03", None]
    assert DateFormats(("%d %b %Y",)).iso_texts(texts).to_list() == iso
    short = DateFormats(("%d.%m.%y",)).iso_texts(pl.Series(["1.1.29", "1.1.30", "1.1.66"]))
    assert short.to_list() == ["2029-01-01", "1930-01-01", "1966-01-01"]
    assert set(MONTHS.values()) == set(range(1, 13))


@pytest.mark.parametrize("form", ["", "%d.%m", "%Y", "%d.%m.%Y %q", "%d.%d.%m.%Y", "%d.%m.%Y %M"])
def test_a_format_that_gives_no_day_is_refused(form):
    with pytest.raises(InvalidInput, match="is not a format of dates"):
        DateFormats((form,))


def test_two_formats_that_read_one_cell_as_two_days_are_refused():
    with pytest.raises(InvalidInput, match="read the same cell as two days"):
        DateFormats(("%d/%m/%Y", "%m/%d/%Y"))


def test_formats_are_found_with_the_share_that_parses():
    days = [date(1966, 4, 19) + timedelta(days=37 * n) for n in range(95)]
    texts = [d.strftime("%d.%m.%Y") for d in days[:60]] + [d.isoformat() for d in days[60:]]
    mixed = found(*texts, "not known", "soon", "?", "n", "x")
    assert mixed is not None
    assert set(mixed.formats.formats) == {"%d.%m.%Y", "%Y-%m-%d"}
    assert mixed.share == pytest.approx(0.95)
    assert mixed.alternative is None


def test_day_and_month_are_told_apart_or_both_are_named():
    assert found("04/19/1966", "03/04/1970").formats.formats == ("%m/%d/%Y",)
    assert found("19/04/1966", "03/04/1970").formats.formats == ("%d/%m/%Y",)
    unclear = found("04/09/1966", "03/04/1970")
    assert {*unclear.formats.formats, unclear.alternative} == {"%d/%m/%Y", "%m/%d/%Y"}
    assert found("05/05/1966", "04/04/1970").alternative is None  # the same day either way


@pytest.mark.parametrize(
    "texts", [("0228 123456", "+49 228 1"), ("12345678", "87654321"), ("10.0.0.1", "10.0.0.2"), ("12.5", "13.7")]
)
def test_numbers_of_other_kinds_are_no_dates(texts):
    assert found(*texts) is None


def test_bad_cells_are_counted_and_located_and_never_quoted(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("Born,Age\n19.04.1966,30\nmonday-secret,31\n1.5.1970,unclear\n")
    asked = {"quasi_identifiers": ["Born", "Age"], "date_formats": {"Born": "%d.%m.%Y"}}
    with pytest.raises(InvalidInput, match=r"written %d.%m.%Y, and 1 cell is not one \(line 3\)") as refused:
        read_file(path, **asked)
    assert "secret" not in str(refused.value)
    asked |= {"unreadable": {"Born": "missing", "Age": "missing"}, "kinds": {"Age": "number"}}
    table = read_file(path, **asked)
    assert table.column("Born").kind is Kind.DATE
    assert table.column("Born").values.to_list() == [date(1966, 4, 19), date(1970, 5, 1), None]
    assert table.column("Age").values.to_list() == [30, 31, None]
    path.write_text('Born,Age\n19.04.1966,30\n\n"2.2.\n1970",31\n')  # rows that are not lines
    with pytest.raises(InvalidInput, match=r"\(row 2\)"):
        read_file(path, quasi_identifiers=["Born"], date_formats={"Born": "%d.%m.%Y"})


def test_lines_are_those_of_the_file_when_rows_are_left_out(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("Born\n19.04.1966\n1.5.1970\nbad\n")
    with pytest.raises(InvalidInput, match=r"\(line 4\)"):
        read_file(path, quasi_identifiers=["Born"], date_formats={"Born": "%d.%m.%Y"}, left_out=np.array([0]))


def test_a_sensitive_cell_that_cannot_be_read_is_a_missing_one():
    people = pl.DataFrame({"age": [31, 36, 31], "dose": ["1", "two", "3"]})
    asked = {"quasi_identifiers": ["age"], "sensitive": ["dose"], "kinds": {"dose": "number"}}
    with pytest.raises(InvalidInput, match="is missing in 1 of 3 rows"):
        read_frame(people, **asked, unreadable={"dose": "missing"})
    table = read_frame(people, **asked, unreadable={"dose": "missing"}, missing="drop")
    assert table.n_rows == 2
    assert table.column("dose").values.to_list() == [1, 3]


def test_days_and_moments_in_one_column_are_moments():
    people = pl.DataFrame({"seen": ["1.1.2023", "2.1.2023 08:30"]})
    table = read_frame(people, quasi_identifiers=["seen"], date_formats={"seen": ["%d.%m.%Y", "%d.%m.%Y %H:%M"]})
    assert table.column("seen").values.to_list() == [datetime(2023, 1, 1), datetime(2023, 1, 2, 8, 30)]


@given(st.lists(st.sampled_from(["19.04.1966", "1966-04-19", "x", "", "31.02.1999", "04.19.1966"]), min_size=1))
def test_row_by_row_every_cell_is_read_by_itself(cells):
    def read(texts):
        table = read_frame(
            pl.DataFrame({"born": texts}),
            quasi_identifiers=["born"],
            date_formats={"born": "%d.%m.%Y"},
            row_by_row=True,
        )
        column = table.column("born")
        return column.values.gather(column.codes).to_list()

    assert read(cells) == [one for cell in cells for one in read([cell])]
    assert read(["19.04.1966", "bad"]) == ["1966-04-19", None]


RECIPE = """
version = 1
[input]
path = "people.csv"
[columns.Born]
role = "quasi-identifier"
format = "%d.%m.%Y"
hierarchy = { dates = ["year", "decade"] }
[columns.Age]
role = "quasi-identifier"
kind = "number"
unreadable = "missing"
[[goal]]
property = "k-anonymity"
k = 2
[method]
name = "mondrian"
[output]
path = "release.csv"
"""


def test_a_release_of_dates_as_people_write_them_is_checked(tmp_path):
    (tmp_path / "people.csv").write_text("Born,Age\n19.04.1966,30\n1.5.1970,?\n2.5.1970,31\n3.4.1969,33\n")
    recipe = parse_recipe(RECIPE, folder=tmp_path)
    outcome = overt.run(recipe, audit=False)
    assert outcome.verdict.ok
    assert "1966" in (tmp_path / "release.csv").read_text()
    assert overt.check(tmp_path / "people.csv", tmp_path / "release.csv").ok


def test_contradictions_of_a_recipe_are_named(tmp_path):
    with pytest.raises(InvalidRecipe, match="'format' of dates and is a number"):
        parse_recipe(RECIPE.replace('format = "%d', 'kind = "number"\nformat = "%d'), folder=tmp_path)
    with pytest.raises(InvalidRecipe, match="line 7: .*is not a format of dates"):
        parse_recipe(RECIPE.replace("%d.%m.%Y", "day"), folder=tmp_path)
    with pytest.raises(InvalidRecipe, match='kind = "number" or "date" too'):
        parse_recipe(RECIPE.replace('kind = "number"\n', ""), folder=tmp_path)


def test_differentially_private_recipes_read_dates_in_a_format(tmp_path):
    (tmp_path / "people.csv").write_text("Born\n19.04.1966\n1.5.1970\nbad\n")
    text = """
version = 1
[input]
path = "people.csv"
[columns.Born]
role = "quasi-identifier"
format = "%d.%m.%Y"
hierarchy = { dates = ["year"] }
[method]
name = "dp-full-domain"
epsilon = 1
delta = 1e-3
s = 0.5
[output]
path = "release.csv"
"""
    recipe = parse_recipe(text, folder=tmp_path)
    column = prepare(recipe).table.column("Born")
    assert column.values.gather(column.codes).to_list() == ["1966-04-19", "1970-05-01", None]
    with pytest.raises(InvalidRecipe, match="take 'unreadable' out"):
        parse_recipe(text.replace('format = "%d', 'unreadable = "missing"\nformat = "%d'), folder=tmp_path)


def test_a_frame_in_python():
    people = pl.DataFrame({"born": ["19.04.1966", "20.04.1966", "1.1.1990", "2.1.1990"]})
    table = read_frame(
        people,
        quasi_identifiers=["born"],
        date_formats={"born": "%d.%m.%Y"},
        hierarchies={"born": Dates(units=("year",))},
    )
    release = Mondrian(goal=KAnonymity(2)).anonymize(table, rng=np.random.default_rng(1))
    assert release.partition.n_groups == 2


@pytest.mark.parametrize("form", ["%Y%m%d%H%M", "%Y%m%d%H%M%S", "%Y%m%dT%H%M%SZ"])
def test_moments_without_signs_are_found(form):
    moments = [datetime(2023, i % 12 + 1, i % 28 + 1, i % 24, i % 60, i % 59) for i in range(200)]
    texts = pl.Series([one.strftime(form) for one in moments]).unique()
    found = find_dates(texts, np.ones(len(texts), np.int64))
    assert found is not None and found.formats.formats == (form,) and found.share == 1
    assert (
        find_dates(pl.Series([f"{447_000_000_000 + 7919 * i * i}" for i in range(200)]), np.ones(200, np.int64)) is None
    )
