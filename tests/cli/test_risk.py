# SPDX-License-Identifier: Apache-2.0
import polars as pl
import pytest

from overt.samples import hospital


def test_who_can_be_found(folder, overt):
    code, out, _ = overt("risk", "hospital.csv", "--known", "Postcode", "Sex", "--sensitive", "Disease")
    assert code == 0
    groups = hospital().group_by("Postcode", "Sex").len()
    n_unique = groups.filter(pl.col("len") == 1).height
    assert f"Unique    {n_unique} of 96 rows" in out
    assert "Known     Postcode, Sex (as you named them)" in out
    assert "Postcode + Sex" in out or "Postcode" in out
    assert not any(name in out for name in hospital().get_column("Name"))


def test_roles_of_a_recipe_are_used(folder, overt):
    code, out, _ = overt("risk", "hospital.csv", "--recipe", "recipe.toml")
    assert code == 0 and "(as recipe.toml says)" in out


def test_roles_are_guessed_and_that_is_said(folder, overt):
    code, out, _ = overt("risk", "hospital.csv")
    assert code == 0 and "(guessed from the columns; name them with --known to be certain)" in out


def test_the_journalist_needs_a_population(folder, overt_json):
    _, without = overt_json("risk", "hospital.csv", "--known", "Postcode")
    _, document = overt_json("risk", "hospital.csv", "--known", "Postcode", "--population-share", "0.1")
    assert without["identification"]["journalist"] is None
    assert 0 < document["identification"]["journalist"] < document["identification"]["prosecutor"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--known", "Nope"], "There is no column 'Nope'; the columns are"),
        (["--known", "Sex", "--population-share", "2"], "The share of the population is 2.0"),
    ],
)
def test_mistakes_are_named(folder, overt, words, message):
    code, _, err = overt("risk", "hospital.csv", *words)
    assert code == 3 and message in err
