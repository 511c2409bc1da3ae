# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_database.py
"""A digest of what a table holds: which columns, which values, and how often each row; not in which order they are."""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from overt.io.database.gathering import Gathered
from overt.kernels.counting import order_by_code
from overt.table import Codes

_TEXTS_AT_ONCE = 1 << 17
_PACKED_CODES = 1 << 16


def digest_of(columns: Mapping[str, Gathered]) -> str:
    """The SHA-256 of the content, in hexadecimal.

    Columns are taken in the order of their names. Of each, its name and its distinct values in their order, as texts, every
    one after its length; then the numbers of the rows' values (null after all), rows sorted by them. A database keeps no order
    of rows, so two readings differ in it.
    """
    names = sorted(columns)
    order = _order_rows([columns[name] for name in names])
    content = hashlib.sha256(f"overt table 1\n{len(names)} {order.size}\n".encode())
    for name in names:
        column = columns[name]
        texts = column.texts.drop_nulls()
        content.update(_with_lengths(pl.Series([name])) + f"{len(texts)}\n".encode())
        for first in range(0, len(texts), _TEXTS_AT_ONCE):
            content.update(_with_lengths(texts[first : first + _TEXTS_AT_ONCE]))
        content.update(column.codes[order].astype("<i4", copy=False).tobytes())
    return content.hexdigest()


def _order_rows(columns: Sequence[Gathered]) -> Codes:
    """The rows sorted by their codes, the first column first: radix passes from the last, neighbours with few codes at once."""
    packed: list[tuple[Codes, int]] = []
    for column in columns:
        codes, n_codes = column.codes, max(1, len(column.dictionary))
        if packed and packed[-1][1] * n_codes <= _PACKED_CODES:
            before, n_before = packed.pop()
            codes, n_codes = before * np.int32(n_codes) + codes, n_before * n_codes
        packed.append((codes, n_codes))
    order = np.arange(columns[0].codes.size if columns else 0, dtype=np.int32)
    while packed:
        codes, n_codes = packed.pop()
        order = order_by_code(codes, n_codes, order)
    return order


def _with_lengths(texts: pl.Series) -> bytes:
    """Texts one after the other, each after its length, so that no two lists of texts look alike."""
    marked = texts.to_frame("text").select(pl.col("text").str.len_bytes().cast(pl.String) + ":" + pl.col("text"))
    return "".join(marked.to_series().to_list()).encode()
