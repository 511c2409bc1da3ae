# SPDX-License-Identifier: Apache-2.0
"""Lines of plain text: what a command prints, laid out. `width` is that of a terminal; None leaves long lines as they are."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overt.checks import Verdict

LEAST_WIDTH = 24


def labelled(rows: Iterable[tuple[str, str]], width: int | None = None) -> Iterator[str]:
    """Lines of `label  text`; a label is said once for the rows that share it.

    >>> list(labelled([("Files", "a.csv"), ("Files", "b.csv")]))
    ['  Files     a.csv', '            b.csv']
    """
    previous = ""
    for label, text in rows:
        lead = f"  {label if label != previous else '':<10}"
        previous = label
        yield from _wrapped(lead, text, len(lead), width)


def aligned(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Rows in aligned columns.

    >>> list(aligned([("1,024", "rows"), ("8", "groups")]))
    ['  1,024  rows', '  8      groups']
    """
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def of_findings(verdict: "Verdict", width: int | None = None) -> Iterator[str]:
    """Every finding of a check: whether it is as claimed, its name, and its sentence."""
    indent = max((len(finding.name) for finding in verdict.findings), default=0) + 12
    for finding in verdict.findings:
        lead = f"  {'ok' if finding.ok else 'FAILED':<8}{finding.name:<{indent - 10}}"
        yield from _wrapped(lead, finding.sentence, indent, width)


def _wrapped(lead: str, text: str, indent: int, width: int | None) -> list[str]:
    """A text beside its lead; in a terminal, a long one is wrapped under itself."""
    if width is None or width - indent < LEAST_WIDTH:
        return [lead + text]
    lines = textwrap.wrap(text, width - indent, break_long_words=False, break_on_hyphens=False) or [""]
    return [lead + lines[0], *(" " * indent + line for line in lines[1:])]
