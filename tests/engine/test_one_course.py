# SPDX-License-Identifier: Apache-2.0
"""A recipe becomes a release in one place, whichever command asks."""

import ast
from pathlib import Path

import overt.engine

ENGINE = Path(overt.engine.__file__).parent


def attributes_used(path):
    return {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}


def test_one_module_of_the_engine_runs_methods():
    assert [path.stem for path in ENGINE.rglob("*.py") if "anonymize" in attributes_used(path)] == ["course"]
