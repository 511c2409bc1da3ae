# SPDX-License-Identifier: Apache-2.0
"""RecordThreshold, RecordLagrangian: every row of a table at a generalization of its own.

Paper       M. Fouad, K. Elbassioni, E. Bertino, "Towards A Differentially Private Data Anonymization", CERIAS 2012-1.
Implements  Sections 2.1 to 2.5 for all records of a table: the threshold model (exact, genetic, approximate) and the
            Lagrangian model, with the weights of each person from columns of the table.
Departs     All records are solved at once where their vectors of levels are not too many (`cube`).
Guarantee   Of the risk as modelled: it is the least, or in the best balance, for every row by itself. Nothing is
            promised of groups: rows that look alike can be few, or one. A goal beyond 1-anonymity is checked of what
            comes out, and refused if it does not hold.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.record.approx import Approximation
from overt.algorithms.record.generalization_cube import STAGE, Chosen, Cube, LagrangianModel, Model, ThresholdModel
from overt.algorithms.record.genetic import Genetic
from overt.algorithms.record.lagrangian import best_balance, no_weight, require_parameters
from overt.algorithms.record.nodes import Nodes, chain_above, number_rows, tree_of
from overt.algorithms.record.objective import Floats, Objective, Optimum
from overt.algorithms.record.risks import CustomRisk, Harmonic, ModelI, RiskName, require_one_for_each, risk_named
from overt.algorithms.record.threshold import least_risk
from overt.algorithms.record.utilities import CustomUtility, UtilityName, utility_named
from overt.errors import InvalidData, InvalidInput, TooLarge, Unreachable
from overt.guarantee import ONE_ROW_AT_A_TIME, Guarantee
from overt.hierarchy import Hierarchy
from overt.method import Method
from overt.partition import Partition
from overt.privacy.base import Number, Property, exact
from overt.privacy.k_anonymity import KAnonymity
from overt.progress import Progress, silent
from overt.randomness import secret_generator
from overt.release import RecordRelease
from overt.table import Table, unknown_column

MOST_VECTORS = 1 << 16
MOST_WORK = 4_000_000_000  # vectors times groups of records

Solve = Callable[[Objective], Optimum]


@dataclass(frozen=True, eq=False)
class External:
    """What an adversary may hold against a release: records in the codes of the table's quasi-identifiers."""

    codes: Nodes = field(repr=False)  # (quasi-identifier, record)
    source: str = "another table"

    def __post_init__(self) -> None:
        if not self.codes.size:
            raise InvalidInput(
                "The external database is empty, so there is no risk to speak of; give at least one record."
            )

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[1])


