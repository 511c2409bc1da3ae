# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/downcoding/test_tiers.py
"""Findings of downcoding, in plain values and in words."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from overt.adversary.downcoding.half_test import HalfTest
from overt.adversary.downcoding.tiers import Tier

TIERS = {
    "cover": "T0: the cells as they stand",
    "tight": "T1: cells are as small as their rows allow",
    "method": "T2: and the method that made them is known",
}


@dataclass(frozen=True)
class Downcoding:
    """What a reader who knows nobody's quasi-identifiers can be certain of, at three tiers of knowledge.

    The tiers follow from the release and are public knowledge: whoever has the release can compute them. What is guessed right and
    the test on halves use the original, and are the owner's.
    """

    k: int  # classes below it are counted
    n_rows: int
    n_classes: int
    columns: tuple[str, ...]
    forms: tuple[str, ...]  # (column) -> how it is shown
    n_cells: int
    n_generalized: int  # cells that show more than one value
    generalized_of_column: tuple[int, ...]
    tiers: tuple[Tier, ...] = field(repr=False)
    method_used: bool  # whether the third tier adds what the method says, or nothing is inferred of it
    halves: HalfTest | None = None  # None if it was not asked, or if the method gave nothing for a half

    @property
    def shows_exactly(self) -> bool:
        """Whether there is nothing to recover, since everything is published."""
        return not self.n_generalized

    @property
    def last(self) -> Tier:
        """What someone is certain of who knows all of this."""
        return self.tiers[-1]

    @property
    def share_below(self) -> float:
        """The headline: the share of rows in classes below k after downcoding."""
        return self.last.n_rows_below / max(1, self.n_rows)

    @property
    def share_finer(self) -> float:
        """The share of generalized cells for which a finer label is certain."""
        return self.last.n_finer / max(1, self.n_generalized)

    @property
    def sets(self) -> tuple[str, ...]:
        """Columns that are shown as sets of values, which name each of them."""
        return tuple(name for name, form in zip(self.columns, self.forms, strict=True) if form == "set")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs; nothing about single people."""
        return {
            "k": self.k,
            "rows": self.n_rows,
            "classes": self.n_classes,
            "cells": self.n_cells,
            "generalized_cells": self.n_generalized,
            "forms": dict(zip(self.columns, self.forms, strict=True)),
            "tiers": {tier.name: tier.to_dict(self.n_generalized, self.n_rows) for tier in self.tiers},
            "finer_by_column": {
                name: finer / max(1, generalized)
                for name, finer, generalized in zip(
                    self.columns, self.last.finer_of_column, self.generalized_of_column, strict=True
                )
            },
            "method_used": self.method_used,
            "halves": None if self.halves is None else self.halves.to_dict(),
        }

    def sentences(self) -> Iterator[str]:
        """What a board can act on, and under which condition it holds."""
        if self.shows_exactly:
            yield "Every quasi-identifier is published exactly: there is nothing left to recover."
            return
        last = self.last
        if not last.n_finer:
            yield (
                "Nobody's quasi-identifiers can be recovered from these cells for certain, in the ways that are tried here: they do not "
                "depend on which rows they hold."
                if set(self.forms) <= {"level", "chosen", "exact"}
                else "None of the generalized cells can be refined for certain, in the ways that are tried here."
            )
        else:
            yield (
                f"Someone who knows nobody's quasi-identifiers can refine {_percent(self.share_finer)} of the generalized cells "
                f"for certain. In the finer table that follows, {_percent(self.share_below)} of the rows are in classes of fewer "
                f"than {self.k}."
            )
        if last.alone.n_in_class:
            table = last.alone.n_in_table
            where = "" if table is None else f", {table:,} of them in the whole table"
            yield f"{last.alone.n_in_class:,} rows are certainly the only one of their class with a recovered value{where}."
        if self.sets:
            yield (
                f"{', '.join(map(repr, self.sets))} {'is' if len(self.sets) == 1 else 'are'} shown as sets, which name every value that occurs in "
                "a class. A hierarchy shows labels instead, which say less."
            )
        if not self.method_used:
            yield "What the method itself says about quasi-identifiers is not inferred for this release; figures are at least."
        if self.halves is not None:
            yield from self.halves.sentences()
        if last.n_finer:
            yield (
                'Cells on a grid (cells = "grid") reduce this and guarantee nothing. Full-domain cells and differential privacy are made for a '
                "guarantee about quasi-identifiers."
            )

    def table(self) -> Iterator[tuple[str, ...]]:
        """A header and a row for each measure, with a column for each tier."""
        yield ("", *(tier.name for tier in self.tiers))
        cells = max(1, self.n_generalized)
        yield ("generalized cells with a finer value certain", *(_percent(tier.n_finer / cells) for tier in self.tiers))
        yield (
            "generalized cells with the exact value certain",
            *(_percent(tier.n_exact / cells) for tier in self.tiers),
        )
        if all(tier.guessed is not None for tier in self.tiers):
            yield (
                "exact values guessed right (owner)",
                *(_percent((tier.guessed or 0) / cells) for tier in self.tiers),
            )
        yield (
            f"rows in classes below {self.k}",
            *(_percent(tier.n_rows_below / max(1, self.n_rows)) for tier in self.tiers),
        )
        yield ("rows with every quasi-identifier certain", *(f"{tier.n_rows_known:,}" for tier in self.tiers))
        yield ("rows certainly alone in their class", *(f"{tier.alone.n_in_class:,}" for tier in self.tiers))
        if all(tier.alone.n_in_table is not None for tier in self.tiers):
            yield ("rows certainly alone in the table", *(f"{tier.alone.n_in_table:,}" for tier in self.tiers))


def _percent(share: float) -> str:
    """A share in words that never rounds something to nothing."""
    if 0 < share < 0.001:
        return "under 0.1 %"
    return f"{100 * share:.1f} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"
