# SPDX-License-Identifier: Apache-2.0
"""CrossBucket: groups of k people who look alike, crossed with buckets that mix l values.

Paper       B. Li, Y. Liu, X. Han, J. Zhang, "Cross-Bucket Generalization for Information and Privacy
            Preservation", TKDE 2018.
Implements  (k, l)-anonymous cross-bucket generalization (Definition 10). `mode="paper"`: Algorithms 1 to 5.
Departs     By default neither which rows meet nor which bucket they go to depends on their values: batches are
            planned from counts, filled blind and divided by quasi-identifiers with all values of a batch treated
            alike (`symmetric`). The paper chooses rows by quasi-identifier because of their values, which no
            tie-break repairs. Strata, blocks, bins and spread are ours. For `mode="paper"` see `printed`.
Guarantee   Default: exact, against an adversary who also knows this code: everyone is one of at least k equally
            likely records and has each of at least max(k, l) values with equal probability, if they had no idea how values
            go with quasi-identifiers: weak (Theorem B of docs/theory/safety.md, for two partitions in docs/theory/cross-bucket.md). Never fails on a table, or stratum, in which no value exceeds 1/max(k, l) of the rows.
            `mode="paper"`: exact against someone who sees the release, none against one who replays it.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

from numpy.random import Generator

from overt.algorithms.cross_bucket import nearness, printed, symmetric
from overt.errors import InvalidInput, Unreachable
from overt.group_shape import GroupShape
from overt.guarantee import EXACT_ROWS, MATCHED, RELEASE_ONLY, Guarantee
from overt.method import CellEnds, Method, form_of_cells, require_goal
from overt.privacy import AllOf, AlphaKAnonymity, DistinctLDiversity, FrequencyLDiversity, KAnonymity
from overt.privacy.base import Number, Property, SensitiveProperty, exact, require_number, require_whole
from overt.progress import Progress, silent
from overt.release import CrossBucketRelease
from overt.table import Table

Mode = Literal["safe", "paper"]


@dataclass(frozen=True, init=False)
class CrossBucket(Method):
    """Boxes of at least k people, and buckets in which no value of a person has a probability above 1/l.

    Parameters
    ----------
    k, l
        The number of people who look alike, and the number of values among which each person's is hidden. A recipe gives them as the goals
        k-anonymity and l-diversity. Other goals, such as t-closeness, are checked on the finished release, and a
        release that misses them is not published.
    mode
        "safe", or "paper" for Algorithms 1 to 5 as printed, which someone who knows them can break.
    strata
        Quasi-identifiers whose values are never mixed.
    blocks
        Which values share a bucket: "random", "near" (neighbours in order: narrower bounds on sums) or "apart".
    bin_width
        Sensitive numbers in one interval of this width (counted from 0) are planned as one value.
    spread
        The least difference between the greatest and the least number of a bucket.
    swaps
        Rounds of exchanges of rows with the same value, which make boxes smaller.
    cells
        "grid": ranges are rounded outward to a public grid, so their ends need not be anybody's values. "tight": they end at values of their rows.

    """

    name: ClassVar[str] = "cross-bucket"
    table_names: ClassVar[tuple[str, ...]] = CrossBucketRelease.table_names

    goal: Property
    mode: Mode = "safe"
    strata: tuple[str, ...] = ()
    blocks: symmetric.Blocks = "random"
    bin_width: Number | None = None
    spread: Number | None = None
    swaps: int = 8
    cells: CellEnds = "grid"

    def __init__(
        self,
        k: int | None = None,
        l: int | None = None,
        *,
        goal: Property | None = None,
        mode: Mode = "safe",
        strata: tuple[str, ...] = (),
        blocks: symmetric.Blocks = "random",
        bin_width: Number | None = None,
        spread: Number | None = None,
        swaps: int = 8,
        cells: CellEnds = "grid",
    ) -> None:
        if (goal is None) == (k is None and l is None):
            raise InvalidInput("CrossBucket needs k and l, or a goal that says both, and not k or l beside a goal.")
        if goal is None:
            goal = goal_of(k, l)
        given = {
            "mode": mode,
            "strata": tuple(strata),
            "blocks": blocks,
            "bin_width": bin_width,
            "spread": spread,
            "swaps": swaps,
            "cells": cells,
        }
        for name, value in {"goal": goal, **given}.items():
            object.__setattr__(self, name, value)
        self._require_sense()

    def _require_sense(self) -> None:
        require_goal(self)
        for name, given, known in (
            ("mode", self.mode, get_args(Mode)),
            ("blocks", self.blocks, get_args(symmetric.Blocks)),
        ):
            if given not in known:
                raise InvalidInput(f"{name} is {given!r}; choose one of {', '.join(map(repr, known))}.")
        for name, number in (("bin_width", self.bin_width), ("spread", self.spread)):
            if number is not None:
                require_number(name, number, above=0)
        require_whole("swaps", self.swaps, least=0)
        form_of_cells(self.cells)
        n_k = sum(isinstance(part, KAnonymity) for part in self.goal.parts)
        n_l = sum(isinstance(part, FrequencyLDiversity | DistinctLDiversity) for part in self.goal.parts)
        if n_k > 1 or n_l != 1 or self.l < 2:
            raise InvalidInput(
                f"CrossBucket reaches k-anonymity and l-diversity with a whole l of at least 2, and was asked for {self.goal}."
            )
        if any(isinstance(part, AlphaKAnonymity) or not isinstance(part, SensitiveProperty) for part in self.also):
            raise InvalidInput(f"CrossBucket cannot check {self.goal}; name k-anonymity and l-diversity one by one.")
        if self.mode == "paper" and (self.strata or self.blocks != "random" or self.bin_width is not None):
            raise InvalidInput(
                "Strata, blocks and bins are not in the paper; leave them out, or leave out mode = 'paper'."
            )

    @property
    def shows(self) -> str | None:
        return form_of_cells(self.cells)

    @property
    def k(self) -> int:
        """How many people must look alike."""
        return next((int(part.k) for part in self.goal.parts if isinstance(part, KAnonymity)), 1)

    @property
    def l(self) -> int:  # noqa: E743
        """Among how many values everybody must be able to hide."""
        for part in self.goal.parts:
            if isinstance(part, FrequencyLDiversity | DistinctLDiversity) and exact(part.l).denominator == 1:
                return int(part.l)
        return 0

    @property
    def also(self) -> tuple[Property, ...]:
        """What the goal asks for beside k and l."""
        asked = KAnonymity | FrequencyLDiversity | DistinctLDiversity
        return tuple(part for part in self.goal.parts if not isinstance(part, asked))

    @property
    def guarantee(self) -> Guarantee:
        """Theorem B of docs/theory/safety.md, for two partitions in docs/theory/cross-bucket.md; `mode="paper"` chooses rows by their values."""
        found = MATCHED if self.mode == "safe" else RELEASE_ONLY
        return found if self.k > 1 else replace(found, besides=EXACT_ROWS)

    @property
    def file_shape(self) -> GroupShape:
        shape = replace(super().file_shape, boxes=True, tight=True)
        if self.mode == "paper":
            return shape
        return replace(shape, l=self.l, differ=self.bin_width is None, crossed=self.k)

    def anonymize(self, table: Table, *, rng: Generator, on_progress: Progress = silent) -> CrossBucketRelease:
        """Put every row into a group and into a bucket, or raise `Unreachable`."""
        sensitive = table.the_sensitive("CrossBucket")
        if self.mode == "paper":
            groups, buckets = printed.divide_table(table, sensitive, self.k, self.l, rng, on_progress)
            release = self._checked(CrossBucketRelease(table, groups, self, buckets))
            if nearness.can_be_near(sensitive):
                nearness.warn_of_near_values(sensitive, release.groups.histograms[sensitive.name], self.l)
            return release
        plan = symmetric.plan_table(table, sensitive, self, rng)
        if nearness.can_be_near(sensitive) and self.bin_width is None:
            nearness.warn_of_near_values(sensitive, nearness.beliefs_of_plan(plan.batches, sensitive), self.l)
        groups, buckets = symmetric.divide_table(table, plan, self.swaps, rng, on_progress)
        return self._checked(CrossBucketRelease(table, groups, self, buckets))

    def _checked(self, release: CrossBucketRelease) -> CrossBucketRelease:
        """The release, if all of the goal holds: what the default mode does not make sure of, and what the paper does not.

        Whether it does can be read from the release itself, so that making this condition teaches nothing more.
        """
        unsure = self.goal.parts if self.mode == "paper" else self.also
        missed = [part for part in unsure if not part.holds(release.groups)]
        if missed:
            reached = " and ".join(f"{part} (it reaches {part.describe_measure(release.groups)})" for part in missed)
            remedy = "use mode = 'safe'" if self.mode == "paper" else "ask for less, or for a larger l"
            raise Unreachable(f"The release missed {reached} and is not given out; {remedy}.")
        if self.spread is not None:
            nearness.require_spread_of_buckets(release, exact(self.spread))
        return release


def goal_of(k: int | None, l: int | None) -> Property:
    """(k, l)-anonymity as a goal."""
    require_whole("k", k)  # type: ignore[arg-type]  # None is refused here
    require_whole("l", l, least=2)  # type: ignore[arg-type]
    assert k is not None
    assert l is not None
    return AllOf((KAnonymity(k), FrequencyLDiversity(l)))
