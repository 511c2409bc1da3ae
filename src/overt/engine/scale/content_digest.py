# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_catalog_release.py
"""A digest of what a table holds, in whatever order and files its rows lie: equal for two tables only if each row is as often in both.

The SHA-256 of every row is taken where the row is, the digests are brought together by their first byte and sorted, and each sorted list is
digested. What the driver gets is 256 digests. Anybody can compute it again from the rows.
"""

import hashlib
import json
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.engine.scale.parts_check import Everything
from overt.engine.scale.seam import Place, RowBatch, ScaleEngine
from overt.hierarchy.texts import texts_of

_LINES = pl.DataFrame(schema={"line": pl.String})
_DIGESTS = pl.DataFrame(schema={"first": pl.Int32, "n": pl.Int64, "sha256": pl.String})
_FIRST_BYTES = 256


@dataclass(frozen=True)
class DigestRows:
    """The SHA-256 of what each row shows, as texts."""

    n_columns: int

    def __call__(self, rows: RowBatch) -> RowBatch:
        texts = pl.DataFrame([texts_of(rows.get_column(f"c{i}")).alias(f"c{i}") for i in range(self.n_columns)])
        written = texts.select(pl.struct(pl.all()).struct.json_encode()).to_series()
        return pl.DataFrame(
            {"line": [hashlib.sha256(line.encode()).hexdigest() for line in written]}, schema=_LINES.schema
        )


@dataclass(frozen=True)
class ByFirstByte:
    """Rows whose digests begin alike go together."""

    def __call__(self, rows: RowBatch) -> NDArray[np.int32]:
        first = rows.get_column("line").str.head(2).str.to_integer(base=16)
        return first.cast(pl.Int32).to_numpy()


@dataclass(frozen=True)
class DigestSorted:
    """One digest of all rows whose digests begin alike."""

    def __call__(self, fragment: int, rows: RowBatch) -> RowBatch:
        lines = rows.get_column("line").sort()
        found = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        return pl.DataFrame({"first": [fragment], "n": [lines.len()], "sha256": [found]}, schema=_DIGESTS.schema)


def digest_of_content(engine: ScaleEngine, place: Place) -> tuple[str, int]:
    """The digest of a table with the names of its columns in order, and how many rows it has."""
    columns = list(engine.columns(place))
    named = {f"c{i}": name for i, name in enumerate(columns)}
    lines = engine.stage(engine.open(place, named), DigestRows(len(columns)), _LINES)
    of_first = engine.apply(lines, ByFirstByte(), DigestSorted(), _DIGESTS)
    found = engine.select(of_first, Everything(), _DIGESTS, _FIRST_BYTES).sort("first")
    text = json.dumps([columns, *map(list, found.rows())])
    return hashlib.sha256(text.encode()).hexdigest(), int(found.get_column("n").sum())
