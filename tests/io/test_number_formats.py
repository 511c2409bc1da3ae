# SPDX-License-Identifier: Apache-2.0
"""Numbers with decimal commas, marks between thousands and signs of money: what a format reads, and which one is proposed."""

import numpy as np
import polars as pl
import pytest

import overt
from overt.cli import main
from overt.io.number_formats import NumberFormat, find_number_format


@pytest.mark.parametrize(
    ("example", "cells", "read"),
    [
        (
            "1.234,5",
            ["1.546,95", "-75,0", "1546,9", "0", "007", "12.5", "1.23,4", ""],
            ["1546.95", "-75.0", "1546.9", "0", None, None, None, None],
        ),
        ("1234,5", ["75,3", "+1.546,9", "+3"], ["75.3", None, "3"]),
        ("$1,234.5", ["$1,234.50", "-$12", "12.5", "€3"], ["1234.50", "-12", "12.5", None]),
        ("1 234,5 €", ["1 234,50 €", "12€", "1234"], ["1234.50", "12", "1234"]),
        ("1'234.5", ["1'234.5", "1’234.5"], ["1234.5", None]),
    ],
)
def test_a_format_reads_one_cell_at_a_time(example, cells, read):
    form = NumberFormat(example)
    assert form.read_texts(pl.Series(cells)).to_list() == read
    assert [form.read_texts(pl.Series([cell])).to_list()[0] for cell in cells] == read


@pytest.mark.parametrize("example", ["", "1.5", "1.234.5", "1234", "12,34", "%d.%m", "1,234,5", "x"])
def test_what_is_no_example_is_refused_in_a_sentence(example):
    if example == "1234":
        NumberFormat(example)  # plain numbers
        return
    with pytest.raises(overt.InvalidInput, match="an example that is made of 1, 234 and 5"):
        NumberFormat(example)


@pytest.mark.parametrize(
    ("cells", "example"),
    [
        (["75,3", "80,12"], "1234,5"),
        (["1.546,95", "12,00"], "1.234,5"),
        (["1,234", "999"], "1,234"),
        (["0,978", "1,234"], "1234,5"),  # a zero before the comma: no thousands
        (["1.234 €", "999 €"], "1.234 €"),
        (["12 %", "15,5 %"], "1234,5 %"),
        (["1.5", "2.75"], None),
        (["12.05.2020", "1.2.2020"], None),
        (["0228,123", "0171,55"], None),
        (["Bonn", "Köln"], None),
    ],
)
def test_the_format_of_a_column_is_found(cells, example):
    found = find_number_format(pl.Series(cells), np.full(len(cells), 50))
    assert (None if found is None else found.example) == example


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({
        "Größe (m)": [f"{x:.2f}".replace(".", ",") for x in rng.normal(1.7, 0.08, 240)],
        "PLZ": rng.choice(["53111", "53113"], 240),
        "Gehalt": [f"{x:,.2f}".translate(str.maketrans(",.", ".,")) for x in rng.lognormal(8, 0.7, 239)] + ["siehe Akte"],
    })  # fmt: skip
    frame.write_csv(tmp_path / "people.csv", separator=";")
    return tmp_path


def test_the_proposed_recipe_reads_decimal_commas_as_numbers_and_its_release_is_checked(table, monkeypatch, capsys):
    monkeypatch.chdir(table)
    assert main(["init", "people.csv"]) == 0
    recipe = (table / "recipe.toml").read_text(encoding="utf-8")
    assert 'format = "1234,5"' in recipe and 'format = "1.234,5"' in recipe and 'unreadable = "missing"' in recipe
    assert 'property = "t-closeness"' in recipe  # as for amounts with points
    read = overt.read_file(
        "people.csv", quasi_identifiers=["Größe (m)"], sensitive=["Gehalt"], missing="own value", unreadable={"Gehalt": "missing"},
        date_formats={"Größe (m)": "1234,5", "Gehalt": "1.234,5"},
    )  # fmt: skip
    assert [column.kind for column in read.columns] == ["number", "number"]
    assert main(["run", "recipe.toml"]) == 0
    assert main(["check", "people.csv", "release.csv"]) == 0
    assert "The release holds what it claims." in capsys.readouterr().out


def test_cells_that_do_not_fit_are_refused_with_their_line_and_a_kind_that_contradicts_is_too(table):
    with pytest.raises(overt.InvalidInput, match=r"a number written like 1\.234,5.*line 241"):
        overt.read_file(table / "people.csv", quasi_identifiers=["PLZ"], sensitive=["Gehalt"], date_formats={"Gehalt": "1.234,5"})  # fmt: skip
    with pytest.raises(overt.InvalidInput, match="a format of numbers and the kind 'date'"):
        overt.read_file(
            table / "people.csv", quasi_identifiers=["PLZ"], sensitive=["Gehalt"], kinds={"Gehalt": "date"}, date_formats={"Gehalt": "1.234,5"}
        )  # fmt: skip
    recipe = 'version = 1\ninput = { path = "people.csv" }\ncolumns.PLZ = { role = "quasi-identifier" }\noutput = { path = "r.csv" }\n'
    recipe += 'method = { name = "blind-buckets" }\ngoal = [{ property = "k-anonymity", k = 3 }]\ncolumns.Gehalt = { role = "sensitive", format = "1.5" }\n'
    (table / "r.toml").write_text(recipe, encoding="utf-8")
    with pytest.raises(overt.OvertError, match="an example that is made of 1, 234 and 5"):
        overt.run(table / "r.toml")


def test_a_table_read_row_by_row_has_plain_numbers_or_unknown_cells(table):
    read = overt.read_file(
        table / "people.csv", quasi_identifiers=["Gehalt"], date_formats={"Gehalt": "1.234,5"}, row_by_row=True
    )
    texts = read.column("Gehalt").values.drop_nulls()
    assert texts.str.contains(r"^\d+\.\d\d$").all() and read.column("Gehalt").missing_code is not None
