# SPDX-License-Identifier: Apache-2.0
"""A test on halves: how often a predicate made from the release of one half picks out one person there, and in the other half.

Paper       A. Cohen, K. Nissim, "Towards Formalizing the GDPR's Notion of Singling Out", PNAS 2020: predicate singling out.
Implements  The release of a random half, and of every class the predicates "in the box, with the rarest value that its cells recover" (the
            end of a range, a member of a set), "with the rarest such values of two columns" and "with a sensitive value that occurs once".
Departs     The baseline is the other half, which the release has never seen, in place of a bound for predicates of small weight. How
            rare a value is the adversary knows from the other half, as they would from public statistics.
Guarantee   None: an experiment with two attacks, for the owner. A better attack may find more.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.downcoding.bounds import CountBounds, Counts
from overt.adversary.downcoding.published import Published
from overt.adversary.downcoding.tiers import is_finer
from overt.errors import NothingReleased, Unreachable
from overt.kernels.boxed_rows import count_boxed_rows
from overt.method import Method
from overt.progress import Progress, silent
from overt.table import Codes, Column, Table

MOST_PREDICATES = 2_000
LEAST_PREDICATES = 50  # fewer say nothing about a share
CLASS, COLUMN, LEAST, GREATEST, EXPECTED = range(5)  # of a recovered value


@dataclass(frozen=True)
class Isolated:
    """How often predicates of one kind hold for exactly one person."""

    n_predicates: int
    inside: float  # share, in the half that the release was made from
    outside: float  # in the other half: what a predicate of that kind does by chance

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"predicates": self.n_predicates, "in_release": self.inside, "baseline": self.outside}


@dataclass(frozen=True)
class HalfTest:
    """The owner's test of predicate singling out."""

    n_rows: int  # of the half that was released
    by_cell: Isolated | None  # the box, and the rarest value that its cells recover
    by_two: Isolated | None  # the box, and the rarest values of two columns
    by_value: Isolated | None  # the box, and a sensitive value that occurs once in it

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "rows": self.n_rows,
            "recovered_value": None if self.by_cell is None else self.by_cell.to_dict(),
            "two_recovered_values": None if self.by_two is None else self.by_two.to_dict(),
            "sensitive_value": None if self.by_value is None else self.by_value.to_dict(),
        }

    def sentences(self) -> Iterator[str]:
        """What was found, with its baseline."""
        named = (
            (self.by_cell, "the rarest value that they recover"),
            (self.by_two, "the rarest values of two columns"),
            (self.by_value, "a sensitive value that occurs once"),
        )
        tried = [
            f"and {what} single out one person in {100 * one.inside:.0f} % of cases ({100 * one.outside:.0f} %)"
            for one, what in named
            if one is not None
        ]
        if tried:
            yield (
                f"Test on halves, by the owner: in a release of one half, the cells of a class {'; '.join(tried)}. In brackets: the same among "
                "people of the other half, who are not in the release."
            )


def try_halves(
    table: Table,
    method: Method,
    *,
    rng: Generator,
    show: Mapping[str, str] | None = None,
    on_progress: Progress = silent,
) -> HalfTest | None:
    """Release a random half of a table by the same method, and try the predicates on both halves; None if it gives nothing there."""
    order = rng.permutation(table.n_rows)
    half = table.n_rows // 2
    if half < 1:
        return None
    ours, others = rows_of(table, np.sort(order[:half])), rows_of(table, np.sort(order[half : 2 * half]))
    try:
        release = method.anonymize(ours, rng=rng, on_progress=on_progress)
    except (Unreachable, NothingReleased):
        return None
    published = Published.of(release, show)
    return HalfTest(
        half,
        _by_cells(published, ours, others, 1, rng),
        _by_cells(published, ours, others, 2, rng),
        _by_value(published, release.value_groups.group_of_row, release.partition.group_of_row, ours, others, rng)
        if release.value_groups is release.partition
        else None,
    )


def rows_of(table: Table, rows: NDArray[np.int64]) -> Table:
    """Some rows of a table, with the same dictionaries."""
    columns = tuple(replace(column, codes=column.codes[rows]) for column in table.columns)
    return replace(table, columns=columns, others=table.others[rows] if table.others.width else table.others)


