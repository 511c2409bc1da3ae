# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_check.py
"""`overt.check`: whether a release holds what it claims, from files and tables alone."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from overt.checks import Finding, Verdict, check_release
from overt.checks.findings import not_checked
from overt.checks.person_lines_read import fold, link, without_lengths
from overt.checks.shapes import find_shape
from overt.engine.byte_check import find_spelling
from overt.engine.contradictions import find_contradictions
from overt.engine.course import prepare
from overt.engine.dp_run import check_dp_release, find_dp
from overt.engine.outcome import findings_of
from overt.engine.promises import claim_of, claimed_rows, shape_of
from overt.engine.records import find_changes, find_origin, of_known_data, telling_other_data
from overt.engine.result import Result
from overt.errors import InvalidInput
from overt.io.catalog_table import TABLE_OF_CATALOG
from overt.io.database.address import file_name_of, find_address, holds_password
from overt.io.manifest import SUFFIX, files_read, manifest_beside, read_manifest, recipe_of
from overt.io.owner_record import OwnerRecord, find_owner_record, owner_record_beside
from overt.io.pilot_record import pilot_of_release
from overt.io.recipe.recipe import Recipe, as_recipe
from overt.io.targets import Target, digests_of_files
from overt.progress import Progress, silent
from overt.release import BucketRelease, Release
from overt.report.lines import of_findings
from overt.table import Table


@dataclass(frozen=True)
class Checked(Result):
    """What `overt.check` gives: a verdict, finding by finding."""

    verdict: Verdict

    @property
    def ok(self) -> bool:
        """Whether the release holds what it claims."""
        return self.verdict.ok

    def content(self) -> dict[str, Any]:
        """The findings as plain values."""
        return findings_of(self.verdict)

    def lines(self, width: int | None = None) -> Iterator[str]:
        """Every finding, and the verdict."""
        yield from of_findings(self.verdict, width)
        yield ""
        yield self.conclusion

    @property
    def conclusion(self) -> str:
        """What is known in the end: of data that is another than the release was made from, nothing follows for the release."""
        failed = {finding.name for finding in self.verdict.failures}
        if not failed:
            return "The release holds what it claims."
        if "origin" in failed and not failed & {"digests", "manifest"}:
            return "Not known whether the release holds what it claims: nothing confirms that these are the data it was made from."
        return "The release does not hold what it claims."


def check(
    data: str | Path,
    release: str | Path,
    *,
    recipe: Recipe | str | Path | None = None,
    engine: Any = None,
    master: str | None = None,
    staging: str | None = None,
    on_progress: Progress = silent,
) -> Checked:
    """Decide from files and tables whether a release holds what its manifest (or a recipe) claims.

    `data` is a file or a reference to a database. `release` is a file or, of a release in a database, its manifest (its
    table if a recipe is given), of a release in parts its folder, which is checked in bounded memory; in tables of the catalog of Spark, its manifest. The data of a
    release in parts may also be a table of the catalog of Spark; then `engine` is "spark" or your session, as in `overt.run`.

    >>> import tempfile, overt
    >>> folder = Path(tempfile.mkdtemp())
    >>> overt.samples.hospital().write_csv(folder / "hospital.csv")
    >>> _ = overt.init(folder / "hospital.csv", into=folder / "recipe.toml")
    >>> _ = overt.run(folder / "recipe.toml", audit=False)
    >>> overt.check(folder / "hospital.csv", folder / "release.csv").ok
    True
    """
    given = None if recipe is None else as_recipe(recipe)
    of_tables = manifest_of_tables(release)
    if is_in_parts(release) or of_tables is not None:
        from overt.engine.scale.scaled_run import check_at_scale

        how: dict[str, Any] = {"master": master, "staging": staging, "on_progress": on_progress}
        release = Path(release) if of_tables is None else of_tables
        return Checked(check_at_scale(data, release, given, "out-of-core" if engine is None else engine, **how))
    if engine is not None or master is not None or staging is not None:
        raise InvalidInput(
            "An engine checks releases in parts, as engines make them, and this is none; choose no engine. Of a release in a table of a catalog, name the manifest."
        )
    claimed = find_dp(release, given)
    if claimed is not None:
        return Checked(check_dp_release(*claimed, data, release))
    return Checked(_check(data, release, given, on_progress))


def _check(data: str | Path, release: str | Path, given: Recipe | None, on_progress: Progress) -> Verdict:
    if holds_password(str(release)):
        find_address(str(release))  # refuses it without repeating it
    manifest, record, path, n_rows, known = None, None, Path(), None, {}
    if given is not None:
        recipe = given
        target = recipe.target.at(release)
        places = places_found(recipe, target)
    else:
        path = manifest_beside(release)
        manifest = read_manifest(path)
        record = find_owner_record(owner_record_beside(path))
        recipe = recipe_of(manifest, path, record)
        target = recipe.target
        paths = {name: part.path for name, part in manifest.release.items()}
        places = target.recorded(paths, Path(str(release).removesuffix(SUFFIX)))
        n_rows = next(iter(manifest.release.values())).rows
    source = recipe.source_at(data)
    if manifest is not None:
        on_progress("Comparing digests", 0, 0)
        source.require()
        known = {**target.digests(places), **digests_of_files(files_read(recipe).values())}
    left_out = pilot_of_release(recipe, record, has_manifest=manifest is not None)
    key = None if record is None or record.persons is None else record.persons.key
    with telling_other_data(record, source.name, source.digest):
        prepared = prepare(
            recipe, on_progress, source=source, with_digest=manifest is not None, left_out=left_out, key=key
        )
    table = prepared.table
    require_key(table, path)
    first, *_ = places.values()
    on_progress(f"Reading {target.name_of(first)}", 0, 0)
    tables, digests = target.read(places)
    findings: tuple[Finding, ...] = ()
    pooled: tuple[Finding, ...] = ()
    if recipe.settings.output.rows == "pooled":
        tables, finding = linked_by_record(table, tables, record, path)
        pooled = (finding,)
    folded = fold(table, tables) if table.has_bundles else None
    persons = tables if folded is None else without_lengths(folded.tables)
    if manifest is not None:
        found = {**known, **digests}
        findings = (
            find_changes(manifest, target, places, found),
            find_origin(record, path, recipe, source.name, prepared.find_digest(), found),
            *find_contradictions(manifest, path, recipe, tables, shape_of(recipe), persons, table),
        )
    on_progress("Checking", 0, 0)
    if manifest is not None and manifest.persons is not None:
        n_rows = manifest.persons
    elif n_rows is None or folded is not None:
        n_rows = next(iter(persons.values())).height if persons else 0
    claim = claim_of(recipe, claimed_rows(recipe, table.n_rows, n_rows), table)
    verdict = check_release(table, tables, claim)
    if persons:
        written_by = None if manifest is None else manifest.versions
        shape = find_shape(table, persons, claim, shape_of(recipe))
        spelling = find_spelling(recipe, table, persons, claim, target, places, source=source, written_by=written_by)
    else:
        shape, spelling = not_checked(("method", "spelling"), "persons cannot be told apart")
    compared = (*verdict.findings, shape, spelling)
    if manifest is not None:
        compared = tuple(of_known_data(finding, findings[1], record) for finding in compared)
    return Verdict((*findings, *pooled, *compared))


def linked_by_record(
    table: Table, tables: Mapping[str, pl.DataFrame], record: OwnerRecord | None, path: Path
) -> tuple[dict[str, pl.DataFrame], Finding]:
    """The tables of a pooled release with the numbers that hold a person's lines together, which only the owner has."""
    links = None if record is None or record.persons is None else record.persons.rows_of_person
    if links is None:
        raise InvalidInput(
            "Rows are pooled in this release. Goals count persons, and only the owner's record says which lines of a bucket belong to one person. "
            + (
                f"Put it beside {path.name}, or ask the owner to run this check."
                if path.name
                else "Check the release with its manifest, without --recipe."
            )
        )
    sensitive, finding = link(table, tables["sensitive"], links)
    return {**tables, "sensitive": sensitive}, finding


