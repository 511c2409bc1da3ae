# SPDX-License-Identifier: Apache-2.0
"""Inputs that once ended a reader with anything but a refusal in words of ours (bench/fuzz.py found them), and a short part of the fuzzers."""

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import overt
from bench import fuzz
from overt.adversary.other_tools.published_classes import read_published
from overt.errors import InvalidInput
from overt.io.dp_release import find_dp_manifest
from overt.io.owner_record import find_owner_record
from overt.io.pilot_record import read_pilot
from overt.io.recipe.recipe import parse_recipe
from overt.studio.saved_sessions import read_kept

ROOT = Path(__file__).parents[2]
HOW = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"]}
CASE = {
    "rows": ["A", "B"],
    "values": ["flu", "cold"],
    "functions": [{"name": "g", "groups": [["A", "B"]]}],
    "sequence": ["g"],
    "property": {"kind": "distinct_l", "l": 2},
    "runs": [{"strategy": {"kind": "safe"}}],
}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_that_ends_in_half_a_character(tmp_path, encoding):
    mark = b"\xff\xfe" if encoding.endswith("le") else b"\xfe\xff"
    (tmp_path / "a.csv").write_bytes(mark + "age,sex,ill\n1,f,flu\n".encode(encoding)[:-1])
    with pytest.raises(InvalidInput, match=r"a\.csv is not all in the encoding that was named or found"):
        overt.read_file(tmp_path / "a.csv", **HOW)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.arrow"])
def test_gzip_that_is_damaged_inside(tmp_path, name):
    packed = bytearray(gzip.compress(b'{"age": 1}\n' * 50))
    packed[10] = 0xFF
    (tmp_path / name).write_bytes(bytes(packed))
    with pytest.raises(InvalidInput, match="damaged"):
        overt.read_file(tmp_path / name, **HOW)


def test_a_hierarchy_in_gzip_that_is_damaged_inside(tmp_path):
    packed = bytearray(gzip.compress(b"f,any\nm,any\n"))
    packed[10] = 0xFF
    (tmp_path / "h.csv").write_bytes(bytes(packed))
    with pytest.raises(InvalidInput, match=r"h\.csv cannot be read"):
        overt.Levels.read(tmp_path / "h.csv")


@pytest.mark.parametrize("text", ["a = " + "[" * 5_000, "a = " + "9" * 5_000, "a = " + "[" * 300 + "]" * 300])
def test_a_recipe_without_end(tmp_path, text):
    with pytest.raises(InvalidInput, match="TOML|nested|not a key"):
        parse_recipe(text, folder=tmp_path)
    with pytest.raises(InvalidInput):
        read_kept(text)


CHANGES = (
    *({name: odd} for name in CASE for odd in (1, None, "x", [1], {}, [[]], float("nan"))),
    {"runs": [{}]},
    {"runs": [None]},
    {"runs": [{"strategy": {"kind": "jump", "k": "x"}}]},
    {"runs": [{"strategy": {"kind": "secret_subset"}}]},
    {"property": {"kind": "max_ratio", "delta": "1/0"}},
    {"property": {"kind": "personal_ratio"}},
)


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_case_of_another_shape(tmp_path, change):
    (tmp_path / "case.json").write_text(json.dumps({**CASE, **change}))
    try:
        overt.disclose(tmp_path / "case.json")
    except overt.OvertError as error:
        assert str(error)


@pytest.mark.parametrize("text", ["[" * 5_000, "1" * 5_000, "1", "", "\ud800", "null"])
def test_a_case_that_is_none(tmp_path, text):
    (tmp_path / "case.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InvalidInput, match=r"case\.json is not JSON|does not have the shape"):
        overt.disclose(tmp_path / "case.json")


def test_a_release_of_another_tool_without_rows():
    table = overt.read_frame(
        pl.DataFrame({"age": [1, 2], "ill": ["a", "b"]}), quasi_identifiers=["age"], sensitive=["ill"]
    )
    with pytest.raises(InvalidInput, match="no rows"):
        read_published(table, pl.DataFrame({"age": [], "ill": []}, schema={"age": pl.String, "ill": pl.String}))


def test_a_manifest_that_is_nested_without_end(tmp_path):
    (tmp_path / "r.csv.manifest.json").write_text('{"a":' * 100_000)
    assert find_dp_manifest(tmp_path / "r.csv") is None


@pytest.mark.parametrize("rows", [[2**63], [10**400], [-1], [1, 1]])
def test_a_pilot_of_rows_that_no_table_has(tmp_path, rows):
    kept = {"pilot_record": 1, "audience": "owner", "input_sha256": "0" * 64, "n_rows": 9, "rows": rows}
    (tmp_path / "p.json").write_text(json.dumps(kept))
    with pytest.raises(InvalidInput, match=r"p\.json"):
        read_pilot(tmp_path / "p.json")


def test_an_owners_record_of_rows_that_no_table_has(tmp_path):
    parts = {"name": "x", "sha256": "0" * 64, "rows": 1, "rows_dropped": 0, "rows_suppressed": 0}
    kept = {"manifest_sha256": "0" * 64, "input": parts, "files_read": {}, "left_out": [], "pilot": [2**63]}
    (tmp_path / "r.csv.owner.json").write_text(json.dumps(kept))
    with pytest.raises(InvalidInput, match="not an owner's record"):
        find_owner_record(tmp_path / "r.csv.owner.json")


@pytest.mark.slow
def test_nothing_crashes_under_the_short_part_of_the_fuzzers(record_property):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    words = [sys.executable, "-m", "bench", "fuzz", "--quick"]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"([\d,]+)  inputs with seed \d+, 0 crashes", done.stdout)
    assert found is not None and int(found[1].replace(",", "")) >= 5_000, done.stdout
    record_property("counted", f"fuzz cases, a short part of the million: {found[1]}, of which none crashed a reader")


WORKER = """
import os, sys
from bench import fuzz
from bench.fuzzing import readers

class Fake:
    def __init__(self, name):
        self.name, self.share, self.seeds, self.mutate = name, 1, (b"",), lambda seed, draw, seeds: next(numbers)
    def read(self, content, work):
        if content in (b"3", b"6"):
            os._exit(7)
        if content in (b"2", b"12"):
            raise KeyError("x" if content == b"2" else "y")

first = int(sys.argv[6])
numbers = (str(n).encode() for n in range(first, 100))
readers.readers = lambda: [Fake("fragile reader")]
fuzz.FEWEST = 20
fuzz.work(1, 1, "", fuzz.Path(sys.argv[4]), int(sys.argv[5]), first)
"""


def test_fuzz_counts_every_input_once_though_a_reader_ends_the_process_twice(tmp_path, monkeypatch, capsys):
    """And what crashed before the process ended is not forgotten."""
    (tmp_path / "worker.py").write_text(WORKER)
    monkeypatch.setattr(fuzz, "WORKER", (str(tmp_path / "worker.py"),))
    monkeypatch.setattr(fuzz, "RESULTS", tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
    with pytest.raises(SystemExit):
        fuzz.run()
    said = capsys.readouterr().out
    assert "20  fragile reader: 16 read, 0 refused, 2 crashes" in said, said
    assert "20  inputs with seed 20, 2 crashes" in said
    found = json.loads((tmp_path / "fuzz.json").read_text())
    assert [(one["where"].split(":")[0], one["content"]) for one in found] == [
        ("KeyError at worker.py", "b'2'"),
        ("the process ended (7)", "b'3'"),
    ]
