# SPDX-License-Identifier: Apache-2.0
"""Differentially private releases with an engine: the release and the law of memory, what is spent, what is public, what a check finds."""

import json
import os
import re
import signal
import subprocess
import sys
from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest

import overt
from overt.algorithms.dp.law import law_of_sampling
from overt.cli import main
from overt.cli.console import Exit
from overt.engine.course import prepare, with_public_hierarchies
from overt.engine.scale import dp_parts
from overt.engine.scale.parts import MANIFEST, digest_of_parts
from overt.engine.scale.record_counts import RecordClasses, count_records
from overt.errors import InvalidInput, TooLarge
from overt.hierarchy import CutPoints, Intervals, Nested
from overt.io.ledger import ledger_path, read_ledger, set_limit
from overt.io.recipe.recipe import read_recipe
from overt.io.record_files import RecordFiles
from scales import ENGINES, engine_named

N_ROWS = 1357
RECIPE = """
version = 1
[input]
path = "people.{ending}"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi-identifier"
hierarchy = {{ cut_points = [[30, 40, 50], [40]] }}
[columns.sex]
role = "quasi-identifier"
hierarchy = {{ nested = {{ "*" = ["F", "M"] }} }}
[columns.illness]
role = "sensitive"
hierarchy = {{ nested = {{ mild = ["cold", "flu"], severe = ["cancer"] }} }}
[method]
name = "{method}"
epsilon = 1
delta = 1e-3
s = 0.5
levels = {levels}
{more}
[output]
path = "release.{ending}"
"""
METHODS = {
    "dp-sampling": "[[1, 0, 1]]",
    "dp-cube": "[[1, 0, 0], [1, 0, 1], [2, 1, 0], [3, 1, 1]]",
    "dp-full-domain": "[[1, 0, 0], [1, 0, 1], [2, 1, 0], [3, 1, 1]]",
}


def people(n=N_ROWS, extra=()):
    rng = np.random.default_rng(11)
    rows = [
        (f"Kanarienvogel{i}", str(rng.integers(20, 60)), str(rng.choice(["F", "M"])), str(rng.choice(["cold", "flu", "cancer"])))
        for i in range(n)
    ]  # fmt: skip
    return pl.DataFrame([*rows, *extra], schema=["name", "age", "sex", "illness"], orient="row")


def write(folder, method="dp-sampling", *, ending="csv", n=N_ROWS, extra=(), more=""):
    """People, a recipe, and what may be spent."""
    getattr(people(n, extra), f"write_{ending}")(folder / f"people.{ending}")
    text = RECIPE.format(ending=ending, method=method, levels=METHODS[method], more=more)
    (folder / "recipe.toml").write_text(text)
    set_limit(ledger_path(folder / f"people.{ending}"), 100, "0.5")
    return folder / "recipe.toml"


def release_of(folder, ending="csv"):
    return folder / f"release.{ending}"


def run(path, **how):
    return overt.run(path, engine="out-of-core", **how)


def spent(folder, ending="csv"):
    return len(read_ledger(ledger_path(folder / f"people.{ending}")).releases)


def rows_of(folder, ending="csv"):
    read = pl.read_parquet if ending == "parquet" else (lambda file: pl.read_csv(file, infer_schema=False))
    return pl.concat([read(file) for file in sorted((release_of(folder, ending) / "release").iterdir())])


def line_counts(labels, copies):
    return dict(zip(zip(*labels.values(), strict=True), copies.tolist(), strict=True))


def counted(recipe, engine):
    intake = with_public_hierarchies(recipe).intake()
    classes = RecordClasses.of(recipe.method)
    return classes.records(count_records(engine, RecordFiles.of(recipe.source.file, intake), classes, intake))


