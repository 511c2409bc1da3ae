# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/dp/test_cube.py
"""What the dp mechanisms share: parameters that are settled before the data is seen, then choose, sample, suppress.

Nothing here fails because of a row. Whatever is refused is refused for its parameters, or for the names of columns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.dp.accounting import Budget, exact_delta, least_k
from overt.algorithms.dp.elements import (
    CountedRecords,
    Counts,
    ElementCells,
    LevelsVector,
    Records,
    Support,
    Worth,
    padded,
)
from overt.algorithms.record.generalization_cube import LagrangianModel, Model, ThresholdModel
from overt.algorithms.record.lagrangian import require_parameters
from overt.algorithms.record.risks import RiskName, require_one_for_each, require_weights
from overt.algorithms.record.utilities import UtilityName
from overt.errors import InvalidInput, TooLarge
from overt.guarantee import ANYONE, Guarantee
from overt.hierarchy import Builder
from overt.hierarchy.value_rules import Floats, PublicColumn, PublicTree, public_tree
from overt.method import Method
from overt.partition import Partition
from overt.privacy.base import Number, exact, require_number, require_whole
from overt.privacy.k_anonymity import KAnonymity
from overt.progress import Progress, silent
from overt.randomness import Coins, coins_of, toss, toss_each
from overt.release import DpRelease
from overt.table import Codes, Table

MOST_VECTORS = 1024
STAGE = "Choosing elements"


@dataclass(frozen=True, eq=False)
class ShownElements:
    """All that a release shows: its elements, and how often each of them stands in it."""

    labels: Mapping[str, tuple[str, ...]] = field(repr=False)  # (column) -> (element) -> label
    copies: Counts = field(repr=False)
    facts: Mapping[str, str] = field(repr=False)
    coins: str  # "secret", or "seeded" if someone could repeat them

    @property
    def n_rows(self) -> int:
        return int(self.copies.sum())


@dataclass(frozen=True, kw_only=True)
class DpMethod(Method):
    """What both mechanisms share.

    Parameters
    ----------
    epsilon, delta
        What the release costs, altogether.
    s
        The probability with which each record is kept; at most 1 - exp(-epsilon).
    k
        Elements with fewer kept copies are left out; computed if not given, and refused if it is too small.
    hierarchies
        A public hierarchy for every column, which says what may be released of it; all columns are generalized by
        theirs, and none is released beside them. In a recipe they stand with the columns.
    levels
        The vectors of levels that may be released, one level for each column in the order of `hierarchies`; 0 is exact.
    utility, risk, weights, base
        As in `RecordLagrangian`; leaves can only be counted where the hierarchies list their values.
    lam, kappa, c
        An element is chosen for the greatest lam * support / weight + utility ** kappa, or, with c, for the least risk
        among those of utility at least c. By default the most useful one that has enough support.

    """

    is_dp: ClassVar[bool] = True
    max_suppressed: ClassVar[int] = 1  # any row may be left out: who is, nobody can tell
    _most_vectors: ClassVar[int] = MOST_VECTORS

    epsilon: Number
    delta: Number
    s: Number
    k: int | None = None
    hierarchies: Mapping[str, Builder] = field(default_factory=dict, hash=False)
    levels: tuple[tuple[int, ...], ...] = ()
    utility: UtilityName = "depth"
    risk: RiskName = "II"
    weights: tuple[Number, ...] | None = None
    base: Number = 0
    lam: Number = 0
    kappa: Number = 1
    c: Number | None = None

    def __post_init__(self) -> None:
        Budget.of(self.epsilon, self.delta)
        if not self.hierarchies:
            raise InvalidInput(
                "A differentially private release needs a public hierarchy for every column, and none is given."
            )
        object.__setattr__(self, "hierarchies", dict(self.hierarchies))
        object.__setattr__(self, "levels", tuple(tuple(vector) for vector in self.levels))
        _ = self.trees
        self._require_levels()
        self._require_sense()
        least = least_k(self.sampling.epsilon, self.sampling.delta, self.s)
        if self.k is not None:
            require_whole("k", self.k)
            if self.k < least:
                raise InvalidInput(
                    f"k is {self.k}, and {self.sampling} with s {float(exact(self.s)):g} needs at least {least}; leave k out."
                )

    @property
    def budget(self) -> Budget:
        """What a release costs."""
        return Budget.of(self.epsilon, self.delta)

    @property
    def claimed_budget(self) -> tuple[Number, Number]:
        return self.epsilon, self.delta

    @property
    def tau(self) -> int | None:
        """The noisy count that a cell needs to be in a cube with a threshold; None if there is none."""
        return None

    @property
    def sampling(self) -> Budget:
        """The part of the budget that sampling and suppression use."""
        return self.budget

    @cached_property
    def least_copies(self) -> int:
        """The number of kept copies below which an element is left out."""
        return self.k or least_k(self.sampling.epsilon, self.sampling.delta, self.s)

    @property
    def goal(self) -> KAnonymity:
        """What every release also satisfies: nothing in it stands fewer than k times."""
        return KAnonymity(self.least_copies)

    @cached_property
    def trees(self) -> dict[str, PublicTree]:
        """The public rules of the columns."""
        return {name: public_tree(builder, name) for name, builder in self.hierarchies.items()}

    @property
    def vectors(self) -> tuple[LevelsVector, ...]:
        """The vectors of levels that may be released."""
        return self.levels

    @property
    def guarantee(self) -> Guarantee:
        """(epsilon, delta), by the proofs in docs/guides/differential-privacy.md."""
        return ANYONE

    @property
    def facts(self) -> dict[str, str]:
        """Everything that was decided before the data was seen, in words."""
        sampling = self.sampling
        true = exact_delta(self.least_copies, self.s, sampling.epsilon)
        return {
            "Budget": f"{self.budget} (one record added or removed)",
            "Sampling": f"each record is kept with probability {float(exact(self.s)):g}; elements with fewer than "
            f"{self.least_copies} kept copies are left out, which costs {Budget(sampling.epsilon, Fraction(true))}",
        }

    def anonymize(
        self, table: Table, *, rng: Generator | Coins | None = None, on_progress: Progress = silent
    ) -> DpRelease:
        """Make a release. Without `rng` the coins are the system's; a generator that could be repeated is for tests."""
        coins = coins_of(rng)
        self._require_columns(table)
        on_progress(STAGE, 0, 0)
        columns = [PublicColumn.of(tree, table.column(name).values) for name, tree in self.trees.items()]
        records = Records.of(columns, [table.column(name).codes for name in self.trees])
        elements, is_found = self._choose(table, columns, records, coins)
        on_progress("Sampling", 0, 0)
        element_of_row = elements.cell_of_record[records.record_of_row]
        kept = toss(table.n_rows, exact(self.s), coins) & is_found[records.record_of_row]
        return self._release(table, columns, elements, element_of_row, kept, coins)

    def release_counts(
        self, records: CountedRecords, *, rng: Generator | Coins | None = None, on_progress: Progress = silent
    ) -> ShownElements:
        """What a release of a table shows in which each record occurs so often: with the same coins for its rows, one record after the other, the same.

        An element depends on the record and not on the row, and every row has a coin of its own: how many copies of an element are kept
        follows from how many rows there are of each record, so that their number is all that has to be known of them.
        """
        coins = coins_of(rng)
        on_progress(STAGE, 0, 0)
        elements, is_found = self._choose(None, records.columns, records, coins)
        on_progress("Sampling", 0, 0)
        kept = np.where(is_found, toss_each(records.counts, exact(self.s), coins), 0)
        copies = np.zeros(elements.n_cells, np.int64)
        np.add.at(copies, elements.cell_of_record, kept)
        is_shown = copies >= self.least_copies
        return ShownElements(
            self._labels(records.columns, elements.nodes[is_shown]), copies[is_shown], self.facts, coins.source
        )

    def _choose(
        self, table: Table | None, columns: Sequence[PublicColumn], records: Records, coins: Coins
    ) -> tuple[ElementCells, NDArray[np.bool_]]:
        """The element of every distinct record, and whether it has one. The table is looked at only beside an external database."""
        support = self._support(table, records, coins)
        return records.choose(self.vectors, support, self._model(), self._worth(columns))

    def _release(
        self,
        table: Table,
        columns: Sequence[PublicColumn],
        elements: ElementCells,
        element_of_row: NDArray[np.int32],
        kept: NDArray[np.bool_],
        coins: Coins,
    ) -> DpRelease:
        copies = np.bincount(element_of_row[kept], minlength=elements.n_cells)
        is_shown = copies >= self.least_copies
        group_of_element = np.where(is_shown, np.cumsum(is_shown) - 1, -1).astype(np.int32)
        group_of_row = np.where(kept, group_of_element[element_of_row], np.int32(-1)) if kept.size else element_of_row
        return DpRelease(
            table,
            Partition(group_of_row, int(is_shown.sum())),
            made_by=self,
            labels_of_group=self._labels(columns, elements.nodes[is_shown]),
            facts=self.facts,
            coins=coins.source,
        )

    def _labels(self, columns: Sequence[PublicColumn], shown: Codes) -> dict[str, tuple[str, ...]]:
        """(column) -> (element) -> label, of (element, column) -> node."""
        return {
            name: tuple(column.labels[node] for node in shown[:, j])
            for j, (name, column) in enumerate(zip(self.trees, columns, strict=True))
        }

    def _support(self, table: Table | None, records: Records, coins: Coins) -> list[Support]:
        raise NotImplementedError

    def _model(self) -> Model:
        if self.c is not None:
            return ThresholdModel(float(exact(self.c)))
        return LagrangianModel(float(exact(self.lam)), float(exact(self.kappa)))

    def _worth(self, columns: Sequence[PublicColumn]) -> Worth:
        utilities = {
            "depth": lambda column: column.depth_of_node,
            "inverse-leaves": lambda column: 1 / column.leaves_of_node,
            "log-leaves": lambda column: np.log(column.leaves_of_node[column.root] / column.leaves_of_node),
        }
        factors = [1.0] * len(columns) if self.weights is None else [float(exact(weight)) for weight in self.weights]
        weights = [
            factor * self._weights_of(column, len(columns)) for factor, column in zip(factors, columns, strict=True)
        ]
        return Worth(
            padded(weights), padded([utilities[self.utility](column) for column in columns]), float(exact(self.base))
        )

    def _weights_of(self, column: PublicColumn, n_columns: int) -> Floats:
        if self.risk == "II":
            return np.full(len(column.labels), 1 / n_columns)
        weights = np.ones(len(column.labels)) if self.risk == "I" else 1 / column.leaves_of_node
        weights[column.root] = 0
        return weights

    def _require_columns(self, table: Table) -> None:
        """Every column that has a role is generalized, and nothing that is not there: names are public.

        The table must have been read so that no row had a say in how another was.
        """
        if not table.row_by_row:
            raise InvalidInput(
                "The table was read as a whole: its kinds, numbers and encoding were found from all rows, so that one row more "
                "can change how others are released. Read it with row_by_row=True."
            )
        names = {column.name for column in table.columns}
        for name in sorted(names - set(self.hierarchies)):
            public_tree(None, name)
        for name in self.hierarchies:
            table.column(name)

    def _require_levels(self) -> None:
        tops = [tree.n_levels - 1 for tree in self.trees.values()]
        for vector in self.levels:
            whole = all(isinstance(level, Integral) and not isinstance(level, bool) for level in vector)
            if not whole or len(vector) != len(tops) or not all(0 <= v <= t for v, t in zip(vector, tops, strict=True)):
                highest = ", ".join(f"{name} {top}" for name, top in zip(self.trees, tops, strict=True))
                raise InvalidInput(
                    f"levels holds {list(vector)!r}; a whole number is expected for each column, from 0 to its highest "
                    f"level ({highest})."
                )
        if len(self.vectors) > self._most_vectors:
            raise TooLarge(
                f"There are {len(self.vectors):,} vectors of levels, and at most {self._most_vectors:,} are looked at; name some "
                "under levels."
            )

    def _require_sense(self) -> None:
        require_parameters(float(exact(self.lam)), float(exact(self.kappa)))
        if self.risk not in ("I", "II", "harmonic"):
            raise InvalidInput(f"There is no risk model {self.risk!r}; choose one of I, II, harmonic.")
        if self.utility not in ("depth", "inverse-leaves", "log-leaves"):
            raise InvalidInput(
                f"There is no utility {self.utility!r}; choose one of depth, inverse-leaves, log-leaves."
            )
        require_number("base", self.base, least=0)
        if self.c is not None:
            require_number("c", self.c, least=0)
        if self.weights is not None:
            object.__setattr__(self, "weights", tuple(self.weights))
            require_weights([float(exact(weight)) for weight in self.weights])
            require_one_for_each(self.weights, list(self.trees.values()))  # type: ignore[arg-type]
        if self.risk == "harmonic" or self.utility != "depth":
            for tree in self.trees.values():
                _ = PublicColumn(tree, [tree.root], np.zeros((tree.n_levels, 0), np.int32)).leaves_of_node
