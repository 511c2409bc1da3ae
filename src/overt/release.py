# SPDX-License-Identifier: Apache-2.0
"""Release: what a method made of a table, still in codes. `overt.publish` turns it into what people see.

A release also holds what only the owner may see: the table it came from and which row went where.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from overt.kernels.boxes import bounds_of_groups
from overt.partition import Groups, Partition
from overt.table import Table


@dataclass(frozen=True, eq=False)
class Release:
    """Rows of a table in groups, and the method that put them there."""

    table: Table = field(repr=False)
    partition: Partition = field(repr=False)
    made_by: object  # the method, with its goal and parameters: public, like our source code

    @cached_property
    def groups(self) -> Groups:
        """Group sizes and sensitive values: what a privacy property looks at."""
        return Groups.of(self.table, self.partition)

    @property
    def n_groups(self) -> int:
        return self.partition.n_groups


@dataclass(frozen=True, eq=False)
class GeneralizedRelease(Release):
    """Each group shows one generalized value per quasi-identifier, and its sensitive values in any order."""

    @cached_property
    def boxes(self) -> NDArray[np.int32]:
        """(quasi-identifier, group, 2) -> least and greatest code of the column in the group."""
        rows, starts = self.partition.rows, self.partition.starts
        return np.stack([bounds_of_groups(column.codes, rows, starts) for column in self.table.quasi_identifiers])


@dataclass(frozen=True, eq=False)
class BucketRelease(Release):
    """Exact quasi-identifiers with a bucket number, and the bucket's sensitive values in a second table."""
