# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_check.py
"""Records of a release: the manifest, which proves it to anybody, and the owner's record, which ties it to its data."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from overt.checks import Finding
from overt.checks.findings import AGAIN
from overt.engine.outcome import group_sizes
from overt.errors import InvalidInput
from overt.io.files import digest
from overt.io.manifest import FileRecord, Manifest, files_read, manifest_path, now, recorded_recipe, versions
from overt.io.owner_record import InputRecord, OwnerRecord, PersonsRecord, digest_of_text, owner_record_path
from overt.io.recipe.recipe import Recipe
from overt.io.targets import Places, Target
from overt.release import Release

if TYPE_CHECKING:
    from overt.report.owner_report import PublishedFile


def records_of(
    recipe: Recipe,
    release: Release,
    tables: Mapping[str, pl.DataFrame],
    lines: Mapping[str, pl.DataFrame],
    input_digest: str,
    digests: Mapping[str, str],
    pilot: tuple[int, ...] = (),
    rows_of_person: tuple[tuple[int, ...], ...] | None = None,
) -> dict[Path, bytes]:
    """The manifest and the owner's record, given the digests of the input and of each table as it is written.

    `lines` are the tables as they are written; they are others where persons have several rows. `rows_of_person` says which lines of a
    pooled table are one person's.
    """
    target = recipe.target
    places, folder = target.places(tables), target.base.parent
    persons = release.table.persons
    content, left_out = recorded_recipe(recipe, folder)
    manifest = Manifest(
        created=now(),
        versions=versions(),
        method=recipe.settings.method.name,
        goal=tuple(map(str, recipe.goal.parts)),
        groups=group_sizes(release, tables).size,
        release={
            name: FileRecord(
                path=target.seen_from(folder, place),
                sha256=digests[name],
                rows=lines[name].height,
            )
            for name, place in places.items()
        },
        persons=release.table.n_rows - release.n_suppressed if release.table.persons is not None else None,
        recipe=content,
        left_out=tuple(part.path for part in left_out),
    )
    record = OwnerRecord(
        manifest_sha256=digest_of_text(manifest.to_json()),
        input=InputRecord(
            name=recipe.source.base.name,
            sha256=input_digest,
            rows=release.table.n_rows,
            rows_dropped=release.table.n_dropped,
            rows_suppressed=release.n_suppressed,
        ),
        files_read={name: digest(path) for name, path in files_read(recipe).items()},
        left_out=left_out,
        pilot=pilot,
        persons=None
        if persons is None
        else PersonsRecord(rows=persons.n_rows, rows_cut=persons.n_cut, key=persons.key, rows_of_person=rows_of_person),
    )
    return {
        manifest_path(target.base): manifest.to_json().encode(),
        owner_record_path(target.base): record.to_json().encode(),
    }


def published(target: Target, tables: Mapping[str, pl.DataFrame], digests: Mapping[str, str]) -> list["PublishedFile"]:
    """The files (or tables) of a release, for its public report."""
    from overt.report.owner_report import PublishedFile

    return [
        PublishedFile(target.name_of(place), tables[name].height, digests[name])
        for name, place in target.places(tables).items()
    ]


def find_changes(manifest: Manifest, target: Target, places: Places, found: Mapping[Any, str]) -> Finding:
    """Whether the files and tables of the release are those that the manifest was written for."""
    names = {name: target.name_of(place) for name, place in places.items()}
    changed = [names[name] for name, place in places.items() if found[place] != manifest.release[name].sha256]
    if changed:
        return Finding("digests", False, f"{' and '.join(changed)} changed since the manifest was written.")
    if target.has_bytes:
        return Finding("digests", True, "The files of the release are, byte for byte, those of the manifest.")
    return Finding("digests", True, "The content of the tables is what it was when the manifest was written.")


def find_origin(
    record: OwnerRecord | None, path: Path, recipe: Recipe, name: str, input_digest: str, found: Mapping[Any, str]
) -> Finding:
    """Whether the data, and what else was read, is what the release was made from, as far as the owner's record says.

    `path` is that of the manifest, `name` that of the data.
    """
    if record is None:
        return Finding(
            "origin",
            True,
            f"Not confirmed: whether the release was made from {name}, byte for byte. The owner's record, which would say so, is not "
            "next to the manifest.",
        )
    if record.manifest_sha256 != digest(path):
        return Finding("origin", False, f"The owner's record beside {path.name} belongs to another manifest.")
    beside = {key: file.name for key, file in files_read(recipe).items() if found[file] != record.files_read.get(key)}
    changed = [*([name] if input_digest != record.input.sha256 else []), *beside.values()]
    if changed:
        return Finding(
            "origin",
            False,
            f"{' and '.join(changed)} is not what the release was made from, or has changed since.",
        )
    exactly = ", byte for byte," if recipe.source.has_bytes else ""
    return Finding("origin", True, f"The data is{exactly} what the release was made from.")


@contextmanager
def telling_other_data(record: OwnerRecord | None, name: str, find_digest: Callable[[], str | None]) -> Iterator[None]:
    """Of data that cannot be used, and that the owner's record says is another than the release was made from, say so first."""
    try:
        yield
    except InvalidInput as error:
        known = None if record is None else record.input.sha256
        found = None if known is None else find_digest()
        if None in (known, found) or known == found:
            raise
        raise type(error)(f"{name} is not what the release was made from, or has changed since. {error}") from None


def of_known_data(finding: Finding, origin: Finding, record: OwnerRecord | None) -> Finding:
    """A finding that says no more than can be known if the data is, or could be, another than the release was made from."""
    if finding.ok or (origin.ok and record is not None):
        return finding
    sentence = finding.sentence.removesuffix(AGAIN).removesuffix("Make the release again.").rstrip()
    if origin.ok:
        return Finding(
            finding.name, False, f"{sentence} If this is the data that it was made from, do not publish the release."
        )
    return Finding(
        finding.name, False, f"{sentence} The data is not what the release was made from, which may be the only reason."
    )
