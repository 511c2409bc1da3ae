# SPDX-License-Identifier: Apache-2.0
"""`overt init DATA`: look at a file and write a first recipe for it."""

from pathlib import Path

from overt.cli.console import Exit, Switch, say, say_json, say_rows, say_table


def init(
    data: str,
    /,
    *,
    table: str | None = None,
    query: str | None = None,
    into: Path = Path("recipe.toml"),
    json: Switch = False,
    quiet: Switch = False,
    overwrite: Switch = False,
) -> int:
    """Look at a file, or a table of a database, and write a first recipe for it.

    The roles are guesses from names, kinds and counts, each with its reason: read them before you rely on them.

    Parameters
    ----------
    data
        A file of microdata: CSV, Parquet, Arrow or JSON Lines, also gzip. With --table or --query a database: the name of an
        environment variable that holds its address, or an SQLite file.
    table
        The table to look at, in a database: name or schema.name.
    query
        The query to look at, in a database. It can only read.
    into
        Where to write the recipe.
    json
        Print one JSON document instead of the summary.
    quiet
        Say nothing unless something goes wrong.
    overwrite
        Replace a recipe that is already there.

    """
    from overt.cli.progress import progress
    from overt.engine.places import source_of
    from overt.io.atomic import all_or_nothing
    from overt.io.profiling import profile_file, profile_selection
    from overt.io.proposing import propose_recipe, table_of_profile, unique_words
    from overt.io.recipe import parse_recipe
    from overt.metrics.uniques import find_uniques

    with progress(quiet=quiet) as on_progress:
        source = source_of(data, table=table, query=query)
        if isinstance(source, Path):
            profile = profile_file(source, on_progress=on_progress)
        else:
            profile = profile_selection(source, reference=data, on_progress=on_progress)
        on_progress("Looking for unique rows", 0, 0)
        uniques = find_uniques(table_of_profile(profile))
        text = propose_recipe(profile, recipe=into)
        parse_recipe(text, folder=into.parent, name=into.name)  # what is written can be run
        with all_or_nothing(overwrite=overwrite) as stage:
            stage(into).write_text(text, encoding="utf-8")
    if json:
        columns = [
            {"name": c.name, "role": c.role, "reason": c.reason, "kind": c.kind, "values": c.n_distinct, "missing": c.n_missing}
            for c in profile.columns
        ]  # fmt: skip
        say_json({"rows": profile.n_rows, "columns": columns, "uniques": uniques.n_unique, "recipe": str(into)})
    elif not quiet:
        say(
            f"{profile.n_rows:,} rows, {len(profile.columns)} columns in {profile.path.name if profile.origin else data}. Proposed roles:\n"
        )
        say_table((" ".join(c.name.split()), str(c.role), c.reason) for c in profile.columns)
        say()
        repeated = [c.name for c in profile.columns if c.repeats]
        say_rows(
            [
                ("Unique", unique_words(uniques)),
                *(("Caution", f"{name!r} seems to name persons, some in several rows; overt run refuses that") for name in repeated),
                ("Recipe", str(into)),
                ("Next", f"read it, change what is wrong, then: overt run {into} --report"),
            ]
        )  # fmt: skip
    return Exit.DONE
