# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_publication.py
"""Release: what a method made of a table, still in codes. `overt.publish` turns it into what people see.

A release also holds what only the owner may see: the table it came from and which row went where.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.hierarchy.grid import blocks_of, form_on_grid
from overt.kernels.boxes import bounds_of_groups
from overt.lattice import Node, Search
from overt.markup import Markup, html_table
from overt.method import Method
from overt.partition import Groups, Partition, ShownPartition
from overt.table import Codes, Column, Table


@dataclass(frozen=True, eq=False)
class Release:
    """Rows of a table in groups, and the method that put them there.

    What kind of release it is it says itself: nobody else asks for its class, but publication and the replay of a search.
    """

    kind: ClassVar[str] = "generalized"  # for reports
    table_names: ClassVar[tuple[str, ...]] = ("release",)  # as published
    has_boxes: ClassVar[bool] = False  # whether a group shows one cell for each quasi-identifier
    shows_exactly: ClassVar[bool] = False  # whether quasi-identifiers are published as they are
    is_crossed: ClassVar[bool] = False  # whether the groups that show boxes are not those that show values
    is_row_by_row: ClassVar[bool] = False  # whether every row has a generalization of its own
    hides_table: ClassVar[bool] = False  # whether no figure of the table may be told beside it

    table: Table = field(repr=False)
    partition: Partition = field(repr=False)
    made_by: Method | None  # with its goal and parameters: public, like our source code; None if it is none of ours

    @property
    def method(self) -> Method:
        """The method that made it, or `InvalidInput` if that is not known."""
        if self.made_by is None:
            raise InvalidInput("The release does not say which method made it; make it with one.")
        return self.made_by

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
        """What its owner must know before publishing it, because of how it was made and of what it shows."""
        return self.cautions_of_kind(self.made_by, int((self.partition.sizes == 1).sum()))

    @classmethod
    def cautions_of_kind(cls, made_by: Method | None, n_alone: int) -> tuple[str, ...]:
        """The same of any release of this kind, wherever its rows are; so many people are alone in their group."""
        measured = made_by.guarantee.measured if made_by is not None else ""
        return (measured,) if measured else ()

    @property
    def n_alternatives(self) -> int:
        """How many releases someone who replays the method must weigh for each row."""
        return 1

    @property
    def line_counts(self) -> Mapping[Hashable, int] | None:
        """How often each published line stands there, if that is known without publishing it."""
        return None

    @property
    def value_groups(self) -> Partition:
        """The rows whose sensitive values are shown together."""
        return self.partition

    @property
    def shuffled_rows(self) -> Codes | None:
        """(row) -> the row of its bucket whose sensitive values it shows, if they are not its own."""
        return None

    def level_of(self, column: Column) -> int | None:
        """The level of its hierarchy at which a quasi-identifier is shown everywhere, if there is one."""
        return None

    def form_of(self, column: Column) -> str | None:
        """How its cells show a quasi-identifier unless something else is asked for; None is what is usual for the column."""
        return form_on_grid(column) if self.shows_on_grid else None

    @property
    def shows_on_grid(self) -> bool:
        """Whether its ranges are rounded outward to a public grid."""
        return self.made_by is not None and self.made_by.shows == "grid"

    def chosen_bounds(self, column: Column) -> NDArray[np.int32] | None:
        """(group, 2) -> least and greatest code that it shows of a quasi-identifier, if that was chosen; else what its rows cover."""
        return None

    def crossed(self) -> "CrossBucketRelease":
        """The same as groups and buckets."""
        raise InvalidInput(f"A {type(self).__name__} has neither groups with boxes nor buckets.")

    def _described(self) -> list[list[str]]:
        """How many rows in how many groups, made by what, for which goal and against whom; never a row."""
        sizes, method, things = self.partition.sizes, self.made_by, f"{self.table.thing}s"
        rows = [
            ["made by", "not known" if method is None else method.name],
            [things, f"{self.table.n_rows - self.n_suppressed:,}"],
            [f"suppressed {things}", f"{self.n_suppressed:,}"],
            ["groups", f"{self.n_groups:,}"],
            [
                f"{things} in the smallest and the largest group",
                f"{sizes.min():,} and {sizes.max():,}" if sizes.size else "none",
            ],
        ]
        if method is not None:
            rows += [["goal", str(method.goal)], ["against", str(method.guarantee)]]
        return rows

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        cls.__repr__ = Release.__repr__  # type: ignore[method-assign]  # no dataclass writes one of its own

    def __repr__(self) -> str:
        """What a console shows."""
        rows = self._described()
        width = max(len(name) for name, _ in rows)
        return "\n".join([type(self).__name__, *(f"  {name.ljust(width)}  {said}" for name, said in rows)])

    def _repr_html_(self) -> Markup:
        """What notebooks show: the same as a table."""
        return html_table([type(self).__name__, ""], self._described(), n_text_columns=2)

    @cached_property
    def boxes(self) -> NDArray[np.int32]:
        """(quasi-identifier, group, 2) -> least and greatest code of the column in the group; on a grid, of the blocks around them."""
        return np.stack([self._box_ends(column) for column in self.table.quasi_identifiers])

    def _box_ends(self, column: Column) -> NDArray[np.int32]:
        bounds = bounds_of_groups(column.codes, self.partition.rows, self.partition.starts)
        blocks = blocks_of(column) if self.form_of(column) == "grid" else None
        return bounds if blocks is None else blocks.outward(bounds, column.missing_code)


@dataclass(frozen=True, eq=False)
class GeneralizedRelease(Release):
    """Each group shows one generalized value per quasi-identifier, and its sensitive values in any order."""

    has_boxes: ClassVar[bool] = True

    def crossed(self) -> "CrossBucketRelease":
        """Groups are buckets too."""
        return CrossBucketRelease(self.table, self.partition, self.made_by, self.partition)


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
    def n_alternatives(self) -> int:
        return self.search.lattice.n_nodes

    def level_of(self, column: Column) -> int | None:
        return self.level_of_column[column.name]

    def chosen_bounds(self, column: Column) -> NDArray[np.int32] | None:
        codes = column.codes[self.partition.rows[self.partition.starts[:-1]]]
        level = self.level_of_column[column.name]
        if level == 0:
            return np.column_stack([codes, codes])
        if column.hierarchy is None:
            return np.column_stack([np.zeros_like(codes), np.full_like(codes, column.n_values - 1)])
        node = column.hierarchy.node_of_leaf[level, codes]
        least = column.hierarchy.first_leaf_of_node[node]
        return np.column_stack([least, least + column.hierarchy.n_leaves_of_node[node] - 1]).astype(np.int32)

    @property
    def remarks(self) -> dict[str, str]:
        highest = zip(self.level_of_column.items(), self.search.lattice.top, strict=True)
        levels = (f"{name} {level} of {top}" for (name, level), top in highest)
        return {"Levels": ", ".join(levels), "Search": f"{self.search}"}


@dataclass(frozen=True, eq=False)
class LabelledRelease(GeneralizedRelease):
    """Groups that another tool published, with labels that can be wider than their rows."""

    shown: NDArray[np.int32] = field(repr=False)  # (quasi-identifier, group, 2) -> least and greatest code

    def chosen_bounds(self, column: Column) -> NDArray[np.int32] | None:
        bounds: NDArray[np.int32] = self.shown[
            [known.name for known in self.table.quasi_identifiers].index(column.name)
        ]
        return bounds

    @cached_property
    def boxes(self) -> NDArray[np.int32]:
        """(quasi-identifier, group, 2) -> least and greatest code that the group shows."""
        return self.shown


@dataclass(frozen=True, eq=False)
class RecordRelease(GeneralizedRelease):
    """Every row at a generalization of its own. A group is the rows that were given the same one.

    It shows what was chosen, which can be wider than its rows, and groups may overlap. Risk, utility and support are
    those of each row's generalization as the method models them.
    """

    is_row_by_row: ClassVar[bool] = True

    shown: NDArray[np.int32] = field(repr=False)  # (quasi-identifier, group, 2) -> least and greatest code
    risk_of_row: NDArray[np.float64] = field(repr=False)
    utility_of_row: NDArray[np.float64] = field(repr=False)
    support_of_row: NDArray[np.int64] = field(repr=False)
    solver: str  # how the generalizations were found

    @property
    def cautions(self) -> tuple[str, ...]:
        if not self.n_groups:
            return super().cautions
        n_alone = int((self.partition.sizes == 1).sum())
        kept = self.partition.rows  # what became of suppressed rows is no generalization
        return (
            *super().cautions,
            f"Every row is generalized on its own (mean risk {self.risk_of_row[kept].mean():.4g}, at worst "
            f"{self.risk_of_row[kept].max():.4g}; mean utility {self.utility_of_row[kept].mean():.4g}; by {self.solver}). Nothing "
            f"is promised of groups, and {n_alone:,} rows look like no other row.",
        )

    def chosen_bounds(self, column: Column) -> NDArray[np.int32] | None:
        bounds: NDArray[np.int32] = self.shown[
            [known.name for known in self.table.quasi_identifiers].index(column.name)
        ]
        return bounds

    @property
    def witness(self) -> ShownPartition:
        """Which rows went together, and what they show."""
        return ShownPartition(self.partition.group_of_row, self.partition.n_groups, self.shown)

    @cached_property
    def boxes(self) -> NDArray[np.int32]:
        """(quasi-identifier, group, 2) -> least and greatest code that the group shows."""
        return self.shown


@dataclass(frozen=True, eq=False)
class DpRelease(Release):
    """Generalized rows of a differentially private mechanism. What may leave is `labels_of_group`, `facts` and group sizes.

    Which rows were kept, how many there were and how many were left out is the owner's secret, as the table is; `for_owner`
    has the figures.
    """

    hides_table: ClassVar[bool] = True

    labels_of_group: Mapping[str, tuple[str, ...]] = field(repr=False)  # (column) -> (group) -> what it shows
    facts: Mapping[str, str] = field(repr=False)  # what was decided before the data was seen
    coins: str  # "secret", or "seeded" if someone could repeat them

    @property
    def remarks(self) -> dict[str, str]:
        return dict(self.facts)

    @property
    def line_counts(self) -> Mapping[Hashable, int] | None:
        return dict(zip(zip(*self.labels_of_group.values(), strict=True), self.partition.sizes.tolist(), strict=True))

    @property
    def for_owner(self) -> dict[str, int]:
        """For the owner's eyes alone: publishing any of these breaks the guarantee."""
        return {"rows of the table": self.table.n_rows, "rows left out": self.n_suppressed}

    def _described(self) -> list[list[str]]:
        """What anyone may know."""
        return [
            ["made by", self.method.name],
            ["published rows", f"{int(self.partition.sizes.sum()):,}"],
            ["different rows", f"{self.n_groups:,}"],
            *([heading, words] for heading, words in self.facts.items()),
        ]


