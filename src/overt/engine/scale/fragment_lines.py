# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_methods_at_scale.py
"""Published lines of one fragment: what its rows show, in an order that says nothing that the lines do not.

Lines are read back where they are written, by the code that checks releases, and compared with the codes of their own rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.checks.reading import form_of, read_cells
from overt.errors import OvertError
from overt.io.cells import Cells, cells_of, level_cells
from overt.io.encoding import values_as_came
from overt.io.formulas import neutralised
from overt.partition import Partition
from overt.table import Codes, Column

BUCKET = "bucket"


class NotCovered(OvertError):
    """A line would have been written that does not show what its row holds."""


@dataclass(frozen=True, eq=False)
class ShownLines:
    """What the lines of a release look like: columns in their order, and how they are shown."""

    order: tuple[str, ...]  # the names of the published columns
    quasi: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    show: Mapping[str, str] = field(default_factory=dict)
    neutralise: bool = False
    types: Mapping[str, pl.DataType] = field(
        default_factory=dict
    )  # of sensitive values, where they follow from those that are published

    def boxes(self, columns: Sequence[Column], groups: Partition) -> list[Cells]:
        """What every group of a fragment shows."""
        return self._covering(columns, groups, [cells_of(c, groups, self.show.get(c.name)) for c in columns])

    def at_levels(self, columns: Sequence[Column], groups: Partition, levels: Sequence[int]) -> list[Cells]:
        """What every group of a fragment shows where each column is generalized to one level."""
        cells = [level_cells(column, groups, level) for column, level in zip(columns, levels, strict=True)]
        return self._covering(columns, groups, cells)

    def _covering(self, columns: Sequence[Column], groups: Partition, cells: list[Cells]) -> list[Cells]:
        for column, shown in zip(columns, cells, strict=True):
            self._require_cover(column, groups, shown)
        return cells

    def frame(self, columns: Mapping[str, pl.Series]) -> pl.DataFrame:
        """Lines as they are written."""
        frame = pl.DataFrame([columns[name].alias(name) for name in self.order if name in columns])
        return neutralised(frame) if self.neutralise else frame

    def values(self, column: Column, codes: Codes) -> pl.Series:
        """Sensitive values, of the type that came in, or that follows from those that are published."""
        values = values_as_came(column)
        if values.dtype in (pl.Categorical, pl.Enum):
            values = values.cast(pl.String)
        return values.gather(codes).cast(self.types.get(column.name, values.dtype))

    def _require_cover(self, column: Column, groups: Partition, shown: Cells) -> None:
        read = read_cells(shown.texts, column, form_of(column, self.show.get(column.name)))
        cell_of_row = shown.cell_of_group[groups.group_of_row]
        covers = covered(read.first, read.least, read.greatest, cell_of_row, column.codes)
        if not covers.all():
            raise NotCovered(
                f"Column {column.name!r} of the release would not have shown what the rows hold. Please report this as a bug in Overt."
            )


def covered(
    first: NDArray[np.int64], least: Codes, greatest: Codes, cell_of_row: Codes, codes: Codes
) -> NDArray[np.bool_]:
    """Whether the code of every row is in one of the runs of codes that its cell covers."""
    n_codes = int(max(greatest.max(initial=0), codes.max(initial=0))) + 1
    cell_of_run = np.repeat(np.arange(first.size - 1), np.diff(first))
    begin = cell_of_run * n_codes + least  # runs ascend by cell, then by code, and lie apart
    wanted = cell_of_row.astype(np.int64) * n_codes + codes
    run = np.searchsorted(begin, wanted, side="right") - 1
    safe = np.maximum(run, 0)
    return (run >= 0) & (cell_of_run[safe] == cell_of_row) & (greatest[safe] >= codes)


def as_lines(cells: Sequence[Cells], columns: Sequence[Column], group_of_line: Codes) -> dict[str, pl.Series]:
    """The quasi-identifiers of lines that show these groups."""
    return {
        column.name: shown.texts.gather(shown.cell_of_group[group_of_line])
        for column, shown in zip(columns, cells, strict=True)
    }


def order_lines(keys: Sequence[NDArray[np.integer]]) -> NDArray[np.intp]:
    """The order of lines by several keys, the first one first."""
    return np.lexsort(tuple(reversed(keys)))
