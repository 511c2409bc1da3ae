# SPDX-License-Identifier: Apache-2.0
"""Swaps of values inside groups, at a price, that leave what was tried and failed a failure.

A trial has parts, which are sets of places; what it takes for it to fail is its kind. A part is broken if it breaks the
goal, and otherwise it has a lack (see `places_missing`). A trial that fails has energy 0, one that does not has the more the
farther it is from failing. Places of a group that lie in the same parts of all trials make a cell. Groups that share a trial
make a component, and components have nothing to do with each other.

Every component is kept in several copies, its particles. A swap is taken by the rule of Metropolis at the price that a unit of
energy has in the component: at price 0 anything goes, at a high one hardly anything but energy 0. Whatever the price, tables of
energy 0 are equally likely.
"""

from typing import Any, NamedTuple

import numpy as np

from overt.kernels.compiler import kernel
from overt.kernels.min_tree import least_if, replace_leaf
from overt.kernels.places_missing import (
    COUNTS,
    goes_beyond,
    lack_after,
    lack_of,
    plain_lack,
    plain_lack_after,
    replace_in_part,
)
from overt.kernels.viewed_rules import NEVER

PAIR, ANY, AMOUNT = 0, 1, 2  # one of two parts is broken; one of many; so many rows or so much weight is


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
    rules: Any  # see `places_missing`
    kind: Any  # (trial)
    weight: Any  # (part, 2) -> rows and weight that it adds to a trial of kind AMOUNT if broken
    needed: Any  # (trial, 2) -> rows and weight from which on it fails
    unit: Any  # (trial, 2) -> the rows and the weight of one of its parts, on the average
    shown: Any  # (column, value) -> where it is added up: of tuples, once for each column


class State(NamedTuple):
    """Where all particles are. They are numbered component by component."""

    first_particle: Any  # (component + 1)
    price: Any  # (component) -> of a unit of energy
    value: Any  # particle by particle, (place)
    tally: Any  # particle by particle, (part, COUNTS + value)
    energy: Any  # particle by particle, (trial)
    broken: (
        Any  # particle by particle, (trial, 2) -> rows and weight of broken parts; or empty if no trial is an AMOUNT
    )
    lacks: Any  # particle by particle, trees of lacks (see `least`), two numbers a part; or empty without kind ANY
    energy_of: Any  # (particle)


class Bases(NamedTuple):
    """(particle) -> what is to be added to the numbers of places, parts and trials."""

    place: Any
    part: Any
    trial: Any


class Seen(NamedTuple):
    """What is added up at energy 0. Squares are of the sums of one particle."""

    own: Any  # (cell, value), scratch
    total: Any  # (cell, value) -> places that have it
    square: Any  # (cell, value)
    crossed: Any  # (cell, value) -> the sum of a particle times how many tables it showed
    n_seen: Any  # (component) -> how many tables
    n_squared: Any  # (component)
    n_reached: Any  # (component) -> how many particles showed any


