# SPDX-License-Identifier: Apache-2.0
"""Scenes: a folder with data, recipes and an earlier output, and a command that would replace it.

The people are canaries: a name or a value that stands in a message is found at once.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.fault_matrix.folders import visible
from bench.fault_matrix.processes import in_fork, start_forked

PERSON, VALUE = "Kanarienvogel", "Goldammer"
_N = 240
_CSV = 'path = "release.csv"'
_PARTS = ("--engine", "out-of-core")
_HEAD = """
version = 1
[input]
{input}
[columns.name]
role = "identifier"
[columns.age]
role = "quasi-identifier"
hierarchy = {{ widths = [10, 40] }}
[columns.sex]
role = "quasi-identifier"
{sex}
[columns.diagnosis]
role = "sensitive"
{ill}
"""
_L = '[[goal]]\nproperty = "l-diversity"\nl = 2\n'
_K = '[[goal]]\nproperty = "k-anonymity"\nk = {k}\n'
_PUBLIC = {"ill": "hierarchy = { prefixes = [9] }", "sex": 'hierarchy = { nested = { any = ["f", "m"] } }'}


@dataclass(frozen=True)
class Scene:
    """A command, the recipe that made what lies there already, and what both need."""

    name: str
    words: Sequence[str]  # what is tried; it may replace what is there
    old: Sequence[str] = ()  # what made what lies there; nothing: nothing does
    recipes: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    is_database: bool = False  # tables may be there without a manifest, for a moment


def recipe(
    method: str,
    output: str,
    *,
    goal: str = _L,
    k: int = 0,
    data: str = 'path = "people.csv"',
    sex: str = 'hierarchy = { file = "sex.csv" }',
    ill: str = "",
    more: str = "",
) -> str:
    """A recipe for the people."""
    goals = goal + (_K.format(k=k) if k else "")
    head = _HEAD.format(input=data, sex=sex, ill=ill)
    return f"{head}{goals}{more}[method]\n{method}\n[output]\n{output}\n"


def _run(
    name: str,
    method: str,
    output: str,
    *more: str,
    report: bool = False,
    k: int = 3,
    old: str = "",
    data: str = 'path = "people.csv"',
) -> Scene:
    """A run that replaces a release that was made for another k."""
    plain = output.replace("\nflat = true", "")
    mondrian = 'name = "mondrian"'
    words = [*(more or ["--no-audit"]), *(["--report"] if report else [])]
    return Scene(
        name,
        ["run", "new.toml", "--overwrite", "--quiet", *words],
        ["run", "old.toml", "--quiet", *words],
        {
            "new.toml": recipe(method, output, k=k, data=data),
            "old.toml": recipe(old or mondrian, plain, k=5, data=data),
        },
    )


def scenes() -> list[Scene]:
    """Every command that writes, in every format and form."""
    blind = 'name = "blind-buckets"'
    dp = 'name = "dp-cube"\nepsilon = 1\ndelta = 1e-3\ns = 0.5'
    private = {"goal": "", **_PUBLIC}
    first = _run("run, nothing there yet", blind, _CSV, report=True, old=blind)
    sqlite = _run("run, SQLite", blind, 'database = "release.db"\ntable = "release"', old=blind)
    runs = [
        _run("run, CSV in two tables, with reports", blind, _CSV, report=True, old=blind),
        Scene(first.name, [word for word in first.words if word != "--overwrite"], (), first.recipes),
        _run("run, Parquet", 'name = "mondrian"', 'path = "release.parquet"'),
        _run("run, JSON Lines packed", 'name = "anatomy"', 'path = "release.jsonl.gz"', k=0),
        _run("run, Arrow, flat", 'name = "cross-bucket"', 'path = "release.arrow"\nflat = true', k=2),
        _run("run, one table, shuffled", f'{blind}\nform = "shuffled"', 'path = "release.tsv"'),
        _run("run, whole columns, from Parquet", 'name = "full-domain"\nmax_suppressed = 0.2', 'path = "release.csv.gz"', data='path = "people.parquet"'),
        _run("run in parts, CSV", f'{blind}\ncuts = "strict"', 'path = "release"\nformat = "csv"', *_PARTS),
        _run("run in parts, Parquet", 'name = "mondrian"', 'path = "release"\nformat = "parquet"', *_PARTS),
        replace(sqlite, is_database=True),
    ]  # fmt: skip
    private_new = recipe(dp, _CSV, **private)
    private_old = recipe(dp.replace("epsilon = 1", "epsilon = 2"), _CSV, **private)
    people = {"new.toml": recipe(blind, _CSV, k=3), "old.toml": recipe('name = "anatomy"', _CSV)}
    piloted = recipe(blind, _CSV, k=3, more="[pilot]\npeople = 40\n")
    return [
        *runs,
        Scene(
            "run, differentially private, with its ledger",
            ["run", "new.toml", "--overwrite", "--quiet", "--report"],
            ["run", "old.toml", "--quiet", "--report"],
            {"new.toml": private_new, "old.toml": private_old},
        ),
        Scene("budget", ["budget", "people.csv", "--epsilon", "70", "--delta", "0.5", "--quiet"]),
        Scene(
            "init, with a pilot",
            ["init", "people.csv", "--into", "first.toml", "--overwrite", "--quiet"],
            ["init", "people.parquet", "--into", "first.toml", "--quiet"],
        ),
        Scene(
            "compare, a page and a pilot",
            ["compare", "new.toml", "old.toml", "--page", "page.html", "--seconds", "0", "--overwrite", "--quiet"],
            ["compare", "old.toml", "--page", "page.html", "--seconds", "0", "--quiet"],
            {"new.toml": piloted, "old.toml": people["old.toml"]},
        ),
        Scene(
            "audit, a page and rows",
            ["audit", "new.toml", "--seconds", "1", "--page", "page.html", "--rows", "rows.csv", "--overwrite", "--quiet"],
            ["audit", "old.toml", "--seconds", "1", "--page", "page.html", "--rows", "rows.csv", "--quiet"],
            people,
        ),
        Scene("check", ["check", "people.csv", "release.csv", "--quiet"], ["run", "old.toml", "--quiet"], people),
        Scene("risk", ["risk", "people.csv", "--known", "age", "--sensitive", "diagnosis", "--quiet"]),
        Scene("demo", ["demo", "--into", "tour", "--rows", "300", "--quiet"]),
    ]  # fmt: skip


class Stage:
    """Where scenes are set: a pristine copy of each, and fresh ones for every fault."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.inputs = folder / "inputs"
        self.inputs.mkdir(parents=True)
        in_fork(write_people, self.inputs, folder / "scratch")
        self._number = 0

    def prepare(self, scene: Scene) -> "Prepared":
        """Make the earlier output of a scene, and try its command once without a fault."""
        self._number += 1
        pristine = self.folder / f"pristine-{self._number}"
        shutil.copytree(self.inputs, pristine)
        for name, text in scene.recipes.items():
            (pristine / name).write_text(text, "utf-8")
        scratch = self.folder / "scratch"
        if scene.old:
            ended = start_forked(scene.old, pristine, scratch, environment=scene.environment).wait()
            if ended.code:
                raise RuntimeError(f"{scene.name}: what lies there already cannot be made. {ended.complained}")
        old = visible(pristine)
        prepared = Prepared(scene, pristine, old, old, 0, 0.0)
        folder = self.fresh(prepared)
        ended = start_forked(scene.words, folder, self.scratch(), environment=scene.environment).wait()
        if ended.code:
            raise RuntimeError(f"{scene.name}: the command fails by itself. {ended.complained}")
        new = visible(folder)
        self.strike()
        return Prepared(scene, pristine, old, new, ended.n_changes, ended.seconds)

    def fresh(self, prepared: "Prepared") -> Path:
        """A copy of a scene for one fault."""
        self._number += 1
        folder = self.folder / "now" / str(self._number)
        shutil.copytree(prepared.pristine, folder)
        return folder

    def scratch(self) -> Path:
        """A folder beside it for temporary files and what is printed."""
        return self.folder / "now" / f"{self._number}-scratch"

    def strike(self) -> None:
        """Remove the scene that was set last."""
        shutil.rmtree(self.folder / "now", ignore_errors=True)


