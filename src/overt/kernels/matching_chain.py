# SPDX-License-Identifier: Apache-2.0
"""Who of a group came from which list, by replaying a matching at equal ranks: a chain of swaps inside groups.

A batch has as many lists as its groups have rows; row r stands in list `list_of[r]` by hypothesis. The lists are split again as
the method splits them, and rows of one group should end at one place. The energy is the number of cuts after which a group
is still, or again, on two sides: cuts near the root count as often as those near the leaves, so that what is far wrong is drawn
to what is less wrong.
"""

import numpy as np

from overt.kernels.batches import split_lists_at_equal_ranks
from overt.kernels.compiler import kernel


@kernel
def depth_of_parting(p, q, n_places):
    """How many cuts two places have in common, and how many there are above the deeper of them."""
    begin, end, common, depth = 0, n_places, 0, 0
    together = True
    while end - begin > 1:
        middle = (begin + end) >> 1
        left_p, left_q = p < middle, q < middle
        together &= left_p == left_q
        common += together
        depth += 1
        if left_p:
            end = middle
        else:
            begin = middle
    return common, depth


@kernel
def cuts_apart(n_places):
    """apart[p, q]: how many of the cuts above place p do not have place q on the same side."""
    apart = np.zeros((n_places, n_places), np.int64)
    for p in range(n_places):
        for q in range(n_places):
            common, depth = depth_of_parting(p, q, n_places)
            apart[p, q] = depth - common
    return apart


@kernel
def energy_of_lists(member, points, scale, bits, apart, rows, moved, place_of):
    """How far the lists are from giving the groups. `member[g, s]` is the row of group g in list s; `points[row]` its codes."""
    n_groups, n_lists = member.shape
    for s in range(n_lists):
        for g in range(n_groups):
            rows[s * n_groups + g] = member[g, s]
            moved[s * n_groups + g] = points[member[g, s]]
    first, alpha = np.array([0, n_lists]), np.array([n_groups])
    split_lists_at_equal_ranks(first, alpha, moved, rows, scale, bits)
    for s in range(n_lists):
        for g in range(n_groups):
            place_of[rows[s * n_groups + g]] = g
    energy = 0
    for g in range(n_groups):
        for s in range(1, n_lists):
            energy += apart[place_of[member[g, 0]], place_of[member[g, s]]]
    return energy


@kernel
def exchange_lists(member, leaning):
    """Two lists exchange their values where that suits better what their rows lean to; the matching does not see it."""
    n_groups, n_lists = member.shape
    for s in range(n_lists):
        for other in range(s + 1, n_lists):
            gain = 0.0
            for g in range(n_groups):
                a, b = member[g, s], member[g, other]
                gain += leaning[a, other] + leaning[b, s] - leaning[a, s] - leaning[b, other]
            if gain > 0:
                for g in range(n_groups):
                    member[g, s], member[g, other] = member[g, other], member[g, s]


@kernel
def anneal_lists(member, points, scale, bits, leaning, prices, n_last, draws, coins, count):
    """Swap members of groups between lists while the price of energy rises to the last of `prices`, and stays there.

    `leaning[row, s]` is the logarithm of how likely the row has the value of list s. In the last `n_last` sweeps count[row, s] adds up
    in which list a row is. A sweep has as many steps as there are rows, then lists exchange values; returns the energy at the end.
    """
    n_groups, n_lists = member.shape
    apart = cuts_apart(n_groups)
    rows = np.empty(n_groups * n_lists, np.int32)
    moved, place_of = np.empty((rows.size, points.shape[1]), np.int32), np.empty(points.shape[0], np.int64)
    energy, at = energy_of_lists(member, points, scale, bits, apart, rows, moved, place_of), 0
    for sweep in range(prices.size):
        for _ in range(rows.size):
            g, s = draws[at, 0] % n_groups, draws[at, 1] % n_lists
            other = (s + 1 + draws[at, 2] % (n_lists - 1)) % n_lists
            a, b = member[g, s], member[g, other]
            gain = leaning[a, other] + leaning[b, s] - leaning[a, s] - leaning[b, other]
            if gain + coins[at] >= 0 or prices[sweep] > 0:
                member[g, s], member[g, other] = b, a
                new = energy_of_lists(member, points, scale, bits, apart, rows, moved, place_of)
                if prices[sweep] * (new - energy) - gain < coins[at]:
                    energy = new
                else:
                    member[g, s], member[g, other] = a, b
            at += 1
        exchange_lists(member, leaning)
        if sweep >= prices.size - n_last:
            for g in range(n_groups):
                for s in range(n_lists):
                    count[member[g, s], s] += 1
    return energy
