# SPDX-License-Identifier: Apache-2.0
import json
import shutil

import pytest

from cli.conftest import ANATOMY


@pytest.fixture
def released(folder, overt):
    assert overt("run", "recipe.toml", "--quiet")[0] == 0
    return folder


def test_a_release_that_holds_its_claims(released, overt):
    code, out, err = overt("check", "hospital.csv", "release.csv")
    assert code == 0
    assert all(line.startswith("  ok      ") for line in out.splitlines()[:-2])
    assert out.endswith("\n\nThe release holds what it claims.\n")
    assert err.splitlines() == ["Comparing digests", "Reading hospital.csv", "Reading release.csv", "Checking"]


def test_json(released, overt):
    code, out, _ = overt("check", "hospital.csv", "release.csv", "--json")
    verdict = json.loads(out)
    assert (code, verdict["ok"]) == (0, True)
    assert verdict["findings"][0] == {
        "name": "digests",
        "ok": True,
        "sentence": "The files are, byte for byte, those that the manifest was written for.",
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
    assert "hospital.csv changed since the manifest was written." in out
    assert out.count("FAILED") == 1  # every row still has its value


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


def test_neutralised_formulas_are_read_back(folder, overt):
    data = (folder / "hospital.csv").read_text().replace("Asthma", "=1+1").replace("female", "@female")
    (folder / "hospital.csv").write_text(data)
    text = (folder / "recipe.toml").read_text()
    (folder / "recipe.toml").write_text(text + "neutralise_formulas = true\n")
    assert overt("run", "recipe.toml", "--quiet")[0] == 0
    assert "'=1+1" in (folder / "release.csv").read_text()
    assert overt("check", "hospital.csv", "release.csv", "--quiet")[0] == 0


def test_a_folder_is_no_release(overt):
    code, _, err = overt("check", ".", ".")
    assert code == 3 and err.endswith(". is a folder; name the file of the release.\n")
