# SPDX-License-Identifier: Apache-2.0
"""Recipes and commands on real databases, and that no password comes out anywhere."""

import json
import socket
import sqlite3
from itertools import count

import polars as pl
import pytest

from cli.conftest import ANATOMY, RECIPE
from overt.audience import PRINTED
from overt.cli import main
from overt.io import targets
from overt.samples import hospital
from servers import rows_at

NUMBERS = count()
FROM_DATABASE = RECIPE.replace('path = "hospital.csv"', 'database = "CLINIC_DB"\ntable = "hospital"')
TO_DATABASE = 'database = "PUBLIC_DB"\ntable = "released"'
BOTH = FROM_DATABASE.replace('path = "release.csv"', TO_DATABASE)
CREATE = 'CREATE TABLE hospital ("Name" text, "Birth date" {date}, "Postcode" text, "Sex" text, "Disease" text)'
PEOPLE = hospital().select("Name", "Birth date", "Postcode", "Sex", "Disease").with_columns(pl.all().cast(pl.String))


def fill_sqlite(path):
    with sqlite3.connect(path) as connection:
        connection.execute(CREATE.format(date="text"))
        rows = PEOPLE.rows()
        connection.executemany("INSERT INTO hospital VALUES (?, ?, ?, ?, ?)", rows)
    connection.close()


def fill_postgresql(server, name):
    address = server.schema_address(name)
    lines = ", ".join("(" + ", ".join(f"'{cell}'" for cell in row) + ")" for row in PEOPLE.rows())
    for sql in (CREATE.format(date="date"), f"INSERT INTO hospital VALUES {lines}"):
        rows_at(address, sql)
    return address


@pytest.fixture(params=["postgresql", "sqlite"])
def clinic(request, folder, monkeypatch):
    """The hospital in a database that CLINIC_DB and PUBLIC_DB name: what runs SQL there, for any answer."""
    if request.param == "sqlite":
        fill_sqlite(folder / "clinic.db")
        monkeypatch.setenv("CLINIC_DB", str(folder / "clinic.db"))
        monkeypatch.setenv("PUBLIC_DB", str(folder / "public.db"))

        def run(sql):
            path = folder / ("clinic.db" if "hospital" in sql else "public.db")
            with sqlite3.connect(path) as connection:
                found = connection.execute(sql).fetchall()
            connection.close()
            return found

        return run
    server = request.getfixturevalue("postgresql")
    name = f"clinic_{next(NUMBERS)}"
    address = fill_postgresql(server, name)
    for variable in ("CLINIC_DB", "PUBLIC_DB"):
        monkeypatch.setenv(variable, address)
    return lambda sql: rows_at(address, sql)


def write(folder, text, name="recipe.toml"):
    (folder / name).write_text(text)


def test_from_a_database_to_a_database_and_checked(clinic, folder, overt):
    write(folder, BOTH)
    code, out, err = overt("run", "recipe.toml")
    assert code == 0
    assert err.splitlines()[0] == "Reading hospital"
    assert "  Tables    released\n  Files     released.manifest.json\n  Owner     released.owner.json\n" in out
    assert "  Check     overt check CLINIC_DB released.manifest.json\n" in out
    assert len(clinic("SELECT * FROM released")) == 96
    code, out, err = overt("check", "CLINIC_DB", "released.manifest.json")
    assert (code, out.count("FAILED")) == (0, 0)
    assert "The content of the tables is what it was when the manifest was written." in out
    assert err.splitlines() == ["Comparing digests", "Reading hospital", "Reading released", "Checking"]
    assert overt("check", "CLINIC_DB", "released", "--recipe", "recipe.toml", "--quiet") == (0, "", "")


def test_a_database_gives_the_release_that_a_file_gives(clinic, folder, overt):
    assert overt("run", "recipe.toml", "--quiet")[0] == 0
    write(folder, FROM_DATABASE.replace("release.csv", "other.csv"), "other.toml")
    assert overt("run", "other.toml", "--quiet")[0] == 0
    assert (folder / "other.csv").read_bytes() == (folder / "release.csv").read_bytes()
    assert overt("check", "CLINIC_DB", "other.csv", "--quiet") == (0, "", "")


