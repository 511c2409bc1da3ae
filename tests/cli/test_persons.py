# SPDX-License-Identifier: Apache-2.0
"""Persons with several rows on the command line: init, risk, run, check, audit, reports and compare, on a hospital's export."""

import json
import re
import tomllib

import numpy as np
import polars as pl
import pytest

from overt import samples

N_ROWS = 3_000


@pytest.fixture
def stays(folder, overt):
    """The export, and what init says of it."""
    frame = samples.discharges(N_ROWS)
    frame.write_csv(folder / "stays.csv")
    code, out, err = overt("init", "stays.csv", "--into", "stays.toml", "--json", "--quiet")
    assert (code, err) == (0, "")
    return frame, json.loads(out)


def said(out):
    return json.loads(out)


def test_init_proposes_whose_the_rows_are_and_the_recipe_runs_as_it_is(stays, folder, overt):
    frame, first = stays
    n_persons = frame["Patient ID"].n_unique()
    found = first["persons"]
    assert found["column"] == "Patient ID" and found["persons"] == n_persons
    rows = frame.group_by("Patient ID").len().group_by("len").len(name="n").sort("len")
    assert found["rows_per_person"] == {str(n): count for n, count in rows.iter_rows()}
    assert found["varies"] == ["Admitted", "Discharged", "Ward"]
    recipe = tomllib.loads((folder / "stays.toml").read_text())
    assert recipe["input"]["person"] == "Patient ID" and recipe["input"]["order"] == "Admitted"
    assert (
        all(recipe["columns"][name]["varies"] for name in found["varies"]) and "varies" not in recipe["columns"]["ZIP"]
    )
    assert recipe["pilot"]["people"] == first["pilot"] == n_persons // 10

    code, out, _ = overt("run", "stays.toml", "--report", "--json", "--quiet")
    assert code == 0
    run = said(out)
    assert run["persons"]["persons"] == n_persons - n_persons // 10 and run["persons"]["rows_cut"] >= 0
    assert run["leak"]["sentence"].startswith("none, by proof") and run["ok"]
    manifest = json.loads((folder / "release.csv.manifest.json").read_text())
    assert manifest["persons"] == run["persons"]["persons"]
    lines = pl.read_csv(folder / "release.sensitive.csv", infer_schema=False)
    assert lines["person"].n_unique() == manifest["persons"] and lines.height == run["persons"]["rows"]
    public = (folder / "release.report.html").read_text()
    assert f"{manifest['persons']:,} persons with {lines.height:,} rows" in public
    assert "how many rows everybody has" in public
    for name in ("release.csv", "release.sensitive.csv", "release.csv.manifest.json", "release.report.json"):
        assert "P1000" not in (folder / name).read_text()

    code, out, _ = overt("check", "stays.csv", "release.csv")
    assert code == 0 and "persons" in out and "The release holds what it claims." in out
    code, out, _ = overt("audit", "stays.toml", "--json", "--quiet")
    assert code == 0 and said(out)["how"] == "shares" and said(out)["above"][0]["with_method"] == 0


def test_what_init_says_is_in_words(stays, overt):
    code, out, _ = overt("init", "stays.csv", "--into", "again.toml")
    assert code == 0
    assert "2,625 in 3,000 rows, by 'Patient ID'. Rows per person:" in out
    assert "the same in all rows of each person: Birth date, Sex, ZIP" in out
    assert "differ between rows of a person: Admitted (of" in out


def test_risk_counts_persons_by_what_is_known(stays, overt):
    frame, _ = stays
    code, out, _ = overt("risk", "stays.csv", "--recipe", "stays.toml", "--json", "--quiet")
    assert code == 0
    found = said(out)["persons"]
    assert (found["persons"], found["rows"]) == (frame["Patient ID"].n_unique(), N_ROWS)
    unique = found["unique"]
    assert unique["static"] <= unique["with_count"] <= found["persons"] == unique["with_all_rows"]
    code, out, _ = overt("risk", "stays.csv")
    assert code == 0 and "persons" in out and "to someone who knows also one of these rows" in out


