# SPDX-License-Identifier: Apache-2.0
"""A release as tables of the catalog of a session: whole or not at all, and checked where it is."""

import json

import polars as pl
import pytest

import overt
from overt.cli import main
from overt.cli.console import Exit
from overt.engine.scale import catalog_release
from overt.engine.scale.catalog import SparkCatalog
from overt.engine.scale.content_digest import digest_of_content
from overt.engine.scale.local import LocalEngine
from overt.engine.scale.seam import TablePlace
from overt.engine.scale.spark import SparkEngine
from overt.errors import InvalidInput, OvertError
from overt.io.catalog_table import CatalogTable
from overt.io.recipe.recipe import as_recipe
from scales import METHODS, RECIPE, write_people

on_spark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]


def recipe(folder, method="mondrian", table="clinic.release", more=""):
    write_people(folder, 300)
    text = RECIPE.format(input="parquet", method=METHODS[method], output="parquet", more=more)
    path = folder / "recipe.toml"
    path.write_text(text.replace('"release.parquet"', f'"{table}"\nformat = "table"'))
    return path


@pytest.fixture
def clinic(spark, tmp_path):
    """A database of the catalog, and the names of its tables."""
    spark.sql(f"CREATE DATABASE clinic LOCATION '{(tmp_path / 'clinic.db').as_uri()}'")
    try:
        yield lambda: sorted(table.name for table in spark.catalog.listTables("clinic"))
    finally:
        spark.sql("DROP DATABASE clinic CASCADE")


def rows_of(spark, table):
    return pl.DataFrame(pl.from_arrow(spark.table(table).toArrow())).cast(pl.String).sort(pl.all())


def files_in(folder):
    return sorted(
        path.name for path in folder.iterdir() if path.name not in ("clinic.db", "people.parquet", "recipe.toml")
    )


FILES = ["clinic_release.manifest.json", "clinic_release.owner.json"]


PLACES = ["clinic.release", "clinic.release_sensitive"]


def write_tables(spark, path, cell):
    """Write a release of one cell in each of two tables, as a run does that has checked its parts."""
    engine = SparkEngine(spark, str(path.parent))
    table = CatalogTable.parse(PLACES[0])
    try:
        with catalog_release.release_tables(engine, as_recipe(path), table, overwrite=True) as draft:
            for name in ("boxes", "sensitive"):
                (draft.folder / name).mkdir()
                pl.DataFrame({"a": [cell]}).write_parquet(draft.folder / name / "part-1.parquet")
            (draft.folder / "manifest.json").write_text(str(draft.records({"boxes": 1, "sensitive": 1})) + cell)
            draft.owner_record = cell
            draft.is_kept = True
    finally:
        engine.close()


def no_space(*_, **__):
    raise OvertError("no space left")


def fail_at(monkeypatch, name, at):
    """Let one call of the catalog fail, with words of Spark that hold a value."""
    real, n_calls = getattr(SparkCatalog, name), iter(range(1, 99))

    def fails(catalog, *how):
        if next(n_calls) == int(at):
            catalog.failing(lambda: catalog.session.sql("SELECT raise_error('Kanarienvogel')").collect())
        return real(catalog, *how)

    monkeypatch.setattr(SparkCatalog, name, fails)