@dataclass(frozen=True, kw_only=True)
class _RecordMethod(Method):
    """What both models share.

    Parameters
    ----------
    utility
        What a value is worth: one over its leaves, the logarithm of its leaves, its depth, or a `CustomUtility`.
    risk
        What a value weighs: "I" (its weight, nothing when suppressed), "II" (1/k always), "harmonic", or a model.
    weights
        For each quasi-identifier a number, or the name of a column that holds every person's own; all 1 if not given.
    base
        Added to the sum of weights: what remains when everything is suppressed.
    external
        The records that an adversary compares with, as `overt.read_external` gives them, or in a recipe the name of
        their file; without it, the table itself.
    goal
        Checked of the release, and refused if it does not hold. 1-anonymity always does.

    """

    guarantee: ClassVar[Guarantee] = ONE_ROW_AT_A_TIME

    goal: Property = field(default_factory=lambda: KAnonymity(1))
    utility: UtilityName | CustomUtility = "inverse-leaves"
    risk: RiskName | ModelI | Harmonic | CustomRisk = "I"
    weights: tuple[Number, ...] | None = None  # a text names a column
    base: Number = 0
    external: External | str | None = None

    def __post_init__(self) -> None:
        utility_named(self.utility)
        model = risk_named(self.risk, _number("base", self.base))
        if self.base and not isinstance(self.risk, str):
            raise InvalidInput("The base is given twice: with the risk model and beside it; leave one out.")
        if self.weights is not None and self.risk == "II":
            raise InvalidInput("Risk model II has no weights; leave them out, or choose model I or harmonic.")
        if self.weights is not None:
            object.__setattr__(self, "weights", tuple(self.weights))
            ModelI(tuple(_number("A weight", w) for w in self.weights if not isinstance(w, str)), model.base)

    @property
    def not_promised(self) -> tuple[str, ...]:
        return ("Every row was weighed by itself: nothing is promised of groups.",)

    @property
    def columns_read(self) -> tuple[str, ...]:
        """Columns without a role that the method looks at: those with people's own weights."""
        return tuple(weight for weight in self.weights or () if isinstance(weight, str))

    def _release(
        self,
        table: Table,
        model: Model,
        how: str,
        solve: Solve,
        refusal: Callable[[int], Unreachable],
        on_progress: Progress,
    ) -> RecordRelease:
        people = People.of(table, self)
        if how == "auto":
            how = "cube" if people.n_vectors <= MOST_VECTORS and people.work <= MOST_WORK else "one by one"
        if how == "cube" and people.n_vectors > MOST_VECTORS:
            raise TooLarge(
                f"The records have {people.n_vectors:,} vectors of levels, and all records at once are solved for at most "
                f"{MOST_VECTORS:,}; use solver 'auto', 'genetic' or 'cuts', or fewer attributes."
            )
        if how == "cube":
            solver, chosen = "cube", people.cube.solve([model], on_progress=on_progress)[0]
        else:
            solver, chosen = people.one_by_one(solve, on_progress)
        if not chosen.is_found.all():
            raise refusal(int((~chosen.is_found).sum()))
        number, _ = number_rows(list(chosen.node_of_record), [tree.n_nodes for tree in people.trees])
        partition = Partition(number.astype(np.int32), int(number.max(initial=-1)) + 1)
        release = RecordRelease(
            table,
            partition,
            made_by=self,
            shown=people.shown(chosen.node_of_record, partition),
            risk_of_row=chosen.risk,
            utility_of_row=chosen.utility,
            support_of_row=chosen.support,
            solver=solver,
        )
        if not self.goal.holds(release.groups):
            raise Unreachable(
                f"{self.goal} does not hold of the rows that look alike ({self.goal.describe_measure(release.groups)}): this "
                "method weighs each row by itself. Ask for 1-anonymity, or use a method that makes groups."
            )
        return release


@dataclass(frozen=True, kw_only=True)
class RecordThreshold(_RecordMethod):
    """Each row at the generalization with the least risk among those with utility of at least c.

    `solver` is "auto" (exact: all records at once, or one by one), "cube", "prefix sums", "frontier search", "genetic"
    (heuristic, for many attributes) or "approximation" (Algorithm 1, whose utility may fall somewhat below c).
    """

    name: ClassVar[str] = "record-threshold"

    c: Number
    solver: Literal["auto", "cube", "prefix sums", "frontier search", "genetic", "approximation"] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        _number("c", self.c)
        if self.solver not in ("auto", "cube", "prefix sums", "frontier search", "genetic", "approximation"):
            raise InvalidInput(
                f"There is no solver {self.solver!r}; use 'auto', 'cube', 'prefix sums', 'genetic' or another."
            )

    def anonymize(self, table: Table, *, rng: Generator | None = None, on_progress: Progress = silent) -> RecordRelease:
        """Choose for every row. Only the genetic search and the approximation draw from `rng`."""
        c = _number("c", self.c)
        rng = rng or secret_generator()

        def solve(objective: Objective) -> Optimum:
            if self.solver == "genetic":
                return Genetic().least_risk(objective, c, rng=rng)
            if self.solver == "approximation":
                return Approximation().least_risk(objective, c, rng=rng)
            return least_risk(objective, c, solver="auto" if self.solver == "cube" else self.solver)

        return self._release(table, ThresholdModel(c), self.solver, solve, self._refusal, on_progress)

    def _refusal(self, n_rows: int) -> Unreachable:
        return Unreachable(
            f"A utility of {_number('c', self.c):g} is out of reach for {n_rows:,} rows, even as they are; ask for less, or take "
            "those rows out."
        )