def test_risk_notices_repeated_persons_without_a_recipe(stays, overt):
    frame, _ = stays
    n_persons = frame["Patient ID"].n_unique()
    for known in (["ZIP", "Sex"], ["ZIP", "Sex", "Ward"]):
        code, out, _ = overt("risk", "stays.csv", "--known", *known, "--json", "--quiet")
        found = said(out)
        assert code == 0 and found["cautions"] == []
        assert found["known"] == ["number of rows", *sorted(known, key=frame.columns.index)]
        assert (found["persons"]["persons"], found["persons"]["rows"]) == (n_persons, N_ROWS)
    unique = frame.group_by("Patient ID").agg(pl.col("ZIP", "Sex").first()).group_by("ZIP", "Sex").len()
    assert found["persons"]["unique"]["static"] == unique.filter(pl.col("len") == 1).height
    code, out, _ = overt("risk", "stays.csv", "--known", "ZIP", "Patient ID")
    assert code == 0 and "Caution" in out and "'Patient ID' seems to name persons, some in several rows" in out
    code, out, _ = overt("risk", "stays.csv", "--known", "ZIP", "Patient ID", "--json", "--quiet")
    assert said(out)["persons"] is None and len(said(out)["cautions"]) == 1


def test_the_household_as_person_counts_households_with_a_unique_member(folder, overt):
    pl.DataFrame(
        {"home": [1, 1, 2, 2, 3, 3, 4, 4], "zip": ["a"] * 8, "age": [40, 41, 40, 41, 40, 5, 41, 41],
         "ill": ["x", "y"] * 4}
    ).write_csv(folder / "homes.csv")  # fmt: skip
    (folder / "homes.toml").write_text(
        'version = 1\n[input]\npath = "homes.csv"\nperson = "home"\n[columns]\nhome = { role = "identifier" }\n'
        'zip = { role = "quasi-identifier", kind = "category" }\nage = { role = "quasi-identifier", varies = true }\n'
        'ill = { role = "sensitive" }\n[[goal]]\nproperty = "l-diversity"\nl = 2\n[method]\nname = "blind-buckets"\n'
        '[output]\npath = "r.csv"\n'
    )
    code, out, _ = overt("risk", "homes.csv", "--recipe", "homes.toml", "--json", "--quiet")
    assert code == 0
    # of homes 1, 2 and 3 one member is 40; 5 is in home 3 alone; two who are 41 are in home 4 alone
    assert said(out)["persons"]["unique"] == {
        "static": 0, "with_count": 0, "with_one_row": 1, "with_two_rows": 2, "with_all_rows": 2,
    }  # fmt: skip