def test_from_a_file_to_a_database(clinic, folder, overt):
    write(folder, RECIPE.replace('path = "release.csv"', TO_DATABASE))
    code, out, _ = overt("run", "recipe.toml")
    assert code == 0
    assert "overt check hospital.csv released.manifest.json\n" in out
    assert overt("check", "hospital.csv", "released.manifest.json", "--quiet") == (0, "", "")
    assert overt("check", "nobody.csv", "released.manifest.json", "--quiet") == (
        3,
        "",
        "There is no file nobody.csv; check the name and the folder.\n",
    )


@pytest.mark.parametrize("extra", ["", "\nflat = true"], ids=["two tables", "flat"])
def test_buckets(clinic, folder, overt, overt_json, extra):
    places_of_both = FROM_DATABASE.partition("[columns.Name]")[0]
    text = places_of_both + ANATOMY[ANATOMY.index("[columns.Name]") :]
    write(folder, text.replace('path = "release.csv"', TO_DATABASE) + extra)
    code, outcome = overt_json("run", "recipe.toml")
    expected = {"flat": "released"} if extra else {"quasi-identifiers": "released", "sensitive": "released_sensitive"}
    assert (code, outcome["files"]) == (0, expected)
    assert overt("check", "CLINIC_DB", "released.manifest.json", "--quiet") == (0, "", "")
    assert overt("check", "CLINIC_DB", "released", "--recipe", "recipe.toml", "--quiet") == (0, "", "")


def test_changes_are_found(clinic, folder, overt):
    write(folder, BOTH)
    assert overt("run", "recipe.toml", "--quiet")[0] == 0
    clinic('UPDATE hospital SET "Name" = \'Somebody\' WHERE "Name" IS NOT NULL')  # no part of the release
    assert overt("check", "CLINIC_DB", "released.manifest.json", "--quiet")[0] == 0
    clinic('DELETE FROM released WHERE "Disease" = (SELECT min("Disease") FROM released)')
    code, out, _ = overt("check", "CLINIC_DB", "released.manifest.json")
    assert code == 1
    assert "released changed since the manifest was written." in out
    assert out.endswith("\n\nThe release does not hold what it claims.\n")


def test_changed_data_is_found(clinic, folder, overt):
    write(folder, BOTH)
    assert overt("run", "recipe.toml", "--quiet")[0] == 0
    clinic("INSERT INTO hospital SELECT * FROM hospital WHERE \"Sex\" = 'female'")
    code, out, _ = overt("check", "CLINIC_DB", "released.manifest.json")
    assert code == 1
    assert "hospital is not what the release was made from" in out


def test_what_is_there_is_not_replaced(clinic, folder, overt):
    write(folder, BOTH)
    assert overt("run", "recipe.toml", "--quiet")[0] == 0
    manifest = (folder / "released.manifest.json").read_bytes()
    (folder / "released.manifest.json").unlink()
    (folder / "released.owner.json").unlink()
    code, out, err = overt("run", "recipe.toml", "--quiet")
    assert (code, out) == (3, "")
    assert err == (
        "Table 'released' exists already in the database PUBLIC_DB; add --overwrite to empty and fill it, or give [output] "
        "another table.\n"
    )
    assert not (folder / "released.manifest.json").exists()
    assert overt("run", "recipe.toml", "--quiet", "--overwrite") == (0, "", "")
    assert json.loads((folder / "released.manifest.json").read_text())["release"] == json.loads(manifest)["release"]


def test_what_is_read_is_never_replaced(clinic, folder, overt):
    write(folder, BOTH.replace('"PUBLIC_DB"', '"CLINIC_DB"').replace('"released"', '"hospital"'))
    code, _, err = overt("run", "recipe.toml", "--overwrite")
    assert code == 2
    assert err.endswith(": the release would overwrite the input; give [output] another table.\n")
    query = BOTH.replace('table = "hospital"', 'query = "SELECT * FROM hospital"').replace('"PUBLIC_DB"', '"CLINIC_DB"')
    write(folder, query.replace('"released"', '"hospital"'))
    code, _, err = overt("run", "recipe.toml", "--overwrite", "--quiet")
    assert (code, err) == (3, "Table 'hospital' is read by this recipe and would be replaced; give [output] another.\n")
    assert len(clinic("SELECT * FROM hospital")) == 96


