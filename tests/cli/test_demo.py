# SPDX-License-Identifier: Apache-2.0
import json

import pytest

from cli.test_json_fields import documented, fits
from overt.cli.demo import RECIPE

FILES = [
    "birthplace.csv",
    "census.csv",
    "education.csv",
    "hospital-blind-buckets.toml",
    "hospital-mondrian.toml",
    "hospital.csv",
    "mondrian.toml",
    "recipe.toml",
    "release.csv",
    "release.csv.manifest.json",
    "release.csv.owner.json",
    "release.owner-report.html",
    "release.owner-report.json",
    "release.report.html",
    "release.report.json",
    "release.sensitive.csv",
]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_demo_makes_and_checks_a_release(tmp_path, overt):
    code, out, _ = overt("demo", "--rows", "2000")
    assert code == 0
    assert sorted(path.name for path in (tmp_path / "demo-output").iterdir()) == FILES
    assert out.startswith("Of 2,000 made-up people in demo-output/census.csv, the first three:\n\n  Age")
    assert "Release   2,000 rows in " in out
    assert "by blind-buckets\n" in out
    assert "replaying adds nothing, whatever they believed before (strong)" in out
    assert "Report    open demo-output/release.report.html in a browser\n" in out
    assert "Checked   " in out
    assert "Next      change demo-output/recipe.toml, then: overt run demo-output/recipe.toml --overwrite\n" in out


def test_the_demo_tells_what_replaying_both_methods_reveals(overt):
    """Exactly: Mondrian draws no coins, and every table that fits its release of 96 patients is weighed."""
    code, out, _ = overt("demo", "--rows", "1000")
    assert code == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "mondrian 8 2 every table that fits was weighed" in lines
    assert "blind-buckets nobody nobody proof, for any belief" in lines
    assert any(line.startswith("mondrian ") and line.endswith(" bit something") for line in lines)
    assert any(line.startswith("blind-buckets ") and line.endswith(" bit nothing, for any belief") for line in lines)


def test_the_recipe_of_the_demo_can_be_changed_and_run_again(tmp_path, overt):
    assert overt("demo", "--rows", "2000", "--into", "here", "--quiet") == (0, "", "")
    (tmp_path / "here" / "recipe.toml").write_text(RECIPE.replace("k = 5", "k = 50").replace("HALVINGS", "0"))
    assert overt("run", "here/recipe.toml", "--quiet", "--overwrite")[0] == 0
    assert overt("check", "here/census.csv", "here/release.csv", "--quiet")[0] == 0
    assert overt("demo", "--rows", "2000", "--into", "here", "--quiet")[0] == 0  # over itself


def test_json(overt):
    code, out, _ = overt("demo", "--rows", "2000", "--json")
    document = json.loads(out)
    said = documented("demo")
    assert set(document) - {"audience"} == set(said) and all(fits(document[name], said[name]) for name in said)
    assert code == 0
    assert document["folder"] == "demo-output"
    assert document["run"]["rows"] == 2000
    assert document["check"]["ok"]
    assert [one["method"] for one in document["costs"]] == ["mondrian", "blind-buckets"]
    assert [one["leak"] for one in document["replays"]] == [8 / 96, 0]


def test_nobodys_files_are_replaced(tmp_path, overt):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "census.csv").write_text("precious")
    assert overt("demo", "--into", "mine") == (
        3,
        "",
        "mine contains files that no demo wrote; give --into a new folder.\n",
    )
    assert overt("demo", "--into", "mine/census.csv") == (3, "", "mine/census.csv is a file; give --into a folder.\n")
    assert (tmp_path / "mine" / "census.csv").read_text() == "precious"


def test_too_few_people_for_the_goal(overt):
    code, out, err = overt("demo", "--rows", "4", "--quiet")
    assert (code, out) == (4, "")
    assert "The table has 4 rows: boxes of 5 and buckets of 12 rows are asked for" in err
