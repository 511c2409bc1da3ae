# SPDX-License-Identifier: Apache-2.0
"""DpFullDomain: one level for every column, chosen with differential privacy; then records sampled, and small groups left out.

Paper       R. Bild, K. Kuhn, F. Prasser, "SafePub: A Truthful Data Anonymization Algorithm With Strong Privacy Guarantees",
            PoPETs 2018; N. Li, W. Qardaji, D. Su, ASIACCS 2012, for sampling and suppression.
Implements  SafePub's plan: a part of the budget chooses among full-domain generalizations, the rest samples and suppresses.
Departs     SafePub walks the lattice and pays for every step; here all vectors of levels are scored at once, and the
            greatest score with exact two-sided geometric noise wins, which is paid once. The score counts rows beyond
            what a group needs, so that one record changes it by at most its weight; records can only raise scores, so
            that the noise need not be doubled. Suppression uses the exact least k of `accounting`, not the bound.
Guarantee   (epsilon, delta)-differential privacy when one record is added or removed, against anyone. Choosing costs share
            times epsilon and no delta; for the levels chosen the rest is `DpSampling`; budgets add up.
            Proof of the choice: docs/guides/differential-privacy.md and below.

Let q(v) be the score of vector v, a whole number. A record that is added raises every q(v) by at least 0 and at most W. Vector v
wins if its noise is at least some m, which depends on the other noise and on all scores, and grows by at most W and
falls by at most W when the record is added or removed. Pr[Z >= m] <= e^(epsilon' / W * W) Pr[Z >= m + W] for two-sided geometric
noise of epsilon' / W, so that the chance of v changes by a factor of at most e^epsilon'. Ties go to the first vector, always.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.dp.accounting import Budget
from overt.algorithms.dp.elements import Counts, ElementCells, LevelsVector, Records
from overt.algorithms.dp.mechanism import DpMethod
from overt.algorithms.dp.parameter_proposal import CHOICE
from overt.errors import InvalidInput, TooLarge
from overt.hierarchy.value_rules import PublicColumn
from overt.kernels import coarsening as kernels
from overt.privacy.base import Number, exact
from overt.randomness import Coins, TwoSidedGeometric
from overt.table import Table

GRAIN = 8  # the greatest weight of a column in a score; weights are whole numbers

ELEMENT_BY_ELEMENT = {"utility", "risk", "weights", "base", "lam", "kappa", "c"}


@dataclass(frozen=True, kw_only=True)
class DpFullDomain(DpMethod):
    """A sample of records, with all values of a column at the same level; a part of the budget is spent on choosing the levels.

    `share` of epsilon is spent on the choice among `levels`, all vectors if none are named. A row counts by the detail of its element,
    the mean over columns of 1 - (values covered - 1) / (all values - 1). `rows`, from 0 to 1, lets the number of rows count
    too: with a higher value more rows are kept, with less detail each. Where a hierarchy does not list its values, the
    depth of a node is used instead.
    """

    name: ClassVar[str] = "dp-full-domain"
    _most_vectors: ClassVar[int] = 1 << 16

    share: Number = CHOICE
    rows: Number = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= exact(self.rows) <= 1:
            raise InvalidInput(f"rows is {self.rows!r}; a number from 0 to 1 is expected.")
        for one in fields(DpMethod):
            if one.name in ELEMENT_BY_ELEMENT and getattr(self, one.name) != one.default:
                raise InvalidInput(
                    f"{one.name} is given, and says how an element is chosen for each record; here all records have the same "
                    "levels. Leave it out, or use dp-cube."
                )
        _ = self.noise

    @property
    def choosing(self) -> Budget:
        """The part of the budget that chooses the levels: no delta is spent on it."""
        return Budget(self.budget.split(self.share)[0].epsilon, Fraction(0))

    @property
    def sampling(self) -> Budget:
        return Budget(self.budget.split(self.share)[1].epsilon, self.budget.delta)

    @cached_property
    def vectors(self) -> tuple[LevelsVector, ...]:
        n_levels = [tree.n_levels for tree in self.trees.values()]
        if not self.levels and prod(n_levels) > self._most_vectors:
            raise TooLarge(
                f"There are {prod(n_levels):,} vectors of levels, and at most {self._most_vectors:,} are looked at; name some under "
                "levels."
            )
        return self.levels or tuple(product(*map(range, n_levels)))

    @property
    def most_weight(self) -> int:
        """The most that one record changes a score by."""
        return GRAIN * len(self.trees)

    @cached_property
    def noise(self) -> TwoSidedGeometric:
        """What is added to every score."""
        return TwoSidedGeometric(self.choosing.epsilon / self.most_weight)

    @property
    def spared(self) -> int:
        """How many rows of a group do not count: as many as it needs to be shown, in the mean."""
        return ceil(self.least_copies / exact(self.s))

    @property
    def facts(self) -> dict[str, str]:
        return {
            **super().facts,
            "Levels": f"one vector of {len(self.vectors):,} is chosen by its score, with two-sided geometric noise of epsilon "
            f"{float(self.noise.epsilon):g}, which costs epsilon {float(self.choosing.epsilon):g}",
        }

    def _choose(
        self, table: Table | None, columns: Sequence[PublicColumn], records: Records, coins: Coins
    ) -> tuple[ElementCells, NDArray[np.bool_]]:
        scores = self.scores(records)
        elements = records.at(self.vectors[int(np.argmax(scores + self.noise.draw(scores.size, coins)))])
        return elements, np.ones(elements.cell_of_record.size, np.bool_)

    def scores(self, records: Records) -> NDArray[np.int64]:
        """(vector) -> the weights of its cells, times the rows that each has beyond what it needs."""
        weights = [self._weights_of_nodes(column) for column in records.columns]
        wanted = {vector: place for place, vector in enumerate(self.vectors)}
        scores = np.zeros(len(self.vectors), np.int64)
        for vector, nodes, counts in walk_cells(records):
            if vector in wanted:
                weight = sum(w[nodes[:, j]] for j, w in enumerate(weights))
                scores[wanted[vector]] = int((weight * np.maximum(counts - self.spared, 0)).sum())
        return scores

    def _weights_of_nodes(self, column: PublicColumn) -> NDArray[np.int64]:
        if column.tree.n_leaves is None:
            tells = column.depth_of_node / max(1, column.tree.n_levels - 1)
        else:
            leaves, most = column.leaves_of_node, column.leaves_of_node[column.root]
            tells = 1 - (leaves - 1) / max(1, most - 1)
        rows = float(exact(self.rows))
        return np.rint(GRAIN * np.clip(rows + (1 - rows) * tells, 0, 1)).astype(np.int64)


def walk_cells(records: Records) -> Iterator[tuple[LevelsVector, NDArray[np.int32], Counts]]:
    """Every vector of levels with its cells: (cell, attribute) -> node, and how many rows each has."""
    steps = [_steps(column) for column in records.columns]
    finest: ElementCells = records.at((0,) * len(records.columns))
    counts = np.bincount(finest.cell_of_record, records.n_rows_of_record, finest.n_cells).astype(np.int64)

    def look(
        axis: int, nodes: NDArray[np.int32], counts: Counts, vector: LevelsVector
    ) -> Iterator[tuple[LevelsVector, NDArray[np.int32], Counts]]:
        if axis == len(steps):
            yield vector, nodes, counts
            return
        yield from look(axis + 1, nodes, counts, (*vector, 0))
        for level, step in enumerate(steps[axis], start=1):
            nodes, counts, _ = kernels.merge_groups(nodes, counts, axis, step)
            yield from look(axis + 1, nodes, counts, (*vector, level))

    yield from look(0, finest.nodes, counts, ())


def _steps(column: PublicColumn) -> Sequence[NDArray[np.int32]]:
    """(level) -> (node) -> the node one level up."""
    steps = []
    for below, above in zip(column.node_of_value[:-1], column.node_of_value[1:], strict=True):
        step = np.arange(len(column.labels), dtype=np.int32)
        step[below] = above
        steps.append(step)
    return steps
