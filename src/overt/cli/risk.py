# SPDX-License-Identifier: Apache-2.0
"""`overt risk DATA`: who can be found in a file, and what can be learnt of them, before anything is done to it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from overt.cli.console import Exit, Switch, say, say_json, say_rows, say_table

if TYPE_CHECKING:
    from overt.metrics.risk import Risk
    from overt.metrics.uniques import Uniques
    from overt.progress import Progress
    from overt.table import Table

Names = Annotated[list[str] | None, Parameter(consume_multiple=True)]
MOST_SETS = 8


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
    json: Switch = False,
    quiet: Switch = False,
) -> int:
    """Say who can be found in a file, and what can be learnt of them, before anything is done to it.

    Parameters
    ----------
    data
        A file of microdata: CSV, Parquet, Arrow or JSON Lines, also gzip. With --table or --query a database: the name of an
        environment variable that holds its address, or an SQLite file.
    table
        The table to look at, in a database: name or schema.name.
    query
        The query to look at, in a database. It can only read.
    recipe
        Take the roles of the columns from a recipe. Without one, and without --known, they are guessed as by `overt init`.
    known
        The columns that somebody who looks for a person may know.
    sensitive
        The columns of which nobody may learn a person's value.
    population_share
        The share of the population that is in the file, between 0 and 1, for someone who does not know who is in it.
    json
        Print one JSON document instead of the summary.
    quiet
        Say nothing unless something goes wrong.

    """
    from overt.cli.progress import progress
    from overt.metrics.risk import risk_of_table
    from overt.metrics.uniques import find_uniques

    with progress(quiet=quiet) as on_progress:
        people, whence = read(data, table, query, recipe, known, sensitive, on_progress)
        on_progress("Measuring", 0, 0)
        measured = risk_of_table(people, population_share=population_share)
        uniques = find_uniques(people)
    if json:
        sets = [{"columns": list(one.columns), "rows": one.n_rows} for one in uniques.sets]
        names = {"known": [c.name for c in people.quasi_identifiers], "sensitive": [c.name for c in people.sensitive]}
        say_json({**names, **measured.to_dict(), "smallest_sets": sets, "sets_of_up_to": uniques.max_size})
    elif not quiet:
        say_summary(people, whence, measured, uniques)
    return Exit.DONE


def read(
    data: str,
    table: str | None,
    query: str | None,
    recipe: Path | None,
    known: list[str] | None,
    sensitive: list[str] | None,
    on_progress: "Progress",
) -> "tuple[Table, str]":
    """The table, and where its roles come from."""
    from overt.engine.places import read_table, source_of
    from overt.io.database.reading import read_selection
    from overt.io.files import read_file
    from overt.io.intake import Intake
    from overt.io.profiling import profile_file, profile_selection
    from overt.io.proposing import table_of_profile
    from overt.io.recipe import read_recipe

    if recipe is not None:
        asked = read_recipe(recipe)
        source = source_of(data, table=table, query=query) if table or query else asked.source_at(data)
        return read_table(asked, source, on_progress), f"as {recipe.name} says"
    source = source_of(data, table=table, query=query)
    if known:
        roles = {"quasi_identifiers": known, "sensitive": sensitive or [], "others": (), "missing": "own value"}
        if isinstance(source, Path):
            return read_file(source, on_progress=on_progress, **roles), "as you named them"  # type: ignore[arg-type]
        found, _ = read_selection(source, Intake(**roles), on_progress=on_progress, with_digest=False)  # type: ignore[arg-type]
        return found, "as you named them"
    profile = (
        profile_file(source, on_progress=on_progress)
        if isinstance(source, Path)
        else profile_selection(source, reference=data, on_progress=on_progress)
    )
    return table_of_profile(profile), "guessed; name them with --known to be sure"


def say_summary(table: "Table", whence: str, measured: "Risk", uniques: "Uniques") -> None:
    """What a person wants to know."""
    from overt.report.sentences import one_in, percent

    found = measured.identification
    rows = [
        ("Known", f"{', '.join(c.name for c in table.quasi_identifiers)} ({whence})"),
        ("Unique", f"{found.n_unique:,} of {found.n_rows:,} rows ({percent(found.n_unique / found.n_rows)})"),
        ("Found by", f"someone who knows that a person is in the file: {one_in(float(found.prosecutor))} at worst"),
    ]
    if found.journalist is not None:
        rows.append(("", f"someone who does not know that: {one_in(found.journalist)} at worst (estimated)"))
    rows.append(("", f"someone who matches everybody: right for {percent(float(found.marketer))} of rows"))
    rows += [
        ("Learnt", f"{d.column}: {percent(d.n_certain / found.n_rows)} of rows are in groups where all have the same value; "
                   f"the best guess is right for {percent(d.best_guess)}, a blind one for {percent(float(d.blind_guess))}")
        for d in measured.disclosures
    ]  # fmt: skip
    say_rows(rows)
    if uniques.sets:
        say(f"\nThe smallest sets of columns that single rows out (of up to {uniques.max_size} columns):\n")
        say_table((f"{one.n_rows:,} rows", " + ".join(one.columns)) for one in uniques.sets[:MOST_SETS])
        left = len(uniques.sets) - MOST_SETS
        if left > 0:
            say(f"  and {left} more")
