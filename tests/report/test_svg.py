# SPDX-License-Identifier: Apache-2.0
import re
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.report.curves import curves
from overt.report.plots import bars, bars_before_and_after, points
from overt.report.svg import draw, ticks_of

PLOTS = {
    "bars": bars([("a", 3), ("b", 10)], description="d", x="x", y="rows"),
    "standing": bars_before_and_after(["1", "2–4"], [0.25, 0.75], [0, 1], description="d", name="size"),
    "lying": bars_before_and_after(["x", "y < z"], [0.5, 0.5], [0.4, 0.6], description="d", name="c", lying=True),
    "points": points([("one", 0.1, 0.2), ("two & more", 0.4, 0.05)], description="d", x="cost", y="risk"),
    "risen": points([("one", 0.1, 0.2), ("two", 0.4, 0.05)], description="d", x="cost", y="risk", risen={"one": 0.3}),
    "curves": curves({"a": [(2, 0.1), (3, 0.4)], "b & c": [(2, 0)]}, description="d", x="l", y="share", dotted=True),
}


@pytest.mark.parametrize("name", PLOTS)
def test_drawings_are_well_formed_and_say_their_numbers(name):
    root = ET.fromstring(draw(PLOTS[name].spec))
    assert root.tag.endswith("svg")
    marks = [e for e in root.iter() if e.tag.endswith(("rect", "circle"))]
    assert len(marks) == len(PLOTS[name].spec["data"]["values"])
    assert all(mark.find("{http://www.w3.org/2000/svg}title") is not None for mark in marks)


def test_bars_are_as_long_as_their_values_say():
    root = ET.fromstring(draw(PLOTS["standing"].spec))
    heights = [float(e.get("height")) for e in root.iter() if e.tag.endswith("rect") and e.get("class") == "before"]
    assert heights[1] / heights[0] == pytest.approx(3, rel=0.02)


@pytest.mark.parametrize("name", PLOTS)
def test_a_vega_lite_program_understands_the_specifications(name):
    vl_convert = pytest.importorskip("vl_convert")
    svg = vl_convert.vegalite_to_svg(dict(PLOTS[name].spec))
    marks = len(re.findall(r'aria-roledescription="(?:bar|point)"', svg))
    assert marks == len(PLOTS[name].spec["data"]["values"])


@given(st.floats(1e-6, 1e9))
def test_ticks_are_round_few_and_reach_far_enough(most):
    ticks = ticks_of(most)
    assert ticks[0] == 0 and ticks[-1] >= most * (1 - 1e-9) and 3 <= len(ticks) <= 7
    assert all(re.fullmatch(r"[125](\.0+)?", f"{ticks[1] / 10.0**e:.9f}") for e in [exponent(ticks[1])])


def exponent(number):
    return int(f"{number:e}".partition("e")[2])


def test_a_line_leads_up_to_what_has_risen():
    root = ET.fromstring(draw(PLOTS["risen"].spec))
    (rise,) = [e for e in root.iter() if e.tag.endswith("line") and e.get("stroke-width") == "3"]
    (circle, other) = [e for e in root.iter() if e.tag.endswith("circle")]
    assert rise.get("x1") == rise.get("x2") == circle.get("cx") and rise.get("y2") == circle.get("cy")
    base = float(other.get("cy"))
    zero = max(float(e.get("y1")) for e in root.iter() if e.get("class") == "grid")
    assert (zero - float(rise.get("y1"))) / (zero - base) == pytest.approx(0.2 / 0.05, rel=0.02)


def test_a_bound_is_drawn_across_at_its_height():
    spec = curves({"a": [(0, 0.1), (1, 0.4)]}, description="d", x="p", y="b", x_as_share=True, bound=("1/4", 0.25)).spec
    root = ET.fromstring(draw(spec))
    (bound,) = [e for e in root.iter() if e.get("class") == "bound"]
    (line,) = [e for e in root.iter() if e.tag.endswith("polyline")]
    (_, low), (_, high) = (map(float, point.split(",")) for point in line.get("points").split())
    assert float(bound.get("y1")) == pytest.approx((low + high) / 2, abs=0.2)
    vl_convert = pytest.importorskip("vl_convert")
    assert "1/4" in vl_convert.vegalite_to_svg(dict(spec))


def test_names_of_points_that_are_close_do_not_cover_each_other():
    near = points(
        [("one name", 0.5, 0.2), ("another name", 0.52, 0.2), ("a third", 0.51, 0.2)], description="d", x="", y=""
    )
    names = {"one name", "another name", "a third"}
    boxes = []
    for e in ET.fromstring(draw(near.spec)).iter():
        if e.text in names:
            x, width = float(e.get("x")), 6.1 * len(e.text)
            left = {"start": x, "end": x - width, "middle": x - width / 2}[e.get("text-anchor")]
            boxes.append((left, left + width, float(e.get("y"))))
    assert len(boxes) == 3
    for (a, b, y), (c, d, z) in combinations(boxes, 2):
        assert b <= c or d <= a or abs(y - z) >= 11
