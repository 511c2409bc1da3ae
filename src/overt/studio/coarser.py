# SPDX-License-Identifier: Apache-2.0
"""Coarser: how a column's values become coarser, as its card shows it and as the recipe writes it."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import polars as pl

from overt.errors import InvalidInput
from overt.hierarchy import Hierarchy
from overt.hierarchy.texts import texts_of
from overt.io.recipe.recipe import parse_recipe
from overt.io.recipe.toml_text import toml_of
from overt.studio.drawings import Bars, histogram_of
from overt.studio.edits import set_of_column
from overt.studio.session import Session
from overt.studio.trees import TreeNode, flat_tree, tree_of
from overt.table import Column, Kind

MOST_VALUES = 400  # of a tree that is edited by hand
UNITS = ("day", "month", "quarter", "year", "decade")


@dataclass(frozen=True, eq=False)
class ColumnCard:
    """One column, its hierarchy, and the editor that fits it."""

    number: int
    name: str
    editor: Literal["cuts", "dates", "tree", "large"]
    how: dict[str, Any]  # the hierarchy as the recipe writes it; empty: none
    histogram: Bars | None
    levels: tuple[tuple[float, ...], ...]  # cut points, the finest level first
    counts: tuple[tuple[str, int], ...]  # (interval of the finest level, rows)
    tree: TreeNode | None
    rows_of_value: dict[str, int]
    longest: int  # letters of the longest value
    chain: tuple[str, ...]  # an example: a value and what it becomes

    @property
    def kind(self) -> str:
        """What the hierarchy is, in a word."""
        return word_of(self.how)


def word_of(how: dict[str, Any]) -> str:
    """What a hierarchy of a recipe is, in a word."""
    words = {
        "widths": "equal widths",
        "cut_points": "intervals",
        "quantiles": "intervals of equal size",
        "prefixes": "first letters",
        "icd10": "ICD-10",
        "dates": "calendar",
        "nested": "tree",
        "file": "from a file",
        "flat": "one step",
    }
    return next((words[key] for key in words if key in how), "as it is")


@dataclass(frozen=True)
class TypedCard:
    """One column whose steps must not come from the table: they are typed, or come as a file, and nothing is shown of its values."""

    number: int
    name: str
    how: dict[str, Any]
    form: str  # how its dates or numbers are written; empty: as usual

    @property
    def kind(self) -> str:
        """What the hierarchy is, in a word."""
        return word_of(self.how)

    @property
    def cuts(self) -> str:
        """The cut points as they are typed, one level a line."""
        given = self.how.get("cut_points", [])
        levels = given if given and isinstance(given[0], list) else [given]
        return "\n".join(", ".join(map(str, level)) for level in levels)

    @property
    def labels(self) -> str:
        """Values with a label each, as they are typed."""
        lines = []
        for label, values in self.how.get("nested", {}).items():
            if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
                return ""  # a deeper tree, from a recipe that was written by hand
            lines += [", ".join(values)] if label == "*" else [f"{label}: {', '.join(values)}"]
        return "\n".join(lines)


def typed_card_of(session: Session, number: int) -> TypedCard:
    """The card of a column of a differentially private release."""
    name = session.found["profile"].columns[number].name
    settings = session.document["columns"][name]
    form = settings.get("format", "")
    return TypedCard(number, name, dict(settings.get("hierarchy", {})), form if isinstance(form, str) else "")


def read_labels(text: str) -> dict[str, list[str]]:
    """The tree that somebody typed: a label, a colon and its values, one label a line; a line without a label has values that only "*" stands for."""
    found: dict[str, list[str]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        label, colon, values = line.rpartition(":")
        named = [one.strip() for one in values.split(",") if one.strip()]
        if not named or (colon and not label.strip()):
            raise InvalidInput("Each line is a label, a colon, and its values with commas between them.")
        found.setdefault(label.strip() or "*", []).extend(named)
    return found


def require_usable(session: Session, name: str, key: str, value: Any) -> None:
    """Let the library refuse steps or a format by themselves: whether they fit the values of the table must not be asked."""
    document = session.document
    column = {"role": "quasi-identifier", "hierarchy": {"prefixes": [1]}, key: value}
    alone = {**document, "columns": {name: column}}
    parse_recipe(toml_of(alone), folder=session.folder)


def card_of(session: Session, number: int) -> ColumnCard:
    """The card of a quasi-identifier."""
    profile = session.found["profile"].columns[number]
    column: Column = profile.column
    how = dict(session.document["columns"][profile.name].get("hierarchy", {}))
    hierarchy = built(session, column, how) if how else None
    known = column.values.drop_nulls()
    texts = texts_of(known)
    is_number = column.kind is Kind.NUMBER
    levels = cuts_of(how, column) if is_number else ()
    editor: Literal["cuts", "dates", "tree", "large"] = "large"
    if is_number:
        editor = "cuts"
    elif column.kind is Kind.DATE:
        editor = "dates"
    elif len(known) <= MOST_VALUES:
        editor = "tree"
    tree = None
    if editor == "tree":
        tree = flat_tree(texts.to_list()) if hierarchy is None else tree_of(hierarchy)
    middle = len(known) // 2
    return ColumnCard(
        number=number,
        name=profile.name,
        editor=editor,
        how=how,
        histogram=histogram_of(column) if is_number else None,
        levels=levels,
        counts=counts_of(column, levels[0]) if levels else (),
        tree=tree,
        rows_of_value=dict(zip(texts.to_list(), column.total_of_value.tolist(), strict=False))
        if editor == "tree"
        else {},
        longest=int(texts.str.len_chars().max() or 0),  # type: ignore[arg-type]
        chain=() if hierarchy is None or not len(known) else steps(hierarchy, middle),
    )


def steps(hierarchy: Hierarchy, leaf: int) -> tuple[str, ...]:
    """A value and what it becomes, each step once."""
    labels = [str(hierarchy.labels[node]) for node in hierarchy.chain(leaf)]
    return tuple(label for n, label in enumerate(labels) if n == 0 or label != labels[n - 1])


def built(session: Session, column: Column, how: dict[str, Any]) -> Hierarchy:
    """The hierarchy over the column's values, built by the library, or its refusal."""
    document = set_of_column(column.name, "hierarchy", how)(session.document)
    recipe = parse_recipe(toml_of(document), folder=session.folder)
    return recipe.hierarchies[column.name].build(column.values, column.kind, column.total_of_value)


