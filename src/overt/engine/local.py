# SPDX-License-Identifier: Apache-2.0
"""Runs and checks on this machine: files or tables in, files or tables out, whole or not at all."""

import warnings
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
from numpy.random import Generator

from overt.check import Claim, Finding, Verdict, check_release
from overt.engine.outcome import Outcome, group_sizes
from overt.engine.passing import audit_in_passing
from overt.engine.places import (
    Place,
    manifest_beside,
    places_found,
    places_in_manifest,
    places_of,
    read_places,
    read_with_digest,
    refuse_taken,
    writing_release,
)
from overt.engine.places import read_table as read_table
from overt.engine.private import (
    PrivateOutcome,
    check_private_release,
    find_private,
    is_private,
    run_private,
)
from overt.engine.reporting import files_of_report, report_of, report_paths
from overt.errors import InvalidInput
from overt.io.database.address import find_address, holds_password
from overt.io.files import digest
from overt.io.flat import flatten
from overt.io.manifest import (
    FileRecord,
    InputRecord,
    Manifest,
    files_read,
    manifest_path,
    now,
    read_manifest,
    recipe_of,
    recorded_recipe,
    seen_from,
    versions,
)
from overt.io.publication import published_tables
from overt.io.recipe import Recipe, read_recipe
from overt.io.record import with_external
from overt.io.settings import Input
from overt.privacy import exact
from overt.progress import Progress, silent
from overt.release import Release


def run(
    recipe: Recipe,
    *,
    rng: Generator | None = None,
    on_progress: Progress = silent,
    overwrite: bool = False,
    with_report: bool = False,
    with_audit: bool = True,
) -> Outcome | PrivateOutcome:
    """Do what a recipe says: read, anonymize, check, and write the release with its manifest, and perhaps a report.

    If the check fails nothing is written, and the outcome says what was found. Without `rng` nobody can repeat the coins.
    """
    if is_private(recipe):
        return run_private(recipe, rng=rng, on_progress=on_progress, overwrite=overwrite, with_report=with_report)
    rng = rng or np.random.default_rng()
    overwrite = overwrite or recipe.settings.output.overwrite
    source, reports = recipe.source, report_paths(recipe.output_path) if with_report else ()
    first = places_of(recipe, ("release",)).values()
    refuse_taken(recipe, [*first, manifest_path(recipe.output_path), *reports], overwrite=overwrite)
    with ThreadPoolExecutor(max_workers=1) as pool:  # digesting releases the interpreter lock
        read, input_digest = read_with_digest(recipe, source, pool, on_progress)
        table, method = with_external(recipe, read)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always", UserWarning)
            release = method.anonymize(table, rng=rng, on_progress=on_progress)
        on_progress("Publishing", 0, 0)
        tables = published_tables(release, show=recipe.choices("show"), others=recipe.settings.output.others)
        if recipe.settings.output.flat:
            tables = {"flat": flatten(table, tables)}
        files = places_of(recipe, tables)
        refuse_taken(recipe, files.values(), overwrite=overwrite)
    with writing_release(recipe, tables, overwrite=overwrite) as finish:  # nothing appears until it is checked
        on_progress("Checking", 0, 0)
        verdict = check_release(
            table, tables, claim_of(recipe, table.n_rows - release.n_suppressed), witness=release.witness
        )
        leak = None
        if verdict.ok and with_audit:
            leak = audit_in_passing(recipe, release, rng=rng, with_sweep=with_report, on_progress=on_progress)
        outcome = Outcome.of(
            release,
            tables,
            recipe.goal,
            verdict,
            others=recipe.settings.output.others,
            warned=tuple(str(warning.message) for warning in warned if issubclass(warning.category, UserWarning)),
            input_path=source if isinstance(source, Path) else source.database.said,
            files=files if verdict.ok else {},
            manifest_path=manifest_path(recipe.output_path),
            report_paths=reports if verdict.ok else (),
            leak=leak,
        )
        if verdict.ok:
            report_files: dict[Path, bytes] = {}
            if with_report:
                on_progress("Measuring", 0, 0)
                report = report_of(recipe, release, verdict, outcome.cautions, leak)
                report_files = files_of_report(report, recipe.output_path)
            on_progress("Writing", 0, 0)

            def companions(digests: Mapping[str, str]) -> dict[Path, bytes]:
                manifest = describe(recipe, release, tables, input_digest(), digests)
                return {manifest_path(recipe.output_path): manifest.to_json().encode(), **report_files}

            finish(companions)
    return outcome


