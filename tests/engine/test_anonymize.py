# SPDX-License-Identifier: Apache-2.0
"""One call for frames: what init and run give a file, with the same safeguards."""

import warnings

import numpy as np
import polars as pl
import pytest

import overt
from overt.errors import InvalidData, InvalidInput, Unreachable
from overt.samples import discharges, hospital
from overt.table import Role

STAYS = discharges(3_000)
PATIENTS = STAYS.unique("Patient ID", maintain_order=True, keep="first")
ROWS = np.random.default_rng


@pytest.fixture(scope="module")
def made():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return overt.anonymize(PATIENTS, rng=ROWS(1))


def test_a_frame_is_released_with_the_roles_and_goals_of_init_and_without_the_people_who_chose_them(made, tmp_path):
    PATIENTS.write_csv(tmp_path / "patients.csv")
    first = overt.init(tmp_path / "patients.csv", into=tmp_path / "r.toml")
    assert {c.name: c.role for c in made.columns} == {c.name: c.role for c in first.profile.columns}
    recipe = overt.read_recipe(tmp_path / "r.toml")
    assert {str(held.asked) for held in made.holds} == {str(part) for part in recipe.goal.parts}
    assert made.release.method.name == "blind-buckets" and made.verdict.ok
    people, values = made.published
    assert people.height == values.height == PATIENTS.height - made.n_looked_at
    assert made.n_looked_at == first.n_looked_at == PATIENTS.height // 10
    assert set(people.columns) | set(values.columns) == {
        "bucket",
        *(c.name for c in made.columns if c.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)),
    }


def test_nobody_is_named_and_what_is_published_holds_by_another_count(made):
    people, values = made.published
    cells = {str(cell) for frame in (people, values) for column in frame for cell in column.unique()}
    for name in ("Patient ID", "Last name", "First name", "Phone", "Remarks"):
        assert not cells & {cell for cell in PATIENTS[name].to_list() if cell}
    boxes = people.group_by(pl.all().exclude("bucket")).len()
    assert boxes["len"].min() >= 5
    of_bucket = values.group_by("bucket").agg(pl.len().alias("n"), (pl.col("HIV") == "yes").sum().alias("hiv"))
    share = (values["HIV"] == "yes").mean()
    assert (of_bucket["hiv"] / of_bucket["n"]).max() <= 2 * share + 1e-9


def test_amounts_that_nobody_shares_are_left_out_unless_they_are_asked_for_and_then_that_is_said(made):
    assert {one.name: str(one.role) for one in made.columns}["Charge"] == "other"
    assert "Charge" not in made.published[1].columns and not any("finds the line" in said for said in made.cautions)
    people = PATIENTS.select("Sex", "HIV", "Charge", "Mental health flag")
    asked = overt.anonymize(
        people, sensitive=["HIV", "Charge", "Mental health flag"], goal=overt.RelativeRisk(3), audit=False
    )
    [said] = [caution for caution in asked.cautions if "finds the line and reads the rest" in caution]
    assert "'Charge'" in said and "'HIV'" in said
    _, values = asked.published
    alone = values.drop_nulls("Charge").group_by("Charge").len().filter(pl.col("len") == 1).height
    assert f"{alone:,} of {values.height:,} rows" in said and alone > values.height / 2
    several = overt.anonymize(
        STAYS,
        person="Patient ID",
        keep=2,
        sensitive=["HIV", "Charge"],
        goal=overt.RelativeRisk(4, column="HIV"),
        audit=False,
    )
    assert any("persons have a value of 'Charge' that nobody else has" in caution for caution in several.cautions)
    rounded = people.with_columns(pl.col("Charge").str.slice(0, 2))
    made = overt.anonymize(rounded, goal=overt.RelativeRisk(3), audit=False)
    assert not any("finds the line" in caution for caution in made.cautions)


def test_it_says_what_holds_against_whom_and_what_to_know_in_text_and_html(made):
    for text in (repr(made), made._repr_html_()):
        for words in (
            "5-anonymity",
            "whatever they believed before (strong)",
            "none, by proof",
            "randomly drawn people are not in the release",
            "Publish only one",
        ):
            assert words in text
        assert "1 groups" not in text and "array(" not in text
    assert repr(made).startswith("For the owner of the data")
    document = made.to_dict()
    assert document["audience"] == "owner" and document["ok"] and document["frames"] == ["boxes", "sensitive"]


def test_every_kind_of_frame_comes_back_as_it_came():
    for frame in (hospital(), hospital().to_pandas(), hospital().to_arrow()):
        people, _ = overt.anonymize(frame, audit=False, rng=ROWS(2)).published
        assert type(people) is type(frame)


