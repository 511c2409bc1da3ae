# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_schema.py
"""Descriptions: what every key of a recipe means, for the JSON Schema and so for editors. A test finds one that is missing.

The parameters of methods and properties are described where they are documented, in the docstring of their class; what many of them share,
and what is no parameter, is described here.
"""

import re
from inspect import cleandoc
from typing import Any

from overt.algorithms import METHODS
from overt.privacy import PROPERTIES

OF_SECTION: dict[tuple[str, str], str] = {  # (section, key)
    ("AlphaKAnonymity", "alpha"): "The greatest share that one sensitive value may have in a group.",
    (
        "Auditing",
        "learner",
    ): "Whether the owner's report also measures how much is guessed right by somebody who knows how values depend on quasi-identifiers.",
    ("Auditing", "methods"): "The methods to compare in the sweep; if left out, the method of this recipe.",
    (
        "Auditing",
        "seconds",
    ): "Time limit in seconds for the estimate of what somebody who knows the method learns; 0 skips it. If left out, half a second.",
    ("Auditing", "sweep"): "Values of l for which the report says how many people are above 1/l.",
    ("DatabaseInput", "table"): "The table to read: name, or schema.name.",
    ("DatabaseOutput", "table"): "The table to write: name, or schema.name.",
    ("DatabaseOutput", "overwrite"): "Whether to replace a table that already exists.",
    ("DeltaDisclosure", "delta"): "The limit on the change of the natural logarithm of a value's probability.",
    ("FlatValues", "flat"): "true: one step from any value to *.",
    (
        "Identifier",
        "repeats",
    ): '"refuse": no value may occur in two rows; "allow": the column does not identify persons. If left out, columns whose name says that they number persons refuse.',
    ("KAnonymity", "k"): "The least number of people in a group, who all look the same.",
    ("LevelsFile", "separator"): "What separates a value from its generalizations in the file; inferred if left out.",
    ("Output", "format"): "The format of the release; if left out, it is taken from the file's name.",
    ("Output", "overwrite"): "Whether to replace a release that already exists.",
    (
        "Output",
        "rows",
    ): 'The rows of a person: "linked" by a new number, or "pooled" in their bucket without one.',
    (
        "DatabaseOutput",
        "rows",
    ): 'The rows of a person: "linked" by a new number, or "pooled" in their bucket without one.',
    ("PilotChoice", "people"): "How many people to draw at random, look at, and leave out of the release.",
    (
        "RecursiveCLDiversity",
        "c",
    ): "The most frequent value must have fewer than c times as many rows as the rarer values together.",
    ("RecursiveCLDiversity", "l"): "The rarer values begin with the l-th most frequent.",
    (
        "TCloseness",
        "distance",
    ): 'How far apart two values are: "equal" for any values, "ordered" for numbers and dates, "hierarchical" along the hierarchy.',
    (
        "TCloseness",
        "t",
    ): "The greatest distance between the distribution of values in a group and in the whole table, from 0 to 1.",
    ("EntropyLDiversity", "l"): "Every group must have at least the entropy of l equally frequent values.",
    ("DistinctLDiversity", "l"): "The least number of different values in a group.",
    ("FrequencyLDiversity", "l"): "No value has more than 1/l of a group.",
    ("Widths", "origin"): "Where the first interval begins; 0 if left out.",
    ("Recipe", "version"): "The version of the format of recipes: 1.",
    ("Recipe", "input"): "Where the data are.",
    ("Recipe", "columns"): "The role of every column that is read; a column without a role is not released.",
    ("Recipe", "goal"): "What every group must satisfy; all goals must hold.",
    ("Recipe", "method"): "How the release is made.",
    ("Recipe", "output"): "Where the release goes.",
    ("Recipe", "audit"): "How to estimate what somebody who knows the method learns.",
    (
        "Recipe",
        "pilot",
    ): "A random sample of people who may be looked at while goals are chosen, and who are not published.",
}
OF_KEY: dict[str, str] = {
    "c": "The least utility that every row keeps.",
    "epsilon_second": "The ratio between two layers of weight, less 1.",
    "external": "An external database that rows are compared with.",
    "kappa": "The power of utility in the balance of risk and utility.",
    "lam": "The weight of risk in the balance of risk and utility.",
    "matching": 'How similar people are found: "kd", cut at equal ranks along the widest column, or "rank", by weighted rank.',
    "mode": '"paper" runs the algorithm as published and confirms that you know what it reveals.',
    "ranks": "An order of the values of single columns, for finding similar people.",
    "rows": "From 0 to 1: how much the number of rows counts, compared with their detail, when levels are chosen.",
    "share": "The part of epsilon that is spent on choosing levels or on the cube.",
    "sigma": "The part of theta that is required of a drawn element.",
    "solver": 'How the best generalization is found: "auto", or an algorithm by its name.',
    "support": "The least count with which an element may be chosen.",
    "swaps": "How many rounds of exchanges to make afterwards, which make boxes smaller.",
    "t": "How many rows an element must generalize.",
    "theta": "The share of all rows that an element must generalize on average.",
    "threshold": "Whether to use a cube that could be published, which costs the same share of delta.",
    "value_sets": '"random": many sets of values, for unbiased estimates; "most frequent": fewer and larger batches.',
    "base": "The base of logarithms in utilities.",
    "beta": "How much a value may gain, as a multiple of its share in the whole table: 1 means twice as frequent.",
    "bounds": "The greatest share of a group for single values, such as { I10 = \"1/2\" }.",
    "column": "The sensitive column that the goal is about; if left out, every sensitive column.",
    "cut_points": "Where intervals end; several lists are several levels, the finest first.",
    "database": "The name of an environment variable that holds an address, an address without a password, or the path of an SQLite file.",
    "dates": "The units of the levels, the finest first: day, month, quarter, year, decade.",
    "delta": "A small probability with which the bound epsilon may fail.",
    "encoding": "The encoding of the file, such as utf-8 or latin-1; inferred if left out.",
    "epsilon": "How much one row may change the logarithm of any probability; smaller is safer.",
    "file": "A file in the format of ARX: each line is a value and its generalizations.",
    "flat": "Whether to write a release in buckets as one file with sets of values.",
    "form": "How the release is published.",
    "cells": "\"grid\": ranges are rounded outward to a public grid; \"tight\": their ends are somebody's values.",
    "format": "How dates are written, such as \"%d.%m.%Y\" (or a list of formats), or an example of how numbers are: \"1.234,5\". For a file, its format; \"table\": a table of Spark's catalog.",
    "hierarchy": "How values become coarser, step by step.",
    "icd10": 'How codes of ICD-10 become coarser: "category" (E11*), then "chapter" (E00-E90).',
    "k": "The least number of people who look the same.",
    "keep": 'The maximum number of rows to keep for each person, or "all"; nothing is promised about the others.',
    "known": 'What an adversary knows. "visits": all quasi-identifiers of all rows, and the number of rows; "static": only the quasi-identifiers that do not vary.',
    "kind": "How the values are read: number, date or category; inferred if left out.",
    "l": "No value has more than 1/l of a group.",
    "missing": 'What to do with rows without a value: "refuse" the table, "drop" the rows, or "own value": treat missing as a value.',
    "missing_values": "Texts that stand for a missing value.",
    "name": "The name of the method.",
    "nested": "Nested tables; the innermost lists are the values.",
    "neutralise_formulas": "Whether to put an apostrophe before cells that a spreadsheet would run as a formula.",
    "order": "A column of numbers or dates that says which row of a person is earlier.",
    "others": "Columns without a role to release unchanged; no guarantee covers them.",
    "path": "The path of a file, relative to the recipe; or with format = \"table\" the name of a table of Spark's catalog.",
    "person": "The column that identifies persons, if a person can have several rows. It is never released.",
    "positive": "The values to protect, as they are written in the data; the list is public.",
    "prefixes": "How many characters of a code to keep, level by level: [4, 3, 2].",
    "property": "The name of the property.",
    "quantiles": "The number of intervals with about equally many rows, level by level.",
    "query": "A query whose result is read, in a read-only transaction.",
    "role": "identifier (names a person), quasi-identifier (others may know it), sensitive (nobody should learn it) or other.",
    "separator": "The character between columns; inferred if left out.",
    "show": "How a cell is written: as a range, a label of the hierarchy, a set of values, or on a public grid, to which ranges are rounded outward.",
    "strata": "Quasi-identifiers whose values are never mixed in a group.",
    "table": "A table of the database.",
    "times": "The greatest share of a value in a group, as a multiple of its share in the whole table.",
    "varies": "Whether the column can differ between rows of a person, such as the day of a visit.",
    "unreadable": 'What to do with cells that are not dates or numbers: "refuse" the table, or treat them as "missing".',
    "which": 'Which rows of a person to keep: "random", or the "latest" or "first" by `order`.',
    "weights": "How much each column counts; 1 if left out.",
    "widths": "The widths of intervals, level by level, each a multiple of the one before.",
}  # fmt: skip


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """A JSON Schema of recipes in which every key has a description."""
    parameters = {kind.__name__: parameters_of(kind) for kind in (*METHODS.values(), *PROPERTIES.values())}
    sections = {"Recipe": schema, **schema.get("$defs", {})}
    for name, section in sections.items():
        for key, value in section.get("properties", {}).items():
            words = OF_SECTION.get((name, key)) or parameters.get(name, {}).get(key) or OF_KEY.get(key)
            if words and "description" not in value:
                value["description"] = words
    return schema


def parameters_of(kind: type) -> dict[str, str]:
    """The parameters of a class, as its docstring and those of the classes above it describe them.

    >>> from overt import BlindBuckets
    >>> parameters_of(BlindBuckets)["rows_per_bucket"]
    'The least number of rows in a bucket. Larger buckets leave less to guess from correlations and cost queries little.'
    """
    found: dict[str, str] = {}
    for above in reversed(kind.__mro__):
        _, _, section = cleandoc(vars(above).get("__doc__") or "").partition("Parameters\n----------\n")
        section = re.split(r"\n\n?[A-Z>][^\n]*\n-{3,}|\n\n>>> ", section)[0]
        for names, text in re.findall(r"^(\w[\w, ]*)\n((?:(?: {4}[^\n]*)?(?:\n|$))+)", section, re.MULTILINE):
            words = " ".join(text.split())
            found |= {name.strip(): words for name in names.split(",") if words}
    return found
