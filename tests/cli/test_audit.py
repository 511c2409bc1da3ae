# SPDX-License-Identifier: Apache-2.0
import json
import re

import numpy as np
import polars as pl
import pytest

from overt.cli.console import Exit

FIVE = """\
version = 1
[input]
path = "five.csv"
[columns.street]
role = "quasi-identifier"
[columns.disease]
role = "sensitive"
[[goal]]
property = "distinct-l-diversity"
l = 2
[method]
name = "mondrian"
[output]
path = "five-release.csv"
"""


@pytest.fixture
def five(folder):
    (folder / "five.csv").write_text("street,disease\nA,HIV\nA,HIV\nB,flu\nB,cold\nB,asthma\n")
    (folder / "five.toml").write_text(FIVE)
    return folder


def test_five_people_in_the_terminal(five, overt):
    code, out, _ = overt("audit", "five.toml")
    assert code == Exit.DONE
    assert "people known for certain                  0              2" in out
    assert re.search(r"singling out  1 in 5         1 in 2           highest chance to pick a person's line", out)
    assert "a cut of 'street' into 2 and 3 rows was tried and failed" in out
    assert "trying every table, exactly; 6 give this release" in out
    assert "HIV" not in out and not (five / "five-release.csv").exists()


def test_rows_are_written_for_the_owner_by_position_only(five, overt):
    assert overt("audit", "five.toml", "--rows", "rows.csv", "--quiet")[:2] == (Exit.DONE, "")
    rows = pl.read_csv(five / "rows.csv")
    assert rows["with the method"].to_list() == pytest.approx([1, 1, 1 / 3, 1 / 3, 1 / 3])
    code, _, err = overt("audit", "five.toml", "--rows", "rows.csv", "--quiet")
    assert code == Exit.DATA and "rows.csv" in err
    assert overt("audit", "five.toml", "--rows", "rows.csv", "--quiet", "--overwrite")[0] == Exit.DONE


def test_a_hospital_is_counted_exactly_in_small_groups_and_sampled_in_large_ones(folder, overt, overt_json):
    from cli.conftest import RECIPE

    code, found = overt_json("audit", "recipe.toml", "--seconds", "2", "--seed", "1")
    assert code == Exit.DONE and found["how"] == "listing" and found["sampled"] is None and found["not_known"] == 0
    (folder / "recipe.toml").write_text(RECIPE.replace("l = 2", "l = 4"))
    code, found = overt_json("audit", "recipe.toml", "--seconds", "2", "--seed", "1")
    assert code == Exit.DONE and found["how"] == "sampling" and found["bound"] == "1/4"
    assert found["sampled"]["runs"] >= 4 and found["rows"] == 96
    code, out, _ = overt("audit", "recipe.toml", "--seconds", "0.5")
    assert code == Exit.DONE and "independent runs of sequential Monte Carlo" in out


def test_several_sensitive_columns_are_audited_together(folder, overt, overt_json):
    from cli.conftest import RECIPE

    two = RECIPE.replace('[columns.Sex]\nrole = "quasi-identifier"', '[columns.Sex]\nrole = "sensitive"')
    (folder / "two.toml").write_text(two.replace("l = 2", 'l = 2\ncolumn = "Disease"'))
    code, out, _ = overt("audit", "two.toml", "--rows", "rows.csv", "--page", "page.html", "--learner", "--seed", "1")
    assert code == Exit.DONE and "About Sex:" in out and "A learner of Sex" in out
    assert "Sex and Disease are sensitive" in out
    assert pl.read_csv(folder / "rows.csv").columns[:2] == ["row", "Sex: release alone"]
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "About Disease</h3>" in page and page.count("Worst off: ") == 2
    _, document = overt_json("audit", "two.toml")
    assert [document["sensitive"], *(one["sensitive"] for one in document["other_columns"])] == ["Sex", "Disease"]


def test_a_page_and_a_sweep(five, overt, overt_json):
    code, out, _ = overt(
        "audit", "five.toml", "--sweep", "2", "3", "--methods", "mondrian", "rda", "--page", "five.html"
    )
    assert code == Exit.DONE
    assert re.search(r"mondrian  2  1 +40\s% +1.000 +exact", out)
    assert "rda, l = 3: 3-diversity cannot be reached" in out
    page = (five / "five.html").read_text(encoding="utf-8")
    assert page.count("<polyline") == 4  # two beliefs, two methods
    assert page.count('class="vega-lite"') == 2 and "HIV" not in page
    code, document = overt_json("audit", "five.toml", "--sweep", "2", "--overwrite")
    (point,) = document["sweep"]["points"]
    assert (point["method"], point["l"], point["above"], point["how"]) == ("mondrian", 2, 0.4, "enumeration")
    assert set(document["plots"]) == {"beliefs", "breaches"}


