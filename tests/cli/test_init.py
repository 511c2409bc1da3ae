# SPDX-License-Identifier: Apache-2.0
import csv
import random
import tomllib

import polars as pl
import pytest

import overt
from overt import samples
from overt.cli import main
from overt.engine.anonymize import anonymize
from overt.errors import InvalidInput
from overt.io.profiling import profile_file
from overt.io.recipe.toml_text import toml_of
from overt.samples import census, hospital
from overt.table import Kind, Role

NASTY_COLUMN = "[columns.x]\n#evil"


@pytest.fixture
def nasty(folder):
    """Names with mark-up and new lines, marks for missing values, several rows per person, free text, empty columns."""
    draw = random.Random(5)
    header = [
        "patient_id",
        "Full Name",
        "e-mail",
        "birth date",
        'post"code',
        "weight kg",
        "visits",
        "Diagnosis",
        "notes",
    ]
    with (folder / "nasty.csv").open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow([*header, "const", "empty", "score", NASTY_COLUMN])
        for i in range(300):
            birth = f"19{draw.randint(30, 99)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
            person = [f"P{i % 200:05}", f"<b>{i}", f"u{i}@example.org", birth, draw.randint(10000, 10040)]
            facts = [
                f"{draw.gauss(70, 12):.3f}",
                draw.choice(["1", "2", "3", "NA", "?"]),
                draw.choice(["flu", "", "=1+1"]),
            ]
            rest = [
                "words " * 12 + str(i),
                "same",
                "",
                draw.choice("127-"),
                draw.choice(["*", "missing", "a..b", "{x}", ""]),
            ]
            lines.writerow([*person, *facts, *rest])
    return folder / "nasty.csv"


def roles(path):
    return {column.name: column.role for column in profile_file(path).columns}


def test_the_recipe_runs_as_it_is_and_gives_reasons(folder, overt):
    code, out, _ = overt("init", "hospital.csv", "--into", "first.toml")
    assert code == 0
    assert "Name        identifier        its name says that it names a person" in out
    assert "Birth date  quasi-identifier  looks like a date" in out
    assert "Disease     sensitive" in out
    assert "of rows are unique on all quasi-identifiers together" in out
    text = (folder / "first.toml").read_text()
    assert tomllib.loads(text)["columns"]["Birth date"]["hierarchy"] == {
        "dates": ["month", "quarter", "year", "decade"]
    }
    assert "# looks like a date" in text
    code, out, _ = overt("run", "first.toml", "--report")
    assert code == 0
    assert (folder / "release.csv").exists() and (folder / "release.report.html").exists()


def test_no_value_of_a_person_is_in_the_recipe(folder, overt):
    overt("init", "hospital.csv", "--into", "first.toml", "--quiet")
    text = (folder / "first.toml").read_text()
    for cell in hospital().select(pl.all().exclude("Sex").cast(str)).to_numpy().ravel():
        assert cell not in text


def test_a_census_gets_numbers_categories_and_a_goal_that_can_be_reached(folder, overt):
    census(3000).write_parquet(folder / "census.parquet")
    code, _, _ = overt("init", "census.parquet", "--into", "c.toml", "--quiet")
    document = tomllib.loads((folder / "c.toml").read_text())
    assert code == 0
    assert document["columns"]["Age"]["hierarchy"] == {"widths": [5, 10, 20]}
    assert document["columns"]["Income"]["role"] == "sensitive"
    assert {goal["property"] for goal in document["goal"]} == {"k-anonymity", "l-diversity", "t-closeness"}
    assert overt("run", "c.toml", "--quiet")[0] == 0


