# SPDX-License-Identifier: Apache-2.0
"""Canaries: people and values that nobody could miss, through every command, good input and bad.

A name stands in nothing that is printed or written. A sensitive value stands in the release, and in what says that it is for the
owner; not in a manifest, a refusal or progress. Whatever is for the owner says so, and only they can read its files.
"""

import gzip
import json
import re
import sqlite3
import stat
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from overt.audience import NOTICE, PRINTED, Audience, audience_of
from overt.cli import app, main
from overt.cli.console import Exit

PERSON, VALUE, SEED = "Kanarienvogel", "Goldammer", "13"
RECIPE = """
version = 1
[input]
path = "people.csv"
[columns.name]
role = "identifier"
{name}
[columns.age]
role = "quasi-identifier"
hierarchy = {{ widths = [10, 40] }}
[columns.sex]
role = "quasi-identifier"
{sex}
[columns.ill]
role = "sensitive"
{ill}
{goal}
[method]
{method}
[output]
path = "release.csv"
{output}
"""
GOAL = '[[goal]]\nproperty = "l-diversity"\nl = 2\n'
K3 = '[[goal]]\nproperty = "k-anonymity"\nk = 3\n'
NESTED = f'hierarchy = {{ nested = {{ most = ["{VALUE}-0", "{VALUE}-1", "{VALUE}-2"], few = ["{VALUE}-3"] }} }}'
PARTS = {"name": "", "sex": "", "ill": "", "goal": GOAL + K3, "method": 'name = "mondrian"', "output": ""}
DP = {
    "goal": "",
    "ill": "hierarchy = { prefixes = [9] }",
    "sex": 'hierarchy = { nested = { any = ["f", "m"] } }',
    "method": 'name = "dp-cube"\nepsilon = 2\ndelta = 1e-2\ns = 0.5',
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_people(tmp_path / "people.csv")
    return tmp_path


def people(n=160):
    draw = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "name": [f"{PERSON}-{i}" for i in range(n)],
            "age": draw.integers(20, 60, n),
            "sex": draw.choice(["f", "m"], n),
            "ill": [f"{VALUE}-{i}" for i in draw.choice(4, n, p=[0.3, 0.3, 0.3, 0.1])],
        }
    )


def write_people(path, n=160):
    people(n).write_csv(path)


def recipe(folder, file="recipe.toml", **parts):
    (folder / file).write_text(RECIPE.format(**{**PARTS, **parts}), "utf-8")


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"}


@pytest.fixture
def overt(folder, capsys, monkeypatch, tmp_path_factory, record_property):
    """Run a command and look at all that it prints, writes and leaves among temporary files; returns the names of what it wrote.

    How many commands and texts were looked at is added up over all tests, and printed after the last.
    """
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    def run(*words, expected=Exit.DONE, is_public=False):
        before = contents(folder)
        capsys.readouterr()
        code = main(list(map(str, words)))
        out, err = capsys.readouterr()
        assert code == expected, (words, code, out, err)
        assert PERSON not in out + err and VALUE not in err, (words, out, err)
        if out and not is_public:
            said = json.loads(out)["audience"] == "owner" if "--json" in words else out.startswith(PRINTED)
            assert said, (words, out)
        elif out:
            assert VALUE not in out, (words, out)
        written = {path: content for path, content in contents(folder).items() if before.get(path) != content}
        for path, content in written.items():
            look_at(path, content)
        assert list(temporary.rglob("*")) == []
        record_property("canaries", (1, bool(out) + bool(err) + len(written)))
        return {path.name for path in written}

    return run


def look_at(path, content):
    """What is written has no name in it; it is the release, or has no value in it, or is for the owner, who alone can read it."""
    content += unpacked(path)
    assert PERSON.encode() not in content, path.name
    head = content[:600].decode("utf-8", "replace") + content[600:6000].decode("utf-8", "replace")
    says = (
        audience_of(path) is Audience.OWNER
        or NOTICE in head
        or '"audience": "owner"' in head
        or "for the owner" in head.lower()
    )
    if says:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name
    elif not is_release(path):
        assert VALUE.encode() not in content, path.name


def unpacked(path):
    """The rows of a file whose bytes are packed, else nothing."""
    match path.suffix:
        case ".parquet":
            return pl.read_parquet(path).write_ndjson().encode()
        case ".arrow":
            return pl.read_ipc(path).write_ndjson().encode()
        case ".gz":
            return gzip.decompress(path.read_bytes())
    return b""


