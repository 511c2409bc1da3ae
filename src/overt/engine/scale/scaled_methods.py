# SPDX-License-Identifier: Apache-2.0
"""Scaled methods: what an engine asks of the methods that it can run in parts. They are protocols, since no engine knows the class of a method."""

from typing import Literal, Protocol

from numpy.random import Generator

from overt.algorithms.batches import BatchPlan
from overt.algorithms.blind_buckets.strata import Strata
from overt.algorithms.counted_strata import CountedStrata
from overt.algorithms.full_domain.checking import Check
from overt.algorithms.full_domain.rolling import RolledRows
from overt.lattice import Search
from overt.privacy.base import Number, Property
from overt.progress import Progress
from overt.table import Codes, Column


class CutsRows(Protocol):
    """Groups by repeated cuts."""

    @property
    def goal(self) -> Property:
        """What every group satisfies."""

    @property
    def relaxed(self) -> bool:
        """Whether rows with the same value may go to different sides."""

    @property
    def choose(self) -> Literal["widest", "gain"]:
        """The column to cut."""


class ChoosesNode(Protocol):
    """Groups by a node of the lattice of hierarchies."""

    @property
    def goal(self) -> Property:
        """What every group satisfies."""

    def search(self, rows: RolledRows, begin: float, on_progress: Progress) -> tuple[Check, Search]:
        """The best node for rows that are counted, in the time that is left since `begin`."""


class DiversityGoal(Protocol):
    """l-diversity, with its l."""

    @property
    def l(self) -> Number:  # noqa: E743
        """Among how many values everybody hides."""


class PlansBuckets(Protocol):
    """Buckets by a list of who goes where."""

    @property
    def goal(self) -> DiversityGoal:
        """What every bucket satisfies."""


class DrawsGroups(Protocol):
    """Groups that are drawn, or planned from counts of values."""

    @property
    def name(self) -> str:
        """As in a recipe."""

    @property
    def form(self) -> str:
        """How a release looks."""

    @property
    def k(self) -> int:
        """The least size of a group that is asked for."""

    @property
    def diversity(self) -> int:
        """The number of values among which a person must be able to hide."""


class MatchesLists(DrawsGroups, Protocol):
    """Groups of batches whose lists of rows are matched."""

    @property
    def matching(self) -> str:
        """How lists are matched."""

    @property
    def strata(self) -> tuple[str, ...]:
        """Quasi-identifiers whose values are never mixed in a group."""

    def plan_strata(self, strata: CountedStrata, column: str, rng: Generator) -> BatchPlan:
        """The batches of all strata, from how often every value occurs in each."""

    def match_drawn(self, columns: tuple[Column, ...], plan: BatchPlan, drawn: Codes) -> Codes:
        """The group of every row."""


class DealsBlind(Protocol):
    """Boxes from quasi-identifiers alone, and buckets into which values are dealt blind."""

    @property
    def goal(self) -> Property:
        """What every bucket satisfies."""

    @property
    def stratify(self) -> Strata:
        """How rows are divided before values are dealt."""

    @property
    def box_size(self) -> int:
        """How many rows a box has at least."""

    @property
    def bucket_size(self) -> int:
        """How many rows a bucket has at least."""

    @property
    def cuts(self) -> str:
        """Whether rows with the same value may go to different boxes."""

    @property
    def form(self) -> str:
        """How a release looks."""
