# SPDX-License-Identifier: Apache-2.0
"""What is measured of groups that nobody holds together: each fragment measures its own groups, and the measures of fragments are put together.

All of it is in whole numbers and fractions, so that neither the number of fragments nor their order changes anything: sums, and worst cases.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.engine.scale.seam import RowBatch, column_of
from overt.errors import OvertError
from overt.metrics.rare_values import Likelier, likelier_of
from overt.metrics.risk import AttributeDisclosure, Identification, identification_of_sizes
from overt.partition import Groups, Histogram
from overt.privacy.base import Property
from overt.table import Column

MEASURED = pl.DataFrame(schema={"what": pl.String, "part": pl.Int32, "numbers": pl.String})
NOT_MEASURED = "cannot be measured"


@dataclass(frozen=True, eq=False)
class MeasureGroups:
    """The measures of the groups of one fragment: rows that agree on these columns."""

    names: tuple[str, ...]
    sensitive: tuple[Column, ...]
    goal: Property | None
    box_size: int | None = None  # of buckets: how many rows the boxes of their people have at least

    def __call__(self, fragment: int, rows: RowBatch) -> RowBatch:
        keys = [column_of(rows, name) for name in self.names]
        order = np.lexsort(keys[::-1]).astype(np.int32)
        is_new = np.ones(order.size, np.bool_)
        is_new[1:] = np.logical_or.reduce([key[order][1:] != key[order][:-1] for key in keys])
        starts = np.append(np.flatnonzero(is_new), order.size)
        columns = [replace(c, codes=column_of(rows, f"s{i}").copy()) for i, c in enumerate(self.sensitive)]
        groups = judged = Groups.of_ranges(columns, order, starts)
        if self.box_size is not None:
            histograms = {name: replace(one, out_of=groups.sizes) for name, one in groups.histograms.items()}
            judged = Groups(np.full(groups.n_groups, self.box_size, np.int64), histograms)
        return measures_of(groups, judged, self.goal)


def measures_of(groups: Groups, judged: Groups, goal: Property | None) -> RowBatch:
    """The measures of the groups of one fragment; the goal is measured of `judged`, whose sizes may be others."""
    lines = [*_of_sizes(groups)]
    for j, (name, histogram) in enumerate(groups.histograms.items()):
        lines += [("learnt", j, _learnt(histogram, groups)), *_rare(j, name, histogram, groups)]
    lines += [("goal", i, _goal(part, judged)) for i, part in enumerate(goal.parts if goal is not None else ())]
    if goal is not None:
        lines.append(("broken", 0, f"{int(goal.breaks(judged).sum())}"))
    return pl.DataFrame(lines, schema=MEASURED.schema, orient="row")


def _of_sizes(groups: Groups) -> Iterator[tuple[str, int, str]]:
    sizes, n_groups = np.unique(groups.sizes, return_counts=True)
    yield from (("size", 0, f"{size} {n}") for size, n in zip(sizes.tolist(), n_groups.tolist(), strict=True))


def _learnt(histogram: Histogram, groups: Groups) -> str:
    most = np.maximum.reduceat(histogram.count, histogram.first[:-1])
    sizes = groups.sizes
    share = most / sizes
    near = np.flatnonzero(share >= share.max() * (1 - 1e-9))  # decided exactly among these
    worst = max(Fraction(a, b) for a, b in set(zip(most[near].tolist(), sizes[near].tolist(), strict=True)))
    is_certain = most == sizes
    certain = int(sizes[is_certain].sum()), int(is_certain.sum())
    return f"{certain[0]} {certain[1]} {worst.numerator} {worst.denominator} {int(most.sum())}"


def _rare(j: int, name: str, histogram: Histogram, groups: Groups) -> Iterator[tuple[str, int, str]]:
    found = likelier_of(name, histogram, groups.sizes)
    if found is not None:
        numbers = [found.n_people]
        for fraction in (found.times, found.share, found.share_in_group):
            numbers += [fraction.numerator, fraction.denominator]
        yield "rare", j, " ".join(map(str, numbers))


def _goal(part: Property, groups: Groups) -> str:
    try:
        return f"{int(part.breaks(groups).sum())} {repr(part.measure(groups)).replace(' ', '')}"
    except OvertError:
        return NOT_MEASURED


@dataclass(frozen=True)
class MeasuredGoal:
    """One property, measured."""

    n_broken: int
    described: str  # "" if it cannot be measured


@dataclass(frozen=True, eq=False)
class GroupMeasures:
    """What was measured of all groups."""

    sizes: NDArray[np.int64]  # different ones, ascending
    n_groups_of_size: NDArray[np.int64]
    learnt: Mapping[
        str, tuple[int, int, Fraction, int]
    ]  # rows and groups that are alike, the worst share, right guesses
    rare: tuple[Likelier, ...]
    goals: tuple[MeasuredGoal, ...]
    n_broken: int

    @classmethod
    def of(cls, found: RowBatch, names: Sequence[str], goal: Property | None) -> "GroupMeasures":
        """Put the measures of all fragments together; `names` are those of the sensitive columns."""
        numbers: dict[tuple[str, int], list[str]] = {}
        for what, part, text in found.rows():
            numbers.setdefault((what, part), []).append(text)
        n_of_size: dict[int, int] = {}
        for text in numbers.get(("size", 0), ()):
            size, n = map(int, text.split())
            n_of_size[size] = n_of_size.get(size, 0) + n
        learnt = {}
        for j, name in enumerate(names):
            of_column = [tuple(map(int, text.split())) for text in numbers.get(("learnt", j), ())]
            worst = max((Fraction(one[2], one[3]) for one in of_column), default=Fraction(0))
            learnt[name] = (
                sum(a[0] for a in of_column),
                sum(a[1] for a in of_column),
                worst,
                sum(a[4] for a in of_column),
            )
        rare = [_worst_rare(name, numbers.get(("rare", j), [])) for j, name in enumerate(names)]
        parts = goal.parts if goal is not None else ()
        sizes = np.array(sorted(n_of_size), np.int64)
        return cls(
            sizes,
            np.array([n_of_size[size] for size in sizes.tolist()], np.int64),
            learnt,
            tuple(one for one in rare if one is not None),
            tuple(_measured(part, numbers.get(("goal", i), [])) for i, part in enumerate(parts)),
            sum(map(int, numbers.get(("broken", 0), ()))),
        )

    @property
    def n_rows(self) -> int:
        return int(self.sizes @ self.n_groups_of_size)

    @property
    def n_groups(self) -> int:
        return int(self.n_groups_of_size.sum())

    @property
    def least(self) -> int:
        """The smallest group."""
        return int(self.sizes[0]) if self.sizes.size else 0

    @property
    def n_alone(self) -> int:
        """Groups of one row."""
        return int(self.n_groups_of_size[self.sizes == 1].sum())

    @property
    def squares(self) -> int:
        """The squared sizes, added up: discernibility."""
        return sum(size * size * n for size, n in zip(self.sizes.tolist(), self.n_groups_of_size.tolist(), strict=True))

    @property
    def described(self) -> str:
        """The measures of the goal's parts."""
        return ", ".join(goal.described for goal in self.goals)

    def identification(self, population_share: float | None = None) -> Identification:
        """The risk that a row is matched to its person."""
        return identification_of_sizes(self.sizes, self.n_groups_of_size, population_share=population_share)

    def disclosure(self, name: str, blind_guess: Fraction) -> AttributeDisclosure:
        """What is learnt of a sensitive column without matching anybody."""
        n_certain, _, worst, n_right = self.learnt[name]
        return AttributeDisclosure(name, n_certain, worst, n_right / self.n_rows, blind_guess)


def _worst_rare(name: str, found: Sequence[str]) -> Likelier | None:
    if not found:
        return None
    each = [tuple(map(int, text.split())) for text in found]
    times, share, in_group = max(
        (Fraction(one[1], one[2]), Fraction(one[3], one[4]), Fraction(one[5], one[6])) for one in each
    )
    return Likelier(name, times, share, in_group, sum(one[0] for one in each))


def _measured(part: Property, found: Sequence[str]) -> MeasuredGoal:
    if any(text == NOT_MEASURED for text in found) or not found:
        return MeasuredGoal(0, "")
    each = [text.split() for text in found]
    worst = min if part.best == "largest" else max
    return MeasuredGoal(sum(int(n) for n, _ in each), part.describe(worst(number_of(text) for _, text in each)))


def number_of(text: str) -> Any:
    """A measure as it was written: a whole number, a fraction or a float."""
    if text.startswith("Fraction("):
        above, below = text.removeprefix("Fraction(").removesuffix(")").split(",")
        return Fraction(int(above), int(below))
    if text.startswith("np."):
        text = text.partition("(")[2].removesuffix(")")
    return int(text) if text.lstrip("-").isdecimal() else float(text)
