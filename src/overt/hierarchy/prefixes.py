# SPDX-License-Identifier: Apache-2.0
"""Hierarchies of codes by their first characters: postcodes, ICD diagnoses, industries."""

from dataclasses import dataclass

import polars as pl

from overt.arguments import require_list
from overt.errors import InvalidInput
from overt.hierarchy.base import Counts, Level, contiguous_level, known_values, plant
from overt.hierarchy.texts import texts_of
from overt.hierarchy.tree import Hierarchy
from overt.table import Kind

MOST_CHARACTERS = 1_000_000  # of a prefix; no code is longer


@dataclass(frozen=True)
class Prefixes:
    """Values that begin with the same characters, the longest prefix first; `12*` is what begins with 12.

    A value shorter than a prefix stands for itself until the prefix is no longer than the value.

    >>> codes = pl.Series(["A0", "A00", "A00.1", "B20"])
    >>> Prefixes(lengths=(3, 1)).build(codes, Kind.CATEGORY).to_frame().rows()[:3]
    [('A0', 'A0', 'A*', '*'), ('A00', 'A00*', 'A*', '*'), ('A00.1', 'A00*', 'A*', '*')]
    """

    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        require_list("Prefixes", self.lengths, "(4, 3, 2)")
        object.__setattr__(self, "lengths", tuple(self.lengths))
        descending = sorted(set(self.lengths), reverse=True)
        if not self.lengths or list(self.lengths) != descending or self.lengths[-1] < 1:
            raise InvalidInput(
                f"Prefixes need lengths that descend, each at least 1, as in (4, 3, 2); given: {self.lengths}."
            )
        if self.lengths[0] > MOST_CHARACTERS:
            raise InvalidInput(f"A prefix has at most {MOST_CHARACTERS:,} characters; give lengths such as (4, 3, 2).")

    def build(self, values: pl.Series, kind: Kind, n_rows_of_value: Counts | None = None) -> Hierarchy:
        leaves = known_values(values, kind)
        if kind is Kind.CATEGORY:
            leaves = leaves.gather(texts_of(leaves).arg_sort())
        texts = texts_of(leaves)
        levels = [prefix_level(texts, length, values, kind) for length in self.lengths]
        return plant(pl.concat([leaves, values.tail(values.null_count())]), levels)


def prefix_level(texts: pl.Series, length: int, values: pl.Series, kind: Kind) -> Level:
    """The level of prefixes of one length; a shorter text is a block of its own."""
    prefixes = texts.str.slice(0, length)
    n_characters = texts.str.len_chars()

    def label(leaf: int) -> str | None:
        return f"{prefixes[leaf]}*" if n_characters[leaf] >= length else None

    return contiguous_level(prefixes.rank("dense").to_numpy(), label, values, kind)