def require_key(table: Table, path: Path) -> None:
    """Refuse data of persons whose rows were cut at random, if nobody knows how."""
    if table.persons is not None and table.persons.draws and table.persons.key is None:
        raise InvalidInput(
            "Which rows of a person were kept, or which comes first, was drawn at random, and only the owner's record says which. "
            + (
                f"Put it beside {path.name}, or ask the owner to run this check."
                if path.name
                else "Check the release with its manifest, without --recipe."
            )
        )


def is_in_parts(release: str | Path) -> bool:
    """Whether a release is a folder of parts, as engines write it."""
    return (Path(release) / "manifest.json").is_file()


def manifest_of_tables(release: str | Path) -> Path | None:
    """The manifest of a release in tables of a catalog: what was named, or what lies here under the name of the table."""
    path = Path(release)
    if not path.name.endswith(SUFFIX):
        path = Path(f"{file_name_of(str(release))}{SUFFIX}") if not path.exists() else path
    try:
        output = json.loads(path.read_bytes())["recipe"]["output"]
        is_named = path == Path(release) or str(output["path"]) == str(release)
        return path if is_named and output["format"] == TABLE_OF_CATALOG else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None  # whatever else it is, others say


def places_found(recipe: Recipe, target: Target) -> dict[str, Any]:
    """Where the tables of a release without a manifest lie: a second holds the sensitive values if the first does not."""
    if recipe.settings.output.flat:
        return target.places(("flat",))
    names = recipe.method.table_names
    if len(names) == 1 and names != Release.table_names:
        return target.places(names)
    alone = target.places(("release",))
    buckets = target.places(names if len(names) > 1 else BucketRelease.table_names)
    tables, _ = target.read(alone)
    has_values = any(name in tables["release"].columns for name in recipe.columns_of("sensitive"))
    return alone if has_values or not target.is_there(buckets["sensitive"]) else buckets