def test_a_failure_leaves_neither_tables_nor_files(clinic, folder, overt, monkeypatch):
    write(folder, BOTH)
    before = sorted(path.name for path in folder.iterdir())

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("overt.engine.run.records_of", fail)
    assert overt("run", "recipe.toml", "--quiet") == (
        3,
        "",
        "There is no space left on the disk; nothing was written. Free some space, or name another folder.\n",
    )
    assert sorted(path.name for path in folder.iterdir()) == before
    monkeypatch.undo()


def test_a_manifest_that_cannot_be_written_leaves_no_table(clinic, folder, overt, monkeypatch):
    write(folder, BOTH)
    commit = targets.written_tables

    def commit_after_the_disk_is_full(*arguments, **keywords):
        monkeypatch.setattr("pathlib.Path.write_bytes", fail)
        return commit(*arguments, **keywords)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(targets, "written_tables", commit_after_the_disk_is_full)
    assert overt("run", "recipe.toml", "--quiet") == (
        3,
        "",
        "There is no space left on the disk; nothing was written. Free some space, or name another folder.\n",
    )
    monkeypatch.undo()
    assert not (folder / "released.manifest.json").exists()
    assert not (folder / "public.db").exists()


def test_init_writes_a_recipe_that_runs(clinic, folder, overt):
    code, out, _ = overt("init", "CLINIC_DB", "--table", "hospital", "--into", "first.toml")
    assert code == 0
    assert out.startswith(
        "For the owner of the data only: do not publish what is printed here.\n\n96 rows, 5 columns in hospital. Proposed roles:\n"
    )
    text = (folder / "first.toml").read_text()
    assert 'database = "CLINIC_DB"' in text and 'table = "hospital"' in text
    assert overt("run", "first.toml", "--quiet")[0] == 0
    query = 'SELECT "Sex", "Disease", "Birth date" FROM hospital WHERE "Sex" <> \'x\\y\''
    assert overt("init", "CLINIC_DB", "--query", query, "--into", "second.toml", "--quiet") == (0, "", "")
    assert overt("run", "second.toml", "--quiet", "--overwrite")[0] == 0
    assert overt("check", "CLINIC_DB", "release.csv", "--quiet")[0] == 0


def test_risk_compare_and_audit(clinic, folder, overt, overt_json):
    _, of_file = overt_json("risk", "hospital.csv", "--known", "Sex", "Birth date", "--sensitive", "Disease")
    of_table = overt_json(
        "risk", "CLINIC_DB", "--table", "hospital", "--known", "Sex", "Birth date", "--sensitive", "Disease"
    )
    assert of_table == (0, of_file)
    write(folder, FROM_DATABASE)
    assert overt("risk", "CLINIC_DB", "--recipe", "recipe.toml", "--quiet") == (0, "", "")
    assert overt("risk", "CLINIC_DB", "--table", "hospital", "--quiet") == (0, "", "")
    write(folder, FROM_DATABASE.replace("k = 4", "k = 8"), "other.toml")
    code, found = overt_json("compare", "recipe.toml", "other.toml")
    assert (code, found["caution"], [one["rows"] for one in found["results"]]) == (0, "", [96, 96])
    assert overt("audit", "recipe.toml", "--seconds", "0.2", "--quiet")[0] == 0


def test_several_rows_for_one_person_are_refused(clinic, folder, overt):
    write(folder, FROM_DATABASE.replace('role = "identifier"', 'role = "identifier"\nrepeats = "refuse"'))
    assert overt("run", "recipe.toml", "--quiet")[0] == 0
    clinic("INSERT INTO hospital SELECT * FROM hospital")
    code, _, err = overt("run", "recipe.toml", "--quiet", "--overwrite")
    assert code == 3
    assert err.startswith(
        f"{PRINTED}\nColumn 'Name' of table hospital has 96 different values in 192 rows: several rows for one person."
    )


