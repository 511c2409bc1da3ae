# SPDX-License-Identifier: Apache-2.0
"""A recipe becomes a release in one place, whichever command or screen asks; in parts, which no `anonymize` can make, in one other."""

import ast
from pathlib import Path

import overt

ROOT = Path(overt.__file__).parent
ROOMS = ("engine", "cli", "studio", "io", "report", "analysis")


def attributes_used(path):
    return {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}


def test_one_module_of_the_engine_runs_methods():
    runs = [path for room in ROOMS for path in (ROOT / room).rglob("*.py") if "anonymize" in attributes_used(path)]
    assert [path.relative_to(ROOT).as_posix() for path in runs] == ["engine/course.py"]


def makers_of_parts():
    """(module) -> what in it makes a release of staged rows, which are never a whole table in memory."""
    makers = {}
    for path in (ROOT / "engine" / "scale").glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.returns and ast.unparse(node.returns) == "MadeTables":
                makers.setdefault(f"overt.engine.scale.{path.stem}", set()).add(node.name)
    return makers


def names_imported(path):
    lines = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    return {(line.module, name.name) for line in lines for name in line.names}


def test_releases_in_parts_are_made_in_one_module_too():
    """It is the exception to the rule above, by name."""
    makers = {(module, name) for module, names in makers_of_parts().items() for name in names}
    assert len(makers) >= 7
    made = [path for path in ROOT.rglob("*.py") if names_imported(path) & makers]
    assert {path.relative_to(ROOT).as_posix() for path in made} == {"engine/scale/scaled_run.py"}
