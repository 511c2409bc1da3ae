# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_scaled_run.py
"""A release in parts: a folder with a folder for each table and the manifest, which appears whole or not at all.

Everything is written into a hidden folder beside the place where the release is to be, and becomes the release by one rename when it has
passed its check. The owner's record lies beside it: the old one goes before the old release, and the new one comes after the new one. A run that is killed
leaves hidden files; the next run to the same place removes them, gives a release that was about to be replaced its name again, and gives
the release that is there the record that belongs to it.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from overt.errors import InvalidInput
from overt.io.files import digest
from overt.io.manifest import FileRecord, Manifest, files_read
from overt.io.owner_record import InputRecord, OwnerRecord, digest_of_text, owner_record_path
from overt.io.private_folder import LOCK, clear_abandoned, hold, remove_folder
from overt.io.recipe.recipe import Recipe
from overt.io.unfinished import alone_in

MANIFEST = "manifest.json"
REPORT = ("report.html", "report.json")  # the public one, for people and for programs
_TOKEN = "[0-9a-f]" * 8  # as in names of hidden files


def refuse_taken(place: Path, *, overwrite: bool) -> None:
    """Say before the work that something is in the way."""
    if not place.parent.is_dir():
        raise InvalidInput(f"There is no folder {place.parent} to write {place.name} into; make it first.")
    if place.exists() and not (place.is_dir() and (place / MANIFEST).is_file()):
        raise InvalidInput(f"{place} exists already and is no release in parts; choose another name, or remove it.")
    if place.exists() and not overwrite:
        raise InvalidInput(f"{place} exists already; choose another name, or ask to overwrite it (--overwrite).")


@dataclass
class Draft:
    """A folder that is written into, and becomes the release if it is kept, with the owner's record of it if there is one."""

    folder: Path
    is_kept: bool = False
    owner_record: str = ""  # none of a differentially private release: its owner has the ledger

    def records(self, tables: Mapping[str, int]) -> dict[str, FileRecord]:
        """What the manifest says of each table, which has so many rows."""
        return records_of_parts(self.folder, tables)


@contextmanager
def release_folder(place: Path, *, overwrite: bool) -> Iterator[Draft]:
    """A folder to write into, which takes the name of the release when the block ends, if it is kept; else it goes."""
    put_back(place)
    refuse_taken(place, overwrite=overwrite)
    folder = place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")
    handle = -1
    try:
        with alone_in(place.parent):
            folder.mkdir(mode=0o700)
            handle = hold(folder)
        draft = Draft(folder)
        yield draft
        if draft.is_kept:
            _force_to_disk(folder)
            with alone_in(place.parent):
                refuse_taken(place, overwrite=overwrite)
                _commit(draft, place)
    finally:
        try:
            remove_folder(folder)
        except BaseException:  # an interrupt is no reason to leave data behind
            remove_folder(folder)
            raise
        finally:
            if handle >= 0:
                os.close(handle)


def put_back(place: Path) -> None:
    """Undo or end what a run that was killed had begun: what was to be replaced returns, and hidden files go."""
    if not place.parent.is_dir():
        return
    with alone_in(place.parent):
        _put_back(place)
        for draft in _waiting(place, "part"):
            if not (draft / LOCK).exists():  # killed between the last two steps
                remove_folder(draft)
        clear_abandoned(place.parent, f".{escape(place.name)}.{_TOKEN}.part")


def _put_back(place: Path) -> None:
    for old in _waiting(place, "old"):
        if place.exists():
            remove_folder(old)
        else:
            old.rename(place)
    record = owner_record_path(place)
    waiting = [*_waiting(record, "part"), *_waiting(record, "old")]
    fitting = [path for path in (record, *waiting) if _is_of(path, place)]
    if fitting and fitting[0] != record:
        fitting[0].replace(record)
    for path in waiting:
        path.unlink(missing_ok=True)


def _waiting(place: Path, ending: str) -> list[Path]:
    """What waits under a hidden name for this place, and for no other whose name begins like it."""
    return sorted(place.parent.glob(f".{escape(place.name)}.{_TOKEN}.{ending}"))


def _is_of(record: Path, place: Path) -> bool:
    """Whether an owner's record is of the release that is there."""
    try:
        return bool(json.loads(record.read_bytes())["manifest_sha256"] == digest(place / MANIFEST))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _commit(draft: Draft, place: Path) -> None:
    token, record = secrets.token_hex(4), owner_record_path(place)
    old, old_record = (path.with_name(f".{path.name}.{token}.old") for path in (place, record))
    new_record = record.with_name(f".{record.name}.{token}.part")
    try:
        if draft.owner_record:
            new_record.touch(mode=0o600)
            new_record.write_text(draft.owner_record, encoding="utf-8")
            _force_to_disk(new_record)
        mode = _usual_mode(draft.folder)
        if record.exists():
            record.rename(old_record)
        if place.exists():
            place.rename(old)
        (draft.folder / LOCK).unlink()
        draft.folder.chmod(mode)
        draft.folder.rename(place)
        if draft.owner_record:
            new_record.rename(record)
        old_record.unlink(missing_ok=True)
        remove_folder(old)
    except BaseException:
        _put_back(place)
        raise


def _force_to_disk(path: Path) -> None:
    """All files of a folder, or one file."""
    for file in path.rglob("*") if path.is_dir() else (path,):
        if file.is_file():
            with file.open("rb") as content:
                os.fsync(content.fileno())


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


def are_plain(release: Path, tables: Iterable[str]) -> bool:
    """Whether a release in parts is made of folders and files of its own: a link, or a folder in place of a file, brings what nobody checks."""
    files = [
        release / name for name in (MANIFEST, *REPORT) if (release / name).is_symlink() or (release / name).exists()
    ]
    folders = [release / table for table in tables]
    files += [path for folder in folders for path in folder.iterdir()]
    return not any(path.is_symlink() or not path.is_file() for path in files) and not any(map(Path.is_symlink, folders))


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


def owner_record_of(
    manifest: Manifest,
    recipe: Recipe,
    input_digest: str | None,
    n_rows: int,
    n_dropped: int,
    n_suppressed: int,
    left_out: tuple[object, ...],
    looked_at: tuple[int, ...],
) -> str:
    """The text of the owner's record, which lies beside the folder of the release and not in it."""
    record = OwnerRecord(
        manifest_sha256=digest_of_text(manifest.to_json()),
        input=InputRecord(
            name=recipe.source.base.name,
            sha256=input_digest,
            rows=n_rows,
            rows_dropped=n_dropped,
            rows_suppressed=n_suppressed,
        ),
        files_read={name: digest(file) for name, file in files_read(recipe).items()},
        left_out=left_out,  # type: ignore[arg-type]
        pilot=looked_at,
    )
    return record.to_json()
