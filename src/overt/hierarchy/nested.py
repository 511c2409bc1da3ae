# SPDX-License-Identifier: Apache-2.0
"""Hierarchies written in the program or recipe: nested mappings, and the flat one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from overt.errors import InvalidInput
from overt.hierarchy.base import Counts, known_values, plant
from overt.hierarchy.chains import Chains, read_chains
from overt.hierarchy.tree import Hierarchy
from overt.table import Kind


@dataclass(frozen=True)
class Nested:
    """Mappings in mappings, from label to what is below it; the innermost are values, one or a list.

    A list may hold values and mappings side by side, so branches can be of different length.

    >>> tree = Nested({"Europe": {"West": ["FR", "DE"], "East": ["PL"]}, "Elsewhere": "?"}).build(
    ...     pl.Series(["?", "DE", "FR", "PL"]), Kind.CATEGORY
    ... )
    >>> tree.to_frame().row(0), tree.to_frame().row(3)
    (('FR', 'West', 'Europe', '*'), ('?', 'Elsewhere', 'Elsewhere', '*'))
    """

    mapping: Mapping[str, Any] | Sequence[Any] = field(repr=False)
    root: str = "*"

    def __post_init__(self) -> None:
        self._chains  # noqa: B018  a mapping that is no hierarchy is refused here, not when it meets data

    def build(self, values: pl.Series, kind: Kind, n_rows_of_value: Counts | None = None) -> Hierarchy:
        return self._chains.build(values, kind)

    def missing(self, values: pl.Series) -> pl.Series:
        """The values of a column that are not in the mapping; a null needs none."""
        return self._chains.missing(values)

    @cached_property
    def _chains(self) -> Chains:
        chains = enumerate(_chains_below(self.mapping, (self.root,)), start=1)
        return read_chains(chains, "the nested hierarchy", place="value")


@dataclass(frozen=True)
class Flat:
    """One step from every value to the root.

    >>> Flat().build(pl.Series(["f", "m"]), Kind.CATEGORY).to_frame().rows()
    [('f', '*'), ('m', '*')]
    """

    root: str = "*"

    def build(self, values: pl.Series, kind: Kind, n_rows_of_value: Counts | None = None) -> Hierarchy:
        known_values(values, kind)
        return plant(values, [], root=self.root)


def _chains_below(branch: Any, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Every value below a branch, with its labels up to the root."""
    if isinstance(branch, Mapping):
        for label, below in branch.items():
            yield from _chains_below(below, (str(label), *above))
        children: Iterable[Any] = branch
    elif isinstance(branch, Iterable) and not isinstance(branch, str):
        children = list(branch)
        for child in children:
            yield from _chains_below(child, above)
    else:
        yield (str(branch), *above)
        return
    if not any(True for _ in children):
        raise InvalidInput(
            f"The group {above[0]!r} of the nested hierarchy has no values; remove it, or list its values."
        )