def test_given_roles_win_and_what_is_not_named_is_not_released():
    made = overt.anonymize(
        hospital(), quasi_identifiers=["Sex", "Postcode"], sensitive=["Disease"], goal=overt.FrequencyLDiversity(3), k=4
    )
    people, values = made.published
    assert people.columns == ["bucket", "Postcode", "Sex"] and values.columns == ["bucket", "Disease"]
    assert made.n_looked_at == 0 and people.height == 96
    assert {str(held.asked) for held in made.holds} == {"4-anonymity", "3-diversity (frequency)"}
    reasons = {c.name: c.reason for c in made.columns}
    assert reasons["Sex"] == "as given" and "not released" in reasons["Birth date"]


def test_a_method_of_ones_own_gets_the_cautions_that_a_run_gives():
    made = overt.anonymize(
        hospital(),
        quasi_identifiers=["Sex", "Name"],
        sensitive=["Disease"],
        method=overt.Anatomy(goal=overt.FrequencyLDiversity(3)),
    )
    assert any(
        "'Name' is released as a quasi-identifier column and looks like an identifier" in c for c in made.cautions
    )
    assert any("Quasi-identifiers are published exactly" in c for c in made.cautions)


def test_several_rows_of_a_person_are_refused_or_kept_together():
    with pytest.raises(
        InvalidInput,
        match=r"'Patient ID' seems to name persons, .* Say which column identifies the persons, person='Patient ID'",
    ):
        overt.anonymize(STAYS)
    made = overt.anonymize(
        STAYS, person="Patient ID", keep=2, sensitive=["HIV"], goal=overt.RelativeRisk(4), audit=False
    )
    people, _ = made.published
    assert people.height == STAYS["Patient ID"].n_unique()
    few = STAYS.head(400)
    with pytest.raises(Unreachable, match="keep = "):  # a message that names the argument of this call
        overt.anonymize(few, person="Patient ID", sensitive=["HIV"], goal=overt.RelativeRisk(40), audit=False)


FIRST = ("Ann", "Bea", "Cem", "Dan", "Eva", "Finn", "Gus", "Hal", "Ida", "Jan")


def test_a_name_is_never_proposed_as_what_tells_persons_apart():
    family = [f"Q{'abcdefghij'[int(of[-1])]}{'klmnopqrst'[int(of[-2])]}" for of in STAYS["Patient ID"]]
    named = STAYS.with_columns(
        pl.Series("Last name", family), pl.Series("First name", [FIRST[int(of[-3])] for of in STAYS["Patient ID"]])
    )
    with pytest.raises(InvalidData, match="A name does not tell persons apart: .* person='Patient ID'; or"):
        overt.anonymize(named, sensitive=["HIV"], identifiers=["Patient ID"])
    with pytest.raises(InvalidData, match="number them in a column, and name it as person; or") as refused:
        overt.anonymize(named.drop("Patient ID"), sensitive=["HIV"])
    assert "person='" not in str(refused.value)


def test_where_persons_have_several_rows_roles_goals_and_pilot_are_those_of_init(tmp_path):
    STAYS.write_csv(tmp_path / "stays.csv")
    first = overt.init(tmp_path / "stays.csv", into=tmp_path / "r.toml")
    keep = overt.read_recipe(tmp_path / "r.toml").settings.input.keep
    made = overt.anonymize(STAYS, person="Patient ID", keep=keep, audit=False, rng=ROWS(4))
    assert {c.name: c.role for c in made.columns} == {c.name: c.role for c in first.profile.columns}
    recipe = overt.read_recipe(tmp_path / "r.toml")
    assert {type(part) for part in made.goal.parts} == {type(part) for part in recipe.goal.parts}
    assert overt.FrequencyLDiversity in {type(part) for part in made.goal.parts}
    assert made.n_looked_at == first.n_looked_at  # persons, and not their rows
    table = made.release.table
    assert table.n_rows == STAYS["Patient ID"].n_unique() - made.n_looked_at
    assert table.persons.keep == keep and table.persons.which == recipe.settings.input.which == "latest"
    said = dict(made._rows())
    assert said["Release"].startswith(f"{table.n_rows:,} persons with ") and "number of rows" not in said["Release"]
    assert "at most" in said["Cut"] and "Admitted" in said["Knowledge"] and "in any row" in said["Base rate"]
    reasons = {c.name: c.reason for c in made.columns}
    assert "Number the persons" not in reasons["Last name"] and reasons["Patient ID"] == "says whose a row is, as given"
    persons = made.to_dict()["persons"]
    assert persons["persons"] == table.n_rows and len(persons["base_rates"]) == 3


