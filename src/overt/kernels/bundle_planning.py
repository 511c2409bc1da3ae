# SPDX-License-Identifier: Apache-2.0
"""Bundles into buckets so that no bucket holds a value too often, or too seldom: dealt, then exchanged where a limit is passed."""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def allot_bundles(first, item, order, sizes, kind, cap, least, seed, n_tries):
    """(slot) -> its bucket, and by how much limits are still passed: 0 is a plan.

    Slot s is a bundle with the items `item[first[s]:first[s + 1]]`, all different. Bucket b takes `sizes[b]` slots and may hold at
    most `cap[kind[b], i]` and must hold at least `least[kind[b], i]` slots with item i. Slots are dealt in `order`, round and
    round, then exchanged in pairs wherever that passes limits by no more than before.
    """
    n_buckets, n_slots = sizes.size, order.size
    bucket_of_slot = np.empty(n_slots, np.int32)
    held = np.zeros((n_buckets, cap.shape[1]), np.int32)
    start = np.zeros(n_buckets + 1, np.int64)
    for b in range(n_buckets):
        start[b + 1] = start[b] + sizes[b]
    filled = np.zeros(n_buckets, np.int64)
    slot_at = np.empty(n_slots, np.int32)
    b = 0
    for position in range(n_slots):
        while filled[b] == sizes[b]:
            b = b + 1 if b + 1 < n_buckets else 0
        s = order[position]
        bucket_of_slot[s] = b
        slot_at[start[b] + filled[b]] = s
        filled[b] += 1
        for j in range(first[s], first[s + 1]):
            held[b, item[j]] += 1
        b = b + 1 if b + 1 < n_buckets else 0
    passed = np.zeros(n_buckets, np.int64)
    total = 0
    for b in range(n_buckets):
        for i in range(cap.shape[1]):
            passed[b] += max(0, held[b, i] - cap[kind[b], i]) + max(0, least[kind[b], i] - held[b, i])
        total += passed[b]
    state = np.uint64(seed) | np.uint64(1)
    tries = 0
    while total > 0 and tries < n_tries:
        for b in range(n_buckets):
            if passed[b] == 0:
                continue
            for _ in range(4 * sizes[b]):
                if passed[b] == 0 or tries >= n_tries:
                    break
                tries += 1
                state = next_number(state)
                one_at = start[b] + np.int64(state >> np.uint64(11)) % sizes[b]
                state = next_number(state)
                other_at = np.int64(state >> np.uint64(11)) % n_slots
                one, other = slot_at[one_at], slot_at[other_at]
                c = bucket_of_slot[other]
                if c == b:
                    continue
                change_b = shift(first, item, one, other, held[b], cap[kind[b]], least[kind[b]])
                change_c = shift(first, item, other, one, held[c], cap[kind[c]], least[kind[c]])
                if change_b + change_c <= 0:
                    passed[b] += change_b
                    passed[c] += change_c
                    total += change_b + change_c
                    slot_at[one_at], slot_at[other_at] = other, one
                    bucket_of_slot[one], bucket_of_slot[other] = c, b
                else:
                    shift(first, item, other, one, held[b], cap[kind[b]], least[kind[b]])
                    shift(first, item, one, other, held[c], cap[kind[c]], least[kind[c]])
    return bucket_of_slot, total


@kernel
def shift(first, item, goes, comes, held, cap, least):
    """Replace one slot of a bucket by another, and tell by how much more its limits are passed than before."""
    change = 0
    for j in range(first[goes], first[goes + 1]):
        i = item[j]
        change += (1 if held[i] <= least[i] else 0) - (1 if held[i] > cap[i] else 0)
        held[i] -= 1
    for j in range(first[comes], first[comes + 1]):
        i = item[j]
        change += (1 if held[i] >= cap[i] else 0) - (1 if held[i] < least[i] else 0)
        held[i] += 1
    return change


@kernel
def next_number(state):
    """The next of a fixed sequence of numbers (xorshift of 64 bits): a plan is public and needs no coins."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state
