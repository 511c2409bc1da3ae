# SPDX-License-Identifier: Apache-2.0
import csv
import json
import re
import shutil

import polars as pl
import pytest

from cli.conftest import ANATOMY


@pytest.fixture
def released(folder, overt):
    assert overt("run", "recipe.toml", "--quiet")[0] == 0
    return folder


def test_a_release_that_holds_its_claims(released, overt):
    code, out, err = overt("check", "hospital.csv", "release.csv")
    assert code == 0
    owner, blank, *findings = out.splitlines()[:-2]
    assert owner == "For the owner of the data only: do not publish what is printed here." and not blank
    assert all(line.startswith("  ok      ") for line in findings)
    assert out.endswith("\n\nThe release holds what it claims.\n")
    assert err.splitlines() == ["Comparing digests", "Reading hospital.csv", "Reading release.csv", "Checking"]


def test_json(released, overt):
    code, out, _ = overt("check", "hospital.csv", "release.csv", "--json")
    verdict = json.loads(out)
    assert (code, verdict["ok"]) == (0, True)
    assert verdict["findings"][0] == {
        "name": "digests",
        "ok": True,
        "sentence": "The files of the release are, byte for byte, those of the manifest.",
    }
    assert verdict["findings"][1] == {
        "name": "origin",
        "ok": True,
        "sentence": "The data is, byte for byte, what the release was made from.",
    }


def test_quiet_answers_by_its_exit_code(released, overt):
    assert overt("check", "hospital.csv", "release.csv", "--quiet") == (0, "", "")
    (released / "release.csv").write_text((released / "release.csv").read_text().replace("Asthma", "Migraine", 1))
    assert overt("check", "hospital.csv", "release.csv", "--quiet") == (1, "", "")


def test_a_changed_release_is_found(released, overt, overt_json):
    lines = (released / "release.csv").read_text().splitlines()
    (released / "release.csv").write_text("\n".join(lines[:-1]) + "\n")  # one person is gone
    code, out, _ = overt("check", "hospital.csv", "release.csv")
    assert code == 1
    assert "  FAILED  digests" in out
    assert "release.csv changed since the manifest was written." in out
    assert out.endswith("\n\nThe release does not hold what it claims.\n")
    code, verdict = overt_json("check", "hospital.csv", "release.csv", "--recipe", "recipe.toml")
    assert (code, verdict["ok"]) == (1, False)  # without digests too


def test_changed_data_is_found(released, overt):
    (released / "hospital.csv").write_text((released / "hospital.csv").read_text().rstrip("\n"))
    code, out, _ = overt("check", "hospital.csv", "release.csv")
    assert code == 1
    assert "hospital.csv is not what the release was made from, or has changed since." in out
    assert out.count("FAILED") == 1  # every row still has its value
    assert "does not hold what it claims" not in out and "Not known whether the release holds what it claims" in out


def test_of_other_data_a_check_says_no_more_than_that_it_is_other_data(released, overt):
    """The owner's record knows the data: that rows are missing from another file is no fault of the release."""
    lines = (released / "hospital.csv").read_text().splitlines(keepends=True)
    (released / "other.csv").write_text("".join(lines[:-5]))
    code, out, _ = overt("check", "other.csv", "release.csv")
    assert code == 1 and "other.csv is not what the release was made from, or has changed since." in out
    failed = [line for line in out.splitlines() if "FAILED" in line and "origin" not in line]
    assert failed and all(
        "The data is not what the release was made from, which may be the only reason." in line for line in failed
    )
    assert not re.search("do not publish th(e|is)", out) and "does not hold what it claims" not in out
    (released / "release.csv").write_text((released / "release.csv").read_text().replace("male", "man", 1))
    code, out, _ = overt("check", "other.csv", "release.csv")
    assert code == 1 and out.endswith("\n\nThe release does not hold what it claims.\n")  # the release changed too


