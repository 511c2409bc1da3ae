# SPDX-License-Identifier: Apache-2.0
"""Releases of other tools. What the tools publish for five people is in the notes of the project: they were run."""

from collections import Counter
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings

from overt import KAnonymity, Levels, read_frame
from overt.adversary.knowledge import RELEASE_ONLY, Knowledge
from overt.adversary.other_tools.searches import (
    FirstOnPath,
    LeastCost,
    MedianCuts,
    audit_other,
    cut_at_medians,
    path_to_top,
)
from overt.adversary.replay.preferred_nodes import PreferredNodes
from overt.errors import InvalidInput
from overt.privacy import AllOf, DistinctLDiversity, EntropyLDiversity
from tables import table_of, tables

STREETS = ["A", "A", "B", "B", "B"]
DISEASES = ["HIV", "HIV", "flu", "cold", "asthma"]
FIVE = pl.DataFrame({"street": STREETS, "disease": DISEASES})
STARS = pl.DataFrame({"street": ["*"] * 5, "disease": ["flu", "HIV", "asthma", "cold", "HIV"]})  # rows in any order
HIERARCHY = {"street": Levels([["A", "*"], ["B", "*"]])}


def original(frame=FIVE, **options):
    options = {"sensitive": ["disease"], **options}
    return read_frame(frame, quasi_identifiers=["street"], **options)


def attack(search, shown=STARS, table=None, **options):
    return audit_other(table or original(hierarchies=HIERARCHY), shown, search, rng=np.random.default_rng(1), **options)


@pytest.mark.parametrize(
    "search",
    [
        LeastCost(goal=DistinctLDiversity(2)),
        FirstOnPath(goal=DistinctLDiversity(2)),
        MedianCuts(goal=AllOf((KAnonymity(2), DistinctLDiversity(2)))),
    ],
    ids=lambda search: search.name,
)
def test_five_people_of_whom_two_are_known_for_certain(search):
    """Notes on peers, section 7: 6 of 60 worlds are left, and person 1 has HIV with certainty."""
    found = attack(search)
    assert found.replayed.n_tables == 6 and found.replayed.is_exact
    assert found.alone.belief_of_row.tolist() == [0.4] * 5
    assert found.replayed.belief_of_row == pytest.approx([1, 1, 1 / 3, 1 / 3, 1 / 3])
    assert found.method == search.name and "HIV" not in str(found.to_dict())
    assert "would have set 2 rows of this group apart from 3" in found.worst.why


def test_five_people_under_entropy_diversity():
    """The same notes: with entropy 2-diversity 24 worlds are left, and the belief falls to 0.25."""
    found = attack(LeastCost(goal=EntropyLDiversity(2)))
    assert found.replayed.n_tables == 24
    hiv = original().sensitive[0].values.to_list().index("HIV")
    assert found.replayed.of_row(0)[hiv] == 0.25


def test_the_file_is_enough_if_everyone_is_known():
    blind = read_frame(FIVE.select("street"), quasi_identifiers=["street"], hierarchies=HIERARCHY)
    found = attack(LeastCost(goal=DistinctLDiversity(2)), table=blind, sensitive="disease")
    assert found.replayed.belief_of_row == pytest.approx([1, 1, 1 / 3, 1 / 3, 1 / 3])


def test_replaying_the_search_of_a_tool_ends_with_the_time(monkeypatch):
    made, partition = [], PreferredNodes.partition

    def count(nodes, node):
        made.append(node)
        return partition(nodes, node)

    monkeypatch.setattr(PreferredNodes, "partition", count)
    search = LeastCost(goal=DistinctLDiversity(2))
    assert not attack(search).n_unknown and (0,) in made
    made.clear()
    assert attack(search, seconds=1e-9).n_unknown == 5 and (0,) not in made


def test_facts_and_no_method():
    search = LeastCost(goal=DistinctLDiversity(2))
    assert attack(search, knowledge=RELEASE_ONLY).replayed.belief_of_row.tolist() == [0.4] * 5
    knows = attack(search, knowledge=Knowledge(known=(2,)))
    assert knows.replayed.n_tables == 2 and knows.replayed.belief_of_row == pytest.approx([1, 1, 1, 0.5, 0.5])


def test_suppressed_rows_show_their_values():
    # C has one disease only and is starred; A and B are shown. Of the starred rows the diseases are known together.
    frame = pl.DataFrame({"street": ["A", "A", "B", "B", "C", "C"], "disease": ["a", "b", "a", "b", "c", "c"]})
    levels = Levels([["A", "*"], ["B", "*"], ["C", "*"]])
    table = original(frame, hierarchies={"street": levels})
    shown = pl.DataFrame({"street": ["A", "A", "B", "B", "*", "*"], "disease": ["b", "a", "a", "b", "c", "c"]})
    found = attack(LeastCost(goal=DistinctLDiversity(2), max_suppressed="1/2"), shown, table)
    assert found.replayed.belief_of_row == pytest.approx([0.5, 0.5, 0.5, 0.5, 1, 1])
    assert found.n_groups == 2 and found.n_rows == 6


