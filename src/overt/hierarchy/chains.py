# SPDX-License-Identifier: Apache-2.0
# Tested through tests/hierarchy/test_levels.py
"""Chains: a tree written as one line per value, `value, generalization, ..., root`.

A label is a node, wherever it stands; so it has one parent. Lines may be of different length as long as
they end in the same root. The tree covers what its author wrote, which can be more than a column holds.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidData, InvalidInput
from overt.hierarchy.base import column_name, contiguous_level, known_values, plant
from overt.hierarchy.texts import meaning_of, meanings_of
from overt.hierarchy.tree import Hierarchy
from overt.table import Kind


@dataclass(frozen=True, eq=False)
class Chains:
    """A written tree. Nodes are numbered as they are first met, so their numbers are also their order."""

    source: str  # what a message calls it: "ages.csv"
    place: str  # what a message calls an entry: "line"
    labels: list[str]  # (node) -> text
    parent_of_node: NDArray[np.int64]  # the root is its own
    level_of_node: NDArray[np.int64]
    entry_of_node: list[int]  # where it is first met
    node_of_value: dict[str, int]
    root: int

    @property
    def n_levels(self) -> int:
        return int(self.level_of_node[self.root]) + 1

    def missing(self, values: pl.Series) -> pl.Series:
        """The values of a column that are not in the tree; a null never is missing."""
        known = values.drop_nulls()
        return known.filter(pl.Series(self._nodes_of(known), dtype=pl.Int64) < 0)

    def build(self, values: pl.Series, kind: Kind) -> Hierarchy:
        """The part of the tree above a column's values."""
        known = known_values(values, kind)
        nodes = np.array(self._nodes_of(known), np.int64)
        self._require_cover(values, known, nodes)
        if values.null_count() and self.node_of_value.get("", -1) not in nodes:
            self._require_missing_below_root()
        node_of_value = [nodes]  # (level) -> (value) -> node
        for level in range(1, self.n_levels - 1):
            above = self.parent_of_node[node_of_value[-1]]
            node_of_value.append(np.where(self.level_of_node[above] <= level, above, node_of_value[-1]))
        order = np.lexsort(node_of_value) if kind is Kind.CATEGORY else np.arange(len(known))
        is_value = np.zeros(len(self.labels), np.bool_)
        is_value[list(self.node_of_value.values())] = True
        levels = []
        for unordered in node_of_value[1:]:
            keys = unordered[order]
            levels.append(contiguous_level(keys, self._label_of_leaf(keys, is_value), values, kind))
        leaves = pl.concat([known.gather(order), values.tail(values.null_count())])
        return plant(leaves, levels, root=self.labels[self.root])

    def _label_of_leaf(self, keys: NDArray[np.int64], is_value: NDArray[np.bool_]) -> Callable[[int], str | None]:
        return lambda leaf: None if is_value[keys[leaf]] else self.labels[keys[leaf]]

    def _nodes_of(self, known: pl.Series) -> list[int]:
        """(value) -> its node, or -1."""
        node_of_meaning: dict[object, int] = {}
        for text, node in self.node_of_value.items():
            meaning = meaning_of(text, known.dtype)
            twin = node_of_meaning.setdefault(meaning, node)
            if meaning is not None and self.parent_of_node[twin] != self.parent_of_node[node]:
                raise InvalidInput(
                    f"{at_start(self.source)} writes one value of {column_name(known)} in two ways and gives them different "
                    f"generalizations: {self._places(twin, node)}; keep one of them."
                )
        node_of_meaning.pop(None, None)
        return [node_of_meaning.get(meaning, -1) for meaning in meanings_of(known)]

    def _require_cover(self, values: pl.Series, known: pl.Series, nodes: NDArray[np.int64]) -> None:
        if n_missing := int((nodes < 0).sum()):
            first = int((nodes < 0).argmax()) + 1
            written = {text.casefold() for text in self.node_of_value}
            texts = known.filter(pl.Series(nodes) < 0).cast(pl.String)
            n_case = 0 if known.dtype.is_numeric() else sum(text.strip().casefold() in written for text in texts)
            hint = f" ({n_case} differ only in upper and lower case)" if n_case else ""
            raise InvalidData(
                f"{n_missing} of the {len(known)} values of {column_name(values)} are missing from {self.source}{hint}, "
                f"which has {len(self.node_of_value)} values; the first is number {first} of the column's values in "
                "ascending order, and the hierarchy's `missing(values)` lists them. Add them."
            )
        if len(set(nodes.tolist())) < nodes.size:
            raise InvalidData(
                f"Some values of {column_name(values)} differ only in white space around them, and {self.source} knows "
                "one value; remove the white space from the data."
            )

    def _require_missing_below_root(self) -> None:
        """Where no value is the empty text, an entry for it is about the missing value."""
        empty = self.node_of_value.get("")
        if empty is not None and self.parent_of_node[empty] != self.root:
            raise InvalidInput(
                f"{at_start(self.source)} generalizes the missing value at {self._places(empty)}, and in Overt it "
                "hangs directly below the root; remove this entry, or give the data a value such as 'unknown'."
            )

    def _places(self, *nodes: int) -> str:
        return " and ".join(f"{self.place} {self.entry_of_node[node]}" for node in nodes)