@dataclass(frozen=True, kw_only=True)
class RecordLagrangian(_RecordMethod):
    """Each row at the generalization with the greatest lam / risk + utility ** kappa.

    `solver` is "auto" (all records at once, or one by one), "cube", "prefix sums", "cuts" (any number of attributes,
    whole kappa, needs the extra `flow`) or "minimum norm" (real kappa from 1 on).
    """

    name: ClassVar[str] = "record-lagrangian"

    lam: Number = 1
    kappa: Number = 1
    solver: Literal["auto", "cube", "prefix sums", "cuts", "minimum norm"] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_parameters(_number("lambda", self.lam), _number("kappa", self.kappa))
        if self.solver not in ("auto", "cube", "prefix sums", "cuts", "minimum norm"):
            raise InvalidInput(
                f"There is no solver {self.solver!r}; use 'auto', 'cube', 'prefix sums', 'cuts' or another."
            )

    def anonymize(self, table: Table, *, rng: Generator | None = None, on_progress: Progress = silent) -> RecordRelease:
        """Choose for every row. Nothing is random here: `rng` is accepted and left alone."""
        lam, kappa = _number("lambda", self.lam), _number("kappa", self.kappa)

        def solve(objective: Objective) -> Optimum:
            return best_balance(objective, lam, kappa, solver="auto" if self.solver == "cube" else self.solver)

        return self._release(table, LagrangianModel(lam, kappa), self.solver, solve, lambda n: no_weight(), on_progress)


@dataclass(frozen=True, eq=False)
class People:
    """The records of a table with their weights, and the external records they are compared with."""

    trees: tuple[Hierarchy, ...]
    codes: Nodes  # (attribute, row)
    external: Nodes | None
    utility: "NodeNumbers"
    risk: "NodeNumbers"
    personal: Floats | None  # (row, attribute)

    @classmethod
    def of(cls, table: Table, method: _RecordMethod) -> "People":
        """Read the trees, weights and external records that a method names."""
        columns = table.quasi_identifiers
        trees = tuple(tree_of(column) for column in columns)
        model = risk_named(method.risk, _number("base", method.base))
        weights = method.weights if method.weights is not None else (1,) * len(columns)
        require_one_for_each(weights, trees)
        personal = None
        factors = [1.0 if isinstance(weight, str) else _number("A weight", weight) for weight in weights]
        if method.columns_read:
            personal = np.ones((table.n_rows, len(columns)))
            for j, weight in enumerate(weights):
                if isinstance(weight, str):
                    personal[:, j] = weights_of_column(table, weight)
        numbers = [one * factor for one, factor in zip(model.of_nodes(trees), factors, strict=True)]
        return cls(
            trees,
            np.stack([column.codes for column in columns]),
            _codes_of(method.external, table),
            NodeNumbers(utility_named(method.utility).of_nodes(trees)),
            NodeNumbers(numbers, model.base),
            personal,
        )

    @cached_property
    def cube(self) -> Cube:
        return Cube.of(self.trees, self.codes, self.external, self.utility, self.risk, self.personal)

    @property
    def n_vectors(self) -> int:
        return int(np.prod([float(tree.n_levels) for tree in self.trees]))

    @property
    def work(self) -> int:
        return self.n_vectors * self.cube.finest.counts.size

    def one_by_one(self, solve: Solve, on_progress: Progress) -> tuple[str, Chosen]:
        """Solve every different record by itself; and how."""
        alike, n_people, some_row = self.distinct()
        external = (self.codes if self.external is None else self.external).T
        solvers: set[str] = set()
        nodes = np.empty((len(self.trees), n_people), np.int32)
        numbers = np.empty((3, n_people))
        for person, row in enumerate(some_row):
            own = None if self.personal is None else self.personal[row]
            objective = Objective.of(self.trees, self.codes[:, row], external, self.utility, self.risk, own)
            optimum = solve(objective)
            solvers.add(optimum.solver)
            chains = [chain_above(tree, int(code)) for tree, code in zip(self.trees, self.codes[:, row], strict=True)]
            nodes[:, person] = [chain[level] for chain, level in zip(chains, optimum.levels, strict=True)]
            numbers[:, person] = optimum.support, optimum.risk, optimum.utility
            on_progress(STAGE, person + 1, n_people)
        support, risk, utility = numbers[:, alike]
        found = np.ones(alike.size, np.bool_)
        return " and ".join(sorted(solvers)), Chosen(nodes[:, alike], support.astype(np.int64), risk, utility, found)

    def distinct(self) -> tuple[NDArray[np.int64], int, NDArray[np.int64]]:
        """(row) -> person, how many people differ in values or weights, and a row of each."""
        columns: list[NDArray[np.integer]] = list(self.codes)
        sizes = [tree.n_nodes for tree in self.trees]
        if self.personal is not None:
            for own in self.personal.T:
                columns.append(np.unique(own, return_inverse=True)[1].reshape(-1))
                sizes.append(own.size)
        alike, n_people = number_rows(columns, sizes)
        some_row = np.empty(n_people, np.int64)
        some_row[alike[::-1]] = np.arange(alike.size)[::-1]
        return alike, n_people, some_row

    def shown(self, node_of_row: Nodes, partition: Partition) -> NDArray[np.int32]:
        """(attribute, group, 2) -> the least and the greatest code of the node that a group shows."""
        some_row = partition.rows[partition.starts[:-1]]
        shown = np.empty((len(self.trees), partition.n_groups, 2), np.int32)
        for j, tree in enumerate(self.trees):
            nodes = node_of_row[j, some_row]
            shown[j, :, 0] = tree.first_leaf_of_node[nodes]
            shown[j, :, 1] = tree.first_leaf_of_node[nodes] + tree.n_leaves_of_node[nodes] - 1
        return shown


