# SPDX-License-Identifier: Apache-2.0
"""Columns that a release shows as narrowly as its rows allow, so that their cells name values that somebody has: a caution for the owner."""

from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np

from overt.hierarchy.grid import blocks_of, form_on_grid
from overt.persons import COUNT
from overt.release import Release
from overt.table import Column, Kind


def find_tight_cells(release: Release, show: Mapping[str, str]) -> Iterator[str]:
    """One sentence, if a quasi-identifier is shown as tight ranges or as sets. `show` is what was asked for, by column."""
    if not release.has_boxes or release.is_row_by_row or not release.n_groups:
        return
    columns = [column for column in release.table.quasi_identifiers if not _is_unmixed_count(release, column)]
    levels = [column.name for column in columns if release.level_of(column) is not None]
    yield from tight_cells_of(columns, show, levels=levels, is_on_grid=release.shows_on_grid)


def _is_unmixed_count(release: Release, column: Column) -> bool:
    """Whether a column says how many rows somebody has, and every group shows one number: no range of it is anybody's, and it counts as known."""
    if release.table.persons is None or column.name != COUNT:
        return False
    place = [known.name for known in release.table.quasi_identifiers].index(COUNT)
    return not bool(np.any(np.diff(release.boxes[place], axis=1)))


def tight_cells_of(
    columns: Iterable[Column], show: Mapping[str, str], *, levels: Collection[str], is_on_grid: bool
) -> Iterator[str]:
    """The same for boxes of these columns, some of which are generalized to a level; unless asked otherwise ranges may be on a grid."""
    known = list(columns)
    forms = {c.name: _form(c, show.get(c.name), is_level=c.name in levels, is_on_grid=is_on_grid) for c in known}
    ranges = [name for name, form in forms.items() if form == "range"]
    sets = [name for name, form in forms.items() if form == "set"]
    if not ranges and not sets:
        return
    shown = [f"{_names(ranges)} as ranges that end at somebody's values"] if ranges else []
    shown += [f"{_names(sets)} as sets that name every value of a group"] if sets else []
    remedy = (
        ' Use cells = "grid" to round ranges outward.'
        if any(_has_grid(column) for column in known if column.name in ranges)
        else ""
    )
    remedy += " With a hierarchy a column shows labels instead of sets." if sets else ""
    yield (
        f"The release shows {' and '.join(shown)}. Even somebody who knows nobody's quasi-identifiers can recover some of them; `overt audit` "
        f"counts how many.{remedy}"
    )


def _form(column: Column, asked: str | None, *, is_level: bool, is_on_grid: bool) -> str:
    if asked is None and is_level:
        return "level"
    if asked == "grid" or (asked is None and is_on_grid):
        return form_on_grid(column)
    usual = "range" if column.kind is not Kind.CATEGORY else "set" if column.hierarchy is None else "label"
    return asked or usual


def _has_grid(column: Column) -> bool:
    return blocks_of(column) is not None


def _names(names: list[str]) -> str:
    return ", ".join(map(repr, names))
