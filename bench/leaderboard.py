# SPDX-License-Identifier: Apache-2.0
"""Releases by several methods and tools with the same goal, and what three adversaries find: the figures of docs/research/leaderboard.md.

`python -m bench leaderboard` prints the tables. anjana and anonypy run in an environment of their own, see `peer_releases`; the
releases of ARX are beside the data. Each line is printed as soon as it is known; the page has the spreads of log Z below its table, and rounds. Replays of
anonypy are of its cuts made again, if they give as many groups of the same sizes as it published; replays have 60 seconds each, with
`--quick` 10.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

import overt
from bench import adult
from bench.measure import Line as Figure
from bench.measure import Sheet
from overt.adversary.downcoding.findings import Downcoding
from overt.adversary.learner.findings import Learned
from overt.adversary.other_tools.published_cells import downcode_other
from overt.adversary.other_tools.searches import (
    FirstOnPath,
    LeastCost,
    MedianCuts,
    ToolSearch,
    audit_other,
    learn_other,
)
from overt.adversary.summary import Audit
from overt.errors import OvertError
from overt.io.files import read_release
from overt.method import Method
from overt.table import Table

CENSUS = adult.FOLDER.parent / "census-income"
EIGHT = ["age", "sex", "race", "marital-status", "education", "class-of-worker", "citizenship", "birth-country"]
K, L = 5, 5
GOAL = overt.DistinctLDiversity(L)
BOTH = overt.KAnonymity(K) & GOAL
METHODS: dict[str, Method] = {
    "Overt, `blind-buckets`": overt.BlindBuckets(goal=GOAL, k=K, rows_per_bucket=12),
    "Overt, `anatomy`": overt.Anatomy(goal=overt.FrequencyLDiversity(L)),
    "Overt, `batch-matching`": overt.BatchMatching(goal=overt.FrequencyLDiversity(L)),
    "Overt, `full-domain`": overt.FullDomain(goal=BOTH),
    "Overt, `mondrian`": overt.Mondrian(goal=BOTH),
}
ARX = {
    "ARX, nothing suppressed": ("arx_distinct5_dm", LeastCost(goal=GOAL)),
    "ARX, up to 5 % suppressed": ("arx_distinct5_supp5_dm", LeastCost(goal=GOAL, max_suppressed="1/20")),
    "ARX, local recoding": ("arx_local_distinct5_loss", LeastCost(goal=GOAL, optimise="loss")),
}
SECONDS = 60.0
HEADER = (
    "release",
    "groups",
    "guessed right from the release alone; highest belief",
    "replay: people above that; not known",
    "highest belief after replay",
    "spread of log Z",
    f"rows in classes below {K} after downcoding",
    "learner, person not in the release",
    "learner",
)


@dataclass
class Line:
    """What was found of one release; nothing where it does not apply."""

    audit: Audit
    downcoding: Downcoding
    learned: Learned

    def cells(self, name: str) -> tuple[str, ...]:
        """As the page shows them."""
        found, alone = self.audit, self.audit.alone.belief_of_row
        plain = f"{alone.mean():.1%}; {alone.max():.2f}"
        return (name, f"{found.n_groups:,}", plain, *self._replay(), self._below, *self._guessed)

    def _replay(self) -> tuple[str, str, str]:
        found = self.audit
        replayed, sampled = found.replayed, found.replayed.sampled
        if replayed.how == "shares":
            return "none, by proof", f"{found.worst.belief:.3f}", ""
        if sampled is None:
            above = f"{found.share_above():.1%}" if found.share_above() else "none"
            return f"{above}, exact", f"{found.worst.belief:.3f}", ""
        if found.n_unknown == found.n_rows:
            return ("cannot be replayed from the file" if sampled.why else "not known yet"), "", ""
        said = found.share_said()
        above = f"at least {said:.1%}" if said else "none" if said == 0 else "none seen"
        if said is None and found.is_above().any():
            above = "not known yet"
        spread = sampled.to_dict(replayed)["spread"]["99_percent"]
        return (
            f"{above}; {found.n_unknown / found.n_rows:.1%}",
            f"{found.worst.belief:.3f} ± {found.worst.error:.3f}",
            "not finite" if spread is None else f"{spread:.2f} ({sampled.seconds:.0f} s)",
        )

    @property
    def _below(self) -> str:
        found = self.downcoding
        return "published exactly" if found.shows_exactly else f"{found.share_below:.1%}"

    @property
    def _guessed(self) -> tuple[str, str]:
        found = self.learned
        replays = "" if found.replaying is None else f"; who also replays the matching: at least {found.best} %"
        return f"{found.outside} %", f"{found.inside} %{replays}"


def run(*, quick: bool = False) -> None:
    """Both data sets; a tool that is not at hand is left out, and said so."""
    sheet = Sheet("Leaderboard: distinct 5-diversity and k = 5, what each claims and what is found")
    if not adult.is_there():
        print("Adult is not beside the project; there is nothing to measure.")
        return
    seconds = SECONDS / 6 if quick else SECONDS
    table = adult.read(quasi_identifiers=adult.SEVEN, sensitive=["occupation"])
    show(sheet, "Adult, occupation", table, seconds, ARX)
    if (CENSUS / "census-income.csv.gz").exists():
        show(sheet, "Census, occupation of people at work", census(), seconds, {})
    sheet.save()


def census() -> Table:
    """The people of the census who have an occupation."""
    frame = pl.read_csv(CENSUS / "census-income.csv.gz", separator=";", infer_schema_length=None)
    frame = frame.filter(pl.col("occupation") != "Not in universe").select(*EIGHT, "occupation")
    hierarchies = {name: overt.Levels.read(CENSUS / f"census-income_hierarchy_{name}.csv") for name in EIGHT}
    return overt.read_frame(frame, quasi_identifiers=EIGHT, sensitive=["occupation"], hierarchies=hierarchies)


def show(sheet: Sheet, name: str, table: Table, seconds: float, arx: dict[str, tuple[str, ToolSearch]]) -> None:
    """Every release of a table, one after the other."""
    print(f"\n{name}, {table.n_rows:,} people\n\n| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}", flush=True)
    lines: Iterator[tuple[str, Callable[[], Line]]] = every(table, seconds, arx, is_adult=bool(arx))
    for title, look in lines:
        try:
            line = look()
        except OvertError as error:
            print(f"| {title} | {error} |", flush=True)
            continue
        print(f"| {' | '.join(line.cells(title))} |", flush=True)
        keep(sheet, f"{name}, {title}", line)


def keep(sheet: Sheet, name: str, line: Line) -> None:
    """The figures for the record, quietly."""
    found, learned = line.audit, line.learned
    for what, value, note in (
        ("people above the release alone or the promise", found.share_above(), ""),
        ("people not known", found.n_unknown, ""),
        ("rows in classes below k", line.downcoding.share_below, ""),
        ("learner", learned.inside.value, str(learned.inside)),
        ("learner, person not in the release", learned.outside.value, str(learned.outside)),
    ):
        sheet.lines.append(Figure(f"{name}: {what}", value, "", note=note))


def every(
    table: Table, seconds: float, arx: dict[str, tuple[str, ToolSearch]], *, is_adult: bool
) -> Iterator[tuple[str, Callable[[], Line]]]:
    """(name, what looks at it)."""
    for name, method in METHODS.items():
        yield name, lambda method=method: ours(table, method, seconds)
    for name, (file, search) in arx.items():
        yield name, lambda file=file, search=search: of_arx(table, file, search, seconds)
    for tool, search in (("anjana", FirstOnPath(goal=BOTH)), ("anonypy", MedianCuts(goal=BOTH))):
        yield tool, lambda tool=tool, search=search: of_peer(table, tool, search, seconds, is_adult=is_adult)


def ours(table: Table, method: Method, seconds: float) -> Line:
    """A release of Overt."""
    release = method.anonymize(table, rng=np.random.default_rng(1))
    audit = overt.audit_release(release, rng=np.random.default_rng(2), seconds=seconds)
    return Line(audit, overt.downcode(release, k=K), overt.learn(release, rng=np.random.default_rng(3)))


def of_arx(table: Table, name: str, search: ToolSearch, seconds: float) -> Line:
    """A file of ARX."""
    return of_file(table, read_release(adult.FOLDER / "releases" / f"{name}.csv.gz"), search, seconds)


def of_file(table: Table, shown: pl.DataFrame | None, search: ToolSearch, seconds: float) -> Line:
    """A published table, or what a search gives that is made again."""
    audit = audit_other(table, shown, search, rng=np.random.default_rng(2), seconds=seconds)
    learned = learn_other(table, shown, search, rng=np.random.default_rng(3))
    return Line(audit, downcode_other(table, shown, search, k=K), learned)


def of_peer(table: Table, tool: str, search: ToolSearch, seconds: float, *, is_adult: bool) -> Line:
    """A release that the tool makes here."""
    shown = made_by_peer(table, tool, is_adult=is_adult)
    if tool == "anjana":
        return of_file(table, shown, search, seconds)
    found = search.reconstruct(table, None, None, lambda *_: None)
    names = [column.name for column in table.quasi_identifiers]
    sizes = shown.group_by(names).agg(pl.col("count").sum()).get_column("count").sort().to_list()
    if sizes != sorted(found.partition.sizes.tolist()):
        raise overt.InvalidInput(
            f"anonypy published {len(sizes):,} groups, and its cuts made again give {found.partition.n_groups:,} or others: no figures."
        )
    return of_file(table, None, search, seconds)


def made_by_peer(table: Table, tool: str, *, is_adult: bool) -> pl.DataFrame:
    """What it publishes, from its own process."""
    python = os.environ.get("OVERT_PEERS")
    if not python:
        raise overt.InvalidInput(f"{tool} is not at hand; OVERT_PEERS names a Python that has it.")
    folder, stem = (adult.FOLDER, "adult") if is_adult else (CENSUS, "census-income")
    names = [column.name for column in table.quasi_identifiers]
    (sensitive,) = table.sensitive
    with tempfile.TemporaryDirectory() as place:
        given, output = Path(place) / "given.csv", Path(place) / "published.csv"
        columns = [*table.quasi_identifiers, sensitive]
        pl.DataFrame({one.name: one.values.gather(one.codes) for one in columns}).write_csv(given)
        asked = {
            "tool": tool,
            "path": str(given),
            "output": str(output),
            "quasi_identifiers": names,
            "numbers": ["age"],
            "sensitive": sensitive.name,
            "hierarchies": {name: str(folder / f"{stem}_hierarchy_{name}.csv") for name in names},
            "k": K,
            "l": L,
        }
        script = Path(__file__).with_name("peer_releases.py")
        subprocess.run([python, str(script), json.dumps(asked)], check=True, capture_output=True)
        return pl.read_csv(output, infer_schema=False).with_columns(
            pl.col("count").cast(pl.Int64) if tool == "anonypy" else pl.lit(1).alias("count")
        )