@pytest.mark.parametrize("number", ['Pat.-Nr "alt"', "Fall-Nr", "zq"])
def test_what_init_takes_as_the_person_is_refused_in_a_recipe_that_no_longer_says_so(folder, overt, number):
    samples.discharges(900).rename({"Patient ID": number}).write_csv(folder / "stays.csv")
    assert overt("init", "stays.csv", "--into", "s.toml", "--quiet")[0] == 0
    document = tomllib.loads((folder / "s.toml").read_text())
    assert document["input"]["person"] == number
    document["input"] = {"path": "stays.csv"}
    document.pop("pilot")
    (folder / "stays.csv.pilot.owner.json").unlink()
    for column in document["columns"].values():
        column.pop("varies", None)
    (folder / "s.toml").write_text(toml_of(document))
    code, _, err = overt("run", "s.toml", "--quiet")
    assert code == 3 and "different values in 900 rows: several rows for one person." in err
    assert not (folder / "release.csv").exists()
    document["columns"][number]["repeats"] = "allow"
    (folder / "s.toml").write_text(toml_of(document))
    code, out, _ = overt("run", "s.toml")
    assert code == 0 and "every row counts as a person" in " ".join(out.split())


def test_hierarchies_that_lie_beside_the_data_are_found(folder, overt):
    pl.DataFrame({"sex": ["f", "m"] * 30, "town": ["A", "B", "C"] * 20}).write_csv(folder / "people.csv")
    (folder / "people_hierarchy_town.csv").write_text("A;north;*\nB;north;*\nC;south;*\n")
    (folder / "people_hierarchy_sex.csv").write_text("f;*\n")  # does not cover the data
    overt("init", "people.csv", "--into", "p.toml", "--quiet")
    columns = tomllib.loads((folder / "p.toml").read_text())["columns"]
    assert columns["town"]["hierarchy"] == {"file": "people_hierarchy_town.csv"}
    assert "hierarchy" not in columns["sex"]


def test_a_nasty_file(nasty, folder, overt):
    found = roles(nasty)
    assert found["patient_id"] is found["Full Name"] is found["e-mail"] is found["notes"] is Role.IDENTIFIER
    assert found["Diagnosis"] is found["score"] is Role.SENSITIVE
    assert found["const"] is found["empty"] is Role.OTHER
    code, out, _ = overt("init", "nasty.csv", "--into", "n.toml")
    assert code == 0 and "200 in 300 rows, by 'patient_id'" in out
    document = tomllib.loads((folder / "n.toml").read_text())
    assert document["input"]["missing_values"] == ["", "-", "?", "NA"]  # between numbers they cannot be anything else
    assert document["columns"]['post"code']["kind"] == "category"
    assert NASTY_COLUMN in document["columns"]
    assert document["columns"]["patient_id"] == {"role": "identifier"}
    assert document["input"]["person"] == "patient_id"


def test_several_rows_for_one_person_are_refused_with_a_way_out(nasty, folder, overt):
    overt("init", "nasty.csv", "--into", "n.toml", "--quiet")
    text = (folder / "n.toml").read_text()
    assert 'person = "patient_id"' in text
    said = ("person", "keep", "which", "order", "known", "varies")
    without = "\n".join(line for line in text.splitlines() if not line.startswith(said))
    (folder / "n.toml").write_text(without)
    code, _, err = overt("run", "n.toml", "--quiet")
    assert code == 3
    assert "Column 'patient_id' of nasty.csv has 200 different values in 300 rows: several rows for one person." in err
    assert 'person = "patient_id"' in err and "P00" not in err and "allow" not in err
    (folder / "n.toml").write_text(without.replace("[columns.patient_id]", '[columns.patient_id]\nrepeats = "allow"'))
    code, out, _ = overt("run", "n.toml", "--report")
    assert code == 0 and "every row counts as a person" in " ".join(out.split())
    assert overt("check", "nasty.csv", "release.csv", "--quiet")[0] == 0


def test_marks_that_may_be_values_are_only_mentioned(folder, overt):
    pl.DataFrame({"origin": ["NA", "Cuba", "Peru"] * 20, "age": [30, 40, 50] * 20}).write_csv(folder / "o.csv")
    overt("init", "o.csv", "--into", "o.toml", "--quiet")
    text = (folder / "o.toml").read_text()
    assert '# "NA" stands in 20 rows of "origin": if that means missing' in text
    assert "missing_values" not in tomllib.loads(text)["input"]