def check(
    data: str | Path, release: str | Path, *, recipe_path: Path | None = None, on_progress: Progress = silent
) -> Verdict:
    """Decide from files and tables alone whether a release holds what its manifest (or a recipe) claims.

    `data` is a file or a reference to a database. `release` is a file or, of a release in a database, its manifest (its
    table if a recipe is given).
    """
    private = find_private(release, recipe_path)
    if private is not None:
        return check_private_release(*private, data, release)
    if holds_password(str(release)):
        find_address(str(release))  # refuses it without repeating it
    manifest, n_rows, known = None, None, {}
    if recipe_path is not None:
        recipe = read_recipe(recipe_path)
        places = places_found(recipe, release)
    else:
        path = manifest_beside(release, manifest_path)
        manifest = read_manifest(path)
        recipe = recipe_of(manifest, path)
        places = places_in_manifest(manifest, recipe, Path(release))
        n_rows = next(iter(manifest.release.values())).rows
    source = recipe.source_at(data)
    if manifest is not None:
        on_progress("Comparing digests", 0, 0)
        files = [source, *places.values(), *files_read(recipe).values()]
        known = digests_of_files(path for path in files if isinstance(path, Path))
    with ThreadPoolExecutor(max_workers=1) as pool:
        read, input_digest = read_with_digest(recipe, source, pool, on_progress)
        table, _ = with_external(recipe, read)
    first, *_ = places.values()
    on_progress(f"Reading {first.name}", 0, 0)
    tables, digests = read_places(recipe, places)
    findings: tuple[Finding, ...] = ()
    if manifest is not None:
        findings = (find_changes(manifest, recipe, input_digest(), places, {**known, **digests}),)
    on_progress("Checking", 0, 0)
    if n_rows is None:
        n_rows = next(iter(tables.values())).height
    verdict = check_release(table, tables, claim_of(recipe, claimed_rows(recipe, table.n_rows, n_rows)))
    return Verdict((*findings, *verdict.findings))


def claim_of(recipe: Recipe, n_rows: int) -> Claim:
    """What a release made by a recipe claims."""
    form = getattr(recipe.method, "shows", None)
    show = dict.fromkeys(recipe.columns_of("quasi-identifier"), form) if form else {}
    show |= recipe.choices("show")
    return Claim(goal=recipe.goal, n_rows=n_rows, others=recipe.settings.output.others, show=show)


def claimed_rows(recipe: Recipe, n_rows: int, n_lines: int) -> int:
    """As many as the release has or says it has, if its method may suppress the others; else all."""
    least = n_rows - int(exact(getattr(recipe.method, "max_suppressed", 0)) * n_rows)
    return n_lines if least <= n_lines <= n_rows else n_rows


def describe(
    recipe: Recipe,
    release: Release,
    tables: Mapping[str, pl.DataFrame],
    input_digest: str,
    digests: Mapping[str, str],
) -> Manifest:
    """The manifest of a release, given the digests of the input and of each table as it is written."""
    places, folder = places_of(recipe, tables), recipe.output_path.parent
    return Manifest(
        created=now(),
        versions=versions(),
        method=recipe.settings.method.name,
        goal=tuple(map(str, recipe.goal.parts)),
        groups=group_sizes(release, tables).size,
        input=InputRecord(
            name=recipe.input_path.name,
            sha256=input_digest,
            rows=release.table.n_rows,
            rows_dropped=release.table.n_dropped,
        ),
        release={
            name: FileRecord(
                path=seen_from(folder, place) if isinstance(place, Path) else str(place),
                sha256=digests[name],
                rows=tables[name].height,
            )
            for name, place in places.items()
        },
        hierarchy_files={name: digest(path) for name, path in files_read(recipe).items()},
        recipe=recorded_recipe(recipe, folder),
    )


def digests_of_files(paths: Iterable[Path]) -> dict[Place, str]:
    """The digests of files that must be there."""
    found: dict[Place, str] = {}
    for path in paths:
        if not path.is_file():
            raise InvalidInput(f"There is no file {path}; check the name and the folder.")
        found[path] = digest(path)
    return found


def find_changes(
    manifest: Manifest, recipe: Recipe, input_digest: str, places: Mapping[str, Place], found: Mapping[Place, str]
) -> Finding:
    """Whether files and tables are those that the manifest was written for."""
    names = {name: place.name if isinstance(place, Path) else str(place) for name, place in places.items()}
    changed = [manifest.input.name] if input_digest != manifest.input.sha256 else []
    changed += [names[name] for name, place in places.items() if found[place] != manifest.release[name].sha256]
    changed += [p.name for n, p in files_read(recipe).items() if found[p] != manifest.hierarchy_files[n]]
    if changed:
        return Finding("digests", False, f"{' and '.join(changed)} changed since the manifest was written.")
    if recipe.target is None and isinstance(recipe.settings.input, Input):
        return Finding("digests", True, "The files are, byte for byte, those that the manifest was written for.")
    return Finding("digests", True, "The files and tables hold what they held when the manifest was written.")
