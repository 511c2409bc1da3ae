# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/record/test_recipe.py
"""Record-level releases at the door: what their groups show, and the external database they are weighed against."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.algorithms.record.methods import External
from overt.errors import InvalidInput
from overt.io.cells import Cells, cells_of
from overt.io.files import read_file
from overt.io.frames import read_frame
from overt.io.recipe.recipe import Recipe
from overt.partition import Partition
from overt.release import RecordRelease
from overt.table import Codes, Column, Role, Table

if TYPE_CHECKING:
    from overt.hierarchy import Builder
    from overt.method import Method


def record_cells(release: RecordRelease, show: Mapping[str, str]) -> list[Cells]:
    """What every group shows: the range, label or set of all values that its generalization covers."""
    columns = release.table.quasi_identifiers
    return [_cells(c, shown, show.get(c.name)) for c, shown in zip(columns, release.shown, strict=True)]


def read_external(
    table: Table, source: Any, *, hierarchies: Mapping[str, "Builder"] | None = None, **how: Any
) -> tuple[Table, External]:
    """The external database of a table, from a file, a frame or a table; and the table in the codes of both.

    Values that the table lacks are added to its dictionaries, and the hierarchies, which are given again, are built anew
    over all of them. The columns are those of the table's quasi-identifiers; `how` goes to `read_file` or `read_frame`.

    >>> import overt
    >>> people = pl.DataFrame({"town": ["A", "B"]})
    >>> table = overt.read_frame(people, quasi_identifiers=["town"], hierarchies={"town": overt.Flat()})
    >>> register = pl.DataFrame({"town": ["A", "A", "C"]})
    >>> table, external = read_external(table, register, hierarchies={"town": overt.Flat()})
    >>> table.column("town").values.to_list()
    ['A', 'B', 'C']
    """
    names = [column.name for column in table.quasi_identifiers]
    if not how.get("row_by_row"):
        how |= {"others": (), "kinds": {column.name: column.kind.value for column in table.quasi_identifiers}}
    if isinstance(source, Table):
        other, name = source, "another table"
    elif isinstance(source, str | Path):
        other = read_file(Path(source), quasi_identifiers=names, **how)
        name = Path(source).name
    else:
        other, name = read_frame(source, quasi_identifiers=names, **how), "another frame"
    aligned, codes = {}, []
    for column in table.quasi_identifiers:
        aligned[column.name], external = _align(column, other.column(column.name), (hierarchies or {}).get(column.name))
        codes.append(external)
    columns = tuple(aligned[c.name] if c.role is Role.QUASI_IDENTIFIER else c for c in table.columns)
    return replace(table, columns=columns), External(np.stack(codes), name)


def with_external(recipe: Recipe, table: Table) -> tuple[Table, "Method"]:
    """The table and the method of a recipe, which may name the file of an external database."""
    if not isinstance(recipe.method.external, str):
        return table, recipe.method
    how: dict[str, Any] = {"missing_values": recipe.settings.input.missing_values, "row_by_row": recipe.is_dp}
    if (file := recipe.source.file) is not None:
        how |= {"separator": file.named_separator, "encoding": file.encoding}
    names = [column.name for column in table.quasi_identifiers]
    how["date_formats"] = {name: form for name, form in recipe.choices("format").items() if name in names}
    path = recipe.folder / recipe.method.external
    table, external = read_external(table, path, hierarchies=recipe.hierarchies, **how)
    return table, replace(recipe.method, external=external)  # type: ignore[type-var]  # all are dataclasses


def _align(column: Column, other: Column, builder: "Builder | None") -> tuple[Column, Codes]:
    """A column over the values of both, and the codes of the other there."""
    try:
        theirs = other.values.cast(column.values.dtype)
    except pl.exceptions.PolarsError:
        raise InvalidInput(
            f"Column {column.name!r} of the external database holds other kinds of values than the table; give both alike."
        ) from None
    values = pl.concat([column.values, theirs]).unique().sort(nulls_last=True).alias(column.name)
    if len(values) == column.n_values:  # nothing new
        return column, _codes(theirs, column.values)[other.codes]
    tree = None
    if column.hierarchy is not None:
        if builder is None:
            raise InvalidInput(
                f"The external database has values of {column.name!r} that the table lacks, so its hierarchy must be built "
                "over both; give it in `hierarchies`."
            )
        n_rows = np.zeros(len(values), np.int64)
        n_rows[_codes(column.values, values)] = column.total_of_value
        tree = builder.build(values, column.kind, n_rows)
        values = tree.leaves
    mine = _codes(column.values, values)[column.codes]
    joined = Column(column.name, column.role, column.kind, mine, values, tree, column.dtype)
    return joined, _codes(theirs, values)[other.codes]


def _codes(values: pl.Series, dictionary: pl.Series) -> Codes:
    """(value) -> its code in a dictionary that has it."""
    keys = pl.DataFrame({"key": dictionary, "code": np.arange(len(dictionary), dtype=np.int32)})
    found = pl.DataFrame({"key": values}).join(keys, on="key", how="left", nulls_equal=True, maintain_order="left")
    return found.get_column("code").to_numpy().astype(np.int32)


def _cells(column: Column, shown: NDArray[np.int32], show: str | None) -> Cells:
    """The cells of groups that show ranges of codes: as if every range were a group with all its values."""
    ranges, range_of_group = np.unique(shown, axis=0, return_inverse=True)
    sizes = ranges[:, 1] - ranges[:, 0] + 1
    first = np.cumsum(sizes) - sizes
    codes = np.arange(sizes.sum(), dtype=np.int32) + np.repeat(ranges[:, 0] - first, sizes).astype(np.int32)
    everyone = Partition(np.repeat(np.arange(len(ranges), dtype=np.int32), sizes), len(ranges))
    cells = cells_of(replace(column, codes=codes), everyone, show)
    return Cells(cells.texts, cells.cell_of_group[range_of_group.reshape(-1)])
