# SPDX-License-Identifier: Apache-2.0
import re
from xml.etree import ElementTree

import numpy as np

from overt.algorithms.record import Objective, plane_of_record
from overt.report.plane import draw_lines, draw_plane

ENDS = np.array([1.0, 0.0])


def test_every_generalization_and_the_frontier_are_drawn():
    one = Objective((ENDS, ENDS), (ENDS, 2 * ENDS), np.array([[0, 0], [0, 1]], np.int32), np.array([1, 3]))
    svg = draw_plane(plane_of_record(one))
    root = ElementTree.fromstring(svg)
    circles = [e for e in root.iter() if e.tag.endswith("circle")]
    assert len(circles) == 4 + 3  # all generalizations, and those on the frontier
    line = next(e for e in root.iter() if e.tag.endswith("polyline"))
    assert len(line.attrib["points"].split()) == 3
    assert "frontier: risk 0.25, utility 1" in svg


def test_names_are_escaped_and_nothing_is_drawn_of_nothing():
    assert "a &lt; b" in draw_lines({"a < b": [(1.0, 2.0)]}, title="t", x="x", y="y")
    assert not re.search("circle", draw_lines({}, title="t", x="x", y="y"))
