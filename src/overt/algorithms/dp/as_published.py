# SPDX-License-Identifier: Apache-2.0
"""Algorithms 3 and 4 as published: they claim differential privacy and do not have it. For study, never for people's data.

Paper       M. Fouad, K. Elbassioni, E. Bertino, "Towards A Differentially Private Data Anonymization", CERIAS 2012-1.
Implements  Section 3.3, Algorithm 3: t-frequent elements, every record dropped with probability beta, an exponential choice
            for the others, in the Lagrangian and the threshold model; section 3.4, Algorithm 4 in place of that choice.
Departs     The constant extra element that the paper adds to every output is left out: it says nothing. Without a t, the
            least that meets condition (10) is taken. Conditions that are not met are shown and not enforced.
Guarantee   None. Theorem 4(i) claims (epsilon, delta)-differential privacy and is false: an element that is t-frequent only
            because of one person can be published only if that person is there (docs/research/published-dp.md). With all
            conditions met for delta = 0.01, the true delta of the smallest example is 0.99975.
"""

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.dp.conditions import (
    Conditions,
    LagrangianParameters,
    ThresholdParameters,
    require_frequency,
)
from overt.algorithms.dp.element_draws import Drawn, Rows, draw_elements, draw_points
from overt.algorithms.dp.exponential import ExponentialChoice, no_weight
from overt.algorithms.dp.sample_point import SamplePoint
from overt.algorithms.record.generalization_cube import LagrangianModel, ThresholdModel
from overt.algorithms.record.lagrangian import require_parameters
from overt.algorithms.record.methods import People
from overt.algorithms.record.nodes import number_rows
from overt.algorithms.record.objective import risk_of
from overt.algorithms.record.risks import CustomRisk, Harmonic, ModelI, RiskName, risk_named
from overt.algorithms.record.utilities import CustomUtility, UtilityName, utility_named
from overt.errors import InvalidInput
from overt.guarantee import NO_GUARANTEE, Guarantee
from overt.method import Method
from overt.partition import Partition
from overt.privacy.base import Number, Property, exact
from overt.privacy.k_anonymity import KAnonymity
from overt.progress import Progress, silent
from overt.release import RecordRelease
from overt.table import Table

NOT_DP = (
    "NOT differentially private. The theorem behind this method is false: whether one person is in the data can be read off "
    "the release almost surely, with every published condition met. For study only; see docs/research/published-dp.md."
)


@dataclass(frozen=True, eq=False)
class NotDpRelease(RecordRelease):
    """Rows that the published mechanism kept, each at an element drawn for it; the others are in no group."""

    conditions: Conditions

    @property
    def remarks(self) -> dict[str, str]:
        """The conditions of the paper, one by one."""
        return {f"Needs {i}": f"{part}" for i, part in enumerate(self.conditions, start=1)}

    @property
    def cautions(self) -> tuple[str, ...]:
        return (NOT_DP, *super().cautions)


