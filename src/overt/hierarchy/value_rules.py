# SPDX-License-Identifier: Apache-2.0
"""Public hierarchies: what a value becomes at every level, as a rule that is known before any data is.

A `Hierarchy` is built over the values that a column has, and its labels, leaf counts and levels depend on them: on whether
all numbers are whole, on which values occur. A differentially private release may depend on none of this. Here each
value is generalized by itself. What the rule does not know, a missing value included, is the root at every level; so
nobody's value can make a release fail.

Labels are true of every number: intervals are half-open, `[20, 25)`, and open ends are `<18` and `>=65`. A value's own
text stands in double quotes (a JSON string) where it could be taken for something else.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from functools import cache
from itertools import count, pairwise, product
from math import ceil, lcm
from string import ascii_uppercase, digits

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.hierarchy.base import Builder
from overt.hierarchy.chains import Chains, at_start
from overt.hierarchy.dates import UNITS, Dates
from overt.hierarchy.icd10 import CHAPTERS, Icd10, chapter_of
from overt.hierarchy.levels import Levels
from overt.hierarchy.nested import Nested
from overt.hierarchy.numbers import CutPoints, Intervals, exact, plain
from overt.hierarchy.prefixes import Prefixes
from overt.hierarchy.texts import texts_of

Chain = tuple[str, ...]  # a value's labels, level by level, the root last
Floats = NDArray[np.float64]

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_ORDINARY = re.compile(r"([+-]?)(\d{1,12})(?:\.(\d{1,6}))?")
_INTERVAL = re.compile(r"\[(.+), (.+)\)")
_LONGEST = (
    80  # characters of a number as it is written: what is longer is not known, so that every label can be read back
)
_COULD_BE_MISREAD = re.compile(r'^$|^"|\*$|^\s|\s$')


@dataclass(frozen=True, eq=False)
class PublicTree:
    """A rule from texts to labels."""

    n_levels: int  # leaves and root included
    root: str
    chain_of: Callable[[str], Chain | None] = field(repr=False)  # None: the rule does not know the text
    chain_below: Callable[[str], Chain | None] = field(repr=False)  # (label) -> of a value below it, if it could be one
    n_leaves: Mapping[str, int] | None = field(default=None, repr=False)  # by label, if the values are listed
    n_labels: tuple[int, ...] | None = None  # by level, if the values are listed
    # (level) -> the chains of all values from there on; None: there is no end to them
    chains_from: Callable[[int], Iterable[Chain] | None] = field(default=lambda _: None, repr=False)

    def classes(self, level: int) -> tuple[Chain, ...] | None:
        """All that a value, known or not, can become from a level on, in order; None if there is no end to it."""
        unknown = (self.root,) * (self.n_levels - level)
        found = () if level == self.n_levels - 1 else self.chains_from(level)
        return None if found is None else tuple(sorted({*found, unknown}))

    def chain(self, text: str | None) -> Chain:
        """The labels of a text, from its own to the root."""
        known = None if text is None or "\0" in text else self.chain_of(text.strip())  # PostgreSQL holds no zero byte
        return known or (self.root,) * self.n_levels

    def knows(self, label: str) -> bool:
        """Whether some value has this label."""
        return label == self.root or bool(self.levels_of(label))

    def levels_of(self, label: str) -> set[int]:
        """The levels at which a label stands that is not the root; none if no value has it."""
        chain = self.chain_below(label) or ()
        return {level for level, one in enumerate(chain) if one == label}


@dataclass(frozen=True, eq=False)
class PublicColumn:
    """The values of a column under a public rule. A node is a label, wherever it stands."""

    tree: PublicTree
    labels: list[str] = field(repr=False)  # (node) -> text
    node_of_value: NDArray[np.int32] = field(repr=False)  # (level, value) -> node

    @classmethod
    def of(cls, tree: PublicTree, values: pl.Series) -> "PublicColumn":
        """Generalize every value by itself."""
        chains = [tree.chain(text) for text in texts_of(values).to_list()]
        labels = sorted({label for chain in chains for label in chain} | {tree.root})
        number = {label: node for node, label in enumerate(labels)}
        nodes = np.array([[number[label] for label in chain] for chain in chains], np.int32)
        return cls(tree, labels, np.ascontiguousarray(nodes.reshape(len(chains), tree.n_levels).T))

    @classmethod
    def of_classes(cls, tree: PublicTree, level: int, classes: Sequence[Chain]) -> "PublicColumn":
        """Everything that values can become from a level on, each as if it were a value; below, it is what it is there."""
        labels = sorted({label for chain in classes for label in chain} | {tree.root})
        number = {label: node for node, label in enumerate(labels)}
        nodes = np.array([[number[label] for label in chain] for chain in classes], np.int32)
        return cls(tree, labels, np.ascontiguousarray(np.repeat(nodes, [level + 1] + [1] * (nodes.shape[1] - 1), 1).T))

    @property
    def root(self) -> int:
        return self.labels.index(self.tree.root)

    @property
    def depth_of_node(self) -> Floats:
        """(node) -> steps from the root."""
        depth = np.zeros(len(self.labels))
        for below, above in reversed(list(pairwise(self.node_of_value))):
            steps = below != above
            depth[below[steps]] = depth[above[steps]] + 1
        return depth

    @property
    def leaves_of_node(self) -> Floats:
        """(node) -> how many values the rule lists below it."""
        if self.tree.n_leaves is None:
            raise InvalidInput(
                "Leaves can only be counted where a hierarchy lists all its values, and one of these is a rule for any "
                "value; use utility 'depth' and risk 'I' or 'II', or list the values (a file, or nested)."
            )
        return np.array([float(self.tree.n_leaves[label]) for label in self.labels])


def public_tree(builder: Builder | None, column: str) -> PublicTree:
    """The rule of a hierarchy, if it is one that can be known without the data."""
    match builder:
        case Levels() | Nested():
            return _listed(builder._chains)
        case Intervals():
            return _intervals(builder)
        case CutPoints():
            return _cut_points(builder)
        case Dates():
            return _dates(builder)
        case Prefixes():
            return _prefixes(builder)
        case Icd10():
            return _icd10(builder)
        case None:
            given = f"Column {column!r} has no hierarchy, and one that is inferred from the data tells its values"
        case _:
            given = f"The hierarchy of {column!r}, {type(builder).__name__}, is made from the data"
    raise InvalidInput(
        f"{given}; a differentially private release needs one that is known beforehand: a file, nested values, intervals, cut points, "
        "dates, prefixes or chapters of ICD-10."
    )


def _listed(written: Chains) -> PublicTree:
    """Values written out: a text means the value it is, or the number it is equal to."""
    chain_of_node: dict[int, Chain] = {}
    root = written.labels[written.root]
    n_leaves: dict[str, int] = {}
    inner = {label for label, level in zip(written.labels, written.level_of_node.tolist(), strict=True) if level}
    for text, value in written.node_of_value.items():
        if _own(text, root) in inner:
            raise InvalidInput(
                f"{at_start(written.source)} has a value that a release shows in quotes, as it shows another label of it; rename that label."
            )
        node, nodes = value, [value]
        for level in range(1, written.n_levels - 1):
            above = int(written.parent_of_node[node])
            node = above if written.level_of_node[above] <= level else node
            nodes.append(node)
        names = [_own(text, root) if one == value else written.labels[one] for one in nodes]
        chain_of_node[value] = (*names, root)
        for label in set(chain_of_node[value]):
            n_leaves[label] = n_leaves.get(label, 0) + 1
    by_text = {text: chain_of_node[node] for text, node in written.node_of_value.items()}
    by_number = {number: by_text[text] for text in reversed(by_text) if (number := _number(text)) is not None}
    example = {label: text for text, chain in by_text.items() for label in chain}

    def chain_of(text: str) -> Chain | None:
        known = by_text.get(text)
        return known if known is not None or (number := _number(text)) is None else by_number.get(number)

    n_labels = tuple(len(set(labels)) for labels in zip(*by_text.values(), strict=True))

    def chain_below(label: str) -> Chain | None:
        return by_text.get(example.get(label, ""))

    def chains_from(level: int) -> Iterator[Chain]:
        return (chain[level:] for chain in by_text.values())

    return PublicTree(written.n_levels, root, chain_of, chain_below, n_leaves, n_labels, chains_from)


def _intervals(builder: Intervals) -> PublicTree:
    widths, origin = [exact(width) for width in builder.widths], exact(builder.origin)
    unit = lcm(origin.denominator, *(width.denominator for width in widths))  # bounds are whole multiples of 1 / unit
    origin_units, width_units = int(origin * unit), [int(width * unit) for width in widths]

    @cache
    def label(level: int, place: int) -> str:
        lower = origin + place * widths[level]
        return _interval(lower, lower + widths[level])

    def labels_of(over: int, under: int) -> Iterator[str]:
        above = over * unit - origin_units * under  # (number - origin) * unit * under
        return (label(level, above // (width * under)) for level, width in enumerate(width_units))

    return _of_numbers(len(widths), labels_of)


def _cut_points(builder: CutPoints) -> PublicTree:
    levels = [[exact(point) for point in points] for points in builder.levels]

    @cache
    def label(level: int, place: int) -> str:
        bounds = [None, *levels[level], None]
        return _interval(bounds[place], bounds[place + 1])

    @cache
    def least(level: int, under: int) -> list[int]:  # over / under is at or above a point from here on
        return [ceil(point * under) for point in levels[level]]

    def labels_of(over: int, under: int) -> Iterator[str]:
        return (label(level, bisect_right(least(level, under), over)) for level in range(len(levels)))

    def chains_from(level: int) -> Iterator[Chain] | None:
        points = sorted({point for of_level in levels for point in of_level})
        numbers = (points[0] - 1, *points)  # between two points that follow each other, labels are those of the first
        every = ((*labels_of(number.numerator, number.denominator), "*") for number in numbers)
        return (chain[level - 1 :] for chain in every) if level else None  # there is no end to numbers themselves

    return _of_numbers(len(levels), labels_of, chains_from)


def _of_numbers(
    n_inner: int,
    labels_of: Callable[[int, int], Iterator[str]],
    chains_from: Callable[[int], Iterable[Chain] | None] = lambda _: None,
) -> PublicTree:
    """The rule that knows numbers, given the labels between a number and the root."""

    def chain_of(text: str) -> Chain | None:
        number = _ratio(text)
        own = None if number is None else _own_number(*number)
        return None if number is None or own is None else (own, *labels_of(*number), "*")

    def chain_below(label: str) -> Chain | None:
        if known := chain_of(label):
            return known
        number = _number_below(label)  # of any length: an interval may begin at a longer number than any in it
        return None if number is None else ("", *labels_of(number.numerator, number.denominator), "*")

    return PublicTree(n_inner + 2, "*", chain_of, chain_below, chains_from=chains_from)


def _dates(builder: Dates) -> PublicTree:
    def chain_of(text: str) -> Chain | None:
        try:
            day = datetime.fromisoformat(text).date()
        except ValueError:
            return None
        months = day.year * 12 + day.month - 1
        numbers = {"month": months, "quarter": months // 3, "year": day.year, "decade": day.year // 10}
        names = (day.isoformat() if unit == "day" else UNITS[unit].text(numbers[unit]) for unit in builder.units)
        return (day.isoformat(), *names, "*")

    def chain_below(label: str) -> Chain | None:
        found = re.fullmatch(r"(\d{4})(?:(s)|-Q([1-4])|-(\d{2})(?:-(\d{2}))?)?", label)
        if found is None:
            return None
        year, decade, quarter, month, day = found.groups()
        if decade and year == "0000":  # the calendar begins with year 1
            return chain_of("0001-01-01")
        first = f"{year}-{3 * int(quarter) - 2:02d}-01" if quarter else f"{year}-{month or '01'}-{day or '01'}"
        return chain_of(first)

    def chains_from(level: int) -> Iterator[Chain] | None:
        if level == 0 or builder.units[level - 1] == "day":  # days of 9999 years are as good as without end
            return None
        step = {"month": 1, "quarter": 3}.get(builder.units[level - 1], 12)
        firsts = (chain_of(f"{year:04d}-{month:02d}-01") for year in range(1, 10_000) for month in range(1, 13, step))
        return (chain[level:] for chain in firsts if chain)

    return PublicTree(len(builder.units) + 2, "*", chain_of, chain_below, chains_from=chains_from)


def _prefixes(builder: Prefixes) -> PublicTree:
    def chain_of(text: str) -> Chain:
        own = _own(text, "*")
        labels = [own]
        for length in builder.lengths:
            labels.append(f"{text[:length]}*" if len(text) >= length else labels[-1])
        return (*labels, "*")

    def chain_below(label: str) -> Chain | None:
        if label.endswith("*"):  # one character more: the last of a prefix may be a blank, which no text ends with
            return chain_of(f"{label[:-1]}x".strip())
        text = _unquoted(label)
        return None if text is None else chain_of(text.strip())

    return PublicTree(len(builder.lengths) + 2, "*", chain_of, chain_below)


def _unquoted(label: str) -> str | None:
    """The text whose own label this is; None if it is no text's."""
    if not label.startswith('"'):
        return label
    try:
        text = json.loads(label)
    except ValueError:
        return None
    return text if isinstance(text, str) else None


