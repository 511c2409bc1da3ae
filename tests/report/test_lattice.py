# SPDX-License-Identifier: Apache-2.0
"""Pictures of a lattice show every node once, with what became of it."""

import json
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from overt.algorithms.full_domain import FullDomain, find_minimal_nodes
from overt.errors import TooLarge
from overt.lattice import Lattice, NodeState, Search
from overt.privacy import KAnonymity
from overt.report import lattice as pictures
from tables import table_of

SVG = "{http://www.w3.org/2000/svg}"


def a_table():
    rng = np.random.default_rng(1)
    return table_of([rng.integers(0, 3, 30).tolist() for _ in range(3)], rng.integers(0, 2, 30).tolist())


@pytest.fixture
def search():
    return FullDomain(goal=KAnonymity(4), max_suppressed="1/10").anonymize(a_table()).search


def a_search(*n_levels):
    """Every state there is, over and over."""
    states = (np.arange(np.prod(n_levels)) % len(NodeState)).astype(np.uint8).reshape(n_levels)
    lattice = Lattice(tuple(f"<{j}>.[x]" for j in range(len(n_levels))), n_levels)
    return Search(lattice, "loss", lattice.top, 0.5, 0.25, 4, 2, states)


def test_the_frame_has_every_node_once(search):
    frame = pictures.lattice_frame(search)
    assert frame.columns == ["level of q0", "level of q1", "level of q2", "height", "place", "state"]
    nodes = {row[:3]: row for row in frame.iter_rows()}
    assert len(nodes) == frame.height == search.lattice.n_nodes == 8
    for node, (*_, height, _, state) in nodes.items():
        assert height == sum(node)
        expected = pictures.CHOSEN if node == search.chosen else NodeState(search.state_of_node[node]).words
        assert state == expected
    for height, n in Counter(frame.get_column("height")).items():
        assert sorted(frame.filter(height=height).get_column("place")) == list(range(n))


@pytest.mark.parametrize("n_levels", [(2, 2), (3, 2, 4), (9, 10, 11), (22, 22, 22)])
def test_the_specification_counts_what_the_frame_counts(n_levels):
    search = a_search(*n_levels)
    spec = pictures.lattice_spec(search)
    frame = pictures.lattice_frame(search)
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    values = spec["data"]["values"]
    found = Counter()
    for value in values:
        found[value["state"]] += value.get("nodes", 1)
    assert found == Counter(frame.get_column("state"))
    assert set(spec["encoding"]["color"]["scale"]["domain"]) == set(found)
    assert ("nodes" in values[0]) == (search.lattice.n_nodes > pictures.MOST_POINTS)


@pytest.mark.parametrize("n_levels", [(2, 2), (3, 2, 4), (22, 22, 22)])
def test_the_drawing_is_xml_with_a_mark_for_every_node_or_height(n_levels):
    search = a_search(*n_levels)
    root = ElementTree.fromstring(pictures.draw_lattice(search))
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert str(search) in titles[0]
    marks = titles[1:]
    if search.lattice.n_nodes < 100:
        assert len(marks) == search.lattice.n_nodes
        assert len(root.findall(f"{SVG}line")) == sum(
            len(list(search.lattice.steps_up(tuple(node)))) for node in np.ndindex(n_levels)
        )
    else:
        assert sum(int(mark.split()[0].replace(",", "")) for mark in marks) == search.lattice.n_nodes
    legend = " ".join(text.text for text in root.findall(f"{SVG}text"))
    assert pictures.CHOSEN in legend


def test_minimal_nodes_can_be_drawn_too():
    found = find_minimal_nodes(a_table(), KAnonymity(4))
    states = Counter(pictures.lattice_frame(found.search).get_column("state"))
    assert pictures.CHOSEN not in states
    assert sum(states.values()) == 8
    assert "<svg" in pictures.draw_lattice(found.search)


def test_a_lattice_too_large_to_list_is_refused(search):
    with pytest.raises(TooLarge, match=r"^The lattice has 8 nodes, too many to say what became of each"):
        pictures.lattice_spec(replace(search, state_of_node=None))