class TestTables:
    pytestmark = on_spark

    def test_a_release_is_a_table_that_a_check_reads(self, spark, clinic, tmp_path, monkeypatch, capsys):
        path = recipe(tmp_path)
        outcome = overt.run(path, engine=spark, staging=str(tmp_path), report=True)
        assert outcome.ok
        assert clinic() == ["release"]
        assert files_in(tmp_path) == [*FILES, "clinic_release.report.html", "clinic_release.report.json"]
        (tmp_path / "parts").mkdir()
        parts = tmp_path / "parts" / "recipe.toml"
        parts.write_text(
            path.read_text()
            .replace('"clinic.release"\nformat = "table"', '"release.parquet"')
            .replace("people", "../people")
        )
        alone = pl.read_parquet(overt.run(parts, audit=False).files["release"])
        assert rows_of(spark, "clinic.release").equals(
            alone.cast(pl.String).sort(pl.all()).select(spark.table("clinic.release").columns)
        )
        manifest = json.loads((tmp_path / FILES[0]).read_text())
        assert manifest["release"]["release"]["path"] == manifest["recipe"]["output"]["path"] == "clinic.release"
        assert f"overt check {tmp_path / 'people.parquet'} {tmp_path / FILES[0]} --engine spark" in str(outcome)
        monkeypatch.chdir(tmp_path)
        assert (
            main(["check", "people.parquet", "clinic.release", "--engine", "spark", "--staging", str(tmp_path)])
            == Exit.DONE
        )
        assert "The content of the tables is what it was" in capsys.readouterr().out
        with pytest.raises(InvalidInput, match="only Spark has one"):
            overt.check("people.parquet", FILES[0])
        with pytest.raises(InvalidInput, match="exists already; add --overwrite"):
            overt.run(path, engine=spark)
        spark.sql("INSERT INTO clinic.release SELECT * FROM clinic.release LIMIT 1")
        failed = {
            finding.name for finding in overt.check("people.parquet", "clinic.release", engine=spark).verdict.failures
        }
        assert failed >= {"digests", "rows"}
        assert not list(tmp_path.glob("overt-staged-*"))

    def test_two_tables_are_replaced_by_one_and_no_table_of_others_goes(self, spark, clinic, tmp_path):
        path = recipe(tmp_path, "blind-buckets")
        spark.sql("CREATE VIEW clinic.release_of_others AS SELECT 1 AS a")
        assert overt.run(path, engine=spark, staging=str(tmp_path)).ok
        assert clinic() == ["release", "release_of_others", "release_sensitive"]
        assert overt.check(tmp_path / "people.parquet", tmp_path / FILES[0], engine=spark).ok
        path.write_text(path.read_text().replace(METHODS["blind-buckets"], METHODS["mondrian"]))
        assert overt.run(path, engine=spark, staging=str(tmp_path), overwrite=True).ok
        assert clinic() == ["release", "release_of_others"]
        spark.sql("CREATE VIEW clinic.seen AS SELECT 1 AS a")
        path.write_text(path.read_text().replace("clinic.release", "clinic.seen"))
        with pytest.raises(InvalidInput, match="is a view"):
            overt.run(path, engine=spark, overwrite=True)

    @pytest.mark.parametrize("step", ["write 2", "rename 4", "the catalog changes rows", "files"])
    def test_a_failure_leaves_what_was_there(self, spark, clinic, step, tmp_path, monkeypatch):
        path = recipe(tmp_path, "blind-buckets")
        monkeypatch.setattr(catalog_release, "digest_of_content", lambda *_: ("0" * 64, 1))
        write_tables(spark, path, "old")
        before = [rows_of(spark, place) for place in PLACES]
        files = {name: (tmp_path / name).read_bytes() for name in files_in(tmp_path)}
        assert list(files) == FILES
        if step == "the catalog changes rows":
            digests = iter("0123")
            monkeypatch.setattr(catalog_release, "digest_of_content", lambda *_: (next(digests) * 64, 1))
        elif step == "files":
            monkeypatch.setattr(catalog_release, "all_or_nothing", no_space)
        else:
            fail_at(monkeypatch, *step.split())
        with pytest.raises(OvertError) as caught:
            write_tables(spark, path, "new")
        assert "Kanarienvogel" not in str(caught.value)
        assert clinic() == ["release", "release_sensitive"]
        assert all(rows_of(spark, place).equals(rows) for place, rows in zip(PLACES, before, strict=True))
        assert {name: (tmp_path / name).read_bytes() for name in files_in(tmp_path)} == files

    @pytest.mark.parametrize("n_renamed", [1, 3, 4])
    def test_what_a_killed_run_leaves_is_put_right_by_the_next(self, spark, clinic, n_renamed, tmp_path, monkeypatch):
        """Names as they are when a process is killed after so many renames, of two tables that replace two."""
        path = recipe(tmp_path, "blind-buckets")
        token = "0123456789abcdef"
        for name in ("release", "release_sensitive"):
            spark.sql(f"CREATE TABLE clinic.{name} USING parquet AS SELECT 'old' AS a")
        hidden = [f"clinic._overt_{token}_{kind}{i}_release" for kind in ("old", "part") for i in (0, 1)]
        for i in (0, 1):
            spark.sql(
                f"CREATE TABLE {hidden[2 + i]} USING parquet TBLPROPERTIES ('overt.run' = '{token}') AS SELECT 'new' AS a"
            )
        for table, to in [*zip(PLACES, hidden[:2], strict=True), *zip(hidden[2:], PLACES, strict=True)][:n_renamed]:
            spark.sql(f"ALTER TABLE {table} RENAME TO {to}")
        (tmp_path / f".clinic_release.{token}").mkdir()
        (tmp_path / f".clinic_release.{token}" / "in-use").touch()
        with pytest.raises(InvalidInput, match="exists already"):
            overt.run(path, engine=spark)
        assert clinic() == ["release", "release_sensitive"]
        found = [rows_of(spark, place)["a"].to_list() for place in PLACES]
        expected = "new" if n_renamed == 4 else "old"
        assert found == [[expected], [expected]]
        assert files_in(tmp_path) == []

    def test_what_cannot_be_written_is_refused_before_anything_is_read(self, spark, clinic, tmp_path):
        path = recipe(tmp_path, table="ward.release")
        (tmp_path / "people.parquet").write_bytes(b"nothing that could be read")
        with pytest.raises(InvalidInput, match="There is no database ward in the catalog"):
            overt.run(path, engine=spark)
        spark.sql("CREATE TABLE clinic.release USING parquet AS SELECT 1 AS a")
        path.write_text(path.read_text().replace("ward.", "clinic."))
        with pytest.raises(InvalidInput, match="exists already"):
            overt.run(path, engine=spark)
        assert clinic() == ["release"]