def test_of_rows_that_are_generalized_one_by_one_an_audit_says_what_it_can(five, overt, overt_json):
    """There is no search to replay and nothing is promised of values: quasi-identifiers and a learner are left."""
    goal = FIVE[FIVE.index("[[goal]]") : FIVE.index("[method]")]
    record = FIVE.replace(goal, "").replace('name = "mondrian"', 'name = "record-threshold"\nc = 1')
    (five / "five.toml").write_text(record)
    code, out, err = overt("audit", "five.toml")
    assert code == Exit.DONE, err
    assert "not audited: every row is generalized on its own" in " ".join(out.split())
    _, document = overt_json("audit", "five.toml", "--learner")
    assert document["audit"] is None and set(document["downcoding"]["forms"].values()) <= {"chosen", "exact"}
    assert [one["sensitive"] for one in document["learner"]] == ["disease"]
    assert "A learner of disease" in overt("audit", "five.toml", "--learner")[1]
    code, _, err = overt("audit", "five.toml", "--rows", "rows.csv")
    assert code == Exit.DATA and "There are no beliefs: every row is generalized on its own" in err
    assert "leave out --rows and --page" in err and not (five / "rows.csv").exists()


def test_a_recipe_says_what_to_compare(five, overt_json):
    (five / "five.toml").write_text(FIVE + '[audit]\nsweep = [2]\nmethods = ["dealing"]\n')
    _, document = overt_json("audit", "five.toml")
    assert [(one["method"], one["above"]) for one in document["sweep"]["points"]] == [("dealing", 0)]


def test_what_cannot_be_swept(five, overt):
    code, _, err = overt("audit", "five.toml", "--sweep", "1")
    assert code == Exit.DATA and "--sweep is given l = 1; give whole numbers of at least 2." in err
    code, _, err = overt("audit", "five.toml", "--sweep", "2", "--methods", "mondrain")
    assert code == Exit.DATA and "There is no method 'mondrain'; there are " in err and "rda" in err
    (five / "five.toml").write_text(FIVE.replace('"distinct-l-diversity"\nl = 2', '"k-anonymity"\nk = 2'))
    code, _, err = overt("audit", "five.toml", "--sweep", "2")
    assert code == Exit.DATA and "The goal has no l that could be varied" in err


OTHERS = """\
version = 1
[input]
path = "five.csv"
[columns.street]
role = "quasi-identifier"
hierarchy = { flat = true }
[columns.disease]
role = "sensitive"
[[goal]]
property = "distinct-l-diversity"
l = 2
[method]
name = "full-domain"
[output]
path = "unused.csv"
"""


@pytest.mark.parametrize("tool", ["arx", "anjana", "anonypy"])
def test_five_people_as_other_tools_publish_them(five, overt_json, tool):
    (five / "other.toml").write_text(OTHERS)
    (five / "published.csv").write_text("street,disease\n*,HIV\n*,asthma\n*,HIV\n*,cold\n*,flu\n")
    code, found = overt_json("audit", "other.toml", "--made-by", tool, "--release", "published.csv")
    assert code == Exit.DONE
    assert found["highest_belief"]["release_alone"] == pytest.approx(0.4)
    assert found["highest_belief"]["with_method"] == pytest.approx(1) and found["certain"] == 2
    assert tool in found["method"].lower()


def test_what_other_tools_cannot_have_made(five, overt):
    (five / "other.toml").write_text(OTHERS)
    (five / "published.csv").write_text("street,disease\nA,HIV\nA,HIV\nB,flu\n*,cold\n*,asthma\n")
    code, _, err = overt("audit", "other.toml", "--made-by", "arx", "--release", "published.csv")
    assert code == Exit.DATA and "the class of 3 rows does not follow" in err and "HIV" not in err
    for words, message in {
        ("--made-by", "word"): "There is no search of 'word'; there are arx, anjana, anonypy.",
        ("--made-by", "arx"): "The search of arx is replayed from the published file; name it with --release.",
        ("--release", "published.csv"): "say which with --made-by",
        ("--made-by", "anonypy", "--sweep", "2"): "--sweep, --methods and --together ask about releases by Overt",
    }.items():
        code, _, err = overt("audit", "other.toml", *words)
        assert code == Exit.DATA and message in err


