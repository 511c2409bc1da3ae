# SPDX-License-Identifier: Apache-2.0
"""`overt.run` with an engine: a release in parts, checked before it appears, whole or not at all; and its check."""

import hashlib
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import overt
from overt.cli import main
from overt.cli.console import Exit
from overt.engine.scale.engine_choice import engine_of
from overt.engine.scale.fragment_lines import NotCovered, ShownLines, covered
from overt.engine.scale.local import LocalEngine
from overt.engine.scale.parts import MANIFEST, release_folder
from overt.engine.scale.seam import TablePlace
from overt.engine.scale.staging import stage_table
from overt.errors import InvalidInput, TooLarge, Unreachable
from overt.io.cells import Cells
from overt.io.intake import Intake
from overt.io.private_folder import hold
from overt.partition import Partition
from scales import METHODS, RECIPE, read_parts, write_people


def recipe(folder, method="blind-buckets", *, ending="parquet", output="parquet", more=""):
    write_people(folder, ending=ending)
    text = RECIPE.format(input=ending, method=METHODS.get(method, method), output=output, more=more)
    (folder / "recipe.toml").write_text(text)
    return folder / "recipe.toml"


@pytest.mark.parametrize("method", METHODS)
def test_a_release_in_parts_holds_its_goal_on_one_machine_too(method, tmp_path):
    outcome = overt.run(recipe(tmp_path, method), engine="out-of-core")
    assert outcome.ok
    assert outcome.n_rows == 900
    release = tmp_path / "release.parquet"
    assert overt.check(tmp_path / "people.parquet", release).ok
    parts = [read_parts(release / name) for name in json.loads((release / MANIFEST).read_text())["release"]]
    groups = parts[0].select("Age", "Gender", "Education").with_row_index().group_by("Age", "Gender", "Education").len()
    assert groups["len"].min() >= 3  # counted by another than the check
    values = (
        parts[-1]
        .group_by("bucket" if len(parts) > 1 else ["Age", "Gender", "Education"])
        .agg(share=pl.col("Occupation").value_counts().struct.field("count").max() / pl.len())
    )
    assert values["share"].max() <= 1 / 3 + 1e-12
    published = parts[-1]["Occupation"].cast(pl.String).sort()
    original = overt.samples.census(900, seed=3)["Occupation"].cast(pl.String).sort()
    assert (outcome.n_suppressed > 0) == (method == "full-domain")
    assert published.len() == 900 - outcome.n_suppressed
    if outcome.n_suppressed:  # what is left is of the original, and the record says how many are not
        left = original.value_counts().join(published.value_counts(), on="Occupation", how="left")
        assert (left["count"] >= left["count_right"].fill_null(0)).all()
        assert (
            json.loads((tmp_path / "release.parquet.owner.json").read_text())["input"]["rows_suppressed"]
            == outcome.n_suppressed
        )
        assert f"{outcome.n_suppressed} suppressed" in str(outcome)
    else:
        assert published.equals(original)


def test_csv_in_and_out_is_the_same_release(tmp_path):
    for ending in ("parquet", "csv"):
        (tmp_path / ending).mkdir()
        assert overt.run(recipe(tmp_path / ending, "mondrian", ending=ending, output=ending), engine="out-of-core").ok
        assert overt.check(tmp_path / ending / f"people.{ending}", tmp_path / ending / f"release.{ending}").ok
    found = [
        read_parts(tmp_path / e / f"release.{e}" / "release").cast(pl.String).sort(pl.all()) for e in ("csv", "parquet")
    ]
    assert found[0].fill_null("").equals(found[1].fill_null(""))


def test_it_is_the_release_that_one_machine_makes_in_memory(tmp_path):
    path = recipe(tmp_path, "mondrian")
    overt.run(path, engine="out-of-core")
    parts = read_parts(tmp_path / "release.parquet" / "release")
    alone = pl.read_parquet(overt.run(write_other(path), audit=False).files["release"])
    assert parts.cast(pl.String).sort(pl.all()).equals(alone.cast(pl.String).sort(pl.all()))


def write_other(path):
    other = path.with_name("other.toml")
    other.write_text(path.read_text().replace("release.parquet", "other.parquet"))
    return other


def test_who_may_read_what(tmp_path):
    outcome = overt.run(recipe(tmp_path), engine="out-of-core")
    owner = tmp_path / "release.parquet.owner.json"
    assert stat.S_IMODE(owner.stat().st_mode) == 0o600
    assert (
        "Kanarienvogel" not in str(outcome) + (tmp_path / "release.parquet" / MANIFEST).read_text() + owner.read_text()
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        ["people.parquet", "recipe.toml", "release.parquet", "release.parquet.owner.json"]
    )
    assert outcome.content()["engine"] == "out-of-core"