@pytest.mark.parametrize("named", ENGINES)
def test_for_equal_coins_it_is_the_release_of_memory(named, request, tmp_path):
    engine = engine_named(named, request, tmp_path)
    cases = [("dp-cube", "threshold = true"), *((method, "") for method in METHODS)]
    for method, more in cases[:1] if named == "spark" else cases:  # what an engine does is the same for all
        extra = [("x", "", "divers", None), ("y", "1e400", " F", "flu ")]
        recipe = read_recipe(write(tmp_path, method, extra=extra, more=more))
        records = counted(recipe, engine)
        prepared = prepare(recipe)
        made = prepared.method
        names = list(made.trees)
        chains = [
            [made.trees[name].chain(text) for text in prepared.table.column(name).values.to_list()] for name in names
        ]
        levels = [min(of) for of in zip(*made.vectors, strict=True)]
        shown = [
            tuple(of[code][level:] for of, code, level in zip(chains, row, levels, strict=True))
            for row in zip(*(prepared.table.column(name).codes.tolist() for name in names), strict=True)
        ]
        in_order = np.array(sorted(range(len(shown)), key=lambda row: shown[row]))  # the coins are those of this order
        table = overt.read_frame(
            pl.read_csv(tmp_path / "people.csv", infer_schema=False)[in_order], quasi_identifiers=names, row_by_row=True
        )
        for seed in range(3):
            alone = made.anonymize(table, rng=np.random.default_rng(seed))
            here = made.release_counts(records, rng=np.random.default_rng(seed))
            assert line_counts(here.labels, here.copies) == dict(alone.line_counts), (method, seed)
            assert here.facts == alone.facts and here.n_rows > 0
    if named != "memory":
        engine.close()


class AllCoins:
    """Coins that fall as they are told, a word for each row."""

    source = "seeded"

    def __init__(self, falls):
        self.left = [0 if fall else 2**64 - 1 for fall in falls]

    def words(self, n):
        drawn, self.left = self.left[:n], self.left[n:]
        return np.array(drawn, np.uint64)


def test_its_law_is_that_of_memory_by_enumeration_of_all_coins():
    """Every fall of the coins of six rows, each with probability 1 / 64, against the law that is computed from the definition."""
    method = overt.DpSampling(
        epsilon=4, delta="0.9", s="1/2", levels=[(1, 0)],
        hierarchies={"age": CutPoints(levels=[[40]]), "sex": Nested({"*": ["F", "M"]})},
    )  # fmt: skip
    classes = RecordClasses.of(method)
    rows = [("30", "F"), ("35", "F"), ("39.9", "F"), ("40", "M"), ("n/a", "M"), ("41", "M")]
    counts = np.zeros(classes.n_cells, np.int64)
    for row in rows:
        places = [
            of.index(tree.chain(text)[level:])
            for of, tree, text, level in zip(classes.classes, method.trees.values(), row, classes.levels, strict=True)
        ]
        counts[np.ravel_multi_index(places, [len(of) for of in classes.classes])] += 1
    records = classes.records(counts)
    law = defaultdict(Fraction)
    for falls in product((True, False), repeat=len(rows)):
        shown = method.release_counts(records, rng=AllCoins(falls))
        law[tuple(sorted(line_counts(shown.labels, shown.copies).items()))] += Fraction(1, 2 ** len(rows))
    elements = [("<40", "F")] * 3 + [(">=40", "M"), ("*", "M"), (">=40", "M")]
    expected = defaultdict(Fraction)
    for released, p in law_of_sampling([{element: 1} for element in elements], "1/2", method.least_copies).items():
        expected[tuple(sorted(released))] += p
    assert law == expected and len(law) > 1


def test_a_cube_has_the_law_of_memory_within_what_chance_allows(monkeypatch):
    """Two thousand releases each way of a table on which the noise decides; two shares differ by more than 0.08 with a chance below 1e-6 for each."""
    method = overt.DpCube(
        epsilon=4, delta="0.9", s="1/2", levels=[(0,), (1,)], support=3, share="1/4",
        hierarchies={"illness": Nested({"mild": ["cold", "flu"], "severe": ["cancer", "stroke"]})},
    )  # fmt: skip
    column = ["cancer", "cold", "cold", "cold", "flu", "flu"]
    table = overt.read_frame(pl.DataFrame({"illness": column}), quasi_identifiers=["illness"], row_by_row=True)
    classes = RecordClasses.of(method)
    counts = np.zeros(classes.n_cells, np.int64)
    for text in column:
        counts[classes.classes[0].index(method.trees["illness"].chain(text))] += 1
    for slow in ("noise", "facts", "least_copies"):  # which are the same for all releases, and take most of the time
        monkeypatch.setattr(overt.DpCube, slow, getattr(method, slow))
    records, rng = classes.records(counts), np.random.default_rng(8)
    n = 2_000
    shares = [defaultdict(float), defaultdict(float)]
    for _ in range(n):
        alone = method.anonymize(table, rng=rng)
        here = method.release_counts(records, rng=rng)
        for share, found in zip(shares, (alone.line_counts, line_counts(here.labels, here.copies)), strict=True):
            share[tuple(sorted(found.items()))] += 1 / n
    assert len(shares[0]) > 5
    assert all(abs(shares[0][shown] - shares[1][shown]) < 0.08 for shown in {*shares[0], *shares[1]})


