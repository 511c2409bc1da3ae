# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_run.py
"""`overt.run`: a release from a recipe on this machine, files or tables in, files or tables out, whole or not at all."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from numpy.random import Generator

from overt.checks import check_release
from overt.engine.cautions_of_reading import MISSING_LEFT_OUT
from overt.engine.companions import companions_of, refuse_taken
from overt.engine.course import Made, Prepared, prepare
from overt.engine.identifiers_released import find_identifiers_released
from overt.engine.outcome import Outcome
from overt.engine.promises import claim_of
from overt.engine.records import published, records_of
from overt.engine.report_files import files_of_owner_report, files_of_public_report, owner_report_paths, report_paths
from overt.engine.tight_cells import find_tight_cells
from overt.errors import InvalidInput, Unreachable
from overt.io.flat import flatten
from overt.io.manifest import manifest_path
from overt.io.owner_record import owner_record_path
from overt.io.person_lines import lines_of_persons, rows_of_persons
from overt.io.pilot_record import Pilot, decide, pilot_for_run, refused_after, remember_place, sentence_of_pilot
from overt.io.publication import published_tables
from overt.io.recipe.recipe import Recipe, as_recipe
from overt.io.repeated_persons import allowed_words
from overt.io.unfinished import clear_unfinished
from overt.progress import Progress, silent
from overt.randomness import secret_generator

if TYPE_CHECKING:
    from overt.engine.dp_run import DpOutcome
    from overt.engine.scale.scaled_outcome import ScaledOutcome


@overload
def run(
    recipe: Recipe | str | Path,
    *,
    rng: Generator | None = None,
    overwrite: bool = False,
    report: bool = False,
    audit: bool = True,
    engine: None = None,
    master: str | None = None,
    staging: str | None = None,
    on_progress: Progress = silent,
) -> "Outcome | DpOutcome": ...


@overload
def run(
    recipe: Recipe | str | Path,
    *,
    rng: Generator | None = None,
    overwrite: bool = False,
    report: bool = False,
    audit: bool = True,
    engine: Any,
    master: str | None = None,
    staging: str | None = None,
    on_progress: Progress = silent,
) -> "ScaledOutcome | DpOutcome": ...


def run(
    recipe: Recipe | str | Path,
    *,
    rng: Generator | None = None,
    overwrite: bool = False,
    report: bool = False,
    audit: bool = True,
    engine: Any = None,
    master: str | None = None,
    staging: str | None = None,
    on_progress: Progress = silent,
) -> "Outcome | DpOutcome | ScaledOutcome":
    """Run a recipe: read, anonymize, check, and write the release with its manifest and, if asked for, two reports.

    If the check fails, nothing is written, and the outcome says what was found. Without `rng`, nobody can repeat the random draws. With
    `report` there is one report for the public and one for the owner. With `audit` the outcome says what somebody who knows
    the method learns. If `on_progress` raises, the run ends there and nothing is written.

    With an `engine` the table need not fit into memory: "out-of-core" works on this machine in bounded memory, a session of Spark on
    its cluster, and "spark" makes a session at `master`. Rows are staged in a private folder, inside `staging` if you name one. The release is then a
    folder of parts, with the public report in it if that is asked for, and without audit. An engine takes no `rng`: its random numbers come from the operating system.

    >>> import tempfile, overt
    >>> folder = Path(tempfile.mkdtemp())
    >>> overt.samples.hospital().write_csv(folder / "hospital.csv")
    >>> _ = overt.init(folder / "hospital.csv", into=folder / "recipe.toml")
    >>> outcome = overt.run(folder / "recipe.toml", audit=False)
    >>> outcome.ok, outcome.method
    (True, 'blind-buckets')
    """
    recipe = as_recipe(recipe)
    if engine is not None:
        from overt.engine.scale.scaled_run import run_at_scale

        if rng is not None and not recipe.is_dp:
            raise InvalidInput(
                "An engine draws a random number for every row from the operating system, so that no seed repeats its draws; leave --seed (rng=) out, or "
                "choose no engine."
            )
        how: dict[str, Any] = {"master": master, "staging": staging, "rng": rng, "overwrite": overwrite}
        return run_at_scale(recipe, engine, **how, with_report=report, on_progress=on_progress)
    if master is not None or staging is not None:
        raise InvalidInput("Only an engine has a master and a folder for staging; choose one, as with --engine spark.")
    if recipe.is_dp:
        from overt.engine.dp_run import run_dp

        return run_dp(recipe, rng=rng, on_progress=on_progress, overwrite=overwrite, with_report=report)
    rng = rng or secret_generator()
    overwrite = overwrite or recipe.settings.output.overwrite
    source, target = recipe.source, recipe.target
    source.require()
    reports = report_paths(recipe.output_path) if report else ()
    owner_reports = owner_report_paths(recipe.output_path) if report else ()
    cleared = clear_unfinished(recipe.output_path.parent)
    replaced = companions_of(recipe)
    records = [manifest_path(target.base), owner_record_path(target.base), *replaced.files, *reports, *owner_reports]
    refuse_taken(recipe, ("release",), records, overwrite=overwrite)
    pilot = pilot_for_run(recipe)
    key = int.from_bytes(rng.bytes(16), "little") if recipe.settings.input.person is not None else None
    prepared = prepare(recipe, on_progress, with_digest=True, left_out=None if pilot is None else pilot.rows, key=key)
    made = prepared.make(rng, on_progress) if pilot is None else make_once(prepared, pilot, recipe, rng, on_progress)
    table, release = prepared.table, made.release
    on_progress("Publishing", 0, 0)
    tables = published_tables(release, show=recipe.choices("show"), others=recipe.settings.output.others)
    seen = tables
    if recipe.settings.output.flat:
        tables = {"flat": flatten(table, tables)}
    linked = lines_of_persons(table, tables)
    is_pooled = recipe.settings.output.rows == "pooled"
    lines = lines_of_persons(table, tables, "pooled") if is_pooled else linked
    files = target.places(tables)
    refuse_taken(recipe, tables, overwrite=overwrite)
    with target.writing(  # nothing appears until it is checked
        lines, source=source, row_by_row=recipe.is_dp, overwrite=overwrite, going=replaced
    ) as finish:
        on_progress("Checking", 0, 0)
        verdict = check_release(
            table, linked, claim_of(recipe, table.n_rows - release.n_suppressed, table), witness=release.witness
        )
        leak = None
        if verdict.ok and audit:
            from overt.engine.quick_audit import audit_in_passing

            leak = audit_in_passing(recipe, release, rng=rng, with_sweep=report, on_progress=on_progress)
        outcome = Outcome.of(
            release,
            tables,
            recipe.goal,
            verdict,
            recipe_path=recipe.path,
            others=recipe.settings.output.others,
            warned=(
                *find_identifiers_released(table, recipe.settings.output.others),
                *map(allowed_words, recipe.may_repeat),
                *made.warned,
                *find_tight_cells(release, recipe.choices("show")),
                *((MISSING_LEFT_OUT,) if table.n_dropped and not recipe.is_dp else ()),
                *(() if pilot is None else (sentence_of_pilot(pilot),)),
            ),
            input_path=source.said,
            files=files if verdict.ok else {},
            checked=target.checked(files if verdict.ok else {}, manifest_path(target.base)),
            in_files=target.has_bytes,
            manifest_path=manifest_path(recipe.output_path),
            owner_record_path=owner_record_path(recipe.output_path),
            report_paths=reports if verdict.ok else (),
            owner_report_paths=owner_reports if verdict.ok else (),
            leak=leak,
            cleared=cleared,
            has_pilot=pilot is not None,
        )
        if verdict.ok:
            on_progress("Writing", 0, 0)

            def companions(digests: Mapping[str, str]) -> dict[Path, bytes]:
                reported: dict[Path, bytes] = {}
                if report:
                    on_progress("Measuring", 0, 0)
                    named = published(target, lines, digests)
                    reported = files_of_public_report(recipe, seen, named, table)
                    reported |= files_of_owner_report(recipe, release, verdict, outcome.cautions, leak, named)
                looked_at = () if pilot is None else tuple(pilot.rows.tolist())
                links = rows_of_persons(table, tables) if is_pooled else None
                records = records_of(recipe, release, tables, lines, prepared.find_digest(), digests, looked_at, links)
                if pilot is not None:
                    remember_place(recipe)
                return {**records, **reported}

            finish(companions)
    return outcome


def make_once(prepared: Prepared, pilot: Pilot, recipe: Recipe, rng: Generator, on_progress: Progress) -> Made:
    """Run the method on the people who are not in the pilot. What was asked for is remembered before they are looked at."""
    decide(pilot, recipe)
    try:
        return prepared.make(rng, on_progress)
    except Unreachable as error:
        raise refused_after(pilot, recipe, error) from None
