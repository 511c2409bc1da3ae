# SPDX-License-Identifier: Apache-2.0
"""`overt demo`: a census of made-up people, a release and its check, and what Mondrian costs and gives away for the same goal."""

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts.types import PositiveInt

from overt.cli.console import Exit, Switch, say, say_json, say_rows, say_table
from overt.errors import InvalidInput

if TYPE_CHECKING:
    from overt.engine.compare import Comparison

FIRST_LINE = "# A recipe for `overt run`, written by `overt demo`. Change it and run it again."
RECIPE = f"""{FIRST_LINE}
version = 1

[input]
path = "census.csv"

# What others may know about a person: released as coarser values.
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

# What nobody should learn about a person.
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
property = "l-diversity"  # no occupation and no income has more than 1/5 of a bucket
l = 5

[method]
name = "blind-buckets"  # replaying it adds nothing, whatever somebody believed before
stratify = {{ halvings = HALVINGS }}  # parts of people who are alike; fixed before anybody's values were looked at

[output]
path = "release.csv"
"""
HOSPITAL = """\
# A small table for `overt audit` and `overt compare`: somebody who replays Mondrian learns some diseases for certain.
version = 1

[input]
path = "hospital.csv"

[columns]
Name = { role = "identifier" }
"Birth date" = { role = "quasi-identifier" }
Postcode = { role = "quasi-identifier", kind = "category", hierarchy = { prefixes = [4, 3, 2] } }
Sex = { role = "quasi-identifier" }
Disease = { role = "sensitive" }

[[goal]]
property = "k-anonymity"
k = 2

[[goal]]
property = "l-diversity"  # nobody's disease is known with a probability above 1/2
l = 2

[method]
name = "METHOD"

[output]
path = "METHOD.csv"
"""
METHODS = ("mondrian", "blind-buckets")
ROWS_OF_STRATUM = 1_000  # halvings stop where strata would have fewer
AUDIT_SECONDS = 20.0  # at most: the audit is exact and takes one


def demo(
    *,
    into: Path = Path("demo-output"),
    rows: PositiveInt = 30_000,
    json: Switch = False,
    quiet: Switch = False,
) -> int:
    """Make and check a release of made-up people, and compare it with what Mondrian makes for the same goal.

    Parameters
    ----------
    into
        The folder to write to; it is made if it is not there.
    rows
        How many people to make up.
    json
        Print one JSON document instead of the summary.
    quiet
        Print nothing unless something goes wrong.

    """
    import overt
    from overt.cli.progress import progress

    refuse_foreign(into)
    with progress(quiet=quiet) as on_progress:
        on_progress(f"Making up {rows:,} people", 0, 0)
        write_sample(into, rows)
        outcome = overt.run(into / "recipe.toml", overwrite=True, report=True, on_progress=on_progress)
        checked = overt.check(into / "census.csv", into / "release.csv", on_progress=on_progress)
        costs = overt.compare([into / "mondrian.toml", into / "recipe.toml"], seconds=0, on_progress=on_progress)
        replays = overt.compare(
            [into / f"hospital-{method}.toml" for method in METHODS], seconds=AUDIT_SECONDS, on_progress=on_progress
        )
    if json:
        said = {"run": outcome.to_dict(), "check": checked.content()}
        compared = {"costs": costs.content()["results"], "replays": replays.content()["results"]}
        say_json({"folder": str(into), **said, **compared}, None)
    elif not quiet:
        say(f"Of {rows:,} made-up people in {into / 'census.csv'}, the first three:\n")
        say_table(islice(lines_of(into / "census.csv"), 4))
        people, values = into / "release.csv", into / "release.sensitive.csv"
        say(f"\nOf {people}, the first of a bucket. Each is one of at least 5 with the same cells, in many buckets:\n")
        say_table(islice(lines_of(people), 5))
        say(f"\nOf {values}, values of this bucket. Which of its people has which was drawn at random:\n")
        say_table(islice(lines_of(values), 5))
        say("\nThe same goals by both methods, and what each loses:\n")
        say_table(table_of_costs(costs))
        say(f"\nReplaying them, on {into / 'hospital.csv'} with 96 patients. No disease may have more than 1 in 2:\n")
        say_table(table_of_replays(replays))
        say()
        say_rows(row for row in outcome.rows() if row[0] not in ("Again", "Caution"))
        findings = checked.verdict.findings
        n_ok = sum(finding.ok for finding in findings)
        say_rows(
            [
                ("Checked", f"{n_ok} of {len(findings)} findings are as claimed, read back from the files"),
                ("Report", f"open {outcome.report_paths[0]} in a browser"),
                ("Next", f"change {into / 'recipe.toml'}, then: overt run {into / 'recipe.toml'} --overwrite"),
            ]
        )
    return Exit.DONE if checked.ok else Exit.CHECK_FAILED


