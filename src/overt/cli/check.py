# SPDX-License-Identifier: Apache-2.0
"""`overt check DATA RELEASE`: decide from files and tables alone whether a release holds what it claims."""

from pathlib import Path
from typing import Literal

from overt.cli.console import Exit, Switch, tell


def check(
    data: str,
    release: str,
    /,
    *,
    recipe: Path | None = None,
    json: Switch = False,
    quiet: Switch = False,
    engine: Literal["out-of-core", "spark"] | None = None,
    master: str | None = None,
    staging: str | None = None,
) -> int:
    """Decide from the files whether a release holds its claims; exit code 0 if it does, 1 if it does not.

    Parameters
    ----------
    data
        The file that the release was made from; or the database: the name of an environment variable that holds its address, or an SQLite file. The manifest or the recipe says which table or query.
    release
        The release. If it is in buckets, its file with the quasi-identifiers. If it is in a database or a catalog, its manifest; of a database with --recipe its table.
    recipe
        Check what this recipe asks for, not what the manifest beside the release claims.
    json
        Print one JSON document instead of the findings.
    quiet
        Print nothing; the exit code is the answer.
    engine
        Of a release in parts: where its check counts. If left out, on this machine in bounded memory ("out-of-core"). With "spark" DATA may be a table of the catalog.
    master
        Where Spark runs: local[4], spark://..., yarn, or a Connect server (sc://...). If left out, on all cores of this machine.
    staging
        A folder for staged rows, which are personal data. An engine makes a private folder in it, and removes that afterwards. All machines of a cluster must reach it. If left out, that folder is made where the system keeps temporary files.

    """
    import overt
    from overt.cli.progress import progress

    with progress(quiet=quiet) as on_progress:
        checked = overt.check(
            data, release, recipe=recipe, engine=engine, master=master, staging=staging, on_progress=on_progress
        )
    tell(checked, json=json, quiet=quiet)
    return Exit.DONE if checked.ok else Exit.CHECK_FAILED
