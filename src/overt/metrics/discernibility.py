# SPDX-License-Identifier: Apache-2.0
"""Discernibility: how many others each person cannot be told apart from, summed over all.

R. J. Bayardo, R. Agrawal, "Data Privacy through Optimal k-Anonymization", ICDE 2005.
"""

from fractions import Fraction

import numpy as np

from overt.partition import Partition


def discernibility(partition: Partition) -> int:
    """DM: the sum over groups of the square of their size.

    >>> discernibility(Partition.from_groups([[0, 2, 4], [1, 3]]))
    13
    """
    sizes, n_groups = np.unique(partition.sizes, return_counts=True)
    return sum(int(size) ** 2 * int(n) for size, n in zip(sizes, n_groups, strict=True))


def optimal_discernibility(n_rows: int, l: int) -> int:
    """DM*: the least discernibility of any l-diverse partition of an l-eligible table with so many rows.

    It depends on no counts. A group of 2 l rows or more can be split into l-diverse ones, so there are at most
    g = floor(n / l) groups, and squares are least when sizes differ by at most one. Sizes q and q + 1 can be had:
    no value has more than g rows, so dealing rows value by value never puts two of a value together.

    >>> optimal_discernibility(11, 3), optimal_discernibility(25, 5)
    (41, 125)
    """
    n_groups = n_rows // l
    q, r = divmod(n_rows, n_groups)
    return (n_groups - r) * q**2 + r * (q + 1) ** 2


def discernibility_ratio(partition: Partition, l: int) -> Fraction:
    """DM / DM*: 1 is the best that any l-diverse release can do."""
    return Fraction(discernibility(partition), optimal_discernibility(partition.group_of_row.size, l))
