# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_history.py
"""Edits: what a click writes into the recipe. Each gives a new recipe and leaves the old one as it is.

They write what a person chose and nothing else; whether it fits together is for the library to say.
"""

from collections.abc import Callable, Collection, Mapping
from copy import deepcopy
from typing import Any

from overt.studio.history import Document

Change = Callable[[Document], Document]
PUBLIC_KEYS = {
    "identifier": {"repeats"},
    "quasi-identifier": {"kind", "hierarchy", "show", "varies", "format", "unreadable", "cells"},
    "sensitive": {"kind", "hierarchy", "missing", "format", "unreadable"},
    "other": set(),
}
OF_READING = ("kind", "format", "unreadable")  # keys that say how cells are read, whatever the role


def set_role(name: str, role: str, proposed: Mapping[str, Any] | None = None) -> Change:
    """Give a column another role: with the keys that were proposed for it there, else with those of its own that fit, read as was proposed."""

    def edit(document: Document) -> Document:
        document = deepcopy(document)
        before = document["columns"].get(name, {})
        kept = {key: value for key, value in before.items() if key in PUBLIC_KEYS[role]}
        proposal = proposed or {}
        read = {key: proposal[key] for key in OF_READING if key in proposal and key in PUBLIC_KEYS[role]}
        fitting = proposal if proposal.get("role") == role else {**read, **kept}
        document["columns"][name] = {"role": role, **{key: value for key, value in fitting.items() if key != "role"}}
        if role == "sensitive":
            others = (one for key, one in document["columns"].items() if one["role"] == "sensitive" and key != name)
            missing = next((one.get("missing") for one in others), "own value")
            document["columns"][name]["missing"] = missing or "refuse"
        if role != "sensitive":
            _keep_goals(document, [goal for goal in document.get("goal", []) if goal.get("column") != name])
        return document

    return edit


def set_key(section: str, key: str, value: Any) -> Change:
    """Set a key of a section, or take it out if the value is None."""

    def edit(document: Document) -> Document:
        document = deepcopy(document)
        table = document.setdefault(section, {})
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value
        return document

    return edit


def set_of_column(name: str, key: str, value: Any) -> Change:
    """Set a key of a column, or take it out if the value is None."""

    def edit(document: Document) -> Document:
        document = deepcopy(document)
        if value is None:
            document["columns"][name].pop(key, None)
        else:
            document["columns"][name][key] = value
        return document

    return edit


def read_dates_as(name: str, form: str, instead_of: Collection[str]) -> Change:
    """Read the dates of a column in one format instead of others that fit as well."""

    def edit(document: Document) -> Document:
        document = deepcopy(document)
        given = document["columns"][name].get("format", [])
        forms = [form if one in instead_of else one for one in ([given] if isinstance(given, str) else given)] or [form]
        document["columns"][name]["format"] = forms[0] if len(forms) == 1 else forms
        return document

    return edit


def set_missing(marks: Collection[str], *, is_missing: bool) -> Change:
    """Say that some texts stand for missing values, in every column, or that they do not."""

    def edit(document: Document) -> Document:
        document = deepcopy(document)
        given = document["input"]
        others = [text for text in given.get("missing_values", [""]) if text not in marks]
        texts = [*others, *marks] if is_missing else others
        given.pop("missing_values", None)
        if texts != [""]:
            given["missing_values"] = texts
        return document

    return edit


def set_goal(name: str, column: str | None, parameters: Mapping[str, Any] | None) -> Change:
    """Ask for a property, of a column if it is of one, in place of the same with other parameters; None: no longer."""

    def edit(document: Document) -> Document:
        document = deepcopy(document)
        goals = document.get("goal", [])
        kept = [goal for goal in goals if not _is_goal(goal, name, column)]
        if parameters is not None:
            of = {} if column is None else {"column": column}
            place = next((n for n, goal in enumerate(goals) if _is_goal(goal, name, column)), len(kept))
            kept.insert(place, {"property": name, **parameters, **of})
        _keep_goals(document, kept)
        return document

    return edit


def _keep_goals(document: Document, goals: list[Any]) -> None:
    if goals:
        document["goal"] = goals  # where it stood
    else:
        document.pop("goal", None)


DATA_DEPENDENT = ("show", "repeats", "unreadable", "missing")  # keys of columns that a dp recipe may not have


ABOUT_PERSONS = ("person", "keep", "which", "order", "known")  # keys of [input]


def set_person(
    column: str | None,
    *,
    repeats_of: str | None,
    keep: int | str,
    which: str,
    order: str | None,
    varies: Collection[str],
) -> Change:
    """Say whose the rows are: those of a person are told by a column, and so many are kept; None: each is another person's."""

    def edit(document: Document) -> Document:
        document = deepcopy(document)
        given, columns = document["input"], document["columns"]
        known = given.get("known")
        for key in ABOUT_PERSONS:
            given.pop(key, None)
        for settings in columns.values():
            settings.pop("varies", None)
            settings.pop("repeats", None)
        if column is None:
            if repeats_of in columns:
                columns[repeats_of] = {"role": "identifier", "repeats": "refuse"}
            return document
        columns[column] = {"role": "identifier"}
        given["person"] = column
        if keep != "all":
            given["keep"] = keep
            given["which"] = which
        if order is not None and (which != "random" or keep == "all"):
            given["order"] = order
        if known is not None:
            given["known"] = known
        for name in varies:
            if columns.get(name, {}).get("role") == "quasi-identifier":
                columns[name]["varies"] = True
        return document

    return edit


def set_dp(epsilon: float, delta: float, s: float) -> Change:
    """Ask for differential privacy in place of all goals, and take out what it does not go together with."""

    def edit(document: Document) -> Document:
        document = deepcopy(document)
        for key in ("goal", "pilot"):
            document.pop(key, None)
        for column in document["columns"].values():
            for key in DATA_DEPENDENT:
                column.pop(key, None)
        document["method"] = {"name": DP_METHOD, "epsilon": epsilon, "delta": delta, "s": s}
        return document

    return edit


DP_METHOD = "dp-full-domain"


def _is_goal(goal: Mapping[str, Any], name: str, column: str | None) -> bool:
    return goal["property"] == name and (column is None or goal.get("column", column) == column)


def set_section(section: str, value: Any) -> Change:
    """Put another section in place of one."""

    def edit(document: Document) -> Document:
        return {**deepcopy(document), section: deepcopy(value)}

    return edit