def test_of_other_data_without_a_column_a_check_says_first_that_it_is_other_data(released, overt):
    lines = (released / "hospital.csv").read_text().split("\n", 1)
    (released / "wrong.csv").write_text(lines[0].replace("Postcode", "Zip") + "\n" + lines[1])
    code, _, error = overt("check", "wrong.csv", "release.csv")
    assert code == 3 and "wrong.csv is not what the release was made from, or has changed since. There is no" in error
    (released / "release.csv.owner.json").unlink()  # which alone says what it was made from
    code, _, error = overt("check", "wrong.csv", "release.csv")
    assert code == 3 and "There is no column 'Postcode'" in error and "made from" not in error


def test_of_fewer_data_a_check_says_how_many_rows_they_should_give_and_not_what_was_claimed(released, overt):
    """The manifest claims 96 rows, as there are: it is the data that lacks some."""
    (released / "half.csv").write_text("".join((released / "hospital.csv").read_text().splitlines(keepends=True)[:49]))
    code, out, _ = overt("check", "half.csv", "release.csv")
    assert code == 1 and "The release has 96 rows, and of this data it should have 48." in out


def test_without_the_owners_record_a_check_says_what_it_could_not_confirm(released, overt_json):
    (released / "release.csv.owner.json").unlink()
    code, verdict = overt_json("check", "hospital.csv", "release.csv")
    assert (code, verdict["ok"]) == (0, True)
    assert verdict["findings"][1]["sentence"].startswith(
        "Not confirmed: whether the release was made from hospital.csv, byte for byte."
    )


def test_the_record_of_another_release_is_found(released, overt, overt_json):
    text = (released / "release.csv.owner.json").read_text()
    assert overt("run", "recipe.toml", "--quiet", "--overwrite")[0] == 0
    manifest = released / "release.csv.manifest.json"
    manifest.write_text(manifest.read_text().replace('"created": "2', '"created": "1'))
    (released / "release.csv.owner.json").write_text(text)
    code, verdict = overt_json("check", "hospital.csv", "release.csv")
    assert code == 1
    assert "belongs to another manifest" in verdict["findings"][1]["sentence"]


def test_a_recipe_may_ask_for_more_than_was_claimed(released, overt):
    (released / "strict.toml").write_text((released / "recipe.toml").read_text().replace("k = 4", "k = 40"))
    assert overt("check", "hospital.csv", "release.csv", "--quiet", "--recipe", "recipe.toml")[0] == 0
    assert overt("check", "hospital.csv", "release.csv", "--quiet", "--recipe", "strict.toml")[0] == 1


def test_no_manifest(released, overt):
    (released / "release.csv.manifest.json").unlink()
    assert overt("check", "hospital.csv", "release.csv", "--quiet") == (
        3,
        "",
        "There is no manifest release.csv.manifest.json beside the release, so its claims are unknown; "
        "put the manifest there, or give the recipe with --recipe.\n",
    )


def test_a_release_that_is_not_there(released, overt):
    assert overt("check", "hospital.csv", "nothing.csv", "--quiet") == (
        3,
        "",
        "There is neither nothing.csv nor nothing.csv.manifest.json here; check the name and the folder.\n",
    )


def test_files_that_are_not_there(released, overt):
    assert overt("check", "nobody.csv", "release.csv", "--quiet") == (
        3,
        "",
        "There is no file nobody.csv; check the name and the folder.\n",
    )
    (released / "release.csv").unlink()
    assert overt("check", "hospital.csv", "release.csv", "--quiet")[2].startswith("There is no file release.csv;")


def test_a_release_may_move_and_take_another_name(released, overt):
    (released / "elsewhere").mkdir()
    for ending in ("", ".manifest.json"):
        shutil.move(released / f"release.csv{ending}", released / "elsewhere" / f"public.csv{ending}")
    assert overt("check", "hospital.csv", "elsewhere/public.csv", "--quiet")[0] == 0


