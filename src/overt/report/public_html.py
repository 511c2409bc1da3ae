# SPDX-License-Identifier: Apache-2.0
# Tested through tests/report/test_opening.py
"""The public report as one HTML file: opens offline, runs no script, loads nothing."""

from collections.abc import Iterator

from overt.audience import Audience
from overt.markup import Child, Markup, element, html_table, join
from overt.report import sentences
from overt.report.glossary import block_to_sign, section_of_glossary
from overt.report.html import figure_of, files_table, of_groups, of_uniques, page, row_of_figures
from overt.report.opening import section_of_opening, verdict_of_opening
from overt.report.person_sentences import released_words
from overt.report.public import PublicReport
from overt.report.sentences import counted, one_in, percent

MADE_FROM = (
    "This report was computed from the published files and from what was decided before: the goal, the method and the recipe. It "
    "contains nothing about the data that the release does not show, and may be published with it."
)
CHECKED = (
    "Before anything was written, the release was compared with the data by code that shares with the method only the definitions of "
    "the properties. It was written because everything held:"
)
CHECKS = (
    "it shows the columns of the recipe and no others, and no identifier",
    "behind every row of the release is one row of the data, behind each row another",
    "every cell covers the value of its row, and sensitive values are those of its group",
    "rows are sorted by what they show, which says nothing about the original order",
    "the goal holds in every group; a property that compares groups with the whole table was compared with all of the data",
)
REPEATED = (
    "The owner of the data can repeat this check: overt check DATA RELEASE. Anybody can compare the published files with the SHA-256 "
    "below, which are also in the manifest."
)


def page_of_public(report: PublicReport) -> str:
    """The whole page, as it is written to a file."""
    return page(f"Release report: {report.name}", body_of_public(report), Audience.PUBLIC)


def body_of_public(report: PublicReport) -> Markup:
    """What stands in the page."""
    sections = [
        _top(report),
        _figures(report),
        _section("What was promised, and what holds", _promised(report)),
        _section("Against whom", _against(report)),
        _section("Who can be found", _found(report)),
        _section("What can be learnt about people", _learnt(report)) if report.learnt else None,
        _section("What each column looks like", _columns(report)),
        _section("How it was checked", element("p", CHECKED), element("ul", [element("li", f"{c};") for c in CHECKS[:-1]], element("li", f"{CHECKS[-1]}.")), element("p", REPEATED)),
        _section("Files", files_table(report.files)) if report.files else None,
        _section("Approval", block_to_sign()),
        _section("How it was made", _made(report)),
        _section("What the words mean", section_of_glossary()),
    ]  # fmt: skip
    return element("main", sections, class_="overt-report")


def _section(title: str, *children: Child) -> Markup:
    return element("section", element("h2", title), children)


def _top(report: PublicReport) -> Markup:
    made = " · ".join(part for part in (report.created, f"method {report.method}", report.parameters) if part)
    verdict = verdict_of_opening(report.opening, report.headline)
    return element(
        "header",
        element("p", "Public release report", class_="kicker"),
        element("h1", report.name),
        verdict,
        section_of_opening(report.opening),
        element("p", made, class_="quiet"),
        element("p", MADE_FROM, class_="quiet"),
    )


def _figures(report: PublicReport) -> Markup:
    found = report.found
    figures = [
        (f"{found.n_rows:,}", released_words(report.said_of_persons)),
        (
            f"{found.n_groups:,}",
            of_groups(found.n_groups, "groups of people who look alike", is_exact=report.opening.shows_exactly),
        ),
        (f"{found.smallest:,}", f"{'person' if found.smallest == 1 else 'people'} in the smallest group"),
        (f"{found.n_unique:,}", of_uniques(found.n_unique)),
    ]
    if report.n_buckets is not None:
        figures.append((f"{report.n_buckets:,}", f"bucket{'' if report.n_buckets == 1 else 's'} of sensitive values"))
    if report.learnt:
        figures.append(
            (percent(max(float(one.worst) for one in report.learnt)), "is the largest share of one value in a group")
        )
    return row_of_figures(figures)


