# SPDX-License-Identifier: Apache-2.0
"""Swaps of values inside groups, at many temperatures, that leave what was tried and failed a failure.

A trial has parts, which are sets of places; what it takes for it to fail is its kind. A part is broken if it breaks the
goal, and otherwise it has a lack (see `lacking`). A trial that fails has energy 0, one that does not has the more the
farther it is from failing. Places of a group that lie in the same parts of all trials make a cell. Groups that share a trial
make a component, and components have nothing to do with each other.

Every component is kept in several copies, its slots, each at a rung of a ladder of prices for a unit of energy: at the
lowest almost anything goes, at the highest hardly anything but energy 0. Slots on neighbouring rungs swap places, so
that a table that is stuck melts and freezes again elsewhere. Whatever the rung, tables of energy 0 are equally likely.
"""

from typing import Any, NamedTuple

import numpy as np

from overt.kernels.compiling import kernel
from overt.kernels.lacking import COUNTS, lack_after, lack_of, plain_lack, plain_lack_after, replace_in_part

PAIR, ANY, AMOUNT = 0, 1, 2  # one of two parts is broken; one of many; so many rows or so much weight is
FAR = 15  # lacks of the parts of a trial of many are counted up to here


class Layout(NamedTuple):
    """What never changes. Groups are in the order of their components, places of their groups, trials likewise."""

    first_group: Any  # (component + 1)
    first_place: Any  # (group + 1)
    n_active: (
        Any  # (group) -> how many of its places, the first, are in a part or have facts; swaps of others change nothing
    )
    work: Any  # (component) -> active places of its groups
    first_cell: Any  # (component + 1)
    first_trial: Any  # (component + 1)
    first_part: Any  # (trial + 1)
    first_in_trials: Any  # (group + 1), of `trials`
    most_trials: int  # of any group
    trials: Any  # trials that tell places of a group apart, group by group
    first_in_parts: Any  # (group), of `part_of`
    part_of: Any  # group by group, place by place: the part it is in of each of these trials, -1 if in none
    cell_of_place: Any
    is_free: Any  # (group) -> whether its places can have any values, and not only those that they have together
    forbidden: Any  # (place, value), or empty
    rules: Any  # see `lacking`
    kind: Any  # (trial)
    weight: Any  # (part, 2) -> rows and weight that it adds to a trial of kind AMOUNT if broken
    needed: Any  # (trial, 2) -> rows and weight from which on it fails
    unit: Any  # (trial) -> how much weight goes for one row


class State(NamedTuple):
    """Where all slots are. Slots are numbered component by component."""

    first_slot: Any  # (component + 1)
    slot_at: Any  # (rung), numbered like slots -> which slot is there, as a number inside its component
    price: Any  # (rung) -> of a unit of energy
    value: Any  # slot by slot, (place)
    tally: Any  # slot by slot, (part, COUNTS + value)
    energy: Any  # slot by slot, (trial)
    broken: Any  # slot by slot, (trial, 2) -> rows and weight of broken parts; or empty if no trial is an AMOUNT
    lacks: Any  # slot by slot, (trial, lack) -> how many parts have it; or empty if no trial has kind ANY
    energy_of_slot: Any


class Seen(NamedTuple):
    """What is added up at energy 0."""

    held: Any  # (cell, value), scratch
    total: Any  # (cell, value) -> places that have it
    square: Any  # (cell, value) -> squares of that
    n_seen: Any  # (component) -> how many tables
    moments: Any  # (component, 2) -> sum of the energies of the slot at the lowest rung, and of their squares


