# SPDX-License-Identifier: Apache-2.0
"""Persons with several rows from frame to published lines, against an enumeration of all tables and all coins.

What is seen is everything that is published, and besides who is in which box and which bucket: more than anybody has. Whatever somebody believed
before, the release is equally likely under all tables that fit it, and with a flat prior every belief is the share in the person's bucket.
"""

from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from oracles.persons import laws, length, posterior, tables_of, values_of
from overt import BlindBuckets, FrequencyLDiversity, publish, read_frame
from overt.errors import Unreachable

BORN = [10, 10, 20, 20]
DAYS = [[1, 7], [3, 5], [2, 6], [4, 8]]  # all different, so that no coins are needed to put visits in order


def frame_of(table):
    """Person x has one row for each letter of their bundle, on their days."""
    rows = [(f"P{x}", BORN[x], DAYS[x][j], value) for x, bundle in enumerate(table) for j, value in enumerate(bundle)]
    return pl.DataFrame(rows, schema=["id", "born", "day", "ill"], orient="row")


def seen_of(form, known):
    """The law of everything that is published, and of who is where."""
    method = BlindBuckets(goal=FrequencyLDiversity(2), k=2, rows_per_bucket=2, cuts="strict", form=form)

    def make(table, coins):
        held = read_frame(
            frame_of(table), quasi_identifiers=["born", "day"], sensitive=["ill"], person="id", varies=["day"], order="day",
            known=known,
        )  # fmt: skip
        try:
            release = method.anonymize(held, rng=coins)
        except Unreachable:
            return None
        shown = publish(release)
        frames = shown if isinstance(shown, tuple) else (shown,)
        lines = tuple(tuple(map(str, row)) for frame in frames for row in frame.rows())
        buckets, boxes = release.value_groups, release.partition
        who = tuple(
            sorted(
                (
                    people := tuple(np.flatnonzero(buckets.group_of_row == b).tolist()),
                    tuple(sorted(table[x] for x in people)),
                )
                for b in range(buckets.n_groups)
            )
        )
        return who, tuple(boxes.group_of_row.tolist()), lines

    return make


CASES = [
    ("visits", ["ab", "ac", "bd", "cd"], None),
    ("visits", ["a", "b", "cd", "ef"], [1, 2, 1, 2]),
    ("visits", ["ab", "ba", "cd", "dc"], None),
    ("visits", ["aa", "bb", "ab", "cd"], None),
]


SHOWN = [
    pytest.param(*CASES[0], "buckets", marks=pytest.mark.slow),
    (*CASES[1], "buckets"),
    (*CASES[1], "generalized"),
    pytest.param(*CASES[3], "generalized", marks=pytest.mark.slow),
    pytest.param(*CASES[1], "shuffled", marks=pytest.mark.slow),
    pytest.param(*CASES[2], "buckets", marks=pytest.mark.slow),
    pytest.param(*CASES[0], "generalized", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("known", "bundles", "counts", "form"), SHOWN, ids=str)
def test_everything_published_is_equally_likely_under_all_tables_that_fit(known, bundles, counts, form):
    tables = tables_of(bundles, counts)
    law = laws(seen_of(form, known), tables)
    n_asked = 0
    for (who, _, _), of_table in law.items():
        fitting = [t for t in tables if all(Counter(t[x] for x in people) == Counter(held) for people, held in who)]
        assert len({of_table.get(t, Fraction(0)) for t in fitting}) == 1
        for people, held in who:
            assert len({length(bundle) for bundle in held}) == 1  # how many rows somebody has tells nothing
            for x in people:
                for value in set().union(*(values_of(bundle) for bundle in held)):
                    n_asked += 1
                    believed = posterior(of_table, lambda t, x=x, value=value: value in values_of(t[x]))
                    share = Fraction(sum(value in values_of(bundle) for bundle in held), len(held))
                    assert believed == share <= Fraction(1, 2)
    assert counts is not None or n_asked or not law


def test_an_order_by_diagnosis_would_give_people_away():
    """Two visits on one day each. Sorted by diagnosis, whoever has an unsorted bundle has visits on different days: known for certain."""
    days = [[1, 1], [1, 2]]
    naive = {}
    for table in tables_of(["ab", "ba"]):
        seen = tuple("".join(sorted(bundle)) if days[x][0] == days[x][1] else bundle for x, bundle in enumerate(table))
        naive.setdefault(tuple(sorted(seen)), []).append(table)
    assert any(len(of) == 1 for of in naive.values())  # one table is left: everybody is known
    drawn = set()
    for key in range(20):
        frame = pl.DataFrame({"id": [0, 0, 1, 1], "born": [1] * 4, "day": [1, 1, 1, 2], "ill": ["b", "a", "b", "a"]})
        held = read_frame(
            frame,
            quasi_identifiers=["born", "day"],
            sensitive=["ill"],
            person="id",
            varies=["day"],
            order="day",
            key=key,
        )
        drawn.add(held.column("ill").values[int(held.column("ill").codes[0])])
    assert drawn == {"a | b", "b | a"}
