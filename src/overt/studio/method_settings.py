# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_choices.py
"""Settings of methods that can be tried with a few clicks: what each is called, and how it stands in a recipe. All others stay as they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from overt.errors import InvalidInput


@dataclass(frozen=True)
class Setting:
    """A setting of a method, and what may be chosen; without choices it is a number."""

    key: str
    words: str
    choices: tuple[tuple[str, str], ...] = ()  # (as in a form, in words); the usual one first
    least: float = 0
    step: str = "1"

    def read(self, text: str) -> Any:
        """As a recipe has it."""
        if self.choices:
            if text not in dict(self.choices):
                raise InvalidInput(f"{self.words} is one of {', '.join(words for _, words in self.choices)}.")
            return {"true": True, "false": False}.get(text, text)
        try:
            return int(text) if self.step == "1" else float(text)
        except ValueError:
            raise InvalidInput(f"{self.words} is a number; {text!r} is none.") from None


ROUNDED = ("grid", "to a public grid")
TIGHT = ("tight", "at somebody’s values")
CELLS = "Ranges end"
CUTS = "People with the same value"
SETTINGS: Mapping[str, tuple[Setting, ...]] = {
    "blind-buckets": (
        Setting("rows_per_bucket", "Rows per bucket", least=2),
        Setting("cuts", CUTS, (("relaxed", "may be in two boxes"), ("strict", "stay together"))),
        Setting("cells", CELLS, (ROUNDED, TIGHT)),
    ),
    "mondrian": (
        Setting("relaxed", CUTS, (("false", "stay together"), ("true", "may be in two groups"))),
        Setting("choose", "Cuts first", (("widest", "the widest column"), ("gain", "what gains most"))),
        Setting("cells", CELLS, (TIGHT, ROUNDED)),
    ),
    "full-domain": (Setting("max_suppressed", "Share of rows that may be left out", step="any"),),
    "batch-matching": (Setting("cells", CELLS, (ROUNDED, TIGHT)),),
}


def chosen_settings(method: str, given: Mapping[str, str]) -> dict[str, Any]:
    """What somebody chose for a method; what they left empty is left as it is."""
    return {one.key: one.read(given[one.key]) for one in SETTINGS.get(method, ()) if given.get(one.key)}


def settings_said(method: Mapping[str, Any]) -> str:
    """The settings of a method of a recipe, in a line.

    >>> settings_said({"name": "mondrian", "relaxed": True, "cells": "grid"}), settings_said({"name": "x", "stratify": {"halvings": 0}})
    ('relaxed = yes · cells = grid', 'halvings = 0')
    """
    said = []
    for key, value in method.items():
        if isinstance(value, Mapping):
            said += [f"{name} = {part}" for name, part in value.items()]
        elif key != "name":
            said.append(f"{key} = {'yes' if value is True else 'no' if value is False else value}")
    return " · ".join(said)
