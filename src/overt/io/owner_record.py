# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_manifest.py
"""Owner's record: what ties a release to the data it was made from, in a JSON file that only the owner can read.

It stays with the data. The digest of the input confirms a guess of the whole table, and the counts of rows that were
read, dropped and suppressed are shown by no release. With it, `overt check` can say that the data is the same.
"""

import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from overt.errors import InvalidInput
from overt.io.closed_model import ClosedModel

SUFFIX = ".owner.json"

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
RowPlace = Annotated[int, Field(ge=0, lt=1 << 62)]  # of a row


class InputRecord(ClosedModel):
    """The input: its name without a folder, what it held, and how many of its rows are not in the release."""

    name: str
    sha256: Digest | None  # None: a table of a catalog, whose content nobody digested
    rows: int  # that took part
    rows_dropped: int  # because their sensitive value is missing
    rows_suppressed: int


class LeftOut(ClosedModel):
    """A part of the recipe that the manifest does not show, because it may hold values of the data."""

    path: tuple[str, ...]
    value: Any


class PersonsRecord(ClosedModel):
    """What became of the rows of persons, and what repeats which of them were cut."""

    rows: int
    rows_cut: int
    key: int | None
    rows_of_person: tuple[tuple[RowPlace, ...], ...] | None = (
        None  # of a release whose rows are pooled: which lines are one person's
    )


class OwnerRecord(ClosedModel):
    """What only the owner of the data should know of a release."""

    owner_record: Literal[1] = 1  # the version of this format
    audience: Literal["owner"] = "owner"
    manifest_sha256: Digest  # of the public manifest that it belongs to
    input: InputRecord
    files_read: dict[str, Digest]  # hierarchy files by column; and the external database, if a method has one
    left_out: tuple[LeftOut, ...]
    persons: PersonsRecord | None = None  # None: a row is a person
    pilot: tuple[
        RowPlace, ...
    ] = ()  # the rows of the input, from 0, whose people were looked at and are not in the release

    def to_json(self) -> str:
        """The record as it is written to a file."""
        return self.model_dump_json(indent=2) + "\n"


def owner_record_path(release: Path) -> Path:
    """Where the owner's record of a release is written: beside its manifest."""
    return release.with_name(release.name + SUFFIX)


def owner_record_beside(manifest: Path) -> Path:
    """Where the owner's record of a release lies, given its manifest."""
    return manifest.with_name(manifest.name.removesuffix(".manifest.json") + SUFFIX)


def find_owner_record(path: Path) -> OwnerRecord | None:
    """The owner's record at a path; None if there is no file."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    except PermissionError:
        raise InvalidInput(f"{path.name} can be read by its owner only; ask them to run this check.") from None
    try:
        return OwnerRecord.model_validate_json(text)
    except ValidationError as error:
        raise InvalidInput(
            f"{path.name} is not an owner's record that this Overt can read ({first_fault(error)}); "
            "move it away to check the release without it."
        ) from None


def first_fault(error: ValidationError) -> str:
    """Where a document that was read is not what it should be, and why; never what stands there."""
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'its text'}: {first['msg'].lower()}"


def digest_of_text(text: str) -> str:
    """The SHA-256 of a text as it is written to a file, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
