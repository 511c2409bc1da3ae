# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/streamliner/test_model.py
"""Self-contained partitions and family sets: what may be released once candidates are chosen.

Paper       W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012, Definitions 2 and 3, Lemma 2, Table 9.
Implements  Self-contained groups and partitions, the minimal self-contained partition (procedure
            l-candidate-to-P^lm, by union-find), the family set of all self-contained partitions.
Departs     nothing.
Guarantee   Exact. Note that Theorem 1 holds the set of partitions constant: an adversary who also knows how
            the candidates were chosen is the subject of the safety theorems (docs/theory/safety.md), not of this module.

Candidates are given as a mapping from each row to the l - 1 rows chosen for it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from overt.algorithms.streamliner.safe_sets import RowPartition, RowSet, partition_of
from overt.errors import InvalidInput, TooLarge
from overt.kernels.union_find import groups_of_links

Candidates = Mapping[int, Sequence[int]]

MOST_GROUPS = 10  # 116 thousand coarsenings


def is_self_contained_group(group: Iterable[int], candidates: Candidates) -> bool:
    """Definition 2: the group has both or none of every row and each of its candidates."""
    members = set(group)
    return all((row in members) == (other in members) for row, chosen in candidates.items() for other in chosen)


def is_self_contained(partition: RowPartition, candidates: Candidates) -> bool:
    """Definition 2: every group of the partition is self-contained."""
    return all(is_self_contained_group(group, candidates) for group in partition)


def minimal_self_contained(candidates: Candidates) -> RowPartition:
    """Definition 3: a row with its candidates is a transient group; those that share rows are merged.

    >>> sorted(map(sorted, minimal_self_contained({0: [2], 1: [3], 2: [0], 3: [1]})))
    [[0, 2], [1, 3]]
    """
    n_rows = len(candidates)
    lengths = {len(chosen) for chosen in candidates.values()}
    if set(candidates) != set(range(n_rows)) or len(lengths) > 1:
        raise InvalidInput("Candidates must be given for every row 0, 1, 2, ..., and equally many for each.")
    links = np.array([candidates[row] for row in range(n_rows)], np.int32).reshape(n_rows, -1)
    if links.size and not 0 <= links.min() <= links.max() < n_rows:
        raise InvalidInput(f"A candidate is not one of the {n_rows} rows.")
    group_of_row, n_groups = groups_of_links(np.arange(n_rows, dtype=np.int32), links, n_rows)
    return partition_of(np.flatnonzero(group_of_row == g).tolist() for g in range(n_groups))


def family_set(candidates: Candidates) -> Iterator[RowPartition]:
    """Every self-contained partition: by Lemma 2 the coarsenings of the minimal one, itself included."""
    minimal = sorted(minimal_self_contained(candidates), key=min)
    if len(minimal) > MOST_GROUPS:
        raise TooLarge(
            f"The minimal partition has {len(minimal)} groups; the family set of at most {MOST_GROUPS} can be listed."
        )
    return (frozenset(blocks) for blocks in _coarsenings(minimal))


def _coarsenings(groups: Sequence[RowSet]) -> Iterator[list[RowSet]]:
    if not groups:
        yield []
        return
    for blocks in _coarsenings(groups[1:]):
        yield [groups[0], *blocks]
        for i, block in enumerate(blocks):
            yield [*blocks[:i], groups[0] | block, *blocks[i + 1 :]]
