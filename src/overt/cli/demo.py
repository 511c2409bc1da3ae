# SPDX-License-Identifier: Apache-2.0
"""`overt demo`: a census of made-up people, a recipe to play with, a release, and its check, in one folder."""

import csv
from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path

from cyclopts.types import PositiveInt

from overt.cli.console import Exit, Switch, say, say_json, say_rows, say_table
from overt.cli.run import summary
from overt.errors import InvalidInput

FIRST_LINE = "# A recipe for `overt run`, written by `overt demo`. Change it and run it again."
N_QUASI_IDENTIFIERS = 4
RECIPE = f"""{FIRST_LINE}
version = 1

[input]
path = "census.csv"

# What somebody who looks for a person may know about them: released in coarser values.
[columns.Age]
role = "quasi-identifier"  # a number: shown as a range

[columns.Gender]
role = "quasi-identifier"  # a category without a hierarchy: shown as a set

[columns.Education]
role = "quasi-identifier"
hierarchy = {{ file = "education.csv" }}  # shown as a label of this hierarchy

[columns.Birthplace]
role = "quasi-identifier"
hierarchy = {{ file = "birthplace.csv" }}

# What nobody may learn about a person.
[columns.Occupation]
role = "sensitive"

[columns.Income]
role = "sensitive"

# Columns that are not named here are not released.

# Every goal must hold.
[[goal]]
property = "k-anonymity"  # everybody is one of at least 5 who look alike
k = 5

[[goal]]
property = "l-diversity"  # nobody's occupation or income is known with more than 1/3
l = 3

[method]
name = "mondrian"  # `relaxed = true` makes smaller groups

[output]
path = "release.csv"
"""


def demo(
    *,
    into: Path = Path("demo-output"),
    rows: PositiveInt = 30_000,
    json: Switch = False,
    quiet: Switch = False,
) -> int:
    """Make and check a release of made-up people, and look at it.

    Parameters
    ----------
    into
        The folder to write to; it is made if it is not there.
    rows
        How many people to make up.
    json
        Print one JSON document instead of the summary.
    quiet
        Say nothing unless something goes wrong.

    """
    import numpy as np

    from overt.cli.progress import progress
    from overt.engine import local
    from overt.engine.outcome import findings_of
    from overt.io.recipe import read_recipe

    refuse_foreign(into)
    with progress(quiet=quiet) as on_progress:
        on_progress(f"Making up {rows:,} people", 0, 0)
        write_sample(into, rows)
        outcome = local.run(
            read_recipe(into / "recipe.toml"), rng=np.random.default_rng(), on_progress=on_progress, overwrite=True
        )
        verdict = local.check(into / "census.csv", into / "release.csv", on_progress=on_progress)
    if json:
        say_json({"folder": str(into), "run": outcome.to_dict(), "check": findings_of(verdict)})
    elif not quiet:
        say(f"Of {rows:,} made-up people in {into / 'census.csv'}, the first three:\n")
        say_table(islice(lines_of(into / "census.csv"), 4))
        say(f"\nOf {into / 'release.csv'}, a few who look alike now:\n")
        say_table(some_who_look_alike(into / "release.csv"))
        say()
        say_rows(row for row in summary(outcome, into / "recipe.toml") if row[0] != "Again")
        n_ok = sum(finding.ok for finding in verdict.findings)
        say_rows(
            [
                ("Checked", f"{n_ok} of {len(verdict.findings)} findings are as claimed, read back from the files"),
                ("Next", f"change {into / 'recipe.toml'}, then: overt run {into / 'recipe.toml'} --overwrite"),
            ]
        )
    return Exit.DONE if verdict.ok else Exit.CHECK_FAILED


def refuse_foreign(folder: Path) -> None:
    """Write only into a folder that is new, empty, or an earlier demo's: nobody's own files are replaced."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; give --into a folder.")
    recipe = folder / "recipe.toml"
    is_ours = recipe.is_file() and recipe.read_text(encoding="utf-8", errors="replace").startswith(FIRST_LINE)
    if any(folder.iterdir()) and not is_ours:
        raise InvalidInput(f"{folder} holds files that no demo wrote; give --into a new folder.")


def write_sample(folder: Path, n_rows: int) -> None:
    """Write a census, the hierarchies of two of its columns, and the recipe."""
    from overt.io.files import write_tables
    from overt.samples import census, census_hierarchies
    from overt.table import Kind

    sample = census(n_rows)
    builders = census_hierarchies()
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"recipe.toml": RECIPE}
    for column in ("Education", "Birthplace"):
        values = sample.get_column(column).cast(str).unique().sort()
        chains = builders[column].build(values, Kind.CATEGORY).to_frame()
        texts[f"{column.lower()}.csv"] = chains.write_csv(include_header=False, separator=";")
    companions = {folder / name: text.encode() for name, text in texts.items()}
    write_tables({folder / "census.csv": sample}, overwrite=True, companions=lambda digests: companions)


def lines_of(path: Path) -> Iterator[list[str]]:
    """The header and the lines of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.reader(file)


def some_who_look_alike(path: Path) -> list[list[str]]:
    """The header of the release, and one small group that shows ranges and sets."""
    header, *lines = lines_of(path)
    groups = [list(group) for _, group in groupby(lines, key=lambda line: line[:N_QUASI_IDENTIFIERS])]
    small = [group for group in groups if len(group) <= 8] or [lines[:8]]
    return [header, *max(small, key=lambda group: sum(".." in cell or "{" in cell for cell in group[0]))]