@dataclass(frozen=True, eq=False)
class BucketRelease(Release):
    """Exact quasi-identifiers with a bucket number, and the bucket's sensitive values in a second table."""

    kind: ClassVar[str] = "buckets"
    table_names: ClassVar[tuple[str, ...]] = ("quasi-identifiers", "sensitive")
    shows_exactly: ClassVar[bool] = True

    @classmethod
    def cautions_of_kind(cls, made_by: Method | None, n_alone: int) -> tuple[str, ...]:
        return (
            *super().cautions_of_kind(made_by, n_alone),
            "Quasi-identifiers are published exactly: anybody who knows a person's can see that the person is in the table.",
        )

    def crossed(self) -> "CrossBucketRelease":
        """Rows that are alike are groups."""
        people = Partition.of_columns(self.table.quasi_identifiers)
        return CrossBucketRelease(self.table, people, self.made_by, self.partition)


@dataclass(frozen=True, eq=False)
class CrossBucketRelease(Release):
    """Two partitions: each group shows one generalized value per quasi-identifier, each bucket its sensitive values.

    A row is published as the box of its group with the number of its bucket. `groups` is what can be believed of
    the members of a group: which of their buckets holds them, and which of its values is theirs.
    """

    kind: ClassVar[str] = "cross-buckets"
    table_names: ClassVar[tuple[str, ...]] = ("boxes", "sensitive")
    has_boxes: ClassVar[bool] = True
    is_crossed: ClassVar[bool] = True

    buckets: Partition = field(repr=False)

    def __post_init__(self) -> None:
        if self.buckets.group_of_row.size != self.partition.group_of_row.size:
            raise InvalidInput("The groups and the buckets of a release must be partitions of the same rows.")

    @cached_property
    def groups(self) -> Groups:
        """Group sizes, and what can be believed of their members' sensitive values."""
        return Groups.of_crossed(self.table.sensitive, self.partition, self.buckets)

    @property
    def value_groups(self) -> Partition:
        return self.buckets

    @classmethod
    def cautions_of_kind(cls, made_by: Method | None, n_alone: int) -> tuple[str, ...]:
        usual = super().cautions_of_kind(made_by, n_alone)
        alone = f"{n_alone:,} people are alone in their box, so their quasi-identifiers are published exactly: anybody who knows these can see that the person is in the table."
        return (*usual, alone) if n_alone else usual

    @property
    def witness(self) -> tuple[Partition, Partition]:
        return self.partition, self.buckets

    def crossed(self) -> "CrossBucketRelease":
        return self


@dataclass(frozen=True, eq=False)
class ShuffledRelease(CrossBucketRelease):
    """The same as ordinary microdata: one value per row, each bucket's values handed to its rows at random.

    A row does not show its own person's value. What can be believed of a person is what the buckets say.
    """

    kind: ClassVar[str] = "values shuffled in buckets"
    table_names: ClassVar[tuple[str, ...]] = ("shuffled",)

    shown_row: Codes = field(repr=False)  # (row) -> the row of the same bucket whose sensitive values it shows

    @property
    def shuffled_rows(self) -> Codes:
        return self.shown_row

    @property
    def cautions(self) -> tuple[str, ...]:
        return (
            *super().cautions,
            "The sensitive values in a row need not be that person's: each bucket's values were assigned to its rows at random. The name of "
            "the column with the bucket numbers says so; keep it in what you pass on.",
        )
