# SPDX-License-Identifier: Apache-2.0
"""Release: what a method made of a table, still in codes. `overt.publish` turns it into what people see.

A release also holds what only the owner may see: the table it came from and which row went where.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.kernels.boxes import bounds_of_groups
from overt.lattice import Node, Search
from overt.markup import Markup, html_table
from overt.partition import Groups, Partition, ShownPartition
from overt.table import Table


@dataclass(frozen=True, eq=False)
class Release:
    """Rows of a table in groups, and the method that put them there."""

    table: Table = field(repr=False)
    partition: Partition = field(repr=False)
    made_by: object  # the method, with its goal and parameters: public, like our source code

    @cached_property
    def groups(self) -> Groups:
        """Group sizes and sensitive values: what a privacy property looks at."""
        return Groups.of(self.table, self.partition)

    @property
    def n_groups(self) -> int:
        return self.partition.n_groups

    @property
    def witness(self) -> Partition | tuple[Partition, Partition]:
        """Which rows went together: what an owner can show to someone who checks the release."""
        return self.partition

    @property
    def n_suppressed(self) -> int:
        """Rows of the table that are not in the release. They are no group."""
        return self.partition.n_suppressed

    @property
    def remarks(self) -> dict[str, str]:
        """What the method has to say of how it went, under a heading each; mostly nothing."""
        return {}

    @property
    def cautions(self) -> tuple[str, ...]:
        """What its owner must know before publishing it, because of how it was made; mostly nothing."""
        return ()

    def _repr_html_(self) -> Markup:
        """What notebooks show: how many rows in how many groups, made by what; never a row."""
        sizes = self.partition.sizes
        rows = [
            ["made by", str(self.made_by)],
            ["rows", f"{self.table.n_rows - self.n_suppressed:,}"],
            ["suppressed rows", f"{self.n_suppressed:,}"],
            ["groups", f"{self.n_groups:,}"],
            [
                "rows in the smallest and the largest group",
                f"{sizes.min():,} and {sizes.max():,}" if sizes.size else "",
            ],
        ]
        return html_table([type(self).__name__, ""], rows, n_text_columns=2)

    @cached_property
    def boxes(self) -> NDArray[np.int32]:
        """(quasi-identifier, group, 2) -> least and greatest code of the column in the group."""
        rows, starts = self.partition.rows, self.partition.starts
        return np.stack([bounds_of_groups(column.codes, rows, starts) for column in self.table.quasi_identifiers])


@dataclass(frozen=True, eq=False)
class GeneralizedRelease(Release):
    """Each group shows one generalized value per quasi-identifier, and its sensitive values in any order."""


@dataclass(frozen=True, eq=False)
class FullDomainRelease(GeneralizedRelease):
    """All values of a column generalized to the same level of its hierarchy, and shown by their labels there.

    Rows of groups that would break the goal are suppressed: they are left out of what is published.
    """

    node: Node  # (quasi-identifier) -> level
    search: Search = field(repr=False)  # how far the lattice was looked through, and what this node costs

    @property
    def level_of_column(self) -> dict[str, int]:
        """The level that every quasi-identifier is generalized to; 0 is exact."""
        return dict(zip(self.search.lattice.columns, self.node, strict=True))

    @property
    def remarks(self) -> dict[str, str]:
        highest = zip(self.level_of_column.items(), self.search.lattice.top, strict=True)
        levels = (f"{name} {level} of {top}" for (name, level), top in highest)
        return {"Levels": ", ".join(levels), "Search": f"{self.search}"}


@dataclass(frozen=True, eq=False)
class RecordRelease(GeneralizedRelease):
    """Every row at a generalization of its own. A group is the rows that were given the same one.

    It shows what was chosen, which can be wider than its rows, and groups may overlap. Risk, utility and support are
    those of each row's generalization as the method models them.
    """

    shown: NDArray[np.int32] = field(repr=False)  # (quasi-identifier, group, 2) -> least and greatest code
    risk_of_row: NDArray[np.float64] = field(repr=False)
    utility_of_row: NDArray[np.float64] = field(repr=False)
    support_of_row: NDArray[np.int64] = field(repr=False)
    solver: str  # how the generalizations were found

    @property
    def witness(self) -> ShownPartition:
        """Which rows went together, and what they show."""
        return ShownPartition(self.partition.group_of_row, self.partition.n_groups, self.shown)

    @cached_property
    def boxes(self) -> NDArray[np.int32]:
        """(quasi-identifier, group, 2) -> least and greatest code that the group shows."""
        return self.shown


@dataclass(frozen=True, eq=False)
class PrivateRelease(Release):
    """Generalized rows of a differentially private mechanism. What may leave is `labels_of_group`, `facts` and group sizes.

    Which rows were kept, how many there were and how many were left out is the owner's secret, as the table is; `for_owner`
    has the figures.
    """

    labels_of_group: Mapping[str, tuple[str, ...]] = field(repr=False)  # (column) -> (group) -> what it shows
    facts: Mapping[str, str] = field(repr=False)  # what was decided before the data was seen
    coins: str  # "secret", or "seeded" if someone could repeat them

    @property
    def remarks(self) -> dict[str, str]:
        return dict(self.facts)

    @property
    def for_owner(self) -> dict[str, int]:
        """For the owner's eyes alone: publishing any of these breaks the guarantee."""
        return {"rows of the table": self.table.n_rows, "rows left out": self.n_suppressed}

    def _repr_html_(self) -> Markup:
        """What notebooks show: what anyone may know."""
        rows = [
            ["made by", str(self.made_by)],
            ["published rows", f"{int(self.partition.sizes.sum()):,}"],
            ["different rows", f"{self.n_groups:,}"],
            *([heading, words] for heading, words in self.facts.items()),
        ]
        return html_table([type(self).__name__, ""], rows, n_text_columns=2)


@dataclass(frozen=True, eq=False)
class BucketRelease(Release):
    """Exact quasi-identifiers with a bucket number, and the bucket's sensitive values in a second table."""


@dataclass(frozen=True, eq=False)
class CrossBucketRelease(Release):
    """Two partitions: each group shows one generalized value per quasi-identifier, each bucket its sensitive values.

    A row is published as the box of its group with the number of its bucket. `groups` is what can be believed of
    the members of a group: which of their buckets holds them, and which of its values is theirs.
    """

    buckets: Partition = field(repr=False)

    def __post_init__(self) -> None:
        if self.buckets.group_of_row.size != self.partition.group_of_row.size:
            raise InvalidInput("The groups and the buckets of a release must be partitions of the same rows.")

    @cached_property
    def groups(self) -> Groups:
        """Group sizes, and what can be believed of their members' sensitive values."""
        return Groups.of_crossed(self.table.sensitive, self.partition, self.buckets)

    @property
    def witness(self) -> tuple[Partition, Partition]:
        return self.partition, self.buckets


def as_crossed(release: Release) -> CrossBucketRelease:
    """Any release as groups and buckets: without buckets they are the groups; without boxes, rows that are alike."""
    table = release.table
    if isinstance(release, CrossBucketRelease):
        return release
    if isinstance(release, GeneralizedRelease):
        return CrossBucketRelease(table, release.partition, release.made_by, release.partition)
    if isinstance(release, BucketRelease):
        people = Partition.of_columns(table.quasi_identifiers)
        return CrossBucketRelease(table, people, release.made_by, release.partition)
    raise InvalidInput(f"A {type(release).__name__} has neither groups with boxes nor buckets.")
