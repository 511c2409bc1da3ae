# SPDX-License-Identifier: Apache-2.0
import gzip
from datetime import date

import polars as pl
import pytest

from overt.errors import InvalidInput
from overt.hierarchy import Levels
from overt.table import Kind

AGES = "".join(f"{a};{a // 5 * 5}-{a // 5 * 5 + 4};{a // 20 * 20}-{a // 20 * 20 + 19};*\n" for a in range(1, 100))
EDUCATION = """Bachelors;Undergraduate;Higher education;*
Some-college;Undergraduate;Higher education;*
11th;High School;Secondary education;*
Preschool;Primary School;Primary education;*"""  # no newline at the end, as in ARX's own files


def write(tmp_path, text, name="levels.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def levels(tmp_path, text, **options):
    return Levels.read(write(tmp_path, text), **options)


def test_adult_shaped_file_of_categories(tmp_path):
    values = pl.Series("education", ["11th", "Bachelors", "Some-college"])
    tree = levels(tmp_path, EDUCATION).build(values, Kind.CATEGORY)
    assert tree.to_frame().rows() == [
        ("Bachelors", "Undergraduate", "Higher education", "*"),
        ("Some-college", "Undergraduate", "Higher education", "*"),
        ("11th", "High School", "Secondary education", "*"),
    ]
    assert tree.leaves.name == "education"
    assert tree.n_nodes == 3 + 2 + 2 + 1  # what has no leaf in the data is left out


def test_adult_shaped_file_of_numbers_keeps_their_order(tmp_path):
    tree = levels(tmp_path, AGES).build(pl.Series([9, 17, 21, 90, None]), Kind.NUMBER)
    assert tree.leaves.to_list() == [9, 17, 21, 90, None]
    assert tree.to_frame()["level 2"].to_list() == ["0-19", "0-19", "20-39", "80-99", None]


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_separator_is_found_out(tmp_path, separator, newline):
    text = EDUCATION.replace(";", separator).replace("\n", newline)
    assert levels(tmp_path, text) == levels(tmp_path, EDUCATION)


def test_separator_can_be_given(tmp_path):
    read = levels(tmp_path, "a;b,x,*\nc;d,x,*\n", separator=",")
    assert read.rows[0] == ("a;b", "x", "*")
    with pytest.raises(InvalidInput, match="one character; given: '::'"):
        levels(tmp_path, "a::*", separator="::")


def test_no_separator_in_every_line_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"No separator of ; tab \| , stands in every line of .*levels\.csv"):
        levels(tmp_path, "a;*\nb\n")


def test_gzip_byte_order_mark_blank_lines_quotes_and_white_space(tmp_path):
    text = '\ufeff\n"a; b" ; x ;*\n\n  \nc;"x";*;;\n'
    path = tmp_path / "levels.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    read = Levels.read(path)
    assert [row for row in read.rows if row] == [("a; b", "x", "*"), ("c", "x", "*")]
    assert read.rows[1] and read.rows[4]  # row i is line i + 1


def test_encoding_can_be_given_and_a_wrong_one_is_refused(tmp_path):
    path = tmp_path / "levels.csv"
    path.write_bytes("a;*\nMünchen;*\n".encode("latin-1"))
    assert Levels.read(path, encoding="latin-1").rows[1] == ("München", "*")
    with pytest.raises(InvalidInput, match="not utf-8-sig text at line 2; give its encoding"):
        Levels.read(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"hierarchy file .*absent\.csv cannot be read"):
        Levels.read(tmp_path / "absent.csv")


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"levels\.csv has no values"):
        levels(tmp_path, "\n\n")


def test_equality_is_by_lines_not_by_file(tmp_path):
    assert Levels.read(write(tmp_path, EDUCATION, "a.csv")) == Levels.read(write(tmp_path, EDUCATION, "b.csv"))


def test_repeated_labels_are_one_node():
    tree = Levels([("?", "Unknown", "Unknown", "*"), ("Children", "Children", "Children", "*")]).build(
        pl.Series(["?", "Children"]), Kind.CATEGORY
    )
    assert tree.n_nodes == 4
    assert tree.to_frame().rows() == [("?", "Unknown", "Unknown", "*"), ("Children", "Children", "Children", "*")]


def test_levels_of_a_rectangular_file_are_its_columns():
    rows = [("a", "a", "B", "*"), ("b", "b", "B", "*"), ("c", "C1", "C2", "*")]
    assert Levels(rows).build(pl.Series(["a", "b", "c"]), Kind.CATEGORY).to_frame().rows() == rows


def test_every_level_is_kept_even_if_the_data_need_only_one_label():  # ARX stops there: arx issue 362
    rows = [(str(age), "0..4", "0..9", "0..19", "*") for age in range(5)] + [("25", "25..29", "20..29", "20..39", "*")]
    assert Levels(rows).build(pl.Series([1, 3]), Kind.NUMBER).n_levels == 5


def test_numbers_and_dates_match_by_value_not_by_text():
    tree = Levels([("01", "x", "*"), ("2.50", "x", "*"), ("1e1", "y", "*"), ("?", "y", "*")]).build(
        pl.Series([1.0, 2.5, 10.0]), Kind.NUMBER
    )
    assert tree.to_frame()["level 1"].to_list() == ["x", "x", "y"]
    tree = Levels([("2024-02-29", "leap", "*")]).build(pl.Series([date(2024, 2, 29)]), Kind.DATE)
    assert tree.to_frame().row(0) == ("2024-02-29", "leap", "*")
    tree = Levels([("True", "known", "*"), ("FALSE", "known", "*")]).build(pl.Series([False, True]), Kind.CATEGORY)
    assert tree.leaves.to_list() == [True, False]


