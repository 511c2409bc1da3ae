# SPDX-License-Identifier: Apache-2.0
"""T2 for strict cuts by size: what follows from which cuts were made, and which were not.

The groups of such a method are boxes that do not overlap, so the cuts can be found from the release: of the columns with a
boundary that no box straddles, the one of whose values the rows have the largest share was cut. Three things follow for the rows:

- A column with a larger share was tried first and failed: one of its values has fewer than k rows below it and above it.
- A cut off the middle says that the value beside it has so many rows that the next boundary is further off.
- In a group that was not cut every column failed.

Only what follows for certain is used. Where the order of columns cannot be decided, what lies below is left open.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.adversary.downcoding.bounds import CountBounds, Counts
from overt.adversary.downcoding.published import Published, PublishedColumn
from overt.trace import StrictCuts

MOST_ITEMS = 20_000_000  # values in all cells together, beyond which only T1 is looked at
FORMS = ("range", "set", "exact")  # whose cells say the least and the greatest value


@dataclass(frozen=True)
class AtLeast:
    """Together, these classes have so many rows of one value."""

    column: int
    classes: Counts
    code: int
    n_rows: int


@dataclass(frozen=True)
class AtMost:
    """Together, these classes have no more rows than so many with codes from `first` to `last`."""

    column: int
    classes: Counts
    first: int
    last: int
    n_rows: int


RowBound = AtLeast | AtMost


def can_follow(published: Published) -> bool:
    """Whether cells say enough to find the cuts."""
    if any(one.form not in FORMS for one in published.columns):
        return False
    return sum(int(one.width.sum()) for one in published.columns) <= MOST_ITEMS


def follow_cuts(published: Published, cuts: StrictCuts) -> tuple[CountBounds, ...]:
    """T2: bounds on every single value."""
    bounds = tuple(single_values(one, published.n_rows) for one in published.columns)
    findings = tuple(CutTree(published, bounds, cuts.least_rows).findings())
    for _ in range(2):  # what one column says of sums may help where another was said before
        bounds = tuple(
            _with_findings(bounds[j], [one for one in findings if one.column == j]) for j in range(len(bounds))
        )
    return bounds


def single_values(column: PublishedColumn, n_rows: Counts) -> CountBounds:
    """T1 with an item for every value."""
    tight = CountBounds.of(column.cells, column.cell_of_class, n_rows)
    width = tight.greatest - tight.least + 1
    code = np.arange(width.sum()) - np.repeat(np.cumsum(width) - width, width) + np.repeat(tight.least, width)
    is_one = np.repeat(width == 1, width)
    lo = np.where(is_one, np.repeat(tight.lo, width), 0)
    first = np.append(0, np.cumsum(width))[tight.first]
    codes = code.astype(np.int32)
    return CountBounds(n_rows, first, codes, codes, lo, np.repeat(tight.hi, width)).settled()


@dataclass(frozen=True, eq=False)
class CutTree:
    """The cuts, from the whole table down."""

    published: Published
    bounds: Sequence[CountBounds]
    k: int

    @cached_property
    def hulls(self) -> list[NDArray[np.int64]]:
        """(column)(2, class) -> least and greatest code."""
        return [one.hull for one in self.published.columns]

    def findings(self) -> Iterator[RowBound]:
        """What follows from every cut that can be decided."""
        columns, sizes = self.published.columns, self.published.n_rows
        hulls = self.hulls
        surely = [_masks(b, b.lo > 0) for b in self.bounds]
        maybe = [_masks(b, b.hi > 0) for b in self.bounds]
        n_codes = [one.column.n_values for one in columns]
        waiting = [np.arange(self.published.n_classes)]
        while waiting:
            classes = waiting.pop()
            n = int(sizes[classes].sum())
            if n < 2 * self.k:
                continue
            members = classes.tolist()
            least_share = [
                reduce(or_, (of[c] for c in members)).bit_count() / m for of, m in zip(surely, n_codes, strict=True)
            ]
            most_share = [
                reduce(or_, (of[c] for c in members)).bit_count() / m for of, m in zip(maybe, n_codes, strict=True)
            ]
            if classes.size == 1:
                for j in range(len(columns)):
                    yield from self._failed(j, classes, n)
                continue
            made = {}
            for j, of_column in enumerate(hulls):
                cut = nearest_boundary(of_column[:, classes], sizes[classes], self.k)
                if cut is not None:
                    made[j] = cut
            chosen = [j for j in made if all(_is_before(j, i, least_share, most_share) for i in made if i != j)]
            if len(chosen) != 1:
                continue
            (j,) = chosen
            bar, n_left = made[j]
            is_left = hulls[j][1, classes] < bar
            left, right = classes[is_left], classes[~is_left]
            if 2 * n_left > n:
                yield AtLeast(j, left, int(hulls[j][1, left].max()), 2 * n_left - n + 1)
            elif 2 * n_left < n:
                yield AtLeast(j, right, bar, n - 2 * n_left)
            for i in range(len(columns)):
                if i != j and _is_before(i, j, least_share, most_share):
                    yield from self._failed(i, classes, n)
            waiting += [left, right]

    def _failed(self, column: int, classes: Counts, n: int) -> Iterator[RowBound]:
        """No boundary of the column has k rows on both sides: if only one value can be the reason, it has nearly all rows."""
        bounds, of_column, sizes = self.bounds[column], self.hulls[column][:, classes], self.published.n_rows
        item = np.concatenate([np.arange(bounds.first[c], bounds.first[c + 1]) for c in classes.tolist()])
        n_codes = self.published.columns[column].column.n_values
        most = np.bincount(bounds.least[item], weights=bounds.hi[item], minlength=n_codes)
        needed = n - 2 * self.k + 2
        if np.count_nonzero(most >= needed) == 0:
            return
        least = np.bincount(bounds.least[item], weights=bounds.lo[item], minlength=n_codes)
        whole_below = np.bincount(of_column[1], weights=sizes[classes], minlength=n_codes)
        whole_above = np.bincount(of_column[0], weights=sizes[classes], minlength=n_codes)
        below = np.maximum(_before(least), _before(whole_below))
        above = np.maximum(_before(least[::-1])[::-1], _before(whole_above[::-1])[::-1])
        possible = np.flatnonzero((most >= needed) & (below < self.k) & (above < self.k))
        if possible.size != 1:
            return
        code = int(possible[0])
        yield AtLeast(column, classes, code, needed)
        yield AtMost(column, classes, 0, code - 1, self.k - 1)
        yield AtMost(column, classes, code + 1, n_codes - 1, self.k - 1)


def nearest_boundary(ends: NDArray[np.int64], sizes: Counts, k: int) -> tuple[int, int] | None:
    """(first code on the right, rows on the left) of the boundary nearest to the middle that no box straddles; None if there is none.

    A boundary that leaves fewer than k rows on a side was no cut.
    """
    order = np.argsort(ends[0], kind="stable")
    low, high, n_left = ends[0, order], np.maximum.accumulate(ends[1, order]), np.cumsum(sizes[order])
    n = int(n_left[-1])
    is_free = (high[:-1] < low[1:]) & (n_left[:-1] >= k) & (n - n_left[:-1] >= k)
    places = np.flatnonzero(is_free)
    if not places.size:
        return None
    best = places[np.argmin(np.abs(2 * n_left[places] - n))]  # the first of equals is the lower
    return int(low[best + 1]), int(n_left[best])


def _is_before(one: int, other: int, least: Sequence[float], most: Sequence[float]) -> bool:
    """Whether a column is surely tried before another."""
    return least[one] > most[other] or (least[one] == most[other] and one < other)


def _masks(bounds: CountBounds, kept: NDArray[np.bool_]) -> list[int]:
    """(class) -> the codes that are kept, as the bits of a number."""
    masks = [0] * bounds.n_rows.size
    class_of_item = np.repeat(np.arange(bounds.n_rows.size), bounds.n_items)
    for c, code in zip(class_of_item[kept].tolist(), bounds.least[kept].tolist(), strict=True):
        masks[c] |= 1 << code
    return masks


def _before(of_code: NDArray[Any]) -> NDArray[np.float64]:
    """(code) -> the sum over lower codes."""
    return np.append(0.0, np.cumsum(of_code)[:-1])


def _with_findings(bounds: CountBounds, findings: Sequence[RowBound]) -> CountBounds:
    """Bounds of single classes from those of several together."""
    lo, hi = bounds.lo.copy(), bounds.hi.copy()
    n_codes = int(bounds.least.max(initial=0)) + 1
    key = np.repeat(np.arange(bounds.n_rows.size), bounds.n_items) * n_codes + bounds.least
    for one in findings:
        if isinstance(one, AtLeast):
            wanted = one.classes * n_codes + one.code
            item = np.searchsorted(key, wanted)
            item = item[(item < key.size) & (key[np.minimum(item, key.size - 1)] == wanted)]
            lo[item] = np.maximum(lo[item], one.n_rows - (hi[item].sum() - hi[item]))
        elif one.first <= one.last:
            begin = np.searchsorted(key, one.classes * n_codes + one.first)
            end = np.searchsorted(key, one.classes * n_codes + min(one.last, n_codes - 1), side="right")
            item = np.concatenate([np.arange(b, e) for b, e in zip(begin.tolist(), end.tolist(), strict=True)])
            hi[item] = np.minimum(hi[item], one.n_rows - (lo[item].sum() - lo[item]))
    return bounds.narrowed(lo, hi)
