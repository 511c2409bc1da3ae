# SPDX-License-Identifier: Apache-2.0
"""Blind buckets from a recipe: every form is written, recorded and checked; what was not made by it is found."""

import polars as pl
import pytest

import overt
from overt.cli import main
from overt.cli.console import Exit

RECIPE = """
version = 1
input = {{ path = "data.csv" }}
columns.Name = {{ role = "identifier" }}
columns."Birth date" = {{ role = "quasi-identifier" }}
columns.Sex = {{ role = "quasi-identifier" }}
columns.Disease = {{ role = "sensitive" }}
goal = [{{ property = "k-anonymity", k = 4 }}, {{ property = "l-diversity", l = 2 }}]
output = {{ path = "release.csv", flat = {flat} }}
[method]
name = "blind-buckets"
rows_per_bucket = 6
{more}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    overt.samples.hospital().select("Name", "Birth date", "Sex", "Disease").write_csv("data.csv")

    def run(more, *, flat=False):
        (tmp_path / "recipe.toml").write_text(RECIPE.format(more=more, flat=str(flat).lower()))
        return main(["run", "recipe.toml"])

    return run


@pytest.mark.parametrize(
    ("more", "flat"),
    [
        ("", False),
        ("", True),
        ('form = "shuffled"', False),
        ('form = "generalized"', False),
        ('stratify = { by = ["Sex"] }', False),
        ('stratify = { column = "Birth date", up_to = 1970-01-01 }\nform = "shuffled"', False),
    ],
)
def test_what_a_recipe_makes_passes_its_check(run, tmp_path, more, flat):
    assert run(more, flat=flat) == Exit.DONE
    assert main(["check", "data.csv", "release.csv"]) == Exit.DONE
    (tmp_path / "release.csv.manifest.json").unlink()
    assert main(["check", "data.csv", "release.csv", "--recipe", "recipe.toml"]) == Exit.DONE


def test_boxes_of_fewer_rows_than_k_are_not_of_this_method(run, tmp_path, capsys):
    assert run('form = "shuffled"\nk = 4') == Exit.DONE
    recipe = (tmp_path / "recipe.toml").read_text()
    (tmp_path / "other.toml").write_text(recipe.replace("k = 4", "k = 40").replace("k = 40 }", "k = 4 }"))
    assert main(["check", "data.csv", "release.csv", "--recipe", "other.toml"]) == Exit.CHECK_FAILED
    assert "every box of it has at least 40 rows" in capsys.readouterr().out
    (tmp_path / "third.toml").write_text(recipe.replace("rows_per_bucket = 6", "rows_per_bucket = 60"))
    assert main(["check", "data.csv", "release.csv", "--recipe", "third.toml"]) == Exit.CHECK_FAILED
    assert "every bucket of it has at least 60 rows" in capsys.readouterr().out


def test_two_sensitive_columns_are_proven_too(run, tmp_path, capsys):
    assert run("") == Exit.DONE
    recipe = (tmp_path / "recipe.toml").read_text()
    recipe = recipe.replace('columns.Sex = { role = "quasi-identifier" }', 'columns.Sex = { role = "sensitive" }')
    recipe = recipe.replace(
        "l = 2 }", 'l = 2, column = "Disease" }, { property = "t-closeness", t = 0.2, column = "Sex" }'
    )
    (tmp_path / "two.toml").write_text(recipe.replace("release.csv", "two.csv"))
    capsys.readouterr()
    assert main(["run", "two.toml"]) == Exit.DONE
    assert "none, by proof" in capsys.readouterr().out
    assert main(["check", "data.csv", "two.csv"]) == Exit.DONE


def test_a_shuffled_file_without_its_label_fails(run, tmp_path):
    assert run('form = "shuffled"') == Exit.DONE
    frame = pl.read_csv("release.csv", infer_schema=False)
    frame.rename({"values shuffled in bucket": "bucket"}).write_csv("release.csv")
    assert main(["check", "data.csv", "release.csv", "--recipe", "recipe.toml"]) == Exit.CHECK_FAILED


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("stratify = { halving = 1 }", "Strata have the keys 'halving'"),
        ("stratify = 3", "stratify"),
        ('form = "flat"', "form"),
        ("k = 2", "the goal asks for 4"),
    ],
)
def test_a_recipe_that_cannot_be_used_is_refused_in_words(run, capsys, more, words):
    assert run(more) == Exit.USAGE
    assert words in capsys.readouterr().err
