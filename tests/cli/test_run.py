# SPDX-License-Identifier: Apache-2.0
import csv
import hashlib
import json
import re
import shlex
import stat
import tomllib
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from cli.conftest import ANATOMY, RECIPE
from overt.algorithms.mondrian import Mondrian
from overt.audience import PRINTED
from overt.cautions import caution
from overt.checks import Finding, Verdict
from overt.samples import census

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "recipe.md"


def change(folder, *replacements):
    text = RECIPE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    (folder / "recipe.toml").write_text(text)


def test_a_run_writes_the_release_and_says_what_holds(folder, overt):
    code, out, err = overt("run", "recipe.toml")
    assert code == 0
    assert err.splitlines()[0] == "Reading hospital.csv"
    assert err.splitlines()[-1] == "Writing"
    assert out.startswith("For the owner of the data only: do not publish what is printed here.\n\n")
    labels = [line[:12].strip() for line in out.splitlines()[2:] if line[:12].strip()]
    assert labels == [
        "Release",
        "Holds",
        "Against",
        "Leak",
        "Instead",
        "Cost",
        "Caution",
        "Files",
        "Owner",
        "Again",
        "Check",
    ]
    assert re.search(r"Release   96 rows in \d+ groups, by mondrian\n", out)
    assert re.search(r"Holds     4-anonymity; reached: k = [4-9]\n", out)
    assert "Against   someone who sees the release, but not someone who replays the method\n" in out
    assert "Again     overt run recipe.toml --overwrite\n            (publish one release only: two of" in out
    assert "Check     overt check hospital.csv release.csv\n" in out
    with (folder / "release.csv").open() as release:
        header, *lines = csv.reader(release)
    assert header == ["Birth date", "Postcode", "Sex", "Disease"]
    assert len(lines) == 96
    names = set(pl.read_csv(folder / "hospital.csv").get_column("Name"))
    assert not any(name in (folder / "release.csv").read_text() for name in names)


def test_a_release_has_the_separator_of_its_input(folder, overt):
    pl.read_csv(folder / "hospital.csv").write_csv(folder / "hospital.csv", separator=";")
    assert overt("run", "recipe.toml", "--quiet")[0] == 0
    assert (folder / "release.csv").read_text().splitlines()[0] == "Birth date;Postcode;Sex;Disease"
    assert overt("check", "hospital.csv", "release.csv", "--quiet")[0] == 0


def test_the_cost_is_what_the_groups_cost(folder, overt_json):
    _, outcome = overt_json("run", "recipe.toml")
    with (folder / "release.csv").open() as release:
        _, *lines = csv.reader(release)
    sizes = {}
    for line in lines:
        sizes[tuple(line[:3])] = sizes.get(tuple(line[:3]), 0) + 1
    assert outcome["groups"] == len(sizes)
    assert outcome["discernibility"] == sum(size**2 for size in sizes.values())
    assert outcome["average_group_size"] == 96 / len(sizes)
    assert outcome["goal"][0] == {
        "property": "k-anonymity",
        "asked": "4-anonymity",
        "reached": f"k = {min(sizes.values())}",
    }


def test_groups_are_counted_as_a_reader_sees_them(folder, overt_json):
    pl.DataFrame({"A": ["a", "b", "c", "d"] * 5, "S": list("uvwx") * 5}).write_csv(folder / "letters.csv")
    (folder / "letters.toml").write_text(LETTERS)
    _, outcome = overt_json("run", "letters.toml")
    lines = (folder / "out.csv").read_text().splitlines()[1:]
    sizes = Counter(line.partition(",")[0] for line in lines)
    assert sizes == {"ab": 10, "cd": 10}
    assert (outcome["groups"], outcome["discernibility"]) == (2, 200)
    assert json.loads((folder / "out.csv.manifest.json").read_text())["groups"] == 2


LETTERS = """\
version = 1
[input]
path = "letters.csv"
[columns.A]
role = "quasi-identifier"
hierarchy = { nested = { ab = ["a", "b"], cd = ["c", "d"] } }
[columns.S]
role = "sensitive"
[[goal]]
property = "l-diversity"
l = 2
[method]
name = "mondrian"
relaxed = true
[output]
path = "out.csv"
"""


def test_json_is_one_document_and_nothing_else(folder, overt):
    code, out, _ = overt("run", "recipe.toml", "--json")
    outcome = json.loads(out)
    assert code == 0
    assert outcome["rows"] == 96
    assert outcome["ok"] and all(finding["ok"] for finding in outcome["findings"])
    assert outcome["files"] == {"release": "release.csv"}
    assert outcome["manifest"] == "release.csv.manifest.json"