@pytest.mark.parametrize(
    ("method", "ending"), [("dp-sampling", "csv"), ("dp-cube", "parquet"), ("dp-full-domain", "csv")]
)
def test_a_release_in_parts_is_made_and_passes_its_check(method, ending, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(dp_parts, "ROWS_OF_PART", 200)
    path = write(tmp_path, method, ending=ending)
    assert main(["run", str(path), "--engine", "out-of-core", "--report"]) == Exit.DONE
    release = release_of(tmp_path, ending)
    assert main(["check", str(tmp_path / f"people.{ending}"), str(release)]) == Exit.DONE
    out, err = capfd.readouterr()
    assert "ledger of the data contains this release" in " ".join(out.split())
    rows = rows_of(tmp_path, ending)
    assert rows.columns == ["age", "sex", "illness"] and rows.equals(rows.sort(rows.columns)) and rows.height > 400
    sizes = [pl.read_parquet(p).height for p in sorted((release / "release").iterdir())] if ending == "parquet" else []
    assert all(size == 200 for size in sizes[:-1])
    # nothing but the release is public, and nothing of the data is in what is printed, kept or recorded
    manifest = json.loads((release / MANIFEST).read_text())
    assert set(manifest) == {
        "dp_manifest", "audience", "id", "created", "versions", "method", "epsilon", "delta", "facts", "coins", "release",
        "hierarchy_files", "recipe",
    }  # fmt: skip
    assert manifest["release"]["rows"] == rows.height and manifest["coins"] == "secret"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        [f".people.{ending}.budget.json.lock", f"people.{ending}", f"people.{ending}.budget.json", "recipe.toml", release.name]
    )  # fmt: skip
    texts = [
        out,
        err,
        *(p.read_text() for p in release.iterdir() if p.is_file()),
        ledger_path(tmp_path / f"people.{ending}").read_text(),
    ]
    said = re.sub(r"[0-9a-f]{32,}|\d{4}-\d\d-\d\dT[\d:.]+", "", " ".join(texts).replace(str(tmp_path), ""))
    found = {int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", said.partition("</style>")[2] + out)}
    assert rows.height in found and not found & {N_ROWS, N_ROWS + 1, N_ROWS - rows.height}
    assert "Kanarienvogel" not in said
    raw = b"".join(part.read_bytes() for part in (release / "release").iterdir())
    assert b"Kanarienvogel" not in raw and b"59" not in raw


def test_other_parts_and_batches_make_the_same_files(tmp_path, monkeypatch):
    """What is written is a function of what is released: of the coins and the records, not of the order or division of the rows."""
    found = []
    for i, order in enumerate(("forwards", "backwards")):
        folder = tmp_path / str(i)
        (folder / "people.parquet").mkdir(parents=True)
        frame = people() if order == "forwards" else people().reverse()
        for j, part in enumerate([frame] if i else frame.iter_slices(300)):
            part.write_parquet(folder / "people.parquet" / f"part-{j}.parquet")
        (folder / "recipe.toml").write_text(
            RECIPE.format(ending="parquet", method="dp-cube", levels=METHODS["dp-cube"], more="")
        )
        set_limit(ledger_path(folder / "people.parquet"), 100, "0.5")
        outcome = run(folder / "recipe.toml", rng=np.random.default_rng(5), report=True)
        assert outcome.coins == "seeded" and "Made with a seed" in str(outcome)
        release = release_of(folder, "parquet")
        manifest = re.sub(r'"(id|created)": "[^"]*"', "", (release / MANIFEST).read_text())
        report = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "", (release / "report.json").read_text())
        found.append((digest_of_parts(release / "release"), manifest, report))
        assert {f.name for f in overt.check(folder / "people.parquet", release).verdict.failures} == {"coins"}
        assert spent(folder, "parquet") == 1
    assert found[0] == found[1]