@dataclass(frozen=True)
class Prepared:
    """A scene with what lies there before and after."""

    scene: Scene
    pristine: Path
    old: Mapping[str, bytes]
    new: Mapping[str, bytes]
    n_changes: int
    seconds: float


def write_people() -> None:
    """People, in several formats, a hierarchy, and a budget."""
    import sqlite3

    import numpy as np
    import polars as pl

    import overt

    draw = np.random.default_rng(5)
    people = pl.DataFrame(
        {
            "name": [f"{PERSON}-{i}" for i in range(_N)],
            "age": draw.integers(20, 60, _N),
            "sex": draw.choice(["f", "m"], _N),
            "diagnosis": [f"{VALUE}-{i}" for i in draw.choice(4, _N, p=[0.3, 0.3, 0.3, 0.1])],
        }
    )
    people.write_csv("people.csv")
    people.write_parquet("people.parquet")
    people.write_ndjson("people.jsonl")
    people.write_ipc("people.arrow")
    connection = sqlite3.connect("people.db")
    connection.execute("CREATE TABLE people (name, age, sex, diagnosis)")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", people.rows())
    connection.commit()
    connection.close()
    Path("sex.csv").write_text("f;any\nm;any\n", "utf-8")
    overt.budget("people.csv", epsilon=60, delta=0.4)
