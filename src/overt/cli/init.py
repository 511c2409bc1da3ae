# SPDX-License-Identifier: Apache-2.0
"""`overt init DATA`: look at a file and write a first recipe for it."""

from pathlib import Path

from overt.cli.console import Exit, Switch, tell


def init(
    data: str,
    /,
    *,
    table: str | None = None,
    query: str | None = None,
    person: str | None = None,
    into: Path = Path("recipe.toml"),
    json: Switch = False,
    quiet: Switch = False,
    overwrite: Switch = False,
) -> int:
    """Look at a file, or a table of a database, and write a first recipe for it.

    The roles are guesses from names, kinds and counts, each with its reason: read them before you rely on them. Of columns that people
    keep to themselves only the values of a pilot are looked at: people drawn blindly, one in ten, who are then not published. A file
    beside the recipe that only you can read remembers who they are: keep it.

    Parameters
    ----------
    data
        A file of microdata: CSV, Excel, Parquet, Arrow or JSON Lines; CSV also in gzip or zip. With --table or --query a database: the name of an environment variable that holds its address, or an SQLite file.
    table
        The table to look at, in a database: name or schema.name.
    query
        The query to look at, in a database. Queries that would change something are refused.
    person
        The column that identifies the patient, person or household of a row. If left out, it is guessed.
    into
        Where to write the recipe.
    json
        Print one JSON document instead of the summary.
    quiet
        Print nothing unless something goes wrong.
    overwrite
        Replace a recipe that is already there.

    """
    import overt
    from overt.cli.progress import progress

    with progress(quiet=quiet) as on_progress:
        first = overt.init(
            data, table=table, query=query, person=person, into=into, overwrite=overwrite, on_progress=on_progress
        )
    tell(first, json=json, quiet=quiet)
    return Exit.DONE
