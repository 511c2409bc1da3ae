# SPDX-License-Identifier: Apache-2.0
# Tested through tests/report/test_svg.py
"""Lines in one pair of axes: as a Vega-Lite specification, and drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

from overt.markup import Markup, element
from overt.report.plots import AFTER, ALARM, SCHEMA, Plot, Spec
from overt.report.svg import LETTER, WIDTH, _grid_across, _label, _n, _svg, _text, ticks_of

COLOURS = (AFTER, "#b45309", "#6d28d9", ALARM, "#2563eb", "#475569", "#65a30d", "#a21caf")


def curves(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    description: str,
    x: str,
    y: str,
    colours: Sequence[str] = COLOURS,
    x_as_share: bool = False,
    dotted: bool = False,
    bound: tuple[str, float] | None = None,
) -> Plot:
    """Lines through points, one for each name; perhaps a bound, drawn across with its name."""
    rows = [{"series": name, "x": across, "y": up} for name, line in series.items() for across, up in line]
    amount = {"field": "y", "type": "quantitative", "title": y, "axis": {"format": "%"}, "scale": {"zero": True}}
    along: Spec = {"field": "x", "type": "quantitative", "title": x, "axis": {"format": "%" if x_as_share else ",d"}}
    if not x_as_share:
        along |= {"axis": {**along["axis"], "values": sorted({row["x"] for row in rows})}, "scale": {"zero": False}}
    chosen = [colours[i % len(colours)] for i in range(len(series))]
    colour = {"field": "series", "type": "nominal", "title": None, "scale": {"domain": list(series), "range": chosen}}
    layers: list[Spec] = [
        {"mark": {"type": "line", "point": dotted}, "encoding": {"x": along, "y": amount, "color": colour}}
    ]
    if bound is not None:
        name, height = bound
        across: Spec = {"data": {"values": [{"name": name, "y": height}]}}
        place: Spec = {"y": {"field": "y", "type": "quantitative"}}
        layers += [
            {**across, "mark": {"type": "rule", "strokeDash": [4, 3]}, "encoding": place},
            {
                **across,
                "mark": {"type": "text", "align": "left", "x": 4, "dy": -6},
                "encoding": {**place, "text": {"field": "name", "type": "nominal"}},
            },
        ]
    return Plot(
        {
            "$schema": SCHEMA,
            "description": description,
            "data": {"values": rows},
            "width": 380,
            "height": 220,
            "layer": layers,
        }
    )


def draw_curves(spec: Mapping[str, Any]) -> Markup:
    """Draw what `curves` specifies."""
    rows, (first, *bounds) = spec["data"]["values"], spec["layer"]
    x, y, scale = first["encoding"]["x"], first["encoding"]["y"], first["encoding"]["color"]["scale"]
    bound = bounds[0]["data"]["values"][0] if bounds else None
    y_ticks = ticks_of(max([*(row["y"] for row in rows), bound["y"] if bound else 0], default=0))
    x_ticks = x["axis"].get("values") or ticks_of(max((row["x"] for row in rows), default=0))
    margin = 0.0 if x["axis"]["format"] == "%" else 14.0  # numbers need not begin at zero, nor end at the frame
    keys, top = _keys(scale, 14)
    left, base, right = 34 + LETTER * max(len(_text(tick, y)) for tick in y_ticks), top + 200.0, WIDTH - 20.0

    def along(value: float) -> float:
        width = right - left - 2 * margin
        return left + margin + width * (value - x_ticks[0]) / ((x_ticks[-1] - x_ticks[0]) or 1)

    def up(value: float) -> float:
        return base - (base - top - 10) * value / y_ticks[-1]

    parts = [keys, _grid_across(y_ticks, y, left, right, up)]
    parts += [_label(_text(tick, x), along(tick), base + 16, "middle") for tick in x_ticks]
    if bound:
        height = up(bound["y"])
        parts.append(element("line", x1=_n(left), x2=_n(right), y1=_n(height), y2=_n(height), stroke="#5b6675", stroke_dasharray="4 3", class_="bound"))  # fmt: skip
        parts.append(_label(bound["name"], left + 5, height - 5, "start"))
    for name, colour in zip(scale["domain"], scale["range"], strict=True):
        line = [(along(row["x"]), up(row["y"]), row) for row in rows if row["series"] == name]
        points = " ".join(f"{_n(a)},{_n(b)}" for a, b, _ in line)
        parts.append(element("polyline", element("title", name), points=points, fill="none", stroke=colour, stroke_width=2, stroke_linejoin="round"))  # fmt: skip
        if first["mark"]["point"]:
            parts += [
                element(
                    "circle",
                    element("title", f"{name}, {_text(row['x'], x)}: {row['y']:.1%}"),
                    cx=_n(a),
                    cy=_n(b),
                    r=3,
                    fill=colour,
                )
                for a, b, row in line
            ]
    parts.append(_label(x["title"], (left + right) / 2, base + 38, "middle", "axis"))
    middle = (base + top) / 2
    parts.append(_label(y["title"], 12, middle, "middle", "axis", transform=f"rotate(-90 12 {_n(middle)})"))
    return _svg(WIDTH, base + 46, spec["description"], parts)


def _keys(scale: Mapping[str, Any], top: float) -> tuple[Markup, float]:
    """What each colour is, in rows above the plot, and where these end."""
    parts, x, y = [], 40.0, top
    for name, colour in zip(scale["domain"], scale["range"], strict=True):
        width = 24 + LETTER * len(name)
        if x > 40 and x + width > WIDTH:
            x, y = 40.0, y + 15
        parts.append(
            element("line", x1=_n(x), x2=_n(x + 12), y1=_n(y - 4), y2=_n(y - 4), stroke=colour, stroke_width=3)
        )
        parts.append(_label(name, x + 16, y, "start"))
        x += width + 8
    return Markup("".join(parts)), y