@pytest.mark.parametrize("n", [0, 1])
def test_an_empty_table_is_released_like_one_row(n, tmp_path):
    outcome = run(write(tmp_path, n=n), report=True)
    assert "0 rows, 0 of them different" in str(outcome)
    assert [p.name for p in (release_of(tmp_path) / "release").iterdir()] == ["part-00001.csv"]
    assert (release_of(tmp_path) / "release" / "part-00001.csv").read_text() == "age,sex,illness\n"
    assert overt.check(tmp_path / "people.csv", release_of(tmp_path)).ok


def test_what_is_refused_spends_nothing_and_depends_on_the_recipe_alone(tmp_path):
    external = 'external = "people.csv"\nsupport = 3'
    text = write(tmp_path).read_text()
    cases = {
        "no end to those that the hierarchy of 'age' has at level 1": text.replace(
            "cut_points = [[30, 40, 50], [40]]", "widths = [10, 20]"
        ),
        "no end to those that the hierarchy of 'age' has at level 0": text.replace("[[1, 0, 1]]", "[[0, 0, 1]]"),
        "with an external database works on one machine": text.replace("[output]", f"{external}\n[output]"),
        "can be a view": text.replace('"people.csv"', '"people"\nformat = "table"', 1),
        "There is no column 'income'": text.replace("[columns.sex]", "[columns.income]"),
        "writes CSV and Parquet": text.replace("release.csv", "release.jsonl"),
    }
    for words, changed in cases.items():
        (tmp_path / "recipe.toml").write_text(changed)
        with pytest.raises(InvalidInput, match=re.escape(words)):
            run(tmp_path / "recipe.toml")
        assert main(["run", str(tmp_path / "recipe.toml"), "--engine", "out-of-core"]) == Exit.DATA
    assert spent(tmp_path) == 0 and not release_of(tmp_path).exists()


def test_how_many_combinations_are_counted_is_decided_by_the_hierarchies():
    many = Nested({f"g{i}": [f"{i}-{j}" for j in range(20)] for i in range(20)})
    hierarchies = dict.fromkeys(("a", "b", "c"), many)
    coarse = overt.DpSampling(epsilon=1, delta="1e-6", s="1/2", levels=[(0, 0, 1)], hierarchies=hierarchies)
    assert RecordClasses.of(coarse).n_cells == 401 * 401 * 21
    fine = overt.DpSampling(epsilon=1, delta="1e-6", s="1/2", levels=[(0, 0, 0)], hierarchies=hierarchies)
    with pytest.raises(TooLarge, match="64,481,201 combinations of labels"):
        RecordClasses.of(fine)
    of_all = {"a": Intervals(widths=(5,)), "b": many}
    suppressed = overt.DpSampling(epsilon=1, delta="1e-6", s="1/2", levels=[(2, 1)], hierarchies=of_all)
    assert RecordClasses.of(suppressed).n_cells == 21


def test_a_budget_that_is_used_up_and_one_that_nobody_set_are_refused(tmp_path):
    path = write(tmp_path)
    set_limit(ledger_path(tmp_path / "people.csv"), "1.5", "0.1")
    assert run(path).ok
    before = digest_of_parts(release_of(tmp_path) / "release")
    for _ in range(2):
        assert main(["run", str(path), "--engine", "out-of-core", "--overwrite"]) == Exit.UNREACHABLE
    assert spent(tmp_path) == 1 and digest_of_parts(release_of(tmp_path) / "release") == before
    ledger_path(tmp_path / "people.csv").unlink()
    with pytest.raises(InvalidInput, match="Nobody has said"):
        run(path, overwrite=True)


def test_a_run_that_fails_after_spending_has_spent_once_and_leaves_what_was_there(tmp_path, monkeypatch):
    path = write(tmp_path)
    assert run(path).ok
    before = {p: p.read_bytes() for p in release_of(tmp_path).rglob("*") if p.is_file()}

    def fails(*_):
        raise OSError("no space left")

    for where in ("overt.engine.scale.dp_at_scale.write_parts", "overt.engine.scale.parts._commit"):
        with monkeypatch.context() as patched:
            patched.setattr(where, fails)
            with pytest.raises(OSError):
                run(path, overwrite=True)
        assert {p: p.read_bytes() for p in release_of(tmp_path).rglob("*") if p.is_file()} == before
    assert spent(tmp_path) == 3
    assert not [p for p in tmp_path.iterdir() if p.name.endswith((".part", ".old"))]
    assert run(path, overwrite=True).ok and spent(tmp_path) == 4
    assert overt.check(tmp_path / "people.csv", release_of(tmp_path)).ok