@pytest.mark.parametrize(
    "change",
    ["a value", "a cell", "a group", "a line lost", "a bucket"],
)
def test_the_check_finds_what_was_changed(change, tmp_path):
    outcome = overt.run(recipe(tmp_path), engine="out-of-core")
    release = tmp_path / "release.parquet"
    name = "boxes" if change in ("a cell", "a group") else "sensitive"
    (part,) = (release / name).iterdir()
    lines = pl.read_parquet(part)
    occupations = lines["Occupation"].unique() if name == "sensitive" else None
    match change:
        case "a value":
            lines = lines.with_columns(Occupation=pl.lit(occupations[0]))
        case "a cell":
            lines = lines.with_columns(Age=pl.lit("Goldammer"))
        case "a group":  # a box that nobody else shows
            boxes, new = set(lines.select("Age", "Gender", "Education").rows()), {}
            for age, gender, education in product(*(lines[name].unique() for name in ("Age", "Gender", "Education"))):
                if (age, gender, education) not in boxes:
                    new = {"Age": age, "Gender": gender, "Education": education}
            is_first = pl.int_range(pl.len()) == 0
            lines = lines.with_columns(
                pl.when(is_first).then(pl.lit(value, pl.String)).otherwise(name).alias(name)
                for name, value in new.items()
            )
        case "a line lost":
            lines = lines[1:]
        case "a bucket":
            lines = lines.with_columns(bucket=pl.when(pl.int_range(pl.len()) == 0).then(2).otherwise("bucket"))
    lines.write_parquet(part)
    verdict = overt.check(tmp_path / "people.parquet", release).verdict
    failed = {finding.name for finding in verdict.failures}
    expected = {"a value": "truth", "a cell": "cells", "a group": "goal", "a line lost": "rows", "a bucket": "buckets"}
    assert {"digests", expected[change]} <= failed, failed
    assert outcome.ok
    assert "Goldammer" not in str(verdict)


def test_a_release_is_replaced_only_if_that_is_asked(tmp_path):
    path = recipe(tmp_path)
    overt.run(path, engine="out-of-core")
    before = (tmp_path / "release.parquet" / MANIFEST).read_bytes()
    with pytest.raises(InvalidInput, match="exists already"):
        overt.run(path, engine="out-of-core")
    assert overt.run(path, engine="out-of-core", overwrite=True).ok
    assert (tmp_path / "release.parquet" / MANIFEST).read_bytes() != before
    assert not list(tmp_path.glob(".*"))
    (tmp_path / "release.csv").mkdir()  # a folder that is no release is never replaced
    text = path.read_text().replace("release.parquet", "release.csv")
    path.write_text(text)
    with pytest.raises(InvalidInput, match="no release in parts"):
        overt.run(path, engine="out-of-core", overwrite=True)


@pytest.mark.parametrize("where", ["writing", "committing"])
def test_a_failure_leaves_what_was_there(where, tmp_path, monkeypatch):
    path = recipe(tmp_path)
    overt.run(path, engine="out-of-core")
    before = (tmp_path / "release.parquet" / MANIFEST).read_bytes()
    record = (tmp_path / "release.parquet.owner.json").read_bytes()

    def fails(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr(
        *((LocalEngine, "write") if where == "writing" else (overt.engine.scale.parts, "_commit")), fails
    )
    with pytest.raises(OSError):
        overt.run(path, engine="out-of-core", overwrite=True)
    assert (tmp_path / "release.parquet" / MANIFEST).read_bytes() == before
    assert (tmp_path / "release.parquet.owner.json").read_bytes() == record
    assert not list(tmp_path.glob(".*"))


def test_a_release_in_parts_holds_its_tables_and_its_manifest_and_nothing_else(tmp_path):
    assert overt.run(recipe(tmp_path), engine="out-of-core").ok
    held = {
        file.relative_to(tmp_path / "release.parquet").parts[0] for file in (tmp_path / "release.parquet").rglob("*")
    }
    assert held == {MANIFEST, *json.loads((tmp_path / "release.parquet" / MANIFEST).read_text())["release"]}


def test_an_owner_record_of_another_manifest_is_noticed(tmp_path):
    assert overt.run(recipe(tmp_path), engine="out-of-core").ok
    record = tmp_path / "release.parquet.owner.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"manifest_sha256": "0" * 64}))
    checked = overt.check(tmp_path / "people.parquet", tmp_path / "release.parquet")
    assert not checked.ok
    assert "belongs to another manifest" in str(checked)


@pytest.mark.parametrize("name", ["hold", "Draft"])
def test_an_interrupt_while_a_release_begins_leaves_nothing(tmp_path, monkeypatch, name):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"overt.engine.scale.parts.{name}", interrupted)
    with pytest.raises(KeyboardInterrupt), release_folder(tmp_path / "release", overwrite=False):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_killed_between_its_two_renames_loses_no_release(tmp_path, monkeypatch):
    place, killed = tmp_path / "alive" / "release.parquet", tmp_path / "killed" / "release.parquet"
    place.mkdir(parents=True)
    (place / MANIFEST).write_text("before")
    rename = Path.rename

    def watched(path, target):
        if not place.exists():  # the old release has gone and the new one has not come: what a killed run leaves
            shutil.copytree(place.parent, killed.parent)
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", watched)
    with release_folder(place, overwrite=True) as draft:
        (draft.folder / MANIFEST).write_text("after")
        draft.is_kept = True
    monkeypatch.undo()
    assert (place / MANIFEST).read_text() == "after"
    assert not killed.exists()
    with pytest.raises(InvalidInput, match="exists already"), release_folder(killed, overwrite=False):
        pass
    assert (killed / MANIFEST).read_text() == "before"
    with release_folder(killed, overwrite=True):
        assert len(list(killed.parent.glob(".*"))) == 1  # its own folder, and nothing of the killed run
    assert [file.name for file in killed.parent.iterdir()] == [killed.name]


