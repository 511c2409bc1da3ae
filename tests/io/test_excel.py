# SPDX-License-Identifier: Apache-2.0
"""Sheets and zip files as people have them; what a sheet says is what the same table says as CSV, written by another program."""

import sys
import zipfile
from datetime import datetime, timedelta

import numpy as np
import pytest
import xlsxwriter

import overt
from overt.errors import InvalidInput, MissingExtra
from overt.io.excel import read_sheet
from overt.io.files import read_file, read_release
from overt.io.profiling import profile_file
from overt.samples import hospital

HEADER = ("Pat-ID", "Name", "Born", "ZIP", "Diagnosis", "Amount", "Seen")
FIRST = datetime(1950, 1, 1)


def rows_of(n):
    draw = np.random.default_rng(3)
    for i in range(n):
        born = FIRST + timedelta(days=int(draw.integers(20_000)))
        seen = datetime(2023, 1, 1, 8, 30) + timedelta(minutes=int(draw.integers(9_000)))
        code = ("I10", "E11.9", "J45.0")[i % 3]
        yield 1000 + i, ("Anna Weber", "Peter Klein")[i % 2], born, 53111 + i % 4, code, round(i * 1.37, 2), seen


@pytest.fixture
def sheet(tmp_path):
    """A sheet with a title, a blank row, an odd date, a formula that went wrong, and an empty sheet behind it."""

    def write(name="patients.xlsx", title="Patients 3/2023", sheets=1):
        with xlsxwriter.Workbook(str(tmp_path / name), {"default_date_format": "dd.mm.yyyy"}) as book:
            for number in range(sheets):
                page = book.add_worksheet(f"Export {number}")
                page.write(0, 0, title)
                page.write_row(2, 0, HEADER)
                for i, row in enumerate(rows_of(300)):
                    page.write_row(3 + i, 0, row)
                page.write(10, 2, "see file")
                page.write_formula(12, 5, "=1/0", None, "#DIV/0!")
            book.add_worksheet("Empty")
        return tmp_path / name

    return write


def test_every_cell_is_the_text_that_a_csv_file_would_hold(sheet):
    columns = read_sheet(sheet())
    assert tuple(columns) == HEADER
    texts = {name: column.dictionary.gather(column.codes).to_list() for name, column in columns.items()}
    for i, (number, name, born, zip_code, code, amount, seen) in enumerate(rows_of(300)):
        assert texts["Pat-ID"][i] == str(number)
        assert (texts["Name"][i], texts["ZIP"][i], texts["Diagnosis"][i]) == (name, str(zip_code), code)
        assert texts["Born"][i] == ("see file" if i == 7 else born.date().isoformat())
        assert texts["Amount"][i] == "" if i == 9 else float(texts["Amount"][i]) == amount
        assert texts["Seen"][i] == str(seen)
    assert columns["Born"].first_line == 4


def test_init_finds_the_roles_and_the_row_of_the_odd_cell(sheet):
    columns = {column.name: column for column in profile_file(sheet()).columns}
    roles = [str(columns[name].role) for name in HEADER]
    assert roles == [
        *("identifier", "identifier", "quasi-identifier", "quasi-identifier"),
        *("sensitive", "sensitive", "quasi-identifier"),
    ]
    assert str(columns["Born"].odd) == "line 11"