@dataclass(frozen=True, kw_only=True)
class _Published(Method):
    """What the published mechanisms share.

    Parameters
    ----------
    i_know_it_is_not_dp
        Must be true. The published guarantee does not hold.
    epsilon, delta
        What the paper claims; nothing of the kind is true.
    beta
        The probability that a row is dropped, at least e^-epsilon; without it 1.5 e^-epsilon, at most 0.9.
    tau1
        A constant of condition (10).
    utility, risk, weights, base
        As for `RecordLagrangian`; the table itself is the external database. Weights must not be 0 anywhere.
    goal
        1-anonymity; nothing more is promised, nor that.

    """

    max_suppressed: ClassVar[int] = 1  # rows may be dropped, all of them
    generalizes_every_column: ClassVar[bool] = True
    guarantee: ClassVar[Guarantee] = replace(
        NO_GUARANTEE,
        besides="the differential privacy that the paper claims does not hold (docs/research/published-dp.md)",
    )

    goal: Property = field(default_factory=lambda: KAnonymity(1))
    i_know_it_is_not_dp: bool = False
    epsilon: Number = 1
    delta: Number = 0.01
    beta: Number | None = None
    tau1: Number = 0.5
    utility: UtilityName | CustomUtility = "depth"
    risk: RiskName | ModelI | Harmonic | CustomRisk = "II"
    weights: tuple[Number, ...] | None = None
    base: Number = 0

    def __post_init__(self) -> None:
        if self.i_know_it_is_not_dp is not True:
            raise InvalidInput(
                f"{type(self).__name__} is not differentially private, whatever its paper says. To study it, set "
                "i_know_it_is_not_dp to true; for people's data use a method that is."
            )
        utility_named(self.utility)
        risk_named(self.risk, float(exact(self.base)))
        if self.weights is not None:
            object.__setattr__(self, "weights", tuple(self.weights))

    @property
    def not_promised(self) -> tuple[str, ...]:
        return (NOT_DP,)

    @property
    def claimed_budget(self) -> tuple[Number, Number]:
        return self.epsilon, self.delta

    @property
    def columns_read(self) -> tuple[str, ...]:
        """Columns without a role that the method looks at: those with people's own weights."""
        return tuple(weight for weight in self.weights or () if isinstance(weight, str))

    @property
    def drop(self) -> float:
        """Beta, as given or by default."""
        return (
            float(exact(self.beta)) if self.beta is not None else min(0.9, 1.5 * math.exp(-float(exact(self.epsilon))))
        )

    def _numbers(self, people: People) -> dict[str, float]:
        """What the conditions are computed from; personal weights count with the least and the greatest factor."""
        k = len(people.trees)
        least, most = (np.ones(k), np.ones(k)) if people.personal is None else _extremes(people.personal)
        weights = people.risk.of_attribute
        return {
            "k": k,
            "h": max(tree.n_levels for tree in people.trees),
            "phi_l": people.risk.base + sum(float(w.min()) * f for w, f in zip(weights, least, strict=True)),
            "phi_u": people.risk.base + sum(float(w.max()) * f for w, f in zip(weights, most, strict=True)),
            "nu": sum(float(worth.max()) for worth in people.utility.of_attribute),
        }

    def _shared(self, people: People) -> dict[str, float]:
        numbers = self._numbers(people)
        return {
            "epsilon": float(exact(self.epsilon)),
            "delta": float(exact(self.delta)),
            "beta": self.drop,
            "tau1": float(exact(self.tau1)),
            "size": people.codes.shape[1],
            "k": numbers["k"],
            "h": numbers["h"],
        }

    def _release(
        self, table: Table, people: People, kept: Rows, drawn: Drawn, conditions: Conditions, how: str
    ) -> RecordRelease:
        nodes, support_of_kept = drawn
        number, n_groups = number_rows(list(nodes), [tree.n_nodes for tree in people.trees])
        group_of_row = np.full(table.n_rows, -1, np.int32)
        group_of_row[kept] = number
        partition = Partition(group_of_row, n_groups)
        node_of_row = np.zeros((len(people.trees), table.n_rows), np.int32)
        node_of_row[:, kept] = nodes
        phi, utility, support = np.zeros(table.n_rows), np.zeros(table.n_rows), np.zeros(table.n_rows, np.int64)
        support[kept] = support_of_kept
        phi[kept] = people.risk.base
        for j, (weight, worth) in enumerate(zip(people.risk.of_attribute, people.utility.of_attribute, strict=True)):
            own = 1.0 if people.personal is None else people.personal[kept, j]
            phi[kept] += weight[nodes[j]] * own
            utility[kept] += worth[nodes[j]]
        return NotDpRelease(
            table,
            partition,
            made_by=self,
            shown=people.shown(node_of_row, partition),
            risk_of_row=risk_of(phi, support),
            utility_of_row=utility,
            support_of_row=support,
            solver=how,
            conditions=conditions,
        )

    def _kept(self, n_rows: int, rng: Generator) -> Rows:
        """Step 3: every record stays with probability 1 - beta."""
        return np.flatnonzero(rng.binomial(1, 1 - self.drop, size=n_rows))


@dataclass(frozen=True, kw_only=True)
class _Lagrangian(_Published):
    """What Algorithms 3 and 4 share for the Lagrangian model."""

    lam: Number = 1
    kappa: Number = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_parameters(float(exact(self.lam)), float(exact(self.kappa)))

    def parameters(self, people: People) -> LagrangianParameters:
        """Eta, epsilon' and the bounds on t and on the size, for these people."""
        numbers = self._numbers(people)
        if not numbers["phi_l"] > 0:
            raise no_weight()
        return LagrangianParameters(
            **self._shared(people),  # type: ignore[arg-type]
            lam=float(exact(self.lam)),
            kappa=float(exact(self.kappa)),
            phi_l=numbers["phi_l"],
            nu=numbers["nu"],
        )