def _icd10(builder: Icd10) -> PublicTree:
    def chain_of(text: str) -> Chain | None:
        place = chapter_of(text)
        if place == len(CHAPTERS):
            return None
        names = {"category": f"{text[:3].upper()}*", "chapter": CHAPTERS[place]}
        return (_own(text, "*"), *(names[level] for level in builder.levels), "*")

    def chain_below(label: str) -> Chain | None:
        text = label[:3] if label in CHAPTERS else label.removesuffix("*") if label.endswith("*") else _unquoted(label)
        return None if text is None else chain_of(text.strip())

    def chains_from(level: int) -> Iterator[Chain] | None:
        categories = map(chain_of, map("".join, product(ascii_uppercase, digits, digits + ascii_uppercase)))
        return (chain[level:] for chain in categories if chain) if level else None

    return PublicTree(len(builder.levels) + 2, "*", chain_of, chain_below, chains_from=chains_from)


def _number(text: str) -> Fraction | None:
    return Fraction(text.lstrip("+")) if len(text) < 100 and _NUMBER.fullmatch(text) else None


def _ratio(text: str) -> tuple[int, int] | None:
    """The number that a text means, as a ratio in lowest terms or over a power of ten; quickly if it is an ordinary one."""
    if found := _ORDINARY.fullmatch(text):
        sign, whole, decimals = found.groups()
        over = int(whole + (decimals or ""))
        return -over if sign == "-" else over, 10 ** len(decimals or "")
    number = _number(text)
    return None if number is None else (number.numerator, number.denominator)


