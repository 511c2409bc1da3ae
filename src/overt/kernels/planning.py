# SPDX-License-Identifier: Apache-2.0
"""Which values go together, decided from how often each occurs and from nothing else."""

import numpy as np

from overt.kernels.compiler import kernel
from overt.kernels.planning_heap import count_in, fill_heap, key_of, pop, push, value_in


@kernel
def sets_led_by_most_frequent(counts, l):
    """Sets of l values: a lead, and each time the l - 1 others that are most frequent by then.

    The lead is the most frequent value when it begins and stays until it is used up or fewer than l values are
    left. Returns (set, slot) -> value with the lead first, and how often each value is left over.
    """
    value_of_slot = np.empty((counts.sum() // l, l), np.int32)
    left_over = np.zeros(counts.size, np.int64)
    heap = np.empty(counts.size, np.int64)
    taken = np.empty(l, np.int64)
    size = fill_heap(heap, counts)
    n_sets = 0
    lead, lead_left = 0, 0
    while True:
        if lead_left == 0:
            if size < l:
                break
            key = pop(heap, size)
            size -= 1
            lead, lead_left = value_in(key), count_in(key)
        elif size < l - 1:
            break
        value_of_slot[n_sets, 0] = lead
        lead_left -= 1
        for slot in range(1, l):
            taken[slot] = pop(heap, size)
            size -= 1
            value_of_slot[n_sets, slot] = value_in(taken[slot])
        for slot in range(1, l):
            if count_in(taken[slot]) > 1:
                size = push(heap, size, key_of(count_in(taken[slot]) - 1, value_in(taken[slot])))
        n_sets += 1
    if lead_left > 0:
        left_over[lead] = lead_left
    for place in range(size):
        left_over[value_in(heap[place])] = count_in(heap[place])
    return value_of_slot[:n_sets], left_over


@kernel
def largest_take(c_first, c_last, c_next, total, beta, m):
    """How many rows of each of the beta most frequent values may be taken so that the rest stays m-eligible.

    `c_first`, `c_last` and `c_next` are the counts of the first, the beta-th and the next value (0 if none).
    """
    most = c_last
    if beta > m:
        most = min(most, (total - m * c_first) // (beta - m))
    if c_next > 0:
        most = min(most, (total - m * c_next) // beta)
    return most


@kernel
def plan_batches(counts, m, k):
    """Batches (set of values, alpha) that use up an m-eligible table: alpha rows of each value of the set.

    Each time the first size beta that leaves an m-eligible rest: multiples of k from m up to k * m, then every
    size from m up. Returns (first, value, alpha): batch b has the values `value[first[b]:first[b + 1]]`.
    """
    total = counts.sum()
    heap = np.empty(counts.size, np.int64)
    top = np.empty(counts.size + 1, np.int64)  # the most frequent values, taken off the heap
    first = np.zeros(total // max(m, 1) + 2, np.int64)
    value = np.empty(total, np.int32)
    alpha = np.empty(total // max(m, 1) + 1, np.int64)
    size = fill_heap(heap, counts)
    least_multiple = (m + k - 1) // k * k
    n_batches = 0
    while size > 0:
        n_values, n_top = size, 0
        beta, take, multiples = least_multiple, 0, True
        while True:
            if multiples and beta > min(n_values, k * m):
                beta, multiples = m, False
            while n_top < min(beta + 1, n_values):
                top[n_top] = pop(heap, size)
                size -= 1
                n_top += 1
            c_next = count_in(top[beta]) if beta < n_values else 0
            take = largest_take(count_in(top[0]), count_in(top[beta - 1]), c_next, total, beta, m)
            if take >= 1:
                break
            beta += k if multiples else 1
        begin = first[n_batches]
        for i in range(n_top):
            count, v = count_in(top[i]), value_in(top[i])
            if i < beta:
                value[begin + i] = v
                count -= take
            if count > 0:
                size = push(heap, size, key_of(count, v))
        alpha[n_batches] = take
        n_batches += 1
        first[n_batches] = begin + beta
        total -= take * beta
    return first[: n_batches + 1].copy(), value[: first[n_batches]].copy(), alpha[:n_batches].copy()


@kernel
def plan_random_batches(counts, l, largest_alpha, orders, starts):
    """Batches of l values drawn at random, each value in proportion to its count; the rest stays l-eligible.

    One batch for every row of `orders` (a random order of the values) with its entry of `starts` (a random
    number in [0, 1)), or fewer: a value that would otherwise exceed its share is always in, and where that
    needs more than l values even at alpha = 1 the drawing ends. Systematic sampling: values lie on a line one
    after the other, each as long as its count, and l equally spaced points pick l different ones. Returns
    (value, alpha, counts left): batch b has the values `value[b]`.
    """
    left = counts.copy()
    total = left.sum()
    value = np.empty((starts.size, l), np.int32)
    alpha = np.empty(starts.size, np.int64)
    n_batches = 0
    while n_batches < starts.size and total >= 2 * l:
        take = min(largest_alpha, total // l)
        n_forced = l + 1
        while n_forced > l:
            n_forced, length = 0, 0
            for v in range(left.size):
                if l * left[v] > total - take * l:
                    n_forced += 1
                else:
                    length += left[v]
            if n_forced > l:
                if take == 1:
                    return value[:n_batches], alpha[:n_batches], left
                take //= 2
        n_drawn = l - n_forced
        place, reached, filled = np.int64(starts[n_batches] * length), np.int64(0), 0
        for i in range(left.size):
            v = orders[n_batches, i]
            if l * left[v] > total - take * l:
                value[n_batches, filled] = v
                filled += 1
            elif n_drawn > 0:
                reached += n_drawn * left[v]
                if place < reached:
                    value[n_batches, filled] = v
                    filled += 1
                    place += length
        for slot in range(l):
            take = min(take, left[value[n_batches, slot]])
        for slot in range(l):
            left[value[n_batches, slot]] -= take
        total -= take * l
        alpha[n_batches] = take
        n_batches += 1
    return value[:n_batches], alpha[:n_batches], left
