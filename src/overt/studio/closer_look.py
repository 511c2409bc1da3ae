# SPDX-License-Identifier: Apache-2.0
"""A closer look: what the release of a run shows, what became of each column, and how far answers to questions are off.

All of it is worked out by the library; here it is cut to what a page has room for.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from markupsafe import Markup
from numpy.random import default_rng

from overt.hierarchy.texts import texts_of
from overt.io.publication import owner_view, published_tables
from overt.metrics.query_workload import Workload, predicate_types, query_workload_error
from overt.metrics.rows_of_persons import by_rows
from overt.metrics.utility import Utility
from overt.release import Release
from overt.report.bins import bins_of
from overt.report.leak import LEAST_ROWS
from overt.report.plots import bars_before_and_after
from overt.report.svg import draw
from overt.table import Kind

MOST_ROWS = 8  # of a release, to see what readers get
MOST_PEOPLE = 50  # of a group that the owner looks behind
N_QUERIES = 200  # of a kind
MOST_TYPES = 20  # sets of columns of a kind; of more, as many that are drawn
MOST_ASKED = 6  # sensitive columns that are asked for, the first
MOST_VALUES = 3_000  # of a column that random ranges are drawn of


@dataclass(frozen=True)
class Preview:
    """The first rows of a table as text."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_rows: int


@dataclass(frozen=True)
class CloserColumn:
    """A column before and after, as a drawing."""

    name: str
    drawing: Markup


@dataclass(frozen=True)
class QueryError:
    """How far counts are off that a reader works out from the release."""

    column: str  # the sensitive one that the questions ask for
    asked: str  # of how many columns
    error: float  # the mean, relative to the true count


def previews_of(release: Release, show: Mapping[str, str]) -> tuple[Preview, ...]:
    """The first rows of every table of a release, as readers get them."""
    tables = published_tables(release, show=show)
    return tuple(preview_of(name, frame.head(MOST_ROWS), frame.height) for name, frame in tables.items())


def preview_of(name: str, frame: pl.DataFrame, n_rows: int) -> Preview:
    """Some rows as text; a missing cell is empty."""
    texts = [["" if cell is None else str(cell) for cell in row] for row in frame.rows()]
    return Preview(name, tuple(frame.columns), tuple(map(tuple, texts)), n_rows)


def distributions_of(release: Release, utility: Utility) -> tuple[CloserColumn, ...]:
    """Every column that became coarser: how many rows have its values, and how many a reader would expect to."""
    found, table = [], by_rows(release).table
    for measured in utility.columns:
        column = table.column(measured.name)
        if measured.certainty_penalty is None or column.total_of_value.sum() == 0:
            continue  # published as it is
        bins = bins_of(column, LEAST_ROWS)
        before, after = bins.count(column.total_of_value), bins.count(measured.expected)
        plot = bars_before_and_after(
            bins.labels,
            [float(share) for share in before / before.sum()],
            [float(share) for share in after / max(1.0, after.sum())],
            description=f"Distribution of {column.name}: share of rows, before and after",
            name=column.name,
            lying=column.kind is Kind.CATEGORY,
        )
        found.append(CloserColumn(column.name, Markup(draw(plot.spec))))
    return tuple(found)


def query_errors_of(release: Release) -> tuple[QueryError, ...]:
    """The mean error of random counts by one column, by two, and by all, for every sensitive column."""
    release = by_rows(release)
    table = release.table
    if not table.sensitive or not release.n_groups:
        return ()
    kinds: dict[int, list[tuple[str, ...]]] = {}
    for names in predicate_types(table):
        if max(table.column(name).n_values for name in names) <= MOST_VALUES:
            kinds.setdefault(len(names), []).append(names)
    found = []
    for column in table.sensitive[:MOST_ASKED]:
        rng = default_rng(0)  # the same questions for every method that is compared
        for size, all_types in sorted(kinds.items()):
            types = all_types
            if len(types) > MOST_TYPES:
                types = [all_types[at] for at in np.sort(rng.choice(len(all_types), MOST_TYPES, replace=False))]
            each = -(-N_QUERIES // len(types))
            errors = [
                query_workload_error(release, Workload.draw(table, names, each, rng, about=column.name))
                for names in types
            ]
            asked = "one column" if size == 1 else "two columns" if size == 2 else f"all {size} columns"
            found.append(QueryError(column.name, asked, float(np.mean(errors))))
    return tuple(found)


def people_behind(release: Release, group: int) -> Preview | None:
    """The people of a group as they stand in the original; groups are numbered from 1 in the order of publication. For the owner alone."""
    if release.hides_table:
        return None
    seen = pl.DataFrame(owner_view(release))
    number = "group" if "group" in seen.columns else "bucket"
    rows = np.flatnonzero((seen[number] == group).fill_null(False).to_numpy())
    if not rows.size:
        return None
    first = rows[:MOST_PEOPLE]
    cells = {column.name: texts_of(column.values).gather(column.codes[first]) for column in release.table.columns}
    return preview_of(f"{number} {group}", pl.DataFrame(cells), int(rows.size))