@dataclass(frozen=True, eq=False)
class NodeNumbers:
    """NodeNumbers of nodes that are known already: a utility or a risk model for the same trees."""

    of_attribute: list[Floats] = field(repr=False)
    base: float = 0.0

    def of_nodes(self, trees: object) -> list[Floats]:
        """(attribute)(node) -> its number."""
        return self.of_attribute


def weights_of_column(table: Table, name: str) -> Floats:
    """Every person's own weight, from a column without a role."""
    if name not in table.others.columns:
        raise unknown_column(name, table.others.columns)
    column = table.others.get_column(name)
    if column.dtype in (pl.Categorical, pl.Enum):  # texts of a file
        column = column.cast(pl.String)
    column = column.cast(pl.Float64, strict=False)
    n_missing = column.null_count() + int(column.is_nan().sum())
    if n_missing:
        raise InvalidData(
            f"Column {name!r} has no weight in {n_missing:,} rows; give a number of at least 0 for everyone."
        )
    if len(column) and column.min() < 0:  # type: ignore[operator]
        raise InvalidInput(f"Column {name!r} has negative weights; give numbers of at least 0.")
    return column.to_numpy().astype(np.float64)


def _codes_of(external: External | str | None, table: Table) -> Nodes | None:
    if isinstance(external, str):
        raise InvalidInput(
            f"The external database {external!r} is only named; read it with `overt.read_external`, or run the recipe."
        )
    if external is None:
        return None
    if external.codes.shape[0] != len(table.quasi_identifiers):
        raise InvalidInput("The external database has other columns than the table has quasi-identifiers.")
    for column, codes in zip(table.quasi_identifiers, external.codes, strict=True):
        if codes.min() < 0 or codes.max() >= column.n_values:
            raise InvalidInput(
                f"The external database has codes of {column.name!r} that the table does not know; use the table that "
                "`overt.read_external` returned with it."
            )
    return external.codes


def _number(name: str, number: Number) -> float:
    try:
        return float(exact(number))
    except InvalidInput:
        raise InvalidInput(f"{name} is {number!r}; a finite number is expected.") from None
