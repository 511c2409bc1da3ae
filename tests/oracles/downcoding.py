# SPDX-License-Identifier: Apache-2.0
"""Downcoding from its definition: every original that a release could come from is written down, and certain is what all of them agree on.

A row is a tuple of codes. A class is (how many rows, one cell for each column). A cell says which codes it covers and whether a list of
codes could be what it was made from.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

Row = tuple[int, ...]


@dataclass(frozen=True)
class Cell:
    """What is shown of a column: a range, a set, the lowest label above the rows, blocks of a grid, or a level."""

    form: str
    codes: frozenset[int]
    parts: tuple[
        frozenset[int], ...
    ] = ()  # of a label: what the labels below it cover; of a grid: its blocks, in order

    def could_be_of(self, codes: Sequence[int]) -> bool:
        """Whether the cell of exactly these codes is this one."""
        found = set(codes)
        if not found <= self.codes:
            return False
        match self.form:
            case "range":
                return {min(self.codes), max(self.codes)} <= found
            case "set":
                return found == self.codes
            case "label":
                return len(self.parts) < 2 or not any(found <= part for part in self.parts)
            case "grid":
                return bool(found & self.parts[0]) and bool(found & self.parts[-1])
        return True


Class = tuple[int, tuple[Cell, ...]]
Original = tuple[tuple[Row, ...], ...]  # the rows of every class


def originals(classes: Sequence[Class], *, tight: bool) -> Iterator[Original]:
    """All tables that a release could come from: their rows are in its cells, and if `tight` make these cells."""
    yield from product(*(list(rows_of_class(size, cells, tight)) for size, cells in classes))


def rows_of_class(size: int, cells: Sequence[Cell], tight: bool) -> Iterator[tuple[Row, ...]]:
    inside = list(product(*(sorted(cell.codes) for cell in cells)))
    for rows in combinations_with_replacement(inside, size):
        if not tight or all(
            cell.could_be_of(column) for cell, column in zip(cells, zip(*rows, strict=True), strict=True)
        ):
            yield rows


def made_by(candidates: Iterator[Original], run: Callable[[list[Row]], Counter], shown: Counter) -> Iterator[Original]:
    """Those from which a method makes the release that was seen."""
    for original in candidates:
        if run([row for rows in original for row in rows]) == shown:
            yield original


def count_between(possible: Sequence[Original], position: int, column: int, codes: frozenset[int]) -> tuple[int, int]:
    """The least and the most rows of a class that have one of these codes, over all originals."""
    counts = [sum(row[column] in codes for row in original[position]) for original in possible]
    return min(counts), max(counts)


def rows_known(possible: Sequence[Original], position: int) -> int:
    """Rows of a class that are the same in all originals."""
    common = Counter(possible[0][position])
    for original in possible:
        common &= Counter(original[position])
    return common.total()


def always_one(possible: Sequence[Original], box: Sequence[frozenset[int]]) -> bool:
    """Whether exactly one row of the whole table is in a box, in all originals."""
    return all(
        sum(all(code in side for code, side in zip(row, box, strict=True)) for rows in original for row in rows) == 1
        for original in possible
    )