def test_a_missing_cell_and_a_date_in_two_spellings_make_no_column_vary():
    whose = np.repeat(np.arange(300), 2)
    rng = np.random.default_rng(8)
    sex = np.array(["f", "m"])[rng.integers(0, 2, 300)][whose].astype(object)
    sex[1] = ""
    day, month, year = rng.integers(1, 28, 300), rng.integers(1, 12, 300), rng.integers(1940, 2000, 300)
    german = [f"{d:02}.{m:02}.{y}" for d, m, y in zip(day, month, year, strict=True)]
    iso = [f"{y}-{m:02}-{d:02}" for d, m, y in zip(day, month, year, strict=True)]
    born = [iso[i] if n % 2 and i < 30 else german[i] for n, i in enumerate(whose)]
    wards = rng.choice(["A", "B", "C"], 600)
    illness = rng.choice(["flu", "cold", "asthma", "measles"], 600)
    frame = pl.DataFrame(
        {"Patient ID": whose, "Sex": sex.tolist(), "Birth date": born, "Ward": wards, "Diagnosis": illness}
    )
    made = overt.anonymize(
        frame,
        person="Patient ID",
        quasi_identifiers=["Sex", "Birth date", "Ward"],
        sensitive=["Diagnosis"],
        goal=overt.RelativeRisk(4),
        audit=False,
        rng=ROWS(5),
    )
    assert set(made.release.table.persons.positions) == {"Ward"}
    assert made.release.table.n_rows == 300


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"sensitive": "Disease"}, r"sensitive takes a list of texts; write \['Disease'\]"),
        ({"sensitive": ["Dis"]}, "There is no column 'Dis'; the columns are 'Name'"),
        ({"goal": 5}, "`goal` of overt.anonymize is 5; give a property"),
        ({"k": 0}, "k is 0"),
        ({"method": overt.Mondrian(goal=overt.KAnonymity(2)), "k": 3}, "give a method, or a goal and k"),
        ({"method": 5}, "give a method such as BlindBuckets"),
        ({"quasi_identifiers": ["Sex"], "sensitive": ["Sex"]}, "given more than one role"),
        ({"person": "Pat"}, "There is no column 'Pat'"),
    ],
)
def test_wrong_arguments_end_in_a_sentence(how, words):
    with pytest.raises(InvalidInput, match=words):
        overt.anonymize(hospital(), **how)


def test_files_and_tables_are_sent_to_where_they_belong():
    with pytest.raises(InvalidInput, match="Of a file overt.init writes a recipe"):
        overt.anonymize("patients.csv")
    with pytest.raises(InvalidInput, match=r"BlindBuckets\(goal=...\).anonymize\(table"):
        overt.anonymize(overt.read_frame(hospital(), quasi_identifiers=["Sex"]))


def test_what_says_nothing_or_cannot_be_is_refused_before_anybody_is_drawn():
    frame = hospital()
    with pytest.raises(InvalidInput, match="keep is about the rows of a person"):
        overt.anonymize(frame, keep=2)
    with pytest.raises(InvalidInput, match="k is 1,000, and the frame has 96 rows"):
        overt.anonymize(frame, k=1_000)
    with pytest.raises(InvalidInput, match=r"k is 2,900, and the frame has 2,625 persons"):
        overt.anonymize(STAYS, person="Patient ID", k=2_900)


def test_amounts_that_few_have_and_nobody_shares_find_lines_and_that_is_said():
    rng = np.random.default_rng(6)
    amounts = [str(1_000 + 7 * i) if i % 5 == 0 else "0" for i in range(2_000)]
    frame = pl.DataFrame({"Age": rng.integers(20, 90, 2_000), "Fine": amounts, "HIV": rng.choice(["yes", "no"], 2_000)})
    asked = overt.anonymize(frame, sensitive=["Fine", "HIV"], goal=overt.RelativeRisk(3), audit=False, rng=ROWS(2))
    [said] = [caution for caution in asked.cautions if "finds the line and reads the rest" in caution]
    assert said.startswith("400 of 2,000 rows have a value of 'Fine' that nobody else has")
    proposed = overt.anonymize(frame, audit=False, rng=ROWS(3))
    assert {one.name: str(one.role) for one in proposed.columns} == {
        "Age": "quasi-identifier",
        "Fine": "other",
        "HIV": "sensitive",
    }
