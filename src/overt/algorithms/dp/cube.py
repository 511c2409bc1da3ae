# SPDX-License-Identifier: Apache-2.0
"""DpSampling, DpCube: microdata that is differentially private, with a proof.

Paper       M. Fouad, K. Elbassioni, E. Bertino, "Towards A Differentially Private Data Anonymization", CERIAS 2012-1,
            section 3, whose mechanism is not dp; N. Li, W. Qardaji, D. Su, ASIACCS 2012, for sampling and suppression;
            noisy counts with a threshold after A. Korolova, K. Kenthapadi, N. Mishra, A. Ntoulas, WWW 2009.
Implements  The repaired mechanism: every record is given an element by a rule that knows nothing but the record and what is
            public, is kept with probability s, and elements with fewer than k kept copies are left out
            (DpSampling); what is public can be a noisy cube of counts, paid from the same budget (DpCube),
            with the threshold that a published cube needs, or without.
Departs     From the paper in everything its proof needed: candidates are not the elements frequent in the data, k is
            computed from epsilon and delta exactly, nothing is released of what is left out, and values outside the
            public hierarchies are `*`. The exponential choice is not needed: the best element is as good for dp.
Guarantee   (epsilon, delta)-differential privacy when one record is added or removed, against anyone, whatever they know;
            exact in the coins and in the arithmetic of the parameters, of tables that were read row by row. It speaks of
            one release; budgets of several add up. Proof: docs/guides/differential-privacy.md.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.dp.accounting import Budget, least_tau
from overt.algorithms.dp.elements import Counts, ElementCells, LevelsVector, Records, Support
from overt.algorithms.dp.mechanism import MOST_VECTORS, DpMethod
from overt.algorithms.dp.parameter_proposal import spread_levels
from overt.algorithms.record.methods import External
from overt.errors import InvalidInput, TooLarge
from overt.guarantee import ANYONE, Guarantee
from overt.privacy.base import Number, exact, require_whole
from overt.randomness import Coins, TwoSidedGeometric
from overt.table import Table

PUBLIC_EXTERNAL = "if the external database is public and was not made from the table"


@dataclass(frozen=True, kw_only=True)
class DpSampling(DpMethod):
    """A sample of records, generalized by levels or a database that are public; rows with few copies are left out.

    With one vector of `levels` every record is generalized to it. With an `external` database, which must be public and
    independent of the table, each record gets the best of several vectors by its support in that database; all vectors if none are
    named. `support` is the least count there with which an element may be chosen. By default it is so large that, of as many rows of
    the table, more than k should be kept.
    """

    name: ClassVar[str] = "dp-sampling"

    external: External | str | None = None
    support: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.support is not None:
            require_whole("support", self.support)
            if self.external is None:
                raise InvalidInput("support is counted in an external database, and none is given; leave one out.")

    @property
    def guarantee(self) -> Guarantee:
        """Theorem 1, in which an external database is the same with and without a record; nobody can see that it is."""
        return ANYONE if self.external is None else replace(ANYONE, condition=PUBLIC_EXTERNAL)

    @property
    def facts(self) -> dict[str, str]:
        return super().facts | ({} if self.external is None else {"Holds": PUBLIC_EXTERNAL})

    @property
    def least_support(self) -> int:
        """The count in the external database from which an element may be chosen."""
        usual = ceil(Fraction(3, 2) * self.least_copies / exact(self.s))
        return self.support if self.support is not None else usual

    @property
    def vectors(self) -> tuple[LevelsVector, ...]:
        if self.levels or self.external is None:
            return self.levels
        n_levels = [tree.n_levels for tree in self.trees.values()]
        if prod(n_levels) > MOST_VECTORS:
            raise TooLarge(
                f"There are {prod(n_levels):,} vectors of levels, and at most {MOST_VECTORS:,} are looked at; name some under "
                "levels."
            )
        return tuple(product(*map(range, n_levels)))

    def _require_levels(self) -> None:
        super()._require_levels()
        if self.external is None and len(self.levels) != 1:
            raise InvalidInput(
                f"Without an external database levels takes one vector, and {len(self.levels)} are given: with nothing to "
                "weigh them by, records would all take the same. Give one, or an external database, or use dp-cube."
            )

    def _support(self, table: Table | None, records: Records, coins: Coins) -> list[Support]:
        if self.external is None:
            return [_everyone] * len(self.vectors)
        if isinstance(self.external, str):
            raise InvalidInput(
                f"The external database {self.external!r} is only named; read it with `overt.read_external`, or run the "
                "recipe."
            )
        if table is None:
            raise InvalidInput("An external database is compared with a table in memory, and here are only counts.")
        place = {column.name: j for j, column in enumerate(table.quasi_identifiers)}
        for name in self.trees:
            if name not in place:
                raise InvalidInput(f"The external database has no column {name!r}; it must have every column.")
        others = [self.external.codes[place[name]] for name in self.trees]
        both = Records.of(records.columns, [np.concatenate(pair) for pair in zip(records.values, others, strict=True)])
        return [_counted(both, records.n_records, vector, self.least_support) for vector in self.vectors]


@dataclass(frozen=True, kw_only=True)
class DpCube(DpMethod):
    """A sample of records, generalized with the help of noisy counts of the table; rows with few copies are left out.

    A `share` of epsilon is spent on the cube: for every vector of levels, the counts of all cells with two-sided geometric noise.
    Each record gets the best of its own elements in the cube, so noise is drawn only for cells that contain a record.
    `support` is the least noisy count with which an element may be chosen; the default is large enough that few are left
    out later. With `threshold` the cube could be published itself: it has only occupied cells whose noisy count
    reaches tau, which costs the same share of delta.
    """

    name: ClassVar[str] = "dp-cube"

    share: Number = Fraction(1, 5)
    support: int | None = None
    threshold: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.support is not None:
            require_whole("support", self.support)
        _ = self.noise

    @property
    def cube(self) -> Budget:
        """The part of the budget that the cube uses; no delta, unless it has a threshold."""
        part = self.budget.split(self.share)[0]
        return part if self.threshold else Budget(part.epsilon, Fraction(0))

    @property
    def sampling(self) -> Budget:
        return Budget(self.budget.epsilon - self.cube.epsilon, self.budget.delta - self.cube.delta)

    @cached_property
    def vectors(self) -> tuple[LevelsVector, ...]:
        return self.levels or spread_levels([tree.n_labels or tree.n_levels - 1 for tree in self.trees.values()])

    @property
    def tau(self) -> int | None:
        return least_tau(self.cube.epsilon, self.cube.delta, len(self.vectors)) if self.threshold else None

    @property
    def noise(self) -> TwoSidedGeometric:
        """What is added to the counts of each vector."""
        return TwoSidedGeometric(self.cube.epsilon / len(self.vectors))

    @property
    def least_support(self) -> int:
        """The noisy count from which an element may be chosen."""
        usual = ceil(Fraction(3, 2) * self.least_copies / exact(self.s) + 3 * len(self.vectors) / self.cube.epsilon)
        return max(self.tau or 1, self.support if self.support is not None else usual)

    @property
    def facts(self) -> dict[str, str]:
        return {
            **super().facts,
            "Cube": f"counts at {len(self.vectors)} vectors of levels with two-sided geometric noise of epsilon "
            f"{float(self.noise.epsilon):g} each{f', noted from {self.tau} on' if self.threshold else ''}, which costs {self.cube}; "
            f"elements are chosen from a noisy count of {self.least_support} on",
        }

    def _support(self, table: Table | None, records: Records, coins: Coins) -> list[Support]:
        counts, noise = records.n_rows_of_record, self.noise

        def noisy(cells: ElementCells) -> tuple[Counts, NDArray[np.bool_]]:
            exactly = np.bincount(cells.cell_of_record, counts, cells.n_cells).astype(np.int64)
            with_noise = exactly + noise.draw(cells.n_cells, coins)
            return with_noise, with_noise >= self.least_support

        return [noisy] * len(self.vectors)


def _everyone(cells: ElementCells) -> tuple[Counts, NDArray[np.bool_]]:
    return np.zeros(cells.n_cells, np.int64), np.ones(cells.n_cells, np.bool_)


def _counted(both: Records, n_own: int, vector: LevelsVector, least: int) -> Support:
    """Support in an external database: rows of `both` after the first `n_own` are its records."""

    def counted(cells: ElementCells) -> tuple[Counts, NDArray[np.bool_]]:
        cell_of_row = both.at(vector).cell_of_record[both.record_of_row]
        n_external = np.bincount(cell_of_row[n_own:], minlength=int(cell_of_row.max(initial=-1)) + 1)
        counts = np.zeros(cells.n_cells, np.int64)
        counts[cells.cell_of_record] = n_external[cell_of_row[:n_own]]
        return counts, counts >= least

    return counted
