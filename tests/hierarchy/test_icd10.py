# SPDX-License-Identifier: Apache-2.0
import polars as pl
import pytest

import overt
from overt.errors import InvalidInput
from overt.hierarchy import Icd10
from overt.hierarchy.icd10 import are_icd10
from overt.hierarchy.value_rules import public_tree
from overt.samples import discharges
from overt.table import Kind

# Written down from the WHO's list of chapters, and not from our table.
SAME = (
    ("A09.9", "B24"),
    ("C50.4", "D48.9"),
    ("D50.0", "D89.9"),
    ("H00.0", "H59.9"),
    ("H60.0", "H95.9"),
    ("S72.0", "T98.3"),
    ("V01.0", "Y98"),
)
APART = (("B99", "C00.0"), ("D48.9", "D50.0"), ("H59.9", "H60.0"), ("T98.3", "U07.1"), ("U99", "V01.0"), ("Y98", "Z00"))


def rows(codes, levels=("category", "chapter")):
    return {row[0]: row[1:] for row in Icd10(levels=levels).build(pl.Series(codes), Kind.CATEGORY).to_frame().rows()}


@pytest.mark.parametrize(("one", "other"), SAME)
def test_codes_of_a_chapter_meet_in_it(one, other):
    found = rows([one, other, "M54.5"] if one[0] != "M" else [one, other])
    assert found[one][1] == found[other][1] != "*" and found[one][0] != found[other][0]


@pytest.mark.parametrize(("one", "other"), APART)
def test_codes_of_two_chapters_do_not(one, other):
    found = rows([one, other])
    assert found[one][1] != found[other][1]


def test_what_is_no_code_stands_for_itself_between_the_chapters():
    found = rows(["E11.9", "E11", "e10.1", " E12", "unclear", "D4X", "W", "Z51.1", None])
    assert found["E11"][:2] == ("E11*", "E00-E90") and found["e10.1"][:2] == ("E10*", "E00-E90")
    assert found["unclear"][:2] == ("unclear", "unclear") and found["W"][:2] == ("W", "W")
    assert rows(["A00.1", "A00.2"], ("chapter",))["A00.1"] == ("A00-B99", "*")
    for levels in ((), ("chapter", "category"), ("block",), 5):
        with pytest.raises(InvalidInput):
            Icd10(levels=levels)


def test_the_public_rule_says_the_same_as_the_tree():
    codes = ["A09.9", "B20", "E11.9", "D50.0", "Z51.1", "S72.0"]
    tree = public_tree(Icd10(), "Diagnosis")
    found = rows(codes)
    for code in codes:
        assert tree.chain(code)[1:] == found[code]
        assert all(tree.knows(label) for label in tree.chain(code))
    assert tree.chain("unclear") == ("*",) * 4 and not tree.knows("X99-X98") and not tree.knows("E99-E90")


def test_init_proposes_it_by_the_shape_of_the_codes():
    assert are_icd10(discharges(2_000)["Diagnosis"].unique())
    assert not are_icd10(pl.Series(["A1", "B2", "C3", "D4", "E5"])) and not are_icd10(pl.Series(["53111", "53113"] * 4))
    frame = discharges(2_000).unique("Patient ID")
    made = overt.anonymize(
        frame, quasi_identifiers=["Diagnosis", "Sex"], sensitive=["HIV"], goal=overt.RelativeRisk(3), audit=False
    )
    labels = made.published[0]["Diagnosis"]
    assert labels.str.contains(r"^[A-Z]\d\d-[A-Z]\d\d$").any()