@kernel
def shortfall(rows, weight, trial, needed, unit):
    """The energy of a trial of kind AMOUNT: how many parts of average size are missing among those that are broken."""
    if rows >= needed[trial, 0] or weight >= needed[trial, 1]:
        return np.int64(0)
    by_rows = 1 + (needed[trial, 0] - rows - 1) // unit[trial, 0]
    return min(by_rows, 1 + (needed[trial, 1] - weight - 1) // unit[trial, 1])


@kernel
def energy_after(
    trial, at, p, q, part_at, x, y, tally, is_plain, least, rules, kind, first_part, weight, needed, unit, broken, lacks
):
    """The energy of a trial if a place of part p had y instead of x, and one of part q the reverse; -1 is no part.

    `at` is where the trial of this particle lies, `part_at` what is to be added to the numbers of parts.
    """
    after_p, after_q = np.int64(NEVER), np.int64(NEVER)
    if is_plain:
        if p >= 0:
            after_p = np.int64(plain_lack_after(tally, part_at + p, x, y, least))
        if q >= 0:
            after_q = np.int64(plain_lack_after(tally, part_at + q, y, x, least))
    else:
        if p >= 0:
            after_p = np.int64(lack_after(tally, part_at + p, x, y, rules))
        if q >= 0:
            after_q = np.int64(lack_after(tally, part_at + q, y, x, rules))
    if kind[trial] == PAIR:
        return min(after_p, after_q)
    if kind[trial] == ANY:
        first, n_parts = first_part[trial], first_part[trial + 1] - first_part[trial]
        return least_if(lacks, 2 * (part_at + first), n_parts, p - first, after_p, q - first, after_q)
    rows, cost = broken[at, 0], broken[at, 1]
    if p >= 0:
        change = np.int64(after_p == 0) - np.int64(lack_of(tally, part_at + p, rules) == 0)
        rows += change * weight[p, 0]
        cost += change * weight[p, 1]
    if q >= 0:
        change = np.int64(after_q == 0) - np.int64(lack_of(tally, part_at + q, rules) == 0)
        rows += change * weight[q, 0]
        cost += change * weight[q, 1]
    return shortfall(rows, cost, trial, needed, unit)


@kernel
def replace_and_note(
    trial, at, part, part_at, x, y, tally, is_plain, least, rules, kind, first_part, weight, broken, lacks
):
    """One place of a part has value y instead of x, and its trial is to know what that does to the part."""
    before = np.int64(0)
    if kind[trial] == AMOUNT:
        before = np.int64(
            plain_lack(tally, part_at + part, least) if is_plain else lack_of(tally, part_at + part, rules)
        )
    replace_in_part(tally, part_at + part, x, y)
    after = np.int64(plain_lack(tally, part_at + part, least) if is_plain else lack_of(tally, part_at + part, rules))
    if kind[trial] == ANY:
        first, n_parts = first_part[trial], first_part[trial + 1] - first_part[trial]
        replace_leaf(lacks, 2 * (part_at + first), n_parts, part - first, after)
    else:
        change = np.int64(after == 0) - np.int64(before == 0)
        broken[at, 0] += change * weight[part, 0]
        broken[at, 1] += change * weight[part, 1]


@kernel
def judge(layout, state, component, place_at, part_at, trial_at):
    """Work out the energies of a particle from its tally; returns their sum."""
    total = np.int64(0)
    for trial in range(layout.first_trial[component], layout.first_trial[component + 1]):
        at, best, kind = trial_at + trial, np.int64(NEVER), layout.kind[trial]
        first, n_parts = layout.first_part[trial], layout.first_part[trial + 1] - layout.first_part[trial]
        tree = 2 * (part_at + first)
        if kind == ANY:
            state.lacks[tree : tree + 2 * n_parts] = NEVER
        elif kind == AMOUNT:
            state.broken[at] = 0
        for part in range(first, first + n_parts):
            lack = np.int64(lack_of(state.tally, part_at + part, layout.rules))
            best = min(best, lack)
            if kind == ANY:
                replace_leaf(state.lacks, tree, n_parts, part - first, lack)
            elif kind == AMOUNT and lack == 0:
                state.broken[at, 0] += layout.weight[part, 0]
                state.broken[at, 1] += layout.weight[part, 1]
        if kind == AMOUNT:
            best = shortfall(state.broken[at, 0], state.broken[at, 1], trial, layout.needed, layout.unit)
        state.energy[at] = best
        total += best
    if layout.forbidden.size:
        first_group, last_group = layout.first_group[component], layout.first_group[component + 1]
        for place in range(layout.first_place[first_group], layout.first_place[last_group]):
            total += np.int64(layout.forbidden[place, state.value[place_at + place]])
    return total


@kernel
def sweep_particles(draws, coins, particles, sweeps, component_of, layout, state, bases, seen, is_seen, stop):
    """Some particles sweep their components so many times each: a swap is proposed for each active place.

    `draws` holds 64 bits for each proposal, a pair of places, one of them active (or a place and a value); `coins` a number of the
    exponential law. If `is_seen`, tables of energy 0 are added up before them and after each. Returns how many proposals there were,
    and how many were taken.
    """
    at, n_taken = 0, 0
    for particle in range(particles[0], particles[1]):
        component, n_seen = component_of[particle], 0
        if is_seen and state.energy_of[particle] == 0:
            n_seen += 1
            note_values(layout, component, state.value, bases.place[particle], seen.own)
        for _ in range(sweeps[component]):
            if stop[0]:
                return at, n_taken
            n_taken += sweep_particle(draws, coins, at, component, particle, layout, state, bases, stop)
            at += layout.work[component]
            if is_seen and state.energy_of[particle] == 0:
                n_seen += 1
                note_values(layout, component, state.value, bases.place[particle], seen.own)
        if n_seen:
            note_particle(layout, component, n_seen, seen)
    return at, n_taken


@kernel
def sweep_particle(draws, coins, at, component, particle, layout, state, bases, stop):
    """Propose as many swaps as there are active places. Returns how many were taken."""
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    place_at, part_at, trial_at = bases.place[particle], bases.part[particle], bases.trial[particle]
    price = state.price[component]
    # arrays by themselves: a loop that reads them out of a tuple is ten times as slow
    first_place, is_free, forbidden = layout.first_place, layout.is_free, layout.forbidden
    first_in_trials, trials, part_of = layout.first_in_trials, layout.trials, layout.part_of
    rules, kind, first_part = layout.rules, layout.kind, layout.first_part
    weight, needed, unit = layout.weight, layout.needed, layout.unit
    value, tally, energy, broken, lacks = state.value, state.tally, state.energy, state.broken, state.lacks
    n_values, n_taken, has_facts = tally.shape[1] - COUNTS, 0, forbidden.size > 0
    least, is_plain = rules.least, not goes_beyond(rules)
    after = np.empty(layout.most_trials, np.int64)
    total = state.energy_of[particle]
    for g in range(layout.first_group[component], layout.first_group[component + 1]):
        begin, size = first_place[g], first_place[g + 1] - first_place[g]
        first, last = first_in_trials[g], first_in_trials[g + 1]
        n_trials, parts_at, free = last - first, layout.first_in_parts[g] - first, is_free[g]
        active = np.uint64(layout.n_active[g])
        for proposal in range(layout.n_active[g]):
            if proposal & 1023 == 0 and stop[0]:
                break
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
                            first_part,
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
                        trial,
                        there,
                        p,
                        part_at,
                        x,
                        y,
                        tally,
                        is_plain,
                        least,
                        rules,
                        kind,
                        first_part,
                        weight,
                        broken,
                        lacks,
                    )
                if q >= 0:
                    replace_and_note(
                        trial,
                        there,
                        q,
                        part_at,
                        y,
                        x,
                        tally,
                        is_plain,
                        least,
                        rules,
                        kind,
                        first_part,
                        weight,
                        broken,
                        lacks,
                    )
    state.energy_of[particle] = total
    return n_taken


@kernel
def note_values(layout, component, value, place_at, own):
    """Add what every cell of a component holds now."""
    first, last = layout.first_group[component], layout.first_group[component + 1]
    shown = layout.shown
    for place in range(layout.first_place[first], layout.first_place[last]):
        for column in range(shown.shape[0]):
            own[layout.cell_of_place[place], shown[column, value[place_at + place]]] += 1


@kernel
def note_particle(layout, component, n_seen, seen):
    """Add what one particle showed, and its squares."""
    for cell in range(layout.first_cell[component], layout.first_cell[component + 1]):
        for v in range(seen.own.shape[1]):
            n = seen.own[cell, v]
            seen.total[cell, v] += n
            seen.square[cell, v] += np.float64(n) * n
            seen.crossed[cell, v] += np.float64(n) * n_seen
            seen.own[cell, v] = 0
    seen.n_seen[component] += n_seen
    seen.n_squared[component] += np.float64(n_seen) * n_seen
    seen.n_reached[component] += 1
