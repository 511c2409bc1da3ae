# SPDX-License-Identifier: Apache-2.0
"""Runs and checks on this machine: files in, files out, whole or not at all."""

import warnings
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
from numpy.random import Generator

from overt.algorithms import CrossBucket
from overt.check import Claim, Finding, Verdict, check_release
from overt.engine.outcome import Outcome, group_sizes
from overt.engine.passing import audit_in_passing
from overt.engine.reporting import files_of_report, report_of, report_paths
from overt.errors import InvalidInput
from overt.io.files import digest, read_file, read_release, separator_of, write_tables
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
from overt.io.profiling import count_persons, refuse_repeated
from overt.io.publication import published_tables
from overt.io.recipe import Recipe, read_recipe
from overt.io.record import with_external
from overt.privacy import exact
from overt.progress import Progress, silent
from overt.release import Release
from overt.table import Table


def run(
    recipe: Recipe,
    *,
    rng: Generator,
    on_progress: Progress = silent,
    overwrite: bool = False,
    with_report: bool = False,
    with_audit: bool = True,
) -> Outcome:
    """Do what a recipe says: read, anonymize, check, and write the release with its manifest, and perhaps a report.

    If the check fails nothing is written, and the outcome says what was found.
    """
    overwrite = overwrite or recipe.settings.output.overwrite
    reports = report_paths(recipe.output_path) if with_report else ()
    _refuse_taken([recipe.output_path, manifest_path(recipe.output_path), *reports], recipe, overwrite)
    with ThreadPoolExecutor(max_workers=1) as pool:  # digesting releases the interpreter lock
        input_digest = pool.submit(digest, recipe.input_path)
        table, method = with_external(recipe, read_table(recipe, recipe.input_path, on_progress))
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always", UserWarning)
            release = method.anonymize(table, rng=rng, on_progress=on_progress)
        on_progress("Publishing", 0, 0)
        tables = published_tables(release, show=recipe.choices("show"), others=recipe.settings.output.others)
        if recipe.settings.output.flat:
            tables = {"flat": flatten(table, tables)}
        files = files_of(recipe.output_path, tables)
        _refuse_taken(list(files.values()), recipe, overwrite)
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
        input_path=recipe.input_path,
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

        def companions(digests: Mapping[Path, str]) -> dict[Path, bytes]:
            manifest = describe(recipe, release, tables, {recipe.input_path: input_digest.result(), **digests})
            return {manifest_path(recipe.output_path): manifest.to_json().encode(), **report_files}

        write_tables(
            {path: tables[name] for name, path in files.items()},
            format=recipe.settings.output.format,
            separator=separator_of(recipe.input_path, **how_written(recipe)),
            neutralise_formulas=recipe.settings.output.neutralise_formulas,
            overwrite=overwrite,
            companions=companions,
        )
    return outcome


def check(data: Path, release: Path, *, recipe_path: Path | None = None, on_progress: Progress = silent) -> Verdict:
    """Decide from the files alone whether a release holds what its manifest (or a recipe) claims."""
    findings: tuple[Finding, ...] = ()
    n_rows = None
    if recipe_path is not None:
        recipe = read_recipe(recipe_path)
        files = find_files(recipe, release)
    else:
        manifest = read_manifest(manifest_path(release))
        recipe = recipe_of(manifest, manifest_path(release))
        first, *rest = manifest.release
        files = {first: release} | {name: release.parent / manifest.release[name].path for name in rest}
        n_rows = manifest.release[first].rows
        on_progress("Comparing digests", 0, 0)
        findings = (find_changes(manifest, recipe, data, files),)
    table, _ = with_external(recipe, read_table(recipe, data, on_progress))
    on_progress(f"Reading {release.name}", 0, 0)
    output = recipe.settings.output
    tables = {
        name: read_release(path, format=output.format, neutralised=output.neutralise_formulas)
        for name, path in files.items()
    }
    on_progress("Checking", 0, 0)
    if n_rows is None:
        n_rows = next(iter(tables.values())).height
    verdict = check_release(table, tables, claim_of(recipe, claimed_rows(recipe, table.n_rows, n_rows)))
    return Verdict((*findings, *verdict.findings))


