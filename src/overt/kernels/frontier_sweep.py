# SPDX-License-Identifier: Apache-2.0
"""Frontier sweep: count the ways to give values to rows, one row after the other, merging what is alike.

A state is a row of words: first a mask of the functions that already have a failing group, then one slot per
group that is open at this place. The slot of a released group holds what is left of its histogram; the slot of
an earlier function's group holds what was used, or -1 once the group can no longer fail. Histograms are packed,
`bits` bits per value.
"""

from typing import Any, NamedTuple

import numpy as np

from overt.kernels.compiler import kernel

OPEN, DOOMED, SAVED = 0, 1, 2


class Packing(NamedTuple):
    """How a state is written into words."""

    n_values: int
    bits: int  # of a value
    words_per_slot: int
    n_slots: int


class FrontierPlaces(NamedTuple):
    """What happens at each place, one row after the other."""

    slot_of_released: Any  # (place)
    opens_released: Any  # (place) -> the released group that begins here, or -1
    slot_of_function: Any  # (function, place)
    slots_of_function: Any  # (function + 1)
    closes: Any  # (function, place) -> whether the group of the function ends here
    table_of_function: Any  # (function, place) -> the table of verdicts of its group


class Verdicts(NamedTuple):
    """Tables of verdicts on partial histograms, by their codes."""

    weights: Any  # (table, count) -> what a value with this count adds to a code
    first: Any  # (table + 1), of `codes` and `verdicts`
    codes: Any
    verdicts: Any
    dense_first: Any  # (table) -> where it begins in `dense`, which needs no search; -1 if it is too long for that
    dense: Any


@kernel
def hash_words(words):
    """A 64-bit mix of a row of words."""
    mixed = np.uint64(1469598103934665603)
    for i in range(words.size):
        mixed ^= np.uint64(words[i])
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


@kernel
def find_verdict(code, first, codes, verdicts, dense_first, dense):
    """The verdict on a partial histogram by its code: looked up, or searched where the table is too long."""
    if dense_first >= 0:
        return dense[dense_first + code]
    low, high = first[0], first[1]
    while low < high:
        middle = (low + high) // 2
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    return verdicts[low]


