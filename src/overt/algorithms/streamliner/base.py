# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/streamliner/test_methods.py
"""What the streamliner's methods share: the goal, the form of the release, and the stage after privacy.

Paper       W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012: privacy first, then utility.
Implements  Stage one is a method's `group_rows`; stage two merges groups without looking at values.
Departs     nothing.
Guarantee   Each method states its own; stage two keeps it (Theorem C of docs/theory/safety.md).
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Literal

from numpy.random import Generator

from overt.algorithms.streamliner.family import merge_neighbours
from overt.errors import InvalidInput
from overt.group_shape import GroupShape
from overt.guarantee import EXACT_ROWS, Beliefs, Guarantee
from overt.method import CellEnds, Method, form_of_cells
from overt.partition import Partition
from overt.privacy import DistinctLDiversity, FrequencyLDiversity, KAnonymity
from overt.privacy.base import Property
from overt.progress import Progress, silent
from overt.release import BucketRelease, GeneralizedRelease, Release
from overt.table import Column, Table

GroupForm = Literal["generalized", "bucketized"]


@dataclass(frozen=True, kw_only=True)
class Streamliner(Method):
    """A method that decides who is with whom first, and how that looks afterwards.

    The goal is l-diversity, alone or together with k-anonymity; where k exceeds the groups that l-diversity
    makes, neighbouring groups are merged. The form is "generalized" (one box or label per group) or
    "bucketized" (exact quasi-identifiers, and the group's sensitive values in a second table). Both protect the
    link between a person and a value equally; only the generalized form also blurs who is in the table. `cells` of boxes are on a
    "grid", to which ranges are rounded outward, or "tight".
    """

    goal: Property
    form: GroupForm = "generalized"
    cells: CellEnds = "grid"

    def __post_init__(self) -> None:
        _ = self.diversity
        form_of_cells(self.cells)
        if self.form not in ("generalized", "bucketized"):
            raise InvalidInput(f"The form is {self.form!r}; it is 'generalized' or 'bucketized'.")

    @property
    @abstractmethod
    def _proven(self) -> Guarantee:
        """What stage one guarantees."""

    @property
    @abstractmethod
    def _fills_places_blind(self) -> bool:
        """Whether who gets which place of a value is uniform, whatever their row."""

    @abstractmethod
    def group_rows(self, table: Table, sensitive: Column, rng: Generator, on_progress: Progress) -> Partition:
        """Stage one: who is with whom."""

    def anonymize(self, table: Table, *, rng: Generator, on_progress: Progress = silent) -> Release:
        """Make a release of a table, or raise `Unreachable`."""
        sensitive = table.the_sensitive(type(self).__name__)
        partition = self.group_rows(table, sensitive, rng, on_progress)
        if self.k > partition.sizes.min():
            on_progress("Merging groups", 0, 1)
            partition = self.merge_groups(table, partition)
        return self._made(table, partition, self)

    @property
    def _made(self) -> type[Release]:
        return GeneralizedRelease if self.form == "generalized" else BucketRelease

    @property
    def shows(self) -> str | None:
        return form_of_cells(self.cells)

    @property
    def table_names(self) -> tuple[str, ...]:
        return self._made.table_names

    @property
    def file_shape(self) -> GroupShape:
        return replace(super().file_shape, l=self.diversity, tight=self.form == "generalized")

    @property
    def _keeps_values_apart(self) -> bool:
        """Whether no group is merged with another, which may hold the same values."""
        return self.k <= self.diversity

    def merge_groups(self, table: Table, partition: Partition) -> Partition:
        """Stage two: groups of at least k rows, chosen without looking at values."""
        return merge_neighbours(table, partition, self.k)

    @property
    def guarantee(self) -> Guarantee:
        """What is proven of the method, what is left of it after merging, and what the form of the release leaves open."""
        proven = self._proven
        if (
            self.k > self.diversity and proven.resists_replay
        ):  # Theorem C of docs/theory/safety.md: bounds survive, shares do not
            proven = replace(proven, beliefs=Beliefs.FLAT, posterior_is_share=False)
        return proven if self.form == "generalized" else replace(proven, besides=EXACT_ROWS)

    @property
    def diversity(self) -> int:
        """The number of values among which a person must be able to hide."""
        asked = [part.least_rows for part in self._parts() if not isinstance(part, KAnonymity)]
        if not asked:
            raise InvalidInput(f"{type(self).__name__} reaches l-diversity; add it to the goal, which is {self.goal}.")
        if max(asked) < 2:
            raise InvalidInput(f"l is {max(asked)}; {type(self).__name__} needs l to be at least 2.")
        return max(asked)

    @property
    def k(self) -> int:
        """The least size of a group that the goal asks for."""
        return max((part.k for part in self._parts() if isinstance(part, KAnonymity)), default=1)

    @property
    def draws_blind(self) -> bool:
        return self._fills_places_blind and self._keeps_values_apart  # merging looks at quasi-identifiers

    def _parts(self) -> tuple[Property, ...]:
        for part in self.goal.parts:
            if not isinstance(part, FrequencyLDiversity | DistinctLDiversity | KAnonymity):
                raise InvalidInput(f"{type(self).__name__} reaches l-diversity and k-anonymity, and not {part}.")
        return self.goal.parts