def _by_cells(published: Published, ours: Table, others: Table, n_values: int, rng: Generator) -> Isolated | None:
    """Of a class, the rarest values that surely occur, one of each of so many columns."""
    found = np.concatenate(
        [
            _recovered(published, j, of_column, column)
            for j, (of_column, column) in enumerate(zip(published.tight(), others.quasi_identifiers, strict=True))
        ]
    )
    found = found[np.argsort(found[:, EXPECTED], kind="stable")]
    _, first = np.unique(found[:, [CLASS, COLUMN]], axis=0, return_index=True)  # the rarest of every cell
    found = found[np.sort(first)]
    found = found[np.argsort(found[:, CLASS], kind="stable")]  # of a class, the rarest first
    starts = (
        np.flatnonzero(np.append(True, found[1:, CLASS] != found[:-1, CLASS])) if len(found) else np.empty(0, np.int64)
    )
    starts = starts[np.diff(np.append(starts, len(found))) >= n_values]
    if starts.size < LEAST_PREDICATES:
        return None
    starts = starts[np.sort(rng.permutation(starts.size)[:MOST_PREDICATES])]
    low, high = _ends(published, found[starts, CLASS].astype(np.int64))
    places = np.arange(starts.size)
    for value in range(n_values):
        taken = found[starts + value].astype(np.int64)
        low[taken[:, COLUMN], places], high[taken[:, COLUMN], places] = taken[:, LEAST], taken[:, GREATEST]
    return Isolated(
        starts.size, _share_alone(low, high, ours.quasi_identifiers), _share_alone(low, high, others.quasi_identifiers)
    )


def _recovered(published: Published, j: int, bounds: CountBounds, public: Column) -> NDArray[np.float64]:
    """The values of a column that surely occur in a class: (class, column, least, greatest, rows expected there)."""
    shown = published.columns[j]
    below = np.append(
        0.0, np.cumsum(public.total_of_value + 0.5)
    )  # a value that public statistics lack is rare, not impossible
    in_cell = np.add.reduceat(below[shown.cells.greatest + 1] - below[shown.cells.least], shown.cells.first[:-1])
    share = (below[bounds.greatest + 1] - below[bounds.least]) / bounds.spread(in_cell[shown.cell_of_class])
    item = np.flatnonzero((bounds.lo > 0) & is_finer(shown, bounds))
    class_of_item = np.repeat(np.arange(published.n_classes), bounds.n_items)
    expected = share * bounds.spread(bounds.n_rows)
    return np.column_stack(
        [class_of_item[item], np.full(item.size, j), bounds.least[item], bounds.greatest[item], expected[item]]
    )


def _by_value(
    published: Published, value_group_of_row: Codes, group_of_row: Codes, ours: Table, others: Table, rng: Generator
) -> Isolated | None:
    """A sensitive value that occurs once in a class, with the box of the class."""
    if not ours.sensitive:
        return None
    column, kept = ours.sensitive[0], np.flatnonzero(group_of_row >= 0)
    class_of_row = published.class_of_group[value_group_of_row[kept]].astype(np.int64)
    key = class_of_row * column.n_values + column.codes[kept]
    keys, n_rows = np.unique(key, return_counts=True)
    once = keys[n_rows == 1]
    if once.size < LEAST_PREDICATES:
        return None
    once = once[np.sort(rng.permutation(once.size)[:MOST_PREDICATES])]
    low, high = _ends(published, once // column.n_values)
    value = once % column.n_values
    low, high = np.vstack([low, value]), np.vstack([high, value])
    return Isolated(
        once.size,
        _share_alone(low, high, (*ours.quasi_identifiers, column)),
        _share_alone(low, high, (*others.quasi_identifiers, others.sensitive[0])),
    )


def _ends(published: Published, classes: Counts) -> tuple[Counts, Counts]:
    """(column, predicate) -> the least and the greatest code of the box."""
    low, high = (np.stack(ends) for ends in zip(*(column.hull for column in published.columns), strict=True))
    return low[:, classes].copy(), high[:, classes].copy()


def _share_alone(low: Counts, high: Counts, columns: tuple[Column, ...]) -> float:
    codes = np.stack([column.codes for column in columns]).astype(np.int64)
    n_rows: Counts = count_boxed_rows(codes, low, high)
    return float((n_rows == 1).mean())