def test_white_space_in_the_data_does_not_matter_unless_it_tells_values_apart():
    hierarchy = Levels([("Male", "*"), ("Female", "*")])
    assert hierarchy.build(pl.Series([" Female", " Male"]), Kind.CATEGORY).n_leaves == 2
    with pytest.raises(InvalidInput, match="'sex' differ only in white space"):
        hierarchy.build(pl.Series("sex", [" Male", "Male"]), Kind.CATEGORY)


def test_missing_values_are_counted_not_shown(tmp_path):
    hierarchy = levels(tmp_path, EDUCATION)
    values = pl.Series("education", ["11th", "12th", "Doctorate", "some-college", None])
    with pytest.raises(InvalidInput) as refusal:
        hierarchy.build(values, Kind.CATEGORY)
    message = str(refusal.value)
    assert message.startswith("3 of the 4 values of column 'education' are missing from ")
    assert "levels.csv (1 differ only in upper and lower case), which has 4 values" in message
    assert "the first is number 2 of the column's values" in message
    assert "Doctorate" not in message and "12th" not in message
    assert hierarchy.missing(values).to_list() == ["12th", "Doctorate", "some-college"]


def test_nan_is_covered_by_nothing():
    with pytest.raises(InvalidInput, match="1 of the 2 values of the column are missing"):
        Levels([("1", "*"), ("nan", "*")]).build(pl.Series([1.0, float("nan")]), Kind.NUMBER)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;x;*\nb;x;y;*\n", r"the label 'x' \(level 1\) has two parents, '\*' at line 1 and 'y' at line 2"),
        ("a;x;y;*\nb;x;y;*\nc;x;z;*\n", "the label 'x' .* has two parents, 'y' at line 1 and 'z' at line 3"),
        ("a;x;*\n\na;y;*\n", "a value has two different generalizations, 'x' at line 1 and 'y' at line 3"),
        ("a;x;*\na;*\n", r"a value has two different generalizations, 'x' at line 1 and '\*' at line 2"),
        ("a;x;*\nb;y\n", r"line 1 ends in '\*', line 2 in 'y'"),
        ("a;x;y\nb;x;z\n", "line 1 ends in 'y', line 2 in 'z'"),
        ("a;x;*\nb;;\n", "line 2 has a value without a generalization"),
        ("a;x;*\nb;;*\n", "empty label at line 2, level 1"),
        ("a;x;*\nb;*;y;*\n", r"has the root label '\*' before the end of line 2"),
        ("a;x;y;x;*\n", r"'x' .* has two parents, 'y' at line 1 and '\*' at line 1"),
        ("Other;*\nSales;Other;*\n", "one text as a value at line 1 and as a label of other values at line 2"),
        ("Other;Other;*\nSales;Other;*\n", "one text as a value at line 1"),
    ],
)
def test_what_is_no_tree_is_refused_when_it_is_read(tmp_path, text, message):
    with pytest.raises(InvalidInput, match=rf"levels\.csv .*{message}"):
        levels(tmp_path, text)


def test_the_same_line_twice_is_fine():
    assert Levels([("a", "x", "*"), ("a", "x", "*")]).build(pl.Series(["a"]), Kind.CATEGORY).n_nodes == 3


def test_one_number_written_in_two_ways_with_different_labels_is_refused():
    hierarchy = Levels([("1", "x", "*"), ("01", "y", "*")])
    with pytest.raises(InvalidInput, match=r"'age' in two ways .* line 1 and line 2; keep one"):
        hierarchy.build(pl.Series("age", [1]), Kind.NUMBER)
    assert hierarchy.build(pl.Series(["01", "1"]), Kind.CATEGORY).n_leaves == 2


def test_numbers_whose_labels_are_not_ranges_are_refused_but_may_be_categories():
    rows = [("1", "odd", "*"), ("2", "even", "*"), ("3", "odd", "*")]
    values = pl.Series("age", [1, 2, 3])
    with pytest.raises(InvalidInput, match=r"'odd' stands for values of column 'age' .* declare the column a category"):
        Levels(rows).build(values, Kind.NUMBER)
    assert Levels(rows).build(values, Kind.CATEGORY).leaves.to_list() == [1, 3, 2]


def test_missing_hangs_below_the_root_whatever_the_file_says():
    values = pl.Series(["a", None])
    assert Levels([("a", "x", "*"), ("", "*")]).build(values, Kind.CATEGORY).chain(1) == [1, 3]
    with pytest.raises(InvalidInput, match="generalizes the missing value at line 2"):
        Levels([("a", "x", "*"), ("", "x", "*")]).build(values, Kind.CATEGORY)
    tree = Levels([("a", "x", "*"), ("", "x", "*")]).build(pl.Series(["", "a"]), Kind.CATEGORY)
    assert tree.to_frame().rows() == [("a", "x", "*"), ("", "x", "*")]
    tree = Levels([("a", "x", "*"), ("", "x", "*")]).build(pl.Series(["", "a", None]), Kind.CATEGORY)
    assert tree.to_frame()["level 1"].to_list() == ["x", "x", None]
