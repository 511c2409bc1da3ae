# SPDX-License-Identifier: Apache-2.0
"""What another tool published, read cell by cell: labels of a hierarchy at any level, and what follows about quasi-identifiers.

Such labels were not chosen by which rows they hold, so nothing follows from a cell alone. Local recoding gives away something else.
A tool that generalizes in rounds, each round only the rows that are left, as ARX does, would have put a row into the first
class whose labels it has. So the rows of a class are in none of the classes that lie inside it, which were made before.

Guarantee   Sound if the tool works in such rounds. Whether it does cannot be seen from the file; the owner's table can show that it did
            not, and then nothing is concluded. In the file of ARX in our tests nothing that follows is wrong.
"""

from collections import defaultdict

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.adversary.downcoding.bounds import CountBounds
from overt.adversary.downcoding.downcoding import describe, downcode
from overt.adversary.downcoding.findings import Downcoding
from overt.adversary.downcoding.published import Published
from overt.adversary.other_tools.published_classes import class_of_rows, read_published
from overt.adversary.other_tools.searches import MedianCuts, ToolSearch
from overt.errors import InvalidInput
from overt.progress import Progress, silent
from overt.release import GeneralizedRelease
from overt.table import Kind, Table


def downcode_other(
    table: Table,
    shown: pl.DataFrame | None,
    search: ToolSearch,
    *,
    k: int | None = None,
    on_progress: Progress = silent,
) -> Downcoding:
    """Ask which quasi-identifiers a reader can recover from a release of another tool who knows nobody's.

    Parameters
    ----------
    table
        The original with its hierarchies. Of a published file only its dictionaries and hierarchies are used.
    shown
        The published table, rows in any order. Not needed for `MedianCuts`, whose ranges and sets are made again.
    search
        How the tool searches; its goal says which classes are small.
    k
        Classes below this size are counted; the least size that the goal allows if left out.
    on_progress
        Is told how far it is.

    """
    k = k if k is not None else max(2, search.goal.least_rows)
    if isinstance(search, MedianCuts):  # publishes the least and the greatest number, and every category that occurs
        found = search.reconstruct(table, shown, None, on_progress)
        show = {c.name: "set" if c.kind is Kind.CATEGORY else "range" for c in table.quasi_identifiers}
        return downcode(GeneralizedRelease(found.table, found.partition, made_by=None), show=show, k=k)
    if shown is None:
        raise InvalidInput("Name the file that was published: what follows from its cells is read from there.")
    published = read_published(table, shown)
    counts = [column.total_of_value for column in table.quasi_identifiers]
    method = without_earlier_classes(published)
    return describe(published, k, counts, method=method if can_be_true(table, published, method) else None)


def can_be_true(table: Table, published: Published, bounds: tuple[CountBounds, ...]) -> bool:
    """Whether the original, as far as it tells who is in which class, has only values there that bounds allow."""
    try:
        class_of_row = class_of_rows(table, published)
    except InvalidInput:
        return False
    kept = np.flatnonzero(class_of_row >= 0)
    classes = class_of_row[kept]
    for column, of_column in zip(table.quasi_identifiers, bounds, strict=True):
        of_item = np.repeat(np.arange(published.n_classes), of_column.n_items) * column.n_values
        code = classes * column.n_values + column.codes[kept]
        item = np.searchsorted(of_item + of_column.least, code, side="right") - 1
        if (item < 0).any() or (of_item[item] + of_column.greatest[item] < code).any():
            return False
    return True


def without_earlier_classes(published: Published) -> tuple[CountBounds, ...]:
    """Bounds without the values of classes that differ in one column only, and lie inside."""
    shown = np.stack([one.cell_of_class for one in published.columns])
    found = []
    for j, column in enumerate(published.columns):
        low, high = column.hull
        alike = defaultdict(list)
        for c, key in enumerate(np.delete(shown, j, axis=0).T.tolist()):
            alike[tuple(key)].append(c)
        runs: list[list[tuple[int, int]]] = [[] for _ in range(published.n_classes)]
        for classes in alike.values():
            for c in classes:
                inside = [d for d in classes if d != c and low[c] <= low[d] and high[d] <= high[c]]
                runs[c] = _left_over(int(low[c]), int(high[c]), [(int(low[d]), int(high[d])) for d in inside])
        found.append(_bounds_of(runs, published.n_rows))
    return tuple(found)


def _left_over(low: int, high: int, taken: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The runs of codes from `low` to `high` that nobody took."""
    runs, begin = [], low
    for first, last in sorted(taken):
        if first > begin:
            runs.append((begin, first - 1))
        begin = max(begin, last + 1)
    if begin <= high:
        runs.append((begin, high))
    return runs or [(low, high)]  # not what such a tool makes: nothing follows


def _bounds_of(runs: list[list[tuple[int, int]]], n_rows: NDArray[np.int64]) -> CountBounds:
    first = np.append(0, np.cumsum([len(of_class) for of_class in runs]))
    flat = np.array([run for of_class in runs for run in of_class], np.int32).reshape(-1, 2)
    hi = np.repeat(n_rows, np.diff(first))
    return CountBounds(n_rows, first, flat[:, 0], flat[:, 1], np.zeros_like(hi), hi).settled()
