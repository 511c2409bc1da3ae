# SPDX-License-Identifier: Apache-2.0
from fractions import Fraction
from functools import cache

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.errors import InvalidInput
from overt.hierarchy import CutPoints, Dates, Flat, Icd10, Intervals, Levels, Nested, Prefixes, Quantiles
from overt.hierarchy.value_rules import PublicColumn, public_tree

BUILDERS = {
    "intervals": Intervals(widths=(5, 10), origin=1),
    "decimal intervals": Intervals(widths=("0.1", 1)),
    "halves from 0.3": Intervals(widths=("0.5", "2.5"), origin="0.3"),
    "tiny": Intervals(widths=("1e-15", "1e-13")),
    "cut points": CutPoints(levels=((18, 40, 65), (18, 65))),
    "dates": Dates(units=("day", "month", "quarter", "year", "decade")),
    "prefixes": Prefixes(lengths=(3, 1)),
    "more prefixes": Prefixes(lengths=(5, 4, 2)),
    "diagnoses": Icd10(),
    "nested": Nested({"Europe": {"West": ["FR", "DE"]}, "Elsewhere": "?", "Numbers": ["7", "0.5"]}),
    "file": Levels([["1", "low", "*"], ["2", "low", "*"], ["30", "high", "*"]]),
}
TEXTS = st.one_of(
    st.integers(-99, 999).map(str),
    st.decimals(-50, 50, places=2).map(str),
    st.dates().map(str),
    st.datetimes().map(str),
    st.sampled_from(["FR", "DE", "?", "", "*", "A00*", '"', "7.0", "+7", "1e3", "nan", "inf", " 7", "[1, 6)", "<18"]),
    st.text(max_size=6),
    st.builds(
        "{}{:02d}{}".format,
        st.sampled_from("ABEKUZx"),
        st.integers(0, 99),
        st.sampled_from(["", ".9", "*", ".1+", "!", " 1", "-B99"]),
    ),
    st.builds("{} {}".format, st.integers(1, 999), st.integers(1, 99)),  # postcodes with a blank
    st.integers(-(10**99), 10**99).map(str),
    st.builds(
        "{}.{:020d}e{}".format, st.integers(-(10**20), 10**20), st.integers(0, 10**20 - 1), st.integers(-999, 999)
    ),
)


@pytest.mark.parametrize("name", BUILDERS)
@given(texts=st.lists(TEXTS, max_size=8), own=TEXTS)
def test_what_a_value_becomes_does_not_depend_on_other_values(name, texts, own):
    tree = public_tree(BUILDERS[name], "x")
    together = PublicColumn.of(tree, pl.Series([own, *texts, None], dtype=pl.String))
    alone = PublicColumn.of(tree, pl.Series([own], dtype=pl.String))
    for level in range(tree.n_levels):
        among, single = together.node_of_value[level, 0], alone.node_of_value[level, 0]
        assert together.labels[among] == alone.labels[single]
        assert together.depth_of_node[among] == alone.depth_of_node[single]


@pytest.mark.parametrize("name", BUILDERS)
@given(texts=st.lists(TEXTS, max_size=8), own=TEXTS)
def test_what_a_label_is_worth_does_not_depend_on_other_values(name, texts, own):
    """Elements are chosen by the depth of their labels: it must be the same whoever else is in the table."""
    tree = public_tree(BUILDERS[name], "x")
    alone, together = (PublicColumn.of(tree, pl.Series(cells, dtype=pl.String)) for cells in ([own], [own, *texts]))
    depth = dict(zip(together.labels, together.depth_of_node, strict=True))
    assert [depth[label] for label in alone.labels] == alone.depth_of_node.tolist()


@pytest.mark.parametrize("name", BUILDERS)
@given(text=TEXTS)
def test_every_label_is_known_and_stands_for_what_is_below_it(name, text):
    tree = public_tree(BUILDERS[name], "x")
    chain = tree.chain(text)
    assert len(chain) == tree.n_levels and chain[-1] == tree.root
    assert all(tree.knows(label) for label in chain)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("prefixes", "11 455"), ("more prefixes", "SW1 A1AA"), ("more prefixes", '"1 2"*'), ("intervals", "12345678901234567890"),
        ("intervals", "1e999"), ("cut points", "1e-999"), ("decimal intervals", "0.12345678901234567890123"),
        ("intervals", "9" * 99), ("decimal intervals", "-1e70"), ("cut points", "123456789012345678901234567890.5"),
        ("halves from 0.3", "4" * 79), ("halves from 0.3", "-" + "4" * 79), ("halves from 0.3", "4" * 80), ("intervals", "9" * 80),
        ("intervals", "-" + "9" * 79), ("tiny", "0." + "7" * 78), ("tiny", "-0." + "7" * 77), ("cut points", "-" + "9" * 79),
        ("diagnoses", "A5\u00df9"), ("diagnoses", "z6\ufb01+"), ("diagnoses", "A0\u017f"),
    ],
)  # fmt: skip
def test_a_prefix_that_ends_with_a_blank_a_long_number_and_a_letter_that_is_two_have_labels_that_are_known(name, text):
    """A release with a label that its own check does not know would be thrown away after its budget was spent."""
    tree = public_tree(BUILDERS[name], "x")
    assert all(tree.knows(label) for label in tree.chain(text))
    assert text.startswith("1e") or not text.isascii() or len(text) > 80 or tree.chain(text)[0] != tree.root


