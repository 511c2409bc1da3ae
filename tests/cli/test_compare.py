# SPDX-License-Identifier: Apache-2.0
import re

import pytest

from cli.conftest import ANATOMY, RECIPE


def test_recipes_are_put_side_by_side(folder, overt, overt_json):
    (folder / "coarse.toml").write_text(RECIPE.replace("k = 4", "k = 16"))
    (folder / "buckets.toml").write_text(ANATOMY)
    code, out, _ = overt("compare", "recipe.toml", "coarse.toml", "buckets.toml", "--page", "page.html")
    assert code == 0
    header, *lines = out.splitlines()[2:6]
    assert header.split()[:3] == ["recipe", "method", "goal"]
    assert [line.split()[0] for line in lines] == ["recipe", "coarse", "buckets"]
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.count("<circle") == 3 and "vega-lite" in page
    assert not (folder / "release.csv").exists()  # comparing writes no release
    _, document = overt_json("compare", "recipe.toml", "coarse.toml")
    fine, coarse = document["results"]
    assert document["caution"] == ""
    assert fine["groups"] > coarse["groups"] and fine["prosecutor"] > coarse["prosecutor"]
    assert fine["non_uniform_entropy"] < coarse["non_uniform_entropy"]


def test_a_recipe_that_cannot_reach_its_goal_does_not_stop_the_others(folder, overt_json):
    (folder / "much.toml").write_text(RECIPE.replace("l = 2", "l = 90"))
    code, document = overt_json("compare", "recipe.toml", "much.toml")
    assert code == 4
    good, bad = document["results"]
    assert good["groups"] > 1 and "90-diversity" in bad["error"]


def test_a_recipe_with_a_missing_column_or_an_invalid_one_does_not_stop_the_others(folder, overt, overt_json):
    (folder / "lost.toml").write_text(RECIPE.replace("[columns.Sex]", "[columns.Gender]"))
    (folder / "wrong.toml").write_text(RECIPE.replace("k = 4", 'k = "four"'))
    code, document = overt_json("compare", "lost.toml", "wrong.toml", "recipe.toml", "--seconds", "0")
    good, lost, wrong = document["results"]  # what can be compared stands first
    assert code != 0 and good["groups"] > 1 and good.get("error") is None
    assert "There is no column 'Gender'" in lost["error"] and "k" in wrong["error"] and "wrong.toml" in wrong["error"]
    code, out, err = overt("compare", "lost.toml", "wrong.toml", "recipe.toml", "--seconds", "0")
    assert code != 0 and "There is no column 'Gender'" in out + err and "wrong.toml" in out + err
    assert any(line.split()[:2] == ["recipe", "mondrian"] for line in out.splitlines())


def test_a_page_that_is_there_is_not_replaced(folder, overt):
    (folder / "page.html").write_text("mine")
    code, _, err = overt("compare", "recipe.toml", "--page", "page.html")
    assert code == 3 and "exists already" in err
    assert (folder / "page.html").read_text() == "mine"


def test_nothing_to_compare(overt):
    code, _, err = overt("compare")
    assert code == 3 and "Name the recipes to compare" in err


def test_recipes_about_different_columns_are_not_held_against_each_other(folder, overt):
    (folder / "less.toml").write_text(RECIPE.replace('[columns.Sex]\nrole = "quasi-identifier"\n', ""))
    code, out, _ = overt("compare", "recipe.toml", "less.toml")
    assert code == 0 and "These recipes differ in the data or in the roles of columns" in out


def test_leaks_stand_beside_risk_and_cost(folder, overt, overt_json):
    diverse = RECIPE.replace('property = "k-anonymity"\nk = 4\n\n[[goal]]\n', "")
    (folder / "cuts.toml").write_text(diverse)
    # on a grid groups may show the same: a reader who cannot tell them apart guesses less than one who knows who is in which
    (folder / "safe.toml").write_text(diverse.replace('"mondrian"', '"rda"\ncells = "tight"'))
    (folder / "buckets.toml").write_text(ANATOMY)
    code, out, _ = overt("compare", "cuts.toml", "safe.toml", "--seconds", "0.3", "--page", "page.html")
    assert code == 0
    header, cuts, safe = out.splitlines()[2:5]
    place = header.index("leak")
    assert re.match(r"(at least )?[\d.]+\s%", cuts[place:]) and safe[place:].startswith("none")
    assert (
        "Leak      the share of people about whom someone who knows the method can conclude more than promised" in out
    )
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.count("<circle") == 2 and "A red line leads" in page
    code, document = overt_json("compare", "cuts.toml", "safe.toml", "buckets.toml", "--seconds", "0.3")
    cuts, safe, buckets = document["results"]
    assert cuts["leak"] > 0 and cuts["best_guess_with_method"] > cuts["best_guess"]
    assert safe["leak"] == 0 and safe["best_guess_with_method"] == pytest.approx(safe["best_guess"])
    assert [row["from"] < row["y"] for row in document["plot"]["data"]["values"]][:2] == [True, False]
    if buckets["leak"] is None:
        assert buckets["not_audited"]


def test_leaks_are_not_asked_for_without_time(folder, overt_json):
    _, document = overt_json("compare", "recipe.toml", "--seconds", "0")
    (found,) = document["results"]
    assert found["leak"] is None and found["not_audited"] == "not asked"
