# SPDX-License-Identifier: Apache-2.0
"""`overt risk DATA`: who can be found in a file, and what can be learnt of them, before anything is done to it."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from overt.cli.console import Exit, Switch, tell

Names = Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")]


def risk(
    data: str,
    /,
    *,
    table: str | None = None,
    query: str | None = None,
    recipe: Path | None = None,
    known: Names = None,
    sensitive: Names = None,
    population_share: float | None = None,
    engine: Literal["out-of-core", "spark"] | None = None,
    master: str | None = None,
    staging: str | None = None,
    json: Switch = False,
    quiet: Switch = False,
) -> int:
    """Show who can be re-identified in a file, and what can be learnt about them, before anything is done to it.

    Parameters
    ----------
    data
        A file of microdata: CSV, Excel, Parquet, Arrow or JSON Lines; CSV also in gzip or zip. With --table or --query a database: the name of an environment variable that holds its address, or an SQLite file.
    table
        The table to look at, in a database: name or schema.name.
    query
        The query to look at, in a database. Queries that would change something are refused.
    recipe
        Take the roles of the columns from a recipe. Without one, and without --known, they are guessed as by `overt init`.
    known
        The quasi-identifiers: columns that somebody who looks for a person may know.
    sensitive
        The sensitive columns: nobody should learn their values for a particular person.
    population_share
        The share of the population that is in the file, between 0 and 1. It is used for the attacker who does not know who is in the file.
    engine
        For a table that does not fit into memory: "out-of-core" counts on this machine in bounded memory, "spark" on a cluster. Give a recipe, or --known.
    master
        Where Spark runs: local[4], spark://..., yarn, or a Connect server (sc://...). If left out, on all cores of this machine.
    staging
        A folder for staged rows, which are personal data; a private folder is made in it, and removed afterwards.
    json
        Print one JSON document instead of the summary.
    quiet
        Print nothing unless something goes wrong.

    """
    import overt
    from overt.cli.progress import progress

    with progress(quiet=quiet) as on_progress:
        exposure = overt.risk(
            data,
            table=table,
            query=query,
            recipe=recipe,
            known=known or (),
            sensitive=sensitive or (),
            population_share=population_share,
            engine=engine,
            master=master,
            staging=staging,
            on_progress=on_progress,
        )
    tell(exposure, json=json, quiet=quiet)
    return Exit.DONE
