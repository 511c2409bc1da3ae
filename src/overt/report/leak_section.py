# SPDX-License-Identifier: Apache-2.0
# Tested through tests/report/test_leak.py
"""Leak section: what an audit found, as a section of a report and as a page of its own."""

from collections.abc import Iterator

from overt.adversary.downcoding.findings import Downcoding
from overt.adversary.learner.findings import Learned
from overt.adversary.wp216_risks import CITATION
from overt.audience import Audience
from overt.markup import Child, element, html_table
from overt.report.downcoding import TITLE, section_of_downcoding
from overt.report.leak import (
    RELIABILITY,
    Leak,
    belief_rows,
    brief,
    how_found,
    risk_rows,
    sentence_of_worst,
    sweep_failures,
    sweep_rows,
)
from overt.report.leak_verdict import LeakVerdict


def section_of(leak: Leak) -> Iterator[Child]:
    """The section of a report; `overt.report.html` puts it in its place."""
    if leak.others:
        for one in leak.by_column:
            assert one.audit is not None
            yield element("h3", f"About {one.audit.column}")
            yield from _section_of_column(one)
        yield from _swept(leak)
    else:
        yield from _section_of_column(leak)
    for learned in leak.learned:
        yield from section_of_learner(learned)


def _section_of_column(leak: Leak) -> Iterator[Child]:
    from overt.report.html import figure_of

    found = leak.audit
    dress = {LeakVerdict.NOBODY: "holds", LeakVerdict.SOME: "alarm", LeakVerdict.UNKNOWN: "unknown"}[leak.verdict]
    if (
        leak.verdict is LeakVerdict.SOME
        and found is not None
        and found.share_above() <= found.share_above(posterior=found.alone)
    ):
        dress = "unknown"  # what the release alone says is not what the method gives away
    yield element("p", f"Leak: {brief(leak)}.", class_=dress)
    if found is None or not leak.has_figures:
        yield from _swept(leak)
        return
    yield element(
        "p",
        f"About {found.column}: what an adversary believes who knows everyone's quasi-identifiers and the release, and what "
        "they believe if they also run the method on every table that could be behind it.",
    )
    plots = leak.plots
    yield element(
        "div",
        figure_of(plots["beliefs"], "Beliefs about everybody"),
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
        figure = "breaches" in plots and figure_of(
            plots["breaches"], "People above 1/l to someone who knows the method"
        )
        yield element("div", figure or None, element("div", html_table(header, rows)), class_="pair")
    if leak.sweep.failures:
        yield element("ul", [element("li", why) for why in sweep_failures(leak.sweep)], class_="quiet")


def page_of_leak(leak: Leak, *, title: str, downcoded: Downcoding | None = None) -> str:
    """An audit as a page of its own, in the dress of a report."""
    from overt.report.html import for_owner, page

    head = element("header", element("p", "Audit", class_="kicker"), element("h1", title))
    quasi_identifiers = None if downcoded is None else [element("h2", TITLE), *section_of_downcoding(downcoded)]
    return page(f"Audit: {title}", for_owner(head, section_of(leak), quasi_identifiers), Audience.OWNER)


def section_of_learner(learned: Learned) -> Iterator[Child]:
    """What a learner guesses right: for the owner, since it compares guesses with the true values."""
    yield element("h3", f"A learner: {learned.column}")
    for sentence in learned.sentences():
        yield element("p", sentence)
    yield html_table(["Guessed right", ""], list(learned.rows()))
    yield element("p", element("b", "Whether its probabilities are calibrated"))
    yield html_table(RELIABILITY, list(learned.reliability_rows()))