def test_quiet_says_nothing(folder, overt):
    assert overt("run", "recipe.toml", "--quiet") == (0, "", "")
    assert (folder / "release.csv").exists()


def test_the_manifest_tells_everything_but_the_seed_the_data_and_the_place(folder, overt):
    assert overt("run", "recipe.toml", "--seed", "918273645")[0] == 0
    text = (folder / "release.csv.manifest.json").read_text()
    manifest = json.loads(text)
    assert list(manifest["versions"]) == ["python", "overt", "numpy", "numba", "polars"]
    assert manifest["method"] == "mondrian"
    assert manifest["goal"] == ["4-anonymity", "2-diversity (frequency)"]
    assert manifest["recipe"]["method"] == {"name": "mondrian", "relaxed": False, "choose": "widest", "cells": "tight"}
    assert manifest["audience"] == "public"
    assert manifest["release"]["release"]["rows"] == 96
    data = (folder / "hospital.csv").read_bytes()
    assert "hospital.csv" not in text and hashlib.sha256(data).hexdigest() not in text
    assert "918273645" not in text and "seed" not in text
    assert str(folder) not in text and str(folder.parent) not in text
    assert not any(value in text for value in ("Influenza", "Bruno", "53227", "1982"))


def test_what_ties_a_release_to_its_data_is_for_the_owner_alone(folder, overt):
    assert overt("run", "recipe.toml", "--quiet")[0] == 0
    path = folder / "release.csv.owner.json"
    record = json.loads(path.read_text())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert record["audience"] == "owner"
    assert record["manifest_sha256"] == hashlib.sha256((folder / "release.csv.manifest.json").read_bytes()).hexdigest()
    assert record["input"] == {
        "name": "hospital.csv",
        "sha256": hashlib.sha256((folder / "hospital.csv").read_bytes()).hexdigest(),
        "rows": 96, "rows_dropped": 0, "rows_suppressed": 0,
    }  # fmt: skip


def test_a_random_method_repeats_with_its_seed_only(folder, overt):
    (folder / "recipe.toml").write_text(ANATOMY)
    releases = []
    for words in (["--seed", "1"], ["--seed", "1"], ["--seed", "2"], [], []):
        assert overt("run", "recipe.toml", "--overwrite", *words)[0] == 0
        releases.append((folder / "release.csv").read_bytes())
    assert releases[0] == releases[1]
    assert len(set(releases)) == 4


def test_buckets_are_two_files(folder, overt):
    (folder / "recipe.toml").write_text(ANATOMY)
    code, out, _ = overt("run", "recipe.toml")
    assert code == 0
    assert (folder / "release.csv").read_text().splitlines()[0] == "bucket,Birth date,Postcode,Sex"
    assert (folder / "release.sensitive.csv").read_text().splitlines()[0] == "bucket,Disease"
    assert "Quasi-identifiers are published exactly" in out


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "arrow", "jsonl"])
def test_every_format_is_written_and_checked(folder, overt, ending):
    (folder / "recipe.toml").write_text(ANATOMY.replace("release.csv", f"my.release.{ending}"))
    assert overt("run", "recipe.toml")[0] == 0
    assert (folder / f"my.release.sensitive.{ending}").is_file()
    code, out, _ = overt("check", "hospital.csv", f"my.release.{ending}")
    assert code == 0, out


def test_an_existing_release_is_not_replaced_unasked(folder, overt):
    (folder / "release.csv.manifest.json").write_text("mine")
    code, out, err = overt("run", "recipe.toml")
    assert (code, out) == (3, "")
    assert err == (
        "release.csv.manifest.json exists already; add --overwrite to replace it, or give [output] another path.\n"
    )
    assert not (folder / "release.csv").exists()
    assert overt("run", "recipe.toml", "--overwrite")[0] == 0
    change(folder, ('path = "release.csv"', 'path = "release.csv"\noverwrite = true'))
    assert overt("run", "recipe.toml")[0] == 0


