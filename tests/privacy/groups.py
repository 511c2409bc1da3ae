# SPDX-License-Identifier: Apache-2.0
"""Groups of people for tests: from counts, from lists of codes, and random ones."""

from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import polars as pl
from hypothesis import strategies as st

from overt.partition import Groups, Histogram
from overt.table import Column, Kind, Role


def groups_of(groups, *, unused=(), n_values=None, chains=None, column="s") -> Groups:
    """Groups from lists of codes. Rows of `unused` are in the table and in no group; groups are shuffled inside the table."""
    codes = np.array([code for group in [*groups, unused] for code in group], np.int32)
    n_values = n_values or int(codes.max(initial=0)) + 1
    place = (
        np.random.default_rng(codes.size).permutation(codes.size).astype(np.int32)
    )  # (row) -> where the table has it
    in_table = np.empty_like(codes)
    in_table[place] = codes
    hierarchy = None
    if chains is not None:
        hierarchy = SimpleNamespace(n_leaves=n_values, node_of_leaf=np.array(chains, np.int32).T.copy())
    sensitive = Column(column, Role.SENSITIVE, Kind.NUMBER, in_table, pl.Series(range(n_values)), hierarchy)
    starts = np.cumsum([0, *map(len, groups)])
    return Groups.of_ranges([sensitive], place[: starts[-1]], starts)


def groups_of_counts(groups, table=None, *, chains=None) -> Groups:
    """Groups from lists of counts, one for each value, which may be larger than any table of rows."""
    counts = np.array(groups, np.int64)
    total = counts.sum(axis=0) if table is None else np.array(table, np.int64)
    first = np.append(0, np.cumsum((counts > 0).sum(axis=1)))
    _, value = np.nonzero(counts)
    nodes = None if chains is None else np.array(chains, np.int32).T.copy()
    histogram = Histogram(first, value.astype(np.int32), counts[counts > 0], total, nodes)
    return Groups(counts.sum(axis=1), {"s": histogram})


@dataclass(frozen=True)
class World:
    """A small table in groups."""

    lists: list[list[int]]
    unused: list[int]
    chains: list[list[int]]

    @property
    def groups(self) -> Groups:
        return groups_of(self.lists, unused=self.unused, n_values=len(self.chains), chains=self.chains)

    @property
    def counters(self) -> list[Counter[int]]:
        return [Counter(group) for group in self.lists]

    @property
    def table(self) -> Counter[int]:
        return Counter(code for group in [*self.lists, self.unused] for code in group)


@st.composite
def worlds(draw, max_groups=4, max_size=12, max_values=5) -> World:
    """A few groups, some rows outside them, values that nobody has, and a hierarchy, mostly unbalanced."""
    n_values = draw(st.integers(1, max_values))
    code = st.integers(0, n_values - 1)
    lists = draw(st.lists(st.lists(code, min_size=1, max_size=max_size), min_size=1, max_size=max_groups))
    unused = draw(st.lists(code, max_size=6))
    chains = [[value] for value in range(n_values)]
    n_nodes = n_values
    for _ in range(draw(st.integers(0, 2))):
        blocks = sorted({chain[-1] for chain in chains})
        into = dict(
            zip(blocks, draw(st.lists(st.integers(0, 2), min_size=len(blocks), max_size=len(blocks))), strict=True)
        )
        members = Counter(into.values())
        for chain in chains:  # a node that stays alone is repeated, as in an unbalanced tree
            chain.append(chain[-1] if members[into[chain[-1]]] == 1 else n_nodes + into[chain[-1]])
        n_nodes += 3
    return World(lists, unused, [[*chain, n_nodes] for chain in chains])


fractions = st.fractions(min_value=0, max_value=4, max_denominator=12)