def read_table(recipe: Recipe, path: Path, on_progress: Progress) -> Table:
    """Read a file in the roles, kinds and hierarchies of a recipe."""
    source = recipe.settings.input

    def reading(_: str, done: int, total: int) -> None:
        on_progress(f"Reading {path.name}", done, total)

    reading("", 0, 0)
    persons = [name for name, choice in recipe.choices("repeats").items() if choice == "refuse"]
    if persons:
        refuse_repeated(path, count_persons(path, persons, **how_written(recipe)))
    return read_file(
        path,
        quasi_identifiers=recipe.columns_of("quasi-identifier"),
        sensitive=recipe.columns_of("sensitive"),
        identifiers=recipe.columns_of("identifier"),
        others=(*recipe.settings.output.others, *getattr(recipe.method, "columns_read", ())),
        hierarchies=recipe.hierarchies,
        kinds=recipe.choices("kind"),
        missing=recipe.missing,
        missing_values=source.missing_values,
        on_progress=reading,
        **how_written(recipe),
    )


def how_written(recipe: Recipe) -> dict[str, str | None]:
    """What a recipe says of how its input is written."""
    source = recipe.settings.input
    return {"format": source.format, "separator": source.separator, "encoding": source.encoding}


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


def files_of(path: Path, tables: Iterable[str]) -> dict[str, Path]:
    """Where the tables of a release go: the first to `release.csv`, another, "sensitive", to `release.sensitive.csv`."""
    ending = "".join(path.suffixes[-2:] if path.suffix.lower() == ".gz" else path.suffixes[-1:])
    first, *rest = tables
    return {first: path} | {name: path.with_name(f"{path.name.removesuffix(ending)}.{name}{ending}") for name in rest}


def find_files(recipe: Recipe, path: Path) -> dict[str, Path]:
    """The files of a release without a manifest: a second one holds the sensitive values if the first does not."""
    if recipe.settings.output.flat:
        return files_of(path, ("flat",))
    people = "boxes" if isinstance(recipe.method, CrossBucket) else "quasi-identifiers"
    buckets = files_of(path, (people, "sensitive"))
    header = set(read_release(path, format=recipe.settings.output.format).columns)
    has_values = any(name in header for name in recipe.columns_of("sensitive"))
    return buckets if buckets["sensitive"].is_file() and not has_values else files_of(path, ("release",))


def describe(
    recipe: Recipe, release: Release, tables: Mapping[str, pl.DataFrame], digests: Mapping[Path, str]
) -> Manifest:
    """The manifest of a release, given the digests of the input and of the files it is written to."""
    files, folder = files_of(recipe.output_path, tables), recipe.output_path.parent
    return Manifest(
        created=now(),
        versions=versions(),
        method=recipe.settings.method.name,
        goal=tuple(map(str, recipe.goal.parts)),
        groups=group_sizes(release, tables).size,
        input=InputRecord(
            name=recipe.input_path.name,
            sha256=digests[recipe.input_path],
            rows=release.table.n_rows,
            rows_dropped=release.table.n_dropped,
        ),
        release={
            name: FileRecord(path=seen_from(folder, path), sha256=digests[path], rows=tables[name].height)
            for name, path in files.items()
        },
        hierarchy_files={name: digest(path) for name, path in files_read(recipe).items()},
        recipe=recorded_recipe(recipe, folder),
    )


def find_changes(manifest: Manifest, recipe: Recipe, data: Path, files: Mapping[str, Path]) -> Finding:
    """Whether the files are those that the manifest was written for."""
    recorded = {data: manifest.input.sha256}
    recorded |= {path: manifest.release[name].sha256 for name, path in files.items()}
    recorded |= {path: manifest.hierarchy_files[name] for name, path in files_read(recipe).items()}
    for path in recorded:
        if not path.is_file():
            raise InvalidInput(f"There is no file {path}; check the name and the folder.")
    changed = [path.name for path, known in recorded.items() if digest(path) != known]
    if changed:
        return Finding("digests", False, f"{' and '.join(changed)} changed since the manifest was written.")
    return Finding("digests", True, "The files are, byte for byte, those that the manifest was written for.")


def _refuse_taken(targets: list[Path], recipe: Recipe, overwrite: bool) -> None:
    """Say before the work, not after it, that a file is in the way; what the recipe reads is never replaced."""
    sources = [path for path in (recipe.input_path, *files_read(recipe).values()) if path.exists()]
    for target in (path for path in targets if path.exists()):
        if any(target.samefile(source) for source in sources):
            raise InvalidInput(f"{target} is read by this recipe and would be replaced; give [output] another path.")
        if not overwrite:
            raise InvalidInput(
                f"{target} exists already; add --overwrite to replace it, or give [output] another path."
            )
