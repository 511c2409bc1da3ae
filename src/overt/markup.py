# SPDX-License-Identifier: Apache-2.0
# Tested through tests/report/test_svg.py
"""Markup: HTML and SVG that cannot be broken by what it shows. Text is escaped unless it is markup already."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TypeAlias, Union

Child: TypeAlias = Union[str, int, float, "Iterable[Child]", None]

_VOID = frozenset({"meta", "br", "hr", "line", "rect", "circle", "path", "polyline"})


class Markup(str):
    """Text that is markup, and goes into other markup as it is."""

    __slots__ = ()


def element(tag: str, *children: Child, **attributes: str | float | None) -> Markup:
    """An element. `class_` is `class`, underscores in names of attributes are hyphens; None leaves one out.

    >>> element("p", "1 < 2", class_="note")
    '<p class="note">1 &lt; 2</p>'
    """
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items() if value is not None}
    opening = "".join(f' {name}="{escape(str(value), quote=True)}"' for name, value in named.items())
    if tag in _VOID and not children:
        return Markup(f"<{tag}{opening}/>")
    return Markup(f"<{tag}{opening}>{join(children)}</{tag}>")


def join(children: Child) -> Markup:
    """Children one after the other, text escaped."""
    if children is None:
        return Markup("")
    if isinstance(children, Markup):
        return children
    if isinstance(children, str | int | float):
        return Markup(escape(str(children), quote=False))
    return Markup("".join(join(child) for child in children))


def html_table(header: Sequence[Child], rows: Iterable[Sequence[Child]], *, n_text_columns: int = 1) -> Markup:
    """A table; columns after the first few hold numbers and are aligned to the right."""

    def cells(tag: str, row: Sequence[Child]) -> list[Markup]:
        return [element(tag, cell, class_=None if j < n_text_columns else "number") for j, cell in enumerate(row)]

    head = element("thead", element("tr", cells("th", header)))
    body = element("tbody", [element("tr", cells("td", row)) for row in rows])
    return element("table", head, body)
