# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/blind_buckets/test_strata.py
"""Strata: parts of a table that are planned and drawn each by itself, told apart by public quasi-identifiers.

What `BatchMatching` and `CrossBucket` begin with is here and in `batches`: count values in every stratum, plan each
stratum from its counts, draw the rows blind. A value of one stratum is a value of its own, so that all strata
make one plan. The owner fixes the strata; a stratum is never merged with another, because whether to merge would
depend on values, and say so.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from overt.algorithms.batches import BatchPlan, join_plans, shuffle_by_value
from overt.errors import InvalidInput
from overt.kernels.counting import count_codes
from overt.partition import Counts
from overt.table import Codes, Table, unknown_column


@dataclass(frozen=True, eq=False)
class CountedStrata:
    """What each row counts as, and how often everything occurs in each stratum."""

    value_of_row: Codes  # numbered over all strata
    counts: Counts  # (stratum, value)

    @classmethod
    def of(cls, table: Table, names: tuple[str, ...], value_of_row: Codes, n_values: int) -> "CountedStrata":
        """Count values in the strata of these quasi-identifiers; without names everyone is in one."""
        stratum_of_row, n_strata = strata_of(table, names)
        if n_strata > 1:
            value_of_row = stratum_of_row * np.int32(n_values) + value_of_row
        return cls(value_of_row, count_codes(value_of_row, n_strata * n_values).reshape(n_strata, n_values))

    def plan(self, plan_stratum: Callable[[Counts], BatchPlan]) -> BatchPlan:
        """Plan every stratum from its counts; batches of all strata one after the other."""
        plans = [plan_stratum(of_stratum) for of_stratum in self.counts]
        return join_plans(plans, range(0, self.counts.size, self.counts.shape[1]))

    def draw(self, plan: BatchPlan, rng: Generator) -> Codes:
        """The rows of every batch, list by list, without looking at quasi-identifiers."""
        return plan.draw(*shuffle_by_value(self.value_of_row, self.counts.size, rng))


def strata_of(table: Table, names: tuple[str, ...]) -> tuple[Codes, int]:
    """The stratum of every row: one for each combination of these quasi-identifiers that occurs."""
    stratum_of_row, n_strata = np.zeros(table.n_rows, np.int32), 1
    known = [column.name for column in table.quasi_identifiers]
    for name in names:
        if name not in known:
            raise (
                unknown_column(name, known)
                if all(c.name != name for c in table.columns)
                else InvalidInput(
                    f"A stratum must be a quasi-identifier and {name!r} is not: a stratum made of values would give them away."
                )
            )
        column = table.column(name)
        combined = stratum_of_row.astype(np.int64) * column.n_values + column.codes
        present, numbered = np.unique(combined, return_inverse=True)
        stratum_of_row, n_strata = numbered.astype(np.int32), present.size
    return stratum_of_row, n_strata