def publish(search, table, codes):
    """What a tool that works as described publishes of other values, by brute force: groups as sets of rows, or None."""
    goal, columns = search.goal, table.quasi_identifiers
    other = table_of(
        [c.codes for c in columns], list(codes), n_codes=[c.n_values for c in columns], kinds=[c.kind for c in columns]
    )

    def holds(groups):
        return all(len({codes[row] for row in group}) >= goal.l for group in groups)

    def groups_at(node):
        rows = {}
        for row in range(len(codes)):
            key = tuple(int(c.codes[row]) if level == 0 else "*" for c, level in zip(columns, node, strict=True))
            rows.setdefault(key, []).append(row)
        return list(rows.values())

    if isinstance(search, MedianCuts):
        partition, _ = cut_at_medians(other, goal)
        groups = [np.flatnonzero(partition.group_of_row == g).tolist() for g in range(partition.n_groups)]
    elif isinstance(search, FirstOnPath):
        groups = next((groups_at(node) for node in path_to_top(other) if holds(groups_at(node))), None)
    else:
        nodes = [node for node in np.ndindex(*[2] * len(columns)) if holds(groups_at(node))]
        costs = [sum(len(group) ** 2 for group in groups_at(node)) for node in nodes]
        assume(costs and costs.count(min(costs)) == 1)  # ties are not known
        groups = groups_at(nodes[int(np.argmin(costs))])
    return None if groups is None else {tuple(group) for group in groups}


@pytest.mark.parametrize("kind", [LeastCost, FirstOnPath, MedianCuts])
@settings(max_examples=30, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(table=tables(min_rows=4, max_rows=6, max_columns=2, max_code=2))
def test_beliefs_are_those_of_all_worlds(kind, table):
    search, codes = kind(goal=DistinctLDiversity(2)), table.sensitive[0].codes.tolist()
    assume(len(set(codes)) > 1)
    groups = publish(search, table, codes)
    assume(groups is not None)
    shown = show(table, groups)
    seen = {group: Counter(codes[row] for row in group) for group in groups}
    worlds = []
    for world in set(permutations(codes)):
        same = all(Counter(world[row] for row in group) == values for group, values in seen.items())
        if same and publish(search, table, world) == groups:
            worlds.append(world)
    found = audit_other(table, shown, search, rng=np.random.default_rng(2))
    assert found.replayed.n_tables == len(worlds)
    for row in range(table.n_rows):
        counted = np.bincount([world[row] for world in worlds], minlength=table.sensitive[0].n_values) / len(worlds)
        assert found.replayed.of_row(row) == pytest.approx(counted)


def show(table, groups):
    """The file that a full-domain tool writes: a column is exact if no group has two of its values."""
    frame = {}
    for column in table.quasi_identifiers:
        exact = all(len({int(column.codes[row]) for row in group}) == 1 for group in groups)
        frame[column.name] = [str(column.values[int(code)]) if exact else "*" for code in column.codes]
    frame["s0"] = [table.sensitive[0].values[int(code)] for code in table.sensitive[0].codes]
    return pl.DataFrame(frame)


@pytest.mark.parametrize(
    ("shown", "search", "sentence"),
    [
        (None, LeastCost(goal=KAnonymity(2)), "give it as a frame"),
        (STARS.rename({"street": "road"}), LeastCost(goal=KAnonymity(2)), "must have all quasi-identifiers"),
        (STARS.head(3), LeastCost(goal=KAnonymity(2)), "has 3 rows and the original 5"),
        (FIVE.with_columns(street=pl.lit("Z")), LeastCost(goal=KAnonymity(2)), "1 of the published texts of 'street'"),
        (FIVE.with_columns(street=pl.lit("Z")), FirstOnPath(goal=KAnonymity(2)), "No combination of levels"),
        (
            FIVE.with_columns(street=pl.Series(list("AAB**"))),
            LeastCost(goal=KAnonymity(2)),
            "the class of 3 rows does not follow",
        ),
        (STARS.with_columns(disease=pl.lit("mumps")), LeastCost(goal=KAnonymity(2)), "that the original does not have"),
        (STARS.with_columns(disease=pl.lit("flu")), LeastCost(goal=KAnonymity(2)), "do not have the sensitive values"),
        (STARS, LeastCost(goal=KAnonymity(2)), "would not have made this release"),
        (STARS, LeastCost(goal=DistinctLDiversity(2), optimise="beauty"), "cannot be replayed"),
    ],
)
def test_what_cannot_be_replayed_is_refused(shown, search, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        attack(search, shown)
