# SPDX-License-Identifier: Apache-2.0
"""Drawings: the kinds of Vega-Lite specification that `overt.report.plots` makes, as SVG.

No script and no package is needed, colours follow the page (light, dark, print), and every bar and point has a title
that says its numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from overt.markup import Markup, element
from overt.report.plots import AFTER, ALARM, BEFORE

WIDTH = 420
LETTER = 6.1  # the mean width of a letter at this size of type
MOST_LETTERS = 24
_CLASSES = {BEFORE: "before", AFTER: "after"}


def draw(spec: Mapping[str, Any]) -> Markup:
    """Draw a specification: bars that stand or lie, alone or in pairs, named points, or ranges under a bound."""
    if "layer" in spec and spec["layer"][0]["mark"]["type"] == "line":
        from overt.report.curves import draw_curves

        return draw_curves(spec)
    if "layer" in spec:
        return (_points if spec["layer"][0]["mark"]["type"] == "point" else _ranges)(spec)
    lies = spec["encoding"]["x"]["type"] == "quantitative"
    return (_lying_bars if lies else _standing_bars)(spec)


def ticks_of(most: float) -> list[float]:
    """Round numbers from 0 to at least the greatest that is drawn, three to six of them."""
    if most <= 0:
        return [0.0, 1.0]
    step = 10.0 ** len(str(int(most)))
    while most / step < 2.2:
        step = _smaller(step)
    n = int(most / step - 1e-9) + 1
    return [round(step * i, 12) for i in range(n + 1)]


def _smaller(step: float) -> float:
    """5 after 10, 2 after 5, 1 after 2."""
    leading = round(step / 10.0 ** _power(step))
    return step * {1: 0.5, 5: 0.4, 2: 0.5}[leading]


def _power(step: float) -> int:
    power = 0
    while step >= 10 - 1e-9:
        step, power = step / 10, power + 1
    while step < 1 - 1e-9:
        step, power = step * 10, power - 1
    return power


def _standing_bars(spec: Mapping[str, Any]) -> Markup:
    labels, series = _series(spec, "x")
    amount = spec["encoding"]["y"]
    ticks = ticks_of(max((value for _, values in series for value in values), default=0))
    left, top, bottom = 16 + LETTER * max(len(_text(tick, amount)) for tick in ticks), 10, 46.0
    height, width = 190, WIDTH
    room = (width - left - 8) / max(1, len(labels))
    slant = any(len(label) * LETTER > room - 2 for label in labels)
    if slant:
        left = max(left, min(MOST_LETTERS, len(labels[0])) * LETTER * 0.8 - room / 2)
        room = (width - left - 8) / max(1, len(labels))
        bottom = 34 + min(MOST_LETTERS, max(map(len, labels))) * LETTER * 0.62
    base = height

    def up(value: float) -> float:
        return base - (base - top) * value / ticks[-1]

    parts = [_grid_across(ticks, amount, left, width, up)]
    thin = min(room * 0.84 / len(series), 34)
    for s, (colour, values) in enumerate(series):
        for i, value in enumerate(values):
            x = left + room * (i + 0.5) + thin * (s - len(series) / 2)
            title = _title(labels[i], spec, s, value, amount)
            parts.append(_bar(x, up(value), thin - 0.8, base - up(value), colour, title))
    for i, label in enumerate(labels):
        x = left + room * (i + 0.5)
        if slant:
            parts.append(_label(_cut(label), x + 3, base + 12, "end", transform=f"rotate(-38 {x + 3:.1f} {base + 12})"))
        else:
            parts.append(_label(label, x, base + 15, "middle"))
    parts.append(_label(spec["encoding"]["x"]["title"], left + (width - left) / 2, base + bottom - 6, "middle", "axis"))
    return _svg(width, base + bottom, spec["description"], parts)


def _lying_bars(spec: Mapping[str, Any]) -> Markup:
    labels, series = _series(spec, "y")
    amount = spec["encoding"]["x"]
    ticks = ticks_of(max((value for _, values in series for value in values), default=0))
    left, top = 12 + LETTER * max(map(len, map(_cut, labels)), default=0), 8
    thin, gap = (9, 8) if len(series) > 1 else (14, 6)
    row = thin * len(series) + gap
    height = top + row * len(labels)

    def along(value: float) -> float:
        return left + (WIDTH - left - 22) * value / ticks[-1]

    parts: list[Markup] = []
    for tick in ticks:
        parts.append(
            element(
                "line", x1=_n(along(tick)), x2=_n(along(tick)), y1=top, y2=_n(height), stroke="#d8dde3", class_="grid"
            )
        )
        parts.append(_label(_text(tick, amount), along(tick), height + 14, "middle"))
    for i, label in enumerate(labels):
        y = top + row * i
        parts.append(_label(_cut(label), left - 6, y + (row - gap) / 2 + gap / 2 + 3.5, "end", title=label))
        for s, (colour, values) in enumerate(series):
            title = _title(label, spec, s, values[i], amount)
            y_bar = y + gap / 2 + thin * s
            parts.append(_bar(left, y_bar, along(values[i]) - left, thin - 0.8, colour, title))
    parts.append(_label(amount["title"], left + (WIDTH - left) / 2, height + 32, "middle", "axis"))
    return _svg(WIDTH, height + 40, spec["description"], parts)


def _points(spec: Mapping[str, Any]) -> Markup:
    rows, encoding = spec["data"]["values"], spec["layer"][0]["encoding"]
    width, height, top, bottom = spec["width"] + 120, spec["height"], 10, 46
    x_ticks, y_ticks = (ticks_of(max((row[axis] for row in rows), default=0)) for axis in ("x", "y"))
    left = 36 + LETTER * max(len(_text(tick, encoding["y"])) for tick in y_ticks)

    def along(value: float) -> float:
        return left + (spec["width"] - left) * value / x_ticks[-1]

    def up(value: float) -> float:
        return height - (height - top) * value / y_ticks[-1]

    parts = [_grid_across(y_ticks, encoding["y"], left, spec["width"], up)]
    parts += [_label(_text(tick, encoding["x"]), along(tick), height + 16, "middle") for tick in x_ticks]
    places = [(along(row["x"]), up(row["y"])) for row in rows]
    labels = _free_places(places, [LETTER * len(row["name"]) for row in rows])
    for row, (x, y), (label_x, label_y, anchor) in zip(rows, places, labels, strict=True):
        low = up(row["from"])
        title = f"{row['name']}: {_text(row['x'], encoding['x'])}, {_text(row['y'], encoding['y'])}"
        if low > y:
            parts.append(element("line", x1=_n(x), x2=_n(x), y1=_n(low), y2=_n(y), stroke=ALARM, stroke_width=3))
            parts.append(
                element("line", x1=_n(x - 5), x2=_n(x + 5), y1=_n(low), y2=_n(low), stroke=ALARM, stroke_width=2)
            )
        parts.append(element("circle", element("title", title), cx=_n(x), cy=_n(y), r=5, fill=AFTER, class_="after"))
        parts.append(_label(row["name"], label_x, label_y, anchor))
    parts.append(_label(encoding["x"]["title"], left + (spec["width"] - left) / 2, height + 38, "middle", "axis"))
    middle = (height + top) / 2
    turned = f"rotate(-90 12 {_n(middle)})"
    parts.append(_label(encoding["y"]["title"], 12, middle, "middle", "axis", transform=turned))
    return _svg(width, height + bottom, spec["description"], parts)


def _free_places(points: list[tuple[float, float]], widths: list[float]) -> list[tuple[float, float, str]]:
    """Where the name of each point goes: to its right, or where it does not cover another name or point."""
    taken = [(x - 6, x + 6, y) for x, y in points]
    chosen = []
    for i, ((x, y), width) in enumerate(zip(points, widths, strict=True)):
        candidates = [
            (x + 9, y + 4, "start", x + 7),
            (x - 9, y + 4, "end", x - 9 - width),
            (x, y - 10, "middle", x - width / 2),
            (x, y + 18, "middle", x - width / 2),
        ]
        others = [*taken[:i], *taken[i + 1 :]]
        best = next(
            (place for place in candidates if not any(_covers(place[3], width, place[1] - 4, *box) for box in others)),
            candidates[0],
        )
        taken.append((best[3], best[3] + width, best[1] - 4))
        chosen.append(best[:3])
    return chosen


def _covers(left: float, width: float, y: float, other_left: float, other_right: float, other_y: float) -> bool:
    return left < other_right and other_left < left + width and abs(y - other_y) < 11


def _ranges(spec: Mapping[str, Any]) -> Markup:
    rows, (first, *_, last) = spec["data"]["values"], spec["layer"]
    encoding, amount = first["encoding"], first["encoding"]["y"]
    bound = last["data"]["values"][0]["bound"] if "data" in last else None
    names = list(dict.fromkeys(row["name"] for row in rows))
    ticks = ticks_of(max([*(row["high"] for row in rows), bound or 0]))
    width, top, base = WIDTH * 2, 10, 210
    left = 36 + LETTER * max(len(_text(tick, amount)) for tick in ticks)
    room = (width - left - 8) / max(1, len(names))
    slant = any(len(name) * LETTER > room - 2 for name in names)
    bottom = 34 + min(MOST_LETTERS, max(map(len, names), default=0)) * LETTER * 0.62 if slant else 46

    def up(value: float) -> float:
        return base - (base - top) * value / ticks[-1]

    parts = [_grid_across(ticks, amount, left, width, up)]
    scale, thick = encoding["color"]["scale"], min(room * 0.3, 16)
    for row in rows:
        series = scale["domain"].index(row["series"])
        colour, x = scale["range"][series], left + room * (names.index(row["name"]) + 0.5) + thick * (series - 1)
        low, high = (f"{row[end]:.2%}" for end in ("low", "high"))
        title = f"{row['name']}, {row['series']}: {low if low == high else f'{low} to {high}'}"
        # an exact number is a tick, bounds are a bar between them
        middle, half = (up(row["low"]) + up(row["high"])) / 2, max((up(row["low"]) - up(row["high"])) / 2, 1.75)
        parts.append(_bar(x, middle - half, thick - 0.8, 2 * half, colour, title))
    for place, name in enumerate(names):
        x = left + room * (place + 0.5)
        turned = f"rotate(-38 {x + 3:.1f} {base + 12})" if slant else None
        parts.append(_label(_cut(name), x + 3 if slant else x, base + 12, "end" if slant else "middle", None, turned))
    if bound is not None:
        parts.append(
            element("line", x1=_n(left), x2=width, y1=_n(up(bound)), y2=_n(up(bound)), stroke="#b91c1c", class_="bound")
        )
        parts.append(_label(f"bound {_text(bound, amount)}", width - 2, up(bound) - 4, "end", "axis"))
    parts.append(_label(encoding["x"]["title"], left + (width - left) / 2, base + bottom - 4, "middle", "axis"))
    middle = (base + top) / 2
    parts.append(_label(amount["title"], 12, middle, "middle", "axis", transform=f"rotate(-90 12 {_n(middle)})"))
    return _svg(width, base + bottom, spec["description"], parts)


def _series(spec: Mapping[str, Any], along: str) -> tuple[list[str], list[tuple[str, list[float]]]]:
    """The labels in order, and for each colour its values in the order of the labels."""
    encoding, rows = spec["encoding"], spec["data"]["values"]
    amount = encoding["y" if along == "x" else "x"]["field"]
    names = encoding[along]["field"]
    labels = list(dict.fromkeys(row[names] for row in rows))
    if "color" not in encoding:
        return labels, [(spec["mark"]["color"], [row[amount] for row in rows])]
    key, scale = encoding["color"]["field"], encoding["color"]["scale"]
    found = {(row[names], row[key]): row[amount] for row in rows}
    return labels, [
        (colour, [found[label, kind] for label in labels])
        for kind, colour in zip(scale["domain"], scale["range"], strict=True)
    ]


def _grid_across(ticks: Sequence[float], amount: Mapping[str, Any], left: float, width: float, up: Any) -> Markup:
    parts = []
    for tick in ticks:
        parts.append(
            element(
                "line", x1=_n(left), x2=_n(width), y1=_n(up(tick)), y2=_n(up(tick)), stroke="#d8dde3", class_="grid"
            )
        )
        parts.append(_label(_text(tick, amount), left - 6, up(tick) + 3.5, "end"))
    return Markup("".join(parts))


def _bar(x: float, y: float, width: float, height: float, colour: str, title: str) -> Markup:
    size = {"width": _n(max(width, 0.6)), "height": _n(max(height, 0.6 if height > 0 else 0))}
    return element(
        "rect", element("title", title), x=_n(x), y=_n(y), rx=1.2, fill=colour, class_=_CLASSES[colour], **size
    )


def _title(label: str, spec: Mapping[str, Any], series: int, value: float, amount: Mapping[str, Any]) -> str:
    when = f", {spec['encoding']['color']['scale']['domain'][series]}" if "color" in spec["encoding"] else ""
    shown = f"{value:.1%}" if amount["axis"]["format"] == "%" else f"{value:,.0f}"
    return f"{label}{when}: {shown}"


def _label(
    text: str,
    x: float,
    y: float,
    anchor: str,
    kind: str | None = None,
    transform: str | None = None,
    title: str | None = None,
) -> Markup:
    hover = element("title", title) if title is not None and title != _cut(title) else None
    return element("text", hover, text, x=_n(x), y=_n(y), text_anchor=anchor, class_=kind, transform=transform)


def _text(value: float, amount: Mapping[str, Any]) -> str:
    if amount["axis"]["format"] == "%":
        return f"{value * 100:.6g}%"
    return f"{value:,.6g}"


def _cut(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _svg(width: float, height: float, description: str, parts: list[Markup]) -> Markup:
    return element(
        "svg",
        element("title", description),
        parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_n(width)} {_n(height)}",
        role="img",
        class_="plot",
        font_family="system-ui, sans-serif",
        font_size="11",
        width=_n(width),
        height=_n(height),
    )