def test_a_recipe_that_is_there_is_not_replaced(folder, overt):
    code, _, err = overt("init", "hospital.csv")
    assert code == 3 and "recipe.toml exists already" in err
    assert overt("init", "hospital.csv", "--overwrite", "--quiet")[0] == 0


def test_a_file_of_identifiers_only_is_refused(folder, overt):
    pl.DataFrame({"email": [f"u{i}@x.org" for i in range(50)]}).write_csv(folder / "mail.csv")
    code, _, err = overt("init", "mail.csv", "--into", "m.toml")
    assert code == 3 and "No column of mail.csv looks like something that others may know" in err


def test_the_profile_as_json(folder, overt_json):
    code, document = overt_json("init", "hospital.csv", "--into", "j.toml")
    assert code == 0 and document["rows"] == 96
    assert document["columns"][1] == {
        "name": "Birth date",
        "role": "quasi-identifier",
        "reason": "looks like a date",
        "kind": str(Kind.DATE),
        "values": 96,
        "missing": 0,
    }


def test_all_sensitive_columns_say_the_same_of_missing_values(folder, overt):
    people = pl.DataFrame(
        {"age": [30, 40] * 30, "salary": [100, None, 300] * 20, "diagnosis": ["flu", "cold", "gout"] * 20}
    )
    people.write_csv(folder / "people.csv")
    assert overt("init", "people.csv", "--into", "people.toml", "--quiet") == (0, "", "")
    columns = tomllib.loads((folder / "people.toml").read_text())["columns"]
    assert [columns[name]["missing"] for name in ("salary", "diagnosis")] == ["own value", "own value"]
    assert overt("run", "people.toml", "--quiet")[0] == 0


MESSY = "\n".join(
    ["Born,Seen,Age,Zip,Diagnosis"]
    + [
        f"{i % 28 + 1:02}.{i % 12 + 1:02}.19{i % 60 + 30},{i % 12 + 1:02}/{i % 11 + 1:02}/2023,{'n.k.' if i == 5 else i % 70 + 18},"
        f"{53110 + i % 8},{('I10', 'E11.9', 'J45.0', 'K35.8')[i % 4]}"
        for i in range(400)
    ]
)


def test_dates_and_odd_cells_are_read_as_the_recipe_says(folder, overt):
    (folder / "messy.csv").write_text(MESSY)
    code, out, _ = overt("init", "messy.csv", "--into", "m.toml")
    assert code == 0
    assert "written %d.%m.%Y" in out
    assert "'Age': 1 cell is no number (line 7); the recipe counts it as missing" in " ".join(out.split())
    assert "no cell shows which" in out
    columns = tomllib.loads((folder / "m.toml").read_text())["columns"]
    assert columns["Born"]["format"] == "%d.%m.%Y"
    assert columns["Born"]["hierarchy"] == {"dates": ["month", "quarter", "year", "decade"]}
    assert columns["Seen"]["format"] == "%d/%m/%Y"
    assert (columns["Age"]["kind"], columns["Age"]["unreadable"]) == ("number", "missing")
    assert columns["Diagnosis"]["role"] == "sensitive"
    assert overt("run", "m.toml", "--quiet")[0] == 0
    assert overt("check", "messy.csv", "release.csv", "--quiet")[0] == 0


def test_a_run_warns_when_it_releases_what_looks_like_an_identifier(folder, overt):
    (folder / "messy.csv").write_text(MESSY.replace("Zip,", "Town,").replace("53110", "Anna"))
    names = ["Anna Weber", "Peter Klein", "Julia Braun", "Thomas Koch"]
    pl.read_csv(folder / "messy.csv").with_columns(
        Contact=pl.Series([names[i % 4] for i in range(400)]),
        Staff=pl.Series([f"a{i % 9}@example.org" for i in range(400)]),
    ).write_csv(folder / "messy.csv")
    overt("init", "messy.csv", "--into", "m.toml", "--quiet")
    text = (folder / "m.toml").read_text()
    columns = tomllib.loads(text)["columns"]
    assert columns["Contact"]["role"] == columns["Staff"]["role"] == "identifier"
    first, staff = text.split("[columns.Staff]")
    first = first.replace('role = "identifier"', 'role = "quasi-identifier"')
    staff = staff.replace('role = "identifier"', 'role = "other"', 1).replace(
        "[output]", '[output]\nothers = ["Staff"]'
    )
    (folder / "m.toml").write_text(f"{first}[columns.Staff]{staff}")
    code, out, _ = overt("run", "m.toml")
    said = " ".join(out.split())
    assert code == 0
    assert "'Contact' is released as a quasi-identifier column and looks like an identifier" in said
    assert "'Staff' is released as it is and looks like an identifier: its values look like e-mail addresses" in said
    assert "Anna" not in said