def _written(over: int, under: int) -> str:
    """A number as a person writes it."""
    if over % under == 0:
        return str(over // under)
    # fifteen digits over a power of ten are told apart by floats, and written as they were
    written = repr(over / under) if abs(over) < 10**15 and under <= 10**6 else plain(Fraction(over, under))
    return written if "/" not in written else _all_digits(Fraction(over, under))


def _all_digits(number: Fraction) -> str:
    """A number with more digits than a float has; it came from a text, so that the digits after its point end."""
    n_decimals = next(n for n in count() if 10**n % number.denominator == 0)
    digits = str(abs(number.numerator) * 10**n_decimals // number.denominator).zfill(n_decimals + 1)
    return f"{'-' if number < 0 else ''}{digits[:-n_decimals]}.{digits[-n_decimals:]}"


def _own_number(over: int, under: int) -> str | None:
    """The text of a number, if it can be read back."""
    written = _written(over, under)
    return written if len(written) <= _LONGEST and _NUMBER.fullmatch(written) else None


def _number_below(label: str) -> Fraction | None:
    """A number that is inside, if the label is an interval."""
    found = _INTERVAL.fullmatch(label)
    bound, less = (found[1], 0) if found else (label[2:], 0) if label.startswith(">=") else (label[1:], 1)
    try:
        return Fraction(bound) - less if found or label.startswith((">=", "<")) else None
    except (ValueError, ZeroDivisionError):
        return None


def _interval(lower: Fraction | None, upper: Fraction | None) -> str:
    if lower is None:
        return f"<{plain(upper or Fraction(0))}"
    return f">={plain(lower)}" if upper is None else f"[{plain(lower)}, {plain(upper)})"


def _own(text: str, root: str) -> str:
    """A value's own text, in quotes where it could be taken for a label."""
    return json.dumps(text, ensure_ascii=False) if text == root or _COULD_BE_MISREAD.search(text) else text