@pytest.mark.parametrize("name", BUILDERS)
@given(texts=st.lists(TEXTS, max_size=12))
def test_the_rule_is_a_tree(name, texts):
    tree = public_tree(BUILDERS[name], "x")
    above = {}
    for chain in map(tree.chain, texts):
        for level, label in enumerate(chain):
            rest = tuple(dict.fromkeys(chain[level:]))
            assert above.setdefault(label, rest) == rest, "a label has one place, whichever value it stands above"


@pytest.mark.parametrize(
    ("name", "text", "chain"),
    [
        ("intervals", "21", ("21", "[21, 26)", "[21, 31)", "*")),
        ("intervals", "20.9", ("20.9", "[16, 21)", "[11, 21)", "*")),
        ("intervals", "+7.0", ("7", "[6, 11)", "[1, 11)", "*")),
        ("intervals", "unknown", ("*", "*", "*", "*")),
        ("decimal intervals", "0.3", ("0.3", "[0.3, 0.4)", "[0, 1)", "*")),
        ("cut points", "17", ("17", "<18", "<18", "*")),
        ("cut points", "40", ("40", "[40, 65)", "[18, 65)", "*")),
        ("cut points", "65", ("65", ">=65", ">=65", "*")),
        ("dates", "2024-03-05 23:59:00", ("2024-03-05", "2024-03-05", "2024-03", "2024-Q1", "2024", "2020s", "*")),
        ("dates", "2024-13-05", ("*",) * 7),
        ("dates", "0001-01-01", ("0001-01-01", "0001-01-01", "0001-01", "0001-Q1", "0001", "0000s", "*")),
        ("prefixes", "A00.1", ("A00.1", "A00*", "A*", "*")),
        ("prefixes", "A0", ("A0", "A0", "A*", "*")),
        ("prefixes", "A*", ('"A*"', '"A*"', "A*", "*")),
        ("nested", "DE", ("DE", "West", "Europe", "*")),
        ("nested", "?", ("?", "Elsewhere", "Elsewhere", "*")),
        ("nested", "7.00", ("7", "Numbers", "Numbers", "*")),
        ("nested", "de", ("*", "*", "*", "*")),
        ("file", " 2 ", ("2", "low", "*")),
        ("file", None, ("*", "*", "*")),
    ],
)
def test_chains(name, text, chain):
    tree = public_tree(BUILDERS[name], "x")
    assert tree.chain(text) == chain and all(map(tree.knows, chain))


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("intervals", "[20, 25)"),
        ("intervals", "[21, 27)"),
        ("intervals", "21.0"),
        ("intervals", "x"),
        ("cut points", "<40"),
        ("cut points", ">=40"),
        ("dates", "2021s"),
        ("dates", "2024-Q5"),
        ("prefixes", "A0*"),
        ("prefixes", '"A'),
        ("nested", "Asia"),
        ("file", "3"),
    ],
)
def test_labels_that_no_value_has(name, label):
    assert not public_tree(BUILDERS[name], "x").knows(label)


def test_a_hierarchy_whose_labels_look_like_values_in_quotes_is_refused():
    for rows in ([("a*", "g", "*"), ("b", '"a*"', "*")], [("*", "g", "*"), ("x", '"*"', "*")]):
        with pytest.raises(InvalidInput, match="has a value that a release shows in quotes"):
            public_tree(Levels(rows), "x")


def test_leaves_are_counted_where_they_are_listed():
    column = PublicColumn.of(public_tree(BUILDERS["nested"], "x"), pl.Series(["FR"]))
    assert dict(zip(column.labels, column.leaves_of_node.tolist(), strict=True)) == {
        "*": 5.0,
        "Europe": 2.0,
        "FR": 1.0,
        "West": 2.0,
    }
    with pytest.raises(InvalidInput, match="a rule for any value"):
        _ = PublicColumn.of(public_tree(BUILDERS["intervals"], "x"), pl.Series(["1"])).leaves_of_node


