# SPDX-License-Identifier: Apache-2.0
"""Leak: what an audit found, for people: sentences, tables and two plots. The same in a terminal and in a report.

Plots show means over at least `least_rows` people who are next to each other in the order of what is believed of them, so that
nobody stands alone in one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from overt.adversary.opinion import CITATION
from overt.adversary.summary import FACTORS, Audit
from overt.adversary.sweep import Sweep
from overt.markup import Child, element, html_table
from overt.report.curves import curves
from overt.report.plots import ALARM, BEFORE, Plot
from overt.report.sentences import one_in, percent

LEAST_ROWS = 10
MOST_POINTS = 100
LITTLE = 0.1  # the share of people near the truth up to which nothing is said of it in a sweep
PROOF = "proof: to someone who replays this method every value has its share of the group (docs/safety.md)"


@dataclass(frozen=True, eq=False)
class Leak:
    """What someone who has the method learns from a release, or why that is not known."""

    audit: Audit | None
    why_not: str = ""  # if there is no audit
    is_proven: bool = False  # that there is none, whether it was measured or not
    sweep: Sweep | None = None
    least_rows: int = LEAST_ROWS

    @property
    def plots(self) -> dict[str, Plot]:
        """What can be drawn, by name."""
        found = {} if self.audit is None else {"beliefs": plot_beliefs(self.audit, least_rows=self.least_rows)}
        is_known = self.sweep is not None and any(point.is_known for point in self.sweep.points)
        return found | ({"breaches": plot_sweep(self.sweep)} if self.sweep is not None and is_known else {})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs."""
        return {
            "audit": None if self.audit is None else self.audit.to_dict(),
            "why_not": self.why_not,
            "proven_none": self.is_proven,
            "sweep": None if self.sweep is None else self.sweep.to_dict(),
            "plots": {name: dict(plot.spec) for name, plot in self.plots.items()},
        }


def brief(leak: Leak) -> str:
    """The leak in one sentence."""
    found = leak.audit
    if leak.is_proven or (found is not None and found.replayed.how == "shares"):
        return f"none, by {PROOF}"
    if found is None:
        return f"not audited: {leak.why_not.removesuffix('.')}"
    above, alone = found.share_above(), found.share_above(posterior=found.alone)
    against = bound_of(found)
    sampled = found.replayed.sampled
    surely = "" if sampled is None else f", sampled for {sampled.seconds:.1f} s; overt audit looks longer"
    if not above and not found.n_certain:
        nobody = "nobody" if sampled is None else "nobody seen"
        return f"{nobody} above {against}, also with the method{surely or ' (exact)'}"
    certain = f", {found.n_certain:,} known for certain" if found.n_certain else ""
    least = "" if sampled is None else "at least "
    return (
        f"{least}{percent(above)} of people above {against} to someone who has the method, {percent(alone)} to someone who has "
        f"not{certain}{surely or ' (exact)'}"
    )


def sentences_of_leak(leak: Leak) -> Iterator[str]:
    """The leak in words, for reports without tables and plots."""
    yield f"Leak: {brief(leak)}."
    if leak.audit is not None:
        yield f"Worst off: {sentence_of_worst(leak.audit)}"
        for name, measure, alone, replayed in risk_rows(leak.audit):
            yield f"{name}: {alone} with the release alone, {replayed} with the method ({measure})."


def bound_of(found: Audit) -> str:
    """What beliefs are held against, in words."""
    return "what the release alone says" if found.bound is None else f"the promised {found.bound}"


def belief_rows(found: Audit) -> Iterator[tuple[str, str, str]]:
    """(what, with the release alone, with the method)."""
    for factor in FACTORS:
        before, after = (percent(found.share_above(factor, posterior=one)) for one in (found.alone, found.replayed))
        label = f"people above {bound_of(found)}" if factor == 1 else f"  above {float(factor):g} times that"
        yield label, before, after
    alone, replayed = found.guesses
    n = found.n_rows
    certain = int((found.alone.belief_of_row >= 1).sum())
    yield "people known for certain", f"{certain:,}", f"{found.n_certain:,}"
    yield "highest belief", f"{found.alone.belief_of_row.max():.3f}", f"{found.worst.belief:.3f}"
    guessed = [f"{one:,.0f} ({percent(one / n)})" for one in (alone, replayed)]
    yield "values guessed right, expected", guessed[0], guessed[1]


def risk_rows(found: Audit) -> Iterator[tuple[str, str, str, str]]:
    """(risk of the opinion, what is measured, with the release alone, with the method)."""
    for risk in found.risks:
        shown = one_in if risk.name == "singling out" else percent
        yield risk.name, risk.measure, shown(risk.alone), shown(risk.replayed)


def sentence_of_worst(found: Audit) -> str:
    """Who is worst off and why, without saying who."""
    worst = found.worst
    error = f" (standard error {worst.error:.3f})" if worst.error >= 0.0005 else ""
    return (
        f"{worst.n_alike:,} of {worst.group_size:,} people of a group: {worst.share:.3f} with the release alone, "
        f"{worst.belief:.3f} with the method{error}. Why: {worst.why}."
    )


