# SPDX-License-Identifier: Apache-2.0
# Tested through tests/analysis/test_estimates.py
"""Conditions of a question: how much of every published cell satisfies one, and which sensitive values do.

A condition on a quasi-identifier gives each cell a share between 0 and 1, as if the values inside a range or a set were equally
likely. Cells with a share between are *straddling*: whether their people satisfy the condition is not known.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.analysis.read_columns import EVERYTHING, ReadColumn
from overt.errors import InvalidInput

Numbers = NDArray[np.float64]

EXPECTED = (
    "give a range as a pair such as (20, 39), where None is no bound, one value, or several values in a list or set; "
    "of labels also a dictionary that says how much of each counts, or a function from the text of a cell to a share"
)


@dataclass(frozen=True, eq=False)
class Fit:
    """How much of each cell satisfies a condition, and, in ordered columns, the part of the cell that does."""

    share: Numbers  # (cell)
    least: Numbers  # (cell) -> where that part begins
    greatest: Numbers

    def surely(self, column: ReadColumn) -> NDArray[np.bool_]:
        """(cell) -> whether all its people satisfy it for certain: `*` may hide values that nothing else shows."""
        hides = np.array([cell.text == EVERYTHING for cell in column.cells])
        certain: NDArray[np.bool_] = (self.share == 1) & ~hides
        return certain


@dataclass(frozen=True)
class Below:
    """A condition on numbers: at least `low`, and below `high`."""

    low: float
    high: float


def fit_of(column: ReadColumn, *conditions: Any) -> Fit:
    """How much of every cell of a quasi-identifier satisfies conditions together; None is no condition.

    Of ranges, and of sets of categories, what they have in common is looked at; what is said of cells is multiplied.
    """
    least = np.array([cell.least for cell in column.cells])
    greatest = np.array([cell.greatest for cell in column.cells])
    fit = Fit(np.ones(least.size), least, greatest)
    low, high, is_range, members = -np.inf, np.inf, False, None
    for condition in conditions:
        if condition is None:
            continue
        if isinstance(condition, Mapping) or callable(condition):
            said = _shares_said(column, condition)
            fit = Fit(fit.share * said, least, greatest)
        elif column.scale == "categories":
            texts = _texts(column.name, condition)
            known = {*column.members, *(cell.text for cell in column.cells)}
            _refuse_unshown(column.name, texts - known, sorted(text for text in known if text is not None))
            members = texts if members is None else members & texts
        elif isinstance(condition, tuple | Below):
            bounds = _range_of(column, condition)
            low, high, is_range = max(low, bounds[0]), min(high, bounds[1]), True
        else:
            fit = Fit(fit.share * _share_of_values(column, least, greatest, condition), least, greatest)
    if members is not None:
        return Fit(fit.share * _share_of_members(column, members), least, greatest)
    if is_range:
        part = _part_of_ranges(column, least, greatest, low, high)
        return Fit(fit.share * part.share, part.least, part.greatest)
    return fit


def values_that_satisfy(name: str, values: pl.Series, condition: Any) -> NDArray[np.bool_]:
    """Which of a sensitive column's values satisfy a condition."""
    if condition is None:
        return np.ones(len(values), np.bool_)
    if callable(condition):
        return np.array([bool(condition(value)) for value in values], np.bool_)
    if isinstance(condition, tuple):
        numbers = in_numbers(values)
        if numbers is None:
            raise InvalidInput(f"{name!r} has no order for a range; {EXPECTED}.")
        low, high = _bounds(name, condition, _as_number)
        return (numbers >= low) & (numbers <= high)
    several = [condition] if isinstance(condition, str) or not isinstance(condition, Collection) else list(condition)
    texts = values.cast(pl.String)
    wanted = [str(value) for value in several]
    unknown = set(wanted) - set(texts.drop_nulls())
    numbers = in_numbers(values)
    if unknown and numbers is not None:
        asked = [_parsed(name, value, _as_number) for value in wanted]
        _refuse_unshown(name, [value for value in asked if value not in numbers], values.drop_nulls().to_list())
        return np.isin(numbers, asked)
    _refuse_unshown(name, unknown, texts.drop_nulls().to_list())
    return texts.is_in(wanted).fill_null(value=False).to_numpy()


def in_numbers(values: pl.Series) -> Numbers | None:
    """Values as numbers, `nan` for missing; None if one is no number."""
    numbers = values.cast(pl.Float64, strict=False)
    if numbers.null_count() > values.null_count() or numbers.null_count() == len(numbers):
        return None
    return numbers.fill_null(float("nan")).to_numpy()


