# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_methods_at_scale.py
"""Strata at scale: which stratum a row is in, as a function of its codes, and how many strata there are.

Strata are found as on one machine, and numbered alike: halvings from the counts of each part, columns from the combinations that occur,
a tree from its questions.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.blind_buckets.strata import ByColumns, Halvings, Strata, StrataTree, where_to_halve
from overt.engine.scale.seam import RowBatch, ScaleEngine, codes_of, count_cells, require_countable
from overt.errors import InvalidInput
from overt.table import Codes, Column


class StratumOf(Protocol):
    """The stratum of every row of a batch."""

    @property
    def n_strata(self) -> int:
        """How many there are; every one has rows."""

    def __call__(self, rows: RowBatch) -> Codes:
        """(row) -> stratum."""


@dataclass(frozen=True)
class OneStratum:
    """Everybody."""

    n_strata: int = 1

    def __call__(self, rows: RowBatch) -> Codes:
        return np.zeros(rows.height, np.int32)


@dataclass(frozen=True, eq=False)
class ByCombination:
    """The combinations of the codes of some columns, in order."""

    names: tuple[str, ...]
    n_codes: tuple[int, ...]
    present: NDArray[np.intp]  # the combinations that occur, ascending, as one number

    @property
    def n_strata(self) -> int:
        return self.present.size

    def __call__(self, rows: RowBatch) -> Codes:
        return np.searchsorted(self.present, combine(rows, self.names, self.n_codes)).astype(np.int32)


@dataclass(eq=False)
class QuestionTree:
    """A binary tree, parents before their children."""

    column: list[int]  # (node) -> the column that is asked about; -1 for a leaf
    says_yes: list[Any]  # (node) -> (code) -> yes
    yes: list[int]
    no: list[int]

    @classmethod
    def root(cls) -> "QuestionTree":
        """A tree of one leaf."""
        return cls([-1], [None], [-1], [-1])

    def ask(self, node: int, column: int, says_yes: Any) -> tuple[int, int]:
        """Make a leaf a question: the leaves of those who say yes and of those who say no."""
        yes, no = len(self.column), len(self.column) + 1
        self.column[node], self.says_yes[node], self.yes[node], self.no[node] = column, says_yes, yes, no
        for of_node, value in ((self.column, -1), (self.says_yes, None), (self.yes, -1), (self.no, -1)):
            of_node += [value, value]
        return yes, no


@dataclass(frozen=True, eq=False)
class ByCuts:
    """The leaves of a tree of questions about codes that were answered for each code beforehand."""

    names: tuple[str, ...]
    nodes: "QuestionTree"
    stratum: tuple[int, ...]  # (node) -> the stratum of a leaf; -1 if it has no rows
    n_strata: int

    def leaves(self, rows: RowBatch) -> Codes:
        """(row) -> the leaf, as a node."""
        codes = codes_of(rows, self.names)
        node = np.zeros(rows.height, np.int32)
        for v, column in enumerate(self.nodes.column):
            if column >= 0:
                here = np.flatnonzero(node == v)
                says_yes = self.nodes.says_yes[v][codes[column, here]]
                node[here] = np.where(says_yes, self.nodes.yes[v], self.nodes.no[v])
        return node

    def __call__(self, rows: RowBatch) -> Codes:
        return np.array(self.stratum, np.int32)[self.leaves(rows)]


@dataclass(frozen=True)
class Combine:
    """The combination of some columns' codes as one number."""

    names: tuple[str, ...]
    n_codes: tuple[int, ...]

    def __call__(self, rows: RowBatch) -> Any:
        return combine(rows, self.names, self.n_codes)


def combine(rows: RowBatch, names: Iterable[str], n_codes: Iterable[int]) -> Any:
    """One number for the codes of several columns, in their order."""
    number = np.zeros(rows.height, np.int64)
    for name, n in zip(names, n_codes, strict=True):
        number = number * n + rows.get_column(name).to_numpy()
    return number


def divide_into_strata(engine: ScaleEngine, data: Any, columns: tuple[Column, ...], strata: Strata) -> StratumOf:
    """The strata of a staged table."""
    match strata:
        case Halvings(n=0):
            return OneStratum()
        case Halvings():
            return _halve(engine, data, columns, strata)
        case ByColumns():
            return by_columns(engine, data, columns, strata.by)
        case StrataTree():
            return _ask(engine, data, columns, strata)
    raise InvalidInput(
        f"Strata of the kind {type(strata).__name__} are not known to this engine; use halvings, by or a tree."
    )


