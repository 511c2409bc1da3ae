# SPDX-License-Identifier: Apache-2.0
"""The short part of the fault matrix (bench/faults.py), with its seed; the whole of it is `python -m bench faults`. And its verdicts: each can fail."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench import faults
from bench.fault_matrix.damage import reads, why_no_release, why_not_made
from bench.fault_matrix.processes import Ended
from bench.fault_matrix.scenes import Prepared, scenes
from bench.fault_matrix.servers import why_few_rows
from bench.fault_matrix.verdicts import why_bad_words

ROOT = Path(__file__).parents[2]
OLD = {"people.csv": b"a,b", "new.toml": b"k = 3", "release.csv": b"old", "release.csv.manifest.json": b"{}"}


@pytest.mark.slow
def test_nothing_breaks_under_the_short_part_of_the_fault_matrix(record_property):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    words = [sys.executable, "-m", "bench", "faults", "--quick"]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0 and "BROKEN" not in done.stdout, done.stdout + done.stderr
    found = re.search(r"(\d+)  faults injected with seed \d+, 0 broke something", done.stdout)
    assert found is not None and int(found[1]) >= 40, done.stdout
    record_property(
        "counted", f"faults injected, a short part of the matrix: {found[1]}, of which none broke something"
    )


def manifest(content):
    digest = hashlib.sha256(content).hexdigest()
    return json.dumps({"release": {"path": "release.csv", "sha256": digest}}).encode()


def judged(folder, what, found):
    """What the matrix says of a command that ended well beside a damaged file, and left these files."""
    read = next(read for read in reads() if read.what == what)
    new = {**OLD, "release.csv": b"new", "release.csv.manifest.json": manifest(b"new")}
    old = {**OLD, read.file: b"damaged"}
    for name, content in found.items():
        (folder / name).write_bytes(content)
    return why_not_made(read, Prepared(read.scene, folder, OLD, new, 0, 0.0), folder, folder.parent / "scratch", old)


MADE = {"release.csv": b"another", "release.csv.manifest.json": manifest(b"another")}


@pytest.mark.parametrize(
    ("what", "file"),
    [("CSV", "people.csv"), ("recipe", "new.toml"), ("manifest of what is replaced", "release.csv.manifest.json")],
)
def test_a_run_beside_a_damaged_file_that_writes_nothing_or_less_is_a_breach(tmp_path, what, file):
    def said(case, found):
        (tmp_path / case).mkdir()
        return judged(tmp_path / case, what, found)

    damaged = {**OLD, file: b"damaged"}
    whole = {**damaged, **MADE}
    assert said("whole", whole) == ""
    assert said("nothing written", damaged)
    assert said("output deleted", {name: content for name, content in whole.items() if not name.startswith("release")})
    assert said("no manifest", {name: content for name, content in whole.items() if "manifest" not in name})
    assert said("another manifest", {**whole, "release.csv": b"half"})
    assert said("input gone", {name: content for name, content in whole.items() if name != "people.csv"})


def test_a_private_run_beside_a_damaged_ledger_must_enter_itself(tmp_path):
    ledger = {"people.csv.budget.json": b"damaged"}
    assert judged(tmp_path, "ledger", {**OLD, **MADE, **ledger}) == "the ledger does not know of the run"
    assert not judged(tmp_path, "ledger", {**OLD, **MADE, "people.csv.budget.json": b"spent"})


def test_a_damaged_recipe_may_name_another_file_but_must_make_it():
    other = {
        "other.csv": b"another",
        "other.csv.manifest.json": manifest(b"another").replace(b"release.csv", b"other.csv"),
    }
    assert not why_no_release({**OLD, "release.csv.manifest.json": manifest(b"old"), **other}, OLD)
    assert why_no_release(OLD, OLD) == "no release was made"


def test_a_release_of_a_part_of_the_rows_of_a_database_is_a_breach():
    whole = {"release.csv": b"a\n1\n2\n"}
    assert not why_few_rows(whole, whole) and why_few_rows({"release.csv": b"a\n1\n"}, whole)


@pytest.mark.parametrize("read", reads(), ids=lambda read: read.what)
def test_every_damaged_file_has_its_own_exit_codes(read):
    """No damage of a file is a bug (70), too large (5) or an interrupt; no run fails its own check, and no check is out of reach."""
    assert set(read.codes) < {0, 1, 2, 3, 4}
    for code in {0, 1, 2, 3, 4, 5, 70} - set(read.codes):
        assert why_bad_words(Ended(code, "", "A sentence.\n", 0, 0.0), read.codes)
    assert (1 in read.codes) == (read.scene.words[0] == "check")
    assert (2 in read.codes) == (read.what in ("recipe", "hierarchy"))


def test_a_class_by_itself_is_tried_in_every_scene(monkeypatch):
    tried = []
    monkeypatch.setattr(faults, "_of_scene", lambda stage, scene, draw, chosen, n: tried.append(scene.name) or ())
    assert not list(faults._all(None, None, "few open files", quick=False))
    assert tried == [scene.name for scene in scenes()]