def test_a_number_that_init_would_take_as_the_person_is_refused_where_the_recipe_says_nothing_of_it(
    clinic, folder, overt
):
    clinic('ALTER TABLE hospital RENAME COLUMN "Name" TO "Case ID"')
    recipe = FROM_DATABASE.replace("Name", "Case ID").replace("[columns.Case ID]", '[columns."Case ID"]')
    write(folder, recipe)
    assert overt("run", "recipe.toml", "--quiet")[0] == 0
    clinic("INSERT INTO hospital SELECT * FROM hospital")
    code, _, err = overt("run", "recipe.toml", "--quiet", "--overwrite")
    assert code == 3 and "Column 'Case ID' of table hospital has 96 different values in 192 rows" in err


def test_rows_of_persons_that_were_drawn_are_found_again_in_whatever_order_they_come(clinic, folder, overt):
    values = ", ".join(
        f"('P{row // 3}', {1940 + row // 3}, '2020-0{1 + row % 3}-11', '{'abcdefgh'[(row * 5 + row // 7) % 8]}')"
        for row in range(180)
    )
    clinic("CREATE TABLE hospital_visits (id text, born integer, day text, ill text)")
    clinic(f"INSERT INTO hospital_visits VALUES {values}")
    write(
        folder,
        'version = 1\n[input]\ndatabase = "CLINIC_DB"\ntable = "hospital_visits"\nperson = "id"\nkeep = 2\n[columns]\nid = { role = "identifier" }\n'
        'born = { role = "quasi-identifier" }\nday = { role = "quasi-identifier", kind = "date", varies = true }\nill = { role = "sensitive" }\n'
        '[[goal]]\nproperty = "l-diversity"\nl = 2\n[method]\nname = "blind-buckets"\nrows_per_bucket = 6\n[output]\npath = "release.csv"\n',
    )
    assert overt("run", "recipe.toml", "--quiet") == (0, "", "")
    clinic("CREATE TABLE hospital_turned AS SELECT * FROM hospital_visits ORDER BY ill, day DESC, id DESC")
    clinic("DELETE FROM hospital_visits")
    clinic("INSERT INTO hospital_visits SELECT * FROM hospital_turned")
    code, out, err = overt("check", "CLINIC_DB", "release.csv", "--quiet")
    assert (code, out, err) == (0, "", "")


def test_a_report_shows_neither_server_nor_texts_of_a_query(postgresql, folder, overt, monkeypatch):
    address = fill_postgresql(postgresql, "reported").replace(f":{postgresql.password}@", "@")
    monkeypatch.setenv("PGPASSWORD", postgresql.password)
    query = "SELECT * FROM hospital WHERE \\\"Sex\\\" <> 'oncology ward 7'"
    write(folder, BOTH.replace('table = "hospital"', f'query = "{query}"').replace('"CLINIC_DB"', f'"{address}"').replace('"PUBLIC_DB"', f'"{address}"'))  # fmt: skip
    assert overt("run", "recipe.toml", "--quiet", "--report") == (0, "", "")
    for name in ("released.report.html", "released.report.json", "released.manifest.json"):
        text = (folder / name).read_text()
        assert postgresql.password not in text
        if "report" in name:
            assert f"127.0.0.1:{postgresql.port}" not in text and "oncology" not in text
            assert "query" in text
    assert overt("check", address, "released.manifest.json", "--quiet") == (0, "", "")


