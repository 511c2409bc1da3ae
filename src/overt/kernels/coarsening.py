# SPDX-License-Identifier: Apache-2.0
"""Loops over groups that merge as one attribute rises by a level, and over the best element above each group."""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def merge_groups(rows, counts, axis, next_node):
    """The groups after attribute `axis` rises: (rows, counts, group that each former group became).

    rows[g] holds the nodes of group g; next_node[node] is the node one level up. New groups are numbered as they are
    first met.
    """
    n, k = rows.shape
    size = 8
    while size < 2 * n:
        size *= 2
    slot_of_hash = np.full(size, -1, np.int32)
    merged = np.empty_like(rows)
    total = np.zeros(n, np.int64)
    became = np.empty(n, np.int32)
    n_groups = 0
    mask = size - 1
    for g in range(n):
        risen = next_node[rows[g, axis]]
        hashed = np.int64(0)
        for j in range(k):
            node = np.int64(risen if j == axis else rows[g, j])
            # both below 2**30, so nothing overflows; the middle of a product depends on all of it
            hashed = (((hashed ^ node) * np.int64(2_654_435_761)) >> np.int64(11)) & np.int64(0x3FFFFFFF)
        place = hashed & mask
        while True:
            other = slot_of_hash[place]
            if other < 0:
                slot_of_hash[place] = n_groups
                for j in range(k):
                    merged[n_groups, j] = rows[g, j]
                merged[n_groups, axis] = risen
                other = n_groups
                n_groups += 1
                break
            same = merged[other, axis] == risen
            for j in range(k):
                if j != axis and merged[other, j] != rows[g, j]:
                    same = False
                    break
            if same:
                break
            place = (place + 1) & mask
        became[g] = other
        total[other] += counts[g]
    return merged[:n_groups].copy(), total[:n_groups].copy(), became


@kernel
def sum_over_nodes(rows, numbers, first):
    """(group) -> first + the number of its node in every attribute, in their order."""
    sums = np.full(rows.shape[0], first)
    for j in range(rows.shape[1]):
        for g in range(rows.shape[0]):
            sums[g] += numbers[j, rows[g, j]]
    return sums


@kernel
def score_risk(counts, phi, utility, c, place):
    """What the threshold model minimises: the risk, then the negated utility (of infinite risks the utility itself).

    The place is -1 where utility is below c.
    """
    n = counts.size
    first, second, where = np.empty(n), np.empty(n), np.full(n, -1, np.int64)
    for g in range(n):
        if phi[g] == 0:
            first[g] = 0.0
        elif counts[g] == 0:
            first[g] = np.inf
        else:
            first[g] = phi[g] / counts[g]
        second[g] = utility[g] if first[g] == np.inf else -utility[g]
        if utility[g] >= c:
            where[g] = place
    return first, second, where, counts.copy()


@kernel
def score_balance(counts, phi, utility, weight, kappa, place):
    """What the Lagrangian model minimises: the negated balance, then the negated safety; place -1 where phi is 0."""
    n = counts.size
    first, second, where = np.empty(n), np.empty(n), np.full(n, -1, np.int64)
    for g in range(n):
        if phi[g] > 0:
            second[g] = -(counts[g] / phi[g])
            first[g] = -(weight * -second[g] + utility[g] ** kappa)
            where[g] = place
        else:
            first[g] = second[g] = 0.0
    return first, second, where, counts.copy()


@kernel
def keep_better(first, second, where, support, new_first, new_second, new_where, new_support, group):
    """Take over, in place, what is better at `group[i]` than what is known at i. Ties keep what is known."""
    for i in range(first.size):
        g = group[i]
        if new_where[g] < 0:
            continue
        if where[i] < 0 or new_first[g] < first[i] or (new_first[g] == first[i] and new_second[g] < second[i]):
            first[i], second[i], where[i], support[i] = new_first[g], new_second[g], new_where[g], new_support[g]


@kernel
def spread_to_people(group_of_person, counts, rows, utility, weights, factors, base):
    """(person) -> support, phi with the person's own factors, and utility of the element at the person's group."""
    n = group_of_person.size
    support, phi, worth = np.empty(n, np.int64), np.empty(n), np.empty(n)
    for i in range(n):
        g = group_of_person[i]
        total = base
        for j in range(rows.shape[1]):
            total += weights[j, rows[g, j]] * factors[i, j]
        support[i], phi[i], worth[i] = counts[g], total, utility[g]
    return support, phi, worth
