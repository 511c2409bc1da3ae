# SPDX-License-Identifier: Apache-2.0
"""Tiny tables with public hierarchies, and coins that fall as they are told."""

import numpy as np
import polars as pl

from overt.hierarchy import Nested
from overt.table import Column, Kind, Role, Table

PLACES = Nested({"north": ["a", "b"], "south": ["c", "d"]})
SEXES = Nested({"*": ["F", "M"]})
HIERARCHIES = {"place": PLACES, "sex": SEXES}
REGION = {"a": "north", "b": "north", "c": "south", "d": "south"}


def table_of(people):
    """People are pairs of a place and a sex."""
    columns = []
    for j, name in enumerate(("place", "sex")):
        values = sorted({person[j] for person in people})
        codes = np.array([values.index(person[j]) for person in people], np.int32)
        series = pl.Series(name, values, dtype=pl.String)
        columns.append(Column(name, Role.QUASI_IDENTIFIER, Kind.CATEGORY, codes, series))
    return Table(tuple(columns), pl.DataFrame())


def looks(person):
    """What a person looks like at the vectors (0, 0), (1, 0), (1, 1), (2, 1): the most useful first."""
    place, sex = person
    region = REGION.get(place, "*")
    place = place if place in REGION else "*"
    sex = sex if sex in ("F", "M") else "*"
    return ((place, sex), (region, sex), (region, "*"), ("*", "*"))


VECTORS = ((0, 0), (1, 0), (1, 1), (2, 1))


def multiset_of(release):
    """What a differentially private release shows: element -> copies."""
    rows = zip(*release.labels_of_group.values(), strict=True)
    return dict(zip(rows, release.partition.sizes.tolist(), strict=True))


class Script:
    """Words in the order in which they are asked for."""

    source = "seeded"

    def __init__(self, words):
        self.words_left = iter(words)

    def words(self, n):
        return np.array([next(self.words_left) for _ in range(n)], np.uint64)
