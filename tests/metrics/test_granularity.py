# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given

from overt.algorithms import Anatomy, FullDomain, Mondrian
from overt.errors import Unreachable
from overt.metrics.granularity import granularity
from overt.privacy import DistinctLDiversity, KAnonymity
from tables import table_of, tables


def by_definition(release):
    """Cell after cell, as ARX says it: shares of columns are averaged and then rescaled."""
    table, groups = release.table, release.partition.group_of_row
    shares, least = [], []
    for j, column in enumerate(table.quasi_identifiers):
        total = 0.0
        for row in range(table.n_rows):
            if groups[row] < 0:
                total += 1
                continue
            low, high = release.boxes[j, groups[row]]
            codes = {int(c) for c in column.codes[groups == groups[row]]}
            n = len(codes) if column.kind == "category" else high - low + 1
            if isinstance(release.made_by, FullDomain):
                n = 1 if release.level_of_column[column.name] == 0 else column.n_values
            total += n / column.n_values
        shares.append(total / table.n_rows)
        least.append(1 / column.n_values)
    return (1 - np.mean(shares)) / (1 - np.mean(least))


@pytest.mark.parametrize(
    "method", [Mondrian(goal=KAnonymity(2)), FullDomain(goal=KAnonymity(2), max_suppressed="1/2")], ids=repr
)
@given(table=tables(min_rows=2))
def test_every_cell_counts_with_the_share_of_values_it_leaves_open(method, table):
    try:
        release = method.anonymize(table)
    except Unreachable:
        return
    assert granularity(release) == pytest.approx(by_definition(release))


def test_exact_rows_lose_nothing_and_suppressed_ones_everything():
    table = table_of([[0, 1, 2, 3]], [0, 1, 0, 1])
    assert granularity(Anatomy(goal=DistinctLDiversity(2)).anonymize(table, rng=np.random.default_rng(0))) == 1
    assert granularity(Mondrian(goal=KAnonymity(4)).anonymize(table)) == 0
