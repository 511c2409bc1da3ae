# SPDX-License-Identifier: Apache-2.0
"""Comparison: what several recipes would give, side by side. Nothing is written."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from overt.engine.local import read_table
from overt.engine.passing import look
from overt.engine.private import refuse_private
from overt.errors import OvertError
from overt.io.recipe import Recipe
from overt.io.settings import Input
from overt.metrics.risk import Risk, risk_of_release
from overt.metrics.utility import Utility, measure_utility
from overt.progress import Progress, silent
from overt.report.leak import Leak
from overt.report.plots import Plot, points


@dataclass(frozen=True, eq=False)
class Candidate:
    """What one recipe gives."""

    name: str
    method: str
    goal: str
    against: str
    n_rows: int
    n_suppressed: int
    seconds: float  # for the method alone
    described: tuple[object, ...]  # the data and the roles of columns: what must be the same for numbers to compare
    risk: Risk
    utility: Utility
    leak: Leak | None = None  # what someone who has the method learns; None if it was not asked

    @property
    def people_above(self) -> float | None:
        """The share of people of whom someone who has the method believes more than promised; None if it is not known."""
        if self.leak is None or (self.leak.audit is None and not self.leak.is_proven):
            return None
        return 0.0 if self.leak.audit is None else self.leak.audit.share_above()

    @property
    def guessed_with_method(self) -> float | None:
        """The share of values that someone who has the method guesses right; None if it is not known."""
        if self.leak is None or self.leak.audit is None:
            return None
        return self.leak.audit.guesses[1] / self.leak.audit.n_rows

    @property
    def guessed_alone(self) -> float | None:
        """The same for someone who has not, but knows who is in which group, if that was asked; else `best_guess`."""
        if self.leak is None or self.leak.audit is None:
            return self.best_guess
        return self.leak.audit.guesses[0] / self.leak.audit.n_rows

    @property
    def best_guess(self) -> float | None:
        """The share of people whose sensitive value is guessed right, of the worst column."""
        return max((one.best_guess for one in self.risk.disclosures), default=None)

    @property
    def kept(self) -> float | None:
        """The share of what a model learns from the original that it also learns from the release, of the worst column."""
        return min((one.kept for one in self.utility.predictions), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "recipe": self.name,
            "method": self.method,
            "goal": self.goal,
            "against": self.against,
            "rows": self.n_rows,
            "rows_suppressed": self.n_suppressed,
            "groups": self.risk.identification.n_groups,
            "prosecutor": float(self.risk.identification.prosecutor),
            "marketer": float(self.risk.identification.marketer),
            "best_guess": self.best_guess,
            "best_guess_with_method": self.guessed_with_method,
            "leak": self.people_above,
            "not_audited": self.leak.why_not or None if self.leak is not None else "not asked",
            "average_group_size": self.utility.average_group_size,
            "discernibility": self.utility.discernibility,
            "certainty_penalty": self.utility.certainty_penalty,
            "non_uniform_entropy": self.utility.non_uniform_entropy,
            "pair_divergence": self.utility.pair_divergence,
            "mean_error": self.utility.mean_error,
            "prediction_kept": self.kept,
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class Failure:
    """A recipe that gave nothing, and why."""

    name: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"recipe": self.name, "error": self.why}


def compare(
    recipes: Sequence[Recipe], *, rng: Generator, seconds: float = 5.0, on_progress: Progress = silent
) -> tuple[tuple[Candidate, ...], tuple[Failure, ...]]:
    """Run every recipe and measure what comes out; one that cannot reach its goal does not stop the others.

    What someone who has the method learns is sampled for so many seconds each where it is not exact; 0 is not at all.
    """
    candidates, failures = [], []
    names = _names(recipes)
    for name, recipe in zip(names, recipes, strict=True):

        def stage(what: str, done: int, total: int, name: str = name) -> None:
            on_progress(f"{name}: {what}", done, total)

        try:
            candidates.append(_try(name, recipe, rng, seconds, stage))
        except OvertError as error:
            failures.append(Failure(name, str(error)))
    return tuple(candidates), tuple(failures)


def find_difference(candidates: Sequence[Candidate]) -> str:
    """What a reader of a comparison must know: whether numbers are of the same thing. Empty if they are."""
    if len({candidate.described for candidate in candidates}) < 2:
        return ""
    return (
        "These recipes differ in the data or in the roles of columns; numbers of one cannot be held against another's."
    )


def plot_candidates(candidates: Sequence[Candidate]) -> Plot:
    """Risk against cost: further down is safer, further left is more useful."""
    has_sensitive = all(candidate.best_guess is not None for candidate in candidates)
    rows = [
        (
            candidate.name,
            candidate.utility.pair_divergence,
            candidate.guessed_alone or 0.0 if has_sensitive else float(candidate.risk.identification.prosecutor),
        )
        for candidate in candidates
    ]
    risen = {one.name: one.guessed_with_method for one in candidates if one.guessed_with_method is not None}
    y = "sensitive values guessed right" if has_sensitive else "highest chance to be found"
    return points(
        rows,
        description="Risk against cost of several releases",
        x="what pairs of columns lost (bits)",
        y=y,
        risen=risen if has_sensitive else {},
    )


def _try(name: str, recipe: Recipe, rng: Generator, audited: float, on_progress: Progress) -> Candidate:
    refuse_private(recipe, "a comparison")
    table = read_table(recipe, recipe.input_path, on_progress)
    begin = time.perf_counter()
    release = recipe.method.anonymize(table, rng=rng, on_progress=on_progress)
    seconds = time.perf_counter() - begin
    leak = look(release, audited, rng=rng, on_progress=on_progress) if audited and table.sensitive else None
    on_progress("Measuring", 0, 0)
    method: Any = release.made_by
    return Candidate(
        name=name,
        method=method.name,
        goal=" and ".join(map(str, recipe.goal.parts)),
        against=method.against,
        n_rows=table.n_rows,
        n_suppressed=release.n_suppressed,
        seconds=seconds,
        described=(
            recipe.input_path.resolve() if isinstance(recipe.settings.input, Input) else recipe.settings.input,
            *(frozenset(recipe.columns_of(role)) for role in ("quasi-identifier", "sensitive")),
        ),
        risk=risk_of_release(release),
        utility=measure_utility(release),
        leak=leak,
    )


def _names(recipes: Sequence[Recipe]) -> list[str]:
    """The names of the recipes, with their folder where two are the same."""
    plain = [recipe.name.removesuffix(".toml") for recipe in recipes]
    if len(set(plain)) == len(plain):
        return plain
    return [f"{recipe.folder.name}/{name}" for recipe, name in zip(recipes, plain, strict=True)]
