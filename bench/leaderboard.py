# SPDX-License-Identifier: Apache-2.0
"""Releases by several methods and tools with the same goal, and what three adversaries find: the figures of docs/research/leaderboard.md.

`python -m bench leaderboard` prints the tables. anjana and anonypy run in an environment of their own, see `peer_releases`; the
releases of ARX are beside the data. `--quick` samples for 10 seconds instead of 150.
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
from bench.measure import Sheet
from overt.adversary.downcoding.findings import Downcoding
from overt.adversary.learner.findings import Learned
from overt.adversary.learner.learner import learn
from overt.adversary.other_tools.published_cells import downcode_other
from overt.adversary.other_tools.searches import (
    FirstOnPath,
    LeastCost,
    MedianCuts,
    ToolSearch,
    audit_other,
    learn_other,
)
from overt.adversary.posterior import shares
from overt.adversary.summary import Audit
from overt.errors import OvertError
from overt.io.files import read_release
from overt.method import Method
from overt.partition import Partition
from overt.release import GeneralizedRelease
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
    "Overt, `mondrian` for 1/5": overt.Mondrian(goal=overt.KAnonymity(K) & overt.FrequencyLDiversity(L)),
}
ARX = {
    "ARX, nothing suppressed": ("arx_distinct5_dm", LeastCost(goal=GOAL)),
    "ARX, up to 5 % suppressed": ("arx_distinct5_supp5_dm", LeastCost(goal=GOAL, max_suppressed="1/20")),
    "ARX, local recoding": ("arx_local_distinct5_loss", LeastCost(goal=GOAL, optimise="loss")),
}
HEADER = (
    "release",
    "groups",
    "release alone: guessed, highest",
    "replay: people above, not known, certain",
    "highest belief",
    "spread of log Z",
    "rows in classes below 5",
    "learner, not in the release",
    "learner",
    "learner who replays the matching",
)


@dataclass
class Line:
    """What was found of one release; nothing where it does not apply."""

    groups: int
    plain: float  # guessed right with the release alone
    highest: float
    audit: Audit | str
    downcoding: Downcoding | str
    learned: Learned | str

    def cells(self, name: str) -> tuple[str, ...]:
        """As the page shows them."""
        return (name, f"{self.groups:,}", f"{self.plain:.1%}, {self.highest:.2f}", *self._replay(), *self._rest())

    def _replay(self) -> tuple[str, str, str]:
        found = self.audit
        if isinstance(found, str):
            return found, "", ""
        if found.replayed.is_exact:
            people = f"{found.share_above():.1%}, exact, {found.n_certain:,}"
            return people, f"{found.worst.belief:.3f}", ""
        sampled = found.replayed.sampled.to_dict(found.replayed)
        spread = sampled["spread"]["99_percent"]
        people = f"{found.share_above():.1%}, {found.n_unknown / found.n_rows:.1%}, {found.n_certain:,}"
        if found.n_unknown == found.n_rows:
            return "not known yet", "not known yet", f"not finite ({sampled['seconds']:.0f} s)"
        highest = f"{found.worst.belief:.3f} ± {found.worst.error:.3f}"
        return people, highest, "not finite" if spread is None else f"{spread:.2f} ({sampled['seconds']:.0f} s)"

    def _rest(self) -> tuple[str, str, str, str]:
        down = self.downcoding
        below = down if isinstance(down, str) else "published" if down.shows_exactly else f"{down.share_below:.1%}"
        one = self.learned
        if isinstance(one, str):
            return below, "", one, ""
        return below, str(one.outside), str(one.inside), "" if one.replaying is None else f"at least {one.best}"


def run(*, quick: bool = False) -> None:
    """Both data sets; a tool that is not at hand is left out, and said so."""
    sheet = Sheet("Leaderboard: distinct 5-diversity and k = 5, what each claims and what is found")
    if not adult.is_there():
        print("Adult is not beside the project; there is nothing to measure.")
        return
    seconds = 10.0 if quick else 150.0
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
    from bench.measure import Line as Figure

    found = line.audit
    if isinstance(found, Audit):
        sheet.lines.append(Figure(f"{name}: people above the release alone or the promise", found.share_above(), ""))
        sheet.lines.append(Figure(f"{name}: people not known", found.n_unknown, ""))
    if isinstance(line.downcoding, Downcoding):
        sheet.lines.append(Figure(f"{name}: rows in classes below k", line.downcoding.share_below, ""))
    if isinstance(line.learned, Learned):
        sheet.lines.append(Figure(f"{name}: learner", line.learned.inside.value, "", note=str(line.learned.inside)))


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
    alone = audit.alone.belief_of_row
    return Line(
        release.n_groups,
        float(alone.mean()),
        float(alone.max()),
        audit,
        overt.downcode(release, k=K),
        overt.learn(release, rng=np.random.default_rng(3)),
    )


def of_arx(table: Table, name: str, search: ToolSearch, seconds: float) -> Line:
    """A file of ARX. If it cannot be replayed, a learner is told who is in which class."""
    shown = read_release(adult.FOLDER / "releases" / f"{name}.csv.gz")
    return of_file(table, shown, search, seconds)


def of_file(table: Table, shown: pl.DataFrame, search: ToolSearch, seconds: float) -> Line:
    """A published table."""
    names = [column.name for column in table.quasi_identifiers]
    down = downcode_other(table, shown, search, k=K)
    try:
        audit: Audit | str = audit_other(table, shown, search, rng=np.random.default_rng(2), seconds=seconds)
        learned: Learned = learn_other(table, shown, search, rng=np.random.default_rng(3))
    except OvertError:
        if "id" not in shown.columns:
            raise
        audit = "cannot be replayed"
        classes = (
            shown.sort(pl.col("id").cast(pl.String).cast(pl.Int64))
            .select(pl.struct(names).rank("dense") - 1)
            .to_series()
        )
        partition = Partition(classes.to_numpy().astype(np.int32), int(classes.max()) + 1)
        release = GeneralizedRelease(table, partition, made_by=None)
        learned = learn(release, rng=np.random.default_rng(3), goal=search.goal, method=search.name)
        alone = shares(partition, table.sensitive[0]).belief_of_row
        return Line(partition.n_groups, float(alone.mean()), float(alone.max()), audit, down, learned)
    alone = audit.alone.belief_of_row
    return Line(audit.n_groups, float(alone.mean()), float(alone.max()), audit, down, learned)


def of_peer(table: Table, tool: str, search: ToolSearch, seconds: float, *, is_adult: bool) -> Line:
    """A release that the tool makes here."""
    shown = made_by_peer(table, tool, is_adult=is_adult)
    if tool == "anjana":
        return of_file(table, shown, search, seconds)
    found = search.reconstruct(table, None, None, lambda *_: None)
    names = [column.name for column in table.quasi_identifiers]
    sizes = shown.group_by(names).agg(pl.col("count").sum()).get_column("count").sort().to_list()
    if sizes != sorted(found.partition.sizes.tolist()):
        print(
            f"(anonypy published {len(sizes):,} groups, the replay finds {found.partition.n_groups:,}; figures are of the replay)"
        )
    audit = audit_other(table, None, search, rng=np.random.default_rng(2), seconds=seconds)
    alone = audit.alone.belief_of_row
    down = downcode_other(table, None, search, k=K)
    learned = learn_other(table, None, search, rng=np.random.default_rng(3))
    return Line(audit.n_groups, float(alone.mean()), float(alone.max()), audit, down, learned)


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
