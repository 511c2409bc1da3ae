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
    ): "Whether the owner's report also says what somebody guesses right who knows how values depend on quasi-identifiers.",
    ("Auditing", "methods"): "The methods that the sweep compares; without it the one of this recipe.",
    ("Auditing", "seconds"): "How long a run samples; 0 is not at all, and without it as short as goes unnoticed.",
    ("Auditing", "sweep"): "Values of l at which the report says how many people are above 1/l.",
    ("DatabaseInput", "table"): "The table to read: name, or schema.name.",
    ("DatabaseOutput", "table"): "The table to write: name, or schema.name.",
    ("DatabaseOutput", "overwrite"): "Whether a table that is already there may be replaced.",
    ("DeltaDisclosure", "delta"): "By less than how much the natural logarithm of a value's probability may change.",
    ("FlatValues", "flat"): "true: one step from any value to *.",
    (
        "Identifier",
        "repeats",
    ): '"refuse": no value may stand in two rows; "allow": it tells no persons apart. Without it columns that number persons refuse.',
    ("KAnonymity", "k"): "How many people of every group look alike at least.",
    ("LevelsFile", "separator"): "What separates a value from its generalizations in the file; found without it.",
    ("Output", "format"): "The format of the release; without it the ending of the path says it.",
    ("Output", "overwrite"): "Whether a release that is already there may be replaced.",
    (
        "Output",
        "rows",
    ): 'Rows of persons: "linked" by a number that is nobody\'s, or "pooled" in their bucket without one.',
    (
        "DatabaseOutput",
        "rows",
    ): 'Rows of persons: "linked" by a number that is nobody\'s, or "pooled" in their bucket without one.',
    ("PilotChoice", "people"): "How many people are drawn blindly, looked at, and left out of the release.",
    (
        "RecursiveCLDiversity",
        "c",
    ): "How many times the rows of the rarer values the most frequent one may have, and not more.",
    ("RecursiveCLDiversity", "l"): "From which value on, by frequency, the rarer ones begin.",
    (
        "TCloseness",
        "distance",
    ): '"equal" for any values, "ordered" for numbers and dates, "hierarchical" for a hierarchy.',
    ("TCloseness", "t"): "How far the values of a group may be from those of the whole table, from 0 to 1.",
    ("EntropyLDiversity", "l"): "How many equally frequent values a group must be as mixed as.",
    ("DistinctLDiversity", "l"): "How many different values every group has at least.",
    ("FrequencyLDiversity", "l"): "No value has more than 1/l of a group.",
    ("Widths", "origin"): "Where the first interval begins; 0 unless given.",
    ("Recipe", "version"): "The version of the format of recipes: 1.",
    ("Recipe", "input"): "Where the data is.",
    ("Recipe", "columns"): "The role of every column that is read; a column without a role is not released.",
    ("Recipe", "goal"): "What every group must satisfy; all goals must hold.",
    ("Recipe", "method"): "How the release is made.",
    ("Recipe", "output"): "Where the release goes.",
    ("Recipe", "audit"): "How long a run asks what somebody who knows the method learns.",
    ("Recipe", "pilot"): "People who are looked at when goals are chosen, and are then not published.",
}
OF_KEY: dict[str, str] = {
    "c": "The least utility that every row keeps.",
    "epsilon_second": "The ratio between two layers of weight, less 1.",
    "external": "An external database that rows are compared with.",
    "kappa": "The power of utility in the balance of risk and utility.",
    "lam": "How much risk counts in the balance of risk and utility.",
    "matching": 'How similar people are found: "kd", cut at equal ranks along the widest column, or "rank", by weighted rank.',
    "mode": '"paper" says that it is known what the method gives away.',
    "ranks": "An order of the values of single columns, for finding similar people.",
    "rows": "From 0 to 1: how much rows count beside what they tell, when levels are chosen.",
    "share": "The part of epsilon that pays for the choice of levels or the cube.",
    "sigma": "The part of theta that is asked of what is drawn.",
    "solver": 'How the best generalization is found: "auto", or an algorithm by its name.',
    "support": "The count from which an element may be chosen.",
    "swaps": "How many rounds of exchanges follow that make boxes smaller.",
    "t": "How many rows an element must generalize.",
    "theta": "The share of all rows that an element must generalize in the mean.",
    "threshold": "Whether the cube is one that could be published, which costs the same share of delta.",
    "value_sets": '"random": many sets of values, for unbiased estimates; "most frequent": fewer and larger batches.',
    "base": "The base of logarithms in utilities.",
    "beta": "By how many times its share in the whole table a value may gain: 1 means twice as frequent.",
    "bounds": "The greatest share of a group for single values, such as { I10 = \"1/2\" }.",
    "column": "The sensitive column that is meant; without it every one.",
    "cut_points": "Where intervals end; several lists are several levels, the finest first.",
    "database": "The name of an environment variable that holds an address, an address without a password, or the path of an SQLite file.",
    "dates": "The units of the levels, the finest first: day, month, quarter, year, decade.",
    "delta": "The probability with which epsilon may be exceeded.",
    "encoding": "How characters are written, such as utf-8 or latin-1; found without it.",
    "epsilon": "By how much one person may change the logarithm of any probability.",
    "file": "A file whose lines are a value and its generalizations, as ARX writes them.",
    "flat": "Whether a release in buckets is written as one file with sets of values.",
    "form": "How the release is published.",
    "cells": "Whether ranges are rounded outward to a public grid, or are tight: their ends are then somebody's values.",
    "format": "How dates are written, such as \"%d.%m.%Y\" (or a list of formats), or how numbers are, by an example: \"1.234,5\"; of a file its format.",
    "hierarchy": "How values become coarser, step by step.",
    "icd10": 'How codes of ICD-10 become coarser: "category" (E11*), then "chapter" (E00-E90).',
    "k": "How many people look alike at least.",
    "keep": 'How many rows of a person are kept at most, or "all"; nothing is promised of those that are cut.',
    "known": '"visits": an adversary knows all quasi-identifiers of all rows of everybody, and how many there are; "static": those that do not vary alone.',
    "kind": "How the values are read: number, date or category; found without it.",
    "l": "No value has more than 1/l of a group.",
    "missing": 'What happens to a row without a value: "refuse", "drop", or "own value", where having none is a value like others.',
    "missing_values": "Texts that mean that a value is not known.",
    "name": "The name of the method.",
    "nested": "Tables in tables whose innermost lists are the values.",
    "neutralise_formulas": "Whether cells that a spreadsheet would run get an apostrophe.",
    "order": "A column of numbers or dates that says which row of a person is earlier.",
    "others": "Columns without a role that are released as they are, and are part of no guarantee.",
    "path": "A file, as seen from the recipe.",
    "person": "The column that tells persons apart, where a person may have several rows. It is never released.",
    "positive": "The values that matter, as they are written in the data; the list is public.",
    "prefixes": "How many characters of a code stay, level by level: [4, 3, 2].",
    "property": "The name of the property.",
    "quantiles": "Into how many intervals with about as many rows each, level by level.",
    "query": "A query whose result is read. It can only read.",
    "role": "What the column is to somebody who looks for a person: identifier, quasi-identifier, sensitive or other.",
    "separator": "What separates columns; found without it.",
    "show": "How a cell is written: as a range, a label of the hierarchy, a set of values, or on a public grid, to which ranges are rounded outward.",
    "strata": "Quasi-identifiers whose values are never mixed in a group.",
    "table": "A table of the database.",
    "times": "How many times its share in the whole table a value may have in a group.",
    "varies": "Whether the column differs between the rows of a person, as the day of a visit does.",
    "unreadable": 'What happens to cells that are no date or number: "refuse", or "missing".',
    "which": 'Which rows of a person are kept: "random", or the "latest" or "first" by `order`.',
    "weights": "How much each column counts; 1 unless given.",
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
    'How many rows a bucket has at least. Larger ones leave less to guess from correlations and cost queries little.'
    """
    found: dict[str, str] = {}
    for above in reversed(kind.__mro__):
        _, _, section = cleandoc(vars(above).get("__doc__") or "").partition("Parameters\n----------\n")
        section = re.split(r"\n\n?[A-Z>][^\n]*\n-{3,}|\n\n>>> ", section)[0]
        for names, text in re.findall(r"^(\w[\w, ]*)\n((?:(?: {4}[^\n]*)?(?:\n|$))+)", section, re.MULTILINE):
            words = " ".join(text.split())
            found |= {name.strip(): words for name in names.split(",") if words}
    return found
