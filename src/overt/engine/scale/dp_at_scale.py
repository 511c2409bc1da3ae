# SPDX-License-Identifier: Apache-2.0
"""`overt.run` and `overt.check` of differentially private recipes with an engine: counted there, drawn and written here.

The course is that of `dp_run`: what the recipe, names, types and the ledger decide comes first; then records are read and counted; then the
budget is spent, once, whatever becomes of the release; and only then coins are drawn. An engine only counts (`record_counts`, where the proof
stands that the law is that of memory), so that a task that is tried again can neither spend nor draw. Nothing is staged: no row of the data is written
anywhere, and there is no record of it for the owner but the ledger.
"""

import secrets
import tempfile
from pathlib import Path
from typing import Any

from numpy.random import Generator

from overt.algorithms.dp.mechanism import DpMethod, ShownElements
from overt.checks import Finding, Verdict
from overt.engine.contradictions import find_dp_contradictions
from overt.engine.course import with_public_hierarchies
from overt.engine.dp_run import (
    DpOutcome,
    find_dp_changes,
    find_in_ledger,
    names_separator,
    naming_separator,
    report_of_dp,
)
from overt.engine.scale.dp_parts import TABLE, PartsWritten, find_files, read_parts, write_parts
from overt.engine.scale.engine_choice import engine_of
from overt.engine.scale.parts import (
    MANIFEST,
    REPORT,
    digest_of_parts,
    put_back,
    refuse_taken,
    release_folder,
)
from overt.engine.scale.record_counts import RecordClasses, count_records
from overt.engine.scale.scaled_run import files_written, format_of
from overt.errors import InvalidInput
from overt.io.dp_release import DpManifest, ReleasedFile
from overt.io.files import digest
from overt.io.formats import format_of_name
from overt.io.ledger import ledger_path, spend
from overt.io.manifest import files_read, now, recorded_recipe, versions
from overt.io.private_folder import PREFIX, clear_abandoned
from overt.io.recipe.recipe import Recipe, understand
from overt.io.record_files import RecordFiles
from overt.io.sources import FileSource
from overt.progress import Progress, silent


