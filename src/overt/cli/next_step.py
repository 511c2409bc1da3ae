# SPDX-License-Identifier: Apache-2.0
"""`overt` without a command: what to do next with what lies in this folder."""

import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overt.cli.console import Exit, say, say_table

MOST_READ = 1 << 20  # a longer file is no recipe of ours
NextStep = tuple[str, str]  # what for, and the command


def next_step() -> int:
    """Say which command comes next in the folder that the shell is in."""
    found, steps = steps_in(Path())
    say(f"Overt publishes tables about people without giving anybody away. {found}\n")
    say_table(steps)
    say("\nAll commands: overt --help. A term you do not know: overt explain TERM.")
    return Exit.DONE


def steps_in(folder: Path) -> tuple[str, list[NextStep]]:
    """What was found, and the commands that lead on from there: from a release, a recipe, a table or nothing."""
    recipes = sorted(recipes_in(folder), key=lambda found: found[0].stat().st_mtime, reverse=True)
    if recipes:
        path, recipe = recipes[0]
        run, data, release = shlex.quote(path.name), *files_of(recipe)
        if release and (folder / release).exists():
            return f"Here is the release of {path.name}.", [
                *([("Check it", f"overt check {shlex.quote(data)} {shlex.quote(release)}")] if data else []),
                ("What replaying it tells", f"overt audit {run}"),
                ("Make it anew, if nobody has it yet", f"overt run {run} --report --overwrite"),
            ]
        return f"Here is a recipe: {path.name}.", [
            ("Make the release", f"overt run {run} --report"),
            ("What it would cost", f"overt compare {run}"),
        ]
    tables = tables_in(folder)
    if tables:
        table = shlex.quote(tables[0])
        return f"Here is a table: {tables[0]}.", [
            ("Propose a recipe", f"overt init {table}"),
            ("Who can be found now", f"overt risk {table}"),
            ("The same in a browser", "overt studio"),
        ]
    return "There is no table and no recipe in this folder.", [
        ("See it on made-up people", "overt demo"),
        ("Begin with your own table", "overt init patients.csv"),
        ("The same in a browser", "overt studio"),
    ]


def recipes_in(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The TOML files here that say what to read and what its columns are."""
    for path in folder.glob("*.toml"):
        try:
            if path.stat().st_size <= MOST_READ:
                document = tomllib.loads(path.read_text("utf-8"))
                if {"input", "columns"} <= document.keys():
                    yield path, document
        except (OSError, ValueError, RecursionError):
            continue


def files_of(recipe: dict[str, Any]) -> tuple[str, str]:
    """The file that a recipe reads and the one that it writes; empty where it is none."""
    parts = (recipe.get("input"), recipe.get("output"))
    data, release = (part.get("path") if isinstance(part, dict) else None for part in parts)
    return (data if isinstance(data, str) else ""), (release if isinstance(release, str) else "")


def tables_in(folder: Path) -> list[str]:
    """The names of the files here that hold a table, the newest first."""
    from overt.io.formats import SUFFIXES

    endings = tuple(ending for endings in SUFFIXES.values() for ending in endings)
    names = [path for path in folder.iterdir() if path.is_file() and path.name.lower().endswith(endings)]
    return [path.name for path in sorted(names, key=lambda path: path.stat().st_mtime, reverse=True)]
