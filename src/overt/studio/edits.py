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
        if is_dp(document):  # nothing of the proposal, which is made of the table's values
            public = PUBLIC_IN_DP if role in ("quasi-identifier", "sensitive") else ()
            document["columns"][name] = {"role": role, **{key: before[key] for key in public if key in before}}
            return document
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


PUBLIC_IN_DP = ("hierarchy", "format")  # keys of columns that a dp recipe may have, if a person gave them
MADE_OF_VALUES = ("nested", "quantiles", "flat")  # hierarchies that the studio makes of what stands in the table
DP_METHOD = "dp-full-domain"


def is_dp(document: Mapping[str, Any]) -> bool:
    """Whether a recipe asks for differential privacy."""
    return "epsilon" in document.get("method", {})


def set_dp(
    epsilon: float,
    delta: float,
    s: float,
    *,
    proposal: Mapping[str, Any],
    settled: Collection[str] = (),
    order: Collection[str] = (),
) -> Change:
    """Ask for differential privacy in place of all goals. Of the recipe stays what a person gave, and nothing that was found in the table.

    What stands there as it was proposed was found in the table, unless it is the format of a column in `settled`; so was a tree, which begins
    with the table's own values. Columns stand in the given order, which is that of the file: that of a proposal depends on their values.
    A recipe that asks for differential privacy already holds nothing else, and keeps it.
    """

    def edit(document: Document) -> Document:
        document = deepcopy(document)
        if not is_dp(document):
            document = _what_a_person_gave(document, proposal, settled)
            columns = document["columns"]
            named = [name for name in order if name in columns]
            others = [name for name in columns if name not in named]
            document["columns"] = {name: columns[name] for name in (*named, *others)}
        document["method"] = {"name": DP_METHOD, "epsilon": epsilon, "delta": delta, "s": s}
        return document

    return edit


def _what_a_person_gave(document: Document, proposal: Mapping[str, Any], settled: Collection[str]) -> Document:
    given = {key: value for key, value in document.items() if key not in ("goal", "pilot")}
    given["input"].pop("missing_values", None)  # the page offers marks that are found in the table, and no others
    given["columns"] = {}
    for name, settings in document["columns"].items():
        found = proposal["columns"].get(name, {})
        given["columns"][name] = {"role": settings["role"]}
        for key in PUBLIC_IN_DP:
            value = settings.get(key)
            is_answer = key == "format" and name in settled and isinstance(value, str)
            is_proposed = value == found.get(key) and not is_answer
            is_of_table = isinstance(value, list) or any(one in MADE_OF_VALUES for one in value or ())
            if value is not None and not is_proposed and not is_of_table:
                given["columns"][name][key] = value
    return given


def _with_removed(before: Mapping[str, Any], first: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The keys as they are now, and those that were taken out between `before` and `first`; in the order of before."""
    removed = {key: value for key, value in before.items() if key not in first}
    whole = {**removed, **now}
    return {key: whole[key] for key in dict.fromkeys((*before, *whole)) if key in whole}


def unset_dp(before: Mapping[str, Any], first: Mapping[str, Any], proposal: Mapping[str, Any]) -> Change:
    """Take differential privacy back: what `set_dp` replaced and took out is as it was `before`; `first` is what it made of that.

    What was changed since stays: roles, and what a person gave meanwhile.
    """

    def edit(document: Document) -> Document:
        now, back = deepcopy(document), {}
        restored = {key: before[key] for key in ("goal", "pilot", "method") if key in before}
        for section in dict.fromkeys((*before, *now)):
            if section in restored or (section in now and section not in ("goal", "pilot")):
                back[section] = deepcopy({**now, **restored}[section])
        back["input"] = _with_removed(before["input"], first["input"], now["input"])
        back["columns"] = {}
        for name in dict.fromkeys((*(one for one in before["columns"] if one in now["columns"]), *now["columns"])):
            then, settings = before["columns"].get(name, {}), now["columns"][name]
            if then.get("role") == settings["role"]:
                back["columns"][name] = _with_removed(then, first["columns"].get(name, {}), settings)
            else:
                back["columns"][name] = settings
                back = set_role(name, settings["role"], proposal["columns"].get(name))(back)
        return back

    return edit


def _is_goal(goal: Mapping[str, Any], name: str, column: str | None) -> bool:
    return goal["property"] == name and (column is None or goal.get("column", column) == column)


def set_sections(document: Mapping[str, Any], sections: Collection[str]) -> Change:
    """Put sections of another recipe in the place of one's own; what it does not have goes."""

    def edit(own: Document) -> Document:
        own = deepcopy(own)
        if all(own.get(section) == document.get(section) for section in sections):
            return own
        found = {key: value for key, value in document.items() if key in sections}
        kept = {key: value for key, value in own.items() if key not in sections}
        order = [key for key in document if key in found or key in kept]
        whole = {**kept, **deepcopy(found)}
        return {key: whole[key] for key in dict.fromkeys((*order, *whole))}

    return edit
