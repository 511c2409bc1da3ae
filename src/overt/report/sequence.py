# SPDX-License-Identifier: Apache-2.0
"""Levels tried in order: what each would have said with and without knowledge of the method, and what was decided."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from overt.algorithms.sequence.levels_tried import (
    Between,
    InOrderRelease,
    Tried,
    TriedLevels,
    best_guess,
    highest_between,
)
from overt.algorithms.sequence.properties import RowProperty
from overt.markup import Child, element, html_table
from overt.metrics.utility import Utility, measure_utility
from overt.release import GeneralizedRelease, Release
from overt.report.plots import Plot, Range, ranges_against_bound

ALONE, KNOWING = "by the release alone", "knowing the method"


@dataclass(frozen=True)
class TriedLevel:
    """One level that was tried, in numbers."""

    step: int
    name: str
    n_groups: int
    smallest: int
    highest: float
    best_guess: float
    highest_knowing: Between | None  # None: out of reach, and the strategy did not need it
    best_guess_knowing: Between | None
    accuracy: str
    confidence: float | None
    engine: str
    decision: str

    @classmethod
    def of(cls, tried: Tried) -> "TriedLevel":
        """Measure a level."""
        sizes, known = tried.function.partition.sizes, tried.knowing
        return cls(
            step=tried.step,
            name=tried.function.name,
            n_groups=int(sizes.size),
            smallest=int(sizes.min()),
            highest=tried.highest,
            best_guess=tried.best_guess,
            highest_knowing=highest_between(known.posterior) if known else None,
            best_guess_knowing=best_guess(known.posterior) if known else None,
            accuracy=known.accuracy if known else tried.out_of_reach,
            confidence=known.confidence if known else None,
            engine=known.method if known else "",
            decision=tried.decision,
        )


@dataclass(frozen=True)
class LevelCost:
    """What a level costs: its groups, and three losses."""

    level: str
    n_groups: int
    discernibility: int
    certainty_penalty: float
    non_uniform_entropy: float

    @classmethod
    def of(cls, level: str, n_groups: int, utility: Utility) -> "LevelCost":
        """The cost of a release."""
        return cls(level, n_groups, utility.discernibility, utility.certainty_penalty, utility.non_uniform_entropy)


@dataclass(frozen=True)
class LevelsTried:
    """The section of a report about levels tried in order."""

    strategy: str
    goal: str
    bound: float | None  # on ratios, if that is what the goal is
    is_safe: bool
    levels: tuple[TriedLevel, ...]
    n_levels: int
    distance: int | None  # levels between the naive release and this one
    released: LevelCost
    naive: LevelCost | None
    plot: Plot = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs."""
        values = {key: value for key, value in asdict(self).items() if key != "plot"}
        return values | {"plot": dict(self.plot.spec)}


def levels_of(release: Release, utility: Utility) -> LevelsTried | None:
    """The section about a release, if levels were tried in order."""
    match release:
        case InOrderRelease():
            return _levels_of(release, utility)
    return None


def _levels_of(release: InOrderRelease, utility: Utility) -> LevelsTried:
    found, strategy = release.levels, release.levels.outcome.strategy
    levels = tuple(map(TriedLevel.of, found.tried))
    released = LevelCost.of(found.released.name, found.released.partition.n_groups, utility)
    return LevelsTried(
        strategy=str(strategy),
        goal=str(found.sequence.goal),
        bound=bound_of(found),
        is_safe=strategy.safe,
        levels=levels,
        n_levels=found.sequence.n_steps,
        distance=found.distance(),
        released=released,
        naive=cost_of_naive(release, released),
        plot=plot_levels(levels, bound_of(found)),
    )


def bound_of(levels: TriedLevels) -> float | None:
    """The bound on ratios that the goal is, if it is one."""
    goal = levels.sequence.goal
    bound = goal.ratio_bound if isinstance(goal, RowProperty) else None
    return None if bound is None else float(bound.bound)


def cost_of_naive(release: InOrderRelease, released: LevelCost) -> LevelCost | None:
    """What the naive release would have cost."""
    naive = release.levels.naive_level
    if naive is None or not release.levels.distance():
        return released if naive is not None else None
    instead = GeneralizedRelease(release.table, naive.partition, release.made_by)
    return LevelCost.of(naive.name, naive.partition.n_groups, measure_utility(instead))


