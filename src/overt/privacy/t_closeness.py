# SPDX-License-Identifier: Apache-2.0
"""t-closeness: in every group sensitive values are spread almost as in the whole table."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.kernels.closeness import excess_over_table, rank_work
from overt.partition import Counts, Groups, Histogram
from overt.privacy.base import Broken, Distance, Limits, Number, Property, SensitiveProperty, exact, require_number
from overt.privacy.exactness import INT64_MAX, Integers, greatest_ratio, times
from overt.privacy.shares import Bounds, greatest_difference

DISTANCES = ("equal", "ordered", "hierarchical")


@dataclass(frozen=True)
class TCloseness(SensitiveProperty):
    """The earth mover's distance of a group's sensitive values from those of the table is at most t.

    N. Li, T. Li, S. Venkatasubramanian, "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", ICDE 2007.
    With t = 0 every group must have the same distribution as the table; t = 1 allows everything.

    Parameters
    ----------
    distance
        How far apart two values are, from 0 to 1. "equal": any two have distance 1. "ordered": by how many
        values of the table are between them, for numbers and dates. "hierarchical": by the level of their lowest common
        ancestor in the column's hierarchy.

    """

    t: Number
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"

    name: ClassVar[str] = "t-closeness"
    parameter: ClassVar[str] = "t"
    best: ClassVar[str] = "smallest"
    monotone: ClassVar[bool] = True  # the distance is convex: a merger is no farther than its farther part

    def __post_init__(self) -> None:
        require_number("t", self.t, least=0, most=1)
        if self.distance not in DISTANCES:
            raise InvalidInput(f"distance is {self.distance!r}; 'equal', 'ordered' or 'hierarchical' is expected.")

    def breaks_histogram(self, histogram: Histogram, sizes: Counts) -> Broken:
        t, (work, whole) = exact(self.t), self._work(histogram, sizes)
        broken: Broken = times(work, t.denominator) > times(whole, t.numerator)
        return broken

    def measure_histogram(self, histogram: Histogram, sizes: Counts) -> Fraction:
        return greatest_ratio(*self._work(histogram, sizes))

    @property
    def takes_bundles(self) -> bool:
        return self.distance == "equal"

    def share_bounds(self, q: Fraction, value: str | None) -> Bounds:
        if self.distance != "equal":
            return super().share_bounds(q, value)
        return max(Fraction(0), q - exact(self.t)), min(Fraction(1), q + exact(self.t))

    def measure_shares(self, histogram: Histogram, sizes: Counts) -> Fraction:
        return greatest_difference(histogram, sizes)

    def _work(self, histogram: Histogram, sizes: Counts) -> tuple[Integers, Integers]:
        """(group) -> numerator and denominator of its distance from the table."""
        if self.distance == "ordered":
            return ordered_work(histogram, sizes)
        if self.distance == "equal":
            return tree_work(histogram, sizes, np.arange(histogram.n_values, dtype=np.int32)[None, :])
        if histogram.node_of_value is None:
            raise InvalidInput(
                f"{self} needs a hierarchy of the sensitive column; give it one, or use another distance."
            )
        return tree_work(histogram, sizes, histogram.node_of_value[:-1].copy())

    def limits(self, sizes: Counts, of_table: Histogram | None = None) -> Limits | None:
        if of_table is None or (self.distance == "hierarchical" and of_table.node_of_value is None):
            return None
        t, total = exact(self.t), of_table.total_of_value
        occurs = total > 0
        if self.distance == "ordered":
            node = np.where(occurs, np.cumsum(occurs) - 1, -1).astype(np.int32)[None, :]
            n_levels = int(occurs.sum())
            totals = np.cumsum(total[occurs])[None, :]
        else:
            values = np.arange(of_table.n_values, dtype=np.int32)[None, :]
            node = values if self.distance == "equal" or of_table.node_of_value is None else of_table.node_of_value[:-1]
            n_levels = len(node)
            totals = np.zeros((n_levels, int(node.max(initial=0)) + 1), np.int64)
            for of_level, nodes in zip(totals, node, strict=True):
                np.add.at(of_level, nodes, total)
        distance = Distance((t.numerator, t.denominator), node, totals, n_levels, self.distance == "ordered")
        return Limits(sizes, distance=distance)

    def necessary(self, everyone: Groups) -> Property:
        if self.distance != "equal":
            return super().necessary(everyone)
        # The distance is 1 minus the sum of min(p, q), and so at least the share of the values that the group lacks.
        return self.needs_values(everyone, 1 - exact(self.t))

    @property
    def in_words(self) -> str:
        return f"The sensitive values{self.where} of every group are as in the whole table, up to a distance of {self.t}; a rare one may still become much likelier."

    def __str__(self) -> str:
        return f"{self.t}-closeness ({self.distance} distance){self.where}"


def tree_work(histogram: Histogram, sizes: Counts, node_of_value: NDArray[np.int32]) -> tuple[Integers, Integers]:
    """The distance if moving between two values costs the level at which they meet, over the height of the tree.

    `node_of_value` is (level, value), from the values themselves to just below the root; H levels.

    Why: give every edge of the tree the length 1 / (2 H). Two values that meet at level h are 2 h edges apart, so
    the way along the tree costs h / H. What must cross the edge above a node is the difference between the
    shares p and q of the values below it, in one direction, and moving exactly that crosses no edge in vain. So
    the distance is 1 / (2 H) times the sum over all nodes of |p - q|; and as on every level the nodes below the
    root hold everything once, that is 1 / H times the sum of p - q over the nodes where p is larger.

    In an unbalanced tree a shorter chain repeats a node on several levels, and so has a longer edge: two values
    are as far apart as the level at which their chains first agree, the longer of the two ways up.

    With one level, all edges go from a value to the root, and all values are equally far apart.
    """
    n_levels, n_rows = len(node_of_value), int(histogram.total_of_value.sum())
    if not n_levels:  # a tree that is only a root has only one value
        return np.zeros_like(sizes), np.ones_like(sizes)
    total_of_node = np.zeros((n_levels, int(node_of_value.max()) + 1), np.int64)
    for totals, nodes in zip(total_of_node, node_of_value, strict=True):
        np.add.at(totals, nodes, histogram.total_of_value)
    work = run_exactly(excess_over_table, histogram, sizes, (node_of_value, total_of_node), n_rows, n_levels)
    return work, times(sizes, n_rows * n_levels)


def ordered_work(histogram: Histogram, sizes: Counts) -> tuple[Integers, Integers]:
    """The distance if moving between two values costs the difference of their ranks among the table's m values.

    In units of 1 / (m - 1). What must pass from rank r to r + 1 is the difference between the shares up to r, so
    the distance is the sum of these differences. With one value there is none.
    """
    occurs = histogram.total_of_value > 0
    n_rows, n_ranks = int(histogram.total_of_value.sum()), int(occurs.sum())
    if n_ranks < 2:
        return np.zeros_like(sizes), np.ones_like(sizes)
    rank_of_value = np.cumsum(occurs) - 1
    rows_up_to = np.cumsum(histogram.total_of_value[occurs])
    sum_before = np.append(0, np.cumsum(rows_up_to))
    work = run_exactly(rank_work, histogram, sizes, (rank_of_value, rows_up_to, sum_before), n_rows, n_ranks)
    return work, times(sizes, n_rows * (n_ranks - 1))


def run_exactly(
    loop: Any, histogram: Histogram, sizes: Counts, table: tuple[NDArray[Any], ...], n_rows: int, n_steps: int
) -> Integers:
    """Run a loop whose numbers stay below size * n_rows * n_steps, in Python integers for groups too large for 64 bits."""
    is_small = sizes <= INT64_MAX // (n_rows * n_steps)
    if is_small.all():
        work: Integers = loop(histogram.first, histogram.value, histogram.count, sizes, *table, n_rows)
        return work
    python = getattr(loop, "py_func", loop)
    work = np.zeros(sizes.size, object)
    if is_small.any():
        few = histogram.select(is_small)
        work[is_small] = loop(few.first, few.value, few.count, sizes[is_small], *table, n_rows)
    many = histogram.select(~is_small)
    counts, large, exact_table = (
        many.count.astype(object),
        sizes[~is_small].astype(object),
        [t.astype(object) for t in table],
    )
    work[~is_small] = python(many.first, many.value, counts, large, *exact_table, n_rows)
    return work
