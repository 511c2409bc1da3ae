# SPDX-License-Identifier: Apache-2.0
# Tested through tests/metrics/test_utility.py
"""Group sizes: how many people look alike, on average and against the least that was asked for.

K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian Multidimensional k-Anonymity", ICDE 2006.
"""

from fractions import Fraction

from overt.partition import Partition


def average_group_size(partition: Partition) -> Fraction:
    """Rows per group; suppressed rows are in none.

    >>> average_group_size(Partition.from_groups([[0, 2, 4], [1, 3]]))
    Fraction(5, 2)
    """
    return Fraction(int(partition.sizes.sum()), max(1, partition.n_groups))


def normalised_group_size(partition: Partition, k: int) -> Fraction:
    """C_AVG: rows per group relative to k; 1 is the best that any k-anonymous release can do."""
    return average_group_size(partition) / k