@kernel
def explore_frontier(packing, places, tables, start_words, max_states, max_transitions):
    """All states and transitions; `start_words` are the histograms of the released groups, packed.

    Returns (ok, first_transition, source, target, value, n_states, accepted): transition i of place t leads from
    state source[i] before the row to state target[i] after it by giving the row a value; accepted[s] tells for
    the last states whether every function has failed. ok is False if a limit was hit.

    One long function on purpose: with its parts as functions of their own it took 1.5 (the hash table) to 3 times as long (also the verdicts).
    """
    n_values, bits, words_per_slot, n_slots = packing
    slot_of_released, opens_released, slot_of_function, slots_of_function, closes, table_of_function = places
    weights, table_first, codes, verdicts, dense_first, dense = tables
    n_functions, n_places = slot_of_function.shape
    width = 1 + n_slots * words_per_slot
    per_word = 62 // bits
    low_bits = (np.int64(1) << bits) - 1
    full = (np.int64(1) << n_functions) - 1
    states = np.zeros((1, width), np.int64)
    n_here = 1
    capacity = 1024
    upcoming = np.zeros((capacity, width), np.int64)
    table_size = 4096
    table = np.zeros(table_size, np.int64)
    stamp = np.full(table_size, -1, np.int64)
    room = 65536
    source = np.empty(room, np.int32)
    target = np.empty(room, np.int32)
    value = np.empty(room, np.int16)
    first_transition = np.zeros(n_places + 1, np.int64)
    n_states = np.zeros(n_places + 1, np.int64)
    n_states[0] = 1
    n_transitions = 0
    word = np.zeros(width, np.int64)
    base_code = np.zeros(n_functions, np.int64)
    tracked = np.zeros(n_functions, np.bool_)
    accepted = np.zeros(1, np.bool_)
    stamp_now = 0

    for t in range(n_places):
        n_next = 0
        stamp_now += 1
        if n_transitions + n_here * n_values > room:
            while n_transitions + n_here * n_values > room:
                room *= 2
            if n_transitions + n_here * n_values > max_transitions:
                return False, first_transition, source, target, value, n_states, accepted
            grown_source = np.empty(room, np.int32)
            grown_target = np.empty(room, np.int32)
            grown_value = np.empty(room, np.int16)
            grown_source[:n_transitions] = source[:n_transitions]
            grown_target[:n_transitions] = target[:n_transitions]
            grown_value[:n_transitions] = value[:n_transitions]
            source, target, value = grown_source, grown_target, grown_value
        released = 1 + slot_of_released[t] * words_per_slot
        for s in range(n_here):
            # codes of the groups that can still fail, before the row has a value
            if opens_released[t] >= 0:
                for w in range(words_per_slot):
                    states[s, released + w] = start_words[opens_released[t], w]
            mask = states[s, 0]
            for f in range(n_functions):
                tracked[f] = False
                if (mask >> f) & 1:
                    continue
                begin = 1 + slot_of_function[f, t] * words_per_slot
                if states[s, begin] == -1:
                    continue
                tracked[f] = True
                code = np.int64(0)
                sizes = weights[table_of_function[f, t]]
                for v in range(n_values):
                    code += sizes[(states[s, begin + v // per_word] >> (bits * (v % per_word))) & low_bits]
                base_code[f] = code
            # each value that is left for the row, and the state that it leads to
            for v in range(n_values):
                in_word, shift = v // per_word, bits * (v % per_word)
                if (states[s, released + in_word] >> shift) & low_bits == 0:
                    continue
                for w in range(width):
                    word[w] = states[s, w]
                word[released + in_word] -= np.int64(1) << shift
                for f in range(n_functions):
                    if (mask >> f) & 1:
                        continue
                    begin = 1 + slot_of_function[f, t] * words_per_slot
                    if tracked[f]:
                        kind = table_of_function[f, t]
                        count = (word[begin + in_word] >> shift) & low_bits
                        code = base_code[f] - weights[kind, count] + weights[kind, count + 1]
                        verdict = find_verdict(
                            code, table_first[kind : kind + 2], codes, verdicts, dense_first[kind], dense
                        )
                        if verdict == DOOMED:  # the group fails, so the function does, and needs no slots any more
                            word[0] |= np.int64(1) << f
                            for i in range(slots_of_function[f], slots_of_function[f + 1]):
                                for w in range(words_per_slot):
                                    word[1 + i * words_per_slot + w] = 0
                            continue
                        if verdict == SAVED:
                            for w in range(words_per_slot):
                                word[begin + w] = 0
                            word[begin] = -1
                        else:
                            word[begin + in_word] += np.int64(1) << shift
                    if closes[f, t]:
                        for w in range(words_per_slot):
                            word[begin + w] = 0
                # the number of that state among the next ones; a new one if it is not among them
                place = np.int64(hash_words(word) & np.uint64(table_size - 1))
                while True:
                    if stamp[place] != stamp_now:
                        if n_next == capacity:
                            capacity *= 2
                            if capacity > 2 * max_states:
                                return False, first_transition, source, target, value, n_states, accepted
                            grown = np.zeros((capacity, width), np.int64)
                            grown[:n_next] = upcoming[:n_next]
                            upcoming = grown
                        if 2 * (n_next + 1) > table_size:
                            # a larger table: put what is there back in
                            table_size *= 4
                            table = np.zeros(table_size, np.int64)
                            stamp = np.full(table_size, -1, np.int64)
                            for i in range(n_next):
                                spot = np.int64(hash_words(upcoming[i]) & np.uint64(table_size - 1))
                                while stamp[spot] == stamp_now:
                                    spot = (spot + 1) & (table_size - 1)
                                stamp[spot] = stamp_now
                                table[spot] = i
                            place = np.int64(hash_words(word) & np.uint64(table_size - 1))
                            continue
                        stamp[place] = stamp_now
                        table[place] = n_next
                        upcoming[n_next] = word
                        found = n_next
                        n_next += 1
                        break
                    found = table[place]
                    same = True
                    for w in range(width):
                        if upcoming[found, w] != word[w]:
                            same = False
                            break
                    if same:
                        break
                    place = (place + 1) & (table_size - 1)
                source[n_transitions] = s
                target[n_transitions] = found
                value[n_transitions] = v
                n_transitions += 1
        first_transition[t + 1] = n_transitions
        n_states[t + 1] = n_next
        states, upcoming = upcoming, states
        if upcoming.shape[0] < capacity:
            upcoming = np.zeros((capacity, width), np.int64)
        n_here = n_next
    accepted = np.zeros(n_here, np.bool_)
    for s in range(n_here):
        accepted[s] = states[s, 0] == full
    return (
        True,
        first_transition,
        source[:n_transitions].copy(),
        target[:n_transitions].copy(),
        value[:n_transitions].copy(),
        n_states,
        accepted,
    )


@kernel
def count_paths(first_transition, source, target, value, n_states, accepted, n_values, wanted):
    """Exact counts in 64 bits: (total, counts[i, v]) for the i-th wanted place and value v. The caller knows it fits."""
    n_places = first_transition.size - 1
    first_state = np.zeros(n_places + 2, np.int64)
    for t in range(n_places + 1):
        first_state[t + 1] = first_state[t] + n_states[t]
    forward = np.zeros(first_state[n_places + 1], np.int64)
    forward[0] = 1
    for t in range(n_places):
        here, there = first_state[t], first_state[t + 1]
        for i in range(first_transition[t], first_transition[t + 1]):
            forward[there + target[i]] += forward[here + source[i]]
    last = first_state[n_places]
    total = np.int64(0)
    backward = np.zeros(n_states[n_places], np.int64)
    for s in range(accepted.size):
        if accepted[s]:
            backward[s] = 1
            total += forward[last + s]
    counts = np.zeros((wanted.size, n_values), np.int64)
    at = wanted.size - 1
    for t in range(n_places - 1, -1, -1):
        here = first_state[t]
        before = np.zeros(n_states[t], np.int64)
        asked = at >= 0 and wanted[at] == t
        for i in range(first_transition[t], first_transition[t + 1]):
            before[source[i]] += backward[target[i]]
            if asked:
                counts[at, value[i]] += forward[here + source[i]] * backward[target[i]]
        if asked:
            at -= 1
        backward = before
    return total, counts


@kernel
def weigh_paths(first_transition, source, target, value, n_states, accepted, n_values, wanted):
    """The same in scaled floats: (shares[i, v], share of accepted tables, least overlap, largest fan-in).

    Every sum has terms of one sign, so relative errors add up and nothing cancels. `least overlap` is the smallest
    scalar product of the scaled forward and backward vectors: near 0, an underflow may have lost something.
    """
    n_places = first_transition.size - 1
    first_state = np.zeros(n_places + 2, np.int64)
    for t in range(n_places + 1):
        first_state[t + 1] = first_state[t] + n_states[t]
    forward = np.zeros(first_state[n_places + 1])
    forward[0] = 1.0
    fan_in = 1
    for t in range(n_places):
        here, there = first_state[t], first_state[t + 1]
        incoming = np.zeros(n_states[t + 1], np.int64)
        for i in range(first_transition[t], first_transition[t + 1]):
            forward[there + target[i]] += forward[here + source[i]]
            incoming[target[i]] += 1
        scale = 0.0
        for s in range(n_states[t + 1]):
            scale += forward[there + s]
            fan_in = max(fan_in, incoming[s])
        for s in range(n_states[t + 1]):
            forward[there + s] /= scale
    last = first_state[n_places]
    share = 0.0
    backward = np.zeros(n_states[n_places])
    for s in range(accepted.size):
        if accepted[s]:
            backward[s] = 1.0
            share += forward[last + s]
    shares = np.zeros((wanted.size, n_values))
    overlap = 1.0
    at = wanted.size - 1
    for t in range(n_places - 1, -1, -1):
        here = first_state[t]
        before = np.zeros(n_states[t])
        asked = at >= 0 and wanted[at] == t
        for i in range(first_transition[t], first_transition[t + 1]):
            before[source[i]] += backward[target[i]]
            if asked:
                shares[at, value[i]] += forward[here + source[i]] * backward[target[i]]
        if asked:
            total = 0.0
            for v in range(n_values):
                total += shares[at, v]
            overlap = min(overlap, total)
            if total > 0:
                for v in range(n_values):
                    shares[at, v] /= total
            at -= 1
        largest = 0.0
        for s in range(n_states[t]):
            largest = max(largest, before[s])
        if largest > 0:
            for s in range(n_states[t]):
                before[s] /= largest
        backward = before
    return shares, share, overlap, fan_in


@kernel
def add_limbs(sums, into, numbers, start, n_limbs):
    """sums[into] += numbers[start], both rows of 64-bit limbs, lowest first."""
    carry = np.uint64(0)
    for limb in range(n_limbs):
        a = sums[into, limb]
        b = numbers[start, limb]
        c = a + b
        d = c + carry
        carry = np.uint64(c < a) | np.uint64(d < c)
        sums[into, limb] = d


@kernel
def count_forward_in_limbs(first_transition, source, target, n_states, n_limbs, limbs_at, keep):
    """Exact forward counts of any size at the places to keep, one after the other: (state, limb)."""
    n_places = first_transition.size - 1
    kept_states = 0
    for t in keep:
        kept_states += n_states[t]
    kept = np.zeros((kept_states, n_limbs), np.uint64)
    filled = 0
    at = 0
    here = np.zeros((1, n_limbs), np.uint64)
    here[0, 0] = 1
    for t in range(n_places + 1):
        if at < keep.size and keep[at] == t:
            kept[filled : filled + n_states[t]] = here[: n_states[t]]
            filled += n_states[t]
            at += 1
            if at == keep.size:
                break
        if t == n_places:
            break
        there = np.zeros((n_states[t + 1], n_limbs), np.uint64)
        used = min(n_limbs, limbs_at[t + 1])
        for i in range(first_transition[t], first_transition[t + 1]):
            add_limbs(there, target[i], here, source[i], used)
        here = there
    return kept


@kernel
def count_backward_in_limbs(first_transition, source, target, n_states, accepted, n_limbs, limbs_from, keep):
    """Exact backward counts of any size at the places to keep (ascending), one after the other: (state, limb)."""
    n_places = first_transition.size - 1
    kept_states = 0
    for t in keep:
        kept_states += n_states[t]
    kept = np.zeros((kept_states, n_limbs), np.uint64)
    filled = kept_states
    at = keep.size - 1
    here = np.zeros((n_states[n_places], n_limbs), np.uint64)
    for s in range(accepted.size):
        if accepted[s]:
            here[s, 0] = 1
    for t in range(n_places, -1, -1):
        if at >= 0 and keep[at] == t:
            filled -= n_states[t]
            kept[filled : filled + n_states[t]] = here[: n_states[t]]
            at -= 1
            if at < 0:
                break
        if t == 0:
            break
        before = np.zeros((n_states[t - 1], n_limbs), np.uint64)
        used = min(n_limbs, limbs_from[t - 1])
        for i in range(first_transition[t - 1], first_transition[t]):
            add_limbs(before, source[i], here, target[i], used)
        here = before
    return kept
