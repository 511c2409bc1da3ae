# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_scaled_run.py
"""A release in parts: a folder with a folder for each table and the manifest, which appears whole or not at all.

Everything is written into a hidden folder beside the place where the release is to be, and becomes the release by one rename when it has
passed its check. A run that is killed leaves the hidden folder; the next run to the same place removes it, and gives a release that was about to be
replaced its name again.
"""

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from overt.engine.scale.private_folder import LOCK, clear_abandoned, hold
from overt.errors import InvalidInput
from overt.io.files import digest
from overt.io.manifest import FileRecord, Manifest, files_read
from overt.io.owner_record import InputRecord, OwnerRecord, digest_of_text, owner_record_path
from overt.io.recipe.recipe import Recipe

MANIFEST = "manifest.json"
REPORT = ("report.html", "report.json")  # the public one, for people and for programs


def refuse_taken(place: Path, *, overwrite: bool) -> None:
    """Say before the work that something is in the way."""
    if not place.parent.is_dir():
        raise InvalidInput(f"There is no folder {place.parent} to write {place.name} into; make it first.")
    if place.exists() and not (place.is_dir() and (place / MANIFEST).is_file()):
        raise InvalidInput(f"{place} exists already and is no release in parts; choose another name, or remove it.")
    if place.exists() and not overwrite:
        raise InvalidInput(f"{place} exists already; choose another name, or ask to overwrite it.")


@dataclass
class Draft:
    """A folder that is written into, and becomes the release if it is kept."""

    folder: Path
    is_kept: bool = False


@contextmanager
def release_folder(place: Path, *, overwrite: bool) -> Iterator[Draft]:
    """A folder to write into, which takes the name of the release when the block ends, if it is kept; else it goes."""
    put_back(place)
    refuse_taken(place, overwrite=overwrite)
    clear_abandoned(place.parent, f".{escape(place.name)}.*.part")
    folder = place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")
    folder.mkdir(mode=0o700)
    handle = hold(folder)
    draft = Draft(folder)
    try:
        yield draft
        if draft.is_kept:
            refuse_taken(place, overwrite=overwrite)
            _commit(folder, place)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def put_back(place: Path) -> None:
    """Give a release its name again that a run was about to replace when it was killed; remove one that was replaced."""
    for old in sorted(place.parent.glob(f".{escape(place.name)}.*.old")):
        if place.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(place)


def _commit(folder: Path, place: Path) -> None:
    folder.chmod(_usual_mode(folder))
    old = place.with_name(f".{place.name}.{secrets.token_hex(4)}.old")  # as `put_back` looks for it
    if place.exists():
        place.rename(old)
    try:
        folder.rename(place)
    except BaseException:
        if old.exists():
            old.rename(place)
        raise
    (place / LOCK).unlink(missing_ok=True)
    shutil.rmtree(old, ignore_errors=True)


def _usual_mode(folder: Path) -> int:
    """The rights that a new folder gets here, by the umask."""
    probe = folder / ".mode"
    probe.mkdir()
    mode = probe.stat().st_mode & 0o777
    probe.rmdir()
    return mode


def parts_of(folder: Path) -> list[Path]:
    """The parts of a table, in the order of their names."""
    return sorted(path for path in folder.iterdir() if path.name.startswith("part-") and path.is_file())


def digest_of_parts(folder: Path) -> str:
    """One digest for all parts of a table: of their names and digests."""
    lines = "".join(f"{path.name} {digest(path)}\n" for path in parts_of(folder))
    return hashlib.sha256(lines.encode()).hexdigest()


def records_of_parts(folder: Path, tables: Mapping[str, int]) -> dict[str, FileRecord]:
    """What the manifest says of each table, whose folder is called like it."""
    return {
        name: FileRecord(path=name, sha256=digest_of_parts(folder / name), rows=n_rows)
        for name, n_rows in tables.items()
    }


def write_owner_record(
    place: Path,
    manifest: Manifest,
    recipe: Recipe,
    input_digest: str,
    n_rows: int,
    n_dropped: int,
    left_out: tuple[object, ...],
    looked_at: tuple[int, ...],
) -> Path:
    """The owner's record, beside the folder of the release and not in it."""
    record = OwnerRecord(
        manifest_sha256=digest_of_text(manifest.to_json()),
        input=InputRecord(
            name=recipe.source.base.name, sha256=input_digest, rows=n_rows, rows_dropped=n_dropped, rows_suppressed=0
        ),
        files_read={name: digest(file) for name, file in files_read(recipe).items()},
        left_out=left_out,  # type: ignore[arg-type]
        pilot=looked_at,
    )
    path = owner_record_path(place)
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(record.to_json(), encoding="utf-8")
    return path
