# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_dp_run.py
"""Companions of a release: what lies beside it under names made from its own, and goes with it when it is replaced.

Manifest, owner's record and reports are known by their names. The sensitive values of a release in buckets go only if the
manifest names them, and only where a release of this name would have put them: a manifest that was tampered with cannot have
anything else removed.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from overt.engine.report_files import owner_report_paths, report_paths
from overt.io.ledger import ledger_path
from overt.io.manifest import SUFFIX, files_read, manifest_path
from overt.io.owner_record import owner_record_path
from overt.io.recipe.recipe import Recipe
from overt.io.targets import Replaced


def records_beside(output: Path) -> list[Path]:
    """Manifest, owner's record and reports of a release, if they are there and no other's.

    `people.csv` and `people.parquet` share the name of their reports: those of a release whose neighbour has a manifest stay.
    """
    reports = [*report_paths(output), *owner_report_paths(output)]
    others = [path for path in output.parent.iterdir() if path.name.endswith(SUFFIX) and path != manifest_path(output)]
    neighbours = [
        path for path in others if report_paths(path.with_name(path.name.removesuffix(SUFFIX)))[0] == reports[0]
    ]
    records = [manifest_path(output), owner_record_path(output), *([] if neighbours else reports)]
    return [path for path in records if path.is_file()]


def companions_of(recipe: Recipe) -> Replaced:
    """What belongs to the release that a recipe would replace, but nothing that the recipe reads."""
    output = recipe.output_path
    if not output.parent.is_dir():
        return Replaced()
    records, named = tuple(records_beside(output)), _sensitive_in_manifest(manifest_path(output))
    if named is None:
        return Replaced(records)
    place, digest = named
    values = recipe.target.replaced(place, digest, never=files_of_recipe(recipe))
    return Replaced((*records, *values.files), values.tables)


def refuse_taken(recipe: Recipe, tables: Iterable[str], records: Iterable[Path] = (), *, overwrite: bool) -> None:
    """Say before the work, not after it, that something is in the way of these tables or files."""
    target = recipe.target
    target.refuse_taken(
        target.places(tables).values(),
        records,
        overwrite=overwrite,
        source=recipe.source,
        never=files_of_recipe(recipe),
    )


def files_of_recipe(recipe: Recipe) -> list[Path]:
    """The recipe itself, what it reads, and the ledger beside that: what is never replaced, as far as it is there."""
    source = recipe.source
    paths = (*source.files, *files_read(recipe).values(), recipe.path, ledger_path(source.base))
    return [path for path in paths if path.exists()]


def _sensitive_in_manifest(path: Path) -> tuple[str, str] | None:
    """The place and digest of the table of sensitive values, by a manifest of any version; None if it names none."""
    try:
        part = json.loads(path.read_bytes())["release"]["sensitive"]
        return str(part["path"]), str(part["sha256"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