@pytest.mark.parametrize(
    ("builder", "words"), [(Quantiles(counts=(4, 2)), "Quantiles"), (Flat(), "Flat"), (None, "no")]
)
def test_hierarchies_made_from_data_are_refused(builder, words):
    with pytest.raises(InvalidInput, match=words):
        public_tree(builder, "age")


@given(number=st.one_of(st.decimals(-(10**6), 10**6, places=4), st.integers(-(10**20), 10**20), st.fractions(-9, 9)))
def test_quick_arithmetic_is_that_of_fractions(number):
    exactly = Fraction(str(number))
    text = str(number) if "/" not in str(number) else f"{float(number)!r}"
    exactly = exactly if "/" not in str(number) else Fraction(text)
    own, interval, wide, _ = public_tree(Intervals(widths=("0.25", "1.5"), origin="-0.1"), "x").chain(text)
    assert Fraction(own) == exactly
    for label, width in ((interval, Fraction(1, 4)), (wide, Fraction(3, 2))):
        lower, upper = (Fraction(bound) for bound in label[1:-1].split(", "))
        assert lower <= exactly < upper == lower + width and ((lower + Fraction(1, 10)) / width).denominator == 1
    points = [Fraction(-3), Fraction(1, 3), Fraction(5)]
    _, label, _ = public_tree(CutPoints(levels=(("-3", "1/3", "5"),)), "x").chain(text)
    place = sum(point <= exactly for point in points)
    assert label == ("<-3", "[-3, 1/3)", "[1/3, 5)", ">=5")[place]
    assert public_tree(CutPoints(levels=(("-3", "1/3", "5"),)), "x").knows(label)


LISTED_FROM = {"cut points": 1, "months": 1, "quarters": 1, "diagnoses": 1, "nested": 0, "file": 0, "chapters": 1}
LISTED = {
    **BUILDERS,
    "months": Dates(units=("month", "year", "decade")),
    "quarters": Dates(units=("quarter", "decade")),
    "chapters": Icd10(levels=("chapter",)),
}


@cache
def classes_of(name, level):
    return public_tree(LISTED[name], "x").classes(level)


@cache
def set_of_classes(name, level):
    return frozenset(classes_of(name, level))


@pytest.mark.parametrize("name", LISTED_FROM)
@given(text=TEXTS)
def test_whatever_a_value_becomes_is_listed_beforehand(name, text):
    tree = public_tree(LISTED[name], "x")
    for level in range(LISTED_FROM[name], tree.n_levels):
        assert tree.chain(text)[level:] in set_of_classes(name, level)


@pytest.mark.parametrize("name", LISTED_FROM)
def test_what_is_listed_are_chains_of_values_and_what_is_unknown(name):
    tree = public_tree(LISTED[name], "x")
    for level in range(LISTED_FROM[name], tree.n_levels):
        classes = classes_of(name, level)
        assert (tree.root,) * (tree.n_levels - level) in classes and len(set_of_classes(name, level)) == len(classes)
        assert list(classes) == sorted(classes)
        for chain in classes[:: 1 + len(classes) // 500]:
            assert chain == (tree.root,) * len(chain) or tree.chain_below(chain[0])[level:] == chain
    assert LISTED_FROM[name] == 0 or tree.classes(LISTED_FROM[name] - 1) is None


def test_there_is_no_end_to_numbers_and_texts_but_all_are_alike_in_the_end():
    for name in ("intervals", "prefixes", "dates"):  # where dates are known by the day
        tree = public_tree(BUILDERS[name], "x")
        assert tree.classes(0) is None and tree.classes(1) is None
        assert tree.classes(tree.n_levels - 1) == (("*",),)
    years = public_tree(BUILDERS["dates"], "x").classes(4)
    assert len(years) == 9999 + 1  # and what is no date


def test_classes_stand_for_the_values_that_become_them():
    tree = public_tree(BUILDERS["cut points"], "x")
    values = pl.Series(["17", "18", "40", "64.5", "65", "?"])
    of_values = PublicColumn.of(tree, values)
    of_classes = PublicColumn.of_classes(tree, 1, tree.classes(1))
    assert of_classes.node_of_value.shape == (4, 5)
    assert (of_classes.node_of_value[0] == of_classes.node_of_value[1]).all()
    depth = dict(zip(of_values.labels, of_values.depth_of_node, strict=True))
    for label, found in zip(of_classes.labels, of_classes.depth_of_node, strict=True):
        assert depth[label] == found
