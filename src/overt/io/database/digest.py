# SPDX-License-Identifier: Apache-2.0
"""A digest of what a table holds: which columns, which values, and how often each row; not in which order they are."""

import hashlib
from collections.abc import Mapping

import numpy as np

from overt.io.database.gathering import Gathered
from overt.kernels.counting import count_codes, order_by_code
from overt.table import Codes


def digest_of(columns: Mapping[str, Gathered]) -> str:
    """The SHA-256 of the content, in hexadecimal.

    Columns are taken in the order of their names. Of each, the distinct texts in order, then the numbers of the rows'
    texts (0 for null), rows sorted by them. A database keeps no order of rows, so two readings differ in it.
    """
    names = sorted(columns)
    ranked = {name: _ranks(columns[name]) for name in names}
    n_rows = len(ranked[names[0]][0]) if names else 0
    order = np.arange(n_rows, dtype=np.int32)
    for name in reversed(names):
        codes, texts = ranked[name]
        order = order_by_code(codes, len(texts) + 1, order)
    content = hashlib.sha256(f"overt table 1\n{len(names)} {n_rows}\n".encode())
    for name in names:
        codes, texts = ranked[name]
        for text in (name, *texts):
            encoded = text.encode()
            content.update(f"{len(encoded)}:".encode() + encoded)
        content.update(b"\n" + codes[order].astype("<i4").tobytes())
    return content.hexdigest()


def _ranks(column: Gathered) -> tuple[Codes, list[str]]:
    """For every row the rank of its text, from 1, or 0 for null; and the texts that occur, in order."""
    used = count_codes(column.codes, len(column.dictionary)) > 0
    entries = column.texts
    texts = sorted({text for text, is_used in zip(entries, used, strict=True) if is_used and text is not None})
    rank = {text: place for place, text in enumerate(texts, 1)}
    rank_of_entry = np.array([rank.get(text, 0) for text in entries], np.int32)
    return rank_of_entry[column.codes], texts