def is_release(path):
    return (
        path.name.startswith("part-")
        or (path.name.startswith("release.") and path.suffix in (".csv", ".db", ".parquet", ".jsonl", ".arrow", ".gz"))
        or ".report." in path.name
        or path.name in ("report.html", "report.json")  # of a release in parts
    )


METHODS = {
    "mondrian": ('name = "mondrian"', GOAL + K3, ""),
    "anatomy": ('name = "anatomy"', GOAL, ""),
    "full-domain": ('name = "full-domain"\nmax_suppressed = 0.2', GOAL + K3, ""),
    "cross-bucket": ('name = "cross-bucket"', GOAL + K3.replace("3", "2"), "flat = true"),
    "blind-buckets": ('name = "blind-buckets"\nk = 3', GOAL, ""),
    "blind-buckets, shuffled": ('name = "blind-buckets"\nk = 3\nform = "shuffled"', GOAL, ""),
}


@pytest.mark.parametrize("how", METHODS)
def test_a_run_and_its_check(folder, overt, how):
    method, goal, output = METHODS[how]
    recipe(folder, method=method, goal=goal, output=output)
    names = overt("run", "recipe.toml", "--report", "--seed", SEED)
    assert {"release.csv.manifest.json", "release.csv.owner.json", "release.owner-report.html"} <= names
    overt("check", "people.csv", "release.csv")
    overt("check", "people.csv", "release.csv", "--json")
    write_people(folder / "other.csv", 150)
    overt("check", "other.csv", "release.csv", expected=Exit.CHECK_FAILED)
    overt("run", "recipe.toml", expected=Exit.DATA)  # it is there already
    overt("run", "recipe.toml", "--json", "--overwrite", "--no-audit")


def test_a_dp_run(folder, overt):
    recipe(folder, **DP)
    overt("run", "recipe.toml", expected=Exit.DATA)  # no budget
    overt("budget", "people.csv", "--epsilon", "9", "--delta", "0.5")
    overt("run", "recipe.toml", "--report", is_public=True)
    overt("check", "people.csv", "release.csv")
    overt("run", "recipe.toml", "--overwrite", "--json", is_public=True)


def test_looking_before_and_after(folder, overt):
    overt("init", "people.csv", "--into", "first.toml")
    overt("risk", "people.csv", "--known", "age", "--sensitive", "ill")
    overt("risk", "people.csv", "--known", "age", "--sensitive", "ill", "--json")
    recipe(folder)
    recipe(folder, "other.toml", method='name = "anatomy"', goal=GOAL)
    overt("compare", "recipe.toml", "other.toml", "--page", "compared.html", "--seconds", "0", "--seed", SEED)
    overt("audit", "recipe.toml", "--seconds", "1", "--page", "audit.html", "--rows", "rows.csv", "--seed", SEED)
    overt("audit", "recipe.toml", "--seconds", "1", "--learner", "--json", "--seed", SEED)
    recipe(folder, "private.toml", **DP)
    overt("distinguish", "private.toml", "--runs", "50", "--tried", "1", "--seed", SEED)


@pytest.mark.parametrize("source", ["people.parquet", "people.jsonl", "people.db"])
@pytest.mark.parametrize(
    "target", ["release.parquet", "release.jsonl", "release.db", "release.arrow", "release.csv.gz"]
)
def test_other_sources_and_targets(folder, overt, source, target):
    if source.endswith(".db"):
        with closing(sqlite3.connect(source)) as connection:
            connection.execute("CREATE TABLE people (name, age, sex, ill)")
            connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", people().rows())
            connection.commit()
    else:
        people().write_parquet(source) if source.endswith("parquet") else people().write_ndjson(source)
    recipe(folder)
    text = (folder / "recipe.toml").read_text("utf-8")
    for said, path, table in (("people.csv", source, "people"), ("release.csv", target, "release")):
        place = f'database = "{path}"\ntable = "{table}"' if path.endswith(".db") else f'path = "{path}"'
        text = text.replace(f'path = "{said}"', place)
    (folder / "recipe.toml").write_text(text, "utf-8")
    table = ("--table", "people") if source.endswith(".db") else ()
    overt("init", source, *table, "--into", "first.toml")
    overt("risk", source, *table, "--known", "age", "--sensitive", "ill")
    overt("run", "recipe.toml", "--report", "--no-audit", "--seed", SEED)
    overt("check", source, "release.manifest.json" if target.endswith(".db") else target)


