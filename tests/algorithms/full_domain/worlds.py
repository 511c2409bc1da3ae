# SPDX-License-Identifier: Apache-2.0
"""Small tables with random hierarchies, and goals with the oracle's reading of each."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl
from hypothesis import strategies as st

from oracles import privacy as oracle
from overt.hierarchy import Hierarchy
from overt.privacy import (
    AllOf,
    AlphaKAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
    RelativeRisk,
    TCloseness,
)
from overt.table import Column, Kind, Role, Table


@dataclass(frozen=True)
class World:
    """Rows of codes, hierarchies as (level, code) -> label, sensitive codes; and the same as a table."""

    rows: list[tuple[int, ...]]
    hierarchies: list[list[list[int]]]
    sensitive: list[int]

    @property
    def table(self) -> Table:
        columns = []
        for j, levels in enumerate(self.hierarchies):
            codes = np.array([row[j] for row in self.rows], np.int32)
            values = pl.Series([f"v{code}" for code in range(len(levels[0]))])
            tree = None if len(levels) == 2 and j % 2 else hierarchy_of(levels, values)  # without one it is flat
            columns.append(Column(f"q{j}", Role.QUASI_IDENTIFIER, Kind.CATEGORY, codes, values, tree))
        codes = np.array(self.sensitive, np.int32)
        values = pl.Series(range(int(codes.max()) + 1))
        columns.append(Column("s", Role.SENSITIVE, Kind.NUMBER, codes, values))
        return Table(tuple(columns), pl.DataFrame())

    def is_good(self, goal):
        """The oracle's verdict on a group of rows."""
        table = Counter(self.sensitive)
        return lambda group: all(
            ORACLES[type(part)](part, Counter(self.sensitive[row] for row in group), table) for part in goal.parts
        )


def hierarchy_of(levels, values) -> Hierarchy:
    """Labels numbered as the nodes of a tree; what holds the same leaves as below is the same node."""
    n = len(levels[0])
    nodes, labels = [np.arange(n, dtype=np.int32)], values.to_list()
    for level in levels[1:]:
        above = nodes[-1].copy()
        for label in dict.fromkeys(level):
            leaves = [code for code in range(n) if level[code] == label]
            if len({int(nodes[-1][code]) for code in leaves}) > 1 or level is levels[-1]:
                labels.append("*" if level is levels[-1] else f"n{len(labels)}")
                above[leaves] = len(labels) - 1
        nodes.append(above)
    return Hierarchy(values, pl.Series(labels), np.stack(nodes))


@st.composite
def levels_of(draw, max_codes=4, max_inner=2):
    """A random hierarchy: cuts between neighbouring codes, fewer from level to level, none at the top."""
    n = draw(st.integers(1, max_codes))
    cuts = set(range(1, n))
    levels = [list(range(n))]
    for _ in range(draw(st.integers(0, max_inner))):
        cuts = {cut for cut in sorted(cuts) if draw(st.booleans())}
        levels.append([sum(cut <= code for cut in cuts) for code in range(n)])
    return [*levels, [0] * n]


@st.composite
def worlds(draw, max_rows=14, max_columns=3, max_value=3):
    hierarchies = draw(st.lists(levels_of(), min_size=1, max_size=max_columns))
    row = st.tuples(*(st.integers(0, len(levels[0]) - 1) for levels in hierarchies))
    rows = draw(st.lists(row, min_size=1, max_size=max_rows))
    sensitive = draw(st.lists(st.integers(0, max_value), min_size=len(rows), max_size=len(rows)))
    return World(rows, hierarchies, sensitive)


def fraction(number) -> Fraction:
    return Fraction(str(number))


def is_close(goal, group, table):
    cost = oracle.equal_cost if goal.distance == "equal" else oracle.ordered_cost(table)
    return oracle.is_close(group, table, fraction(goal.t), cost)


ORACLES = {
    KAnonymity: lambda goal, group, table: oracle.is_k_anonymous(group, goal.k),
    AlphaKAnonymity: lambda goal, group, table: oracle.is_alpha_k_anonymous(group, fraction(goal.alpha), goal.k),
    FrequencyLDiversity: lambda goal, group, table: oracle.is_frequency_diverse(group, fraction(goal.l)),
    DistinctLDiversity: lambda goal, group, table: oracle.is_distinct_diverse(group, goal.l),
    EntropyLDiversity: lambda goal, group, table: oracle.is_entropy_diverse(group, fraction(goal.l)),
    RecursiveCLDiversity: lambda goal, group, table: oracle.is_recursively_diverse(group, fraction(goal.c), goal.l),
    TCloseness: is_close,
    DeltaDisclosure: lambda goal, group, table: oracle.keeps_delta_disclosure(group, table, fraction(goal.delta)),
    BasicBetaLikeness: lambda goal, group, table: oracle.is_basic_beta_like(group, table, fraction(goal.beta)),
    EnhancedBetaLikeness: lambda goal, group, table: oracle.is_enhanced_beta_like(group, table, fraction(goal.beta)),
    RelativeRisk: lambda goal, group, table: oracle.keeps_relative_risk(group, table, fraction(goal.times), ()),
}

ONE = {
    "k-anonymity": st.builds(KAnonymity, st.integers(1, 5)),
    "alpha-k-anonymity": st.builds(AlphaKAnonymity, st.sampled_from(["1/3", "1/2", "2/3"]), st.integers(1, 3)),
    "l-diversity": st.builds(FrequencyLDiversity, st.sampled_from([Fraction(3, 2), 2, 3])),
    "distinct-l-diversity": st.builds(DistinctLDiversity, st.integers(1, 4)),
    "entropy-l-diversity": st.builds(EntropyLDiversity, st.sampled_from([Fraction(3, 2), 2, 3])),
    "recursive-c-l-diversity": st.builds(RecursiveCLDiversity, st.sampled_from(["1/2", 1, 2, 3]), st.integers(1, 3)),
    "t-closeness": st.builds(
        TCloseness, st.sampled_from(["1/10", "1/4", "1/2"]), distance=st.sampled_from(["equal", "ordered"])
    ),
    "delta-disclosure": st.builds(DeltaDisclosure, st.sampled_from(["1/2", 1, 2])),
    "basic-beta-likeness": st.builds(BasicBetaLikeness, st.sampled_from([0, "1/2", 1, 2])),
    "relative-risk": st.builds(RelativeRisk, st.sampled_from([1, "3/2", 2])),
    "enhanced-beta-likeness": st.builds(EnhancedBetaLikeness, st.sampled_from(["1/2", 1, 2])),
}
several = st.lists(st.one_of(*ONE.values()), min_size=2, max_size=3).map(lambda parts: AllOf(tuple(parts)))
GOALS = {**ONE, "all of several": several}
shares = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1)])