@kernel
def shortfall(rows, weight, needed_rows, needed_weight, unit):
    """The energy of a trial of kind AMOUNT: how long a number is needed to write what it lacks."""
    short = min(needed_rows - rows, -((weight - needed_weight) // unit))
    energy = 0
    while short > 0:
        short >>= 1
        energy += 1
    return energy


@kernel
def least_lack(lacks, trial, without_a, without_b):
    """The least lack of the parts of a trial but two, whose lacks are given (or -1)."""
    for lack in range(FAR + 1):
        if lacks[trial, lack] > np.int32(lack == without_a) + np.int32(lack == without_b):
            return lack
    return FAR


@kernel
def energy_after(
    trial, at, p, q, part_at, x, y, tally, is_plain, least, rules, kind, weight, needed, unit, broken, lacks
):
    """The energy of a trial if a place of part p had y instead of x, and one of part q the reverse; -1 is no part.

    `at` is where the trial of this slot lies, `part_at` what is to be added to the numbers of parts.
    """
    after_p, after_q, before_p, before_q = FAR, FAR, -1, -1
    if is_plain:
        if p >= 0:
            after_p = plain_lack_after(tally, part_at + p, x, y, least)
            before_p = plain_lack(tally, part_at + p, least)
        if q >= 0:
            after_q = plain_lack_after(tally, part_at + q, y, x, least)
            before_q = plain_lack(tally, part_at + q, least)
    else:
        if p >= 0:
            after_p = lack_after(tally, part_at + p, x, y, rules)
            before_p = lack_of(tally, part_at + p, rules)
        if q >= 0:
            after_q = lack_after(tally, part_at + q, y, x, rules)
            before_q = lack_of(tally, part_at + q, rules)
    if kind[trial] == PAIR:
        return min(after_p, after_q)
    if kind[trial] == ANY:
        others = least_lack(lacks, at, min(before_p, FAR), min(before_q, FAR))
        return min(others, min(min(after_p, after_q), FAR))
    rows, cost = broken[at, 0], broken[at, 1]
    if p >= 0:
        change = np.int64(after_p == 0) - np.int64(before_p == 0)
        rows += change * weight[p, 0]
        cost += change * weight[p, 1]
    if q >= 0:
        change = np.int64(after_q == 0) - np.int64(before_q == 0)
        rows += change * weight[q, 0]
        cost += change * weight[q, 1]
    return shortfall(rows, cost, needed[trial, 0], needed[trial, 1], unit[trial])


@kernel
def replace_and_note(trial, at, part, part_at, x, y, tally, is_plain, least, rules, kind, weight, broken, lacks):
    """One place of a part has value y instead of x, and its trial is to know what that does to the part."""
    before = plain_lack(tally, part_at + part, least) if is_plain else lack_of(tally, part_at + part, rules)
    replace_in_part(tally, part_at + part, x, y)
    after = plain_lack(tally, part_at + part, least) if is_plain else lack_of(tally, part_at + part, rules)
    if kind[trial] == ANY:
        lacks[at, min(before, FAR)] -= 1
        lacks[at, min(after, FAR)] += 1
    else:
        change = np.int64(after == 0) - np.int64(before == 0)
        broken[at, 0] += change * weight[part, 0]
        broken[at, 1] += change * weight[part, 1]


@kernel
def judge_slots(layout, state, place_of_slot, part_of_slot, trial_of_slot):
    """Work out all energies from the tallies."""
    for component in range(state.first_slot.size - 1):
        for slot in range(state.first_slot[component], state.first_slot[component + 1]):
            state.energy_of_slot[slot] = judge_slot(
                layout, state, component, slot, place_of_slot[slot], part_of_slot[slot], trial_of_slot[slot]
            )


@kernel
def judge_slot(layout, state, component, slot, place_at, part_at, trial_at):
    """Work out the energies of a slot from its tally; returns their sum."""
    total = 0
    for trial in range(layout.first_trial[component], layout.first_trial[component + 1]):
        at, best, kind = trial_at + trial, 1 << 30, layout.kind[trial]
        if kind == ANY:
            state.lacks[at] = 0
        elif kind == AMOUNT:
            state.broken[at] = 0
        for part in range(layout.first_part[trial], layout.first_part[trial + 1]):
            lack = lack_of(state.tally, part_at + part, layout.rules)
            best = min(best, lack)
            if kind == ANY:
                state.lacks[at, min(lack, FAR)] += 1
            elif kind == AMOUNT and lack == 0:
                state.broken[at, 0] += layout.weight[part, 0]
                state.broken[at, 1] += layout.weight[part, 1]
        if kind == ANY:
            best = min(best, FAR)
        elif kind == AMOUNT:
            rows, cost = state.broken[at, 0], state.broken[at, 1]
            best = shortfall(rows, cost, layout.needed[trial, 0], layout.needed[trial, 1], layout.unit[trial])
        state.energy[at] = best
        total += best
    if layout.forbidden.size:
        first, last = layout.first_group[component], layout.first_group[component + 1]
        for place in range(layout.first_place[first], layout.first_place[last]):
            total += np.int64(layout.forbidden[place, state.value[place_at + place]])
    return total


@kernel
def sweep_components(draws, coins, sweeps, layout, state, seen, place_of_slot, part_of_slot, trial_of_slot, stop):
    """For every component so many sweeps: each slot proposes a swap for each active place, then rungs are exchanged.

    `draws` holds 64 bits for each proposal, a pair of places, one of them active (or a place and a value); `coins` a number of the
    exponential law for each proposal, and for each exchange of rungs after them. Returns how many proposals there were,
    and how many were taken.
    """
    at, n_taken = 0, 0
    n_exchanged = draws.size
    for component in range(sweeps.size):
        slots, last = state.first_slot[component], state.first_slot[component + 1]
        for sweep in range(sweeps[component]):
            if stop[0]:
                return at, n_taken
            for rung in range(slots, last):
                slot = slots + state.slot_at[rung]
                n = sweep_slot(
                    draws,
                    coins,
                    at,
                    component,
                    slot,
                    state.price[rung],
                    layout,
                    state,
                    place_of_slot,
                    part_of_slot,
                    trial_of_slot,
                )
                at += layout.work[component]
                n_taken += n
                if state.energy_of_slot[slot] == 0:
                    seen.n_seen[component] += 1
                    record(layout, component, state.value, place_of_slot[slot], seen)
            energy = state.energy_of_slot[slots + state.slot_at[last - 1]]
            seen.moments[component, 0] += energy
            seen.moments[component, 1] += energy * energy
            for rung in range(slots + sweep % 2, last - 1, 2):
                here, there = state.slot_at[rung], state.slot_at[rung + 1]
                gained = state.energy_of_slot[slots + there] - state.energy_of_slot[slots + here]
                if (state.price[rung] - state.price[rung + 1]) * gained < coins[n_exchanged]:
                    state.slot_at[rung], state.slot_at[rung + 1] = there, here
                n_exchanged += 1
    return at, n_taken


@kernel
def sweep_slot(draws, coins, at, component, slot, price, layout, state, place_of_slot, part_of_slot, trial_of_slot):
    """Propose as many swaps as there are active places. Returns how many were taken."""
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    place_at, part_at, trial_at = place_of_slot[slot], part_of_slot[slot], trial_of_slot[slot]
    # arrays by themselves: a loop that reads them out of a tuple is ten times as slow
    first_place, is_free, forbidden = layout.first_place, layout.is_free, layout.forbidden
    first_in_trials, trials, part_of = layout.first_in_trials, layout.trials, layout.part_of
    rules, kind, weight, needed, unit = layout.rules, layout.kind, layout.weight, layout.needed, layout.unit
    value, tally, energy, broken, lacks = state.value, state.tally, state.energy, state.broken, state.lacks
    n_values, n_taken, has_facts = tally.shape[1] - COUNTS, 0, forbidden.size > 0
    least, is_plain = rules.least, rules.recursive.size + rules.entropy.size == 0
    after = np.empty(layout.most_trials, np.int64)
    total = state.energy_of_slot[slot]
    for g in range(layout.first_group[component], layout.first_group[component + 1]):
        begin, size = first_place[g], first_place[g + 1] - first_place[g]
        first, last = first_in_trials[g], first_in_trials[g + 1]
        n_trials, parts_at, free = last - first, layout.first_in_parts[g] - first, is_free[g]
        active = np.uint64(layout.n_active[g])
        for _ in range(layout.n_active[g]):
            draw, coin = draws[at], coins[at]
            at += 1
            i, j = np.int64(((draw & low) * active) >> half), np.int64(0)
            a, b = begin + i, np.int64(-1)
            x = value[place_at + a]
            if free:
                y = np.int32(((draw >> half) * np.uint64(n_values)) >> half)
            else:
                j = np.int64(((draw >> half) * np.uint64(size)) >> half)
                b = begin + j
                y = value[place_at + b]
            if x == y:
                continue
            of_a, of_b, change = parts_at + i * n_trials, parts_at + j * n_trials, np.int64(0)
            for k in range(first, last):
                p, q = part_of[of_a + k], np.int32(-1) if free else part_of[of_b + k]
                if p != q:
                    trial = trials[k]
                    there = trial_at + trial
                    if is_plain and kind[trial] == PAIR:
                        one = plain_lack_after(tally, part_at + p, x, y, least)
                        other = plain_lack_after(tally, part_at + q, y, x, least)
                        after[k - first] = min(one, other)
                    else:
                        after[k - first] = energy_after(
                            trial,
                            there,
                            p,
                            q,
                            part_at,
                            x,
                            y,
                            tally,
                            is_plain,
                            least,
                            rules,
                            kind,
                            weight,
                            needed,
                            unit,
                            broken,
                            lacks,
                        )
                    change += after[k - first] - energy[there]
            if has_facts:
                change += np.int64(forbidden[a, y]) - np.int64(forbidden[a, x])
                if b >= 0:
                    change += np.int64(forbidden[b, x]) - np.int64(forbidden[b, y])
            if price * change >= coin:
                continue
            total += change
            n_taken += 1
            value[place_at + a] = y
            if b >= 0:
                value[place_at + b] = x
            for k in range(first, last):
                p, q = part_of[of_a + k], np.int32(-1) if free else part_of[of_b + k]
                if p == q:
                    continue
                trial = trials[k]
                there = trial_at + trial
                energy[there] = after[k - first]
                if kind[trial] == PAIR:
                    replace_in_part(tally, part_at + p, x, y)
                    replace_in_part(tally, part_at + q, y, x)
                    continue
                if p >= 0:
                    replace_and_note(
                        trial, there, p, part_at, x, y, tally, is_plain, least, rules, kind, weight, broken, lacks
                    )
                if q >= 0:
                    replace_and_note(
                        trial, there, q, part_at, y, x, tally, is_plain, least, rules, kind, weight, broken, lacks
                    )
    state.energy_of_slot[slot] = total
    return n_taken


@kernel
def record(layout, component, value, place_at, seen):
    """Add what every cell of a component holds now, and its square."""
    cells = layout.first_cell[component], layout.first_cell[component + 1]
    groups = layout.first_group[component], layout.first_group[component + 1]
    seen.held[cells[0] : cells[1]] = 0
    for place in range(layout.first_place[groups[0]], layout.first_place[groups[1]]):
        seen.held[layout.cell_of_place[place], value[place_at + place]] += 1
    for cell in range(cells[0], cells[1]):
        for v in range(seen.held.shape[1]):
            n = np.int64(seen.held[cell, v])
            seen.total[cell, v] += n
            seen.square[cell, v] += n * n
