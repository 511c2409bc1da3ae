# SPDX-License-Identifier: Apache-2.0
"""Bins: the values of a column in few enough pieces to draw, none of them so small that it shows a person.

The rule: nothing is shown that fewer than `least_rows` rows have. Numbers and dates are cut at round numbers into equal
steps, and steps with too few rows join a neighbour; the ends are open ("under 20", "80 and over"), so that no least or
greatest value is shown. Categories keep their most frequent values, all others are one "other values". If others
have too few rows themselves, the least frequent value that was kept joins them.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from math import ceil, floor, log10

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.hierarchy.texts import texts_of
from overt.table import Column, Kind

MOST_VALUES = 12  # of a category
MOST_STEPS = 16  # of a number
OTHER = "other values"
MISSING = "missing"

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Bins:
    """Pieces of a column: their labels in order, and which of them each value is in."""

    labels: tuple[str, ...]
    bin_of_value: NDArray[np.int64]

    def count(self, rows_of_value: NDArray[np.float64] | Counts) -> NDArray[np.float64]:
        """(bin) -> rows."""
        weights = rows_of_value.astype(np.float64)
        return np.bincount(self.bin_of_value, weights, len(self.labels)).astype(np.float64)


def bins_of(column: Column, least_rows: int) -> Bins:
    """Cut a column into pieces that can be shown."""
    if column.kind is Kind.CATEGORY or column.n_values - (column.missing_code is not None) < 2:
        return _frequent(column, least_rows)
    return _steps(column, least_rows)


def _frequent(column: Column, least_rows: int) -> Bins:
    total = column.total_of_value
    by_frequency = np.argsort(-total, kind="stable")
    kept = [int(v) for v in by_frequency[:MOST_VALUES] if total[v] >= least_rows]
    if column.kind is not Kind.CATEGORY:
        kept = []  # a number that is the same for everyone, or nearly: its value is nobody's business
    others = int(total.sum()) - int(total[kept].sum())
    while kept and 0 < others < least_rows:
        others += int(total[kept.pop()])
    kept.sort()
    texts = texts_of(column.values)
    labels = [MISSING if texts[v] is None else str(texts[v]) for v in kept]
    bin_of_value = np.full(column.n_values, len(kept))
    bin_of_value[kept] = np.arange(len(kept))
    return Bins((*labels, OTHER) if others else tuple(labels), bin_of_value)


def _steps(column: Column, least_rows: int) -> Bins:
    known = column.values.head(column.n_values - (column.missing_code is not None))
    n_missing = 0 if column.missing_code is None else int(column.total_of_value[-1])
    position, cuts = _round_cuts(known)
    total = column.total_of_value[: len(known)]
    step_of_value = np.searchsorted(cuts, position, side="right")
    count = np.bincount(step_of_value, total, cuts.size + 1).astype(np.float64)
    kept = _joined(count, least_rows)
    labels = _labels(known, cuts[kept])
    bin_of_value = np.searchsorted(cuts[kept], position, side="right")
    if column.missing_code is not None:
        if n_missing >= least_rows and total.sum() >= least_rows:
            labels = [*labels, MISSING]
        bin_of_value = np.append(bin_of_value, len(labels) - 1)  # too few missing ones hide in the last piece
    return Bins(tuple(labels), bin_of_value.astype(np.int64))


def _round_cuts(known: pl.Series) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The values as numbers, and round numbers that cut them into steps. Dates are cut where years or months begin."""
    if known.dtype in (pl.Date, pl.Datetime):
        days = known.cast(pl.Datetime("us")).dt.epoch("us").cast(float).to_numpy() / 86_400_000_000
        return days, _cuts_of_dates(days)
    position = known.cast(float).to_numpy()
    width = float(position[-1] - position[0])
    step = _round_step(width / MOST_STEPS)
    if known.dtype.is_integer():
        step = max(1.0, step)
    first = floor(position[0] / step) + 1
    n_cuts = min(2 * MOST_STEPS + 2, max(0, ceil(position[-1] / step) - first + 1))
    cuts = np.round((first + np.arange(n_cuts)) * step, 10)
    return position, cuts[cuts <= position[-1]]


def _cuts_of_dates(days: NDArray[np.float64]) -> NDArray[np.float64]:
    epoch = date(1970, 1, 1)
    first, last = (epoch + timedelta(days=floor(day)) for day in (days[0], days[-1]))
    months = max(1, (last.year - first.year) * 12 + last.month - first.month)
    step = next((s for s in (1, 3, 6, 12, 24, 60, 120, 240, 600) if months / s <= MOST_STEPS), 1200)
    begin = (first.year * 12 + first.month - 1) // step * step + step
    starts = range(begin, last.year * 12 + last.month, step)
    return np.array([(date(m // 12, m % 12 + 1, 1) - epoch).days for m in starts if m // 12 <= 9999], np.float64)


def _round_step(least: float) -> float:
    """The least of 1, 2, 5, 10, 20, ... (or 0.5, 0.2, ...) that is not below."""
    if least <= 0:
        return 1.0
    power = 10.0 ** floor(log10(least))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least * (1 - 1e-9))


def _joined(count: NDArray[np.float64], least_rows: int) -> list[int]:
    """Which cuts stay when every piece has enough rows: from the left, then the last piece joins the one before."""
    kept: list[int] = []
    running = 0.0
    for i in range(count.size - 1):
        running += count[i]
        if running >= least_rows:
            kept.append(i)
            running = 0.0
    if kept and running + count[-1] < least_rows:
        kept.pop()
    return kept


def _labels(known: pl.Series, cuts: NDArray[np.float64]) -> list[str]:
    if not cuts.size:
        return ["any value"]
    if known.dtype in (pl.Date, pl.Datetime):
        days = [(date(1970, 1, 1) + timedelta(days=int(day))).isoformat() for day in cuts]
        whole_years = all(day.endswith("-01-01") for day in days)
        names = [day[:4] if whole_years else day[:7] for day in days]
        return [f"before {names[0]}", *(f"from {name}" for name in names)]
    if known.dtype.is_integer():
        whole = [int(cut) for cut in cuts]
        between = [f"{low}" if high - low == 1 else f"{low}–{high - 1}" for low, high in pairwise(whole)]
        return [f"under {whole[0]}", *between, f"{whole[-1]} and over"]
    names = [f"{cut:.12g}" for cut in cuts]
    return [f"under {names[0]}", *(f"{low} to {high}" for low, high in pairwise(names)), f"{names[-1]} and over"]