def test_a_recipe_reads_a_sheet_and_a_zipped_file_from_init_to_check(sheet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sheet()
    hospital().write_csv("hospital.csv")
    with zipfile.ZipFile("hospital.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write("hospital.csv")
        archive.writestr("__MACOSX/._hospital.csv", b"")
    for data, others in (("patients.xlsx", 250), ("hospital.zip", 96)):
        overt.init(data, into="r.toml", overwrite=True)
        outcome = overt.run("r.toml", overwrite=True, audit=False)
        assert outcome.ok and outcome.n_rows == others
        assert overt.check(data, "release.csv").ok


def test_a_zipped_file_reads_as_the_file_does(tmp_path):
    hospital().write_csv(tmp_path / "h.csv")
    with zipfile.ZipFile(tmp_path / "h.csv.zip", "w") as archive:
        archive.write(tmp_path / "h.csv", "h.csv")
    columns = {"quasi_identifiers": ["Birth date", "Sex"], "sensitive": ["Disease"]}
    for row_by_row in (False, True):
        if row_by_row:
            columns["others"] = ()
        plain = read_file(tmp_path / "h.csv", row_by_row=row_by_row, **columns)
        packed = read_file(tmp_path / "h.csv.zip", row_by_row=row_by_row, **columns)
        for one, other in zip(plain.columns, packed.columns, strict=True):
            assert one.values.equals(other.values) and (one.codes == other.codes).all()


def test_a_sheet_reads_as_a_release_too(sheet):
    assert read_release(sheet())["ZIP"].cast(str).to_list()[:2] == ["53111", "53112"]


def test_what_cannot_be_read_is_refused_by_name(sheet, tmp_path, monkeypatch):
    columns = {"quasi_identifiers": ["Born"], "sensitive": ["Diagnosis"]}

    def refusal(path, **how):
        with pytest.raises(InvalidInput) as refused:
            read_file(path, **columns, **how)
        return str(refused.value)

    path = sheet()
    assert "A differentially private method reads its data row by row, which an Excel sheet does not allow" in refusal(
        path, row_by_row=True
    )
    assert "has 2 sheets that hold something" in refusal(sheet("two.xlsx", sheets=2))
    (tmp_path / "renamed.csv").write_bytes(path.read_bytes())
    assert "renamed.csv is an Excel file by what is in it" in refusal(tmp_path / "renamed.csv")
    (tmp_path / "cut.xlsx").write_bytes(path.read_bytes()[:3000])
    assert "cut.xlsx cannot be read as an Excel file" in refusal(tmp_path / "cut.xlsx")
    with xlsxwriter.Workbook(str(tmp_path / "nameless.xlsx")) as book:
        page = book.add_worksheet()
        page.write_row(0, 0, ["Born", None, "Diagnosis"])
        for i in range(60):
            page.write_row(1 + i, 0, ["1950", None if i % 2 else "Anna", "flu"])
    said = refusal(tmp_path / "nameless.xlsx")
    assert "nameless.xlsx" in said and "Anna" not in said
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as archive:
        archive.writestr("a.csv", "Born\n1\n")
        archive.writestr("b.csv", "Born\n1\n")
    assert "both.zip holds 2 files" in refusal(tmp_path / "both.zip")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.sav", "x")
    assert "other.zip holds a .sav file" in refusal(tmp_path / "other.zip")
    (tmp_path / "cut.zip").write_bytes((tmp_path / "both.zip").read_bytes()[:60])
    assert "cut.zip is a damaged zip file" in refusal(tmp_path / "cut.zip")
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(MissingExtra, match=r"install overt\[excel\], or save the sheet as CSV"):
        read_file(path, **columns)


def test_a_header_row_that_is_a_row_of_somebody_is_not_taken(tmp_path):
    """A column without a name makes the first full row of data look like names; it is refused and not swallowed."""
    with xlsxwriter.Workbook(str(tmp_path / "x.xlsx")) as book:
        page = book.add_worksheet()
        page.write_row(0, 0, ["Born", "", "Diagnosis"])
        page.write_row(1, 0, ["1950", "Anna", "flu"])
        page.write_row(2, 0, ["1951", "Peter", "flu"])
    with pytest.raises(InvalidInput, match="Column 2 of x.xlsx has no name"):
        read_sheet(tmp_path / "x.xlsx")


@pytest.mark.parametrize("name", ["release.xlsx", "release.csv.zip", "release.ods"])
def test_a_release_is_not_written_as_what_is_only_read(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    hospital().write_csv("hospital.csv")
    overt.init("hospital.csv", into="r.toml")
    text = (tmp_path / "r.toml").read_text().replace('path = "release.csv"', f'path = "{name}"')
    (tmp_path / "r.toml").write_text(text)
    with pytest.raises(InvalidInput, match="which is only read"):
        overt.run("r.toml", audit=False)
    assert not (tmp_path / name).exists()