def table_of_costs(costs: "Comparison") -> list[list[str]]:
    """What both methods lose for the same goal."""
    from overt.report.sentences import percent

    rows = [["method", "of quasi-identifiers", "of how two columns go together", "replaying adds"]]
    for one in costs.candidates:
        adds = "nothing, for any belief" if one.guarantee.strength == "strong" else "something"
        rows.append(
            [one.method, percent(one.utility.certainty_penalty), f"{one.utility.pair_divergence:.3f} bit", adds]
        )
    return rows + [[failure.name, failure.why, "", ""] for failure in costs.failures]


def table_of_replays(replays: "Comparison") -> list[list[str]]:
    """What somebody learns who replays the methods."""
    rows = [["method", "patients above 1 in 2", "known for certain", "how we know"]]
    for one in replays.candidates:
        leak = one.leak
        if leak is None or (leak.audit is None and not leak.is_proven):
            rows.append([one.method, "not known", "not known", "the audit had too little time"])
        elif leak.is_proven or leak.audit is None:
            rows.append([one.method, "nobody", "nobody", "proof, for any belief"])
        else:
            said, is_exact = leak.audit.share_said(), leak.audit.replayed.is_exact
            rows.append(
                [
                    one.method,
                    "not known" if said is None else str(round(said * leak.audit.n_rows)),
                    str(leak.audit.n_certain),
                    "every table that fits was weighed" if is_exact else "at least; sampled",
                ]
            )
    return rows


def refuse_foreign(folder: Path) -> None:
    """Write only into a folder that is new, empty, or an earlier demo's: nobody's own files are replaced."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; give --into a folder.")
    recipe = folder / "recipe.toml"
    is_ours = recipe.is_file() and recipe.read_text(encoding="utf-8", errors="replace").startswith(FIRST_LINE)
    if any(folder.iterdir()) and not is_ours:
        raise InvalidInput(f"{folder} contains files that no demo wrote; give --into a new folder.")


def write_sample(folder: Path, n_rows: int) -> None:
    """Write a census, the hierarchies of two of its columns, a small hospital, and recipes for both methods."""
    from overt.io.files import write_tables
    from overt.samples import census, census_hierarchies, hospital
    from overt.table import Kind

    sample = census(n_rows)
    builders = census_hierarchies()
    folder.mkdir(parents=True, exist_ok=True)
    halvings = max(0, min(4, (n_rows // ROWS_OF_STRATUM).bit_length() - 1))
    recipe = RECIPE.replace("HALVINGS", str(halvings))
    method, output = recipe.index("[method]"), recipe.index("[output]")
    mondrian = recipe[:method] + '[method]\nname = "mondrian"\n\n' + recipe[output:].replace("release", "mondrian")
    texts = {"recipe.toml": recipe, "mondrian.toml": mondrian.replace(FIRST_LINE, "# The same goals, for comparison.")}
    texts |= {f"hospital-{name}.toml": HOSPITAL.replace("METHOD", name) for name in METHODS}
    for column in ("Education", "Birthplace"):
        values = sample.get_column(column).cast(str).unique().sort()
        chains = builders[column].build(values, Kind.CATEGORY).to_frame()
        texts[f"{column.lower()}.csv"] = chains.write_csv(include_header=False, separator=";")
    companions = {folder / name: text.encode() for name, text in texts.items()}
    tables = {folder / "census.csv": sample, folder / "hospital.csv": hospital()}
    write_tables(tables, overwrite=True, companions=lambda digests: companions)


def lines_of(path: Path) -> Iterator[list[str]]:
    """The header and the lines of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.reader(file)
