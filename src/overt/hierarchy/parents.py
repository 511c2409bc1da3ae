# SPDX-License-Identifier: Apache-2.0
"""Hierarchies written as parents: every node but the root says what it lies below."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from overt.errors import InvalidInput
from overt.hierarchy.base import Counts
from overt.hierarchy.chains import Chains, read_chains
from overt.hierarchy.tree import Hierarchy
from overt.table import Kind


@dataclass(frozen=True)
class Parents:
    """From label to the label above it; what is nobody's parent is a value.

    >>> tree = Parents({"p": "*", "q": "*", "p1": "p", "p2": "p"}).whole()
    >>> [tree.labels[node] for node in tree.chain(1)]
    ['p1', 'p', '*']
    """

    mapping: Mapping[str, str] = field(repr=False)
    root: str = "*"

    def __post_init__(self) -> None:
        if not self.mapping:
            raise InvalidInput("A hierarchy of parents is empty; say of at least one value what lies above it.")
        if self.root in self.mapping:
            raise InvalidInput(f"The root {self.root!r} of a hierarchy has a parent; the root must have none.")
        for label, parent in self.mapping.items():
            if parent != self.root and parent not in self.mapping:
                raise InvalidInput(
                    f"The parent {parent!r} of {label!r} has no parent itself and is not the root {self.root!r}; a "
                    "hierarchy has one root, above everything."
                )
        reaches_root: set[str] = {self.root}
        for label in self.mapping:
            path = [label]
            while path[-1] not in reaches_root:
                above = self.mapping[path[-1]]
                if above in path:
                    raise InvalidInput(
                        f"A hierarchy runs in a circle through {above!r}; every path must end at the root."
                    )
                path.append(above)
            reaches_root.update(path)

    @property
    def values(self) -> list[str]:
        """The leaves, as they were written."""
        inner = set(self.mapping.values())
        return [label for label in self.mapping if label not in inner]

    def build(self, values: pl.Series, kind: Kind, n_rows_of_value: Counts | None = None) -> Hierarchy:
        return self._chains.build(values, kind)

    def whole(self) -> Hierarchy:
        """The hierarchy over all its own leaves."""
        return self.build(pl.Series(sorted(self.values)), Kind.CATEGORY)

    def missing(self, values: pl.Series) -> pl.Series:
        """The values of a column that are no leaves here; a null needs none."""
        return self._chains.missing(values)

    @cached_property
    def _chains(self) -> Chains:
        return read_chains(enumerate(map(self._chain, self.values), start=1), "the hierarchy of parents", place="value")

    def _chain(self, value: str) -> list[str]:
        chain = [value]
        while chain[-1] != self.root:
            chain.append(self.mapping[chain[-1]])
        return chain