@dataclass(frozen=True, kw_only=True)
class Algorithm3(_Lagrangian):
    """Algorithm 3 for the Lagrangian model, as published: not dp. Elements are drawn by lam / risk + utility ** kappa.

    `t` is how many rows an element must generalize; without it, the least that condition (10) allows.
    """

    name: ClassVar[str] = "algorithm-3-as-published-not-dp"

    t: int | None = None

    def anonymize(self, table: Table, *, rng: Generator | None = None, on_progress: Progress = silent) -> RecordRelease:
        """Drop rows at random and draw an element for each of the others."""
        people = _people(table, self)
        parameters = self.parameters(people)
        t = parameters.least_t if self.t is None else self.t
        require_frequency(t, table.n_rows)
        choice = ExponentialChoice(LagrangianModel(parameters.lam, parameters.kappa), t, parameters.epsilon_prime)
        rng = rng or np.random.default_rng()
        kept = self._kept(table.n_rows, rng)
        drawn = draw_elements(people, choice, kept, rng, on_progress)
        return self._release(table, people, kept, drawn, parameters.conditions(t), "Algorithm 3")


@dataclass(frozen=True, kw_only=True)
class Algorithm3Threshold(_Published):
    """Algorithm 3 for the threshold model, as published: not dp. Elements of utility c or more are drawn by their risk."""

    name: ClassVar[str] = "algorithm-3-threshold-as-published-not-dp"

    c: Number
    t: int  # how many rows an element must generalize; condition (10) depends on it on both sides

    def parameters(self, people: People) -> ThresholdParameters:
        """Eta, epsilon' and the bounds on t and on the size, for these people."""
        return ThresholdParameters(**self._shared(people), phi_u=self._numbers(people)["phi_u"], t=self.t)  # type: ignore[arg-type]

    def anonymize(self, table: Table, *, rng: Generator | None = None, on_progress: Progress = silent) -> RecordRelease:
        """Drop rows at random and draw an element for each of the others."""
        people = _people(table, self)
        parameters = self.parameters(people)
        choice = ExponentialChoice(ThresholdModel(float(exact(self.c))), self.t, parameters.epsilon_prime)
        rng = rng or np.random.default_rng()
        kept = self._kept(table.n_rows, rng)
        drawn = draw_elements(people, choice, kept, rng, on_progress)
        return self._release(table, people, kept, drawn, parameters.conditions(), "Algorithm 3")


@dataclass(frozen=True, kw_only=True)
class Algorithm4(_Lagrangian):
    """Algorithm 3 with Algorithm 4 as its sampler, as published: not dp. For records with many generalizations.

    `theta` is the share of all rows that an element must generalize in the mean, and `sigma` the part of that which is
    asked of what is drawn; `epsilon_second` is the ratio between two layers of weight less 1. Needs the extra `flow`.
    """

    name: ClassVar[str] = "algorithm-4-as-published-not-dp"

    theta: Number = 0.5
    sigma: Number = 0.5
    epsilon_second: Number = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, number in (("theta", self.theta), ("sigma", self.sigma), ("epsilon_second", self.epsilon_second)):
            if not 0 < exact(number) < 1:
                raise InvalidInput(f"{name} is {number!r}; a number between 0 and 1 is expected.")

    def anonymize(self, table: Table, *, rng: Generator | None = None, on_progress: Progress = silent) -> RecordRelease:
        """Drop rows at random and draw an element for each of the others."""
        people = _people(table, self)
        parameters = self.parameters(people)
        t = float(exact(self.theta)) * table.n_rows
        sampler = SamplePoint(
            lam=parameters.lam,
            kappa=parameters.kappa,
            size=table.n_rows,
            epsilon_prime=parameters.epsilon_prime,
            epsilon_second=float(exact(self.epsilon_second)),
            phi_l=parameters.phi_l,
            t=t,
            sigma=float(exact(self.sigma)),
        )
        rng = rng or np.random.default_rng()
        kept = self._kept(table.n_rows, rng)
        drawn = draw_points(people, sampler, kept, rng, on_progress)
        return self._release(table, people, kept, drawn, parameters.conditions(math.floor(t)), "Algorithm 4")


def _people(table: Table, method: "Algorithm3 | Algorithm3Threshold | Algorithm4") -> People:
    if table.sensitive:
        names = ", ".join(repr(column.name) for column in table.sensitive)
        raise InvalidInput(
            f"The mechanism publishes generalizations and nothing beside them, and {names} would be attached as it is; give the "
            "column the role 'quasi-identifier' and a hierarchy, or leave it out."
        )
    if not table.n_rows:
        raise InvalidInput("The table has no rows; there is nothing to release.")
    return People.of(table, method)  # type: ignore[arg-type]


def _extremes(personal: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return personal.min(axis=0), personal.max(axis=0)
