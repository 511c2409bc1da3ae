# SPDX-License-Identifier: Apache-2.0
"""Strata by a pilot: a tree grown by looking at some people's values, to divide the others, who are published.

Paper       Ours: Theorem S and the paragraph on pilots in docs/theory/safety.md.
Implements  Top-down cuts of the pilot by quasi-identifiers, each the one that tells most about the sensitive values among those after which
            both sides can still be planned, with a margin.
Departs     nothing.
Guarantee   Given the pilot, the tree is fixed; so nothing about people outside it, if they alone are published. Of the pilot itself the tree says at most as
            many bits as it has. A cut needs many of the pilot on both sides, and the goal has to hold of every one of
            many resamples of both sides' counts, so that no cut hangs on one person.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.blind_buckets.deal import Values
from overt.algorithms.blind_buckets.plan import whole_strata, why_not
from overt.algorithms.blind_buckets.strata import Among, Halvings, StrataTree, UpTo, quasi_identifiers_of
from overt.errors import InvalidInput, Unreachable
from overt.partition import Counts
from overt.privacy.base import Property, require_whole
from overt.privacy.beta_likeness import BetaLikeness
from overt.privacy.delta_disclosure import DeltaDisclosure
from overt.privacy.relative_risk import RelativeRisk
from overt.table import Codes, Column, Kind, Table

N_RESAMPLES = 100
ANY_BOX = 1 << 30  # k-anonymity is asked of boxes, which are another matter


def grow_strata(
    pilot: Table,
    goal: Property,
    *,
    rng: Generator,
    least_rows: int = 60,
    most_strata: int = 64,
    columns: tuple[str, ...] = (),
) -> StrataTree:
    """Strata for people who are not in the pilot, as fine as the pilot says that the goal allows.

    It trusts the pilot: a goal that limits every value beside the whole table can still be refused for the others, if some have a value that nobody of
    the pilot has.

    Parameters
    ----------
    pilot
        People drawn at random. They must not be published.
    goal
        What every bucket of the release must satisfy.
    rng
        The coins of the resamples.
    least_rows
        How many of the pilot every stratum has at least.
    most_strata
        Where to stop.
    columns
        The quasi-identifiers that may be asked about; without names all.


    >>> import numpy as np
    >>> import overt
    >>> people = overt.samples.census(2_000)
    >>> pilot = overt.read_frame(people, quasi_identifiers=["Age", "Gender"], sensitive=["Income"])
    >>> tree = grow_strata(pilot, overt.FrequencyLDiversity(3), rng=np.random.default_rng(1), most_strata=2)
    >>> 1 <= tree.most_strata <= 2
    True

    """
    require_whole("least_rows", least_rows, least=2)
    require_whole("most_strata", most_strata)
    if not pilot.sensitive:
        raise InvalidInput(
            "The pilot has no sensitive column, and strata are chosen by its values; give one the role 'sensitive'."
        )
    values = Values.of(pilot.sensitive)
    everyone = np.bincount(values.value_of_row, minlength=values.n_values)[None]
    if not pilot.n_rows or not goal.holds(whole_strata(values, everyone, ANY_BOX)):
        why = why_not(values, everyone, goal, ANY_BOX) if pilot.n_rows else "it has no rows"
        raise Unreachable(f"The pilot says that there is no release: {why}")
    grower = _Grower(quasi_identifiers_of(pilot, columns), values, goal, least_rows, rng)
    leaves: dict[int, _Leaf] = {0: grower.leaf(np.arange(pilot.n_rows, dtype=np.int32))}
    cuts: dict[int, tuple[UpTo | Among, int, int]] = {}
    while len(leaves) < most_strata:
        best = max(leaves, key=lambda number: leaves[number].gain)
        cut = leaves[best]
        if cut.question is None:
            break
        yes, no = 2 * best + 1, 2 * best + 2
        del leaves[best]
        leaves[yes], leaves[no] = grower.leaf(cut.yes), grower.leaf(cut.no)
        cuts[best] = (cut.question, yes, no)
    return _tree(cuts, 0)


def halvings_for(pilot: Table, goal: Property, *, rng: Generator, least_rows: int = 60) -> Halvings:
    """How often people who are not in the pilot may be halved, as the pilot says: a single number is all that is chosen.

    The strata are those halves. Every one must hold `least_rows` of the pilot, and the goal must hold of all of them, for every depth up to
    this one and in every resample of their counts. It must also bear a value that nobody of the pilot has and that stands in one stratum alone: among
    the others there may be a few such people, with a missing value say, and a refusal of the others is for good.
    """
    require_whole("least_rows", least_rows, least=2)
    values, depth = Values.of(pilot.sensitive), 0
    grower = _Grower(pilot.quasi_identifiers, values, goal, least_rows, rng)
    while True:
        strata = Halvings(depth + 1).divide(pilot)
        parts = [values.value_of_row[strata.group_of_row == s] for s in range(strata.n_groups)]
        if strata.n_groups < 2 ** (depth + 1) or min(part.size for part in parts) < least_rows:
            return Halvings(depth)
        if not all(bears_unseen_value(goal, part.size, pilot.n_rows) for part in parts):
            return Halvings(depth)
        if not all(grower.can_be_planned(part) for part in parts):
            return Halvings(depth)
        depth += 1


def bears_unseen_value(goal: Property, n_rows: int, n_all: int) -> bool:
    """Whether a stratum that has so many of the pilot satisfies the goal if somebody has a value there that nobody has in other strata.

    Of the others it may have a smaller share: by three standard errors, that is counted on.
    """
    few = Fraction(n_rows - 3 * n_rows**0.5)
    for part in goal.parts:
        if isinstance(part, DeltaDisclosure):
            return False  # it wants every value everywhere
        if isinstance(part, BetaLikeness | RelativeRisk) and few * part.share_bounds(Fraction(1, n_all), None)[1] < 1:
            return False
    return True


@dataclass(frozen=True, eq=False)
class _Leaf:
    """Some of the pilot, and the best question to part them by: what it gains, and who says yes."""

    gain: float
    question: UpTo | Among | None
    yes: Codes
    no: Codes


@dataclass(frozen=True, eq=False)
class _Grower:
    columns: tuple[Column, ...]
    values: Values
    goal: Property
    least_rows: int
    rng: Generator

    def leaf(self, rows: Codes) -> _Leaf:
        """The question with the greatest gain after which both sides can be planned."""
        value, n_values = self.values.value_of_row[rows], self.values.n_values
        candidates = []
        for a, column in enumerate(self.columns):
            cells = np.bincount(
                column.codes[rows].astype(np.int64) * n_values + value, minlength=column.n_values * n_values
            )
            below = np.cumsum(cells.reshape(column.n_values, n_values), axis=0)  # (code, value) -> rows up to the code
            sizes = below[:-1].sum(axis=1)
            enough = np.flatnonzero((sizes >= self.least_rows) & (rows.size - sizes >= self.least_rows))
            gains = information(below[enough], below[-1])
            candidates += [(float(gain), a, int(code)) for gain, code in zip(gains, enough, strict=True)]
        for gain, a, code in sorted(candidates, key=lambda found: (-found[0], found[1], found[2])):
            goes_left = self.columns[a].codes[rows] <= code
            if gain <= 0:
                break
            if self.can_be_planned(value[goes_left]) and self.can_be_planned(value[~goes_left]):
                return _Leaf(gain, question_of(self.columns[a], code), rows[goes_left], rows[~goes_left])
        return _Leaf(0.0, None, rows, rows)

    def can_be_planned(self, value_of_row: Codes) -> bool:
        """Whether one bucket of these people satisfies the goal, and of people like them: in every resample."""
        counts = np.bincount(value_of_row, minlength=self.values.n_values)
        again = self.rng.multinomial(value_of_row.size, counts / value_of_row.size, size=N_RESAMPLES)
        strata = whole_strata(self.values, np.concatenate([counts[None], again]), ANY_BOX)
        return self.goal.holds(strata)


def information(below: Counts, whole: Counts) -> NDArray[np.float64]:
    """Rows times the information (in nats) that a side has about the value, less what chance alone would give."""
    above = whole - below
    n_values = int(np.count_nonzero(whole))
    return _spread(whole[None]) - _spread(below) - _spread(above) - n_values / 2  # chance: (values - 1) / 2 on average


def _spread(counts: Counts) -> NDArray[np.float64]:
    """Rows times the entropy of each row of counts."""
    n = counts.sum(axis=-1)
    logs = np.where(counts > 0, counts * np.log(np.maximum(counts, 1)), 0.0).sum(axis=-1)
    spread: NDArray[np.float64] = np.where(n > 0, n * np.log(np.maximum(n, 1)), 0.0) - logs
    return spread


def question_of(column: Column, code: int) -> UpTo | Among:
    """Whether somebody's code is at most this, as a question about values."""
    if column.kind is Kind.CATEGORY:
        return Among(column.name, tuple(str(value) for value in column.values[: code + 1]))
    limit = column.values[code]
    return UpTo(column.name, limit if isinstance(limit, int | float) else str(limit))


def _tree(cuts: dict[int, tuple[UpTo | Among, int, int]], number: int) -> StrataTree:
    if number not in cuts:
        return StrataTree()
    question, yes, no = cuts[number]
    return StrataTree(question, _tree(cuts, yes), _tree(cuts, no))
