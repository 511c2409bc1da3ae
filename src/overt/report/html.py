# SPDX-License-Identifier: Apache-2.0
# Tested through tests/report/test_report.py
"""A report as one HTML file: opens offline, runs no script, loads nothing, follows light, dark and print.

Plots are drawn into the page; the Vega-Lite specification of each stands beside it as data, for those who want to
draw it again. A strict content security policy forbids everything else.
"""

import json
from collections.abc import Iterator, Sequence
from importlib.resources import files

from overt.audience import NOTICE, Audience
from overt.markup import Child, Markup, element, html_table, join
from overt.metrics.risk import Risk
from overt.report import downcoding, sentences
from overt.report.glossary import block_to_sign, section_of_glossary
from overt.report.leak_section import section_of
from overt.report.opening import section_of_opening, verdict_of_opening
from overt.report.owner_report import PublishedFile, Report
from overt.report.person_sentences import released_words
from overt.report.plots import Plot
from overt.report.sentences import counted, percent
from overt.report.sequence import body_of_levels
from overt.report.svg import draw

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
MOST_SETS = 8
MOST_PAIRS = 10


def page_of(report: Report) -> str:
    """The whole page, as it is written to a file."""
    return page(f"Owner's report: {report.name}", body_of(report), Audience.OWNER)


