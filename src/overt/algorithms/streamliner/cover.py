# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/streamliner/test_model.py
"""Cover and l-cover: sets of partitions in which every colour can hide behind l - 1 others.

Paper       W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012, Definitions 4 and 5 (from L. Zhang, L. Wang,
            S. Jajodia, A. Brodsky, "L-Cover: Preserving Diversity by Anonymity", SDM 2009).
Implements  Cover; l-cover by search over all bijections; l-cover from given bijections.
Departs     nothing.
Guarantee   Exact, for tables small enough to search; `TooLarge` beyond. l-cover implies a strongly globally safe
            set; the converse is false.
"""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from itertools import permutations
from math import perm

from overt.algorithms.streamliner.eligibility import Colour, colours
from overt.algorithms.streamliner.safe_sets import RowPartition
from overt.errors import TooLarge

Bijection = Mapping[int, int]

MOST_BIJECTIONS = 1_000_000


def is_cover(bijection: Bijection, partitions: Collection[RowPartition]) -> bool:
    """Definition 4: swapping along the bijection turns every group of the set into a group of the set."""
    if not set(bijection).isdisjoint(bijection.values()):
        return False
    swap = {**bijection, **{image: row for row, image in bijection.items()}}
    groups = {group for partition in partitions for group in partition}
    return all(frozenset(swap.get(row, row) for row in group) in groups for group in groups)


def are_l_covers(
    colour: Colour, bijections: Sequence[Bijection], partitions: Collection[RowPartition], values: Sequence[Hashable]
) -> bool:
    """Definition 5: these bijections are covers of the colour that together hide it."""
    images = [set(bijection.values()) for bijection in bijections]
    return (
        all(_hides(colour, bijection, partitions) for bijection in bijections)
        and sum(map(len, images)) == len(set().union(*images))
        and all(len({values[f[row]] for f in bijections}) == len(bijections) for row in colour)
    )


def has_l_cover(partitions: Collection[RowPartition], values: Sequence[Hashable], l: int) -> bool:
    """Definition 5: every colour has l - 1 disjoint covers that send each of its rows to different colours.

    >>> one, other = [[0, 2], [1, 3]], [[0, 3], [1, 2]]
    >>> as_set = lambda *chosen: [frozenset(map(frozenset, partition)) for partition in chosen]
    >>> has_l_cover(as_set(one, other), "aabb", 2), has_l_cover(as_set(one, other), "aabc", 2)
    (True, False)
    """
    return all(_colour_has_l_cover(colour, partitions, values, l) for colour in colours(values).values())


def _colour_has_l_cover(
    colour: Colour, partitions: Collection[RowPartition], values: Sequence[Hashable], l: int
) -> bool:
    others = [row for row in range(len(values)) if row not in set(colour)]
    n_bijections = perm(len(others), len(colour))
    if n_bijections > MOST_BIJECTIONS:
        raise TooLarge(
            f"A colour of {len(colour)} rows has {n_bijections} bijections to others; "
            f"at most {MOST_BIJECTIONS} can be searched."
        )
    covers = [
        bijection
        for images in permutations(others, len(colour))
        if _hides(colour, bijection := dict(zip(colour, images, strict=True)), partitions)
    ]
    return any(True for _ in _choices(colour, covers, values, l - 1))


def _hides(colour: Colour, bijection: Bijection, partitions: Collection[RowPartition]) -> bool:
    """A cover of the colour that has as many members as the colour in every group."""
    images = set(bijection.values())
    return all(len(group.intersection(colour)) == len(group & images) for p in partitions for group in p) and is_cover(
        bijection, partitions
    )


def _choices(
    colour: Colour, covers: Sequence[Bijection], values: Sequence[Hashable], n: int
) -> Iterator[list[Bijection]]:
    """Ways to choose n covers, pairwise disjoint, that send each row to different colours."""
    if n == 0:
        yield []
        return
    for i, cover in enumerate(covers):
        images = set(cover.values())
        fitting = [
            other
            for other in covers[i + 1 :]
            if images.isdisjoint(other.values()) and all(values[other[row]] != values[cover[row]] for row in colour)
        ]
        for rest in _choices(colour, fitting, values, n - 1):
            yield [cover, *rest]
