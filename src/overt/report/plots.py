# SPDX-License-Identifier: Apache-2.0
# Tested through tests/report/test_svg.py
"""Plots as Vega-Lite specifications: plain dictionaries with their data inside.

Any Vega-Lite program can draw them. `overt.report.svg` draws the few kinds there are here without one, so that a report
needs neither a script nor a package.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
BEFORE, AFTER, ALARM = "#8a94a6", "#0f766e", "#be123c"

Spec = dict[str, Any]


@dataclass(frozen=True)
class Plot:
    """A plot: its Vega-Lite specification. Notebooks show it."""

    spec: Mapping[str, Any] = field(repr=False)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from overt.report.svg import draw

        return {"application/vnd.vegalite.v5+json": dict(self.spec), "image/svg+xml": str(draw(self.spec))}


def bars(
    values: Sequence[tuple[str, float]],
    *,
    description: str,
    x: str,
    y: str,
    as_share: bool = False,
    lying: bool = False,
) -> Plot:
    """A bar for each named value; lying ones leave room for long labels."""
    rows = [{"bin": label, "value": value} for label, value in values]
    along, across = ("y", "x") if lying else ("x", "y")
    encoding = {along: _names("bin", x), across: _amount("value", y, as_share)}
    return Plot(_spec(description, rows, {"type": "bar", "color": AFTER}, encoding))


def bars_before_and_after(
    labels: Sequence[str],
    before: Sequence[float],
    after: Sequence[float],
    *,
    description: str,
    name: str,
    amount: str = "share of rows",
    lying: bool = False,
) -> Plot:
    """Two bars for each label, shares before and after; lying ones leave room for long labels."""
    rows = [
        {"bin": label, "when": when, "share": share}
        for label, *shares in zip(labels, before, after, strict=True)
        for when, share in zip(("before", "after"), shares, strict=True)
    ]
    names, shares = _names("bin", name), _amount("share", amount, True)
    along, across = ("y", "x") if lying else ("x", "y")
    encoding = {
        along: names,
        across: shares,
        f"{along}Offset": {"field": "when", "sort": None},
        "color": {
            "field": "when",
            "type": "nominal",
            "title": None,
            "scale": {"domain": ["before", "after"], "range": [BEFORE, AFTER]},
        },
    }
    return Plot(_spec(description, rows, {"type": "bar"}, encoding))


def points(
    rows: Sequence[tuple[str, float, float]],
    *,
    description: str,
    x: str,
    y: str,
    risen: Mapping[str, float] | None = None,
) -> Plot:
    """Named points: what several releases cost, and what risk remains; where one rises, a line leads up to it."""
    tops = risen or {}
    data = [{"name": name, "x": across, "y": tops.get(name, up), "from": up} for name, across, up in rows]
    encoding = {
        "x": {"field": "x", "type": "quantitative", "title": x, "axis": {"format": ".3~g"}, "scale": {"zero": True}},
        "y": {"field": "y", "type": "quantitative", "title": y, "axis": {"format": "%"}, "scale": {"zero": True}},
    }
    layers: list[Spec] = [
        {"mark": {"type": "point", "filled": True, "size": 90, "color": AFTER}, "encoding": encoding},
        {
            "mark": {"type": "text", "align": "left", "dx": 9, "dy": 1},
            "encoding": {**encoding, "text": {"field": "name", "type": "nominal"}},
        },
    ]
    if tops:
        rise = {
            "mark": {"type": "rule", "strokeWidth": 3, "color": ALARM},
            "encoding": {**encoding, "y2": {"field": "from"}},
        }
        layers.append(rise)
    return Plot(
        {
            "$schema": SCHEMA,
            "description": description,
            "data": {"values": data},
            "width": 520,
            "height": 320,
            "layer": layers,
        }
    )


@dataclass(frozen=True)
class Range:
    """One of a series of named ranges: where it stands, and the least and the most its number can be."""

    name: str
    series: str
    low: float
    high: float


def ranges_against_bound(
    rows: Sequence[Range], bound: float | None, *, series: tuple[str, str], description: str, x: str, y: str
) -> Plot:
    """Two ranges for each name beside each other, from their least to their most, and a rule that they should be under."""
    data = [{"name": row.name, "series": row.series, "low": row.low, "high": row.high} for row in rows]
    shared = {
        "x": _names("name", x),
        "xOffset": {"field": "series", "sort": None},
        "color": {
            "field": "series",
            "type": "nominal",
            "title": None,
            "scale": {"domain": list(series), "range": [BEFORE, AFTER]},
        },
    }
    low, high = _amount("low", y, True), _amount("high", y, True)
    layers = [
        {"mark": {"type": "rule", "strokeWidth": 4}, "encoding": {**shared, "y": low, "y2": {"field": "high"}}},
        {"mark": {"type": "tick", "thickness": 3}, "encoding": {**shared, "y": high}},
    ]
    if bound is not None:
        layers.append({"data": {"values": [{"bound": bound}]}, "mark": {"type": "rule", "strokeDash": [5, 4]}, "encoding": {"y": _amount("bound", y, True)}})  # fmt: skip
    return Plot({"$schema": SCHEMA, "description": description, "data": {"values": data}, "layer": layers})


def _spec(description: str, rows: list[dict[str, Any]], mark: Spec, encoding: Spec) -> Spec:
    return {"$schema": SCHEMA, "description": description, "data": {"values": rows}, "mark": mark, "encoding": encoding}


def _names(name: str, title: str) -> Spec:
    return {"field": name, "type": "ordinal", "sort": None, "title": title}


def _amount(name: str, title: str, as_share: bool) -> Spec:
    return {"field": name, "type": "quantitative", "title": title, "axis": {"format": "%" if as_share else ",d"}}
