# SPDX-License-Identifier: Apache-2.0
"""`overt run RECIPE`: make a release as a recipe says, check it and write it."""

from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts.types import NonNegativeInt

from overt.cli.console import Exit, Switch, say, say_findings, say_json, say_rows

if TYPE_CHECKING:
    from overt.engine.outcome import Outcome
    from overt.engine.private import PrivateOutcome


def run(
    recipe: Path,
    /,
    *,
    json: Switch = False,
    quiet: Switch = False,
    seed: NonNegativeInt | None = None,
    overwrite: Switch = False,
    report: Switch = False,
    no_audit: Switch = False,
) -> int:
    """Make a release as a recipe says, check it and write it.

    Parameters
    ----------
    recipe
        A TOML file that says what to read, what must hold, by which method, and where the release goes.
    json
        Print one JSON document instead of the summary.
    quiet
        Say nothing unless something goes wrong.
    seed
        Repeat a method that draws random numbers. It is recorded nowhere: keep it as secret as the data. A private release
        made with one is for tests, and says so.
    overwrite
        Replace a release that is already there.
    report
        Also write a report of what holds, what it cost and what risk remains: one HTML file, and one JSON file.
    no_audit
        Do not ask what someone who has the method learns from the release.

    """
    import numpy as np

    from overt.cli.progress import progress
    from overt.engine import local
    from overt.io.recipe import read_recipe

    with progress(quiet=quiet) as on_progress:
        outcome = local.run(
            read_recipe(recipe),
            rng=None if seed is None else np.random.default_rng(seed),
            on_progress=on_progress,
            overwrite=overwrite,
            with_report=report,
            with_audit=not no_audit,
        )
    if json:
        say_json(outcome.to_dict())
    elif not outcome.verdict.ok:
        say("Nothing was written: the release did not pass its own check. Please report this as a mistake in Overt.\n")
        say_findings(outcome.verdict)
    elif not quiet:
        say_rows(summary(outcome, recipe))
    return Exit.DONE if outcome.verdict.ok else Exit.CHECK_FAILED


def summary(outcome: "Outcome | PrivateOutcome", recipe: Path) -> list[tuple[str, str]]:
    """What a person wants to know about a release that was just written."""
    from overt.engine.private import PrivateOutcome

    if isinstance(outcome, PrivateOutcome):
        return outcome.summary(recipe)
    from overt.report.leak import brief

    files = [path for path in outcome.files.values() if isinstance(path, Path)]
    n_rows = outcome.n_rows - outcome.n_suppressed
    left_out = [f"{outcome.n_dropped:,} rows with a missing sensitive value left out"] if outcome.n_dropped else []
    left_out += [f"{outcome.n_suppressed:,} suppressed"] if outcome.n_suppressed else []
    dropped = f" ({', '.join(left_out)})" if left_out else ""
    return [
        ("Release", f"{n_rows:,} rows{dropped} in {outcome.n_groups:,} groups, by {outcome.method}"),
        *(("Holds", f"{held.asked}; reached: {held.reached}") for held in outcome.holds),
        ("Against", outcome.against),
        *([("Leak", brief(outcome.leak))] if outcome.leak is not None else []),
        (
            "Cost",
            f"groups of {outcome.average_group_size:,.1f} rows on average; discernibility {outcome.discernibility:,}",
        ),
        *outcome.remarks.items(),
        *(("Caution", caution) for caution in outcome.cautions),
        *(("Tables", str(table)) for table in outcome.files.values() if not isinstance(table, Path)),
        *(("Files", str(path)) for path in (*files, outcome.manifest_path, *outcome.report_paths)),
        ("Again", f"overt run {recipe}"),
        ("Check", f"overt check {outcome.input_path} {files[0] if files else outcome.manifest_path}"),
    ]