def test_a_release_in_parts(folder, overt):
    recipe(folder, goal=K3)
    text = (folder / "recipe.toml").read_text("utf-8").replace('"release.csv"', '"release"\nformat = "csv"')
    (folder / "recipe.toml").write_text(text, "utf-8")
    names = overt("run", "recipe.toml", "--engine", "out-of-core", "--report")
    assert {"release.owner.json", "manifest.json"} <= names and any(name.startswith("part-") for name in names)
    overt("check", "people.csv", "release")
    overt("check", "people.csv", "release", "--json")
    write_people(folder / "people.csv", 150)
    overt("check", "people.csv", "release", expected=Exit.CHECK_FAILED)
    overt("run", "recipe.toml", "--engine", "out-of-core", expected=Exit.DATA)  # it is there already
    overt("run", "recipe.toml", "--engine", "out-of-core", "--overwrite", "--json")


@pytest.mark.parametrize("rows", ["linked", "pooled"])
def test_persons_with_several_rows(folder, overt, rows):
    visits = pl.concat([people(), people()[::2]])
    visits.write_csv("people.csv")
    recipe(folder, method='name = "blind-buckets"\nk = 3', goal=GOAL, output=f'rows = "{rows}"')
    text = (folder / "recipe.toml").read_text("utf-8")
    (folder / "recipe.toml").write_text(
        text.replace('path = "people.csv"', 'path = "people.csv"\nperson = "name"', 1), "utf-8"
    )
    assert {"release.csv", "release.csv.owner.json"} <= overt("run", "recipe.toml", "--report", "--seed", SEED)
    overt("check", "people.csv", "release.csv")
    overt("risk", "people.csv", "--known", "age", "--sensitive", "ill")
    visits[1:].write_csv("people.csv")
    overt("check", "people.csv", "release.csv", expected=Exit.CHECK_FAILED)


WITHOUT_DATA = {
    "demo": "people who are made up",
    "disclose": "a small case that somebody wrote",
    "explain": "no data",
    "schema": "no data",
    "studio": "its pages and files are looked at in tests/studio",
}


def test_what_is_packed_is_unpacked_before_it_is_searched(tmp_path):
    frame = pl.DataFrame({"name": [f"{PERSON}-1"] * 3})
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ipc(tmp_path / "a.arrow", compression="zstd")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(frame.write_csv().encode()))
    for path in tmp_path.iterdir():
        with pytest.raises(AssertionError, match=path.name):
            look_at(path, path.read_bytes())


def test_every_command_is_looked_at():
    commands = {name for name in app if not name.startswith("-")}
    here = set(re.findall(r'overt\("([a-z]+)"', Path(__file__).read_text("utf-8")))
    assert here | set(WITHOUT_DATA) == commands and not here & set(WITHOUT_DATA)


BAD = {
    "out of reach": ({"goal": GOAL.replace("2", "40")}, None, Exit.UNREACHABLE),
    "values of no number": ({"ill": 'kind = "number"'}, None, Exit.DATA),
    "values of no date": ({"ill": 'kind = "date"'}, None, Exit.DATA),
    "a hierarchy without a value": ({"ill": NESTED.replace(f'"{VALUE}-0", ', "")}, None, Exit.DATA),
    "somebody twice": ({"name": 'repeats = "refuse"'}, lambda text: text + text.splitlines()[-1] + "\n", Exit.DATA),
    "a value missing": ({}, lambda text: text.rsplit(",", 1)[0] + ",\n", Exit.DATA),
    "a line too long": ({}, lambda text: f"{text}{PERSON},1,f,{VALUE},7\n", Exit.DATA),
    "an open quote": ({}, lambda text: f'{text}{PERSON},1,f,"{VALUE}\n', Exit.DATA),
    "text after a quote": ({}, lambda text: f'{text}"{PERSON}"x,1,f,{VALUE}\n', Exit.DATA),
    "no such column": ({}, lambda text: text.replace("sex", VALUE[:3], 1), Exit.DATA),
    "names of columns missing": ({}, lambda text: text.partition("\n")[2], Exit.DATA),
    "a word for an age": ({"sex": "", "name": ""}, lambda text: text.replace(",2", f",{PERSON} 2", 1), Exit.DATA),
}


@pytest.mark.parametrize("how", BAD)
def test_a_refusal(folder, overt, how):
    parts, spoil, code = BAD[how]
    recipe(folder, **parts)
    path = folder / "people.csv"
    if spoil is not None:
        path.write_text(spoil(path.read_text("utf-8")), "utf-8")
    assert overt("run", "recipe.toml", expected=code) == set()
    overt("run", "recipe.toml", "--json", expected=code)
    overt("run", "recipe.toml", "--debug", expected=code)
