# SPDX-License-Identifier: Apache-2.0
import json
import re
import stat

from cli.conftest import RECIPE
from overt.samples import hospital


def test_a_run_writes_a_report_with_the_release(folder, overt):
    code, out, _ = overt("run", "recipe.toml", "--report")
    assert code == 0
    for ending in ("html", "json"):
        assert f"release.report.{ending}" in out and f"release.owner-report.{ending}" in out
    page = (folder / "release.owner-report.html").read_text(encoding="utf-8")
    assert "4-anonymity" in page and "hospital.csv" in page and str(folder) not in page
    document = json.loads((folder / "release.owner-report.json").read_text(encoding="utf-8"))
    assert document["checked"] and document["rows"] == 96
    (folder / "again").mkdir()
    (folder / "again" / "recipe.toml").write_text(document["recipe"].replace('"hospital.csv"', '"../hospital.csv"'))
    assert (
        overt("run", "again/recipe.toml", "--quiet")[0] == 0
    )  # the recipe that a report shows makes the release again
    assert (folder / "again" / "release.csv").read_bytes() == (folder / "release.csv").read_bytes()


def test_a_report_that_is_there_stops_the_run_before_it_begins(folder, overt):
    (folder / "release.report.html").write_text("mine")
    code, _, err = overt("run", "recipe.toml", "--report")
    assert code == 3 and "release.report.html exists already" in err
    assert not (folder / "release.csv").exists()


def test_without_asking_there_is_no_report(folder, overt_json):
    _, outcome = overt_json("run", "recipe.toml")
    assert outcome["report"] == []
    assert not (folder / "release.report.html").exists()


def test_no_identifier_and_no_rare_value_is_in_the_report(folder, overt):
    people = (folder / "hospital.csv").read_text().splitlines()
    overt("run", "recipe.toml", "--report", "--quiet")
    text = (folder / "release.owner-report.html").read_text() + (folder / "release.owner-report.json").read_text()
    for line in people[1:]:
        name, birth, postcode, *_ = line.split(",")
        assert name not in text and birth not in text
        assert not re.search(rf"(?<![\d.]){postcode}(?!\d)", text)


def test_the_public_report_says_what_a_review_board_asks_and_nothing_of_the_data(folder, overt):
    assert overt("run", "recipe.toml", "--report", "--quiet")[0] == 0
    page = (folder / "release.report.html").read_text(encoding="utf-8")
    document = json.loads((folder / "release.report.json").read_text(encoding="utf-8"))
    assert (document["audience"], document["release"], document["strength"]) == ("public", "release.csv", "none")
    for words in (
        "4-anonymity",
        "2-diversity",
        "Against whom",
        "What is not promised",
        "Does not resist someone who replays",
    ):
        assert words in page
    assert document["files"][0]["sha256"] in page and document["files"][0]["rows"] == 96
    shown = (folder / "release.csv").read_text()
    for name, *cells in (line.split(",") for line in (folder / "hospital.csv").read_text().splitlines()[1:]):
        assert name not in page and "hospital" not in page
        assert all(cell in shown or not re.search(rf"(?<![\w.]){re.escape(cell)}(?!\w)", page) for cell in cells)
    assert sum(document["columns"][-1]["distribution"].values()) == 96


def test_the_owners_report_says_on_every_page_that_it_must_not_leave(folder, overt):
    assert overt("run", "recipe.toml", "--report", "--quiet")[0] == 0
    for ending in ("html", "json"):
        path = folder / f"release.owner-report.{ending}"
        assert "do not pass this on" in path.read_text() and stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "must not leave" not in (folder / f"release.report.{ending}").read_text()
    page = (folder / "release.owner-report.html").read_text()
    assert "position: sticky" in page  # on the screen
    assert ".owner-only { display: table-header-group" in page  # repeated by browsers on every printed sheet


def test_values_of_nested_hierarchies_are_not_shown(folder, overt):
    nested = 'hierarchy = { nested = { Any = ["male", "female", "Intersex-of-Hiddenborough"] } }'
    sex = '[columns.Sex]\nrole = "quasi-identifier"\n'
    (folder / "recipe.toml").write_text(RECIPE.replace(sex, sex + nested + "\n"))
    assert overt("run", "recipe.toml", "--report", "--quiet")[0] == 0
    assert "Hiddenborough" not in (folder / "release.report.json").read_text()


def test_a_report_shows_the_leak_and_the_sweep_that_its_recipe_asks_for(folder, overt):
    asked = '[audit]\nseconds = 0.2\nsweep = [2, 3]\nmethods = ["mondrian", "dealing"]\n\n[output]'
    (folder / "recipe.toml").write_text(RECIPE.replace("[output]", asked))
    assert overt("run", "recipe.toml", "--report", "--quiet")[0] == 0
    found = json.loads((folder / "release.owner-report.json").read_text(encoding="utf-8"))["leak"]
    has_figures = found["audit"] is not None  # of what was sampled too little there are none
    assert has_figures == (found["verdict"] != "not known yet")
    assert set(found["plots"]) == ({"beliefs", "breaches"} if has_figures else {"breaches"})
    assert {(one["method"], one["l"]) for one in found["sweep"]["points"]} >= {("mondrian", 2), ("mondrian", 3)}
    page = (folder / "release.owner-report.html").read_text(encoding="utf-8")
    assert "What someone who knows the method learns" in page and "Other methods, other l" in page
    names = set(hospital().get_column("Name"))
    assert not any(name in page for name in names)


def test_a_release_is_signed_for_by_its_digests(folder, overt):
    assert overt("run", "recipe.toml", "--report", "--quiet")[0] == 0
    for ending in ("report", "owner-report"):
        page = (folder / f"release.{ending}.html").read_text(encoding="utf-8")
        assert "<h1>release.csv</h1>" in page
        assert re.search(r"<h2>Files</h2>.*[0-9a-f]{64}.*<h2>Approval</h2>.*Signature", page, re.DOTALL)