def test_a_service_file_and_a_password_file(postgresql, folder, overt, monkeypatch):
    fill_postgresql(postgresql, "served")
    monkeypatch.setenv("PGOPTIONS", "-csearch_path=served")
    (folder / "services").write_text(
        f"[clinic]\nhost=127.0.0.1\nport={postgresql.port}\ndbname=postgres\nuser=postgres\n"
    )
    passwords = folder / "passwords"
    passwords.write_text(f"127.0.0.1:{postgresql.port}:*:postgres:{postgresql.password}\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGSERVICEFILE", str(folder / "services"))
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    write(
        folder, BOTH.replace('"CLINIC_DB"', '"service=clinic"').replace('"PUBLIC_DB"', '"postgresql://?service=clinic"')
    )
    assert overt("run", "recipe.toml", "--quiet") == (0, "", "")
    assert overt("check", "service=clinic", "released.manifest.json", "--quiet") == (0, "", "")
    code, _, err = overt("check", "service=nowhere", "released.manifest.json", "--quiet")
    assert code == 3
    assert "service" in err and "no service file describes" in err


def wrong_addresses(server):
    """Addresses that lead nowhere, with a password that must not come out; and what is said."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        closed = probe.getsockname()[1]
    here, port = "127.0.0.1", server.port
    return {
        "password": (f"postgresql://postgres:hunter2@{here}:{port}/postgres", "refused the user or the password"),
        "user": (f"postgresql://hunter2user:hunter2@{here}:{port}/postgres", "refused the user or the password"),
        "none": (f"postgresql://postgres@{here}:{port}/postgres", "asks for a password and was given none"),
        "host": (f"postgresql://postgres:hunter2@hunter2.invalid:{port}/postgres", "names a host that does not exist"),
        "port": (f"postgresql://postgres:hunter2@{here}:{closed}/postgres", "no server at this host and port"),
        "name": (server.address("hunter2"), "has no database of that name"),
        "unescaped": (f"postgresql://postgres:x@hunter2.invalid/y@{here}:{port}/postgres", "database CLINIC_DB"),
        "number": (f"postgresql://postgres@{here}:hunter2/postgres", "is not written as an address"),
        "keywords": (f"host={here} port={port} user=postgres password=hunter2", "refused the user or the password"),
        "option": (f"postgresql://postgres:hunter2@{here}:{port}/postgres?hunter2=1", "is not written as an address"),
        "other": ("mysql://postgres:hunter2@host/postgres", "is no address of a PostgreSQL or SQLite database"),
    }


@pytest.mark.parametrize(
    "case",
    ["password", "user", "none", "host", "port", "name", "unescaped", "number", "keywords", "option", "other"],
)
def test_no_password_comes_out(postgresql, folder, overt, monkeypatch, case):
    address, sentence = wrong_addresses(postgresql)[case]
    monkeypatch.setenv("CLINIC_DB", address)
    monkeypatch.setenv("PUBLIC_DB", postgresql.address())
    write(folder, BOTH)
    before = sorted(path.name for path in folder.iterdir())
    for words in (
        ["run", "recipe.toml", "--json"],
        ["run", "recipe.toml", "--report"],
        ["init", "CLINIC_DB", "--table", "hospital", "--overwrite"],
        ["risk", "CLINIC_DB", "--table", "hospital", "--json"],
        ["audit", "recipe.toml", "--json"],
    ):
        code, out, err = overt(*words)
        assert code == 3
        assert "hunter2" not in out + err and postgresql.password not in out + err
        assert sentence in err
    code, out, err = overt("compare", "recipe.toml")
    assert "hunter2" not in out + err and sentence in out + err
    assert sorted(path.name for path in folder.iterdir()) == before


def test_an_output_that_cannot_be_reached_is_found_before_the_work(postgresql, folder, overt, monkeypatch):
    fill_sqlite(folder / "clinic.db")
    monkeypatch.setenv("CLINIC_DB", str(folder / "clinic.db"))
    monkeypatch.setenv("PUBLIC_DB", wrong_addresses(postgresql)["password"][0])
    write(folder, BOTH)
    code, out, err = overt("run", "recipe.toml")
    assert (code, out) == (3, "")
    assert err == "The database PUBLIC_DB refused the user or the password; check both.\n"


PASSWORD = 'database = "postgresql://bob:hunter2@host/clinic"'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (BOTH.replace('database = "CLINIC_DB"', PASSWORD), "recipe.toml, line 4: 'database' in [input] needs an address without a password"),
        (BOTH.replace('database = "PUBLIC_DB"', PASSWORD), "'database' in [output] needs an address without a password"),
        (BOTH.replace('"CLINIC_DB"', '"host=h password=hunter2"'), "recipe.toml, line 4: 'database' in [input] needs an address without a password"),
        (BOTH.replace('"CLINIC_DB"', '["hunter2"]'), "recipe.toml, line 4: 'database' in [input] needs the name of an environment variable"),
        (RECIPE.replace('"hospital.csv"', '"postgresql://bob:hunter2@host/clinic"'), "recipe.toml, line 4: 'path' in [input] needs the path of a file"),
        (RECIPE.replace('"release.csv"', '"postgresql://bob:hunter2@host/clinic"'), "'path' in [output] needs the path of a file"),
        (BOTH.replace('table = "hospital"', ""), "recipe.toml, line 3: [input] has neither 'table' nor 'query'; add one of the two."),
        (BOTH.replace('table = "hospital"', 'table = "hospital"\nquery = "SELECT 1"'), "recipe.toml, line 3: [input] has both 'table' and 'query'; keep one of the two."),
        (BOTH.replace('table = "hospital"', "query = \"SELECT * FROM dblink('host=h password=hunter2')\""), "the query seems to contain a password"),
        (BOTH.replace('"released"', '"a.b.c"'), "'a.b.c' is no name of a table"),
        (BOTH + "neutralise_formulas = true", "'neutralise_formulas' is not a key of [output]; use one of 'database', 'table'"),
        (BOTH.replace('table = "released"', ""), "[output] has no 'table'; add it."),
        (RECIPE.replace('path = "hospital.csv"', 'databse = "X"'), "recipe.toml, line 4: 'databse' is not a key of [input]; did you mean 'database'?"),
        (RECIPE.replace('[output]\npath = "release.csv"', "output = 3").replace("version = 1", "version = 1", 1), "needs a table."),
    ],
)  # fmt: skip
def test_recipes_that_cannot_be_used(folder, overt, text, sentence):
    if "output = 3" in text:
        text = "output = 3\n" + text.replace("output = 3", "")
    write(folder, text)
    code, out, err = overt("run", "recipe.toml", "--json")
    assert code == 2
    assert sentence in err
    assert "hunter2" not in out + err


@pytest.mark.parametrize(
    "words",
    [
        ["init", "postgresql://bob:hunter2@host/clinic", "--overwrite"],
        ["init", "postgresql://bob:hunter2@host/clinic", "--table", "hospital", "--overwrite"],
        ["risk", "host=h password=hunter2", "--query", "SELECT 1"],
        ["check", "postgresql://bob:hunter2@host/clinic", "released.manifest.json"],
        ["check", "postgresql://bob:hunter2@host/clinic", "release.csv"],
    ],
)
def test_a_password_on_the_command_line_is_refused_and_not_repeated(folder, overt, monkeypatch, words):
    fill_sqlite(folder / "clinic.db")
    monkeypatch.setenv("CLINIC_DB", str(folder / "clinic.db"))
    monkeypatch.setenv("PUBLIC_DB", str(folder / "public.db"))
    assert overt("run", "recipe.toml", "--quiet")[0] == 0
    write(folder, BOTH)
    assert overt("run", "recipe.toml", "--quiet")[0] == 0
    code, out, err = overt(*words)
    assert (code, out) == (3, "")
    assert "hunter2" not in err


def test_words_that_are_neither_file_nor_database(folder, overt, monkeypatch):
    fill_sqlite(folder / "clinic.db")
    monkeypatch.setenv("CLINIC_DB", str(folder / "clinic.db"))
    for word in ("clinic.db", "CLINIC_DB"):
        code, _, err = overt("init", word)
        assert code == 3
        assert err.splitlines()[-1].endswith("database; say what of it to read with --table or --query.")
    assert overt("init", "nobody", "--quiet", "--overwrite") == (
        3,
        "",
        "There is no file nobody; check the name and the folder.\n",
    )
    code, _, err = overt("init", "NOBODY", "--table", "hospital", "--quiet", "--overwrite")
    assert (code, err.startswith("There is no environment variable NOBODY; set it to the address")) == (3, True)
    code, _, err = overt("init", "clinic.db", "--table", "a", "--query", "SELECT 1", "--quiet", "--overwrite")
    assert (code, err) == (3, "A database is read by table or by query: name one of the two.\n")


def test_an_sqlite_file_is_named_by_its_path(folder, overt):
    fill_sqlite(folder / "clinic.db")
    (folder / "recipes").mkdir()
    text = BOTH.replace('"CLINIC_DB"', '"../clinic.db"').replace('"PUBLIC_DB"', '"sqlite:///../clinic.db"')
    write(folder / "recipes", text)
    assert overt("run", "recipes/recipe.toml", "--quiet") == (0, "", "")
    text = (folder / "recipes" / "released.manifest.json").read_text()
    assert str(folder) not in text
    assert overt("check", "clinic.db", "recipes/released.manifest.json", "--quiet") == (0, "", "")
    assert overt("init", "clinic.db", "--table", "hospital", "--into", "recipes/first.toml", "--quiet")[0] == 0
    assert 'database = "../clinic.db"' in (folder / "recipes" / "first.toml").read_text()


def test_notices_of_the_server_are_not_passed_on(postgresql, capfd, folder, monkeypatch):
    address = postgresql.schema_address("talkative")
    rows_at(
        address,
        "CREATE FUNCTION talk() RETURNS int LANGUAGE plpgsql AS $$BEGIN RAISE WARNING 'Alice has the flu'; RETURN 1; END$$",
    )
    monkeypatch.setenv("CLINIC_DB", address)
    assert main(["risk", "CLINIC_DB", "--query", "SELECT talk() AS x", "--known", "x"]) == 0
    out, err = capfd.readouterr()
    assert "Alice" not in out + err


def test_the_schema_knows_databases(overt):
    schema = json.loads(overt("schema")[1])
    persons = {"person", "keep", "which", "order", "known"}
    assert set(schema["$defs"]["DatabaseInput"]["properties"]) == {
        "database",
        "table",
        "query",
        "missing_values",
        *persons,
    }
    assert set(schema["$defs"]["DatabaseOutput"]["properties"]) == {
        "database",
        "table",
        "others",
        "flat",
        "rows",
        "overwrite",
    }


@pytest.mark.parametrize("changed", [False, True])
def test_sensitive_values_of_a_replaced_release_go_and_those_that_somebody_changed_stay(clinic, folder, overt, changed):
    buckets = FROM_DATABASE.partition("[columns.Name]")[0] + ANATOMY[ANATOMY.index("[columns.Name]") :]
    write(folder, buckets.replace('path = "release.csv"', TO_DATABASE))
    assert overt("run", "recipe.toml", "--quiet", "--report")[0] == 0
    assert len(clinic("SELECT * FROM released_sensitive")) == 96
    clinic("DROP TABLE released")  # its columns are not those of the next release
    if changed:
        clinic("UPDATE released_sensitive SET bucket = bucket + 1")
    write(folder, BOTH)
    assert overt("run", "recipe.toml", "--quiet", "--overwrite")[0] == 0
    assert len(clinic("SELECT * FROM released_sensitive")) == (96 if changed else 0)
    assert sorted(path.name for path in folder.glob("released*")) == ["released.manifest.json", "released.owner.json"]
    assert overt("check", "CLINIC_DB", "released.manifest.json", "--quiet")[0] == 0


def test_tables_that_cannot_be_kept_leave_the_old_manifest(clinic, folder, overt, monkeypatch):
    from overt.io.database import connection

    write(folder, BOTH)
    assert overt("run", "recipe.toml", "--quiet")[0] == 0
    before = {path.name: path.read_bytes() for path in folder.glob("released*")}

    def failing(self):
        raise OSError(5, "no connection")

    monkeypatch.setattr(connection.Connection, "commit", failing)
    assert overt("run", "recipe.toml", "--quiet", "--overwrite")[0] == 3
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in folder.glob("released*")} == before
    assert not list(folder.glob(".*"))
