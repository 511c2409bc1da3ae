# SPDX-License-Identifier: Apache-2.0
"""Promises: the properties one can ask for, in plain words, with what each does not promise. The words are ours, the rules the library's."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from overt.privacy.l_diversity import FrequencyLDiversity
from overt.studio.history import Document


@dataclass(frozen=True)
class Dial:
    """The one number of a promise: how it is asked for in words, and how it stands in the recipe."""

    before: str
    after: str
    usual: float
    least: float
    most: float
    step: float
    shift: int = 0  # the recipe's number is this much more than the one on screen

    def in_recipe(self, number: float) -> float | int:
        """The number as a recipe has it."""
        shifted = number + self.shift
        return int(shifted) if float(shifted).is_integer() else shifted

    def on_screen(self, number: Any) -> float | int:
        """The number as people are asked for it."""
        shown = float(number) - self.shift
        return int(shown) if shown.is_integer() else shown


@dataclass(frozen=True)
class Promise:
    """A property as a person reads it."""

    property: str
    parameter: str
    title: str
    dial: Dial
    formal: str
    advice: str
    not_promised: str
    is_of_column: bool = True
    has_positive: bool = False


ALIKE = Promise(
    "k-anonymity",
    "k",
    "Nobody stands out",
    Dial("Everybody looks like at least", "others.", 4, 1, 9999, 1, shift=1),
    "k-anonymity",
    "Often 4 others for researchers under contract, 9 or more for the open web.",
    "anything about what nobody may learn. If all who look alike have the same illness, it is out.",
    is_of_column=False,
)
GUESS = Promise(
    "l-diversity",
    "l",
    "No good guess",
    Dial("No value is likelier than 1 in", "", 3, 2, 999, 1),
    "l-diversity in its frequency form",
    "Cannot be reached where one value has more than that share of all people.",
    "that the values differ in meaning. Three kinds of cancer are three values.",
)
RARE = Promise(
    "relative-risk",
    "times",
    "A rare value stays rare",
    Dial("In no group is a value more than", "times as frequent as among all.", 2, 1, 1000, 0.1),
    "relative risk (basic β-likeness)",
    "For a yes or no, or a rare diagnosis: what matters is how much likelier it gets.",
    "that a group without the value stays unnoticed. There one learns that nobody has it.",
    has_positive=True,
)
CLOSE = Promise(
    "t-closeness",
    "t",
    "Every group like the whole table",
    Dial("The mix of values in a group differs from that of the whole table by at most", "", 0.2, 0.001, 1, 0.001),
    "t-closeness",
    "Can always be reached, with large groups where it must.",
    "a limit for one rare value: it may become many times likelier within a small difference.",
)
OF_COLUMN = (GUESS, RARE, CLOSE)
BY_NAME = {promise.property: promise for promise in (ALIKE, *OF_COLUMN)}


@dataclass(frozen=True)
class PromiseCard:
    """A promise as it stands in the recipe, or as it would be if it were made."""

    promise: Promise
    column: str | None
    number: int  # of the column among those of the recipe
    is_made: bool
    value: float | int
    positive: str  # values that matter, one a line
    bounded: str = ""  # the whole promise in words, where some values have bounds of their own

    @property
    def key(self) -> str:
        """What tells it from the others on the page."""
        return f"{self.promise.property}-{self.number}"


def cards_of(document: Document, dials: Mapping[str, float] | None = None) -> tuple[PromiseCard, ...]:
    """Every promise that can be made of a recipe's columns, made or not. `dials` are numbers that were set of those that are not, by their key."""
    names = list(document["columns"])
    sensitive = [name for name, column in document["columns"].items() if column["role"] == "sensitive"]
    known = dials or {}
    cards = [_card(document, ALIKE, None, 0, known)]
    cards += [_card(document, promise, name, names.index(name), known) for name in sensitive for promise in OF_COLUMN]
    return tuple(cards)


def groups_of(
    cards: tuple[PromiseCard, ...],
) -> list[tuple[str | None, list[PromiseCard], list[PromiseCard]]]:
    """(column, promises that are made of it, others that could be): first those about everybody, which always stand there."""
    groups: list[tuple[str | None, list[PromiseCard], list[PromiseCard]]] = []
    for column in dict.fromkeys(card.column for card in cards):
        of = [card for card in cards if card.column == column]
        made = [card for card in of if card.is_made or column is None]
        groups.append((column, made, [card for card in of if card not in made]))
    return groups


def _card(
    document: Document, promise: Promise, column: str | None, number: int, dials: Mapping[str, float]
) -> PromiseCard:
    made = find_goal(document, promise.property, column)
    value = promise.dial.usual if made is None else promise.dial.on_screen(made[promise.parameter])
    positive = "\n".join(made.get("positive", ())) if made else ""
    bounds = made.get("bounds") if made and promise is GUESS else None
    bounded = FrequencyLDiversity(made["l"], column=column, bounds=bounds).in_words if made and bounds else ""
    card = PromiseCard(promise, column, number, made is not None, value, positive, bounded)
    return card if made is not None or card.key not in dials else replace(card, value=plain(dials[card.key]))


def plain(number: float) -> float | int:
    """A number as people write it."""
    return int(number) if float(number).is_integer() else number


def find_goal(document: Document, name: str, column: str | None) -> Mapping[str, Any] | None:
    """The goal of a recipe with this property, of this column."""
    sensitive = [one for one, settings in document["columns"].items() if settings["role"] == "sensitive"]
    for goal in document.get("goal", []):
        of = goal.get("column", sensitive[0] if len(sensitive) == 1 else None)
        if goal["property"] == name and (column is None or of == column):
            found: Mapping[str, Any] = goal
            return found
    return None


def dp_part(document: Document) -> Mapping[str, Any] | None:
    """What a recipe says of differential privacy, if that is what it asks for."""
    method: Mapping[str, Any] = document["method"]
    return method if "epsilon" in method else None


def sentence_of(cards: tuple[PromiseCard, ...]) -> str:
    """All that is promised in plain words."""
    said = []
    for card in cards:
        if card.bounded:
            said.append(card.bounded)
        elif card.is_made:
            dial = card.promise.dial
            of = "" if card.column is None else f"{card.column}: "
            words = f"{dial.before} {card.value} {dial.after}".strip().rstrip(".")
            only = ", ".join(map(repr, card.positive.splitlines()))
            said.append(f"{of}{words[0].lower() + words[1:] if of else words}{f' (only of {only})' if only else ''}.")
    return " ".join(said)


def others_of(document: Document) -> list[Mapping[str, Any]]:
    """Goals of the recipe that have no card: written by hand, and kept as they are."""
    return [goal for goal in document.get("goal", []) if goal["property"] not in BY_NAME]