def test_more_than_64_columns_do_not_stop_init_and_risk(folder, overt):
    draw = random.Random(3)
    wide = {f"q{i}": [draw.randrange(i % 5 + 3) for _ in range(60)] for i in range(200)}
    pl.DataFrame(wide).write_csv(folder / "wide.csv")
    code, out, _ = overt("init", "wide.csv", "--into", "w.toml")
    assert code == 0 and "200 columns are proposed as what others may know" in " ".join(out.split())
    code, out, _ = overt("risk", "wide.csv")
    assert code == 0 and "136 columns with few values were not combined" in out


def test_moments_with_a_blank_before_the_hour_run_as_proposed(folder, overt):
    rows = [
        f"2023-0{i % 9 + 1}-1{i % 7} 08:{i % 50 + 10}:00,{i % 60},{('I10', 'J45.0', 'K35.8')[i % 3]}"
        for i in range(300)
    ]
    (folder / "trips.csv").write_text("\n".join(["start,age,diagnosis", *rows]))
    assert overt("init", "trips.csv", "--into", "t.toml", "--quiet")[0] == 0
    assert tomllib.loads((folder / "t.toml").read_text())["columns"]["start"]["kind"] == "date"
    assert overt("run", "t.toml", "--quiet")[0] == 0


def test_dates_that_came_as_texts_of_json_are_said_to_be_dates_so_that_the_recipe_runs(tmp_path):
    overt.samples.hospital().write_ndjson(tmp_path / "people.jsonl")
    overt.init(tmp_path / "people.jsonl", into=tmp_path / "recipe.toml")
    assert overt.run(tmp_path / "recipe.toml").ok


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("people.sav", "an SPSS file; save it as CSV"),
        ("people.dta", "a Stata file"),
        ("people.pdf", "a document; take the table out"),
        ("people.json", "JSON; one object in each line is expected"),
        (".", "is a folder; give the path of a file in it"),
        ("nowhere.csv", "There is no file"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name_before_anything_is_written(name, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name.startswith("people"):
        (tmp_path / name).write_bytes(b"[1, 2]\0" if name.endswith("json") else b"\x01\x02%PDF")
    assert main(["init", name]) == 3
    assert said in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "recipe.toml").exists()


def test_a_recipe_that_exists_is_not_replaced_and_that_is_said_before_the_data_is_read(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.toml").write_text("mine")
    (tmp_path / "people.csv").write_text("no table at all")
    assert main(["init", "people.csv"]) == 3
    assert "recipe.toml exists already" in capsys.readouterr().err
    assert (tmp_path / "recipe.toml").read_text() == "mine"


@pytest.mark.parametrize(("last", "is_total"), [("Summe,,,4711", True), ("Total:,,,4711", True), (",,,", False), ("7,12,yes,31", False), ("Summe,12,yes,31", False)])  # fmt: skip
def test_a_row_of_totals_is_cautioned_of(last, is_total, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{20 + i % 50},{'yes' if i % 7 == 0 else 'no'},{i % 9}" for i in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["no,age,HIV,visits", *rows, last]) + "\n")
    assert main(["init", "people.csv"]) == 0
    assert ("the last row seems to hold totals" in " ".join(capsys.readouterr().out.split())) is is_total


def test_what_nothing_is_known_of_is_left_out_and_named_by_init_risk_and_one_call(folder, overt):
    draw = random.Random(4)
    rows = {
        "Age": [draw.randrange(20, 90) for _ in range(300)],
        "Diagnosis": [draw.choice("abcde") for _ in range(300)],
    }
    rows |= {"zq": [draw.choice(["north", "south"]) for _ in range(300)]}
    frame = pl.DataFrame(rows)
    frame.write_csv(folder / "few.csv")
    code, out, _ = overt("init", "few.csv", "--into", "few.toml")
    said = "because neither header nor cells say what it is: zq"
    assert code == 0 and f"not released, {said}" in " ".join(out.split())
    recipe = tomllib.loads((folder / "few.toml").read_text(encoding="utf-8"))
    assert recipe["columns"]["zq"]["role"] == "other"
    code, out, _ = overt("risk", "few.csv")
    assert code == 0 and f"not counted, {said}" in " ".join(out.split())
    made = anonymize(frame, audit=False)
    assert any(f"not released, {said}" in caution for caution in made.cautions)
    assert all("zq" not in shown.columns for shown in made.published)


def test_questions_by_number_are_proposed_with_a_caution_and_never_released_in_one_call(folder, overt):
    draw = random.Random(4)
    frame = pl.DataFrame({f"q{i}": [draw.randrange(3) for _ in range(100)] for i in range(4)})
    frame.write_csv(folder / "few.csv")
    code, out, _ = overt("init", "few.csv", "--into", "few.toml")
    assert code == 0 and "nothing protects what is private in them: q0, q1, q2, q3" in " ".join(out.split())
    with pytest.raises(InvalidInput, match="say what others may know about a person: q0, q1, q2, q3"):
        anonymize(frame)


def test_a_recipe_for_persons_who_are_named_again_and_numbered_nowhere_refuses_to_run(folder, overt):
    draw, rows = random.Random(4), []
    for i in range(120):
        birth, name = f"19{30 + i % 60}-0{i % 9 + 1}-1{i % 10}", (f"Quast{i % 20}", "Anna" if i % 2 else "Peter")
        rows += [(*name, birth, draw.choice(["flu", "cold"])) for _ in range(2)]
    pl.DataFrame(rows, schema=["Last name", "First name", "DOB", "Diagnosis"], orient="row").write_csv(folder / "v.csv")
    code, out, _ = overt("init", "v.csv", "--into", "v.toml")
    assert code == 0 and "'Last name' seems to name persons, some in several rows; overt run refuses that" in out
    code, _, err = overt("run", "v.toml")
    assert code == 3 and "number them in a column of their own" in err and "Quast" not in err


def test_columns_that_are_not_read_need_no_format(folder, overt):
    draw = random.Random(4)
    texts = [
        f"{draw.randrange(20, 90)};{draw.randrange(9)},{draw.randrange(10, 99)};{draw.choice(['1,5', '2,0', '2,5', '3,0', '4,0'])}"
        for _ in range(300)
    ]
    (folder / "w.csv").write_text("\n".join(["Age;weight;zq", *texts]) + "\n", encoding="utf-8")
    code, _, err = overt("init", "w.csv", "--into", "w.toml")
    assert code == 0, err
    recipe = tomllib.loads((folder / "w.toml").read_text(encoding="utf-8"))
    assert recipe["columns"]["weight"] == {"role": "other"} == recipe["columns"]["zq"]


def test_values_with_a_bound_of_their_own_are_not_said_to_keep_within_1_in_l(folder, overt):
    draw, rows = random.Random(4), []
    for i in range(900):
        rows += [
            (f"P{i:04}", draw.randrange(20, 90), draw.choice(["I10", "E11", "J45", "F32", "B20"])) for _ in range(2)
        ]
    pl.DataFrame(rows, schema=["Patient ID", "age", "Diagnosis"], orient="row").write_csv(folder / "v.csv")
    assert overt("init", "v.csv", "--into", "v.toml", "--quiet")[0] == 0
    [line] = [one for one in (folder / "v.toml").read_text(encoding="utf-8").splitlines() if one.startswith("l = ")]
    assert "bounds = {" in (folder / "v.toml").read_text(encoding="utf-8")
    assert "nobody's value but those with bounds below is known with a probability above" in line
