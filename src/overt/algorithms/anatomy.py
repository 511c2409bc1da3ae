# SPDX-License-Identifier: Apache-2.0
"""Anatomy: quasi-identifiers and sensitive values in two tables, linked by bucket.

Paper       X. Xiao, Y. Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006.
Implements  Algorithm Anatomize: group creation, then residue assignment.
Departs     Every free choice (which row of a value, ties between values of equal count, the bucket of a
            residue row) is drawn with the caller's `rng`. So people are treated alike, which the paper does
            not ask for, and a seed repeats the release.
Guarantee   Exact, against an adversary who also knows this code (Theorem A of docs/theory/safety.md: people are treated
            alike): at least l rows in every bucket, all with different values, so no value above 1/l. Quasi-identifiers
            are published exactly: anyone who knows them knows who is in the table and in which bucket.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from overt.errors import InvalidInput, Unreachable
from overt.group_shape import GroupShape
from overt.guarantee import EXACT_ROWS, STRONG, Guarantee
from overt.kernels.anatomy import create_buckets, values_in_buckets
from overt.kernels.counting import order_by_code
from overt.method import Method
from overt.partition import Partition
from overt.privacy.base import Property, exact
from overt.privacy.l_diversity import DistinctLDiversity, FrequencyLDiversity
from overt.progress import Progress, silent
from overt.release import BucketRelease
from overt.table import Codes, Column, Table

STAGE = "Filling buckets"


@dataclass(frozen=True, kw_only=True)
class Anatomy(Method):
    """Buckets of l or a few more rows with different sensitive values.

    Parameters
    ----------
    goal
        l-diversity, distinct or by frequency, with a whole l: here the two come to the same.

    """

    name: ClassVar[str] = "anatomy"
    table_names: ClassVar[tuple[str, ...]] = BucketRelease.table_names
    guarantee: ClassVar[Guarantee] = replace(STRONG, besides=EXACT_ROWS)  # Theorem A of docs/theory/safety.md

    goal: FrequencyLDiversity | DistinctLDiversity

    def __post_init__(self) -> None:
        goal: Property = self.goal  # a recipe may hold any
        if not isinstance(goal, FrequencyLDiversity | DistinctLDiversity) or exact(goal.l).denominator != 1:
            raise InvalidInput(f"Anatomy was asked for {self.goal}; it reaches l-diversity with a whole l only.")

    @property
    def file_shape(self) -> GroupShape:
        return replace(super().file_shape, l=self.goal.least_rows, sizes="least", differ=True)

    def anonymize(self, table: Table, *, rng: Generator, on_progress: Progress = silent) -> BucketRelease:
        """Put every row of the table into a bucket."""
        column, l = table.the_sensitive("Anatomy"), int(exact(self.goal.l))
        require_eligible(column, l)
        on_progress(STAGE, 0, table.n_rows)
        values, rows = column.codes, shuffle_by_value(column, rng)
        bucket_of_row, n_buckets, residue = create_buckets(values, rows, rng.permutation(column.n_values), l)
        assign_residue(bucket_of_row, residue, values, n_buckets, rng)
        on_progress(STAGE, table.n_rows, table.n_rows)
        return BucketRelease(table, Partition(bucket_of_row, n_buckets), made_by=self)


def require_eligible(column: Column, l: int) -> None:
    """Eligibility (Section 3): at most one row in l may have the same value."""
    n_rows = column.codes.size or int(column.total_of_value.sum())  # of rows that lie elsewhere there are only totals
    most = int(column.total_of_value.max(initial=0))
    if n_rows < l or most * l > n_rows:
        raise Unreachable(
            f"{l}-diversity cannot be reached: one value of {column.name!r} fills {most} of {n_rows} rows, and "
            f"l = {l} allows {n_rows // l}. Use l of at most {n_rows // most if most else 0}, or leave out rows."
        )


def shuffle_by_value(column: Column, rng: Generator) -> Codes:
    """Rows in random order, then by value: the rows of a value in a random order of their own."""
    rows = rng.permutation(np.arange(column.codes.size, dtype=np.int32))
    return order_by_code(column.codes, column.n_values, rows)


def assign_residue(bucket_of_row: Codes, residue: Codes, values: Codes, n_buckets: int, rng: Generator) -> None:
    """Each row left over goes to a random bucket that does not hold its value yet (Lines 9 to 12)."""
    holds = values_in_buckets(bucket_of_row, values, values[residue], n_buckets)  # (residue row, bucket) -> bool
    for row, taken in zip(residue, holds, strict=True):
        bucket_of_row[row] = rng.choice(np.flatnonzero(~taken))
