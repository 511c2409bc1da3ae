# SPDX-License-Identifier: Apache-2.0
import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.io.recipe.toml_lines import lines_of_keys

EVERYTHING = r"""# a comment = 1
title = "a # b" # not = a key

[input]
path = 'C:\data' # windows
"missing values" = [
  "",  # empty = 1
  '''N
  = A''', 'x]',
]
text = QQQ one "quoted" line
# not a comment
key = 1 \QQQ end""QQQ
[columns."Birth date"]
role = "quasi-identifier"
hierarchy = { dates = ["month", "year"], 'odd key' = { a.b = 1 } }
columns-2.x."y.z" = 2024-01-01

[[goal]]
property = "k-anonymity"
  [goal.inner]
  k = +1_000
[[ goal ]]
property = "escaped \" quote ]"
l = 2.5e3
[[goal.sub]]
z = inf
""".replace("QQQ", '"' * 3)


def paths(value, path=()):
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*path, key))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from paths(inner, (*path, position))


def test_finds_every_key_that_tomllib_finds():
    assert set(lines_of_keys(EVERYTHING)) == set(paths(tomllib.loads(EVERYTHING)))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("title",), "title"),
        (("input",), "[input]"),
        (("input", "path"), "path ="),
        (("input", "missing values"), '"missing values"'),
        (("input", "missing values", 0), '"",'),
        (("input", "missing values", 1), "'''N"),
        (("input", "text"), "text ="),
        (("columns", "Birth date"), '[columns."Birth date"]'),
        (("columns", "Birth date", "hierarchy", "odd key", "a", "b"), "hierarchy ="),
        (("columns", "Birth date", "columns-2", "x", "y.z"), "columns-2.x"),
        (("goal",), "[[goal]]"),
        (("goal", 0, "inner", "k"), "k = +1_000"),
        (("goal", 1), "[[ goal ]]"),
        (("goal", 1, "property"), 'property = "escaped'),
        (("goal", 1, "sub", 0, "z"), "z = inf"),
    ],
)
def test_the_line_is_where_the_key_stands(path, expected):
    line = lines_of_keys(EVERYTHING)[path]
    assert EVERYTHING.splitlines()[line - 1].strip().startswith(expected)


def test_line_endings_of_windows_count_once():
    assert lines_of_keys("a = 1\r\n\r\nb = 2\r\n") == {("a",): 1, ("b",): 3}


names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5)
scalars = st.integers(0, 9) | st.booleans() | names
values = st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(names, v, max_size=3), max_leaves=8)


def written(value):
    """The value as inline TOML; a JSON string is a TOML basic string."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)} = {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[\n" + "".join(f"  {written(v)}, # ]\n" for v in value) + "]"
    return json.dumps(value, ensure_ascii=False)


@given(st.dictionaries(names, st.dictionaries(names, values, max_size=4), max_size=4))
def test_agrees_with_tomllib_on_any_document(document):
    text = ""
    expected_line = {}
    for table, pairs in document.items():
        expected_line[(table,)] = text.count("\n") + 1
        text += f"[{json.dumps(table, ensure_ascii=False)}]\n"
        for key, value in pairs.items():
            expected_line[(table, key)] = text.count("\n") + 1
            text += f"{json.dumps(key, ensure_ascii=False)} = {written(value)}\n"
    lines = lines_of_keys(text)
    assert set(lines) == set(paths(tomllib.loads(text)))
    assert {path: lines[path] for path in expected_line} == expected_line
