# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/dp/test_as_published.py
"""Drawing: an element for every row that the published mechanism kept, by Algorithm 3 or by Algorithm 4.

Laws depend on the data and not on the coins. Where people times vectors of levels are few, every person's law is
written down and drawn from; where they are many, vectors pass by one after the other, and nothing is kept of them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.algorithms.dp.exponential import ExponentialChoice, nothing_to_choose, walk_vectors
from overt.algorithms.dp.sample_point import SamplePoint
from overt.algorithms.record.generalization_cube import Cube
from overt.algorithms.record.methods import MOST_VECTORS, People
from overt.algorithms.record.nodes import Nodes, chain_above
from overt.algorithms.record.objective import Objective
from overt.errors import TooLarge
from overt.progress import Progress, silent

STAGE = "Choosing at random"
MOST_WEIGHTS = 4_000_000  # people times vectors of levels that are held at once

Rows = NDArray[np.int64]
Drawn = tuple[Nodes, Rows]  # (attribute, kept row) -> node; (kept row) -> support


def draw_elements(
    people: People, choice: ExponentialChoice, kept: Rows, rng: Generator, on_progress: Progress = silent
) -> Drawn:
    """Step 5: an element for every kept row, and how many rows it generalizes."""
    if people.n_vectors > MOST_VECTORS:
        raise TooLarge(
            f"The records have {people.n_vectors:,} vectors of levels, and at most {MOST_VECTORS:,} are listed; use Algorithm4, "
            "or fewer attributes."
        )
    cube = people.cube
    person = cube.person_of_record[kept]
    draw = _draw_listed if cube.group_of_person.size * people.n_vectors <= MOST_WEIGHTS else _draw_in_passing
    place, support = draw(cube, choice, people.codes.shape[1], person, rng, on_progress)
    levels = np.unravel_index(place, [tree.n_levels for tree in people.trees])
    nodes = [tree.node_of_leaf[levels[j], people.codes[j, kept]] for j, tree in enumerate(people.trees)]
    return np.stack(nodes).astype(np.int32), support


def _draw_listed(
    cube: Cube, choice: ExponentialChoice, size: int, person: Rows, rng: Generator, on_progress: Progress
) -> tuple[Rows, Rows]:
    """Every person's law is written down, and each is drawn from by itself."""
    n_vectors = cube.n_vectors
    exponents = np.full((n_vectors, cube.group_of_person.size), -np.inf)
    supports = np.zeros_like(exponents, np.int64)
    for vector in walk_vectors(cube):
        exponents[vector.place] = np.where(
            vector.is_named_first, choice.exponents(vector.support, vector.phi, vector.utility, size), -np.inf
        )
        supports[vector.place] = vector.support
        on_progress(STAGE, vector.place + 1, n_vectors)
    greatest = exponents.max(axis=0)
    if not np.isfinite(greatest).all():
        raise nothing_to_choose(int((~np.isfinite(greatest[cube.person_of_record])).sum()))
    weights = np.exp(exponents - greatest)
    weights /= weights.sum(axis=0)
    place = np.zeros(person.size, np.int64)
    order = np.argsort(person, kind="stable")
    starts = np.searchsorted(person[order], np.arange(cube.group_of_person.size + 1))
    for one in np.flatnonzero(np.diff(starts)):
        rows = order[starts[one] : starts[one + 1]]
        place[rows] = rng.choice(n_vectors, size=rows.size, p=weights[:, one])
    return place, supports[place, person]


def _draw_in_passing(
    cube: Cube, choice: ExponentialChoice, size: int, person: Rows, rng: Generator, on_progress: Progress
) -> tuple[Rows, Rows]:
    """Vector after vector, each takes the place of the one before with its share of the weight so far."""
    place, support = np.full(person.size, -1, np.int64), np.zeros(person.size, np.int64)
    total = np.full(person.size, -np.inf)  # the logarithm of the weight so far
    is_chosen_for = np.zeros(cube.group_of_person.size, np.bool_)
    for vector in walk_vectors(cube):
        exponents = choice.exponents(vector.support, vector.phi, vector.utility, size)
        exponents = np.where(vector.is_named_first, exponents, -np.inf)
        is_chosen_for |= np.isfinite(exponents)
        able = np.flatnonzero(np.isfinite(exponents)[person])
        if able.size:
            own = exponents[person[able]]
            total[able] = np.logaddexp(total[able], own)
            takes = able[np.log1p(-rng.random(able.size)) < own - total[able]]
            place[takes], support[takes] = vector.place, vector.support[person[takes]]
        on_progress(STAGE, vector.place + 1, cube.n_vectors)
    if not is_chosen_for.all():
        raise nothing_to_choose(int((~is_chosen_for[cube.person_of_record]).sum()))
    return place, support


def draw_points(
    people: People, sampler: SamplePoint, kept: Rows, rng: Generator, on_progress: Progress = silent
) -> Drawn:
    """Algorithm 4 for every kept row; rows that are alike share their bodies."""
    nodes = np.empty((len(people.trees), kept.size), np.int32)
    support = np.zeros(kept.size, np.int64)
    alike, n_people, some_row = people.distinct()
    person = alike[kept]
    for done, one in enumerate(range(n_people)):
        on_progress(STAGE, done, n_people)
        places, row = np.flatnonzero(person == one), some_row[one]
        if not places.size:
            continue
        own = None if people.personal is None else people.personal[row]
        objective = Objective.of(people.trees, people.codes[:, row], people.codes.T, people.utility, people.risk, own)
        drawn = sampler.draw(objective, places.size, rng=rng)
        support[places] = [objective.support(levels) for levels in drawn]
        nodes[:, places] = _nodes_at(people, row, drawn)
    return nodes, support


def _nodes_at(people: People, row: int, drawn: Sequence[Sequence[int]]) -> Nodes:
    """(attribute, draw) -> node, from levels along the chains of a row's own nodes."""
    nodes = np.empty((len(people.trees), len(drawn)), np.int32)
    for j, tree in enumerate(people.trees):
        chain = chain_above(tree, int(people.codes[j, row]))
        nodes[j] = [chain[levels[j]] for levels in drawn]
    return nodes