def _promised(report: PublicReport) -> Iterator[Child]:
    yield html_table(
        ["Promised", "Measured on the release", ""],
        [
            [goal.asked, goal.reached, "holds" if goal.holds else "not shown by the released rows alone"]
            for goal in report.goals
        ],
        n_text_columns=3,
    )
    if not report.holds_on_release:
        yield element(
            "p",
            "A property that compares groups with the whole table is measured here against the released rows. If rows were left out, "
            "the two differ; what holds of the data was checked before the release was written.",
        )
    if report.identifiers:
        yield element("p", f"Never read and never released: {sentences.listed(list(report.identifiers))}.")
    for words in report.left_out:
        yield element("p", words)


def _against(report: PublicReport) -> Iterator[Child]:
    kind = "alarm" if not report.resists_replay else "holds careful" if report.guarantee.strength == "weak" else "holds"
    lead = None if report.resists_replay else element("strong", "Does not resist someone who replays the method. ")
    yield element("p", lead, sentences.of_replay(report.guarantee), class_=kind)


def _found(report: PublicReport) -> Iterator[Child]:
    yield element("p", _finding(report))
    found = report.found

    def row(name: str, meaning: str, shown: str) -> list[Child]:
        return [join([element("b", name), element("span", f" {meaning}", class_="quiet")]), shown]

    highest = one_in(float(found.prosecutor))
    rows = [
        row("Prosecutor", "knows the person is in the table", highest),
        row("Journalist", "does not know that; at most", highest),
        row("Marketer", "matches everybody; right for", percent(float(found.marketer))),
        *(row(f"Groups under {size}", f"{report.thing}s in them", f"{n:,}") for size, n in found.below if size > 2),
    ]
    table = element("div", html_table(["Risk of being found", "In the release"], rows))
    yield element("div", figure_of(report.group_sizes, "People by how many look like them"), table, class_="pair")


def _finding(report: PublicReport) -> str:
    found = report.found
    if report.kind == "buckets":
        return (
            "Quasi-identifiers are published exactly: people are found as in the data. What is hidden is which of a bucket's "
            "sensitive values are theirs."
        )
    if found.smallest == 1:
        n_unique = counted(found.n_unique, report.thing)
        return f"{percent(found.n_unique / found.n_rows)} of people ({n_unique}) can be singled out by what is shown about them."
    return (
        f"Everyone looks like at least {counted(found.smallest - 1, 'other')}. Someone who knows that a person is in the table picks the right "
        f"{report.thing} with a chance of at most {one_in(float(found.prosecutor))}; someone who tries to match everybody gets "
        f"{percent(float(found.marketer))} right."
    )


def _learnt(report: PublicReport) -> Iterator[Child]:
    where = "bucket" if report.kind == "buckets" else "group"
    for one in report.learnt:
        yield element(
            "p",
            f"{one.column}: {sentences.of_certain(one.n_certain, where)}.",
            class_="warn" if one.n_certain else None,
        )
    yield html_table(
        ["Column", "Known for certain", f"Worst {where}", "Best guess right", "Guess without looking"],
        [
            [
                one.column,
                f"{one.n_certain:,}",
                percent(float(one.worst)),
                percent(one.best_guess),
                percent(float(one.blind_guess)),
            ]
            for one in report.learnt
        ],
    )
    yield element(
        "p",
        f"Worst {where}: the greatest share of one value. Best guess: naming the most frequent value of each {where} is right for this share of "
        "people. Without looking: naming the most frequent value of the release for everybody.",
        class_="quiet",
    )


def _columns(report: PublicReport) -> Iterator[Child]:
    rows = [[one.name, one.role, one.words, f"{one.n_different:,}"] for one in report.columns]
    rows += [[name, "other", "released as it is", ""] for name in report.others]
    yield html_table(["Column", "Role", "What the release shows", "Different"], rows, n_text_columns=3)
    figures = [figure_of(one.plot, one.name, one.role) for one in report.columns]
    yield element("div", figures, class_="grid-of-plots")


def _made(report: PublicReport) -> Iterator[Child]:
    if report.recipe:
        yield element(
            "p",
            "The recipe, without the values of its hierarchies. With the data, it makes a release of this kind again.",
        )
        yield element("pre", element("code", report.recipe))
    if report.versions:
        yield element("p", ", ".join(f"{name} {version}" for name, version in report.versions.items()), class_="quiet")
