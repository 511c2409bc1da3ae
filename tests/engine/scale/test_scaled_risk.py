# SPDX-License-Identifier: Apache-2.0
"""Risk with an engine: what one machine says of the same table."""

import polars as pl
import pytest

import overt
from overt.cli import main
from overt.cli.console import Exit
from overt.engine.scale.engine_choice import engine_of
from overt.engine.scale.local import LocalEngine
from overt.engine.scale.scaled_risk import _asked
from overt.engine.scale.seam import CatalogPlace, TablePlace
from overt.errors import InvalidInput
from overt.io.private_folder import PrivateFolder

KNOWN, SENSITIVE = ["Age", "Gender", "Education", "Birthplace"], ["Occupation", "Income"]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    made = classmethod(lambda cls, folder=None: cls(PrivateFolder(folder), 350, 400))
    monkeypatch.setattr(LocalEngine, "out_of_core", made)


def same(found, alone):
    parts = [one.risk.identification.to_dict() for one in (found, alone)]
    below = [part.pop("rows_in_groups_smaller_than") for part in parts]
    assert below[0] == below[1]
    assert parts[0] == pytest.approx(parts[1])  # a mean of floats depends on the order in which they are added
    assert [d.to_dict() for d in found.risk.disclosures] == [pytest.approx(d.to_dict()) for d in alone.risk.disclosures]
    assert set(found.uniques.sets) == set(alone.uniques.sets)
    assert (found.uniques.n_unique, found.uniques.n_of_size) == (alone.uniques.n_unique, alone.uniques.n_of_size)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("share", [None, 0.1])
def test_it_is_that_of_one_machine(ending, share, tmp_path):
    frame = overt.samples.census(2_000, seed=9)
    path = tmp_path / f"people.{ending}"
    getattr(frame, f"write_{ending}")(path)
    how = {"known": KNOWN, "sensitive": SENSITIVE, "population_share": share}
    found = overt.risk(path, engine="out-of-core", staging=str(tmp_path), **how)
    alone = overt.risk(path, **how)
    same(found, alone)
    assert found.uniques.n_unique > 100
    assert not list(tmp_path.glob("overt-staged-*"))
    if share is None:
        assert str(found).split("The smallest")[0] == str(alone).split("The smallest")[0]


def test_what_is_no_file_is_a_table_of_the_catalog_where_there_is_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place, _, whence = _asked("clinic.visits", None, ["Age"], [], has_catalog=True)
    assert (place, whence) == (CatalogPlace("clinic.visits"), "as you named them")
    for called, has_catalog in (("clinic.visits", False), ("visits.csv", True), ("clinic/visits", True)):
        with pytest.raises(InvalidInput, match="There is no file"):
            _asked(called, None, ["Age"], [], has_catalog=has_catalog)
    overt.samples.census(20, seed=9).write_parquet(tmp_path / "visits")
    assert isinstance(_asked("visits", None, ["Age"], [], has_catalog=True)[0], TablePlace)


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_a_table_of_a_catalog_is_counted_where_it_is(spark, tmp_path):
    overt.samples.census(300, seed=9).write_parquet(tmp_path / "people.parquet")
    spark.read.parquet(str(tmp_path / "people.parquet")).createOrReplaceTempView("at_risk")
    how = {"known": KNOWN[:3], "sensitive": SENSITIVE[:1]}
    same(overt.risk("at_risk", engine=spark, **how), overt.risk(tmp_path / "people.parquet", **how))


def test_sets_with_too_many_combinations_are_left_out_and_counted(tmp_path, monkeypatch):
    overt.samples.census(900, seed=9).write_parquet(tmp_path / "people.parquet")
    monkeypatch.setattr("overt.engine.scale.scaled_risk.MOST_OF_SET", 300)
    found = overt.risk(tmp_path / "people.parquet", known=KNOWN, engine="out-of-core")
    alone = overt.risk(tmp_path / "people.parquet", known=KNOWN)
    assert set(found.uniques.sets) < set(alone.uniques.sets)
    assert found.uniques.n_not_counted > 0
    assert f"{found.uniques.n_not_counted} sets with too many combinations were not counted" in str(found)
    monkeypatch.setattr("overt.engine.scale.scaled_risk.MOST_OF_SET", 1)
    assert overt.risk(tmp_path / "people.parquet", known=KNOWN, engine="out-of-core").uniques.sets == ()


def test_roles_come_from_a_recipe_or_are_named(tmp_path, capsys):
    overt.samples.census(900, seed=9).write_csv(tmp_path / "people.csv")
    overt.init(tmp_path / "people.csv", into=tmp_path / "recipe.toml")
    path = str(tmp_path / "people.csv")
    assert main(["risk", path, "--engine", "out-of-core", "--recipe", str(tmp_path / "recipe.toml")]) == Exit.DONE
    assert "as recipe.toml says" in capsys.readouterr().out
    for how, words in (
        ({}, "does not guess"),
        ({"known": ["Age"], "table": "people"}, "no database"),
        ({"known": ["Nobody"]}, "Nobody"),
    ):
        with pytest.raises(InvalidInput, match=words):
            overt.risk(path, engine="out-of-core", **how)
    with pytest.raises(InvalidInput, match="Only an engine"):
        overt.risk(path, master="local[2]")
    with pytest.raises(InvalidInput, match="not a DataFrame"):
        overt.risk(pl.DataFrame({"Age": [1]}), known=["Age"], engine="out-of-core")
    with engine_of("out-of-core") as engine:
        assert engine.name == "out-of-core"