def run_dp_at_scale(
    recipe: Recipe,
    engine: Any,
    *,
    master: str | None = None,
    staging: str | None = None,
    rng: Generator | None = None,
    overwrite: bool = False,
    with_report: bool = False,
    on_progress: Progress = silent,
) -> DpOutcome:
    """Make a differentially private release in parts as a recipe says. Its budget is spent before a coin is drawn."""
    method = recipe.dp_method
    source = require_file(recipe)
    refuse_external(recipe)
    classes = RecordClasses.of(method)
    intake = with_public_hierarchies(recipe).intake()
    files = RecordFiles.of(source, intake)
    written = parts_written(recipe)
    place = recipe.output_path
    overwrite = overwrite or recipe.settings.output.overwrite
    put_back(place)
    clear_abandoned(Path(tempfile.gettempdir() if staging is None else staging), f"{PREFIX}*", PREFIX)
    refuse_taken(place, overwrite=overwrite)
    facts = method.facts  # what cannot be computed is refused before anything is spent

    def quiet(stage: str) -> None:
        on_progress(stage, 0, 0)  # how much there is to do tells how many rows there are

    with engine_of(engine, master=master, staging=staging) as run_on:
        quiet(f"Reading {recipe.source.name}")
        records = classes.records(count_records(run_on, files, classes, intake))
        name = run_on.name
    release_id = secrets.token_hex(16)
    ledger = spend(
        ledger_path(recipe.source.base), method.budget, release=place.name, release_id=release_id, method=method.name
    )
    shown = method.release_counts(records, rng=rng, on_progress=lambda stage, *_: quiet(stage))
    with release_folder(place, overwrite=overwrite) as draft:
        quiet("Writing")
        write_parts(shown, draft.folder / TABLE, written)
        quiet("Checking")
        verdict = read_parts(draft.folder / TABLE, written, list(method.trees)).verdict(method, shown.coins)
        others = tuple(finding for finding in verdict.findings if finding.name != "coins")
        made_well = all(finding.ok for finding in others)  # a seed is asked for by name
        if made_well:
            manifest = _manifest_of(recipe, method, shown, release_id, draft.folder, place.parent)
            (draft.folder / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
            if with_report:
                contents = report_of_dp(recipe, shown, verdict, place.name)
                for called, content in zip(REPORT, contents, strict=True):
                    (draft.folder / called).write_bytes(content)
            draft.is_kept = True
    return DpOutcome(
        recipe_path=recipe.path,
        method=method.name,
        against=method.against,
        n_published=shown.n_rows,
        n_different=shown.copies.size,
        facts=facts,
        coins=shown.coins,
        verdict=Verdict(others) if made_well else verdict,
        ledger=ledger,
        files={TABLE: place} if made_well else {},
        manifest_path=place / MANIFEST,
        report_paths=tuple(place / called for called in REPORT) if made_well and with_report else (),
        checked=str(place),
        input_path=recipe.source.said,
        engine=name,
    )


def check_dp_parts(
    manifest: DpManifest | None, given: Recipe | None, data: str | Path, release: Path, on_progress: Progress = silent
) -> Verdict:
    """Decide whether a differentially private release in parts holds what its manifest (or a recipe) claims. The data is not read."""
    path = release / MANIFEST
    if given is None:
        assert manifest is not None
        recipe = understand(manifest.recipe, folder=release.parent, name=path.name)
    else:
        recipe, manifest = given, None
    method = recipe.dp_method
    if not (release / TABLE).is_dir():
        return Verdict((Finding("tables", False, f"The release should have the table {TABLE}."),))
    written = parts_written(recipe, data)
    on_progress("Checking", 0, 0)
    read = read_parts(release / TABLE, written, list(method.trees))
    findings = []
    if manifest is not None:
        found = digest_of_parts(release / TABLE)
        findings.append(find_dp_changes(recipe, manifest, found, release.name))
        how: dict[str, Any] = {"is_recorded": names_separator(recipe), "part": TABLE}
        findings.append(find_dp_contradictions(recipe, manifest, path, read.n_rows, **how))
        findings += find_in_ledger(manifest, Path(data))
    verdict = read.verdict(method, None if manifest is None else manifest.coins)
    return Verdict((*findings, find_files(release, written), *verdict.findings))


def require_file(recipe: Recipe) -> FileSource:
    """The file, or folder of parts, that is read; other sources are refused by name."""
    source = recipe.source.file
    if source is None:
        raise InvalidInput(
            f"For a differentially private release an engine reads files, and {recipe.source.name} is a table of a catalog or a database: it can be a view, "
            "which makes many rows of one, or fails because of one. Export it to Parquet."
        )
    return source


def refuse_external(recipe: Recipe) -> None:
    """Refuse an external database, which is compared with the table value by value."""
    if recipe.method.external is not None:
        raise InvalidInput(
            f"{recipe.method.name} with an external database works on one machine in memory only; leave 'external' out, or choose no engine."
        )


def parts_written(recipe: Recipe, data: str | Path | None = None) -> PartsWritten:
    """How the parts of a release are written: with the separator of its data, as far as that is known."""
    file = recipe.source_at(data).file
    file_format = format_of(recipe)
    separator = None
    if file is not None and not file.path.is_dir() and format_of_name(file.path, file.format) == "csv":
        separator = recipe.source_at(data).separator(row_by_row=True)
    return PartsWritten(file_format, separator or ",", files_written(recipe).neutralise_formulas)


def _manifest_of(
    recipe: Recipe, method: DpMethod, shown: ShownElements, release_id: str, folder: Path, seen_from: Path
) -> DpManifest:
    """Like that of a file: nothing of the input."""
    return DpManifest(
        id=release_id,
        created=now(),
        versions=versions(),
        method=recipe.settings.method.name,
        epsilon=str(method.budget.epsilon),
        delta=str(method.budget.delta),
        facts=dict(shown.facts),
        coins="secret" if shown.coins == "secret" else "seeded",
        release=ReleasedFile(place=TABLE, sha256=digest_of_parts(folder / TABLE), rows=shown.n_rows),
        hierarchy_files={column: digest(path) for column, path in files_read(recipe).items()},
        recipe=recorded_recipe(naming_separator(recipe), seen_from)[0],
    )
