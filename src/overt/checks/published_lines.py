# SPDX-License-Identifier: Apache-2.0
# Tested through tests/checks/test_matching.py
"""Published lines in codes: which lines are alike, whether they are in order, which values must agree exactly."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.checks.reading import UNKNOWN, Readings, Texts, read_values
from overt.kernels.counting import order_by_code
from overt.partition import Counts, Partition
from overt.table import Codes, Column


@dataclass(frozen=True, eq=False)
class Key:
    """One column to order or compare lines by: a code for every line, below `n_codes`."""

    code_of_line: Codes
    n_codes: int


@dataclass(frozen=True, eq=False)
class Shared:
    """A column that a release shows as it is: equal codes in a row and in a line mean equal values.

    Line codes keep the order of the values; a value that no row has comes after all others.
    """

    code_of_row: Codes
    code_of_line: Codes
    n_codes: int
    n_unknown: int  # lines whose text is no value of the original

    @property
    def key(self) -> Key:
        return Key(self.code_of_line, self.n_codes)

    @classmethod
    def of_column(cls, column: Column, cells: pl.Series) -> "Shared":
        """An encoded column of the original, and the same column of the release."""
        return cls._of_codes(column.codes, column.values, Texts.of(cells), column.dtype)

    @classmethod
    def of_other(cls, original: pl.Series, cells: pl.Series) -> "Shared":
        """A column of the original that was never encoded, and the same column of the release."""
        original, cells = _as_text_if_nested(original), _as_text_if_nested(cells)
        texts = Texts.of(original)
        in_order = texts.distinct.unique().sort(nulls_last=True)
        code_of_text = read_values(texts.distinct, in_order)
        code_of_row = code_of_text[texts.text_of_line]
        values = in_order
        if original.dtype not in (pl.String, pl.Categorical, pl.Enum):
            some_row = np.empty(len(in_order), np.int64)
            some_row[code_of_row] = np.arange(len(original))
            values = original.gather(some_row)
        return cls._of_codes(code_of_row, values, Texts.of(cells), None)

    @classmethod
    def _of_codes(cls, code_of_row: Codes, values: pl.Series, texts: Texts, dtype: pl.DataType | None) -> "Shared":
        code_of_text = read_values(texts.distinct, values, dtype)
        n_unknown = int((code_of_text == UNKNOWN)[texts.text_of_line].sum())
        code_of_text[code_of_text == UNKNOWN] = len(values)
        return cls(code_of_row, code_of_text[texts.text_of_line], len(values) + 1, n_unknown)


def _as_text_if_nested(column: pl.Series) -> pl.Series:
    if not column.dtype.is_nested() and column.dtype not in (pl.Object, pl.Binary):
        return column
    return pl.Series([None if cell is None else repr(cell) for cell in column.to_list()], dtype=pl.String)


def order_texts(readings: Readings, column: Column, form: str) -> Codes:
    """The texts of a quasi-identifier in the order in which a release shows them; unreadable ones come last.

    Ranges go by their least value, then their greatest, without missing before with it; a missing value alone
    comes first. Labels go by their first leaf, then by how few leaves they have. Of two sets that one comes first
    which has the least value that the other lacks.
    """
    unreadable = readings.is_unreadable
    if form == "set" and column.n_values <= 64:
        return np.lexsort((~_bits(readings), unreadable)).astype(np.int32)
    if form == "set":
        runs = list(zip(readings.least.tolist(), readings.greatest.tolist(), strict=True))
        sets = [runs[readings.first[text] : readings.first[text + 1]] for text in range(readings.n_texts)]
        end = column.n_values
        codes = [[*(code for least, greatest in runs for code in range(least, greatest + 1)), end] for runs in sets]
        return np.array(sorted(range(readings.n_texts), key=lambda text: (unreadable[text], codes[text])), np.int32)
    least, greatest = readings.hulls
    or_missing = np.zeros(readings.n_texts, np.int64)
    if form in ("range", "grid") and column.missing_code is not None:
        or_missing[greatest == column.missing_code] = 1
        alone = least == column.missing_code
        apart = (or_missing == 1) & (np.diff(readings.first) > 1)
        greatest = np.where(or_missing == 1, greatest - 1, greatest)
        greatest[apart] = readings.greatest[readings.first[1:][apart] - 2]
        least, greatest = np.where(alone, -1, least), np.where(alone, -1, greatest)
    return np.lexsort((or_missing, greatest, least, unreadable)).astype(np.int32)


def _bits(readings: Readings) -> NDArray[np.uint64]:
    """The codes (0 to 63) that each text covers as bits, code 0 the highest."""
    least, greatest = readings.least.astype(np.uint64), readings.greatest.astype(np.uint64)
    last = np.uint64(63)
    runs = (~np.uint64(0) >> (last - (greatest - least))) << (last - greatest)
    bits = np.zeros(readings.n_texts, np.uint64)
    np.bitwise_or.at(bits, np.repeat(np.arange(readings.n_texts), np.diff(readings.first)), runs)
    return bits


def key_of(texts: Texts, order: Codes) -> Key:
    """Lines by their texts, in the given order of the texts."""
    code_of_text = np.empty_like(order)
    code_of_text[order] = np.arange(order.size, dtype=np.int32)
    return Key(code_of_text[texts.text_of_line], max(1, order.size))


def are_in_order(keys: Sequence[Key]) -> bool:
    """Whether every line is at or after the one before it, compared by the keys in turn."""
    return _ties_in_order(keys) is not None


def group_alike(keys: Sequence[Key]) -> Partition:
    """Lines with equal codes in every key are one group; groups are numbered in the order of their codes."""
    tied = _ties_in_order(keys)
    if tied is not None:
        group_of_line = _number(~tied)[: keys[0].code_of_line.size]  # no line, no group
        return Partition(group_of_line, int(group_of_line.max(initial=-1)) + 1)
    order = np.arange(keys[0].code_of_line.size, dtype=np.int32)
    for key in reversed(keys):
        order = order_by_code(key.code_of_line, key.n_codes, order)
    is_new = np.zeros(order.size - 1, np.bool_)
    for key in keys:
        code = key.code_of_line[order]
        is_new |= code[1:] != code[:-1]
    group_of_line = np.empty(order.size, np.int32)
    group_of_line[order] = _number(is_new)
    return Partition(group_of_line, int(is_new.sum()) + 1)


def _ties_in_order(keys: Sequence[Key]) -> NDArray[np.bool_] | None:
    """For every line but the first, whether it is like the one before; None if the lines are not in order."""
    tied = np.ones(max(0, keys[0].code_of_line.size - 1), np.bool_)
    for key in keys:
        before, after = key.code_of_line[:-1], key.code_of_line[1:]
        if (tied & (after < before)).any():
            return None
        tied &= after == before
    return tied


def _number(is_new: NDArray[np.bool_]) -> Codes:
    """The group of every line, lines in order, from which lines but the first begin one."""
    return np.concatenate([[0], np.cumsum(is_new, dtype=np.int32)], dtype=np.int32)


def first_of_each(partition: Partition) -> Codes:
    """One line of every group."""
    return partition.rows[partition.starts[:-1]]


def join_shared(columns: Sequence[Shared], n_rows: int, n_lines: int) -> tuple[Codes, Codes, int]:
    """All columns that must agree exactly as one: (value of row, value of line, number of values)."""
    n_values = math.prod(column.n_codes for column in columns)
    if columns and n_values <= n_rows:  # few enough to be numbered as digits
        value_of_row, value_of_line = np.zeros(n_rows, np.int32), np.zeros(n_lines, np.int32)
        for column in columns:
            value_of_row = value_of_row * np.int32(column.n_codes) + column.code_of_row
            value_of_line = value_of_line * np.int32(column.n_codes) + column.code_of_line
        return value_of_row, value_of_line, n_values
    if len(columns) == 1:
        return columns[0].code_of_row, columns[0].code_of_line, columns[0].n_codes
    keys = [Key(np.concatenate([column.code_of_row, column.code_of_line]), column.n_codes) for column in columns]
    if not keys:
        return np.zeros(n_rows, np.int32), np.zeros(n_lines, np.int32), 1
    alike = group_alike(keys)
    return alike.group_of_row[:n_rows], alike.group_of_row[n_rows:], max(1, alike.n_groups)


def counts_by_group(partition: Partition, value_of_line: Codes, n_values: int) -> tuple[Codes, Codes, Counts, Counts]:
    """How often each value occurs in each group, value by value: (group, value, count, first of every value)."""
    pairs = group_alike([Key(value_of_line, n_values), Key(partition.group_of_row, max(1, partition.n_groups))])
    some_line = first_of_each(pairs)
    value = value_of_line[some_line]
    first = np.searchsorted(value, np.arange(n_values + 1))
    return partition.group_of_row[some_line], value, pairs.sizes, first
