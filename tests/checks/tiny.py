# SPDX-License-Identifier: Apache-2.0
"""A publisher for tests, written from the grammar of published cells alone, one cell at a time."""

import json

import numpy as np
import polars as pl

from overt.hierarchy import Nested
from overt.table import Column, Kind, Role, Table

DISTRICTS = {
    "Upper": {"North": ["N1", "N2", "N3"], "East": ["E1", "E2"]},
    "Lower": {"South": ["S1", "S2", "S3"], "West": ["W1"]},
}
PEOPLE = [  # name, age, sex, district, disease, ward
    ("Ann", 23, "f", "N1", "flu", "a"),
    ("Bob", 25, "m", "N2", "cold", "b"),
    ("Cyd", 29, "f", "N3", "flu", "a"),
    ("Dan", 31, "m", "S1", "gout", "c"),
    ("Eve", 34, "x", "S2", "flu", "a"),
    ("Fay", 38, "m", "S3", "cold", "b"),
    ("Gus", 41, "x", "N1", "flu", "a"),
    ("Hal", 44, "m", "E1", "gout", "c"),
    ("Ida", 47, "f", "E2", "cold", "b"),
    ("Jon", 52, "f", "W1", "gout", "c"),
    ("Kim", 58, "f", "S1", "flu", "a"),
    ("Lee", None, "f", "S2", "cold", "b"),
]
GROUPS = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


def column(name, role, values, kind=Kind.CATEGORY, hierarchy=None):
    """Encode a list of values: sorted, a None last, in hierarchy order if there is one."""
    known = sorted({value for value in values if value is not None})
    domain = pl.Series(name, known + [None] * (None in values))
    tree = hierarchy.build(domain, kind) if hierarchy else None
    ordered = tree.leaves.to_list() if tree else domain.to_list()
    return Column(
        name,
        role,
        kind,
        np.array([ordered.index(value) for value in values], np.int32),
        domain if tree is None else tree.leaves,
        tree,
    )


def hospital():
    names, ages, sexes, districts, diseases, wards = zip(*PEOPLE, strict=True)
    return Table(
        (
            column("age", Role.QUASI_IDENTIFIER, ages, Kind.NUMBER),
            column("sex", Role.QUASI_IDENTIFIER, sexes),
            column("district", Role.QUASI_IDENTIFIER, districts, hierarchy=Nested(DISTRICTS)),
            column("disease", Role.SENSITIVE, diseases),
        ),
        pl.DataFrame({"ward": wards, "hobby": ["chess"] * len(names)}),
        identifiers=("name",),
    )


def text_of(value, kind):
    """One value as its text, in quotes where a category could be misread."""
    text = str(value)
    risky = text in ("", "*", "missing") or text.endswith(" or missing") or text != text.strip()
    risky = risky or any(part in text for part in ("..", '"', "{", "}", ","))
    return json.dumps(text) if kind is Kind.CATEGORY and risky else text


def cell(column, codes, form):
    """(sort key, text) of the cell that shows these codes."""
    codes = sorted(set(codes))
    values = [column.values[code] for code in codes]
    known = [value for value in values if value is not None]
    texts = [text_of(value, column.kind) for value in known]
    or_missing = len(known) < len(values)
    if form == "label":
        tree = column.hierarchy
        chains = [tree.chain(code) for code in codes]
        node = next(node for node in chains[0] if all(node in chain for chain in chains))
        leaves = [code for code in range(tree.n_leaves) if node in tree.chain(code)]
        text = (texts[0] if known else None) if node < tree.n_leaves else tree.labels[node]
        return (leaves[0], len(leaves)), text
    if form == "set":
        bits = tuple(code not in codes for code in range(column.n_values))
        if len(codes) == 1:
            return bits, texts[0] if known else None
        if len(codes) == column.n_values:
            return bits, "*"
        return bits, "{" + ", ".join(texts + ["missing"] * or_missing) + "}"
    if not known:
        return (-1, -1, 1), None
    text = texts[0] if len(texts) == 1 else f"{texts[0]}..{texts[-1]}"
    least, greatest = codes[0], codes[-1 - or_missing]
    return (least, greatest, int(or_missing)), text + " or missing" * or_missing


def usual(column):
    return "range" if column.kind is not Kind.CATEGORY else "label" if column.hierarchy else "set"


def publish(table, groups, *, show=None, others=()):
    """The lines of a generalized release as dictionaries of text, in canonical order."""
    lines = []
    for rows in groups:
        cells = [
            cell(column, [int(column.codes[row]) for row in rows], (show or {}).get(column.name) or usual(column))
            for column in table.quasi_identifiers
        ]
        for row in rows:
            key, line = [key for key, _ in cells], {}
            for column, (_, text) in zip(table.quasi_identifiers, cells, strict=True):
                line[column.name] = text
            for column in table.sensitive:
                key.append(int(column.codes[row]))
                line[column.name] = plain(column.values[key[-1]])
            for name in others:
                line[name] = plain(table.others[name][row])
                key.append((line[name] is None, line[name] or ""))
            lines.append((key, line))
    return [line for _, line in sorted(lines, key=lambda pair: pair[0])]


def publish_buckets(table, groups, *, others=()):
    """The lines of both tables of a bucket release."""

    def person(row):
        codes = tuple((False, int(column.codes[row])) for column in table.quasi_identifiers)
        return codes + tuple((table.others[name][row] is None, plain(table.others[name][row]) or "") for name in others)

    def value(row):
        return tuple(int(column.codes[row]) for column in table.sensitive)

    def content(rows):
        return [(0, *person(row)) for row in sorted(rows, key=person)] + [
            (1, *value(row)) for row in sorted(rows, key=value)
        ]

    people, values = [], []
    for number, rows in enumerate(sorted(groups, key=content), start=1):
        for row in sorted(rows, key=person):
            line = {"bucket": str(number)}
            line |= {column.name: plain(column.values[int(column.codes[row])]) for column in table.quasi_identifiers}
            people.append(line | {name: plain(table.others[name][row]) for name in others})
        for row in sorted(rows, key=value):
            line = {"bucket": str(number)}
            values.append(
                line | {column.name: plain(column.values[int(column.codes[row])]) for column in table.sensitive}
            )
    return people, values


def plain(value):
    return None if value is None else str(value)


def frame(lines, names=None):
    """Lines as a frame of text."""
    names = list(lines[0]) if names is None else names
    return pl.DataFrame(
        {name: [line.get(name) for line in lines] for name in names}, schema=dict.fromkeys(names, pl.String)
    )
