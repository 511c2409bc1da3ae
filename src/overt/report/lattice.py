# SPDX-License-Identifier: Apache-2.0
"""A picture of a lattice: what a search checked, what it struck out and why, and which node it chose.

Every node is a point at the height of its levels' sum: exact values at the bottom, stars at the top. In a small lattice
lines join neighbours. One with too many nodes for points is counted instead, height by height. `lattice_frame` is the same
as a table, `lattice_spec` a Vega-Lite specification with its data inside, `draw_lattice` an SVG that needs no script.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
import polars as pl

from overt.errors import TooLarge
from overt.lattice import Node, NodeState, Search
from overt.markup import Markup, element
from overt.report.plots import SCHEMA, Spec

MOST_POINTS = 10_000  # of a specification; a lattice with more nodes is counted by height
MOST_BESIDE = 80  # points of one height that fit beside each other in a drawing
MOST_LINES = 400  # more would hide the points
CHOSEN = "chosen"
COLOURS = {
    CHOSEN: "#be123c",
    NodeState.REACHES.words: "#0f766e",
    NodeState.COSTS_MORE.words: "#99d5cd",
    NodeState.ABOVE_MINIMAL.words: "#99d5cd",
    NodeState.FAILS.words: "#b45309",
    NodeState.FAILS_BELOW.words: "#f0cf9a",
    NodeState.OPEN.words: "#d1d5db",
}
WIDTH, STEP, LEFT, TOP, LINE = 640, 34, 56, 20, 18


def lattice_frame(search: Search) -> pl.DataFrame:
    """One line per node: its levels, its height, its place among the nodes of that height, and what became of it."""
    states = _states(search)
    levels = np.indices(states.shape).reshape(states.ndim, -1)
    height = levels.sum(axis=0)
    order = np.argsort(height, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(height)))
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size) - starts[height[order]]
    became = pl.Series([NodeState(state).words for state in range(len(NodeState))]).gather(states.reshape(-1))
    frame = pl.DataFrame(
        {
            **dict(zip(_level_names(search), levels, strict=True)),
            "height": height,
            "place": place,
            "state": became,
        }
    )
    if search.chosen is None:
        return frame
    is_chosen = np.zeros(states.shape, np.bool_)
    is_chosen[search.chosen] = True
    return frame.with_columns(
        pl.when(pl.Series(is_chosen.reshape(-1))).then(pl.lit(CHOSEN)).otherwise("state").alias("state")
    )


def lattice_spec(search: Search) -> Spec:
    """The picture as a Vega-Lite specification."""
    frame = lattice_frame(search)
    known = [state for state in COLOURS if state in frame.get_column("state")]
    colour = {
        "field": "state",
        "type": "nominal",
        "title": None,
        "scale": {"domain": known, "range": [COLOURS[state] for state in known]},
    }
    height = {"field": "height", "type": "ordinal", "title": "levels in all", "sort": "descending"}
    spec: Spec = {"$schema": SCHEMA, "description": f"The lattice of generalizations. {search}.", "width": WIDTH}
    if frame.height > MOST_POINTS:
        counts = frame.group_by("height", "state").len("nodes").sort("height", "state")
        nodes = {"field": "nodes", "type": "quantitative", "title": "nodes"}
        return {
            **spec,
            "data": {"values": counts.to_dicts()},
            "mark": {"type": "bar", "tooltip": True},
            "encoding": {"y": height, "x": nodes, "color": colour},
        }
    centred = frame.with_columns(x=pl.col("place") - (pl.len().over("height") - 1) / 2).drop("place")
    size = {"condition": {"test": f"datum.state === '{CHOSEN}'", "value": 160}, "value": 30}
    shown = [{"field": _escaped(name), "title": name} for name in (*_level_names(search), "state")]
    return {
        **spec,
        "height": {"step": 24},
        "data": {"values": centred.to_dicts()},
        "mark": {"type": "point", "filled": True, "opacity": 1},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "axis": None},
            "y": height,
            "color": colour,
            "size": size,
            "tooltip": shown,
        },
    }


def draw_lattice(search: Search) -> Markup:
    """The picture as SVG: points, joined by lines if they are few; bars by height if they are many."""
    frame = lattice_frame(search)
    n_heights = sum(search.lattice.top) + 1
    known = [state for state in COLOURS if state in frame.get_column("state")]
    is_sparse = int(frame.get_column("place").to_numpy().max()) < MOST_BESIDE
    drawn = _points(search, frame, n_heights) if is_sparse else _bars(frame, n_heights)
    bottom = TOP + n_heights * STEP
    axis = [element("text", "levels in all", x=0, y=TOP - 2)] + [
        element("text", height, x=LEFT - 14, y=_y(height, n_heights) + 4, text_anchor="end")
        for height in range(n_heights)
    ]
    legend = [
        [
            element("circle", cx=LEFT, cy=bottom + LINE * (i + 1) - 4, r=5, fill=COLOURS[state]),
            element("text", _counted(frame, state), x=LEFT + 12, y=bottom + LINE * (i + 1)),
        ]
        for i, state in enumerate(known)
    ]
    height = bottom + LINE * (len(known) + 1)
    title = element("title", f"The lattice of generalizations. {search}.")
    return element(
        "svg",
        title,
        axis,
        drawn,
        legend,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH + LEFT} {height}",
        role="img",
        font_family="system-ui, sans-serif",
        font_size=12,
        fill="currentColor",
    )


def _points(search: Search, frame: pl.DataFrame, n_heights: int) -> list[Markup]:
    n_beside = np.bincount(frame.get_column("height").to_numpy())
    radius = min(7.0, WIDTH / (2.6 * n_beside.max()))
    where = {}
    for *levels, height, place, state in frame.iter_rows():
        x = LEFT + WIDTH * (place + 0.5) / n_beside[height]
        where[tuple(levels)] = (round(float(x), 1), _y(height, n_heights), state)
    pairs = [(node, above) for node in where for above in search.lattice.steps_up(node)]
    lines = pairs if len(pairs) <= MOST_LINES else []
    return [
        *(
            element(
                "line",
                x1=where[a][0],
                y1=where[a][1],
                x2=where[b][0],
                y2=where[b][1],
                stroke="#9ca3af",
                stroke_width=0.6,
            )
            for a, b in lines
        ),
        *(
            element(
                "circle",
                element("title", _named(search, node, state)),
                cx=x,
                cy=y,
                r=round(radius * (1.5 if state == CHOSEN else 1), 1),
                fill=COLOURS[state],
            )
            for node, (x, y, state) in where.items()
        ),
    ]


def _bars(frame: pl.DataFrame, n_heights: int) -> list[Markup]:
    counts = {(height, state): n for height, state, n in frame.group_by("height", "state").len().iter_rows()}
    most = max(sum(n for (h, _), n in counts.items() if h == height) for height in range(n_heights))
    bars, x_of = [], [float(LEFT)] * n_heights
    for height, state in product(range(n_heights), COLOURS):
        if n := counts.get((height, state), 0):
            width = max(n * WIDTH / most, 3.0 if state == CHOSEN else 0.0)
            title = element("title", f"{n:,} of {height} levels in all: {state}")
            bars.append(
                element(
                    "rect",
                    title,
                    x=round(x_of[height], 1),
                    y=_y(height, n_heights) - STEP / 3,
                    width=round(width, 1),
                    height=round(STEP / 1.5, 1),
                    fill=COLOURS[state],
                )
            )
            x_of[height] += width
    return bars


def _y(height: int, n_heights: int) -> float:
    return TOP + (n_heights - height - 0.5) * STEP


def _counted(frame: pl.DataFrame, state: str) -> str:
    return f"{state} ({int((frame.get_column('state') == state).sum()):,})"


def _named(search: Search, node: Node, state: str) -> str:
    levels = zip(search.lattice.columns, node, strict=True)
    return f"{', '.join(f'{name} {level}' for name, level in levels)}: {state}"


def _level_names(search: Search) -> Sequence[str]:
    return [f"level of {name}" for name in search.lattice.columns]


def _escaped(field: str) -> str:
    """A field whose name has dots or brackets in it, which Vega-Lite would take for a path."""
    return "".join(f"\\{letter}" if letter in ".[]\\'\"" else letter for letter in field)


def _states(search: Search) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    if search.state_of_node is None:
        raise TooLarge(
            f"The lattice has {search.lattice.n_nodes:,} nodes, too many to say what became of each; "
            "use hierarchies with fewer levels."
        )
    return search.state_of_node
