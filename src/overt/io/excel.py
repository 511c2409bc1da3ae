# SPDX-License-Identifier: Apache-2.0
"""Excel workbooks and OpenDocument sheets in: every cell as the text that stands for it, as if the sheet had been saved as CSV.

The one sheet that holds something is read. Its names of columns stand in the first row of which more than half is filled, so a title above the
table is no row of it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from overt.errors import InvalidInput, MissingExtra
from overt.io.encoding import Coded

_MOST_TITLES = 50  # rows above the names of the columns
_MIDNIGHT = r"^(\d{4}-\d{2}-\d{2}) 00:00:00$"
_MOMENT = r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d+)?$"
_HOUR = r"^1899-12-3[01] (\d{2}:\d{2}:\d{2})$"


def read_sheet(path: Path) -> dict[str, Coded]:
    """The columns of the one sheet that holds something, by their names."""
    rows = _rows_of(path)
    filled = [name for name in rows.columns if rows.get_column(name).null_count() < rows.height]
    rows = rows.select(filled)
    is_filled = rows.select(pl.sum_horizontal(pl.all().is_not_null())).to_series()
    beginning = is_filled.head(_MOST_TITLES).to_list()
    at = next(
        (row for row, n in enumerate(beginning) if n > max(1, len(filled) // 2)), 0
    )  # what stands above are titles
    if None in rows.row(at):
        place = rows.row(at).index(None) + 1
        raise InvalidInput(
            f"Column {place} of {path.name} has no name; give every column a name in row {at + 1}, above the data."
        )
    header = [str(cell).strip() for cell in rows.row(at)]
    _refuse_twice(path, header)
    data, known = rows.slice(at + 1), is_filled.slice(at + 1) > 0
    has_blank_rows = not known.all()
    if has_blank_rows:
        data = data.filter(known)
    first_line = None if has_blank_rows else at + 2
    return {name: _coded(data.to_series(place), first_line) for place, name in enumerate(header)}


def _rows_of(path: Path) -> pl.DataFrame:
    """All cells of the sheet as texts; empty ones, and formulas that went wrong, are null."""
    try:
        import fastexcel
    except ImportError:
        raise MissingExtra(
            f"{path.name} is an Excel file. To read it install overt[excel], or save the sheet as CSV (UTF-8)."
        ) from None
    try:
        book: Any = fastexcel.read_excel(path)
        found = []
        for name in book.sheet_names:
            sheet = book.load_sheet(name, header_row=None, skip_rows=0, dtypes="string").to_polars()
            texts = sheet.select(pl.all().cast(pl.String)).with_columns(pl.all().replace("", None))
            if sheet.width and sheet.height and not all(n == sheet.height for n in texts.null_count().row(0)):
                found.append(texts)
    except fastexcel.FastExcelError:  # its message may quote cells
        raise InvalidInput(
            f"{path.name} cannot be read as an Excel file: it is damaged, protected by a password, or in another format. Save the sheet as CSV (UTF-8)."
        ) from None
    if not found:
        raise InvalidInput(f"{path.name} is empty; a row with the names of the columns is expected first.")
    if len(found) > 1:
        raise InvalidInput(
            f"{path.name} has {len(found)} sheets that hold something, and which one is the table it does not say; save that one as a file of its own."
        )
    return found[0]


def _refuse_twice(path: Path, header: Sequence[str]) -> None:
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InvalidInput(f"{path.name} has more than one column {twice[0]!r}; give every column a name of its own.")


def _coded(cells: pl.Series, first_line: int | None) -> Coded:
    """The cells as texts of a CSV file would be: days without an hour that nobody wrote, hours without a day."""
    texts = cells.unique(maintain_order=True)
    codes = _codes_of(cells, texts)
    known = texts.drop_nulls()
    if not (known.str.contains(_MOMENT) & ~known.str.contains(_MIDNIGHT)).any():
        texts = texts.str.replace(_MIDNIGHT, "$1")
    return Coded(texts.str.replace(_HOUR, "$1").fill_null(""), codes, is_text=True, first_line=first_line)


def _codes_of(cells: pl.Series, texts: pl.Series) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
    """(row) -> the place of its cell among the texts."""
    places = pl.DataFrame({"cell": texts, "place": np.arange(len(texts), dtype=np.int32)})
    found = cells.to_frame("cell").join(places, on="cell", how="left", nulls_equal=True, maintain_order="left")
    return found.get_column("place").to_numpy().copy()
