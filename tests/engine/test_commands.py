# SPDX-License-Identifier: Apache-2.0
"""What the commands do is one public function each, for notebooks, studios and schedulers; the command line only asks and prints."""

import ast
import dataclasses
import json
from inspect import unwrap
from pathlib import Path

import numpy as np
import pytest

import overt
import overt.cli
from overt.cli import main
from overt.engine.result import Result
from overt.samples import hospital

RECIPE = """\
version = 1
[input]
path = "hospital.csv"
[columns."Birth date"]
role = "quasi-identifier"
[columns.Sex]
role = "quasi-identifier"
[columns.Disease]
role = "sensitive"
[[goal]]
property = "k-anonymity"
k = 4
[method]
name = "mondrian"
[output]
path = "release.csv"
"""
COMMANDS = (
    "audit",
    "budget",
    "check",
    "compare",
    "disclose",
    "distinguish",
    "explain",
    "init",
    "risk",
    "run",
    "schema",
)
CLI = Path(overt.cli.__file__).parent


@pytest.fixture
def folder(tmp_path, monkeypatch):
    hospital().write_csv(tmp_path / "hospital.csv")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


CALLS = {
    "init": (
        ["init", "hospital.csv", "--into", "first.toml", "--overwrite"],
        lambda: overt.init("hospital.csv", into="first.toml"),
    ),
    "risk": (["risk", "hospital.csv", "--known", "Sex"], lambda: overt.risk("hospital.csv", known=["Sex"])),
    "run": (["run", "recipe.toml", "--overwrite"], lambda: overt.run("recipe.toml", overwrite=True)),
    "check": (["check", "hospital.csv", "release.csv"], lambda: overt.check("hospital.csv", Path("release.csv"))),
    "audit": (
        ["audit", "recipe.toml", "--seed", "1", "--made-by", "anonypy"],
        lambda: overt.audit("recipe.toml", rng=np.random.default_rng(1), made_by="anonypy"),
    ),
    "budget": (["budget", "hospital.csv"], lambda: overt.budget("hospital.csv")),
    "schema": (["schema"], lambda: overt.schema()),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_result_has_the_words_and_the_document_that_its_command_prints(folder, capsys, name):
    words, call = CALLS[name]
    overt.run("recipe.toml")  # there is something to check
    if name == "audit":
        (folder / "recipe.toml").write_text(RECIPE.replace("k = 4", "k = 24"))
    capsys.readouterr()
    result = call()
    assert isinstance(result, Result) and dataclasses.is_dataclass(result)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.audience = None
    assert main(words) == 0
    assert capsys.readouterr().out == f"{result}\n"
    assert main([*words, *([] if name == "schema" else ["--json"])]) == 0
    assert json.loads(capsys.readouterr().out) == result.to_dict()


def test_a_recipe_may_be_a_path_or_read_already(folder):
    once, again = overt.run("recipe.toml"), overt.run(overt.read_recipe(folder / "recipe.toml"), overwrite=True)
    assert once.to_dict()["goal"] == again.to_dict()["goal"]
    assert overt.check("hospital.csv", "release.csv", recipe=overt.read_recipe(folder / "recipe.toml")).ok


@pytest.mark.parametrize("stage", ["Reading hospital.csv", "Publishing", "Checking", "Auditing", "Writing"])
def test_whoever_watches_can_end_a_run_at_any_stage_and_nothing_is_written(folder, stage):
    before = sorted(path.name for path in folder.iterdir())
    seen = []

    def cancel(what, done, total):
        seen.append(what)
        if what == stage:
            raise overt.Cancelled

    with pytest.raises(overt.Cancelled):
        overt.run("recipe.toml", on_progress=cancel)
    assert seen[-1] == stage
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_cancelled_comparison_is_no_failure_of_a_recipe(folder):
    def cancel(what, done, total):
        raise overt.Cancelled

    with pytest.raises(overt.Cancelled):
        overt.compare(["recipe.toml"], on_progress=cancel)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_asks_the_library_and_prints_what_it_says(name):
    tree = ast.parse((CLI / f"{name}.py").read_text())
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = {module for module in modules if module.startswith("overt")}
    assert ours <= {"overt.cli.console", "overt.cli.progress"}
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    asked = [one.attr for one in called if isinstance(one, ast.Attribute) and ast.unparse(one.value) == "overt"]
    assert asked == [name]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_public_and_its_docstring_shows_it_at_work(name):
    function = getattr(overt, name)
    assert unwrap(function).__module__ == f"overt.engine.{name}"  # what stands before it refuses wrong arguments
    assert ">>> " in function.__doc__
