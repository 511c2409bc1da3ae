# SPDX-License-Identifier: Apache-2.0
"""A recipe becomes a release in one place, whichever command or screen asks."""

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