def test_buckets_are_found_through_the_manifest_or_the_recipe(folder, overt):
    (folder / "recipe.toml").write_text(ANATOMY)
    assert overt("run", "recipe.toml", "--quiet")[0] == 0
    assert overt("check", "hospital.csv", "release.csv", "--quiet")[0] == 0
    assert overt("check", "hospital.csv", "release.csv", "--quiet", "--recipe", "recipe.toml")[0] == 0
    text = (folder / "release.sensitive.csv").read_text().splitlines()
    (folder / "release.sensitive.csv").write_text("\n".join([*text[:-1], "1,Asthma"]) + "\n")
    assert overt("check", "hospital.csv", "release.csv", "--quiet", "--recipe", "recipe.toml")[0] == 1


HOSTILE = """\
version = 1
[input]
path = "hostile.csv"
separator = ","
[columns."=Job"]
role = "quasi-identifier"
[columns.Age]
role = "quasi-identifier"
[columns."@Ill"]
role = "sensitive"
[columns."+Note"]
role = "other"
[[goal]]
property = "l-diversity"
l = 2
[method]
name = "mondrian"
[output]
path = "out.csv"
others = ["+Note"]
"""


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("method", ["mondrian", "anatomy", "flat"])
def test_formulas_anywhere_are_neutralised_unless_asked_and_both_are_read(folder, overt, method, exact):
    cells = ["=1+1", " @x", "＝2", "\tz", "cmd|'/c x'!A0", "'=q", "plain", "+", "x;=1"]
    rows = [(cells[i % 9], -20 + i, cells[(i * 2) % 9], cells[(i * 4) % 9]) for i in range(36)]
    pl.DataFrame(rows, schema=["=Job", "Age", "@Ill", "+Note"], orient="row").write_csv(folder / "hostile.csv")
    recipe = HOSTILE.replace('"mondrian"', '"mondrian"' if method == "mondrian" else '"anatomy"')
    recipe += "flat = true\n" * (method == "flat") + "neutralise_formulas = false\n" * exact
    (folder / "hostile.toml").write_text(recipe)
    assert overt("run", "hostile.toml", "--quiet")[0] == 0
    read = [row for path in folder.glob("out*.csv") for row in csv.reader(path.read_text("utf-8").splitlines())]
    names = {name for row in read for name in row if name in ("=Job", "'=Job", "@Ill", "'@Ill", "+Note", "'+Note")}
    assert names == ({"=Job", "@Ill", "+Note"} if exact else {"'=Job", "'@Ill", "'+Note"})
    run = [cell for row in read for cell in row if cell.strip()[:1] in tuple("=@＝|") and cell.strip()]
    assert bool(run) is exact
    assert overt("check", "hostile.csv", "out.csv", "--quiet")[0] == 0
    assert overt("check", "hostile.csv", "out.csv", "--recipe", "hostile.toml", "--quiet")[0] == 0
    assert (
        json.loads((folder / "out.csv.manifest.json").read_text())["recipe"]["output"]["neutralise_formulas"]
        is not exact
    )


def test_a_folder_is_no_release(overt):
    code, _, err = overt("check", ".", ".")
    assert code == 3 and err.endswith(". is a folder; name the file of the release.\n")


def test_a_fraction_that_only_a_suppressed_row_has_does_not_show_and_the_spelling_holds(folder, overt):
    recipe = """\
version = 1
[input]
path = "ages.csv"
[columns.Age]
role = "quasi-identifier"
kind = "number"
[columns.Ill]
role = "sensitive"
[[goal]]
property = "k-anonymity"
k = 2
[method]
name = "full-domain"
max_suppressed = "1/5"
[output]
path = "ages.out.csv"
"""
    (folder / "ages.toml").write_text(recipe)
    seen = set()
    for age in ("20.5", "21"):
        (folder / "ages.csv").write_text("Age,Ill\n30,a\n30,b\n40,a\n40,b\n" + f"{age},c\n")
        assert overt("run", "ages.toml", "--quiet", "--overwrite")[0] == 0
        assert overt("check", "ages.csv", "ages.out.csv", "--quiet")[0] == 0
        seen.add((folder / "ages.out.csv").read_text())
    assert seen == {"Age,Ill\n30,a\n30,b\n40,a\n40,b\n"}