def how_found(found: Audit) -> str:
    """How the figures came about, and how far they can be trusted."""
    sampled = found.replayed.sampled
    if found.replayed.how == "shares":
        return PROOF
    if sampled is None and found.replayed.n_tables is not None:
        return f"trying every table, exactly; {found.replayed.n_tables:,} give this release"
    if sampled is None:
        return f"exact inference ({found.replayed.how})"
    figures = sampled.to_dict(found.replayed)
    near = (
        f" For {sampled.n_near_truth:,} people all chains begin at the true table, too much being tied together to get to this "
        "release from a random one: if chains stay near it, beliefs come out too high, and R-hat does not show it."
        if sampled.n_near_truth
        else ""
    )
    unmoved = f" {sampled.n_still:,} people never moved: known for certain, or not reached." if sampled.n_still else ""
    r_hat = figures["r_hat"]["99_percent"]
    agree = (
        "chains that did not all come to the release"
        if r_hat is None
        else f"R-hat {r_hat:.2f} or less for 99% of cells"
    )
    return (
        f"{sampled.n_chains} chains of {sampled.n_sweeps:,} sweeps ({sampled.n_proposed:,} proposed swaps, "
        f"{sampled.seconds:.0f} s). Standard error {figures['standard_error']['99_percent']:.3f} or less for 99% of people, "
        f"{agree}; people count as above a bound if they are by three errors. Every table "
        f"counted gives this release; tables that the chains did not reach are missing.{unmoved}{near}"
    )


def plot_beliefs(found: Audit, *, least_rows: int = LEAST_ROWS) -> Plot:
    """What is believed of everybody, with the release alone and with the method; people in the order of the latter."""
    alone, replayed = found.alone.belief_of_row, found.replayed.belief_of_row
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
    return curves(
        series,
        description=f"What is believed of {found.column}, with the release alone and with the method, for all people",
        x="people, in the order of what is believed of them with the method",
        y="belief in their likeliest value",
        colours=(BEFORE, ALARM),
        x_as_share=True,
        bound=None if found.bound is None else (f"promised: {found.bound}", float(found.bound)),
    )


def plot_sweep(sweep: Sweep) -> Plot:
    """The share of people above 1/l with the method, for each method and l."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for point in (point for point in sweep.points if point.is_known):
        name = f"{point.method} (may be too high)" if point.near_truth > LITTLE else point.method
        lines.setdefault(name, []).append((float(point.l), point.above))
    series: dict[str, list[tuple[float, float]]] = {}
    for line in lines.values():  # methods that give the same are one line: the last would hide the others
        series[", ".join(name for name, other in lines.items() if other == line)] = line
    return curves(
        series,
        description="The share of people above the promised 1/l to someone who has the method, by method and l",
        x="l",
        y="people above 1/l, with the method",
        dotted=True,
    )


def sweep_rows(sweep: Sweep) -> Iterator[tuple[str, ...]]:
    """A header, and a row for every method and l."""
    yield "method", "l", "groups", "people above 1/l", "highest belief", "error"
    for one in sweep.points:
        error = "exact" if one.how != "chain" else f"{one.error:.3f}"
        above, highest = (percent(one.above), f"{one.highest:.3f}") if one.is_known else ("not known", "")
        if one.is_known and one.near_truth > LITTLE:
            above = f"{above}, may be too high"
        yield one.method, f"{one.l}", f"{one.n_groups:,}", above, highest, error


def sweep_failures(sweep: Sweep) -> Iterator[str]:
    """What could not be judged and why, methods and reasons said once."""
    ls: dict[tuple[str, str], list[str]] = {}
    for one in sweep.failures:
        ls.setdefault((one.method, one.why), []).append(f"{one.l}")
    for (method, why), which in ls.items():
        yield f"{method}, l = {', '.join(which)}: {why}"


def section_of(leak: Leak) -> Iterator[Child]:
    """The section of a report; `overt.report.html` puts it in its place."""
    from overt.report.html import figure_of

    found = leak.audit
    if found is None:
        yield element("p", f"Leak: {brief(leak)}.", class_="holds" if leak.is_proven else None)
        yield from _swept(leak)
        return
    is_bad = found.share_above() > found.share_above(posterior=found.alone)
    yield element("p", f"Leak: {brief(leak)}.", class_="alarm" if is_bad else "holds")
    yield element(
        "p",
        f"Asked of {found.column}: what someone believes who knows everyone's quasi-identifiers and the release, and what "
        "if he also runs the method on every table that could be behind it.",
    )
    plots = leak.plots
    yield element(
        "div",
        figure_of(plots["beliefs"], "What is believed of everybody"),
        element("div", html_table(["", "Release alone", "With the method"], list(belief_rows(found)))),
        class_="pair",
    )
    yield element("p", element("b", "Worst off: "), sentence_of_worst(found))
    yield element("h3", "In the words of regulators")
    yield html_table(
        ["Risk", "Measured as", "Release alone", "With the method"], list(risk_rows(found)), n_text_columns=2
    )
    yield element(
        "p", f"The three risks of {CITATION}; it gives no formula, this is how Overt computes them.", class_="quiet"
    )
    yield from _swept(leak)
    yield element("p", f"Found by {how_found(found)}", class_="quiet")


def _swept(leak: Leak) -> Iterator[Child]:
    from overt.report.html import figure_of

    if leak.sweep is None:
        return
    yield element("h3", "Other methods, other l")
    if leak.sweep.points:
        header, *rows = sweep_rows(leak.sweep)
        plots = leak.plots
        figure = "breaches" in plots and figure_of(plots["breaches"], "People above 1/l to someone who has the method")
        yield element("div", figure or None, element("div", html_table(header, rows)), class_="pair")
    if leak.sweep.failures:
        yield element("ul", [element("li", why) for why in sweep_failures(leak.sweep)], class_="quiet")


def page_of_leak(leak: Leak, *, title: str) -> str:
    """An audit as a page of its own, in the dress of a report."""
    from overt.report.html import page

    head = element("header", element("p", "Audit", class_="kicker"), element("h1", title))
    return page(f"Audit: {title}", element("main", head, section_of(leak), class_="overt-report"))
