# SPDX-License-Identifier: Apache-2.0
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.errors import InvalidInput
from overt.hierarchy import Prefixes
from overt.table import Kind


@given(st.lists(st.text("AB0.ü", max_size=5), min_size=1), st.sampled_from([(4, 3, 2), (3, 1), (1,)]))
def test_values_share_a_node_exactly_if_they_share_the_prefix(codes, lengths):
    values = pl.Series(sorted(set(codes)))
    tree = Prefixes(lengths=lengths).build(values, Kind.CATEGORY)
    for level, length in enumerate(lengths, start=1):
        shown = tree.to_frame()[f"level {level}"].to_list()
        assert shown == [code[:length] + "*" if len(code) >= length else code for code in tree.leaves]
    assert sorted(tree.leaves) == values.to_list()


def test_codes_of_different_length_are_an_unbalanced_tree():
    tree = Prefixes(lengths=(3, 1)).build(pl.Series(["A", "A00", "A00.1", "A01", "B2", None]), Kind.CATEGORY)
    assert [[tree.labels[node] for node in tree.chain(leaf)] for leaf in range(6)] == [
        ["A", "A*", "*"],
        ["A00", "A00*", "A*", "*"],
        ["A00.1", "A00*", "A*", "*"],
        ["A01", "A01*", "A*", "*"],
        ["B2", "B*", "*"],
        [None, "*"],
    ]


def test_numbers_of_one_length_may_be_prefixed_others_are_refused():
    tree = Prefixes(lengths=(1,)).build(pl.Series([10115, 10999, 20095]), Kind.NUMBER)
    assert tree.to_frame()["level 1"].to_list() == ["1*", "1*", "2*"]
    with pytest.raises(InvalidInput, match=r"'1\*' stands for values of column 'zip' .* declare the column a category"):
        Prefixes(lengths=(1,)).build(pl.Series("zip", [10, 20, 100]), Kind.NUMBER)
    assert Prefixes(lengths=(1,)).build(pl.Series([10, 20, 100]), Kind.CATEGORY).leaves.to_list() == [10, 100, 20]


def test_a_code_that_reads_like_a_prefix_is_refused():
    with pytest.raises(InvalidInput, match=r"'A\*' stands for two different sets of values"):
        Prefixes(lengths=(1,)).build(pl.Series(["A*", "A1"]), Kind.CATEGORY)


@pytest.mark.parametrize("lengths", [(), (0,), (2, 3), (3, 3)])
def test_lengths_must_descend(lengths):
    with pytest.raises(InvalidInput, match="lengths that descend, each at least 1"):
        Prefixes(lengths=lengths)


@pytest.mark.parametrize("length", [1_000_001, 10**30])
def test_a_length_that_no_code_has_is_refused(length):
    with pytest.raises(InvalidInput, match="at most 1,000,000 characters; give lengths such as"):
        Prefixes(lengths=(length, 2))
