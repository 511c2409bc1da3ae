# SPDX-License-Identifier: Apache-2.0
"""What the streamliner's methods share: the goal, the form of the release, and the stage after privacy.

Paper       W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012: privacy first, then utility.
Implements  Stage one is a method's `group_rows`; stage two merges groups without looking at values.
Departs     nothing.
Guarantee   Each method states its own; stage two keeps it (Theorem C of docs/safety.md).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from numpy.random import Generator

from overt.algorithms.streamliner.family import merge_neighbours
from overt.errors import InvalidInput
from overt.partition import Partition
from overt.privacy import DistinctLDiversity, FrequencyLDiversity, KAnonymity
from overt.privacy.base import Property
from overt.progress import Progress, silent
from overt.release import BucketRelease, GeneralizedRelease, Release
from overt.table import Column, Table

Form = Literal["generalized", "bucketized"]


@dataclass(frozen=True, kw_only=True)
class Streamliner(ABC):
    """A method that decides who is with whom first, and how that looks afterwards.

    The goal is l-diversity, alone or together with k-anonymity; where k exceeds the groups that l-diversity
    makes, neighbouring groups are merged. The form is "generalized" (one box or label per group) or
    "bucketized" (exact quasi-identifiers, and the group's sensitive values in a second table). Both protect the
    link between a person and a value equally; only the generalized form also blurs who is in the table.
    """

    name: ClassVar[str]
    resists: ClassVar[str] = "someone who sees the release and also replays the method"

    goal: Property
    form: Form = "generalized"

    posterior_is_share: ClassVar[bool] = True  # also to someone who replays the method: docs/safety.md
    fills_places_blind: ClassVar[bool] = True  # who gets which place of a value is uniform, whatever their row

    def __post_init__(self) -> None:
        _ = self.diversity
        if self.form not in ("generalized", "bucketized"):
            raise InvalidInput(f"The form is {self.form!r}; it is 'generalized' or 'bucketized'.")

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
        made = GeneralizedRelease if self.form == "generalized" else BucketRelease
        return made(table, partition, self)

    def merge_groups(self, table: Table, partition: Partition) -> Partition:
        """Stage two: groups of at least k rows, chosen without looking at values."""
        return merge_neighbours(table, partition, self.k)

    @property
    def against(self) -> str:
        """Whom the guarantee holds against, and what the form of the release leaves open."""
        if self.form == "generalized":
            return self.resists
        return f"{self.resists}; who is in the table is public, with exact quasi-identifiers"

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
        """Whether the law of the groups is known, so that counts can be estimated without bias."""
        return self.fills_places_blind and self.k <= self.diversity  # merging looks at quasi-identifiers

    def _parts(self) -> tuple[Property, ...]:
        for part in self.goal.parts:
            if not isinstance(part, FrequencyLDiversity | DistinctLDiversity | KAnonymity):
                raise InvalidInput(f"{type(self).__name__} reaches l-diversity and k-anonymity, and not {part}.")
        return self.goal.parts
