# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/streamliner/test_model.py
"""Locally, globally and strongly globally safe sets of partitions, by enumeration.

Paper       W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012, sections 1 and 2.1.
Implements  Locally safe set, disclosure set, globally safe set, strongly globally safe set.
Departs     A group or a set of tables is safe when no share exceeds `threshold`; the paper's l-diversity is
            the threshold 1/l, its motivating example uses 2/3.
Guarantee   Exact, for tables small enough to enumerate; `TooLarge` beyond.

A table is the sequence of its values, row by row; a partition is a set of sets of row numbers.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import factorial, prod

from overt.errors import TooLarge

RowSet = frozenset[int]
RowPartition = frozenset[RowSet]
SafeValues = tuple[Hashable, ...]

MOST_ROWS = 12  # 4 million partitions
MOST_TABLES = 1_000_000


def partition_of(groups: Iterable[Iterable[int]]) -> RowPartition:
    """A partition from lists of rows: `partition_of([[0, 2], [1, 3]])`."""
    return frozenset(frozenset(group) for group in groups)


def is_safe_group(group: Iterable[int], values: Sequence[Hashable], threshold: Fraction) -> bool:
    """Whether no value has more than its share of the group."""
    counts = Counter(values[row] for row in group)
    return max(counts.values()) <= threshold * counts.total()


def is_locally_safe(partition: RowPartition, values: Sequence[Hashable], threshold: Fraction) -> bool:
    """Whether every group of the partition is safe: the partition is in the locally safe set."""
    return all(is_safe_group(group, values, threshold) for group in partition)


def locally_safe_set(values: Sequence[Hashable], threshold: Fraction) -> set[RowPartition]:
    """LSS: every partition whose every group is safe.

    >>> len(locally_safe_set("aabb", Fraction(1, 2)))
    3
    """
    if len(values) > MOST_ROWS:
        raise TooLarge(
            f"The locally safe set of {len(values)} rows has too many partitions to list; "
            f"at most {MOST_ROWS} rows can be enumerated."
        )
    return {partition_of(groups) for groups in _safe_partitions(tuple(range(len(values))), values, threshold)}


def _safe_partitions(
    rows: tuple[int, ...], values: Sequence[Hashable], threshold: Fraction
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """The partitions of these rows into safe groups; the group of the first row is chosen first."""
    if not rows:
        yield ()
        return
    first, others = rows[0], rows[1:]
    for chosen in range(1 << len(others)):
        group = (first, *(row for i, row in enumerate(others) if chosen >> i & 1))
        if is_safe_group(group, values, threshold):
            rest = tuple(row for i, row in enumerate(others) if not chosen >> i & 1)
            for groups in _safe_partitions(rest, values, threshold):
                yield (group, *groups)


def arrangements(values: Sequence[Hashable]) -> Iterator[SafeValues]:
    """Every table with the same rows and the same multiset of values, each once.

    >>> ["".join(table) for table in arrangements("aab")]
    ['aab', 'aba', 'baa']
    """
    counts = Counter(values)
    n_tables = factorial(len(values)) // prod(map(factorial, counts.values()))
    if n_tables > MOST_TABLES:
        raise TooLarge(f"There are {n_tables} tables with these values; at most {MOST_TABLES} can be enumerated.")
    return _arrangements(counts, len(values))


def _arrangements(counts: Counter[Hashable], n: int) -> Iterator[SafeValues]:
    if n == 0:
        yield ()
        return
    for value in counts:
        if counts[value]:
            counts[value] -= 1
            for rest in _arrangements(counts, n - 1):
                yield (value, *rest)
            counts[value] += 1


def disclosure_set(
    partitions: Iterable[RowPartition], values: Sequence[Hashable], threshold: Fraction
) -> set[SafeValues]:
    """D(S): the tables, with the same rows and multiset of values, for which every partition of S is safe."""
    groups = {group for partition in partitions for group in partition}
    return {table for table in arrangements(values) if all(is_safe_group(group, table, threshold) for group in groups)}


def after_release(tables: Iterable[SafeValues], partition: RowPartition, values: Sequence[Hashable]) -> set[SafeValues]:
    """Those of the tables that show the same values in every group as the released table."""
    shown = {group: Counter(values[row] for row in group) for group in partition}
    return {
        table for table in tables if all(Counter(table[row] for row in group) == shown[group] for group in partition)
    }


def worst_share(tables: Iterable[SafeValues]) -> Fraction:
    """The largest share of these tables that agree on the value of one row."""
    listed = list(tables)
    return max(Fraction(max(Counter(column).values()), len(listed)) for column in zip(*listed, strict=True))


def is_globally_safe(partitions: Iterable[RowPartition], values: Sequence[Hashable], threshold: Fraction) -> bool:
    """GSS: safe partitions, and knowing that all of them are safe gives nobody away."""
    chosen = list(partitions)
    return all(is_locally_safe(partition, values, threshold) for partition in chosen) and (
        worst_share(disclosure_set(chosen, values, threshold)) <= threshold
    )


def is_strongly_globally_safe(
    partitions: Iterable[RowPartition], values: Sequence[Hashable], threshold: Fraction
) -> bool:
    """SGSS: a GSS that gives nobody away whichever of its partitions is then released."""
    chosen = list(partitions)
    if not is_globally_safe(chosen, values, threshold):
        return False
    tables = disclosure_set(chosen, values, threshold)
    return all(worst_share(after_release(tables, partition, values)) <= threshold for partition in chosen)