READ_BY_IT = "{} is read by this recipe and would be replaced; give [output] another path.\n"
NO_FORMAT = "{} is JSON; one object in each line is expected, in a file whose name ends in .jsonl.\n"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        *((name, READ_BY_IT) for name in ("alias.csv", "sex.csv", "recipe.toml")),
        ("hospital.csv.budget.json", NO_FORMAT),
    ],
)
def test_what_a_recipe_reads_is_never_replaced(folder, overt, target, said):
    (folder / "alias.csv").symlink_to("hospital.csv")
    (folder / "sex.csv").write_text("female;*\nmale;*\n")
    (folder / "hospital.csv.budget.json").write_text("a ledger")
    change(
        folder,
        (
            '[columns.Sex]\nrole = "quasi-identifier"',
            '[columns.Sex]\nrole = "quasi-identifier"\nhierarchy = { file = "sex.csv" }',
        ),
        ("release.csv", target),
    )
    before = (folder / target).read_bytes()
    code, _, err = overt("run", "recipe.toml", "--overwrite")
    assert (code, err) == (3, said.format(target))
    assert (folder / target).read_bytes() == before


def test_a_goal_that_cannot_be_reached(folder, overt):
    change(folder, ("k = 4", "k = 97"))
    code, out, err = overt("run", "recipe.toml", "--quiet")
    assert (code, out) == (4, "")
    notice, sentence = err.splitlines()  # it says what was counted in the data
    assert (
        notice == "For the owner of the data only: do not publish what is printed here."
        and "cannot be reached" in sentence
    )
    assert sorted(path.name for path in folder.iterdir()) == ["hospital.csv", "recipe.toml"]


def test_data_that_is_not_there(folder, overt):
    (folder / "hospital.csv").unlink()
    assert overt("run", "recipe.toml", "--quiet") == (
        3,
        "",
        "There is no file hospital.csv; check the name and the folder.\n",
    )


def test_a_column_that_is_not_there(folder, overt):
    change(folder, ("[columns.Sex]", "[columns.Gender]"))
    code, _, err = overt("run", "recipe.toml", "--quiet")
    assert code == 3
    assert err.startswith("There is no column 'Gender'; the columns are 'Name', ")


def test_missing_sensitive_values_are_dropped_if_the_recipe_says_so(folder, overt, overt_json):
    rows = (folder / "hospital.csv").read_text().replace("Hepatitis", "")
    n_missing = rows.count(",\n")
    (folder / "hospital.csv").write_text(rows)
    code, _, err = overt("run", "recipe.toml", "--quiet")
    assert code == 3 and err.startswith(
        f"{PRINTED}\nThe sensitive column 'Disease' is missing in {n_missing} of 96 rows;"
    )
    change(folder, ('role = "sensitive"', 'role = "sensitive"\nmissing = "drop"'))
    code, outcome = overt_json("run", "recipe.toml")
    assert code == 0
    assert (outcome["rows"], outcome["rows_dropped"]) == (96 - n_missing, n_missing)
    assert overt("check", "hospital.csv", "release.csv", "--quiet")[0] == 0
    code, out, _ = overt("run", "recipe.toml", "--overwrite")
    assert f"({n_missing} rows with a missing sensitive value left out)" in out
    assert "who is not in the release" in " ".join(out.split())
    assert "who is not in the release" not in (folder / "release.csv.manifest.json").read_text()
    change(folder, ('role = "sensitive"', 'role = "sensitive"\nmissing = "own value"'))
    code, out, _ = overt("run", "recipe.toml", "--overwrite")
    assert code == 0
    assert "who is not in the release" not in " ".join(out.split())


