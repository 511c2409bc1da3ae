# SPDX-License-Identifier: Apache-2.0
"""A comparison of releases as one HTML file, in the dress of a report."""

from collections.abc import Sequence

from overt.markup import element, html_table
from overt.report.html import figure_of, page
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
            "Every point is what one recipe gives. Further down, people are safer; further left, the data say more. "
            "A red line leads from what the release alone says up to what someone who has the method learns. "
            "Nothing was written: run the recipe you choose.",
        ),
        element("p", caution, class_="alarm") if caution else None,
        figure_of(plot, "Risk against cost") if body else None,
        html_table(header, body, n_text_columns=3) if body else None,
        *(element("p", f"Leak: {note}", class_="quiet") for note in notes),
        *(element("p", element("b", name), f" {why}", class_="alarm") for name, why in failures),
    ]
    return page("Comparison of releases", element("main", parts, class_="overt-report wide"))
