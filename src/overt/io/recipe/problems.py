# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/recipe/test_recipe.py
"""What is wrong with a recipe, one sentence per problem: the line, what was found, and the fix."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, get_args

from pydantic_core import ErrorDetails

from overt.io.recipe.settings import Section, Settings
from overt.io.recipe.toml_lines import KeyPath

# Sections whose place in an error is followed by the name of the chosen alternative.
_CHOICE_AFTER = {"goal": 2, "method": 1, "columns": 2, "input": 1, "output": 1}

_EXPECTED = {
    "string_type": "a text in quotes",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "tuple_type": "a list in square brackets",
    "too_short": "at least one entry",
}


@dataclass(frozen=True)
class RecipePlace:
    """Where in a recipe a problem is: the keys that lead there, and which alternatives they stand in."""

    path: KeyPath
    choices: Mapping[str, str]

    @classmethod
    def of(cls, location: tuple[str | int, ...]) -> "RecipePlace":
        """From Pydantic's location, in which the names of chosen alternatives stand among the keys."""
        path = list(location)
        choices = {}
        top = str(path[0]) if path else ""
        if len(path) > _CHOICE_AFTER.get(top, len(path)):
            choices[top] = str(path.pop(_CHOICE_AFTER[top]))
        if top == "columns" and len(path) > 3 and path[2] == "hierarchy":
            choices["hierarchy"] = str(path.pop(3))
        return cls(tuple(path), choices)

    @property
    def section(self) -> str:
        """The table that the last key stands in, as a person writes it."""
        return section_name(self.path[:-1])

    def keys(self, model: type[Settings]) -> list[str]:
        """The keys that the table around the last key may have."""
        keys = list(self._model(model).model_fields)
        if self.choices.get(str(self.path[0])) == "file":  # it may have been meant to be a database
            keys += [key for key in model.tags[str(self.path[0])]["database"].model_fields if key not in keys]
        return keys

    def _model(self, model: type[Settings]) -> type[Section]:
        if len(self.path) == 1:
            return model
        top = "hierarchy" if "hierarchy" in self.choices else str(self.path[0])
        if top in model.tags:
            alternatives = model.tags[top]
            return alternatives[self.choices[top]] if top in self.choices else next(iter(alternatives.values()))
        annotation: Any = model.model_fields[top].annotation
        section: type[Section] = next(
            iter(get_args(annotation)), annotation
        )  # of one that can be left out: the section or None
        return section


def section_name(path: KeyPath) -> str:
    """A table of a recipe as a person writes it.

    >>> section_name(("columns", "Birth date", "hierarchy"))
    'the hierarchy of [columns."Birth date"]'
    """
    match path:
        case ():
            return "a recipe"
        case ("columns", str(name), "hierarchy", *_):
            return f"the hierarchy of {section_name(('columns', name))}"
        case ("columns", str(name), *_):
            return f"[columns.{name if re.fullmatch('[A-Za-z0-9_-]+', name) else json.dumps(name, ensure_ascii=False)}]"
        case ("goal", *_):
            return "[[goal]]"
        case _:
            return f"[{path[0]}]"


def sentence(error: ErrorDetails, model: type[Settings]) -> tuple[KeyPath, str]:
    """Where a problem that Pydantic found is, and what to tell the person who wrote the recipe."""
    place = RecipePlace.of(error["loc"])
    found = error["input"]
    match error["type"]:
        case "extra_forbidden":
            key = str(place.path[-1])
            return place.path, f"{key!r} is not a key of {place.section}{_instead(key, place.keys(model))}"
        case "missing":
            return place.path[:-1], _missing(place)
        case "union_tag_not_found" | "union_tag_invalid":
            return _choice(place, found, model)
        case "literal_error" | "enum":
            allowed = re.findall(r"'([^']*)'", str(error["ctx"]["expected"]))
            return place.path, _not_one_of(place, found, allowed)
        case "expected":
            expected = error["ctx"]["expected"]
        case other:
            expected = _EXPECTED.get(other, error["msg"])
    if place.path[:1] == ("goal",) and len(place.path) == 1:
        return place.path, "a goal is written [[goal]], with two brackets, and there may be several; all must hold."
    return place.path, f"{_named(place)} needs {expected}."


def _missing(place: RecipePlace) -> str:
    key = place.path[-1]
    if len(place.path) == 1:
        section = {"version": "version = 1", "goal": "[[goal]]", "columns": "[columns.NAME] for each column"}
        return f"the recipe has no {key!r}; add {section.get(str(key), f'[{key}]')}."
    chosen = "".join(f" {name!r}" for top, name in place.choices.items() if top not in ("input", "output"))
    return f"{place.section}{chosen} has no {key!r}; add it."


def _choice(place: RecipePlace, found: Any, model: type[Settings]) -> tuple[KeyPath, str]:
    """A table that does not say, or misspells, which of several alternatives it is."""
    top = "hierarchy" if place.path[-1:] == ("hierarchy",) else str(place.path[0])
    names = list(model.tags[top])
    if not isinstance(found, dict):
        return place.path, f"{section_name(place.path)} needs a table."
    if top == "hierarchy":
        if not found:
            return place.path, f"{section_name(place.path)} is empty; give one of {quoted(names)}."
        key = next(iter(found))
        return (*place.path, key), f"{key!r} is not a key of {section_name(place.path)}{_instead(key, names)}"
    key = {"goal": "property", "method": "name", "columns": "role"}[top]
    if key not in found:
        return place.path, f"{section_name(place.path)} has no {key!r}; add one of {quoted(names)}."
    inner = RecipePlace((*place.path, key), {})
    return inner.path, _not_one_of(inner, found[key], names)


def _not_one_of(place: RecipePlace, found: Any, names: list[str]) -> str:
    if place.path == ("version",):
        return "this Overt reads recipes of version 1; write version = 1."
    if not isinstance(found, str):
        return f"{_named(place)} needs {'one of ' if len(names) > 1 else ''}{quoted(names) or 'true'}."
    return f"{_last_key(place)} = {found!r} is unknown in {place.section}{_instead(found, names)}"


def _named(place: RecipePlace) -> str:
    """The value a problem is about: `'k' in [[goal]]`."""
    if len(place.path) == 1:
        return section_name(place.path) if place.path != ("version",) else "'version'"
    return f"{_last_key(place)!r} in {section_name(place.path[:-1])}"


def _last_key(place: RecipePlace) -> str:
    return next(str(key) for key in reversed(place.path) if isinstance(key, str))


def _instead(found: str, known: Iterable[str]) -> str:
    known = list(known)
    close = closest(found, known)
    return f"; did you mean {close!r}?" if close else f"; use {'one of ' if len(known) > 1 else ''}{quoted(known)}."


def closest(found: str, known: Iterable[str]) -> str | None:
    """The known word that a person most likely meant, if any is near."""
    by_lower = {word.lower(): word for word in known}
    near = get_close_matches(found.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[near[0]] if near else None


def quoted(words: Iterable[str]) -> str:
    """Words in quotes with commas between."""
    return ", ".join(map(repr, words))