def test_a_failed_check_writes_nothing(folder, overt, overt_json, monkeypatch):
    verdict = Verdict((Finding("rows", True, "Fine."), Finding("goal", False, "1 group breaks 4-anonymity.")))
    monkeypatch.setattr("overt.engine.run.check_release", lambda *_, **__: verdict)
    code, out, _ = overt("run", "recipe.toml")
    assert code == 1
    assert out.startswith(f"{PRINTED}\n\nNothing was written: the release did not pass its own check.")
    assert "  FAILED  goal  1 group breaks 4-anonymity.\n" in out
    code, outcome = overt_json("run", "recipe.toml")
    assert (code, outcome["ok"], outcome["files"], outcome["manifest"]) == (1, False, {}, None)
    assert sorted(path.name for path in folder.iterdir()) == ["hospital.csv", "recipe.toml"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device"), RuntimeError()])
@pytest.mark.parametrize(
    "place", ["overt.engine.run.records_of", "overt.io.files.digest", "overt.io.atomic._force_to_disk"]
)
def test_a_failure_while_writing_leaves_nothing_behind(folder, overt, monkeypatch, place, error):
    assert overt("run", "recipe.toml")[0] == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    change(folder, ("k = 4", "k = 9"))

    def fail(*_):
        raise error

    monkeypatch.setattr(place, fail)
    code, out, err = overt("run", "recipe.toml", "--overwrite", "--quiet")
    assert (code, out) == ({"KeyboardInterrupt": 130, "OSError": 3, "RuntimeError": 70}[type(error).__name__], "")
    assert err.count("\n") == 1
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    del before["recipe.toml"], after["recipe.toml"]
    assert after == before


CAUTIONS = {
    "distinct": (
        ('[[goal]]\nproperty = "l-diversity"', '[[goal]]\nproperty = "distinct-l-diversity"'),
        "distinct 2-diversity counts different values and bounds nobody's belief",
    ),
    "no goal looks at the sensitive column": (
        ('[[goal]]\nproperty = "l-diversity"\nl = 2\n', ""),
        "The goal does not look at 'Disease': in ",
    ),
    "other columns": (
        ('path = "release.csv"', 'path = "release.csv"\nothers = ["Admission"]'),
        "Released unchanged, and not covered by any guarantee: 'Admission'.",
    ),
}


@pytest.mark.parametrize("case", CAUTIONS)
def test_cautions(folder, overt, case):
    replacement, sentence = CAUTIONS[case]
    change(folder, replacement)
    code, out, _ = overt("run", "recipe.toml")
    assert code == 0
    assert sentence in out[out.index("  Caution   ") :]
    assert out.count("Caution") == 1


def test_what_a_method_warns_of_is_a_caution(folder, overt, monkeypatch):
    anonymize = Mondrian.anonymize

    def warn(*words, **options):
        caution("The second sentence is new.")
        return anonymize(*words, **options)

    monkeypatch.setattr(Mondrian, "anonymize", warn)
    code, out, err = overt("run", "recipe.toml")
    assert code == 0
    assert "Caution   The second sentence is new.\n" in out
    assert "second sentence" not in err


def test_the_second_file_is_not_replaced_unasked(folder, overt):
    (folder / "recipe.toml").write_text(ANATOMY)
    (folder / "release.sensitive.csv").write_text("mine")
    code, _, err = overt("run", "recipe.toml", "--quiet")
    assert code == 3
    assert err.startswith("release.sensitive.csv exists already; add --overwrite")
    assert not (folder / "release.csv").exists()


def recipes_in_docs():
    return [text for text in re.findall(r"```toml\n(.*?)```", DOCS.read_text(), re.DOTALL) if "version" in text]


@pytest.mark.parametrize("text", recipes_in_docs(), ids=lambda text: tomllib.loads(text)["output"]["path"])
def test_the_recipes_in_the_docs_run(folder, overt, text):
    census(3000).write_csv(folder / "census.csv")
    (folder / "recipe.toml").write_text(text)
    recipe = tomllib.loads(text)
    code, out, err = overt("run", "recipe.toml")
    assert code == 0, err
    code, out, err = overt("check", recipe["input"]["path"], recipe["output"]["path"])
    assert code == 0, out + err


def test_no_toml_in_the_docs_is_left_out():
    assert len(recipes_in_docs()) == DOCS.read_text().count("```toml") == 3


def test_a_run_says_in_short_what_someone_who_has_the_method_learns(folder, overt, overt_json):
    line = next(line for line in overt("run", "recipe.toml")[1].splitlines() if line.startswith("  Leak"))
    assert re.search(
        r"of people above the promised 1/2 to someone who knows the method, 0\s% to someone who does not \(exact\)$",
        line,
    )
    change(folder, ("l = 2", "l = 4"))
    code, out, _ = overt("run", "recipe.toml", "--overwrite")
    assert code == 0
    line = next(line for line in out.splitlines() if line.startswith("  Leak"))
    sampled = r"  Leak      (not enough sampling yet: run|some people are above the promised 1/4 .*;) overt audit --seconds \d+( says how many)?"
    assert re.fullmatch(sampled, line)
    _, outcome = overt_json("run", "recipe.toml", "--overwrite")
    assert outcome["leak"]["audit"] is None and outcome["leak"]["verdict"] in ("not known yet", "some")
    _, outcome = overt_json("run", "recipe.toml", "--overwrite", "--no-audit")
    assert outcome["leak"] is None
    change(folder, ("[output]", "[audit]\nseconds = 0\n\n[output]"))
    code, out, _ = overt("run", "recipe.toml", "--overwrite")
    assert code == 0 and "Leak" not in out


def test_a_run_says_why_it_was_not_audited(folder, overt, monkeypatch):
    change(folder, ('"mondrian"', '"rda"'), ('property = "k-anonymity"\nk = 4\n\n[[goal]]\n', ""))
    assert "  Leak      none, by proof: replaying this method adds nothing" in overt("run", "recipe.toml")[1]
    change(folder)
    monkeypatch.setattr("overt.engine.quick_audit.MOST_ROWS", 90)
    out = overt("run", "recipe.toml", "--overwrite")[1]
    assert (
        "  Leak      not audited: 96 rows are too many for the short estimate of a run; try overt audit; try overt audit\n"
        in out
    )
    change(folder, ("[output]", "[audit]\nseconds = 0.2\n\n[output]"))  # who says how long means it
    line = next(line for line in overt("run", "recipe.toml", "--overwrite")[1].splitlines() if "  Leak" in line)
    assert re.match(r"  Leak      (.* the promised 1/2|not enough sampling yet)", line)


def test_an_audit_in_passing_ends_when_it_takes_too_long(folder, overt, monkeypatch):
    monkeypatch.setattr("overt.engine.quick_audit.PATIENCE", -1.0)
    out = overt("run", "recipe.toml")[1]
    assert "  Leak      not audited: it takes too long for a run; try overt audit\n" in out
    change(folder, ('"mondrian"', '"full-domain"'))
    monkeypatch.setattr("overt.engine.quick_audit.MOST_GENERALIZED", 96)
    out = overt("run", "recipe.toml", "--overwrite")[1]
    assert re.search(
        r"not audited: to replay a search of \d+ nodes takes too long for a run; try overt audit; try overt audit\n",
        out,
    )


def test_nothing_is_measured_of_many_groups_that_give_nothing_away(folder, overt, monkeypatch):
    monkeypatch.setattr("overt.engine.quick_audit.MOST_CHANCES", 10)
    monkeypatch.setattr("overt.engine.quick_audit.audit_columns", None)
    change(folder, ('"mondrian"', '"rda"'), ('property = "k-anonymity"\nk = 4\n\n[[goal]]\n', ""))
    assert "  Leak      none, by proof" in overt("run", "recipe.toml")[1]


def test_an_audit_changes_neither_the_release_nor_its_manifest(folder, overt):
    change(folder, ('"mondrian"', '"rda"'), ('property = "k-anonymity"\nk = 4\n\n[[goal]]\n', ""))
    found = []
    for options in ([], ["--no-audit"]):
        assert overt("run", "recipe.toml", "--seed", "7", "--overwrite", "--quiet", *options)[0] == 0
        manifest = json.loads((folder / "release.csv.manifest.json").read_text())
        del manifest["created"]
        found.append(((folder / "release.csv").read_text(), manifest))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["recipe.toml", "my recipe.toml"])
