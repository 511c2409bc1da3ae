# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_init.py
"""TOML out: plain values as the text of a recipe, tables under headings, what is short in one line."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_of(document: Mapping[str, Any]) -> str:
    """The text of a document.

    >>> print(toml_of({"version": 1, "columns": {"a b": {"role": "other"}}, "goal": [{"k": 5}]}))
    version = 1
    <BLANKLINE>
    [columns."a b"]
    role = "other"
    <BLANKLINE>
    [[goal]]
    k = 5
    <BLANKLINE>
    """
    return "\n".join(_lines(document, ())).lstrip("\n") + "\n"


def key_of(name: str) -> str:
    """A key, in quotes where it needs them."""
    return name if _BARE.fullmatch(name) else text_of(name)


def text_of(text: str) -> str:
    """A text in quotes."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def value_of(value: Any) -> str:
    """A value in one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return text_of(value)
        case Mapping():
            return "{ " + ", ".join(f"{key_of(key)} = {value_of(item)}" for key, item in value.items()) + " }"
        case Sequence():
            return "[" + ", ".join(map(value_of, value)) + "]"
        case _:
            return repr(value)


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Plain values first, then tables, each under its heading."""
    tables = {key: value for key, value in table.items() if _is_heading(value, path)}
    for key, value in table.items():
        if key not in tables:
            yield f"{key_of(key)} = {value_of(value)}"
    for key, value in tables.items():
        name = ".".join(map(key_of, (*path, key)))
        if isinstance(value, Mapping):
            if not value or not all(_is_heading(item, (*path, key)) for item in value.values()):
                yield from ("", f"[{name}]")
            yield from _lines(value, (*path, key))
        else:
            for item in value:
                yield from ("", f"[[{name}]]")
                yield from _lines(item, (*path, key))


def _is_heading(value: Any, path: tuple[str, ...]) -> bool:
    """Tables of the first two levels have headings; deeper ones are written in one line."""
    if isinstance(value, Mapping):
        return len(path) == 0 or path == ("columns",)
    return not path and isinstance(value, list | tuple) and bool(value) and isinstance(value[0], Mapping)