def by_columns(engine: ScaleEngine, data: Any, columns: tuple[Column, ...], names: tuple[str, ...]) -> StratumOf:
    """One stratum for each combination of these quasi-identifiers that occurs."""
    if not names:
        return OneStratum()
    places = [_place(columns, name) for name in names]
    called = tuple(f"q{place}" for place in places)
    n_codes = tuple(columns[place].n_values for place in places)
    n_cells = int(np.prod([float(n) for n in n_codes]))
    require_countable(n_cells)
    counts = count_cells(engine, data, Combine(called, n_codes), n_cells)
    return ByCombination(called, n_codes, np.flatnonzero(counts))


def _place(columns: tuple[Column, ...], name: str) -> int:
    for place, column in enumerate(columns):
        if column.name == name:
            return place
    raise InvalidInput(f"Strata need quasi-identifiers and {name!r} is none.")


def _ask(engine: ScaleEngine, data: Any, columns: tuple[Column, ...], tree: StrataTree) -> ByCuts:
    nodes, leaves = QuestionTree.root(), []

    def add(node: int, part: StrataTree) -> None:
        if part.question is None or part.yes is None or part.no is None:
            leaves.append(node)
            return
        place = _place(columns, part.question.column)
        yes, no = nodes.ask(node, place, part.question.answer(columns[place]))
        add(yes, part.yes)
        add(no, part.no)

    add(0, tree)
    names = tuple(f"q{place}" for place in range(len(columns)))
    n_nodes = len(nodes.column)
    counts = count_cells(engine, data, LeafOfRow(ByCuts(names, nodes, (-1,) * n_nodes, 0)), n_nodes)
    numbered = {leaf: s for s, leaf in enumerate(leaf for leaf in leaves if counts[leaf])}
    return ByCuts(names, nodes, tuple(numbered.get(node, -1) for node in range(n_nodes)), len(numbered))


@dataclass(frozen=True, eq=False)
class LeafOfRow:
    """The leaf of every row."""

    cuts: ByCuts

    def __call__(self, rows: RowBatch) -> Any:
        return self.cuts.leaves(rows).astype(np.int64)


@dataclass(frozen=True, eq=False)
class LeafCodes:
    """Of every row the cells (leaf, code of each column)."""

    cuts: ByCuts
    columns: tuple[int, ...]
    offset: tuple[int, ...]
    width: int

    def __call__(self, rows: RowBatch) -> Any:
        leaf = self.cuts.leaves(rows).astype(np.int64) * self.width
        codes = codes_of(rows, [self.cuts.names[j] for j in self.columns])
        return np.concatenate([leaf + offset + code for offset, code in zip(self.offset, codes, strict=True)])


def _halve(engine: ScaleEngine, data: Any, columns: tuple[Column, ...], strata: Halvings) -> ByCuts:
    names = tuple(f"q{place}" for place in range(len(columns)))
    places = [_place(columns, name) for name in strata.columns] or list(range(len(columns)))
    sizes = [columns[place].n_values for place in places]
    offset = np.append(0, np.cumsum(sizes))
    nodes, frontier = QuestionTree.root(), [0]
    for _ in range(strata.n):
        n_nodes = len(nodes.column)
        cells = LeafCodes(
            ByCuts(names, nodes, (-1,) * n_nodes, 0), tuple(places), tuple(offset[:-1].tolist()), int(offset[-1])
        )
        counts = count_cells(engine, data, cells, n_nodes * int(offset[-1])).reshape(n_nodes, -1)
        following: list[int] = []
        for node in frontier:
            found = where_to_halve([counts[node, begin:end] for begin, end in pairwise(offset)])
            if found is None:
                following.append(node)
            else:
                widest, last = found
                following += nodes.ask(node, places[widest], np.arange(sizes[widest]) <= last)
        frontier = following
    stratum = np.full(len(nodes.column), -1)
    stratum[frontier] = np.arange(len(frontier))
    return ByCuts(names, nodes, tuple(stratum.tolist()), len(frontier))
