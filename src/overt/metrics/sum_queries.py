# SPDX-License-Identifier: Apache-2.0
"""SUM queries: between which bounds a release leaves the sum of a sensitive number.

Paper       B. Li, Y. Liu, X. Han, J. Zhang, "Cross-Bucket Generalization", TKDE 2018, Section 4.2, after Q. Zhang,
            N. Koudas, D. Srivastava, T. Yu, "Aggregate Query Answering on Anonymized Tables", ICDE 2007.
Implements  Random queries (`in` for categories, one of > < = >= <= != for numbers), exact bounds, relative error
            (upper - lower) / actual; queries whose actual sum is 0 are drawn again.
Departs     The text has four predicates and the displayed query three: it is a parameter, four if not given. Of the
            six comparisons the paper prints two twice, evidently for >= and <=. SensitiveNumbers may be negative.
Guarantee   Exact. A record is certain if everything its box shows satisfies all predicates, possible if something
            does. A bucket with c certain and q possible records contributes the least sum of any c to q of its
            numbers, and the greatest. So lower <= actual <= upper. That a box is tight is not used.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.kernels import shown_cells as kernels
from overt.kernels.counting import order_by_code
from overt.metrics.shown_cells import WORD, Shown, groups_by_bucket
from overt.partition import Counts
from overt.privacy.base import exact
from overt.release import Release
from overt.table import Codes, Column, Kind, Table, unknown_column

Operator = Literal[">", "<", "=", ">=", "<=", "!=", "in"]


@dataclass(frozen=True)
class Predicate:
    """A condition on one quasi-identifier: `Predicate("Age", ">", 30)` or `Predicate("Sex", "in", ("F",))`."""

    column: str
    comparison: Operator
    value: Any  # for "in" a tuple of values

    def __post_init__(self) -> None:
        if self.comparison not in get_args(Operator):
            known = ", ".join(map(repr, get_args(Operator)))
            raise InvalidInput(f"A predicate compares by {self.comparison!r}; choose one of {known}.")


SumQuery = tuple[Predicate, ...]


@dataclass(frozen=True, eq=False)
class SumAnswers:
    """Bounds and actual sums of many queries, as whole numbers of 1 / `scale`."""

    lower_sums: Counts
    upper_sums: Counts
    actual_sums: Counts
    scale: int

    def __len__(self) -> int:
        return int(self.actual_sums.size)

    def lower(self, query: int) -> Fraction:
        """The least sum that the release allows."""
        return Fraction(int(self.lower_sums[query]), self.scale)

    def upper(self, query: int) -> Fraction:
        """The greatest sum that the release allows."""
        return Fraction(int(self.upper_sums[query]), self.scale)

    def actual(self, query: int) -> Fraction:
        """The sum in the table."""
        return Fraction(int(self.actual_sums[query]), self.scale)

    def relative_error(self, query: int) -> Fraction | None:
        """(upper - lower) / actual; None if the actual sum is 0."""
        actual = self.actual(query)
        return (self.upper(query) - self.lower(query)) / actual if actual else None

    def mean_relative_error(self) -> float:
        """The mean over all queries whose actual sum is not 0."""
        asked = self.actual_sums != 0
        widths = (self.upper_sums - self.lower_sums)[asked]
        return float((widths / np.abs(self.actual_sums[asked])).mean())


def answer_sums(release: Release, queries: Sequence[SumQuery]) -> SumAnswers:
    """Bounds of the sum of the sensitive number, and the actual sum, for every query."""
    if release.n_suppressed:
        raise InvalidInput(
            f"Sums are bounded from releases of everybody; {release.n_suppressed:,} rows are suppressed here, and what they "
            f"add is not published. Ask a release without suppression."
        )
    crossed, table = release.crossed(), release.table
    asked, numbers = Asked.of(table, queries), SensitiveNumbers.of(table)
    buckets = crossed.buckets
    shown = Shown.of(table.quasi_identifiers, crossed.partition, on_grid=release.shows_on_grid)
    codes = numbers.column.codes
    by_number = order_by_code(codes, numbers.column.n_values, np.arange(table.n_rows, dtype=np.int32))
    in_order = numbers.of_value[codes[order_by_code(buckets.group_of_row, buckets.n_groups, by_number)]]
    prefix = kernels.prefix_sums(in_order, buckets.starts)
    n_negative = np.add.reduceat(in_order < 0, buckets.starts[:-1], dtype=np.int64)
    n_positive = np.add.reduceat(in_order > 0, buckets.starts[:-1], dtype=np.int64)
    sums = (prefix, buckets.starts, n_negative, n_positive)
    lower, upper = kernels.sum_bounds(asked.arrays(), shown.arrays(), groups_by_bucket(crossed), sums)
    return SumAnswers(lower, upper, actual_sums(table, asked, numbers), numbers.scale)


def draw_sum_queries(table: Table, n_queries: int, rng: Generator, *, n_predicates: int = 4) -> list[SumQuery]:
    """Random queries whose actual sum is not 0, each with predicates on random quasi-identifiers."""
    columns = table.quasi_identifiers
    if not 1 <= n_predicates <= len(columns):
        raise InvalidInput(f"{n_predicates} predicates are asked for and there are {len(columns)} quasi-identifiers.")
    numbers = SensitiveNumbers.of(table)
    if not (numbers.of_value[numbers.column.codes] != 0).any():
        raise InvalidInput(f"Every sum of {numbers.column.name!r} is 0; there is nothing to ask for.")
    queries: list[SumQuery] = []
    while len(queries) < n_queries:
        drawn = []
        for _ in range(n_queries - len(queries)):
            chosen = rng.permutation(len(columns))[:n_predicates]
            drawn.append(tuple(draw_predicate(columns[a], rng) for a in sorted(chosen.tolist())))
        sums = actual_sums(table, Asked.of(table, drawn), numbers)
        queries += [query for query, actual in zip(drawn, sums, strict=True) if actual != 0]
    return queries


def draw_predicate(column: Column, rng: Generator) -> Predicate:
    """A random set of values for a category, a random comparison with a random value for a number or date."""
    n_values = column.n_values - (column.missing_code is not None)
    if column.kind is Kind.CATEGORY:
        chosen = np.sort(rng.permutation(n_values)[: int(rng.integers(1, n_values + 1))])
        return Predicate(column.name, "in", tuple(column.values.gather(chosen)))
    comparison: Operator = (">", "<", "=", ">=", "<=", "!=")[int(rng.integers(6))]
    return Predicate(column.name, comparison, column.values[int(rng.integers(n_values))])


@dataclass(frozen=True, eq=False)
class SensitiveNumbers:
    """The sensitive numbers as whole numbers of 1 / scale."""

    column: Column
    of_value: Counts
    scale: int

    @classmethod
    def of(cls, table: Table) -> "SensitiveNumbers":
        """The numbers of the one sensitive column, exactly."""
        column = table.the_sensitive("A SUM query")
        if column.kind is not Kind.NUMBER or column.missing_code is not None:
            raise InvalidInput(f"SUM asks for numbers and {column.name!r} is no number without missing ones.")
        numbers = [exact(number) for number in column.values]
        scale = math.lcm(*(number.denominator for number in numbers))
        whole = [int(number * scale) for number in numbers]
        if max(map(abs, whole), default=0) * max(1, table.n_rows) >= 1 << 62:
            raise InvalidInput(f"Sums of {column.name!r} do not fit 64 bits exactly; round its numbers first.")
        return cls(column, np.array(whole, np.int64), scale)


class Dictionary:
    """The values of a column, to look up codes in."""

    def __init__(self, column: Column) -> None:
        self.values = [value for value in column.values if value is not None]

    @cached_property
    def code_of_value(self) -> dict[Any, int]:
        return {value: code for code, value in enumerate(self.values)}

    def place_of(self, value: Any) -> int:
        """Twice the code of a value, or the odd number between the codes of its neighbours."""
        code = bisect_left(self.values, value)
        return 2 * code if code < len(self.values) and self.values[code] == value else 2 * code - 1


@dataclass(frozen=True, eq=False)
class Asked:
    """Queries in codes: (query, column) -> kind of predicate, its bounds as twice a code, or the wanted codes as bits."""

    kinds: NDArray[np.int8]
    low: Codes
    high: Codes
    wanted: NDArray[np.uint64]  # (query, column, word)

    @classmethod
    def of(cls, table: Table, queries: Sequence[SumQuery]) -> "Asked":
        """Look up the values of all predicates in the columns' dictionaries."""
        columns = {column.name: (a, column) for a, column in enumerate(table.quasi_identifiers)}
        n_words = max(-(-column.n_values // WORD) for _, column in columns.values())
        shape = (len(queries), len(columns))
        kinds, low, high = np.zeros(shape, np.int8), np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        wanted = np.zeros((*shape, n_words), np.uint64)
        known = {column.name: Dictionary(column) for _, column in columns.values()}
        for q, query in enumerate(queries):
            for predicate in query:
                if predicate.column not in columns:
                    raise unknown_column(predicate.column, columns)
                a, column = columns[predicate.column]
                if kinds[q, a]:
                    raise InvalidInput(f"A query has two predicates on {column.name!r}; give one.")
                if column.kind is Kind.CATEGORY:
                    kinds[q, a] = kernels.ONE_OF
                    for code in _wanted_codes(predicate, known[column.name].code_of_value):
                        wanted[q, a, code // WORD] |= np.uint64(1 << code % WORD)
                else:
                    kinds[q, a], low[q, a], high[q, a] = _range_of(predicate, known[column.name])
        return cls(kinds, low, high, wanted)

    def arrays(self) -> tuple[NDArray[np.generic], ...]:
        """As the kernels want them."""
        return self.kinds, self.low, self.high, self.wanted


def actual_sums(table: Table, asked: Asked, numbers: SensitiveNumbers) -> Counts:
    """The sums in the table."""
    columns = table.quasi_identifiers
    codes = np.stack([column.codes for column in columns])
    missing = np.array([-1 if c.missing_code is None else c.missing_code for c in columns], np.int32)
    sums: Counts = kernels.sums_of_rows(asked.arrays(), codes, missing, numbers.of_value[numbers.column.codes])
    return sums


def _wanted_codes(predicate: Predicate, codes: dict[Any, int]) -> set[int]:
    if predicate.comparison not in ("in", "=", "!="):
        raise InvalidInput(f"{predicate.column!r} is a category and cannot be compared by {predicate.comparison!r}.")
    values = predicate.value if predicate.comparison == "in" else (predicate.value,)
    named = {codes[value] for value in values if value in codes}
    return set(codes.values()) - named if predicate.comparison == "!=" else named


def _range_of(predicate: Predicate, known: Dictionary) -> tuple[int, int, int]:
    """A comparison with a number or date as a kind and bounds: twice a code, or odd between two codes."""
    if predicate.comparison == "in":
        raise InvalidInput(f"{predicate.column!r} is no category; compare it by one of > < = >= <= !=.")
    place, end = known.place_of(predicate.value), 2 * len(known.values)
    if predicate.comparison == "!=":
        return kernels.OTHER_THAN, place, place
    low, high = {
        ">": (place + 1, end),
        ">=": (place, end),
        "<": (-1, place - 1),
        "<=": (-1, place),
        "=": (place, place),
    }[predicate.comparison]
    return kernels.RANGE, low, high