def _part_of_ranges(column: ReadColumn, least: Numbers, greatest: Numbers, low: float, high: float) -> Fit:
    part_least, part_greatest = np.maximum(least, low), np.minimum(greatest, high)
    step = column.step
    if step:
        part_least, part_greatest = np.ceil(part_least / step) * step, np.floor(part_greatest / step) * step
    inside = part_greatest - part_least + step
    whole = greatest - least + step
    overlap = np.where(part_greatest >= part_least, inside, 0.0)
    share = np.divide(overlap, whole, out=np.zeros_like(whole), where=whole > 0)
    if not step:  # a single value, or a range that lies inside, whole
        share = np.where((least >= low) & (greatest <= high), 1.0, share)
    n_values = np.where(greatest == least, 1, whole / step if step else 1.0)
    share = np.nan_to_num(share) * _not_missing(column, n_values)
    nothing = ~(part_greatest >= part_least)
    return Fit(share, np.where(nothing, least, part_least), np.where(nothing, greatest, part_greatest))


def _not_missing(column: ReadColumn, n_values: Numbers) -> Numbers:
    """The share of what a cell may mean that is no missing value, which counts as one value among the others."""
    finite = np.where(np.isfinite(n_values), n_values, 1.0)
    may_be = np.array([cell.may_be_missing for cell in column.cells])
    return np.where(may_be, finite / (finite + 1), 1.0)


def _share_of_members(column: ReadColumn, wanted: frozenset[str]) -> Numbers:
    names = set(column.members)
    shares = []
    for cell in column.cells:
        members = set(cell.members) if cell.text != EVERYTHING else names
        n_members = len(members) + cell.may_be_missing
        whole = cell.text is not None and cell.text in wanted
        shares.append(1.0 if whole else len(members & wanted) / n_members if n_members else 0.0)
    return np.array(shares)


def _share_of_values(column: ReadColumn, least: Numbers, greatest: Numbers, condition: Any) -> Numbers:
    """The share of a cell's values that are among some numbers or dates."""
    values = [condition] if isinstance(condition, str) or not isinstance(condition, Collection) else list(condition)
    parsed = sorted({_parsed(column.name, value, column.parse) for value in values})
    inside = np.array(
        [sum(low <= value <= high for value in parsed) for low, high in zip(least, greatest, strict=True)]
    )
    n_values = (greatest - least) / column.step + 1 if column.step else np.where(greatest == least, 1.0, np.inf)
    return np.nan_to_num(inside / n_values) * _not_missing(column, n_values)


def _range_of(column: ReadColumn, condition: Any) -> tuple[float, float]:
    """Both ends of a range, which belong to it."""
    if isinstance(condition, Below):
        return condition.low, condition.high - column.step if column.step else float(
            np.nextafter(condition.high, -np.inf)
        )
    return _bounds(column.name, condition, column.parse)


def _shares_said(column: ReadColumn, condition: Any) -> Numbers:
    ask: Callable[[Any], Any] = condition if callable(condition) else lambda text: condition.get(text, 0)
    shares = [ask(cell.text) for cell in column.cells]
    for share in shares:
        if not isinstance(share, bool | int | float | np.bool_) or not 0 <= share <= 1:
            raise InvalidInput(
                f"What is said of the cells of {column.name!r} must be true, false or a share from 0 to 1."
            )
    return np.array(shares, np.float64)


def _refuse_unshown(name: str, unknown: Collection[Any], shown: Sequence[Any]) -> None:
    """A value that nothing shows is more likely a slip than a question."""
    if unknown:
        few = ", ".join(map(repr, shown[:8])) + (", ..." if len(shown) > 8 else "")
        raise InvalidInput(f"{name!r} does not show {min(map(str, unknown))!r} anywhere; it shows {few}.")


def _texts(name: str, condition: Any) -> frozenset[str]:
    if isinstance(condition, tuple):
        raise InvalidInput(f"{name!r} shows categories, which have no range; {EXPECTED}.")
    if isinstance(condition, str) or not isinstance(condition, Collection):
        return frozenset([str(condition)])
    return frozenset(map(str, condition))


def _bounds(name: str, condition: tuple[Any, ...], parse: Callable[[Any], float]) -> tuple[float, float]:
    if len(condition) != 2:
        raise InvalidInput(f"A range of {name!r} has {len(condition)} ends; {EXPECTED}.")
    low, high = condition
    least = -np.inf if low is None else _parsed(name, low, parse)
    greatest = np.inf if high is None else _parsed(name, high, parse)
    if least > greatest:
        raise InvalidInput(f"The range of {name!r} begins after its end; {EXPECTED}.")
    return least, greatest


def _parsed(name: str, value: Any, parse: Callable[[Any], float]) -> float:
    number = parse(value)
    if np.isnan(number):
        raise InvalidInput(f"{value!r} is no value of {name!r} as it is published; {EXPECTED}.")
    return number


def _as_number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
