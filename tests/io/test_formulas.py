# SPDX-License-Identifier: Apache-2.0
"""No CSV file of ours is run by a spreadsheet, and what was there can be read back."""

import csv
import io
import re
import unicodedata

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from overt.io.files import read_release, write_tables
from overt.io.formulas import neutralised, restored

RISKY = ["=1+1", "+x", "-x", "@x", "|x", "'=x", "''=x", "-5..x", " =1", "\u00a0=1", "\ufeff=1", '"=1', '" =1"', "＝1", "＋x", "－x", "＠x", "﹦1", "=", "@", "--", "cmd|'/c calc'!A0", "MSEXCEL|'\\..\\x'!''", "+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!D2"]  # fmt: skip
CONTROLS = ["\tx", "\rx", "\nx", "'\tx", "\t=1", "\r=1", "\n=1"]
HARMLESS = ["-5", "+3", "-5.5", "-5..3", "-5..-1", "-5..-3 or missing", "'x", "a=b", "", "1e-05", "-", "+", "[-5, -3)", "{-5, -3, missing}", "<-5", ">=65", "a|b", "2024-01-02", "x@y.org", "fish - salted", "A+"]  # fmt: skip
SPLIT = {
    "x;=1;y": "x;'=1;y",
    "x, @y": "x,' @y",
    "x\t=1": "x\t'=1",
    "x\n=1": "x\n'=1",
    "{a, =b}": "{a,' =b}",
    "-1;cmd|'/c'!A0": "'-1;'cmd|'/c'!A0",
    "-1,A1(2)": "'-1,A1(2)",
    "-,1": "-,1",
}
SIGNS = "=+-@|"


def in_one_column(texts):
    return neutralised(pl.DataFrame({"a": texts}))["a"].to_list()


def a_spreadsheet_would_run(cell):
    """Written from what OWASP says, for cells that are not plain numbers: no code shared with the library."""
    stripped = unicodedata.normalize("NFKC", cell).lstrip('\ufeff\u200b "\u00a0')
    return stripped[:1] in SIGNS if stripped[:1] else False


@pytest.mark.parametrize("text", RISKY + CONTROLS)
def test_what_a_spreadsheet_would_run_gets_one_apostrophe(text):
    (safe,) = in_one_column([text])
    assert safe[0] == "'" and safe.replace("'", "") == text.replace("'", "")
    if text in RISKY:
        assert safe == f"'{text}"


@pytest.mark.parametrize("text", HARMLESS)
def test_numbers_ranges_and_plain_texts_stay(text):
    assert in_one_column([text, None]) == [text, None]


@pytest.mark.parametrize(("text", "safe"), SPLIT.items())
def test_pieces_between_the_separators_of_other_countries_are_cells_too(text, safe):
    assert in_one_column([text]) == [safe]


@given(st.lists(st.text(alphabet="'=+-@|,;\t\r\n \"x1.!＝", max_size=8), max_size=8))
@example(["'\tx", "\tx", "''\tx", "'=x", "=x", "x,'=1", "x,=1"])
def test_what_was_there_is_known_whatever_it_was(texts):
    safe = in_one_column(texts)
    assert restored(pl.DataFrame({"a": pl.Series(safe, dtype=pl.String)}))["a"].to_list() == texts
    assert len(set(safe)) == len(set(texts))


@pytest.mark.parametrize("dtype", [pl.String, pl.Enum(RISKY + HARMLESS), pl.Categorical])
def test_names_and_cells_of_any_type_of_text_go_to_the_file_and_back(tmp_path, dtype):
    frame = pl.DataFrame(
        {"=a": pl.Series([*RISKY, *HARMLESS, None], dtype=dtype), "-n": range(-9, len(RISKY + HARMLESS) - 8)}
    )
    write_tables({tmp_path / "t.csv": frame})
    back = read_release(tmp_path / "t.csv")
    assert back.columns == frame.columns
    assert back["=a"].cast(pl.String).to_list() == [text or None for text in frame["=a"].cast(pl.String)]
    assert back["-n"].cast(pl.String).to_list() == [str(number) for number in frame["-n"]]
    text = (tmp_path / "t.csv").read_text("utf-8")
    for separator in ",;\t":
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            assert not [
                cell for cell in row if a_spreadsheet_would_run(cell) and cell not in HARMLESS and not number(cell)
            ]


def number(cell):
    """A number or a range; or a line that begins with one, seen with another separator."""
    cell = re.split("[,;]", cell)[0].strip().rstrip(")}]").partition("..")[0]
    return cell in ("+", "-") or cell.lstrip("+-").replace(".", "", 1).replace("e-", "").isdigit()


def test_bytes_are_exact_if_asked(tmp_path):
    frame = pl.DataFrame({"@a": RISKY})
    write_tables({tmp_path / "t.csv": frame}, neutralise_formulas=False)
    assert (tmp_path / "t.csv").read_text().splitlines()[:3] == ["@a", "=1+1", "+x"]
    assert read_release(tmp_path / "t.csv", neutralised=False)["@a"].cast(pl.String).to_list() == RISKY


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.jsonl"])
def test_formats_that_no_spreadsheet_runs_are_exact(tmp_path, name):
    frame = pl.DataFrame({"=a": RISKY})
    write_tables({tmp_path / name: frame})
    back = read_release(tmp_path / name)
    assert back.columns == ["=a"] and back["=a"].cast(pl.String).to_list() == RISKY


def test_a_file_that_spells_one_name_twice_can_still_be_read(tmp_path):
    (tmp_path / "t.csv").write_text("'=a,=a\n1,2\n'=1,=1\n")
    assert read_release(tmp_path / "t.csv").columns == ["'=a", "=a"]
