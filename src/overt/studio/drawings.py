# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_steps.py
"""Drawings: small pictures as rectangles, for the templates to write. Counted here, so that no browser gets a row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from overt.hierarchy.texts import texts_of
from overt.table import Column, Kind

WIDTH, HEIGHT = 120.0, 38.0
MOST_BARS = 31


@dataclass(frozen=True)
class Bar:
    """A bar that stands on the ground of the picture."""

    x: float
    width: float
    y: float
    height: float


@dataclass(frozen=True)
class Spark:
    """A distribution as a picture of the size of a word, and what it shows in words."""

    bars: tuple[Bar, ...]
    words: str


def spark_of(column: Column) -> Spark:
    """How the values of a column are distributed: intervals for numbers and dates, the most frequent values for categories."""
    totals, known = column.total_of_value, ~column.values.is_null().to_numpy()
    if column.kind is Kind.CATEGORY:
        order = np.argsort(-totals[known], kind="stable")[:MOST_BARS]
        counts = totals[known][order]
        n_left = int(known.sum()) - counts.size
        first = texts_of(column.values.filter(pl.Series(known)))[int(order[0])] if counts.size else ""
        more = f", and {n_left:,} rarer ones" if n_left > 0 else ""
        words = f"{counts.size} values by how frequent they are, {first} first{more}" if counts.size else "no value"
        return Spark(_bars(counts), words)
    numbers = _as_numbers(column.values.filter(pl.Series(known)))
    if not numbers.size:
        return Spark((), "no value")
    n_bins = min(MOST_BARS, numbers.size)
    counts, _ = np.histogram(numbers, bins=n_bins, weights=totals[known])
    texts = texts_of(column.values.filter(pl.Series(known)))
    return Spark(_bars(counts), f"Values from {texts[0]} to {texts[-1]} in {n_bins} equal steps")


def _as_numbers(values: pl.Series) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    plain = values.to_physical() if values.dtype.is_temporal() else values
    return plain.cast(pl.Float64, strict=False).fill_null(0.0).to_numpy()


def _bars(counts: "np.ndarray[Any, Any]") -> tuple[Bar, ...]:
    highest = max(1.0, float(np.max(counts, initial=0)))
    step = WIDTH / max(1, len(counts))
    bars = []
    for n, count in enumerate(counts):
        height = max(1.0, (HEIGHT - 4) * float(count) / highest) if count else 0.0
        bars.append(
            Bar(
                round(n * step + 0.6, 1),
                round(max(1.0, step - 1.2), 1),
                round(HEIGHT - 2 - height, 1),
                round(height, 1),
            )
        )
    return tuple(bars)


@dataclass(frozen=True)
class Bars:
    """A distribution of numbers on an axis from `low` to `high`."""

    bars: tuple[Bar, ...]
    low: float
    high: float
    words: str

    def at(self, number: float) -> float:
        """Where a number stands on the axis."""
        return round(WIDE * (number - self.low) / (self.high - self.low), 1) if self.high > self.low else 0.0


WIDE, TALL = 360.0, 110.0


def histogram_of(column: Column) -> Bars:
    """How the numbers of a column are distributed, in as many equal steps as can be seen."""
    is_known = ~column.values.is_null().to_numpy()
    numbers = _as_numbers(column.values.drop_nulls())
    if not numbers.size:
        return Bars((), 0.0, 1.0, "no value")
    n_bins = min(60, numbers.size)
    counts, edges = np.histogram(numbers, bins=n_bins, weights=column.total_of_value[is_known])
    highest, step = max(1.0, float(counts.max())), WIDE / n_bins
    bars = tuple(
        Bar(round(n * step + 0.4, 1), round(max(1.0, step - 0.8), 1), round(TALL - height, 1), round(height, 1))
        for n, height in enumerate((TALL - 6) * counts / highest)
    )
    return Bars(bars, float(edges[0]), float(edges[-1]), f"Values from {edges[0]:,.6g} to {edges[-1]:,.6g}")
