# SPDX-License-Identifier: Apache-2.0
"""Leak: what an audit found, for people: sentences, tables and two plots. The same in a terminal and in a report.

Plots show means over at least `least_rows` people who are next to each other in the order of what is believed of them, so that
nobody stands alone in one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log10
from typing import Any

import numpy as np

from overt.adversary.l_sweep import LSweep
from overt.adversary.learner.findings import Learned
from overt.adversary.summary import FACTORS, Audit
from overt.guarantee import Beliefs, Guarantee
from overt.report.curves import curves
from overt.report.leak_verdict import LeakVerdict, verdict_of
from overt.report.plots import ALARM, BEFORE, Plot
from overt.report.sentences import one_in, percent

LEAST_ROWS = 10
MOST_POINTS = 100
LEAST_SECONDS = 30  # of an audit, if one in passing did not say enough
RELIABILITY = ("beliefs", "people", "mean belief", "share right")
PROOFS = {
    Beliefs.EVERY: "proof: replaying this method adds nothing, whatever somebody believed before (docs/theory/safety.md)",
    Beliefs.FLAT: "proof, for somebody who does not know how values depend on quasi-identifiers; others may learn more (docs/theory/safety.md)",
}


@dataclass(frozen=True, eq=False)
class Leak:
    """What someone who knows the method learns from a release, or why that is not known."""

    audit: Audit | None
    why_not: str = ""  # if there is no audit
    proof: Guarantee | None = None  # that there is none, whether it was measured or not
    sweep: LSweep | None = None
    least_rows: int = LEAST_ROWS
    in_passing: bool = (
        False  # whether it was given no time of its own: what was sampled is then a verdict at most, and no figure
    )
    learned: tuple[
        Learned, ...
    ] = ()  # what a learner guesses right of each column, if asked: on the owner's pages only
    others: tuple[Audit, ...] = ()  # of the other sensitive columns, if there are several

    @property
    def audits(self) -> tuple[Audit, ...]:
        """Of all sensitive columns."""
        return () if self.audit is None else (self.audit, *self.others)

    @property
    def by_column(self) -> "tuple[Leak, ...]":
        """The leak of each sensitive column by itself, without what is said of all."""
        return tuple(
            Leak(one, proof=self.proof, least_rows=self.least_rows, in_passing=self.in_passing) for one in self.audits
        )

    @property
    def is_proven(self) -> bool:
        """Whether it is proven that there is none, at least for a flat belief."""
        return self.proof is not None

    @property
    def verdict(self) -> LeakVerdict:
        """What can be said of somebody who knows the method."""
        if self.audit is None:
            return LeakVerdict.NOBODY if self.is_proven else LeakVerdict.UNKNOWN
        verdicts = {verdict_of(one) for one in self.audits}
        return next(one for one in (LeakVerdict.SOME, LeakVerdict.UNKNOWN, LeakVerdict.NOBODY) if one in verdicts)

    @property
    def has_figures(self) -> bool:
        """Whether there are figures that another audit would give again: exact ones, or sampled for as long as that took."""
        if self.audit is None:
            return False
        return self.audit.replayed.sampled is None or not (
            self.in_passing or verdict_of(self.audit) is LeakVerdict.UNKNOWN
        )

    @property
    def plots(self) -> dict[str, Plot]:
        """What can be drawn, by name."""
        found = (
            {}
            if self.audit is None or not self.has_figures
            else {"beliefs": plot_beliefs(self.audit, least_rows=self.least_rows)}
        )
        is_known = self.sweep is not None and any(point.is_known for point in self.sweep.points)
        return found | ({"breaches": plot_sweep(self.sweep)} if self.sweep is not None and is_known else {})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs."""
        return {
            "sentence": brief(self),
            "verdict": str(self.verdict),
            "audit": self.audit.to_dict() if self.audit is not None and self.has_figures else None,
            "other_columns": [one.to_dict() for one in self.by_column[1:]],
            "learner": [one.to_dict() for one in self.learned],
            "why_not": self.why_not,
            "proven_none": self.is_proven,
            "proven_for_beliefs": None if self.proof is None else str(self.proof.beliefs),
            "sweep": None if self.sweep is None else self.sweep.to_dict(),
            "plots": {name: dict(plot.spec) for name, plot in self.plots.items()},
        }