def page(title: str, body: Markup, audience: Audience) -> str:
    """A page that needs nothing but itself. One for the owner says so at the top of the screen and of every printed sheet."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content="Overt"),
        element("meta", name="audience", content=str(audience)),
        element("title", title),
        element("style", style()),
    )
    return f"<!doctype html>\n{element('html', head, element('body', body), lang='en')}\n"


def for_owner(*children: Child, wide: bool = False) -> Markup:
    """The content of a page for the owner, under the notice that stands on every sheet of it."""
    notice = element("p", NOTICE, role="note", class_="owner-only")
    content = element("div", children, class_="content")
    return element("main", notice, content, class_=f"overt-report for-owner{' wide' if wide else ''}")


def body_of(report: Report) -> Markup:
    """What stands in the page: also what notebooks show."""
    sections = [
        _top(report),
        _figures(report),
        _section("What was asked, and what holds", _asked(report)),
        _section("Against whom", _against(report)),
        _section("What someone who knows the method learns", section_of(report.leak)) if report.leak else None,
        _section("Levels tried in order", _levels_tried(report)) if report.levels_tried else None,
        _section("Who can be found", _found(report)),
        _section(downcoding.TITLE, downcoding.section_of_downcoding(report.downcoded)) if report.downcoded else None,
        _section("What can be learnt about people", _learnt(report)) if report.after.disclosures else None,
        _section("What it cost", _cost(report)),
        _section("Columns before and after", _distributions(report)),
        _section("How it was checked", _checked(report)) if report.findings else None,
        _section("Files", files_table(report.files)) if report.files else None,
        _section("Approval", block_to_sign()) if report.files else None,
        _section("Do it again", _again(report)),
        _section("What the words mean", section_of_glossary()),
    ]
    return for_owner(sections)


def style() -> Markup:
    """How everything looks."""
    return Markup(files("overt.report").joinpath("report.css").read_text(encoding="utf-8"))


def _section(title: str, *children: Child) -> Markup:
    return element("section", element("h2", title), children)


def _paragraphs(texts: Iterator[str] | list[str]) -> list[Markup]:
    return [element("p", text) for text in texts]


def _top(report: Report) -> Markup:
    made = " · ".join(part for part in (report.created, f"method {report.method}", report.parameters) if part)
    return element(
        "header",
        element("p", "Owner's report of a release", class_="kicker"),
        element("h1", report.name),
        verdict_of_opening(report.opening, sentences.headline(report)),
        section_of_opening(report.opening),
        element("p", f"Made from {report.source}", f" · {made}" if made else "", class_="quiet"),
    )


def _figures(report: Report) -> Markup:
    before, after = report.before.identification, report.after.identification
    figures = [
        (
            f"{after.n_rows:,}",
            released_words(report.whom) + (f", {report.n_suppressed:,} suppressed" if report.n_suppressed else ""),
        ),
        (
            f"{after.n_groups:,}",
            of_groups(after.n_groups, "groups who look alike", is_exact=report.opening.shows_exactly),
        ),
        (f"{after.smallest:,}", f"in the smallest group (before: {before.smallest:,})"),
        (
            f"{after.n_unique:,}",
            f"{of_uniques(after.n_unique)} (before: {before.n_unique:,})",
        ),
        (percent(1 - report.utility.non_uniform_entropy), "of the detail remains"),
    ]
    return row_of_figures(figures)


def of_groups(n: int, words: str, *, is_exact: bool) -> str:
    """What stands under a number of groups, or of people who differ where they are shown exactly."""
    if is_exact:
        return "different person to the eye" if n == 1 else "different people to the eye"
    return words.replace("groups", "group") if n == 1 else words


def of_uniques(n: int) -> str:
    """What stands under a number of people who are alone with what is shown of them."""
    return f"{'person who is' if n == 1 else 'people who are'} unique by what is shown about them"


def row_of_figures(figures: Sequence[tuple[str, str]]) -> Markup:
    """Large numbers, each with what it is."""
    return element(
        "div",
        [element("div", element("b", number), element("span", words), class_="figure") for number, words in figures],
        class_="figures",
    )


def _asked(report: Report) -> Iterator[Child]:
    yield html_table(
        ["Asked for", "Reached"],
        [[goal.asked, goal.reached if goal.holds else f"{goal.reached}: NOT reached"] for goal in report.goals],
        n_text_columns=2,
    )
    yield _paragraphs(sentences.of_rates(report))
    yield html_table(
        ["Column", "Role", "Kind", "What became of it", "Values"],
        [[fate.name, fate.role, fate.kind, fate.became, f"{fate.n_values:,}"] for fate in report.columns],
        n_text_columns=4,
    )
    if report.identifiers:
        yield element("p", f"Never read and never released: {sentences.listed(list(report.identifiers))}.")
    if report.n_dropped:
        left = counted(report.n_dropped, f"{report.thing} was", f"{report.thing}s were")
        yield element("p", f"{left} left out because a sensitive value is missing.")


def _against(report: Report) -> Iterator[Child]:
    kind = "holds" if report.resists_replay else "alarm"
    lead = None if report.resists_replay else element("strong", "Does not resist someone who replays the method. ")
    yield element("p", lead, sentences.of_replay(report.guarantee, said=report.cautions), class_=kind)
    if report.cautions:
        yield element("ul", [element("li", caution) for caution in report.cautions], class_="cautions")


def _levels_tried(report: Report) -> Iterator[Child]:
    found = report.levels_tried
    assert found is not None
    yield from body_of_levels(found, figure_of(found.plot, "Highest likelihood of anyone's value, by level"))


def _found(report: Report) -> Iterator[Child]:
    yield _paragraphs(sentences.of_finding(report))
    yield element(
        "div", figure_of(report.group_sizes, "People by how many look like them"), _attackers(report), class_="pair"
    )
    if report.uniques.sets:
        yield element("h3", "Which columns singled people out")
        yield html_table(
            ["The smallest sets of columns that were enough together", f"{report.thing.capitalize()}s"],
            [[" + ".join(one.columns), f"{one.n_rows:,}"] for one in report.uniques.sets[:MOST_SETS]],
        )
        left = len(report.uniques.sets) - MOST_SETS
        more = f" {counted(left, 'more set singles', 'more sets single')} out fewer." if left > 0 else ""
        yield element("p", f"Sets of up to {report.uniques.max_size} columns were examined.{more}", class_="quiet")


def _attackers(report: Report) -> Markup:
    risks = (report.before, report.after)

    def row(name: str, meaning: str, shown: list[str]) -> list[Child]:
        return [join([element("b", name), element("span", f" {meaning}", class_="quiet")]), *shown]

    def shares(size: int) -> list[str]:
        return [percent(dict(risk.identification.below)[size] / risk.identification.n_rows) for risk in risks]

    rows = [
        row("Prosecutor", "knows the person is in the table", [_highest(risk) for risk in risks]),
        row("Journalist", "does not know that; at most", [_highest(risk) for risk in risks]),
        row("Marketer", "matches everybody; right for", [percent(float(r.identification.marketer)) for r in risks]),
        row("Groups under 5", f"share of {report.thing}s in them", shares(5)),
        row("Groups under 10", f"share of {report.thing}s in them", shares(10)),
    ]
    return element("div", html_table(["Risk of being found", "Before", "After"], rows))


def _highest(risk: Risk) -> str:
    return sentences.one_in(float(risk.identification.prosecutor))


def _learnt(report: Report) -> Iterator[Child]:
    pairs = list(zip(report.before.disclosures, report.after.disclosures, strict=True))
    for before, after in pairs:
        yield element(
            "p", sentences.of_learning(before, after, report.thing), class_="warn" if after.n_certain else None
        )
    rows = [
        [
            after.column,
            f"{before.n_certain:,}",
            f"{after.n_certain:,}",
            percent(float(after.worst)),
            percent(before.best_guess),
            percent(after.best_guess),
            percent(float(after.blind_guess)),
        ]
        for before, after in pairs
    ]
    header = [
        "Column",
        "Known for certain, before",
        "After",
        "Worst group",
        "Best guess right, before",
        "After",
        "Blind guess",
    ]
    yield html_table(header, rows)


def _cost(report: Report) -> Iterator[Child]:
    utility = report.utility
    yield _paragraphs(sentences.of_cost(report))
    known = [column for column in utility.columns if column.certainty_penalty is not None]
    yield html_table(
        ["Column", "Certainty penalty", "Entropy lost", "Precision", "Divergence (bits)"],
        [
            *(
                [c.name, f"{c.certainty_penalty:.3f}", f"{c.non_uniform_entropy:.3f}", f"{c.precision:.3f}", f"{c.divergence:.4f}"]
                for c in known
            ),
            [
                element("b", "all"),
                f"{utility.certainty_penalty:.3f}",
                f"{utility.non_uniform_entropy:.3f}",
                f"{utility.precision:.3f}",
                f"{utility.marginal_divergence:.4f}",
            ],
        ],
    )  # fmt: skip
    if utility.pairs:
        worst = sorted(utility.pairs, key=lambda pair: -pair.divergence)[:MOST_PAIRS]
        yield element("h3", "Pairs of columns that suffered most")
        yield html_table(
            ["Columns", "Divergence (bits)", "Means off by (sd)"],
            [
                [" × ".join(p.columns), f"{p.divergence:.4f}", "" if p.mean_error is None else f"{p.mean_error:.3f}"]
                for p in worst
            ],
        )
    yield element(
        "p",
        f"Discernibility {utility.discernibility:,}; mean divergence of pairs {utility.pair_divergence:.4f} bits. "
        "0 is best for penalty, entropy and divergence, 1 for precision."
        + (f" {len(utility.pairs_left_out)} pairs have too many combinations and were left out." if utility.pairs_left_out else ""),
        class_="quiet",
    )  # fmt: skip


def _distributions(report: Report) -> Iterator[Child]:
    yield element(
        "p",
        element("span", class_="key before"),
        " before ",
        element("span", class_="key after"),
        " after, as a reader of the release would estimate it. ",
        f"Values of fewer than {report.least_rows} rows are not shown.",
        class_="quiet",
    )
    figures = [figure_of(one.plot, one.name, one.role) for one in report.distributions]
    yield element("div", figures, class_="grid-of-plots")


def _checked(report: Report) -> Markup:
    rows = [
        [element("span", "ok" if ok else "FAILED", class_="ok" if ok else "failed"), name, text]
        for name, ok, text in report.findings
    ]
    return html_table(["", "Finding", "What was found"], rows, n_text_columns=3)


def _again(report: Report) -> Iterator[Child]:
    if report.recipe:
        yield element("p", "This recipe, with the same data, makes the release again (random choices apart).")
        yield element("pre", element("code", report.recipe))
    if report.versions:
        yield element("p", ", ".join(f"{name} {version}" for name, version in report.versions.items()), class_="quiet")
    yield element(
        "p",
        "This report was made from the original data: for a small table, its figures can reveal everybody's value. Pass on the public "
        "report instead.",
        class_="quiet",
    )


def files_table(files: Sequence[PublishedFile]) -> Markup:
    """What was published, by its digests."""
    rows = [[file.name, f"{file.rows:,}", element("code", file.sha256, class_="digest")] for file in files]
    return html_table(["File or table", "Rows", "SHA-256"], rows, n_text_columns=3)


def figure_of(plot: Plot, caption: str, role: str = "") -> Markup:
    """A plot with its specification beside it, as data that nothing runs."""
    text = json.dumps(plot.spec, ensure_ascii=False).replace("<", "\\u003c").replace("&", "\\u0026")
    data = element("script", Markup(text), type_="application/json", class_="vega-lite")
    badge = element("span", role, class_="quiet") if role else None
    return element("figure", element("figcaption", caption, " ", badge), draw(plot.spec), data)
