# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_dp_run.py
"""Differentially private releases at the door: the table that is published, and a manifest without a secret.

The manifest of a differentially private release may be published with it. It holds what was decided beforehand and what the release shows
anyway; nothing of the input: no row count, no digest (which confirms guesses), no count of what was left out.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from overt.errors import InvalidInput
from overt.io.closed_model import ClosedModel
from overt.io.manifest import manifest_path
from overt.io.owner_record import Digest, first_fault
from overt.release import DpRelease


class ReleasedFile(ClosedModel):
    """A file of the release, or a table of a database, by its place as seen from the manifest."""

    place: str
    sha256: Digest
    rows: int


class DpManifest(ClosedModel):
    """Everything that is recorded about a differentially private release."""

    dp_manifest: Literal[1] = 1  # the version of this format
    audience: Literal["public"] = "public"
    id: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]  # drawn at random; the owner's ledger has it too
    created: datetime
    versions: dict[str, str]
    method: str
    epsilon: str
    delta: str
    facts: dict[str, str]
    coins: Literal["secret", "seeded"]  # a release whose coins can be repeated protects nobody
    release: ReleasedFile
    hierarchy_files: dict[str, Digest]  # by column; and the external database, if a method has one
    recipe: dict[str, Any]

    def to_json(self) -> str:
        """The manifest as it is written to a file."""
        return self.model_dump_json(indent=2) + "\n"


def find_dp_manifest(release: Path) -> DpManifest | None:
    """The manifest beside a release, if it is one of a differentially private release."""
    return dp_manifest_at(manifest_path(release))


def dp_manifest_at(path: Path) -> DpManifest | None:
    """The manifest that a file is, if it is one of a differentially private release."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or "dp_manifest" not in document:
        return None
    try:
        return DpManifest.model_validate(document)
    except ValidationError as error:
        raise InvalidInput(
            f"{path.name} is not a manifest that this Overt can read ({first_fault(error)}); give the recipe with --recipe."
        ) from None


def dp_table(release: DpRelease, show: Collection[str] = (), others: Collection[str] = ()) -> pl.DataFrame:
    """The released rows, sorted by what they show. Dictionaries hold what is shown and nothing else."""
    if others:
        raise InvalidInput(
            "A column that is released as it is would break the guarantee of a differentially private release; leave `others` out."
        )
    if show:
        raise InvalidInput("A differentially private release shows labels of its public hierarchies; leave `show` out.")
    frame, order = _in_order(release.labels_of_group)
    return _repeated(frame, order, release.partition.sizes[order])


def dp_parts(labels: Mapping[str, Sequence[str]], copies: NDArray[np.int64], most_rows: int) -> Iterator[pl.DataFrame]:
    """The same rows in parts of so many each, the last of what is left; one of no rows if there are none."""
    frame, order = _in_order(labels)
    ends = np.cumsum(copies[order], dtype=np.int64)
    n_rows = int(ends[-1]) if ends.size else 0
    for begin in range(0, max(n_rows, 1), most_rows):
        end = min(begin + most_rows, n_rows)
        yield _repeated(frame, order, np.diff(np.clip(ends, begin, end), prepend=begin).astype(np.int64))


def _in_order(labels: Mapping[str, Sequence[str]]) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    frame = pl.DataFrame({name: pl.Series(name, of_column, dtype=pl.String) for name, of_column in labels.items()})
    return frame, frame.select(pl.arg_sort_by(frame.columns)).to_series().to_numpy()


def _repeated(frame: pl.DataFrame, elements: NDArray[np.int64], copies: NDArray[np.int64]) -> pl.DataFrame:
    """Some copies of each of these rows of a frame. Dictionaries hold those of which there are any."""
    shown = frame[elements[copies > 0]]
    rows = np.repeat(np.arange(shown.height), copies[copies > 0])
    return pl.DataFrame(
        [column.cast(pl.Enum(column.unique().sort())).gather(rows).alias(column.name) for column in shown]
    )
