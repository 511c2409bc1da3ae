# SPDX-License-Identifier: Apache-2.0
"""A hospital in a folder, with a recipe: what the commands are tried on."""

import json

import pytest

from overt.cli import main
from overt.cli.progress import COMPILING
from overt.samples import hospital

RECIPE = """\
version = 1

[input]
path = "hospital.csv"

[columns.Name]
role = "identifier"

[columns."Birth date"]
role = "quasi-identifier"

[columns.Postcode]
role = "quasi-identifier"
kind = "category"
hierarchy = { prefixes = [4, 3, 2] }

[columns.Sex]
role = "quasi-identifier"

[columns.Disease]
role = "sensitive"

[[goal]]
property = "k-anonymity"
k = 4

[[goal]]
property = "l-diversity"
l = 2

[method]
name = "mondrian"

[output]
path = "release.csv"
"""
ANATOMY = RECIPE.replace('[[goal]]\nproperty = "k-anonymity"\nk = 4\n\n', "").replace('"mondrian"', '"anatomy"')


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, with the data and the recipe."""
    hospital().write_csv(tmp_path / "hospital.csv")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def overt(capsys):
    """Run a command in this process: (exit code, standard output, standard error)."""

    def run(*words):
        capsys.readouterr()
        code = main(list(map(str, words)))
        out, err = capsys.readouterr()
        return code, out, err.replace(f"{COMPILING}\n", "")  # only said where these tests come first

    return run


@pytest.fixture
def overt_json(overt):
    """Run a command with --json: (exit code, the document)."""

    def run(*words):
        code, out, _ = overt(*words, "--json")
        return code, json.loads(out)

    return run