def read_chains(entries: Iterable[tuple[int, Sequence[str]]], source: str, place: str = "line") -> Chains:
    """The tree of numbered entries, each a value and its generalizations, or a refusal that says which entry."""
    growing = _Growing(source, place)
    for number, cells in entries:
        growing.add(number, cells)
    return growing.grown()


class _Growing:
    """A tree while its entries are read."""

    def __init__(self, source: str, place: str) -> None:
        self.source, self.place = source, place
        self.labels: list[str] = []
        self.parents: list[int | None] = []
        self.levels: list[int] = []
        self.entries: list[int] = []  # (node) -> where it is first met
        self.node_of_value: dict[str, int] = {}
        self.node_of_label: dict[str, int] = {}
        self.parent_entries: dict[int, int] = {}  # (node) -> where it got its parent
        self.root: str | None = None

    def add(self, number: int, cells: Sequence[str]) -> None:
        """Read one entry."""
        value, *labels = cells
        if not labels:
            self.refuse(
                f"at {self.place} {number} has a value without a generalization; end it with the root, usually *."
            )
        if "" in labels:
            self.refuse(f"has an empty label at {self.place} {number}, level {labels.index('') + 1}; write one.")
        if self.root is None:
            self.root, self.first_entry = labels[-1], number
        if labels[-1] != self.root:
            self.refuse(
                f"must end every {self.place} in the same root label: {self.place} {self.first_entry} ends in "
                f"{self.root!r}, {self.place} {number} in {labels[-1]!r}; end both in *, for example."
            )
        child, child_text = self.node(value, self.node_of_value, number, 0), value
        for level, label in enumerate(labels, start=1):
            # a repeated label is the same node; only the root can be called like a value and be another
            if label != child_text or (level == 1 and label == self.root):
                parent = self.node(label, self.node_of_label, number, level)
                self.hang(child, parent, number)
                child, child_text = parent, label

    def node(self, text: str, nodes: dict[str, int], number: int, level: int) -> int:
        """The node of a text, raised to this level if it stood lower so far."""
        node = nodes.setdefault(text, len(self.labels))
        if node == len(self.labels):
            self.labels.append(text)
            self.parents.append(None)
            self.levels.append(level)
            self.entries.append(number)
        self.levels[node] = max(self.levels[node], level)
        return node

    def hang(self, child: int, parent: int, number: int) -> None:
        """Give a node its parent, which must be the one it has already, if any."""
        known = self.parents[child]
        if known is None:
            self.parents[child] = parent
            self.parent_entries[child] = number
        elif known != parent:
            here, there = self.labels[parent], self.labels[known]
            if self.levels[child] == 0:
                what = "a value has two different generalizations"
            else:
                what = f"the label {self.labels[child]!r} (level {self.levels[child]}) has two parents"
            self.refuse(
                f"is not nested: {what}, {there!r} at {self.place} {self.parent_entries[child]} and {here!r} at "
                f"{self.place} {number}; correct one, or give the two meanings different labels."
            )

    def grown(self) -> Chains:
        """The finished tree."""
        if self.root is None:
            self.refuse("has no values; write one line per value, such as a;group;*.")
        root = self.node_of_label[self.root]
        if self.parents[root] is not None:
            self.refuse(
                f"has the root label {self.root!r} before the end of {self.place} {self.parent_entries[root]}; "
                "the root stands only at the end."
            )
        for text, node in self.node_of_value.items():
            inner = self.node_of_label.get(text)
            if inner is not None and inner != root:
                self.refuse(
                    f"uses one text as a value at {self.place} {self.entries[node]} and as a label of other values at "
                    f"{self.place} {self.entries[inner]}, so a reader could not tell which is meant; rename the label."
                )
        parents = [root if parent is None else parent for parent in self.parents]
        return Chains(
            self.source,
            self.place,
            self.labels,
            np.array(parents, np.int64),
            np.array(self.levels, np.int64),
            self.entries,
            self.node_of_value,
            root,
        )

    def refuse(self, problem: str) -> NoReturn:
        raise InvalidInput(f"{at_start(self.source)} {problem}")


def at_start(source: str) -> str:
    """The name of a source as a sentence begins with it; a file keeps its name."""
    return f"The {source[4:]}" if source.startswith("the ") else source
