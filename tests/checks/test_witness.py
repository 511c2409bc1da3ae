# SPDX-License-Identifier: Apache-2.0
"""Random releases: true ones pass with and without a witness, and a witness never changes a verdict."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from checks.tiny import column, frame, plain, publish, publish_buckets
from oracles.matching import can_be_in_buckets, most_true_lines
from overt.checks import Claim, check_release
from overt.checks.reading import read_cells, usual_form
from overt.checks.witness import count_strangers
from overt.hierarchy import Nested
from overt.partition import Partition
from overt.privacy import KAnonymity
from overt.table import Kind, Role, Table

TREE = Nested({"A": ["a", "b"], "C": {"D": ["d", "e"], "F": "f"}})


@st.composite
def releases(draw, max_rows=8):
    """A table with missing values, a partition of its rows, and how columns are shown."""
    n = draw(st.integers(1, max_rows))

    def cells(*values):
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    table = Table(
        (
            column("number", Role.QUASI_IDENTIFIER, cells(1, 2, 3, 5, None), Kind.NUMBER),
            column("word", Role.QUASI_IDENTIFIER, cells("p", "q, r", "s", None)),
            column("tree", Role.QUASI_IDENTIFIER, cells("a", "b", "d", "e", "f", None), hierarchy=TREE),
            column("sick", Role.SENSITIVE, cells("x", "y")),
        ),
        pl.DataFrame({"note": cells("n", "o", None)}, schema={"note": pl.String}),
    )
    label = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    groups = [[row for row in range(n) if label[row] == g] for g in sorted(set(label))]
    show = {"number": draw(st.sampled_from(["range", "set"])), "word": draw(st.sampled_from(["range", "set"]))}
    show["tree"] = draw(st.sampled_from(["label", "set", "range"]))
    return table, groups, show


def truth_by_trying(table, lines, claim):
    """How many lines can be rows, from what the texts mean."""
    meant = {}
    for one in table.quasi_identifiers:
        texts = pl.Series([line[one.name] for line in lines], dtype=pl.String)
        readings = read_cells(texts, one, claim.show.get(one.name) or usual_form(one))
        meant[one.name] = [
            {
                code
                for run in range(readings.first[line], readings.first[line + 1])
                for code in range(readings.least[run], readings.greatest[run] + 1)
            }
            for line in range(len(lines))
        ]
    sick = table.column("sick")
    rows = [
        (
            [int(one.codes[row]) for one in table.quasi_identifiers],
            (sick.values[int(sick.codes[row])], table.others["note"][row]),
        )
        for row in range(table.n_rows)
    ]
    shown = [
        ([meant[one.name][i] for one in table.quasi_identifiers], (line["sick"], line["note"]))
        for i, line in enumerate(lines)
    ]
    return most_true_lines(rows, shown)


@given(releases())
def test_true_releases_pass(world):
    table, groups, show = world
    claim = Claim(goal=KAnonymity(1), n_rows=table.n_rows, others=("note",), show=show)
    tables = {"release": frame(publish(table, groups, show=show, others=("note",)))}
    for witness in (None, Partition.from_groups(groups)):
        verdict = check_release(table, tables, claim, witness=witness)
        assert verdict.ok, verdict.failures
    assert "the owner's grouping" in verdict.finding("truth").sentence


@given(releases(), st.data())
def test_truth_of_altered_releases_agrees_with_trying(world, data):
    table, groups, show = world
    claim = Claim(goal=KAnonymity(1), n_rows=table.n_rows, others=("note",), show=show)
    lines = publish(table, groups, show=show, others=("note",))
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(list(lines[0])))
        one, other = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        lines[one][name] = lines[other][name]
    expected = truth_by_trying(table, lines, claim) == table.n_rows
    for witness in (None, Partition.from_groups(groups)):
        verdict = check_release(table, {"release": frame(lines)}, claim, witness=witness)
        assert verdict.finding("truth").ok == expected


@given(releases(max_rows=6), st.data())
def test_truth_of_buckets_agrees_with_trying(world, data):
    table, groups, _ = world
    claim = Claim(goal=KAnonymity(1), n_rows=table.n_rows)
    people, values = publish_buckets(table, groups)
    if data.draw(st.booleans()):
        lines = data.draw(st.sampled_from([people, values]))
        one, other = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        name = data.draw(st.sampled_from(list(lines[0])))
        lines[one][name], lines[other][name] = lines[other][name], lines[one][name]
    columns, sick = table.quasi_identifiers, table.column("sick")
    rows = [
        (
            tuple(plain(one.values[int(one.codes[row])]) for one in columns),
            sick.values[int(sick.codes[row])],
        )
        for row in range(table.n_rows)
    ]
    expected = can_be_in_buckets(
        rows,
        [(tuple(line[one.name] for one in columns), line["bucket"]) for line in people],
        [(line["sick"], line["bucket"]) for line in values],
    )
    tables = {"quasi-identifiers": frame(people), "sensitive": frame(values)}
    for witness in (None, Partition.from_groups(groups)):
        verdict = check_release(table, tables, claim, witness=witness)
        truth = verdict.finding("truth")
        if expected:
            assert truth.ok
        elif truth.ok:  # only where people who look alike are in several buckets, and the finding says so
            assert "for 0 rows" not in truth.sentence


@given(releases())
def test_true_buckets_pass(world):
    table, groups, _ = world
    claim = Claim(goal=KAnonymity(1), n_rows=table.n_rows, others=("note",))
    people, values = publish_buckets(table, groups, others=("note",))
    tables = {"quasi-identifiers": frame(people), "sensitive": frame(values)}
    for witness in (None, Partition.from_groups(groups)):
        verdict = check_release(table, tables, claim, witness=witness)
        assert verdict.ok, verdict.failures
    assert "the owner's buckets" in verdict.finding("truth").sentence


@given(releases(), st.randoms(use_true_random=False))
def test_a_wrong_witness_changes_nothing(world, random):
    table, groups, show = world
    claim = Claim(goal=KAnonymity(1), n_rows=table.n_rows, show=show)
    tables = {"release": frame(publish(table, groups, show=show))}
    wrong = list(range(table.n_rows))
    random.shuffle(wrong)
    witness = Partition.from_groups([[wrong[row] for row in rows] for rows in groups])
    assert check_release(table, tables, claim, witness=witness).ok


def test_strangers_are_counted_whatever_was_suggested():
    ages = column("age", Role.QUASI_IDENTIFIER, [1, 2, 3, 5, None], Kind.NUMBER)
    witness = Partition.from_groups([[0, 1], [2, 3, 4]])
    readings = read_cells(pl.Series(["1..2", "2..5", "1..3 or missing"]), ages, "range")
    for texts, n_strangers in {(0, 1): 1, (1, 1): 2, (0, 2): 1, (2, 2): 1, (2, 0): 3}.items():
        assert count_strangers(ages, witness, np.array(texts, np.int32), readings) == n_strangers
