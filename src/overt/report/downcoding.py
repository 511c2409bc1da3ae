# SPDX-License-Identifier: Apache-2.0
# Tested through tests/report/test_leak.py
"""Downcoding for people: the section of an audit and of the owner's report about quasi-identifiers."""

from collections.abc import Iterator

from overt.adversary.downcoding.findings import Downcoding
from overt.markup import Child, element, html_table
from overt.report.lines import aligned, labelled

TITLE = "What a reader learns about quasi-identifiers"
TIERS = {"": "", "cover": "cells", "tight": "tight cells", "method": "with the method"}
WHO = (
    "An adversary who has the release, the hierarchies and the values that occur, but knows nobody's quasi-identifiers, and wants them. "
    "What is certain can be computed by anybody from the release; what is guessed right, and the test on halves, use the original."
)


def lines_of_downcoding(found: Downcoding, width: int | None = None) -> Iterator[str]:
    """The section in plain text."""
    yield from ("", f"  {TITLE}:", "")
    yield from labelled((("", sentence) for sentence in found.sentences()), width)
    if not found.shows_exactly:
        yield ""
        yield from aligned(_table(found))


def section_of_downcoding(found: Downcoding) -> Iterator[Child]:
    """The section of a page, without its heading."""
    yield element("p", WHO, class_="quiet")
    first, *others = found.sentences()
    yield element("p", first, class_="warn" if found.last.n_rows_below else None)
    for sentence in others:
        yield element("p", sentence)
    if not found.shows_exactly:
        header, *rows = _table(found)
        yield html_table(header, rows)


def _table(found: Downcoding) -> list[tuple[str, ...]]:
    header, *rows = found.table()
    return [tuple(TIERS[tier] for tier in header), *rows]
