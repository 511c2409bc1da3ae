# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_persons.py
"""A release of persons with several rows, row by row: what queries and columns cost is a matter of rows, whoever they belong to.

A row stands in the box that its person's rows have at its place, and in its person's bucket. Who is with whom is then a matter of
persons no more, so that nothing about privacy may be measured on this.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.partition import Partition
from overt.persons import COUNT
from overt.release import CrossBucketRelease, GeneralizedRelease, Release
from overt.table import Codes, Column, Kind, Role, Table


def by_rows(release: Release) -> Release:
    """The same release with one row for each row of a person; a release in which a row is a person stays as it is."""
    table = release.table
    if not table.has_bundles or table.persons is None:
        return release
    person, place, varying = rows_of_table(table)
    n_rows = np.bincount(person, minlength=table.n_rows)
    columns = []
    for column in table.columns:
        if column.bundles is not None:
            columns.append(single_rows(column))
        elif column.name != COUNT and not any(column.name in of for of in table.persons.positions.values()):
            columns.append(_with_used_values(column, column.codes[person]))
    columns += varying
    whole = Table(tuple(columns), pl.DataFrame())
    boxes = _numbered(release.partition.group_of_row[person].astype(np.int64) * int(n_rows.max()) + place)
    if release.is_crossed:
        return CrossBucketRelease(whole, boxes, release.made_by, _numbered(release.value_groups.group_of_row[person]))
    return GeneralizedRelease(whole, boxes, release.made_by)


def rows_of_table(table: Table) -> tuple[NDArray[np.intp], NDArray[np.intp], list[Column]]:
    """(row) -> its person, and its place among theirs; and the columns that vary, of all rows."""
    person = np.repeat(np.arange(table.n_rows), rows_per_person(table))
    first = np.cumsum(np.append(0, np.bincount(person, minlength=table.n_rows)))
    place = np.arange(person.size) - first[person]
    positions = {} if table.persons is None else table.persons.positions
    return (
        person,
        place,
        [_together(name, [table.column(at) for at in of], person, place) for name, of in positions.items()],
    )


def rows_per_person(table: Table) -> NDArray[np.int64]:
    """(person) -> how many rows they have in the table."""
    for column in table.columns:
        if column.bundles is not None:
            return column.bundles.lengths[column.codes]
        if column.name == COUNT and table.persons is not None:
            return column.values.to_numpy()[column.codes].astype(np.int64)
    return np.ones(table.n_rows, np.int64)


def single_rows(column: Column) -> Column:
    """A sensitive column as its rows have it."""
    bundles = column.bundles
    if bundles is None:
        return column
    kind, codes = Kind(bundles.kind), bundles.rows(column.codes)[1]
    return Column(column.name, Role.SENSITIVE, kind, codes, bundles.values, dtype=bundles.dtype)


def _with_used_values(column: Column, codes: Codes) -> Column:
    return Column(column.name, column.role, column.kind, codes, column.values, column.hierarchy, column.dtype)


def _together(name: str, at: list[Column], person: NDArray[np.intp], place: NDArray[np.intp]) -> Column:
    """A varying column of all rows, from its columns by position."""
    values = pl.concat([column.values for column in at])
    starts = np.cumsum([0, *(column.n_values for column in at)])
    stacked = np.stack([column.codes + start for column, start in zip(at, starts, strict=False)])
    used, code = np.unique(stacked[place, person], return_inverse=True)
    shown = values.gather(used)
    known = shown.drop_nulls().unique().sort()
    number = {value: i for i, value in enumerate(known.to_list())}
    new = np.array([number.get(value, len(known)) for value in shown.to_list()], np.int32)
    dictionary = known.extend_constant(None, 1) if shown.null_count() else known
    return Column(name, Role.QUASI_IDENTIFIER, at[0].kind, new[code], dictionary)


def _numbered(groups: NDArray[np.generic]) -> Partition:
    present, number = np.unique(groups, return_inverse=True)
    return Partition(number.astype(np.int32), present.size)
