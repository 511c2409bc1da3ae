# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_compare.py
"""A comparison of releases as one HTML file, in the dress of a report."""

from collections.abc import Sequence

from overt.audience import Audience
from overt.markup import element, html_table
from overt.report.html import figure_of, for_owner, page
from overt.report.plots import Plot


def page_of_comparison(
    rows: Sequence[Sequence[str]],
    plot: Plot,
    failures: Sequence[tuple[str, str]],
    caution: str = "",
    notes: Sequence[str] = (),
) -> str:
    """A page with a table (its first row is the header), the plot, and the recipes that gave nothing."""
    header, *body = rows
    parts = [
        element("header", element("p", "Comparison", class_="kicker"), element("h1", "Risk against cost")),
        element(
            "p",
            "Every point is one recipe. Lower is safer for people; further left is more useful. "
            "A red line leads from what the release alone reveals up to what somebody who knows the method learns. "
            "Nothing was written: run the recipe you choose.",
        ),
        element("p", caution, class_="alarm") if caution else None,
        figure_of(plot, "Risk against cost") if body else None,
        html_table(header, body, n_text_columns=3) if body else None,
        *(element("p", f"Leak: {note}", class_="quiet") for note in notes),
        *(element("p", element("b", name), f" {why}", class_="alarm") for name, why in failures),
    ]
    return page("Comparison of releases", for_owner(parts, wide=True), Audience.OWNER)