def brief(leak: Leak) -> str:
    """The leak in one sentence: a verdict only where the audit supports it, and figures only where they would be the same again."""
    if leak.others and leak.proof is None:
        return "; ".join(f"{one.audit.column}: {brief(one)}" for one in leak.by_column if one.audit is not None)
    found = leak.audit
    if leak.proof is not None:
        return f"none, by {PROOFS[leak.proof.beliefs]}"
    if found is None:
        return f"not audited: {leak.why_not.removesuffix('.')}"
    against, verdict = bound_of(found), verdict_of(found)
    if verdict is LeakVerdict.UNKNOWN and (why := why_not_known(found)):
        return f"not known: {why.removesuffix('.')}"
    if verdict is LeakVerdict.UNKNOWN:
        return f"not enough sampling yet: run overt audit {_for_longer(found)}"
    exactly = " (exact)" if found.replayed.sampled is None else ""
    if verdict is LeakVerdict.NOBODY:
        return f"nobody above {against}, also with the method{exactly}"
    if not leak.has_figures:
        return f"some people are above {against} to someone who knows the method; overt audit {_for_longer(found)} says how many"
    alone = found.share_above(posterior=found.alone)
    certain = f", {found.n_certain:,} known for certain" if found.n_certain else ""
    above = people_above(found) if found.share_said() is not None else f"at least {percent(0)}"
    return f"{above} of people above {against} to someone who knows the method, {percent(alone)} to someone who does not{certain}{exactly}"


def people_above(found: Audit, factor: Fraction | float = 1) -> str:
    """The share of people above so many times the bound, in the words of every table and sentence."""
    return words_of_share(found.share_said(factor), is_exact=found.replayed.is_exact) or _not_known(found)


def words_of_share(said: float | None, *, is_exact: bool) -> str:
    r"""A share that an audit supports; one that was sampled is a bound from below, and is rounded down. Empty if nothing can be said.

    >>> [words_of_share(said, is_exact=False) for said in (0.1097, 0.0349, 0.00034, 0.0)]
    ['at least 10\xa0%', 'at least 3.4\xa0%', 'at least 0.03\xa0%', '0\xa0%']
    """
    if said is None:
        return ""
    if is_exact or not said:
        return percent(said)
    places = 2 if 0.1 <= said <= 0.99 else max(3, ceil(-log10(said)))
    least = floor(said * 10**places + 1e-9) / 10**places
    return (
        f"at least {least:.0%}".replace("%", "\u00a0%")
        if places == 2
        else f"at least {100 * least:.{places - 2}f}\u00a0%"
    )


def _for_longer(found: Audit) -> str:
    """How long an audit should look, as an option."""
    sampled = found.replayed.sampled
    if sampled is None:
        return ""
    needed = max(LEAST_SECONDS, 2 * sampled.seconds, sampled.needed or 0.0)
    return f"--seconds {rounded_up(needed)}"


def rounded_up(seconds: float) -> int:
    """A number of seconds that someone would type.

    >>> [rounded_up(seconds) for seconds in (0.3, 11, 47, 430)]
    [10, 20, 50, 500]
    """
    unit = 10 ** max(1, ceil(log10(max(1.0, seconds))) - 1)
    return int(ceil(seconds / unit) * unit)


def sentences_of_leak(leak: Leak) -> Iterator[str]:
    """The leak in words, for reports without tables and plots."""
    yield f"Leak: {brief(leak)}."
    for one in leak.by_column:
        if one.audit is None or not one.has_figures:
            continue
        of = f" about {one.audit.column}" if leak.others else ""
        yield f"Worst off{of}: {sentence_of_worst(one.audit)}"
        for name, measure, alone, replayed in risk_rows(one.audit):
            yield f"{name}{of}: {alone} with the release alone, {replayed} with the method ({measure})."


def why_not_known(found: Audit) -> str:
    """Why nothing is known of anybody, if no time would help."""
    sampled = found.replayed.sampled
    if sampled is None or found.n_unknown < found.n_rows:
        return ""
    if found.replayed.how == "chain":
        return (
            "the method was run again at every step of chains that all begin at the true table; they may never have moved far "
            "from it, so no conclusion is drawn"
        )
    return sampled.why