def test_init_says_that_there_are_households_and_that_persons_alone_are_protected(folder, overt):
    rng = np.random.default_rng(5)
    home = np.repeat(np.arange(300), rng.integers(1, 4, 300))
    pl.DataFrame({"household id": home, "age": rng.integers(1, 90, home.size), "HIV": rng.choice(["yes", "no"], home.size)}).write_csv(folder / "h.csv")  # fmt: skip
    code, out, _ = overt("init", "h.csv", "--into", "h.toml", "--json", "--quiet")
    n_several = int((np.bincount(home) > 1).sum())
    assert said(out)["households"] == {"column": "household id", "n_households": 300, "n_several": n_several}
    code, out, _ = overt("init", "h.csv", "--into", "h.toml", "--overwrite")
    words = " ".join(out.split())
    assert code == 0 and f"300 by 'household id', {n_several} of them with several people" in words
    assert "What is promised holds for each person" in words
    looked_at = json.loads((folder / "h.csv.pilot.owner.json").read_text())["rows"]
    code, out, _ = overt("init", "h.csv", "--person", "household id", "--into", "one.toml", "--json", "--quiet")
    assert code == 0 and said(out)["persons"]["persons"] == 300 and said(out)["households"] is None
    of_homes = json.loads((folder / "h.csv.pilot.owner.json").read_text())["rows"]
    assert of_homes == np.flatnonzero(np.isin(home, home[looked_at])).tolist()  # who was looked at is never published
    recipe = tomllib.loads((folder / "one.toml").read_text())
    assert recipe["input"]["person"] == "household id" and recipe["columns"]["age"]["varies"] is True
    code, out, err = overt("run", "one.toml", "--json", "--quiet", "--no-audit")
    assert code == 0, err
    assert said(out)["persons"]["persons"] <= 300 - np.unique(home[looked_at]).size  # households are counted
    code, out, _ = overt("init", "h.csv", "--person", "home", "--into", "two.toml", "--json", "--quiet")
    assert code == 3 and "There is no column 'home'" in said(out)["error"]
    pl.DataFrame({"household size": home, "age": home, "HIV": ["yes", "no"] * (home.size // 2) + ["no"] * (home.size % 2)}).write_csv(folder / "s.csv")  # fmt: skip
    assert said(overt("init", "s.csv", "--into", "s.toml", "--json", "--quiet")[1])["households"] is None


def test_the_owners_report_counts_persons_and_no_bundle_is_taken_for_a_code(stays, folder, overt):
    code, out, _ = overt("run", "stays.toml", "--report", "--overwrite", "--no-audit", "--json", "--quiet")
    assert code == 0 and not any("looks like an identifier" in caution for caution in said(out)["cautions"])
    persons, rows = said(out)["persons"]["persons"], said(out)["persons"]["rows"]
    for name in ("release.owner-report.html", "release.report.html"):
        page = (folder / name).read_text(encoding="utf-8")
        assert f"This release of {persons:,} persons with {rows:,} rows" in page
        assert f"persons with {rows:,} rows</" in page and "rows released" not in page
        assert not re.search(r"Groups have [\d.]+ rows|\([\d,]+ rows\)|share of rows in them|of the rows\.", page)
    owners = (folder / "release.owner-report.html").read_text(encoding="utf-8")
    assert re.search(r"Groups have [\d.]+ persons on average", owners)
    assert "Base rate of Diagnosis: the value nearest to its bound" in owners
    report = json.loads((folder / "release.owner-report.json").read_text())
    cut = said(out)["persons"]["rows_cut"]
    assert report["rows_cut"].startswith(f"{cut:,} of ") and f"Cut: {cut:,} of " in owners
    assert report["base_rates"] == said(out)["persons"]["base_rates"]


def test_comparing_counts_persons(stays, folder, overt):
    text = (folder / "stays.toml").read_text()
    (folder / "coarse.toml").write_text(text.replace("k = 5", "k = 10").replace("release.csv", "coarse.csv"))
    code, out, _ = overt("compare", "stays.toml", "coarse.toml", "--json", "--quiet", "--seconds", "0")
    assert code == 0
    persons = said(overt("run", "stays.toml", "--json", "--quiet", "--overwrite")[1])["persons"]["persons"]
    assert persons > 2_000 and len(said(out)["results"]) == 2
    assert "persons" in said(out)["results"][0]
    n_rows = said(out)["results"][0]["persons"]["rows"]
    code, out, _ = overt("compare", "stays.toml", "--seconds", "0")
    header = out.splitlines()[2].split()
    assert code == 0 and "persons" in header and "rows" not in header and n_rows > 200


def test_one_row_per_person_says_what_it_does_not_protect(stays, folder, overt):
    text = (folder / "stays.toml").read_text()
    lines = [line for line in text.splitlines() if not line.startswith(("keep", "[pilot]", "people"))]
    (folder / "one.toml").write_text(
        "\n".join(lines).replace("order =", "keep = 1\norder =").replace("release.csv", "one.csv")
    )
    (folder / "stays.csv.pilot.owner.json").unlink()
    if 'which = "latest"' not in text:
        (folder / "one.toml").write_text(
            (folder / "one.toml").read_text().replace("keep = 1", 'keep = 1\nwhich = "latest"')
        )
    code, out, _ = overt("run", "one.toml")
    assert code == 0 and "persons with one row each" in out
    assert "Whether somebody has a value in any of their rows is not" in " ".join(out.split())


def test_a_value_of_too_many_persons_is_refused_with_count_and_limit(folder, overt):
    n = 60
    pl.DataFrame(
        {"id": [i // 2 for i in range(2 * n)], "born": [1950 + i // 2 % 40 for i in range(2 * n)],
         "ill": ["common" if i % 2 and i < 1.4 * n else f"d{i % 17}" for i in range(2 * n)]}
    ).write_csv(folder / "v.csv")  # fmt: skip
    (folder / "v.toml").write_text(
        'version = 1\n[input]\npath = "v.csv"\nperson = "id"\n[columns]\nid = { role = "identifier" }\n'
        'born = { role = "quasi-identifier" }\nill = { role = "sensitive" }\n[[goal]]\nproperty = "l-diversity"\nl = 3\n'
        '[method]\nname = "blind-buckets"\n[output]\npath = "r.csv"\n'
    )
    code, _, err = overt("run", "v.toml", "--quiet")
    assert code == 4
    assert "stands in a row of 42 of 60 persons, and at most 20 may have it" in err and "common" not in err
    assert "a bound of its own" in err and "keep fewer rows" in err and "coarsen" in err
    text = (folder / "v.toml").read_text().replace("l = 3\n", 'l = 3\nbounds = { common = "3/4" }\n')
    (folder / "v.toml").write_text(text)
    assert overt("run", "v.toml", "--quiet")[0] == 0 and overt("check", "v.csv", "r.csv", "--quiet")[0] == 0