def test_what_a_killed_run_left_goes_and_what_it_was_to_replace_returns(tmp_path):
    path = recipe(tmp_path)
    overt.run(path, engine="out-of-core")
    release, abandoned = tmp_path / "release.parquet", tmp_path / ".release.parquet.00000000.part"
    before = (release / MANIFEST).read_bytes()
    release.rename(tmp_path / ".release.parquet.00000000.old")  # killed between two renames
    abandoned.mkdir()
    os.close(hold(abandoned))
    with pytest.raises(InvalidInput, match="exists already"):
        overt.run(path, engine="out-of-core")
    assert (release / MANIFEST).read_bytes() == before
    assert overt.run(path, engine="out-of-core", overwrite=True).ok
    assert not list(tmp_path.glob(".*"))


KILLED_WHILE_REPLACING = """
import os, signal, sys
from pathlib import Path
import overt
nth, calls = int(sys.argv[2]), 0
for name in ("rename", "unlink", "touch", "chmod"):
    def counted(self, *words, call=getattr(Path, name), **more):
        global calls
        calls += "release.parquet" in str(self)
        if calls == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(self, *words, **more)
    setattr(Path, name, counted)
overt.run(sys.argv[1], engine="out-of-core", overwrite=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("nth", [5, 6, 7, 8])
def test_the_owners_record_is_of_the_release_that_is_there_whenever_a_run_is_killed(nth, tmp_path):
    path = recipe(tmp_path)
    overt.run(path, engine="out-of-core")
    release, record = tmp_path / "release.parquet", tmp_path / "release.parquet.owner.json"
    before = (release / MANIFEST).read_bytes(), record.read_bytes()
    words = [sys.executable, "-c", KILLED_WHILE_REPLACING, str(path), str(nth)]
    killed = subprocess.run(words, env={**os.environ, "TMPDIR": str(tmp_path)}, check=False, capture_output=True)
    assert killed.returncode == -9
    with pytest.raises(InvalidInput, match="exists already"):
        overt.run(path, engine="out-of-core", staging=str(tmp_path))
    after = (release / MANIFEST).read_bytes(), record.read_bytes()
    assert json.loads(after[1])["manifest_sha256"] == hashlib.sha256(after[0]).hexdigest()
    assert after == before or (after[0] != before[0] and after[1] != before[1])
    assert not [*tmp_path.glob(".*"), *tmp_path.glob("overt-*")]


def test_what_waits_for_a_release_whose_name_begins_alike_is_left_alone(tmp_path):
    path = recipe(tmp_path)
    (tmp_path / ".release.parquet.other.01234567.old").mkdir()
    (tmp_path / ".release.parquet.other.01234567.old" / MANIFEST).write_text("of another release")
    overt.run(path, engine="out-of-core")
    assert (tmp_path / ".release.parquet.other.01234567.old" / MANIFEST).exists()


REFUSED = {
    "form": ('name = "blind-buckets"\ncuts = "strict"\nform = "shuffled"', "", "form"),
    "relaxed": ('name = "mondrian"\nrelaxed = true', "", "relaxed"),
    "gain": ('name = "mondrian"\nchoose = "gain"', "", "gain"),
    "method": ('name = "cross-bucket"', "", "cross-bucket works on one machine"),
    "bucketized": ('name = "dealing"\nform = "bucketized"', "", "bucketized"),
    "rank": ('name = "batch-matching"\nmatching = "rank"', "", "rank"),
    "flat": ('name = "blind-buckets"\ncuts = "strict"', "flat = true", "flat"),
    "others": ('name = "blind-buckets"\ncuts = "strict"', 'others = ["Income"]', "'others'"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_is_not_there_is_refused_by_name(case, tmp_path):
    method, more, words = case
    with pytest.raises(InvalidInput, match=words):
        overt.run(recipe(tmp_path, method, more=more), engine="out-of-core")
    assert not (tmp_path / "release.parquet").exists()


def test_an_engine_that_is_not_there_is_refused_by_name(tmp_path):
    path = recipe(tmp_path)
    for engine, words in (("dask", "'out-of-core', 'spark'"), (3, "a session of Spark, not a int")):
        with pytest.raises(InvalidInput, match=words):
            overt.run(path, engine=engine)
    with pytest.raises(InvalidInput, match="master"):
        overt.run(path, engine="out-of-core", master="local[2]")
    with pytest.raises(InvalidInput, match="Only an engine"):
        overt.run(path, master="local[2]")


def test_what_cannot_be_reached_is_said_before_anything_is_written(tmp_path):
    path = recipe(tmp_path)
    path.write_text(path.read_text().replace("l = 3", "l = 300"))
    with pytest.raises(Unreachable):
        overt.run(path, engine="out-of-core")
    assert not list(tmp_path.glob("*release*"))


def test_the_command_line_runs_and_checks_it(tmp_path, capsys):
    path = recipe(tmp_path)
    assert main(["run", str(path), "--engine", "out-of-core", "--staging", str(tmp_path), "--quiet"]) == Exit.DONE
    assert main(["check", str(tmp_path / "people.parquet"), str(tmp_path / "release.parquet")]) == Exit.DONE
    assert "holds what it claims" in capsys.readouterr().out


def test_of_other_data_without_a_column_a_check_says_first_that_it_is_other_data(tmp_path):
    path = recipe(tmp_path, ending="csv", output="csv")
    assert overt.run(path, engine="out-of-core").ok
    pl.read_csv(tmp_path / "people.csv").drop("Gender").write_csv(tmp_path / "wrong.csv")
    said = []
    how = {"on_progress": lambda stage, *_: said.append(stage)}
    with pytest.raises(InvalidInput, match=r"^wrong\.csv is not what the release was made from.*There is no column"):
        overt.check(tmp_path / "wrong.csv", tmp_path / "release.csv", **how)
    assert "Reading wrong.csv" in said
    shutil.copy(tmp_path / "people.csv", tmp_path / "wrong.csv")
    assert overt.check(tmp_path / "wrong.csv", tmp_path / "release.csv").ok


def test_what_is_printed_as_again_and_check_can_be_typed(tmp_path, capsys):
    folder = tmp_path / "two words"
    folder.mkdir()
    path = recipe(folder, ending="csv", output="csv")
    assert main(["run", str(path), "--engine", "out-of-core"]) == Exit.DONE
    outcome = overt.run(path, engine="out-of-core", overwrite=True)
    rows = dict(row for row in outcome.rows() if row[1].startswith("overt "))
    assert main(["run", str(path), "--engine", "out-of-core"]) == Exit.DATA
    assert "(--overwrite)" in capsys.readouterr().err
    for label in ("Again", "Check"):
        assert main(shlex.split(rows[label])[1:]) == Exit.DONE


def test_an_engine_checks_releases_in_parts_only(tmp_path, capsys):
    path = recipe(tmp_path)
    assert overt.run(path, engine="out-of-core").ok
    people, release = str(tmp_path / "people.parquet"), str(tmp_path / "release.parquet")
    how = ["--engine", "out-of-core", "--staging", str(tmp_path)]
    assert main(["check", people, release, *how]) == Exit.DONE
    assert not list(tmp_path.glob("overt-staged-*"))
    with pytest.raises(InvalidInput, match="'out-of-core', 'spark'"):
        overt.check(people, release, engine="dask")
    with pytest.raises(InvalidInput, match="Only the engine 'spark' has a master"):
        overt.check(people, release, master="local[2]")
    other = write_other(path)
    overt.run(other, audit=False)
    with pytest.raises(InvalidInput, match="checks releases in parts"):
        overt.check(people, tmp_path / "other.parquet", engine="out-of-core")


def test_a_check_finds_the_hierarchies_where_the_recipe_found_them(tmp_path, capsys):
    path = recipe(tmp_path)
    text, plain = path.read_text(), 'Gender = { role = "quasi-identifier" }'
    assert plain in text
    (tmp_path / "gender.csv").write_text("female;any\nmale;any\n")
    path.write_text(text.replace(plain, plain.replace(" }", ', hierarchy = { file = "gender.csv" } }')))
    assert overt.run(path, engine="out-of-core").ok
    assert main(["check", str(tmp_path / "people.parquet"), str(tmp_path / "release.parquet")]) == Exit.DONE


def test_missing_values_are_refused_dropped_or_a_value_of_their_own(tmp_path):
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "ill": ["a", None, " b", "b"]})
    frame.write_parquet(tmp_path / "x.parquet")
    place = TablePlace(str(tmp_path / "x.parquet"), "parquet")
    with engine_of("out-of-core", staging=str(tmp_path)) as engine:
        with pytest.raises(InvalidInput, match="missing in 1 rows"):
            stage_table(engine, place, Intake(quasi_identifiers=["age"], sensitive=["ill"]))
        dropped = stage_table(engine, place, Intake(quasi_identifiers=["age"], sensitive=["ill"], missing="drop"))
        own = stage_table(engine, place, Intake(quasi_identifiers=["age"], sensitive=["ill"], missing="own value"))
    assert (dropped.n_rows, dropped.n_dropped, own.n_rows) == (3, 1, 4)
    assert dropped.columns[0].values.to_list() == [1, 3, 4]  # what only a dropped row has is not there
    assert dropped.columns[1].total_of_value.tolist() == [1, 2]
    assert own.columns[1].missing_code == 2


def anatomy(folder):
    path = recipe(folder, 'name = "anatomy"', ending="csv", output="csv")
    begin = path.read_text().index('[[goal]]\nproperty = "k-anonymity"')
    path.write_text(path.read_text()[:begin] + path.read_text()[path.read_text().index("[method]") :])
    assert overt.run(path, engine="out-of-core", report=True).ok
    return folder / "release.csv"


def test_anatomy_publishes_quasi_identifiers_as_they_are(tmp_path):
    release = anatomy(tmp_path)
    assert overt.check(tmp_path / "people.csv", release).ok
    people, values = read_parts(release / "quasi-identifiers"), read_parts(release / "sensitive")
    original = pl.read_csv(tmp_path / "people.csv", infer_schema=False).select("Age", "Gender", "Education")
    assert (
        people.select("Age", "Gender", "Education")
        .fill_null("")
        .sort(pl.all())
        .equals(original.fill_null("").sort(pl.all()))
    )
    buckets = values.group_by("bucket").agg(pl.col("Occupation").n_unique().alias("n"), pl.len())
    assert (buckets["n"] == buckets["len"]).all()
    assert buckets["n"].min() >= 3
    assert people.group_by("bucket").len().sort("bucket").equals(buckets.select("bucket", "len").sort("bucket"))
    said = json.loads((release / "report.json").read_text())
    assert said["kind"] == "buckets"
    assert (
        said["identification"]["uniques"]
        == original.fill_null("").group_by(pl.all()).len().filter(pl.col("len") == 1).height
    )


@pytest.mark.parametrize("change", ["a person", "a spelling"])
def test_the_check_finds_what_was_changed_of_people(change, tmp_path):
    release = anatomy(tmp_path)
    (part,) = (release / "quasi-identifiers").iterdir()
    lines = part.read_text().splitlines(keepends=True)
    if change == "a person":  # somebody else's values, all of which occur
        lines[1] = lines[1].partition(",")[0] + "," + lines[-1].partition(",")[2]
    else:
        lines[1] = lines[1].replace(",", ",0", 1)
    part.write_text("".join(lines))
    failed = {finding.name for finding in overt.check(tmp_path / "people.csv", release).verdict.failures}
    assert ({"digests", "people"} if change == "a person" else {"digests"}) <= failed
    assert len(failed) > 1


def write_messy(folder, n_rows=900):
    """A file as people have it: amounts with remarks among them, missing cells, and a column that names persons."""
    frame = write_people(folder, n_rows)
    pay = frame["Income"].cast(pl.String)
    odd = pl.int_range(pl.len())
    frame = frame.with_columns(
        pl.when(odd % 90 == 7).then(pl.lit("unknown?")).when(odd % 100 == 3).then(None).otherwise(pay).alias("Income")
    )
    frame.write_csv(folder / "people.csv")
    return frame


def test_a_recipe_of_init_runs_as_it_is_and_leaves_its_pilot_out(tmp_path):
    frame = write_messy(tmp_path)
    overt.init(tmp_path / "people.csv", into=tmp_path / "recipe.toml")
    text = (tmp_path / "recipe.toml").read_text()
    assert "[pilot]" in text and 'unreadable = "missing"' in text and "cuts" not in text
    outcome = overt.run(tmp_path / "recipe.toml", engine="out-of-core")
    assert outcome.ok
    pilot = json.loads(next(tmp_path.glob("*.pilot.owner.json")).read_text())
    others = frame.filter(~pl.int_range(pl.len()).is_in(pilot["rows"]))
    assert outcome.n_rows == others.height == 900 - len(pilot["rows"])
    release = next(path for path in tmp_path.glob("release*") if path.is_dir())
    published = read_parts(release / "sensitive")["Income"]
    expected = others["Income"].cast(pl.Float64, strict=False)
    assert published.cast(pl.Float64).sort().equals(expected.rename("Income").sort())
    record = json.loads(next(tmp_path.glob("release*.owner.json")).read_text())
    assert record["pilot"] == pilot["rows"]
    assert any("pilot" in caution for caution in outcome.cautions)
    assert overt.check(tmp_path / "people.csv", release).ok
    (tmp_path / "recipe.toml").write_text(text.replace("l = 3", "l = 2"))  # a second decision about the same people
    with pytest.raises(InvalidInput, match="already released"):
        overt.run(tmp_path / "recipe.toml", engine="out-of-core", overwrite=True)


def test_people_who_were_looked_at_are_not_published_by_leaving_the_pilot_out(tmp_path):
    write_messy(tmp_path)
    overt.init(tmp_path / "people.csv", into=tmp_path / "recipe.toml")
    text = (tmp_path / "recipe.toml").read_text()
    begin = text.index("[pilot]")
    (tmp_path / "recipe.toml").write_text(text[:begin] + text[text.index("[method]") :])
    with pytest.raises(InvalidInput, match="were looked at"):
        overt.run(tmp_path / "recipe.toml", engine="out-of-core")
    assert not list(tmp_path.glob("release*"))


@pytest.mark.parametrize("source", ['path = "people"', 'path = "clinic.people"\nformat = "table"'])
def test_a_pilot_of_what_is_no_single_file_is_refused_and_not_published(source, tmp_path):
    frame = write_messy(tmp_path)
    overt.init(tmp_path / "people.csv", into=tmp_path / "recipe.toml")
    (tmp_path / "people").mkdir()
    frame.write_csv(tmp_path / "people" / "part-1.csv")
    text = (tmp_path / "recipe.toml").read_text()
    assert "[pilot]" in text
    (tmp_path / "recipe.toml").write_text(text.replace('path = "people.csv"', source))
    with pytest.raises(InvalidInput, match="left out of one file"):
        overt.run(tmp_path / "recipe.toml", engine="out-of-core")
    assert not list(tmp_path.glob("release*"))


@pytest.mark.parametrize("missing", ["drop", "refuse"])
def test_amounts_that_cannot_be_read_are_missing_ones(missing, tmp_path):
    frame = write_messy(tmp_path)
    place = TablePlace(str(tmp_path / "people.csv"), "csv")
    intake = Intake(
        quasi_identifiers=["Age"],
        sensitive=["Income"],
        kinds={"Income": "number"},
        unreadable={"Income": "missing"},
        missing=missing,
    )
    known = frame["Income"].cast(pl.Float64, strict=False).drop_nulls()
    with engine_of("out-of-core", staging=str(tmp_path)) as engine:
        if missing == "refuse":
            with pytest.raises(InvalidInput, match=f"missing in {900 - known.len()} rows"):
                stage_table(engine, place, intake)
            return
        staged = stage_table(engine, place, intake)
    assert (staged.n_rows, staged.n_dropped) == (known.len(), 900 - known.len())
    assert staged.columns[1].values.cast(pl.Float64).equals(known.unique().sort().rename(staged.columns[1].values.name))


def test_persons_with_several_rows_are_refused_as_in_memory(tmp_path):
    path = recipe(tmp_path)
    path.write_text(
        path.read_text().replace('Name = { role = "identifier" }', 'Name = { role = "identifier", repeats = "refuse" }')
    )
    assert overt.run(path, engine="out-of-core").ok
    frame = pl.read_parquet(tmp_path / "people.parquet")
    frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 5).then(pl.lit(frame["Name"][899])).otherwise("Name").alias("Name")
    ).write_parquet(tmp_path / "people.parquet")
    said = []
    for how in ({"engine": "out-of-core"}, {"audit": False}):
        with pytest.raises(InvalidInput) as caught:
            overt.run(path, overwrite=True, **how)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "899 different values in 900 rows" in said[0]
    assert "Kanarienvogel" not in said[0]


def test_what_looks_like_an_identifier_is_said(tmp_path):
    path = recipe(tmp_path)
    path.write_text(path.read_text().replace('role = "identifier"', 'role = "quasi-identifier"'))
    cautions = overt.run(path, engine="out-of-core").cautions
    assert any("looks like an identifier" in caution for caution in cautions)
    assert any("sets that name every value" in caution for caution in cautions)
    assert overt.run(write_other(path), audit=False).cautions[:1] == cautions[:1]


def test_a_line_that_does_not_cover_its_row_is_never_written():
    first, least, greatest = np.array([0, 2, 3]), np.array([0, 4, 2], np.int32), np.array([1, 5, 3], np.int32)
    cells, codes = np.array([0, 0, 0, 1, 1], np.int32), np.array([1, 4, 3, 3, 4], np.int32)
    assert covered(first, least, greatest, cells, codes).tolist() == [True, True, False, True, False]
    table = overt.read_frame(pl.DataFrame({"age": [1, 2, 3]}), quasi_identifiers=["age"])
    lines = ShownLines(("age",), table.quasi_identifiers, ())
    with pytest.raises(NotCovered):
        lines._require_cover(
            table.quasi_identifiers[0],
            Partition(np.zeros(3, np.int32), 1),
            Cells(pl.Series(["1..2"]), np.zeros(1, np.int32)),
        )


def test_more_rows_than_rda_can_list_are_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr("overt.engine.scale.groups_by_draw.MOST_LISTED", 100)
    with pytest.raises(TooLarge, match="Use dealing"):
        overt.run(recipe(tmp_path, "rda"), engine="out-of-core")


NO_K = ('[[goal]]\nproperty = "k-anonymity"\nk = 3\n', "")
UNKNOWN = (
    "[method]",
    '[[goal]]\nproperty = "relative-risk"\ntimes = 40\npositive = ["Nobdy"]\ncolumn = "Occupation"\n[method]',
)
BILL = ("[[goal]]", 'Bill = { role = "sensitive" }\n[[goal]]')
OF_OCCUPATION = ("l = 3", 'l = 3\ncolumn = "Occupation"')
WARNED_OF = {  # what a recipe is changed in, and words of the cautions that it makes, beside "Instead"
    "mondrian": ([BILL, OF_OCCUPATION, UNKNOWN], ["whoever knows somebody's 'Bill'", "does not look at 'Bill'", "names 1 value that nobody has", "sets that name"], True),
    "batch-matching": ([], ["A learner, who knows how values depend"], True),
    "full-domain": ([], ["To bound that, ask for relative-risk"], True),
    "blind-buckets": ([('cuts = "strict"', 'cuts = "strict"\nk = 1'), NO_K, BILL, OF_OCCUPATION], ["people are alone in their box", "whoever knows somebody's 'Bill'"], False),
    "anatomy": ([NO_K], ["Quasi-identifiers are published exactly"], False),
}  # fmt: skip


@pytest.mark.parametrize("method", WARNED_OF)
def test_an_engine_warns_of_what_memory_warns_of(method, tmp_path):
    changes, words, is_instead = WARNED_OF[method]
    path = recipe(tmp_path, method if method in METHODS else f'name = "{method}"')
    frame = pl.read_parquet(tmp_path / "people.parquet")
    frame.with_columns(pl.int_range(pl.len()).alias("Bill") * 7).write_parquet(tmp_path / "people.parquet")
    for old, new in changes:
        path.write_text(path.read_text().replace(old, new, 1))
    said = [overt.run(path, engine="out-of-core"), overt.run(write_other(path), audit=False)]
    cautions = [[re.sub(r"\d[\d,.]*", "N", caution) for caution in one.cautions] for one in said]
    for expected in words:
        assert any(expected in caution for caution in said[1].cautions), expected
    if method == "blind-buckets":  # whose values are judged by bucket, and not by box
        of_values = [
            [c.replace("groups", "buckets") for c in one if "in the worst" not in c and "likely" not in c]
            for one in cautions
        ]
        assert of_values[0] == of_values[1]
    else:
        assert cautions[0] == cautions[1]
    assert said[0].instead == said[1].instead
    assert bool(said[1].instead) == is_instead
    assert ("Instead" in str(said[0])) == is_instead


def write_with_many_sensitive(folder, n_columns, method):
    """A recipe with columns of 60 sensitive values each: few rows, and many combinations that there could be."""
    write_people(folder)
    frame = pl.read_parquet(folder / "people.parquet")
    rng = np.random.default_rng(5)
    named = [f"test {i}" for i in range(n_columns)]
    drawn = [pl.Series(name, rng.integers(0, 60, frame.height)).cast(pl.String) for name in named]
    frame.with_columns(drawn).write_parquet(folder / "people.parquet")
    text = RECIPE.format(input="parquet", method=METHODS[method], output="parquet", more="")
    text = text.replace(
        "[[goal]]", "\n".join(f'"{name}" = {{ role = "sensitive" }}' for name in named) + "\n[[goal]]", 1
    )
    (folder / "recipe.toml").write_text(text)
    return folder / "recipe.toml"


@pytest.mark.parametrize(
    ("method", "n_columns"), [("mondrian", 4), ("full-domain", 4), ("blind-buckets", 4), ("blind-buckets", 11)]
)
def test_several_sensitive_columns_are_counted_apart(method, n_columns, tmp_path):
    path = write_with_many_sensitive(tmp_path, n_columns, method)  # 60**11 is more than a number of 64 bits holds
    outcome = overt.run(path, engine="out-of-core")
    assert outcome.ok
    release = tmp_path / "release.parquet"
    tables = json.loads((release / MANIFEST).read_text())["release"]
    names = ["Occupation", *(f"test {i}" for i in range(n_columns))]
    published = read_parts(release / [*tables][-1]).select(names).cast(pl.String)
    original = pl.read_parquet(tmp_path / "people.parquet").select(names).cast(pl.String)
    assert published.height == 900 - outcome.n_suppressed
    assert published.join(original, on=names, how="anti").height == 0
    parts = [pl.read_parquet(part) for part in sorted((release / [*tables][-1]).iterdir())]
    value = pl.concat([parts[0]["test 0"][1:], parts[0]["test 0"][:1]])  # each column keeps its values
    parts[0].with_columns(value.alias("test 0")).write_parquet(sorted((release / [*tables][-1]).iterdir())[0])
    verdict = overt.check(tmp_path / "people.parquet", release).verdict
    (truth,) = (finding for finding in verdict.failures if finding.name == "truth")
    assert "belong together in one line" in truth.sentence


def test_values_that_cannot_be_counted_together_are_said_to_be_unchecked(tmp_path, monkeypatch):
    path = write_with_many_sensitive(tmp_path, 4, "full-domain")

    class Many:
        def __init__(self, *_):
            pass

        def __call__(self, batches):
            raise TooLarge("too many")

    monkeypatch.setattr("overt.engine.scale.parts_check.CountTuples", Many)
    outcome = overt.run(path, engine="out-of-core")
    assert outcome.n_suppressed
    assert "Not checked: which values belong together" in str(outcome.verdict)


@pytest.mark.parametrize("method", ["mondrian", "full-domain", 'name = "anatomy"', "dealing"])
def test_rows_are_moved_with_what_is_needed_of_them_and_no_more(method, tmp_path, monkeypatch):
    moved, apply = [], LocalEngine.apply

    def recorded(engine, data, *how):
        moved.append(set(next(iter(data)).columns))
        return apply(engine, data, *how)

    monkeypatch.setattr(LocalEngine, "apply", recorded)
    path = recipe(tmp_path, method)
    if "anatomy" in method:
        path.write_text(path.read_text().replace('[[goal]]\nproperty = "k-anonymity"\nk = 3\n', ""))
    assert overt.run(path, engine="out-of-core").ok
    quasi, coins = {"q0", "q1", "q2"}, {"coin", "second_coin"}
    drawn = {*coins, *quasi, "s0"}
    expected = {
        "dealing": [drawn, {"h0", "h1", "s0"}],
        'name = "anatomy"': [drawn, {"s0", *coins}, {"h0", "h1"}, {"bucket", "s0"}],
    }
    assert moved == expected.get(method, [{*quasi, "s0"}, {"h0", "h1", "s0"}])


def test_a_seed_is_refused_since_no_engine_repeats_draws(tmp_path, capsys):
    path = recipe(tmp_path, "dealing")
    assert main(["run", str(path), "--engine", "out-of-core", "--seed", "1"]) == Exit.DATA
    assert "leave --seed (rng=) out" in capsys.readouterr().err
    assert not (tmp_path / "release.parquet").exists()
