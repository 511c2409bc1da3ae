# SPDX-License-Identifier: Apache-2.0
"""The pilot: people who are looked at are drawn blindly, remembered for the owner alone, and never published."""

import json
import stat

import numpy as np
import polars as pl
import pytest

from overt.io.recipe.recipe import read_recipe

PILOT = "people.csv.pilot.owner.json"


@pytest.fixture
def people(folder):
    """400 people who can be told apart, one in twenty with a "yes"."""
    draw = np.random.default_rng(4)
    frame = pl.DataFrame(
        {
            "born": np.arange(400),
            "town": draw.choice(["A", "B", "C"], 400),
            "diagnosis": draw.choice([f"d{i}" for i in range(12)], 400),
            "hiv": draw.choice(["yes", "no"], 400, p=[0.05, 0.95]),
        }
    )
    frame.write_csv(folder / "people.csv")
    return frame


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def remembered(folder):
    return json.loads((folder / PILOT).read_text())


RECIPE = """
version = 1
[input]
path = "people.csv"
[columns]
born = { role = "quasi-identifier" }
town = { role = "quasi-identifier" }
hiv = { role = "sensitive" }
diagnosis = { role = "sensitive" }
[[goal]]
property = "t-closeness"
t = 0.1
column = "hiv"
[pilot]
people = 50
[method]
name = "blind-buckets"
cells = "tight"
k = 1
rows_per_bucket = 20
[output]
path = "release.csv"
"""


def test_the_first_recipe_draws_a_pilot_that_only_its_owner_can_read(people, folder, overt):
    code, out, _ = overt("init", "people.csv", "--into", "people.toml")
    assert code == 0
    assert "only the values of 50 randomly drawn people" in out
    assert stat.S_IMODE((folder / PILOT).stat().st_mode) == 0o600
    recipe = read_recipe(folder / "people.toml")
    assert recipe.method.name == "blind-buckets" and recipe.settings.pilot.people == 50
    _, of_diagnosis, of_hiv = map(str, recipe.goal.parts)
    assert (
        "-diversity (frequency) of 'diagnosis'" in of_diagnosis
    )  # unless 15 of 50 have one of 12: less than 1 in 10,000
    assert of_hiv == "relative risk of at most 2 of 'hiv'"


def test_the_pilot_is_left_out_and_everybody_else_is_published(people, folder, overt):
    (folder / "people.toml").write_text(RECIPE)
    assert overt("compare", "people.toml", "--quiet")[0] == 0
    pilot = remembered(folder)["rows"]
    assert len(pilot) == 50 == len(set(pilot))
    code, out, _ = overt("run", "people.toml")
    assert code == 0
    assert "50 people of the pilot" in out
    shown = pl.read_csv(folder / "release.csv").get_column("born").to_list()
    assert sorted(shown) == sorted(set(range(400)) - set(pilot))  # boxes of one person show their age
    expected = people.filter(~pl.col("born").is_in(pilot)).get_column("hiv").value_counts()
    values = pl.read_csv(folder / "release.sensitive.csv").get_column("hiv").value_counts()
    assert set(values.iter_rows()) == set(expected.iter_rows())
    assert overt("check", "people.csv", "release.csv", "--quiet")[0] == 0
    assert overt("check", "people.csv", "release.csv", "--recipe", "people.toml", "--quiet")[0] == 0
    assert "pilot" not in (folder / "release.csv.manifest.json").read_text().replace(
        '"pilot": {\n      "people": 50', ""
    )


def test_a_check_without_the_owners_record_cannot_say_who_was_left_out(people, folder, overt):
    (folder / "people.toml").write_text(RECIPE)
    overt("compare", "people.toml", "--quiet")
    overt("run", "people.toml", "--quiet")
    (folder / "release.csv.owner.json").unlink()
    code, _, err = overt("check", "people.csv", "release.csv")
    assert code == 3 and "leaves out the people of a pilot" in err


def test_what_is_chosen_hangs_on_the_pilots_values_alone(people, folder, overt, monkeypatch):
    """Two tables in which the pilot has the same values and everybody else others: the same first recipe."""
    overt("init", "people.csv", "--into", "people.toml", "--quiet")
    first, pilot = (folder / "people.toml").read_text(), remembered(folder)
    others = ~pl.col("born").is_in(pilot["rows"])
    changed = people.with_columns(
        pl.when(others).then(pl.lit("?")).otherwise("hiv").alias("hiv"),
        pl.when(others).then(pl.lit("2024-01-01")).otherwise("diagnosis").alias("diagnosis"),
    )
    changed.write_csv(folder / "people.csv")
    monkeypatch.setattr("overt.engine.init.draw_rows", lambda *_: np.array(pilot["rows"]))
    (folder / PILOT).unlink()
    overt("init", "people.csv", "--into", "again.toml", "--quiet")
    assert (folder / "again.toml").read_text() == first