def plot_levels(levels: tuple[TriedLevel, ...], bound: float | None) -> Plot:
    """The highest ratio by level, without and with knowledge of the method."""
    rows = []
    for level in levels:
        rows.append(Range(level.name, ALONE, level.highest, level.highest))
        if level.highest_knowing is not None:
            rows.append(Range(level.name, KNOWING, *level.highest_knowing))
    return ranges_against_bound(
        rows,
        bound,
        series=(ALONE, KNOWING),
        description="Highest likelihood of a sensitive value for anyone, by level: by the release alone, and knowing the method",
        x="level, in the order they were tried",
        y="highest ratio",
    )


def sentences_of(found: LevelsTried) -> Iterator[str]:
    """What was found, for someone who decides."""
    last = found.levels[-1]
    yield (
        f"The {found.strategy} strategy tried {len(found.levels)} of {found.n_levels} levels, from fine to coarse, for "
        f"{found.goal}, and released {last.name!r}. Somebody who knows this rules out every table for which it would have "
        "stopped earlier; the second number of each level is the highest probability that remains."
    )
    if last.highest_knowing is not None:
        yield (
            f"At the released level the most likely value of anyone has {last.highest:.4f} by the release alone, and "
            f"{between(last.highest_knowing)} for someone who knows the method ({last.accuracy}). The best guess is right for "
            f"{last.best_guess:.4f} of people by the release alone, {between(last.best_guess_knowing)} knowing the method."
        )
    yield beside_naive(found)


def beside_naive(found: LevelsTried) -> str:
    """How far the release lies from what the naive strategy would have released."""
    naive, released = found.naive, found.released
    if naive is None or found.distance is None:
        return "The naive strategy would have released nothing."
    if not found.distance:
        same = "The naive strategy releases the same level"
        if found.is_safe:
            return f"{same}: on this table, safety against someone who knows the method cost nothing."
        return (
            f"{same}; this is the naive strategy, and it does not follow that the goal holds for what remains likely."
        )
    levels = f"{found.distance} level{'s' if found.distance > 1 else ''} finer"
    return (
        f"The naive strategy would have released {naive.level!r}, {levels}, and would have told more than the goal allows. "
        f"Safety cost {naive.n_groups - released.n_groups:,} of its {naive.n_groups:,} groups; discernibility went from "
        f"{naive.discernibility:,} to {released.discernibility:,}, the entropy lost from {naive.non_uniform_entropy:.3f} to "
        f"{released.non_uniform_entropy:.3f}, the certainty penalty from {naive.certainty_penalty:.3f} to {released.certainty_penalty:.3f}."
    )


def between(bounds: Between | None) -> str:
    """A number, or the two it lies between."""
    if bounds is None:
        return ""
    low, up = (f"{bound:.4f}" for bound in bounds)
    return low if low == up else f"{low} to {up}"


def body_of_levels(found: LevelsTried, figure: Child) -> Iterator[Child]:
    """The section, with its plot as it is drawn."""
    yield [element("p", text) for text in sentences_of(found)]
    yield element(
        "p",
        element("span", class_="key before"),
        f" {ALONE} ",
        element("span", class_="key after"),
        f" {KNOWING}; a bar lies between bounds",
        class_="quiet",
    )
    yield figure
    yield html_table(
        ["TriedLevel", "Groups", "Smallest", "Highest ratio", "Knowing the method", "Best guess", "Knowing the method"],
        [
            [
                level.name,
                f"{level.n_groups:,}",
                f"{level.smallest:,}",
                f"{level.highest:.4f}",
                between(level.highest_knowing),
                f"{level.best_guess:.4f}",
                between(level.best_guess_knowing),
            ]
            for level in found.levels
        ],
    )
    yield html_table(
        ["TriedLevel", "What was decided, and why", "How certain the numbers are"],
        [
            [level.name, level.decision, f"{level.accuracy}, by {level.engine}" if level.engine else level.accuracy]
            for level in found.levels
        ],
        n_text_columns=3,
    )
    yield element(
        "p",
        "Only for the owner: which levels were tried, and what was found, reveals more about people than the release. "
        "Leave this section out of what you pass on.",
        class_="warn",
    )