KILLED = """
import os, signal, sys
import overt
from overt.engine.scale import dp_at_scale, record_counts
def dies(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "counting":
    record_counts.sparse = dies
else:
    dp_at_scale.read_parts = dies
overt.run(sys.argv[1], engine="out-of-core", overwrite=True)
"""


@pytest.mark.parametrize(("when", "n_spent"), [("counting", 0), ("checking", 1)])
def test_a_run_that_is_killed_leaves_ledger_and_release_whole(when, n_spent, tmp_path):
    path = write(tmp_path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    died = subprocess.run([sys.executable, "-c", KILLED, str(path), when], env=environment, check=False)
    assert died.returncode == -signal.SIGKILL
    assert spent(tmp_path) == n_spent and not release_of(tmp_path).exists()
    assert run(path).ok and spent(tmp_path) == n_spent + 1
    assert overt.check(tmp_path / "people.csv", release_of(tmp_path)).ok
    assert not [p for p in tmp_path.iterdir() if p.name.endswith((".part", ".old"))]


def test_a_release_of_another_kind_in_its_place_goes_with_its_owners_record(tmp_path):
    path = write(tmp_path)
    other = RECIPE.partition("[method]")[0].format(ending="csv")
    (tmp_path / "other.toml").write_text(
        f'{other}[[goal]]\nproperty = "k-anonymity"\nk = 3\n[method]\nname = "mondrian"\n[output]\npath = "release.csv"\n'
    )
    assert run(tmp_path / "other.toml").ok and (tmp_path / "release.csv.owner.json").exists()
    assert run(path, overwrite=True).ok
    assert not (tmp_path / "release.csv.owner.json").exists()
    assert overt.check(tmp_path / "people.csv", release_of(tmp_path)).ok
    assert run(tmp_path / "other.toml", overwrite=True).ok
    assert overt.check(tmp_path / "people.csv", release_of(tmp_path)).ok


def altered(release, change):
    """Change a release in one way, and make its digests fit."""
    folder, manifest = release / "release", release / MANIFEST
    first, second, *_ = sorted(folder.iterdir())
    text = first.read_text()
    lines = text.splitlines(keepends=True)
    match change:
        case "order":
            first.write_text("".join([lines[0], lines[-1], *lines[1:-1]]))
        case "order of parts":
            content = first.read_bytes()
            first.write_bytes(second.read_bytes())
            second.write_bytes(content)
        case "label":
            first.write_text(text.replace("<30", "<31"))
        case "another level":
            first.write_text(text.replace("<30", "<40"))
        case "few copies":
            first.write_text("".join([*lines[:-1], "*,*,*\n"]))
        case "column":
            first.write_text("".join(line.replace("\n", ",1\n") for line in lines))
        case "quotes":
            first.write_text(text.replace(",F,", ',"F",', 1))
        case "blank line":
            first.write_text(text + "\n")
        case "size of a part":
            lines_of_second = second.read_text().splitlines(keepends=True)
            first.write_text(text + lines_of_second[1])
            second.write_text("".join([lines_of_second[0], *lines_of_second[2:]]))
        case "name of a part":
            first.rename(folder / "part-00000-0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f-c000.csv")
        case "a file more":
            (release / "notes.txt").touch()
        case "a part more":
            (folder / "part-00000.csv").write_text(text)
        case "facts":
            manifest.write_text(manifest.read_text().replace("kept with probability 0.5", "kept with probability 0.4"))
        case "rows":
            manifest.write_text(re.sub(r'"rows": \d+', '"rows": 7', manifest.read_text()))
        case "spelling of the manifest":
            manifest.write_text(manifest.read_text() + "\n")
        case "cost":
            manifest.write_text(manifest.read_text().replace('"epsilon": "1"', '"epsilon": "1/2"', 1))
    digest = json.loads(manifest.read_text())["release"]["sha256"]
    manifest.write_text(manifest.read_text().replace(digest, digest_of_parts(folder)))


ALTERED = {
    "order": "order", "order of parts": "order", "label": "labels", "another level": "labels", "few copies": "copies",
    "column": "columns", "quotes": "spelling", "blank line": "spelling", "size of a part": "spelling", "name of a part": "files",
    "a file more": "files", "a part more": "files", "facts": "manifest", "rows": "manifest", "spelling of the manifest": "manifest",
    "cost": "manifest",
}  # fmt: skip


def test_the_check_finds_what_was_altered_although_digests_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(dp_parts, "ROWS_OF_PART", 150)
    path = write(tmp_path)
    assert run(path).ok
    kept = {p.relative_to(release_of(tmp_path)): p.read_bytes() for p in release_of(tmp_path).rglob("*") if p.is_file()}
    for change, finding in ALTERED.items():
        for p in [p for p in release_of(tmp_path).rglob("*") if p.is_file()]:
            p.unlink()
        for name, content in kept.items():
            (release_of(tmp_path) / name).write_bytes(content)
        assert overt.check(tmp_path / "people.csv", release_of(tmp_path)).ok
        altered(release_of(tmp_path), change)
        failed = {f.name for f in overt.check(tmp_path / "people.csv", release_of(tmp_path)).verdict.failures}
        assert finding in failed and "digests" not in failed, (change, failed)


@pytest.mark.parametrize("what", ["a folder", "a link", "a table behind a link"])
def test_what_lies_in_place_of_a_file_is_found(tmp_path, what):
    assert run(write(tmp_path)).ok
    release, report = release_of(tmp_path), release_of(tmp_path) / "report.html"
    if what == "a folder":
        report.mkdir()
        (report / "data.csv").write_text("Goldammer")
    elif what == "a link":
        report.symlink_to(tmp_path / "people.csv")
    else:
        (release / "release").rename(tmp_path / "elsewhere")
        (release / "release").symlink_to(tmp_path / "elsewhere")
    failures = overt.check(tmp_path / "people.csv", release).verdict.failures
    assert "files" in {finding.name for finding in failures}


def test_a_check_without_data_and_with_a_recipe(tmp_path):
    path = write(tmp_path)
    text = people().write_csv(separator=";")
    (tmp_path / "people.csv").write_text(text)
    assert run(path).ok
    assert (release_of(tmp_path) / "release" / "part-00001.csv").read_text().startswith("age;sex;illness\n")
    (tmp_path / "people.csv").unlink()
    assert overt.check(tmp_path / "people.csv", release_of(tmp_path)).ok
    ledger_path(tmp_path / "people.csv").unlink()
    assert overt.check(tmp_path / "people.csv", release_of(tmp_path)).ok
    (tmp_path / "people.csv").write_text(text)
    failures = overt.check(tmp_path / "people.csv", release_of(tmp_path), recipe=path).verdict.failures
    assert {f.name for f in failures} == {"coins"}  # which the manifest says
    part_lines = (release_of(tmp_path) / "release" / "part-00001.csv").read_text().splitlines(keepends=True)
    with (release_of(tmp_path) / "release" / "part-00001.csv").open("a") as part:
        part.write(part_lines[-1])
    assert "digests" in {f.name for f in overt.check(tmp_path / "people.csv", release_of(tmp_path)).verdict.failures}


def test_progress_does_not_say_how_much_there_is_to_do(tmp_path):
    told = []
    run(write(tmp_path, "dp-cube"), on_progress=lambda *words: told.append(words))
    assert len(told) >= 4 and all(words[1:] == (0, 0) for words in told)


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_a_release_made_on_spark_is_that_of_one_machine(spark, tmp_path):
    path = write(tmp_path, "dp-cube")
    found = []
    for engine in (spark, "out-of-core"):
        outcome = overt.run(path, engine=engine, staging=str(tmp_path), rng=np.random.default_rng(2), overwrite=True)
        assert outcome.ok and outcome.engine == ("spark" if engine is spark else engine)
        found.append(digest_of_parts(release_of(tmp_path) / "release"))
    assert found[0] == found[1] and spent(tmp_path) == 2
    assert overt.run(path, engine=spark, staging=str(tmp_path), overwrite=True).ok
    assert overt.check(tmp_path / "people.csv", release_of(tmp_path)).ok
    assert not list(tmp_path.glob("overt-staged-*"))