def test_the_lines_again_and_check_work_as_they_are_printed(folder, overt, name):
    if name != "recipe.toml":
        (folder / "recipe.toml").rename(folder / name)
    _, out, _ = overt("run", name, "--report")
    for label in ("Again", "Check"):
        [line] = [line for line in out.splitlines() if line.split()[:1] == [label]]
        program, *words = shlex.split(line.removeprefix(f"  {label}"))
        assert program == "overt" and overt(*words)[0] == 0
    assert (folder / "release.report.html").exists()


def test_one_group_is_no_groups(folder, overt):
    text = (folder / "recipe.toml").read_text().replace("k = 4", "k = 96")
    (folder / "recipe.toml").write_text(text)
    _, out, _ = overt("run", "recipe.toml")
    assert "96 rows in 1 group, by mondrian" in out and "1 groups" not in out


@pytest.mark.parametrize("method", ["mondrian", "blind-buckets"])
def test_no_report_counts_one_of_something_as_several(folder, overt, method):
    text = (
        (folder / "recipe.toml")
        .read_text()
        .replace("k = 4", "k = 96")
        .replace('name = "mondrian"', f'name = "{method}"')
    )
    (folder / "recipe.toml").write_text(text)
    assert overt("run", "recipe.toml", "--report")[0] == 0
    for name in ("release.report.html", "release.owner-report.html"):
        said = said_on(folder / name)
        assert "1 group" in said  # there is one
        assert not re.findall(r"(?<![\d,.–-])1 (?:groups|people|persons|rows|buckets|others|sets|columns)\b", said)


def said_on(page):
    """What somebody reads on a page, without its plots and tables."""
    body = re.sub(r"<(style|script|svg|table)\b.*?</\1>", " ", page.read_text(), flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", body).split())
