# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_scaled_run.py
"""Whether persons who are named by a column have one row each: equal texts are brought together by two hashes with secret seeds, and counted.

Two different persons have equal hashes with probability below n squared / 2**127, and then the table is refused: never the other way round.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.engine.scale.parts_check import ByHash, Everything
from overt.engine.scale.seam import Place, RowBatch, ScaleEngine, column_of, count_cells, n_fragments_of
from overt.errors import InvalidData
from overt.hierarchy.texts import texts_of
from overt.io.repeated_persons import repeated_words

_HASHES = pl.DataFrame(schema={"h0": pl.Int64, "h1": pl.Int64})
_DIFFERENT = pl.DataFrame(schema={"n": pl.Int64})


@dataclass(frozen=True)
class HashTexts:
    """Two hashes of every text of the only column."""

    seeds: tuple[int, int]

    def __call__(self, rows: RowBatch) -> RowBatch:
        texts = texts_of(rows.to_series(0))
        return pl.DataFrame({f"h{i}": texts.hash(seed).reinterpret(signed=True) for i, seed in enumerate(self.seeds)})


@dataclass(frozen=True)
class CountDifferent:
    """How many different texts the rows of one fragment have."""

    def __call__(self, fragment: int, rows: RowBatch) -> RowBatch:
        return pl.DataFrame({"n": [rows.select("h0", "h1").n_unique()]}, schema=_DIFFERENT.schema)


@dataclass(frozen=True)
class InOneCell:
    """All rows in one cell, to count them."""

    def __call__(self, rows: RowBatch) -> NDArray[np.int64]:
        return np.zeros(rows.height, np.int64)


def refuse_repeated_persons(engine: ScaleEngine, place: Place, names: Iterable[str], called: str) -> None:
    """Refuse a table in which a person who is named by one of these columns has several rows."""
    types = engine.columns(place)
    for name in names:
        if name not in types:
            continue  # who names columns that are not there is told so when the table is read
        hashes = HashTexts((secrets.randbits(64), secrets.randbits(64)))
        hashed = engine.stage(engine.open(place, {"person": name}), hashes, _HASHES)
        (n_rows,) = count_cells(engine, hashed, InOneCell(), 1).tolist()
        number = ByHash("h0", n_fragments_of(engine, n_rows))
        counted = engine.select(
            engine.apply(hashed, number, CountDifferent(), _DIFFERENT), Everything(), _DIFFERENT, 1 << 16
        )
        n_persons = int(column_of(counted, "n").sum())
        if n_persons < n_rows:
            raise InvalidData(repeated_words(name, called, n_persons, n_rows))