def _not_known(found: Audit) -> str:
    return "not known" if why_not_known(found) else "not known yet"


def bound_of(found: Audit) -> str:
    """What beliefs are held against, in words."""
    return "what the release alone says" if found.bound is None else f"the promised {found.bound}"


def belief_rows(found: Audit) -> Iterator[tuple[str, str, str]]:
    """(what, with the release alone, with the method)."""
    for factor in FACTORS:
        before = percent(found.share_above(factor, posterior=found.alone))
        label = f"people above {bound_of(found)}" if factor == 1 else f"  above {float(factor):g} times that"
        yield label, before, people_above(found, factor)
    alone, replayed = found.guesses
    n = found.n_rows
    certain = int((found.alone.belief_of_row >= 1).sum())
    at_least = "at least " if found.n_unknown else ""
    yield "people known for certain", f"{certain:,}", f"{at_least}{max(certain, found.n_certain):,}"
    highest = _not_known(found) if found.n_unknown == found.n_rows else f"{at_least}{found.worst.belief:.3f}"
    yield "highest belief", f"{found.alone.belief_of_row.max():.3f}", highest
    guessed = [f"{one:,.0f} ({percent(one / n)})" for one in (alone, replayed)]
    yield "values guessed right, expected", guessed[0], guessed[1] if found.is_known else f"at least {guessed[1]}"
    if found.n_unknown:
        yield "people for whom this is not known yet", "0", f"{found.n_unknown:,}"


def words_of_certain(found: Audit) -> tuple[str, ...]:
    """What is certain of people, where it is only that they do not have a rare value; nothing elsewhere."""
    if not found.certain_are_ordinary:
        return ()
    return (
        "Those known for certain have the value that most people have. It is certain that they do not have a rarer one.",
    )


def risk_rows(found: Audit) -> Iterator[tuple[str, str, str, str]]:
    """(risk of the opinion, what is measured, with the release alone, with the method)."""
    for risk in found.risks:
        shown = one_in if risk.name == "singling out" else percent
        yield risk.name, risk.measure, shown(risk.alone), shown(risk.replayed)


def sentence_of_worst(found: Audit) -> str:
    """Who is worst off and why, without saying who."""
    worst = found.worst
    error = f" (standard error {worst.error:.3f})" if worst.error >= 0.0005 else ""
    if found.n_unknown == found.n_rows:
        return f"{worst.share:.3f} with the release alone, {_not_known(found)} with the method."
    among = "of those of whom something is known, " if found.n_unknown else ""
    return (
        f"{among}{worst.n_alike:,} of {worst.group_size:,} people of a group: {worst.share:.3f} with the release alone, "
        f"{worst.belief:.3f} with the method{error}. Why: {worst.why}."
    )


def how_found(found: Audit) -> str:
    """How the figures came about, and how far they can be trusted."""
    sampled = found.replayed.sampled
    if sampled is not None and sampled.why:
        return f"not at all. {sampled.why}"
    if found.replayed.how == "shares":
        return "the shares of values in their groups: for a flat prior, replaying adds nothing, by proof (docs/theory/safety.md)"
    if sampled is None and found.replayed.n_tables is not None:
        return f"trying every table, exactly; {found.replayed.n_tables:,} give this release"
    if sampled is None:
        return f"exact inference ({found.replayed.how})"
    figures = sampled.to_dict(found.replayed)
    error, spread = figures["standard_error"]["99_percent"], figures["spread"]["99_percent"]
    told = "" if error is None else f" Standard error {error:.3f} or less for 99% of people."
    if found.replayed.how == "chain":
        return (
            f"{sampled.n_runs} chains that run the method again at every step, all from the true table ({sampled.n_proposed:,} steps, "
            f"{sampled.seconds:.0f} s). They may never have moved far from it, so no conclusion is drawn."
        )
    if not sampled.n_runs and not sampled.n_proposed and found.is_known:
        return f"the inference of the method, between bounds ({found.replayed.how}, {sampled.seconds:.0f} s).{told}"
    agree = (
        ""
        if spread is None
        else f" log Z differs between runs by a standard deviation of {spread:.2f} or less for 99% of cells."
    )
    return (
        f"{sampled.n_runs} independent runs of sequential Monte Carlo ({sampled.n_proposed:,} proposed swaps, "
        f"{sampled.seconds:.0f} s).{told}{agree} People count as above a bound only if they exceed it by three standard errors. Every table that "
        f"was counted leads to this release.{_unknown(found)}"
    )


