# SPDX-License-Identifier: Apache-2.0
"""The risk-utility plane, drawn: every generalization a point, the frontier a line (Figure 1 of the paper)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

import numpy as np

from overt.algorithms.record.plane import Plane
from overt.markup import Markup, element

WIDTH, HEIGHT = 560, 360
LEFT, RIGHT, TOP, BOTTOM = 72, 16, 28, 48
COLOURS = ("#0f766e", "#b45309", "#6d28d9", "#be123c", "#475569")
MOST_POINTS = 4_000  # more would only hide each other

Pairs = Sequence[tuple[float, float]]


def draw_plane(plane: Plane, *, title: str = "Risk and utility") -> Markup:
    """A plane as an SVG: points in grey, the frontier as a line with its points."""
    finite = np.isfinite(plane.risk)
    step = max(1, int(finite.sum()) // MOST_POINTS)
    cloud = list(zip(plane.risk[finite][::step].tolist(), plane.utility[finite][::step].tolist(), strict=True))
    frontier = list(zip(plane.risk[plane.frontier].tolist(), plane.utility[plane.frontier].tolist(), strict=True))
    return draw_lines({"frontier": frontier}, title=title, x="risk", y="utility", cloud=cloud)


def draw_lines(lines: Mapping[str, Pairs], *, title: str, x: str, y: str, cloud: Pairs = ()) -> Markup:
    """Lines with their points in one pair of axes that begin at zero, each named beside it, over a cloud of points."""
    everything = [*cloud, *(point for line in lines.values() for point in line)]
    axes = _Axes(max((p[0] for p in everything), default=1) or 1, max((p[1] for p in everything), default=1) or 1)
    parts: list[Markup] = [axes.draw(x, y)]
    parts += [element("circle", cx=axes.across(a), cy=axes.up(b), r=1.5, fill="#94a3b8") for a, b in cloud]
    for place, ((name, line), colour) in enumerate(zip(lines.items(), cycle(COLOURS), strict=False)):
        points = " ".join(f"{axes.across(a)},{axes.up(b)}" for a, b in line)
        parts.append(element("polyline", points=points, fill="none", stroke=colour, stroke_width=1.6))
        for a, b in line:
            dot = element("title", f"{name}: {x} {a:.4g}, {y} {b:.4g}")
            parts.append(element("circle", dot, cx=axes.across(a), cy=axes.up(b), r=2.4, fill=colour))
        parts.append(_text(name, WIDTH - RIGHT, TOP + 14 * (place + 1), "end", colour))
    parts.append(_text(title, WIDTH / 2, 14, "middle", "#0f172a"))
    box = f"0 0 {WIDTH} {HEIGHT}"
    return element(
        "svg", parts, xmlns="http://www.w3.org/2000/svg", viewBox=box, font_family="sans-serif", font_size=11
    )


@dataclass(frozen=True)
class _Axes:
    most_x: float
    most_y: float

    def across(self, value: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * value / self.most_x, 2)

    def up(self, value: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / self.most_y, 2)

    def draw(self, x: str, y: str) -> Markup:
        """Both axes with five numbers each."""
        grey = "#64748b"
        parts = [
            element("line", x1=LEFT, y1=self.up(0), x2=WIDTH - RIGHT, y2=self.up(0), stroke=grey),
            element("line", x1=LEFT, y1=self.up(0), x2=LEFT, y2=TOP, stroke=grey),
            _text(x, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "middle", grey),
            _text(y, 14, TOP - 8, "start", grey),
        ]
        for i in range(5):
            a, b = self.most_x * i / 4, self.most_y * i / 4
            parts.append(_text(f"{a:.3g}", self.across(a), self.up(0) + 16, "middle", grey))
            parts.append(_text(f"{b:.3g}", LEFT - 6, self.up(b) + 4, "end", grey))
        return element("g", parts)


def _text(text: str, x: float, y: float, anchor: str, colour: str) -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor, fill=colour)
