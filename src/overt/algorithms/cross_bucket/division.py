# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/cross_bucket/test_printed.py
"""Algorithms 4 and 5: a set of rows with different values, divided into groups and into buckets.

Paper       B. Li, Y. Liu, X. Han, J. Zhang, "Cross-Bucket Generalization", TKDE 2018, Section 3.3.
Implements  Algorithm 4 (sizes of the groups), Algorithm 5 (positions of the buckets).
Departs     Loop bounds are exclusive: as printed they run one step too far.
Guarantee   Exact: if k divides beta and beta >= l, or beta > 2l, nobody has a value with more than 1/l. The proof
            in the paper is wrong (a bucket may have fewer than beta / k rows); this one holds. A bucket has g or
            g + 1 rows, g = floor(beta / k). With g rows every group gives exactly one; with g + 1 one group gives
            two, it has more than k rows, and |G| |B| >= beta - 1 >= 2l.
"""

from fractions import Fraction


def group_sizes(beta: int, k: int) -> list[int] | None:
    """Algorithm 4: groups of k rows, the remainder spread evenly over the first; None where there is no group.

    >>> group_sizes(6, 2), group_sizes(11, 4), group_sizes(1, 2)
    ([2, 2, 2], [6, 5], None)
    """
    n_groups = beta // k
    if n_groups == 0:
        return None
    base, longer = divmod(beta, n_groups)
    return [base + (g < longer) for g in range(n_groups)]


def bucket_positions(beta: int, k: int) -> list[list[int]]:
    """Algorithm 5: bucket j has the positions j, j + k, j + 2k, ...

    >>> bucket_positions(5, 2)
    [[0, 2, 4], [1, 3]]
    """
    return [list(range(j, beta, k)) for j in range(k)]


def largest_share(beta: int, k: int) -> Fraction | None:
    """The largest n_GB / (|G| |B|): with what probability someone's value is known at most.

    >>> largest_share(6, 3), largest_share(5, 2)
    (Fraction(1, 6), Fraction(1, 4))
    """
    sizes = group_sizes(beta, k)
    if sizes is None:
        return None
    group_of_position = [g for g, size in enumerate(sizes) for _ in range(size)]
    shares = []
    for bucket in bucket_positions(beta, k):
        groups = [group_of_position[position] for position in bucket]
        shares += [Fraction(groups.count(g), sizes[g] * len(bucket)) for g in set(groups)]
    return max(shares)
