# SPDX-License-Identifier: Apache-2.0
"""Publication: a release as people see it, in canonical order.

Rows are sorted by what they show: the published quasi-identifiers, then the sensitive values, then other columns. So
nothing survives of the order of the original rows, of its ids, or of the order in which a method made its groups, and
a table that is shuffled first gives the same bytes. Groups that show the same cells are one group to the reader.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.io.cells import Cells, cells_of, level_cells
from overt.io.dp_release import dp_table
from overt.io.encoding import coded_from_series, codes_by_text, values_as_came
from overt.io.frames import to_native
from overt.io.own_content import in_own_type, with_own_content
from overt.io.person_lines import RowLinks, lines_of_persons
from overt.kernels.counting import count_codes, order_by_code, starts_of
from overt.kernels.ordering import order_of_lists
from overt.partition import Partition
from overt.release import (
    BucketRelease,
    CrossBucketRelease,
    DpRelease,
    FullDomainRelease,
    GeneralizedRelease,
    RecordRelease,
    Release,
)
from overt.table import Codes, Column, Table, unknown_column
from overt.threads import map_in_threads

SHUFFLED = "values shuffled in bucket"  # the column that numbers buckets says what a row's values are: not its person's
_PACKED_CODES = 1 << 16


class BucketTables(NamedTuple):
    """A bucket release as two frames, joined by their column `bucket`."""

    quasi_identifiers: Any
    sensitive: Any


def publish(
    release: Release, *, show: Mapping[str, str] | None = None, others: Collection[str] = (), rows: RowLinks = "linked"
) -> Any:
    """The release as frames of the kind that came in: one frame, or `BucketTables` for a bucket release.

    `show` says how a quasi-identifier is shown: as a "range", a "label" of its hierarchy, a "set", or on a "grid". `others` names the
    columns without a role that are released too, as they are. Of persons with several rows there is one line for each row,
    held together by a number; with `rows="pooled"` those of a bucket stand together without one.

    >>> import overt
    >>> table = overt.read_frame(overt.samples.hospital(), quasi_identifiers=["Sex"], sensitive=["Disease"])
    >>> publish(overt.Mondrian(goal=overt.KAnonymity(4)).anonymize(table)).shape
    (96, 2)
    """
    tables = lines_of_persons(release.table, published_tables(release, show=show, others=others), rows)
    frames = [to_native(as_frame(release.table, frame), release.table.frame_kind) for frame in tables.values()]
    return frames[0] if len(frames) == 1 else BucketTables(*frames)


def published_tables(
    release: Release, *, show: Mapping[str, str] | None = None, others: Collection[str] = ()
) -> dict[str, pl.DataFrame]:
    """The published tables by name, in Polars: "release" (or "shuffled"), or "quasi-identifiers" (or "boxes") and "sensitive".

    Persons with several rows have one line here; `lines_of_persons` makes one line for each row.

    Columns of text are dictionaries (`pl.Enum`), in memory a fraction of the text. They hold what rows show and nothing else.
    """
    table = release.table
    show = (show or {}) if table.persons is None else table.persons.expanded(show or {})
    if not release.hides_table:
        _refuse_unknown(table, show, others)
    match release:
        case DpRelease():
            return {"release": dp_table(release, show, others)}
        case GeneralizedRelease():
            tables = [_publish_groups(release, show, others)]
        case BucketRelease() | CrossBucketRelease():
            tables = _publish_buckets(release, show, others)
        case _:
            raise InvalidInput(f"A {type(release).__name__} cannot be published as tables.")
    return {name: with_own_content(frame) for name, frame in zip(release.table_names, tables, strict=True)}


def owner_view(release: Release, *, show: Mapping[str, str] | None = None) -> Any:
    """Every row in its original place, as it is published and with the number of its group: for the owner alone.

    Groups and buckets are numbered from 1 in the order of publication. A suppressed row, which is not published, shows `*`
    and has no number. Rows that were dropped at the door are not here.

    >>> import overt
    >>> table = overt.read_frame(overt.samples.hospital(), quasi_identifiers=["Sex"], sensitive=["Disease"])
    >>> owner_view(overt.Mondrian(goal=overt.KAnonymity(4)).anonymize(table)).columns[0]
    'group'
    """
    table = release.table
    show = (show or {}) if table.persons is None else table.persons.expanded(show or {})
    if release.hides_table:
        raise InvalidInput(
            "Which rows a differentially private release kept is shown to nobody; publish it, or look at `for_owner`."
        )
    _refuse_unknown(table, show, ())
    group_of_row = release.partition.group_of_row
    columns = {column.name: _shown(column, column.codes, table) for column in table.columns}
    if release.shows_exactly:
        people = [_Key(column.codes, column.n_values) for column in table.quasi_identifiers]
        name, number_of_row = "bucket", _order_buckets(table, release.partition, people).bucket_of_row
    else:
        cells = _cells(release, show)
        for column, cell in zip(table.quasi_identifiers, cells, strict=True):
            columns[column.name] = _cells_of_rows(cell, group_of_row).alias(column.name)
        name, number_of_row = "group", _rank(_keys(cells))[0][group_of_row]
    columns |= {other.name: other for other in table.others}
    frame = _with_number(table, columns, name, number_of_row)
    if release.is_crossed:
        people = [_Key(key.codes[group_of_row], key.n_codes) for key in _keys(cells)]
        buckets = _order_buckets(table, release.value_groups, people)
        if "bucket" in columns:
            raise InvalidInput("A column of the table is called 'bucket', as the numbers in the result are; rename it.")
        frame = frame.insert_column(1, pl.Series("bucket", buckets.bucket_of_row + np.int32(1)))
    if release.n_suppressed:
        frame = frame.with_columns(pl.when(pl.Series(group_of_row >= 0)).then(name).alias(name))
    return to_native(as_frame(table, frame), table.frame_kind)


class _Key(NamedTuple):
    """A number for each of some things, to sort them by."""

    codes: Codes
    n_codes: int


def _publish_groups(release: GeneralizedRelease, show: Mapping[str, str], others: Collection[str]) -> pl.DataFrame:
    table, partition = release.table, release.partition
    cells = _cells(release, show)
    class_of_group, group_of_class = _rank(_keys(cells))  # a class: the groups that show the same cells
    class_of_row = _Key(class_of_group[partition.group_of_row], group_of_class.size)
    keys = [class_of_row, *_sensitive_keys(table), *_other_keys(table, others)]
    if partition.kept is None:
        order = _order(keys)
    else:  # suppressed rows are not shown, and no group
        keys = [_Key(codes[partition.kept], n_codes) for codes, n_codes in keys]
        class_of_row, order = keys[0], partition.kept[_order(keys)]
    n_rows_of_class = count_codes(_frozen(class_of_row.codes), group_of_class.size)

    def shown(column: Column, cell: Cells) -> pl.Series:
        codes = np.repeat(cell.cell_of_group[group_of_class], n_rows_of_class)
        return _dictionary(cell.texts).gather(codes).alias(column.name)

    columns = {series.name: series for series in map_in_threads(shown, table.quasi_identifiers, cells)}
    columns |= {column.name: _shown(column, column.codes[order], table) for column in table.sensitive}
    columns |= {name: _other(table, name, order) for name in others}
    return _in_order(table, columns)


@dataclass(frozen=True, eq=False)
class _BucketOrder:
    bucket_of_row: Codes
    n_buckets: int
    by_person: Codes  # rows by quasi-identifiers and other columns
    by_sensitive: Codes


def _publish_buckets(
    release: BucketRelease | CrossBucketRelease, show: Mapping[str, str], others: Collection[str]
) -> list[pl.DataFrame]:
    """The people of every bucket, exactly or as the boxes of their groups, and its sensitive values."""
    table, columns = release.table, release.table.quasi_identifiers
    buckets = release.value_groups
    if release.is_crossed:
        group_of_row = release.partition.group_of_row
        cells = _cells(release, show)
        people = [_Key(key.codes[group_of_row], key.n_codes) for key in _keys(cells)]
        shown = [_dictionary(cell.texts) for cell in cells]
    else:
        people = [_Key(column.codes, column.n_values) for column in columns]
        shown = [_shown(column, np.arange(column.n_values, dtype=np.int32), table) for column in columns]
    order = _order_buckets(table, buckets, people + _other_keys(table, others))
    bucket = _Key(_frozen(order.bucket_of_row), order.n_buckets)
    by_person = order_by_code(*bucket, order.by_person)
    by_sensitive = order_by_code(*bucket, order.by_sensitive)
    if release.shuffled_rows is not None:  # a row beside the values it was handed, which break ties between rows
        handed = [_Key(key.codes[release.shuffled_rows], key.n_codes) for key in _sensitive_keys(table)]
        by_person = order_by_code(*bucket, _order(people + _other_keys(table, others) + handed))
    lines = {
        column.name: values.gather(key.codes[by_person]).alias(column.name)
        for column, values, key in zip(columns, shown, people, strict=True)
    }
    lines |= {other: _other(table, other, by_person) for other in others}
    if release.shuffled_rows is not None:
        rows = release.shuffled_rows[by_person]
        lines |= {column.name: _shown(column, column.codes[rows], table) for column in table.sensitive}
        return [_with_number(table, lines, SHUFFLED, order.bucket_of_row[by_person])]
    values = {column.name: _shown(column, column.codes[by_sensitive], table) for column in table.sensitive}
    return [
        _with_number(table, lines, "bucket", order.bucket_of_row[by_person]),
        _with_number(table, values, "bucket", order.bucket_of_row[by_sensitive]),
    ]


def _order_buckets(table: Table, partition: Partition, people: Sequence[_Key]) -> _BucketOrder:
    """Number the buckets by what they hold: their people in order, then their sensitive values."""
    values = _sensitive_keys(table)
    group = _Key(partition.group_of_row, partition.n_groups)
    by_person, by_sensitive = _order(people), _order(values)
    person_of_row, distinct = _rank(people, by_person)
    value_of_row, _ = _rank(values, by_sensitive)
    sizes = partition.sizes
    # (bucket) -> the ranks of its people, ascending, then those of its sensitive values, which are all greater
    contents = np.empty((2 * partition.group_of_row.size), np.int32)
    first = starts_of(2 * sizes)
    place = np.arange(partition.group_of_row.size) + np.repeat(first[:-1] - partition.starts[:-1], sizes)
    contents[place] = person_of_row[order_by_code(*group, by_person)]
    contents[place + np.repeat(sizes, sizes)] = value_of_row[order_by_code(*group, by_sensitive)] + distinct.size
    bucket_of_group = np.empty(partition.n_groups, np.int32)
    bucket_of_group[order_of_lists(first, contents)] = np.arange(partition.n_groups, dtype=np.int32)
    return _BucketOrder(bucket_of_group[partition.group_of_row], partition.n_groups, by_person, by_sensitive)


def _cells(release: Release, show: Mapping[str, str]) -> list[Cells]:
    columns, partition = release.table.quasi_identifiers, release.partition
    match release:
        case RecordRelease():
            from overt.io.record import record_cells

            return record_cells(release, show)
        case FullDomainRelease():
            return [
                cells_of(column, partition, show[column.name])
                if show.get(column.name, "level") != "level"
                else level_cells(column, partition, level)
                for column, level in zip(columns, release.node, strict=True)
            ]
    _ = partition.rows  # made once, before the threads need it
    return map_in_threads(
        lambda column: cells_of(column, partition, show.get(column.name) or release.form_of(column)), columns
    )


def _cells_of_rows(cells: Cells, group_of_row: Codes) -> pl.Series:
    """What every row shows; `*` if it is suppressed."""
    if not group_of_row.size or group_of_row.min() >= 0:
        return _dictionary(cells.texts).gather(cells.cell_of_group[group_of_row])
    texts = cells.texts if (cells.texts == "*").any() else pl.concat([cells.texts, pl.Series(["*"])])
    star = (texts == "*").fill_null(False).arg_max() or 0
    return _dictionary(texts).gather(np.where(group_of_row >= 0, cells.cell_of_group[group_of_row], star))


def _keys(cells: Sequence[Cells]) -> list[_Key]:
    return [_Key(cell.cell_of_group, cell.n_cells) for cell in cells]


def _sensitive_keys(table: Table) -> list[_Key]:
    return [_Key(column.codes, column.n_values) for column in table.sensitive]


def _other_keys(table: Table, names: Collection[str]) -> list[_Key]:
    """Other columns have an order too, that of their texts, so that rows which differ only there do not keep theirs."""
    return [_Key(*codes_by_text(table.others.get_column(name))) for name in names]


def _order(keys: Sequence[_Key]) -> Codes:
    """The things in the order of their keys, the first key first: radix passes from the last key on."""
    order = np.arange(keys[0].codes.size if keys else 0, dtype=np.int32)
    for codes, n_codes in reversed(_packed(keys)):
        order = order_by_code(_frozen(codes), n_codes, order)
    return order


def _packed(keys: Sequence[_Key]) -> list[_Key]:
    """The same order with fewer keys: neighbours with few codes become one."""
    packed: list[_Key] = []
    for key in keys:
        if packed and packed[-1].n_codes * key.n_codes <= _PACKED_CODES:
            codes, n_codes = packed.pop()
            key = _Key(codes * np.int32(key.n_codes) + key.codes, n_codes * key.n_codes)
        packed.append(key)
    return packed


def _rank(keys: Sequence[_Key], order: Codes | None = None) -> tuple[Codes, NDArray[np.int64]]:
    """The rank of every thing by its keys, equal ones sharing it; and a thing of each rank."""
    order = _order(keys) if order is None else order
    is_new = np.zeros(order.size, np.bool_)
    is_new[:1] = True
    for codes, _ in keys:
        sorted_codes = codes[order]
        is_new[1:] |= sorted_codes[1:] != sorted_codes[:-1]
    rank = np.empty(order.size, np.int32)
    rank[order] = np.cumsum(is_new, dtype=np.int32) - np.int32(1)
    return rank, order[is_new].astype(np.int64)


def _frozen(codes: Codes) -> Codes:
    """A read-only view: kernels are compiled once for the codes of columns, which are read-only too."""
    view = codes.view()
    view.flags.writeable = False
    return view


def _shown(column: Column, codes: Codes, table: Table) -> pl.Series:
    """Exact values, of the type that came in; text as a dictionary."""
    values = values_as_came(column)
    shown = (_dictionary(values) if values.dtype == pl.String else values).gather(codes).alias(column.name)
    return in_own_type(shown, table)


def _dictionary(texts: pl.Series) -> pl.Series:
    return texts.cast(pl.Enum(texts.drop_nulls()))


def _other(table: Table, name: str, rows: Codes) -> pl.Series:
    """A column without a role. Categories lose the order in which they were first met."""
    other = table.others.get_column(name)
    if isinstance(other.dtype, pl.Categorical):
        coded = coded_from_series(other)
        codes = coded.codes[rows]
        used = coded.dictionary.gather(np.flatnonzero(count_codes(codes, len(coded.dictionary))))
        categories = pl.Enum(used.drop_nulls().sort())
        return coded.dictionary.cast(categories, strict=False).gather(codes).alias(name)
    return in_own_type(other.gather(rows), table)


def _with_number(table: Table, columns: Mapping[str, pl.Series], name: str, number_of_row: Codes) -> pl.DataFrame:
    """The columns as they came, after one that numbers groups or buckets from 1."""
    if name in columns:
        raise InvalidInput(f"A column of the table is called {name!r}, as the numbers in the result are; rename it.")
    return _in_order(table, columns).insert_column(0, pl.Series(name, number_of_row + np.int32(1)))


def _in_order(table: Table, columns: Mapping[str, pl.Series]) -> pl.DataFrame:
    order = table.order or [*(column.name for column in table.columns), *table.others.columns]
    return pl.DataFrame([columns[name] for name in order if name in columns])


def as_frame(table: Table, frame: pl.DataFrame) -> pl.DataFrame:
    """Dictionaries of text become text, unless categories came in."""
    categories = {column.name for column in table.columns if isinstance(column.dtype, pl.Categorical | pl.Enum)}
    categories |= {other.name for other in table.others if isinstance(other.dtype, pl.Categorical | pl.Enum)}
    texts = [n for n, dtype in frame.schema.items() if dtype == pl.Enum and n not in categories]
    return frame.with_columns(pl.col(texts).cast(pl.String)) if texts else frame


def _refuse_unknown(table: Table, show: Mapping[str, str], others: Collection[str]) -> None:
    quasi_identifiers = [column.name for column in table.quasi_identifiers]
    for name in show:
        if name not in quasi_identifiers:
            raise InvalidInput(
                f"{name!r} is not a quasi-identifier, so nothing says how to show it; "
                f"the quasi-identifiers are {', '.join(map(repr, quasi_identifiers))}."
            )
    for name in others:
        if name in table.identifiers:
            raise InvalidInput(f"Column {name!r} is an identifier and never released; leave it out of `others`.")
        if name not in table.others.columns:
            raise unknown_column(name, table.others.columns)
