# SPDX-License-Identifier: Apache-2.0
"""A release that replaces another takes its companions with it, and what a killed run left is cleared."""

import json
import signal
import subprocess
import sys

import pytest

from cli.conftest import ANATOMY, RECIPE

RECORDS = {"release.csv.manifest.json", "release.csv.owner.json"}


def names(folder):
    return {path.name for path in folder.iterdir()} - {"hospital.csv", "recipe.toml", "other.toml"}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def anatomy(folder, overt):
    """A release in buckets with a report, and a recipe for another release in its place."""
    (folder / "recipe.toml").write_text(ANATOMY)
    assert overt("run", "recipe.toml", "--report", "--quiet")[0] == 0
    assert {"release.csv", "release.sensitive.csv", "release.report.html", *RECORDS} <= names(folder)
    (folder / "other.toml").write_text(RECIPE)
    return folder


def test_companions_of_a_replaced_release_go_with_it(anatomy, overt):
    assert overt("run", "other.toml", "--overwrite", "--quiet")[0] == 0
    assert names(anatomy) == {"release.csv", *RECORDS}
    assert overt("check", "hospital.csv", "release.csv", "--quiet")[0] == 0


def test_an_sqlite_file_keeps_nothing_of_a_release_that_was_replaced(folder, overt):
    """SQLite leaves the bytes of deleted rows where they are, unless it is told not to."""
    pytest.importorskip("adbc_driver_sqlite")
    text = RECIPE.replace('path = "release.csv"', 'database = "release.db"\ntable = "people"')
    people = (folder / "hospital.csv").read_text("utf-8")
    for recipe, data in (("recipe.toml", people.replace("Asthma", "seen by nobody")), ("recipe.toml", people)):
        (folder / "hospital.csv").write_text(data, "utf-8")
        (folder / recipe).write_text(text)
        assert overt("run", recipe, "--overwrite", "--quiet")[0] == 0
        is_first = data is not people
        assert (b"seen by nobody" in (folder / "release.db").read_bytes()) is is_first
    assert overt("check", "hospital.csv", "people.manifest.json", "--quiet")[0] == 0


def test_without_overwrite_companions_are_in_the_way_and_nothing_changes(anatomy, overt):
    before = contents(anatomy)
    assert overt("run", "other.toml")[0] == 3
    assert contents(anatomy) == before
    for name in ("release.csv", *RECORDS):
        (anatomy / name).unlink()
    before = contents(anatomy)
    code, _, err = overt("run", "other.toml")
    assert code == 3 and "release.report.html exists already; add --overwrite" in err
    assert contents(anatomy) == before


@pytest.mark.parametrize("spoiled", [("k = 4", "k = 97"), ("l = 2", "l = 90")])
def test_a_run_that_fails_leaves_the_old_release_with_all_its_companions(anatomy, overt, spoiled):
    before = contents(anatomy)
    (anatomy / "other.toml").write_text(RECIPE.replace(*spoiled))
    assert overt("run", "other.toml", "--overwrite", "--quiet")[0] == 4
    assert {name: text for name, text in contents(anatomy).items() if name != "other.toml"} == {
        name: text for name, text in before.items() if name != "other.toml"
    }


def test_a_failure_in_the_middle_of_the_replacement_leaves_the_old_release(anatomy, overt, monkeypatch):
    from pathlib import Path

    before, rename = contents(anatomy), Path.rename

    def failing(self, target):
        if Path(target).name == "release.csv.manifest.json":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    assert overt("run", "other.toml", "--overwrite", "--quiet")[0] == 3
    assert contents(anatomy) == before


@pytest.mark.parametrize(
    "place",
    ["../precious.csv", "hospital.csv", "sub/release.sensitive.csv", 7],
)
@pytest.mark.parametrize("part", ["sensitive", "precious"])
def test_a_manifest_that_was_tampered_with_removes_nothing_else(anatomy, overt, place, part):
    (anatomy / "precious.csv").write_text("mine")
    (anatomy / "release.precious.csv").write_text("mine")
    (anatomy / "sub").mkdir()
    (anatomy / "sub" / "release.sensitive.csv").write_text("mine")
    manifest = json.loads((anatomy / "release.csv.manifest.json").read_text())
    manifest["release"] = {
        "release": manifest["release"]["quasi-identifiers"],
        part: {"path": place, "sha256": "0" * 64},
    }
    (anatomy / "release.csv.manifest.json").write_text(json.dumps(manifest))
    assert overt("run", "other.toml", "--overwrite", "--quiet")[0] == 0
    assert {"precious.csv", "release.precious.csv", "release.sensitive.csv", "sub"} <= names(anatomy)
    assert (anatomy / "sub" / "release.sensitive.csv").exists() and (anatomy / "hospital.csv").exists()


def test_what_the_recipe_reads_does_not_go_though_a_manifest_names_it(anatomy, overt):
    (anatomy / "hospital.csv").rename(anatomy / "release.sensitive.csv")
    (anatomy / "other.toml").write_text(RECIPE.replace("hospital.csv", "release.sensitive.csv"))
    assert overt("run", "other.toml", "--overwrite", "--quiet")[0] == 0
    assert "release.sensitive.csv" in names(anatomy)


@pytest.mark.parametrize("manifest", [b"", b"[]", b"{", b"\xff", b'{"release": []}', b'{"release": {"sensitive": 1}}'])
def test_a_broken_manifest_is_replaced_and_names_nothing(anatomy, overt, manifest):
    (anatomy / "release.csv.manifest.json").write_bytes(manifest)
    assert overt("run", "other.toml", "--overwrite", "--quiet")[0] == 0
    assert names(anatomy) == {"release.csv", "release.sensitive.csv", *RECORDS}


def test_reports_of_a_neighbour_with_the_same_stem_stay(anatomy, overt):
    (anatomy / "other.toml").write_text(RECIPE.replace('"release.csv"', '"release.parquet"'))
    assert overt("run", "other.toml", "--quiet")[0] == 0
    assert overt("run", "other.toml", "--overwrite", "--quiet")[0] == 0
    assert {"release.report.html", "release.report.json", "release.sensitive.csv"} <= names(anatomy)


KILLED = """
import os, signal, sys, time
import overt.engine.run
from overt.cli import main
where = sys.argv[1]
if where == "checking":  # files are being written
    def stop(*args, **kwargs):
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    overt.engine.run.check_release = stop
else:
    from pathlib import Path
    rename = Path.rename
    def stop(self, target):
        if Path(target).name == where:
            os.kill(os.getpid(), signal.SIGKILL)
        return rename(self, target)
    Path.rename = stop
main(["run", "other.toml", "--overwrite", "--quiet", "--report"])
"""


@pytest.mark.slow
@pytest.mark.parametrize("where", ["checking", "release.csv", "release.report.html", "release.csv.manifest.json"])
def test_a_killed_run_is_cleared_by_the_next_which_says_so(anatomy, overt, where):
    before = contents(anatomy)
    killed = subprocess.run([sys.executable, "-c", KILLED, where], cwd=anatomy, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [name for name in names(anatomy) if name.startswith(".")]
    code, out, _ = overt("run", "recipe.toml", "--overwrite", "--report")
    assert code == 0
    (line,) = [line for line in out.splitlines() if "Cleared" in line]
    assert "removed unfinished files of a killed run" in line and "release.csv" in line
    assert set(contents(anatomy)) == set(before)
    assert overt("check", "hospital.csv", "release.csv", "--quiet")[0] == 0
    assert "Cleared" not in overt("run", "recipe.toml", "--overwrite")[1]