def test_a_learner_if_asked(folder, overt):
    rng = np.random.default_rng(0)
    street = rng.integers(0, 3, 300)
    disease = np.where(rng.random(300) < 0.8, street, rng.integers(0, 3, 300))
    pl.DataFrame({"street": street, "disease": disease + 100}).write_csv(folder / "five.csv")
    (folder / "five.toml").write_text(FIVE.replace("mondrian", "anatomy"))
    code, out, _ = overt("audit", "five.toml", "--learner", "--page", "page.html", "--seed", "1")
    assert code == Exit.DONE
    assert "for the owner alone" in out
    assert re.search(
        r"someone who knows how disease depends on street would guess \d+ right from this release, \d+ without it", out
    )
    assert "Being in the release costs" in out or "cannot be told from chance" in out
    assert "A learner: disease</h3>" in (folder / "page.html").read_text()
    document = json.loads(overt("audit", "five.toml", "--learner", "--json", "--seed", "1")[1])
    assert document["learner"]["people"] == 300
    guessed = document["learner"]["guessed_right"]
    assert guessed["learner"]["value"] > guessed["release_alone"]
    assert json.loads(overt("audit", "five.toml", "--json")[1])["learner"] is None


def test_a_learner_is_asked_about_other_tools_too(five, overt_json):
    code, document = overt_json("audit", "five.toml", "--made-by", "anonypy", "--learner", "--seed", "1")
    assert code == Exit.DONE
    assert document["learner"]["method"] == "Mondrian, as anonypy" and document["learner"]["people"] == 5


def test_releases_of_the_same_people_are_audited_together(five, overt, overt_json):
    (five / "other.toml").write_text(OTHERS.replace("unused", "other"))
    code, out, _ = overt("audit", "five.toml", "--together", "other.toml")
    assert code == Exit.DONE and "2 of the same 5 people, by mondrian, full-domain" in out
    assert "replays the methods" in out and "HIV" not in out
    _, document = overt_json("audit", "five.toml", "--together", "other.toml")
    assert document["together"]["replayed"] and document["together"]["certain"]["together"] == 2
    (five / "short.csv").write_text("street,disease\nA,HIV\nB,flu\nB,cold\n")
    (five / "short.toml").write_text(FIVE.replace("five.csv", "short.csv"))
    code, _, err = overt("audit", "five.toml", "--together", "short.toml")
    assert code == Exit.DATA and "not of the same people" in err


def test_files_of_other_tools_are_compared_beside_recipes(five, overt, overt_json):
    (five / "other.toml").write_text(OTHERS)
    (five / "published.csv").write_text("street,disease\n*,HIV\n*,asthma\n*,HIV\n*,cold\n*,flu\n")
    (five / "local.csv").write_text("street,disease\nA,HIV\nA,HIV\n*,asthma\n*,cold\n*,flu\n")
    (five / "wrong.csv").write_text("street,disease\nA,HIV\nA,HIV\nB,flu\n*,cold\n*,asthma\n")
    files = [("arx", "published.csv"), ("anjana", "published.csv"), ("anonypy", "published.csv"), ("arx", "wrong.csv")]
    words = [word for tool, file in files for word in ("--published", tool, "other.toml", file)]
    code, document = overt_json("compare", "five.toml", *words, "--learner", "--seed", "1")
    assert code == Exit.UNREACHABLE  # one of them is no file of ARX
    ours, arx, anjana, anonypy, wrong = document["results"]
    for other in (arx, anjana, anonypy):
        assert other["leak"] == ours["leak"] == 0.4 and other["groups"] == 1 and other["strength"] == "none"
        assert other["downcoding"]["rows"] == 5 and other["learner"][0]["people"] == 5 and other["seconds"] is None
    assert [arx["downcoding"]["forms"], anonypy["downcoding"]["forms"]] == [{"street": "chosen"}, {"street": "set"}]
    assert "the class of 3 rows does not follow" in wrong["error"]
    code, out, _ = overt("compare", "--published", "arx", "other.toml", "published.csv")
    assert (
        code == Exit.DONE and "arx: published.csv" in out and "full-domain optimum, as ARX" in out and "HIV" not in out
    )
    code, _, err = overt("compare", "--published", "word", "other.toml", "published.csv")
    assert "There is no search of 'word'" in err + overt("compare", "--published", "word", "other.toml", "local.csv")[1]
