# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/streamliner/test_model.py
"""Candidates: sets of people that could stand in for each other.

Paper       W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012, Definition 1, Lemmas 3 and 4, Theorem 2.
Implements  Candidates (by the condition of Lemma 4, which is also necessary: Hall's theorem), l-candidates,
            and the sufficient conditions of Lemma 3 and Theorem 2.
Departs     nothing.
Guarantee   Exact, for any number of rows.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from itertools import combinations


def are_candidates(first: Collection[int], second: Collection[int], values: Sequence[Hashable]) -> bool:
    """Definition 1: disjoint, equally many, and some bijection always changes the colour.

    Such a bijection exists iff no colour has more than |first| members in the union: a colour with a members
    here and b there needs b <= |first| - a places for its own members, and Hall's condition asks no more.

    >>> are_candidates([0, 1], [2, 3], "aabb"), are_candidates([0, 3], [1, 2], "aaabb")
    (True, False)
    """
    if len(first) != len(second) or not set(first).isdisjoint(second):
        return False
    counts = Counter(values[row] for row in (*first, *second))
    return all(count <= len(first) for count in counts.values())


def are_l_candidate(sets: Sequence[Collection[int]], values: Sequence[Hashable]) -> bool:
    """Definition 1: the sets are pairwise candidates for each other; l is how many they are."""
    return all(are_candidates(first, second, values) for first, second in combinations(sets, 2))


def is_candidate_of_colour(colour: Collection[int], rows: Collection[int]) -> bool:
    """Lemma 3: any equally large set that does not meet a colour is a candidate for it."""
    return len(colour) == len(rows) and set(colour).isdisjoint(rows)


def satisfies_theorem_2(colour: Collection[int], sets: Sequence[Collection[int]], values: Sequence[Hashable]) -> bool:
    """Theorem 2: conditions under which a colour and l - 1 further sets form an l-candidate."""
    counts = Counter(values[row] for rows in sets for row in rows)
    return (
        all(is_candidate_of_colour(colour, rows) for rows in sets)
        and all(set(first).isdisjoint(second) for first, second in combinations(sets, 2))
        and all(count <= len(colour) for count in counts.values())
    )
