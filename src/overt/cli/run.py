# SPDX-License-Identifier: Apache-2.0
"""`overt run RECIPE`: make a release as a recipe says, check it and write it."""

from pathlib import Path
from typing import Literal

from cyclopts.types import NonNegativeInt

from overt.cli.console import Exit, Switch, rng_of, tell


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
    engine: Literal["out-of-core", "spark"] | None = None,
    master: str | None = None,
    staging: str | None = None,
) -> int:
    """Make the release that a recipe describes, check it, and write it.

    The summary says against whom the release holds. Strong: replaying the method adds nothing, whatever somebody believed before.
    Weak: the goal holds for somebody who replays it and had no idea how values depend on quasi-identifiers; others may learn more.

    Parameters
    ----------
    recipe
        A TOML file that says what to read, what must hold, which method to use, and where the release goes.
    json
        Print one JSON document instead of the summary.
    quiet
        Print nothing unless something goes wrong.
    seed
        Repeat the random draws of an earlier run, without an engine. The seed is not recorded. Anybody who has it can repeat the draws, so keep it as secret as the data. A differentially private release made with a seed is for tests only, and says so.
    overwrite
        Replace a release that is already there.
    report
        Also write two reports, each as HTML and JSON: one for the public, made from the release alone, and one for the owner, with what it cost and what risk remains.
    no_audit
        Do not estimate what someone who knows the method learns from the release.
    engine
        For a table that does not fit into memory: "out-of-core" works on this machine in bounded memory, "spark" on a cluster. The release is then a folder of parts, without audit; with --report the public report is in it.
    master
        Where Spark runs: local[4], spark://..., yarn, or a Connect server (sc://...). If left out, on all cores of this machine.
    staging
        A folder for staged rows, which are personal data. An engine makes a private folder in it, and removes that afterwards. All machines of a cluster must reach it. If left out, that folder is made where the system keeps temporary files.

    """
    import overt
    from overt.cli.progress import progress

    with progress(quiet=quiet) as on_progress:
        outcome = overt.run(
            recipe,
            rng=None if seed is None else rng_of(seed),
            overwrite=overwrite,
            report=report,
            audit=not no_audit,
            engine=engine,
            master=master,
            staging=staging,
            on_progress=on_progress,
        )
    tell(outcome, json=json, quiet=quiet and outcome.ok)
    return Exit.DONE if outcome.ok else Exit.CHECK_FAILED
