# SPDX-License-Identifier: Apache-2.0
"""The fields of JSON documents that the reference lists: those that commands print, of the types that it says, and none else."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/reference/command-line.md"
TYPES = {
    "text": str, "list of texts": list, "list of objects": list, "object": dict, "whole number": int, "number": float,
    "true or false": bool, "null": type(None),
}  # fmt: skip
COMMANDS = [
    ("init", ["init", "hospital.csv", "--into", "draft.toml"]),
    ("risk", ["risk", "hospital.csv", "--known", "Sex", "--sensitive", "Disease"]),
    ("run", ["run", "recipe.toml", "--no-audit"]),
    ("check", ["check", "hospital.csv", "release.csv"]),
    ("compare", ["compare", "recipe.toml", "--seconds", "0"]),
    ("budget", ["budget", "hospital.csv"]),
]


def documented(command):
    """(field) -> the types that the page gives it."""
    fields = PAGE.read_text(encoding="utf-8").split("## Fields of JSON documents")[1]
    section = fields.split(f"### Fields of `overt {command}`\n")[1].split("\n### ")[0]
    found = dict(re.findall(r"^\| `(\w+)` \| ([a-z ]+) \|", section, flags=re.MULTILINE))
    return {
        name: (bool,) if said == "true or false" else tuple(TYPES[word] for word in said.split(" or "))
        for name, said in found.items()
    }


def fits(value, types):
    return type(value) in types or (float in types and type(value) is int)


@pytest.mark.parametrize(("command", "words"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_every_field_that_is_printed_is_documented_with_its_type(folder, overt_json, command, words):
    if command == "check":
        assert overt_json("run", "recipe.toml", "--no-audit", "--quiet")[0] == 0
    code, document = overt_json(*words, "--quiet")
    said = {"audience": (str,), **documented(command)}
    assert code == 0 and set(document) == set(said)
    assert {name for name, value in document.items() if not fits(value, said[name])} == set()
    assert all(isinstance(one, str if name in ("known", "sensitive", "cautions") else dict)
               for name, value in document.items() if isinstance(value, list) and name not in ("report", "owner_report", "cleared")
               for one in value)  # fmt: skip
