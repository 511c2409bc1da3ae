# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_dp_run.py
"""The report of a differentially private release: what was decided beforehand, and what the release shows anyway. It may be published too.

There is no table to compare with here: a figure of the data, such as how many rows were left out, would break the guarantee.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from overt.audience import Audience
from overt.checks import Verdict
from overt.markup import Child, Markup, element, html_table
from overt.report.html import page


@dataclass(frozen=True, kw_only=True)
class DpReport:
    """Everything that may be said of a differentially private release."""

    name: str  # of the released file
    method: str
    epsilon: float
    delta: float
    facts: Mapping[str, str]
    coins: str
    n_rows: int  # published
    n_different: int
    n_fewest: int | None  # copies of the rarest row that is published; None if there is none
    rows_of_level: Mapping[str, tuple[int, ...]]  # (column) -> (level) -> published rows that show a label of it
    verdict: Verdict
    recipe: str
    created: str

    @property
    def is_dp(self) -> bool:
        """Whether the release was made as it should be: with secret coins, and passed its check."""
        return self.coins == "secret" and self.verdict.ok

    @property
    def headline(self) -> str:
        """What a reader wants to know first."""
        if self.is_dp:
            return f"This release is differentially private: epsilon {self.epsilon:g}, delta {self.delta:g}."
        if self.coins != "secret":
            return "This release was made with a seed, for tests. It is NOT differentially private: anyone who has the seed can remove the noise."
        return "This release did NOT pass its check."

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, for programs."""
        return {
            "audience": str(Audience.PUBLIC),
            "release": self.name,
            "created": self.created,
            "differentially_private": self.is_dp,
            "method": self.method,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "coins": self.coins,
            "facts": dict(self.facts),
            "rows_published": self.n_rows,
            "rows_different": self.n_different,
            "fewest_copies": self.n_fewest,
            "rows_of_level": {name: list(rows) for name, rows in self.rows_of_level.items()},
            "findings": [{"name": f.name, "ok": f.ok, "sentence": f.sentence} for f in self.verdict.findings],
            "recipe": self.recipe,
        }


def page_of_dp(report: DpReport) -> str:
    """The whole page, as it is written to a file."""
    made = f"{report.created} · method {report.method}"
    verdict = element("p", report.headline, class_="verdict" if report.is_dp else "verdict broken")
    top = element(
        "header",
        element("p", "Public release report", class_="kicker"),
        element("h1", report.name),
        verdict,
        element("p", made),
    )
    sections = [
        top,
        _section("What that means", element("p", MEANING), element("p", LIMITS)),
        _section(
            "Decided before looking at the data", html_table(["", ""], list(report.facts.items()), n_text_columns=2)
        ),
        _section("What is published", element("p", _published(report)), _levels(report)),
        _section(
            "How it was checked",
            html_table(
                ["", "", ""],
                [[f.name, "ok" if f.ok else "FAILED", f.sentence] for f in report.verdict.findings],
                n_text_columns=3,
            ),
        ),
        _section("The recipe", element("pre", report.recipe)),
    ]
    return page(f"Release report: {report.name}", element("main", sections, class_="overt-report"), Audience.PUBLIC)


MEANING = (
    "Somebody who sees this release can hardly tell from it whether any one row was in the table, whatever else they know: no "
    "event becomes more likely by more than the factor exp(epsilon), except with a probability of at most delta. This is proven "
    "for the mechanism, and does not depend on what others publish later."
)
LIMITS = (
    "The budgets of several releases about the same people add up. One person with several rows is protected less. What is true "
    "of many people, such as that an illness is frequent in a region, is meant to be seen."
)


def _section(title: str, *children: Child) -> Markup:
    return element("section", element("h2", title), children)


def _published(report: DpReport) -> str:
    if report.n_fewest is None:
        return "Nothing: no combination had enough copies. This says little, because it happens with small tables and with wide ones."
    return (
        f"{report.n_rows:,} rows, {report.n_different:,} of them different; each occurs at least {report.n_fewest:,} times. They are a "
        "random part of the table, generalized."
    )


def _levels(report: DpReport) -> Markup:
    """How many published rows show each level of each column; 0 is exact."""
    n_levels = max((len(rows) for rows in report.rows_of_level.values()), default=0)
    header = ["column", *(f"level {level}" for level in range(n_levels))]
    rows = [
        [name, *(f"{n:,}" for n in counts), *[""] * (n_levels - len(counts))]
        for name, counts in report.rows_of_level.items()
    ]
    return html_table(header, rows)