def _unknown(found: Audit) -> str:
    """Of how many nothing is known, and what would help."""
    sampled = found.replayed.sampled
    if not found.n_unknown or sampled is None:
        return ""
    help_ = "" if sampled.needed is None else f" {rounded_up(sampled.needed):,} seconds may be enough."
    return (
        f" Not known yet for {found.n_unknown:,} people: the runs do not agree, or did not reach the release in time. None of "
        f"these people counts as above or below a bound.{help_}"
    )


def plot_beliefs(found: Audit, *, least_rows: int = LEAST_ROWS) -> Plot:
    """Beliefs about everybody, with the release alone and with the method; people in the order of the latter.

    Of people of whom nothing is known yet, both curves show what the release alone says: what runs that disagree found is no figure.
    """
    alone = found.alone.belief_of_row
    replayed = np.where(found.replayed.is_known_of_row, found.replayed.belief_of_row, alone)
    n_points = int(np.clip(found.n_rows // least_rows, 1, MOST_POINTS))
    order = np.lexsort((alone, replayed))
    pieces = np.array_split(order, n_points)
    ends = np.cumsum([piece.size for piece in pieces]) / found.n_rows
    middles = [float(end - piece.size / found.n_rows / 2) for end, piece in zip(ends, pieces, strict=True)]
    if n_points == 1:
        middles, pieces = [0.0, 1.0], [order, order]
    series = {
        name: [(x, float(belief[piece].mean())) for x, piece in zip(middles, pieces, strict=True)]
        for name, belief in (("with the release alone", alone), ("with the method", replayed))
    }
    open_ = (
        f"; for {found.n_unknown:,} people the latter is not known yet and drawn as the former"
        if found.n_unknown
        else ""
    )
    return curves(
        series,
        description=f"Highest probability of a value of {found.column} for each person, with the release alone and with the method{open_}",
        x="people, ordered by this probability with the method",
        y="probability of their likeliest value",
        colours=(BEFORE, ALARM),
        x_as_share=True,
        bound=None if found.bound is None else (f"promised: {found.bound}", float(found.bound)),
    )


def plot_sweep(sweep: LSweep) -> Plot:
    """The share of people above 1/l with the method, for each method and l."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for point in (point for point in sweep.points if point.is_known and point.said is not None):
        lines.setdefault(point.method, []).append((float(point.l), point.said or 0.0))
    series: dict[str, list[tuple[float, float]]] = {}
    for line in lines.values():  # methods that give the same are one line: the last would hide the others
        series[", ".join(name for name, other in lines.items() if other == line)] = line
    return curves(
        series,
        description="The share of people above the promised 1/l to someone who knows the method, by method and l",
        x="l",
        y="people above 1/l, with the method",
        dotted=True,
    )


def sweep_rows(sweep: LSweep) -> Iterator[tuple[str, ...]]:
    """A header, and a row for every method and l."""
    yield "method", "l", "groups", "people above 1/l", "highest belief", "error"
    for one in sweep.points:
        error = f"{one.error:.3f}" if one.error else "exact"
        above = words_of_share(one.said, is_exact=not one.error) or "not known yet"
        highest = f"{one.highest:.3f}" if one.is_known else ""
        yield one.method, f"{one.l}", f"{one.n_groups:,}", above, highest, error


def sweep_failures(sweep: LSweep) -> Iterator[str]:
    """What could not be judged and why, methods and reasons said once."""
    ls: dict[tuple[str, str], list[str]] = {}
    for one in sweep.failures:
        ls.setdefault((one.method, one.why), []).append(f"{one.l}")
    for (method, why), which in ls.items():
        yield f"{method}, l = {', '.join(which)}: {why}"