@pytest.mark.parametrize("usual", [["no"], ["a", "b", "c", "d", "e"], list(range(30)), list(range(100, 1000))], ids=len)
def test_no_goal_tells_what_one_person_of_the_pilot_has(folder, overt, monkeypatch, usual):
    """One, two or three people have a value that nobody else has, or nobody has: the same goals, which are public."""
    monkeypatch.setattr("overt.engine.init.draw_rows", lambda n_rows, *_: np.arange(n_rows // 10))
    draw = np.random.default_rng(4)
    frame = pl.DataFrame({"born": draw.integers(0, 90, 12_000), "hiv": draw.choice(usual, 12_000)})
    found = set()
    for n_others in range(4):
        other = pl.Series([5000 if isinstance(usual[0], int) else "yes"], dtype=frame["hiv"].dtype)[0]
        changed = frame.with_columns(
            pl.when(pl.int_range(pl.len()) < n_others).then(pl.lit(other)).otherwise("hiv").alias("hiv")
        )
        changed.write_csv(folder / "a.csv")
        (folder / "a.csv.pilot.owner.json").unlink(missing_ok=True)
        assert overt("init", "a.csv", "--into", "a.toml", "--quiet", "--overwrite")[0] == 0
        found.add(str(read_recipe(folder / "a.toml").goal))
    assert len(found) == 1


def test_the_first_recipe_runs_where_a_few_values_are_missing(folder, overt):
    """Three of 6,000: a pilot of 600 meets none of them three times in four. A refusal would be for good."""
    draw = np.random.default_rng(1)
    smoker = pl.Series(draw.choice(["yes", "no"], 6000, p=[0.3, 0.7])).scatter([10, 2000, 4000], None)
    pl.DataFrame({"born": draw.integers(0, 90, 6000), "smoker diagnosis": smoker}).write_csv(folder / "a.csv")
    for name in ("a", "b"):
        (folder / "a.csv.pilot.owner.json").unlink(missing_ok=True)
        assert overt("init", "a.csv", "--into", f"{name}.toml", "--quiet")[0] == 0
        assert overt("run", f"{name}.toml", "--quiet", "--overwrite")[0] == 0


def test_a_comparison_looks_at_the_pilot_only(people, folder, overt_json):
    (folder / "people.toml").write_text(RECIPE)
    code, first = overt_json("compare", "people.toml", "--seed", "1")
    assert code == 0 and first["results"][0]["rows"] == 50
    assert "Only the values of the 50 people of the pilot were looked at" in first["looked_at"]
    edit(folder / "people.toml", "[pilot]\npeople = 50\n", "")
    _, second = overt_json("compare", "people.toml", "--seed", "1")
    assert second["results"][0]["rows"] == 400
    assert "people who will be published" in second["looked_at"]


def test_people_who_were_looked_at_cannot_be_published(people, folder, overt):
    (folder / "people.toml").write_text(RECIPE)
    code, _, err = overt("run", "people.toml")
    assert code == 3 and "`overt compare` draws the pilot" in err
    overt("compare", "people.toml", "--quiet")
    edit(folder / "people.toml", "[pilot]\npeople = 50\n", "")
    code, _, err = overt("run", "people.toml")
    assert code == 3 and "they would be published" in err
    assert not (folder / "release.csv").exists()


def test_a_recipe_in_another_folder_cannot_publish_people_whose_record_lies_beside_the_data(people, folder, overt):
    overt("init", "people.csv", "--into", "people.toml")
    (folder / "own").mkdir()
    own = RECIPE.replace("[pilot]\npeople = 50\n", "").replace("people.csv", "../people.csv")
    (folder / "own" / "own.toml").write_text(own)
    code, _, err = overt("run", "own/own.toml")
    assert code == 3 and not (folder / "own" / "release.csv").exists()
    assert f"{PILOT} beside people.csv says that values of some people of people.csv were looked at" in " ".join(
        err.split()
    )
    (folder / PILOT).unlink()
    assert overt("run", "own/own.toml")[0] == 0


@pytest.mark.parametrize("is_released", [True, False])
def test_a_second_pilot_of_the_same_data_is_refused(people, folder, overt, is_released):
    """Each would leave out others, and deal nearly everybody once more."""
    overt("init", "people.csv", "--into", "people.toml")
    if is_released:
        assert overt("run", "people.toml")[0] == 0
    (folder / "own").mkdir()
    overt("init", "people.csv", "--into", "own/own.toml")
    code, _, err = overt("run", "own/own.toml")
    assert code == 3 and "two releases of the same people together tell more than either" in " ".join(err.split())
    assert not list((folder / "own").glob("*release*"))


def test_data_that_changed_is_refused(people, folder, overt):
    (folder / "people.toml").write_text(RECIPE)
    overt("compare", "people.toml", "--quiet")
    people.sort("hiv").write_csv(folder / "people.csv")
    for command in (["run", "people.toml"], ["compare", "people.toml"], ["init", "people.csv", "--into", "b.toml"]):
        code, _, err = overt(*command)
        assert code != 0 and "people.csv changed since its pilot was drawn" in err + _
    assert not (folder / "release.csv").exists()


def test_after_a_refusal_only_less_may_be_asked_for_in_the_same_strata(people, folder, overt):
    hard = RECIPE.replace("t-closeness", "l-diversity").replace("t = 0.1", "l = 5")
    (folder / "people.toml").write_text(hard)
    overt("compare", "people.toml", "--quiet")
    code, _, err = overt("run", "people.toml")
    assert code == 4 and "You may ask for less and run again" in err
    edit(folder / "people.toml", "rows_per_bucket = 20", "rows_per_bucket = 20\nstratify = { halvings = 1 }")
    code, _, err = overt("run", "people.toml")
    assert code == 3 and "of which the goals alone may change" in err
    (folder / "people.toml").write_text(hard.replace("l = 5", "l = 4"))
    assert overt("run", "people.toml")[0] == 4
    assert not (folder / "release.csv").exists()
    (folder / "people.toml").write_text(hard.replace("l = 5", "l = 1"))
    assert overt("run", "people.toml", "--quiet")[0] == 0
    (folder / "people.toml").write_text(hard.replace("l = 5", '"l" = "101/100"'))
    code, _, err = overt("run", "people.toml", "--overwrite")
    assert code == 3 and "already released, or refused, under other choices" in err and "goals alone" not in err


def test_after_a_refusal_of_another_method_nothing_may_change(people, folder, overt):
    """What a release by it shows need not say what was refused."""
    hard = RECIPE.replace("t-closeness", "l-diversity").replace("t = 0.1", "l = 5")
    hard = hard[: hard.index("[method]")] + '[method]\nname = "dealing"\n' + hard[hard.index("[output]") :]
    hard = hard.replace('diagnosis = { role = "sensitive" }\n', "")
    (folder / "people.toml").write_text(hard)
    overt("compare", "people.toml", "--quiet")
    code, _, err = overt("run", "people.toml")
    assert code == 4 and "Begin with new data" in err
    edit(folder / "people.toml", "l = 5", "l = 3")
    code, _, err = overt("run", "people.toml")
    assert code == 3 and "already released, or refused, under other choices" in err


def test_the_same_choices_may_be_run_again(people, folder, overt):
    (folder / "people.toml").write_text(RECIPE)
    overt("compare", "people.toml", "--quiet")
    assert overt("run", "people.toml", "--quiet")[0] == 0
    assert overt("run", "people.toml", "--quiet", "--overwrite")[0] == 0
    edit(folder / "people.toml", "t = 0.1", "t = 0.2")
    assert overt("run", "people.toml", "--quiet", "--overwrite")[0] == 3


def test_the_same_choices_are_not_dealt_again_for_a_second_place(people, folder, overt):
    """Two deals of the same people tell more than either: who is in a bucket with "yes" in both is one of few."""
    (folder / "people.toml").write_text(RECIPE)
    overt("compare", "people.toml", "--quiet")
    assert overt("run", "people.toml", "--quiet")[0] == 0
    first = (folder / "release.csv").read_bytes()
    (folder / "again.toml").write_text(RECIPE.replace('path = "release.csv"', 'path = "again.csv"'))
    code, _, err = overt("run", "again.toml")
    assert code == 3 and "already released, as release.csv" in err and "copy or convert" in err and "--overwrite" in err
    assert not (folder / "again.csv").exists() and (folder / "release.csv").read_bytes() == first
    code, _, err = overt("run", "again.toml", "--engine", "out-of-core")
    assert code == 3 and "already released, as release.csv" in err
    (folder / "release.csv").unlink()  # moved away, or given to somebody
    assert overt("run", "again.toml")[0] == 3
    code, out, _ = overt("run", "people.toml", "--overwrite")
    assert code == 0 and "both together tell more than either" in " ".join(out.split())


def test_a_folder_that_moved_has_its_release_in_the_same_place(people, folder, overt, monkeypatch):
    home = folder / "here"
    home.mkdir()
    (folder / "people.csv").rename(home / "people.csv")
    (home / "people.toml").write_text(RECIPE)
    monkeypatch.chdir(home)
    overt("compare", "people.toml", "--quiet")
    assert overt("run", "people.toml", "--quiet")[0] == 0
    monkeypatch.chdir(folder)
    home.rename(folder / "there")
    assert overt("run", "there/people.toml", "--quiet", "--overwrite")[0] == 0
    edit(folder / "there" / "people.toml", 'path = "release.csv"', f'path = "{folder}/there/./release.csv"')
    assert overt("run", "there/people.toml", "--quiet", "--overwrite")[0] == 0


def test_a_run_that_failed_leaves_the_place_open(people, folder, overt, monkeypatch):
    """Nothing appeared: the place may still be changed. The choices may not: the others were looked at."""
    (folder / "people.toml").write_text(RECIPE)
    overt("compare", "people.toml", "--quiet")

    def fails(*_, **__):
        raise OSError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr("overt.engine.run.records_of", fails)
        assert overt("run", "people.toml")[0] != 0
    assert not (folder / "release.csv").exists()
    edit(folder / "people.toml", 'path = "release.csv"', 'path = "other.csv"')
    assert overt("run", "people.toml", "--quiet")[0] == 0


def test_a_pilot_that_grows_keeps_what_was_released(people, folder, overt):
    """A file in which persons have two rows each: `overt init --person` adds the other rows of everybody who was looked at."""
    people.with_columns(number=pl.int_range(400) // 2).write_csv(folder / "people.csv")
    (folder / "people.toml").write_text(RECIPE)
    overt("compare", "people.toml", "--quiet")
    assert overt("run", "people.toml", "--quiet")[0] == 0
    before = remembered(folder)
    assert overt("init", "people.csv", "--person", "number", "--into", "persons.toml", "--quiet")[0] == 0
    after = remembered(folder)
    assert set(before["rows"]) < set(after["rows"])
    assert (after["decided"], after["released"]) == (before["decided"], "release.csv")


def test_another_hierarchy_under_the_same_name_is_another_choice(people, folder, overt):
    """Other boxes for the same people: they would cut the first ones into smaller ones."""
    (folder / "towns.csv").write_text("A;north;*\nB;north;*\nC;south;*\n")
    town = 'town = { role = "quasi-identifier" }'
    (folder / "people.toml").write_text(
        RECIPE.replace(town, town.replace(" }", ', hierarchy = { file = "towns.csv" }, show = "label" }'))
    )
    overt("compare", "people.toml", "--quiet")
    assert overt("run", "people.toml", "--quiet")[0] == 0
    (folder / "towns.csv").write_text("A;north;*\nC;north;*\nB;south;*\n")
    code, _, err = overt("run", "people.toml", "--overwrite")
    assert code == 3 and "already released, or refused, under other choices" in err
    (folder / "towns.csv").write_text("A;north;*\nB;north;*\nC;south;*\n")
    assert overt("run", "people.toml", "--quiet", "--overwrite")[0] == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("people = 50", "people = 0", "at least 1"),
        ("people = 50", "people = 300", "at most half of them can be looked at"),
        ('path = "people.csv"', 'database = "people.db"\ntable = "t"', "a pilot needs a file"),
    ],
)
def test_pilots_that_cannot_be(people, folder, overt, old, new, said):
    (folder / "people.toml").write_text(RECIPE)
    edit(folder / "people.toml", old, new)
    code, out, err = overt("compare", "people.toml")
    assert code != 0 and said in out + err


def test_values_that_differ_in_spelling_alone_are_one_for_the_choice_of_a_goal(folder, overt):
    """ "no" and "No" say the same: two of them are not diversity."""
    draw = np.random.default_rng(5)
    answers = draw.choice(["no", "No", "NO ", "yes"], 600, p=[0.3, 0.3, 0.3, 0.1])
    pl.DataFrame({"born": draw.integers(0, 90, 600), "hiv": answers}).write_csv(folder / "a.csv")
    overt("init", "a.csv", "--into", "a.toml", "--quiet")
    text = (folder / "a.toml").read_text()
    assert "relative-risk" in text and "l-diversity" not in text
    assert "differ in spelling alone" in text


def test_an_audit_of_several_sensitive_columns_says_what_is_proven(people, folder, overt, overt_json):
    (folder / "people.toml").write_text(RECIPE)
    overt("compare", "people.toml", "--quiet")
    code, out, _ = overt("audit", "people.toml")
    assert code == 0 and out.count("replaying adds nothing, by proof") == 2
    _, document = overt_json("audit", "people.toml")
    for column in (document, *document["other_columns"]):
        assert column["how"] == "shares" and all(bar["with_method"] == bar["release_alone"] for bar in column["above"])
    assert overt("audit", "people.toml", "--rows", "rows.csv")[0] == 0
    header = (folder / "rows.csv").read_text().splitlines()[0]
    assert "diagnosis: with the method" in header and "hiv: with the method" in header
