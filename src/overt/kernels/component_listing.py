# SPDX-License-Identifier: Apache-2.0
"""All ways to lay values inside the groups of a component, and those among them that leave every trial a failure.

See `swapping` for the layout. A component has one particle here.
"""

from overt.kernels.compiler import kernel
from overt.kernels.places_missing import COUNTS, sum_up
from overt.kernels.swapping import judge


@kernel
def next_arrangement(value, begin, end, is_free, n_values):
    """Go to the next order of `value[begin:end]`, or of any values at all if free; False after the last, at the first again."""
    if is_free:
        for i in range(end - 1, begin - 1, -1):
            value[i] += 1
            if value[i] < n_values:
                return True
            value[i] = 0
        return False
    i = end - 2
    while i >= begin and value[i] >= value[i + 1]:
        i -= 1
    if i >= begin:
        j = end - 1
        while value[j] <= value[i]:
            j -= 1
        value[i], value[j] = value[j], value[i]
    value[i + 1 : end] = value[i + 1 : end][::-1].copy()
    return i >= begin


@kernel
def list_component(component, layout, state, base, places, place_at, part_at, trial_at, total):
    """Add up what the cells hold in every table of energy 0, and return how many there are.

    The values of each group are sorted at the beginning. `base` is the tally of what does not move.
    """
    n_values, n_found = base.shape[1] - COUNTS, 0
    groups = layout.first_group[component], layout.first_group[component + 1]
    trials = layout.first_trial[component], layout.first_trial[component + 1]
    parts = layout.first_part[trials[0]], layout.first_part[trials[1]]
    tally, value = state.tally, state.value
    while True:
        for part in range(parts[0], parts[1]):
            tally[part_at + part] = base[part]
        for g in range(groups[0], groups[1]):
            first, last = layout.first_in_trials[g], layout.first_in_trials[g + 1]
            for place in range(layout.first_place[g], layout.first_place[g + 1]):
                at = layout.first_in_parts[g] + (place - layout.first_place[g]) * (last - first)
                for k in range(last - first):
                    if layout.part_of[at + k] >= 0:
                        tally[part_at + layout.part_of[at + k], COUNTS + value[place_at + place]] += 1
        for part in range(parts[0], parts[1]):
            sum_up(tally, part_at + part)
        if judge(layout, state, component, place_at, part_at, trial_at) == 0:
            n_found += 1
            for place in range(places[0], places[1]):
                total[layout.cell_of_place[place], value[place_at + place]] += 1
        g = groups[1] - 1
        while g >= groups[0]:
            begin, end = place_at + layout.first_place[g], place_at + layout.first_place[g + 1]
            if next_arrangement(value, begin, end, layout.is_free[g], n_values):
                break
            g -= 1
        if g < groups[0]:
            return n_found


@kernel
def take_out_places(layout, value, tally):
    """Take the values of all places out of the tallies of the parts they are in, so that what cannot move is left."""
    for g in range(layout.first_place.size - 1):
        first, last = layout.first_in_trials[g], layout.first_in_trials[g + 1]
        for place in range(layout.first_place[g], layout.first_place[g + 1]):
            at = layout.first_in_parts[g] + (place - layout.first_place[g]) * (last - first)
            for k in range(last - first):
                if layout.part_of[at + k] >= 0:
                    tally[layout.part_of[at + k], COUNTS + value[place]] -= 1
