# SPDX-License-Identifier: Apache-2.0
"""Particles of sequential Monte Carlo: drawn from the prior, weighted when the price of energy rises, and drawn again by weight.

See `swapping` for the layout of particles.
"""

from math import exp, inf, log

import numpy as np

from overt.kernels.compiler import kernel
from overt.kernels.places_missing import COUNTS, sum_up
from overt.kernels.swapping import judge

HALVINGS = 40


@kernel
def lay_particles(draws, particles, scatters, given, base, component_of, layout, state, bases):
    """Give particles the values `given`, which are shuffled inside groups if `scatters`; any values where a group is free.

    `base` is the tally of the values that do not move. There is a draw for every place.
    """
    at, half, n_values = 0, np.uint64(32), np.uint64(base.shape[1] - COUNTS)
    for particle in range(particles[0], particles[1]):
        component, value = component_of[particle], state.value
        place_at, part_at, trial_at = bases.place[particle], bases.part[particle], bases.trial[particle]
        first_trial, last_trial = layout.first_trial[component], layout.first_trial[component + 1]
        parts = layout.first_part[first_trial], layout.first_part[last_trial]
        state.tally[part_at + parts[0] : part_at + parts[1]] = base[parts[0] : parts[1]]
        for g in range(layout.first_group[component], layout.first_group[component + 1]):
            begin, end = layout.first_place[g], layout.first_place[g + 1]
            value[place_at + begin : place_at + end] = given[begin:end]
            for place in range(begin, end if scatters else begin):
                bits = draws[at] >> half
                at += 1
                if layout.is_free[g]:
                    value[place_at + place] = (bits * n_values) >> half
                else:
                    other = begin + np.int64((bits * np.uint64(place - begin + 1)) >> half)
                    here = value[place_at + place]
                    value[place_at + place] = value[place_at + other]
                    value[place_at + other] = here
            n_trials = layout.first_in_trials[g + 1] - layout.first_in_trials[g]
            for place in range(begin, end):
                entry = layout.first_in_parts[g] + (place - begin) * n_trials
                for k in range(entry, entry + n_trials):
                    if layout.part_of[k] >= 0:
                        state.tally[part_at + layout.part_of[k], COUNTS + value[place_at + place]] += 1
        for part in range(parts[0], parts[1]):
            sum_up(state.tally, part_at + part)
        state.energy_of[particle] = judge(layout, state, component, place_at, part_at, trial_at)


@kernel
def raise_prices(is_running, first_particle, energy, price, log_z, offset, source, enough, effective, highest):
    """Raise the price of every component that runs, and draw its particles again by weight: source[particle] is whom it copies.

    A component stops when at least the share `enough` of its particles has energy 0. The next price is the one at which
    the effective number of particles is the share `effective`. `log_z` adds up the logarithm of the mean weight, at last
    that of energy 0 at the last price; it is minus infinity above the `highest` price.
    """
    weight = np.empty(energy.size)
    for component in range(is_running.size):
        first, last = first_particle[component], first_particle[component + 1]
        for particle in range(first, last):
            source[particle] = particle
        if not is_running[component]:
            continue
        n, n_zero, least = last - first, 0, energy[first]
        for particle in range(first, last):
            n_zero += energy[particle] == 0
            least = min(least, energy[particle])
        if n_zero >= enough * n:
            log_z[component] += log(n_zero / n)
            is_running[component] = False
            continue
        if price[component] >= highest:
            log_z[component] = -inf
            is_running[component] = False
            continue
        low, high = 0.0, highest - price[component]
        for halving in range(HALVINGS):
            step = high if halving == 0 else (low + high) / 2
            total, squares = 0.0, 0.0
            for particle in range(first, last):
                w = exp(-step * (energy[particle] - least))
                total += w
                squares += w * w
            if total * total >= effective * n * squares:
                low = step
                if halving == 0:
                    break
            else:
                high = step
        total = 0.0
        for particle in range(first, last):
            weight[particle] = exp(-low * (energy[particle] - least))
            total += weight[particle]
        price[component] += low
        log_z[component] += log(total / n) - low * least
        draw_sources(first, last, weight, total, offset[component], source)


@kernel
def draw_sources(first, last, weight, total, offset, source):
    """Systematic resampling: particles that are drawn keep themselves, the others copy those that are drawn more than once."""
    n = last - first
    passed, vacant = 0.0, first
    copies = np.zeros(n, np.int64)
    drawn = 0
    for particle in range(first, last):
        passed += weight[particle] / total * n
        while drawn < n and offset + drawn < passed:
            copies[particle - first] += 1
            drawn += 1
    while drawn < n:  # what rounding left
        copies[n - 1 if copies[n - 1] else np.argmax(copies)] += 1
        drawn += 1
    for particle in range(first, last):
        for _ in range(copies[particle - first] - 1):
            while copies[vacant - first]:
                vacant += 1
            source[vacant] = particle
            vacant += 1


@kernel
def copy_particles(source, component_of, layout, state, bases):
    """Let particles be where their sources are."""
    for particle in range(source.size):
        if source[particle] == particle:
            continue
        component, other = component_of[particle], source[particle]
        first, last = layout.first_group[component], layout.first_group[component + 1]
        begin, end = layout.first_place[first], layout.first_place[last]
        here, there = bases.place[particle], bases.place[other]
        state.value[here + begin : here + end] = state.value[there + begin : there + end]
        first, last = layout.first_trial[component], layout.first_trial[component + 1]
        begin, end = layout.first_part[first], layout.first_part[last]
        here, there = bases.part[particle], bases.part[other]
        state.tally[here + begin : here + end] = state.tally[there + begin : there + end]
        if state.lacks.size:
            begin, end = 2 * begin, 2 * end
            state.lacks[2 * here + begin : 2 * here + end] = state.lacks[2 * there + begin : 2 * there + end]
        here, there = bases.trial[particle], bases.trial[other]
        state.energy[here + first : here + last] = state.energy[there + first : there + last]
        if state.broken.size:
            state.broken[here + first : here + last] = state.broken[there + first : there + last]
        state.energy_of[particle] = state.energy_of[other]