@pytest.mark.parametrize("engine", [None, "out-of-core"])
def test_only_spark_writes_a_table_of_a_catalog(engine, tmp_path):
    with pytest.raises(InvalidInput, match="only Spark has one"):
        overt.run(recipe(tmp_path), engine=engine)
    assert files_in(tmp_path) == []


def test_a_recipe_names_a_table_that_can_be_written_and_is_not_its_input(tmp_path):
    path = recipe(tmp_path, table="clinic.the release")
    with pytest.raises(InvalidInput, match="no name of a table that Overt writes"):
        overt.run(path, engine="out-of-core")
    path = recipe(tmp_path, table="clinic.Visits")
    path.write_text(path.read_text().replace('"people.parquet"', '"visits"\nformat = "table"'))
    with pytest.raises(InvalidInput, match="would overwrite the input"):
        overt.run(path, engine="out-of-core")


def test_the_digest_of_content_is_of_rows_and_columns_and_not_of_their_order(tmp_path):
    frame = pl.DataFrame({"a": ["x", None, "", "x"], "b": [1, 2, 2, 1]})
    others = {
        "shuffled": frame.reverse(),
        "a row less": frame[:3],
        "a row twice": frame[[0, 1, 1, 2]],
        "no value or an empty text": frame.with_columns(pl.col("a").fill_null("")),
        "columns": frame.select("b", "a"),
        "names": frame.rename({"a": "c"}),
    }

    def digest(of):
        of.write_parquet(tmp_path / "x.parquet")
        return digest_of_content(LocalEngine(), TablePlace(str(tmp_path / "x.parquet"), "parquet"))

    known = digest(frame)
    assert known[1] == 4
    assert [name for name, other in others.items() if digest(other) == known] == ["shuffled"]