def cuts_of(how: dict[str, Any], column: Column) -> tuple[tuple[float, ...], ...]:
    """The cut points of the levels of intervals, the finest first."""
    if "cut_points" in how:
        given = how["cut_points"]
        levels = given if given and isinstance(given[0], list) else [given]
        return tuple(tuple(level) for level in levels)
    if "widths" in how:
        known = column.values.drop_nulls()
        low, high, origin = float(known[0]), float(known[-1]), how.get("origin", 0)
        levels = []
        for width in how["widths"]:
            first = np.floor((low - origin) / width) + 1
            n = int(min(60, max(0, np.floor((high - origin) / width) - first + 1)))
            levels.append(tuple(plain(origin + (first + i) * width) for i in range(n)))
        return tuple(level for level in levels if level)
    return ()


def counts_of(column: Column, cuts: tuple[float, ...]) -> tuple[tuple[str, int], ...]:
    """How many rows each interval holds."""
    is_known = ~column.values.is_null().to_numpy()
    numbers = column.values.drop_nulls().cast(pl.Float64).to_numpy()
    place = np.searchsorted(np.array(cuts, float), numbers, side="right")
    counts = np.bincount(place, weights=column.total_of_value[is_known], minlength=len(cuts) + 1).astype(int)
    words = [
        f"below {plain(cuts[0])}",
        *(f"{plain(a)} to below {plain(b)}" for a, b in pairwise(cuts)),
    ]
    return tuple(zip([*words, f"{plain(cuts[-1])} and above"], counts.tolist(), strict=True))


def read_cuts(text: str) -> list[list[float]]:
    """The levels that somebody typed: one a line, numbers apart by commas or spaces, the finest first."""
    levels = []
    for line in text.splitlines():
        numbers = line.replace(",", " ").replace(";", " ").split()
        try:
            level = sorted({plain(float(number)) for number in numbers})
        except ValueError:
            raise InvalidInput("Cuts are numbers, with commas between them, one level a line.") from None
        if level:
            levels.append(level)
    return levels


def plain(number: float) -> float | int:
    """A number without a needless fraction."""
    return int(number) if float(number).is_integer() else round(float(number), 10)
