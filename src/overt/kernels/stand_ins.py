# SPDX-License-Identifier: Apache-2.0
"""Choosing stand-ins for the rows of one colour, so that the choice never runs into a dead end."""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def choose_candidates(
    colour,
    l,
    n_open,
    n_free,
    rows,
    first,
    counts,
    unused,
    colours,
    place_of_colour,
    n_with_unused,
    colour_draws,
    row_draws,
):
    """(row of the colour, l - 1) -> rows of different other colours, none of them chosen twice.

    With `left` rows of the colour still to serve, a colour with at least `left` unused rows costs nothing and
    any other costs one of the slack: sum over colours of min(unused, left - 1), less (left - 1)(l - 1). Staying
    within the slack is what keeps the remaining rows servable. `n_open` is the sum of min(count, rows of this
    colour) over the other colours, `n_free` how many of these have as many rows as this one. `rows`, `colours` and `place_of_colour` are reordered; `unused` and
    `n_with_unused` (how many colours have that many unused rows) come back as they were.
    """
    n_served = counts[colour]
    chosen = np.empty((n_served, l - 1), np.int32)
    picked = np.empty(n_served * (l - 1), np.int32)
    n_colours = colours.size
    swap_colours(colours, place_of_colour, place_of_colour[colour], n_colours - 1)
    n_alive = n_colours - 1
    n_with_unused[counts[colour]] -= 1
    n_picked = 0
    for served in range(n_served):
        left = n_served - served
        n_open -= n_free
        slack = n_open - (left - 1) * (l - 1)
        for i in range(l - 1):
            place = i + np.int64(colour_draws[served, i] * (n_alive - i))
            while slack <= 0 and unused[colours[place]] < left:
                place += 1
                if place == n_alive:
                    place = i
            other = colours[place]
            swap_colours(colours, place_of_colour, place, i)
            if unused[other] < left:
                slack -= 1
                n_open -= 1
            used = first[other] + counts[other] - unused[other]
            row = used + np.int64(row_draws[served, i] * unused[other])
            rows[used], rows[row] = rows[row], rows[used]
            chosen[served, i] = rows[used]
            picked[n_picked] = other
            n_picked += 1
        for i in range(l - 2, -1, -1):
            other = colours[i]
            n_free -= unused[other] >= left
            n_with_unused[unused[other]] -= 1
            unused[other] -= 1
            n_with_unused[unused[other]] += 1
            n_free += unused[other] >= left
            if unused[other] == 0:
                n_alive -= 1
                swap_colours(colours, place_of_colour, i, n_alive)
        n_free += n_with_unused[left - 1]
    for i in range(n_picked):
        other = picked[i]
        n_with_unused[unused[other]] -= 1
        unused[other] += 1
        n_with_unused[unused[other]] += 1
    n_with_unused[counts[colour]] += 1
    return chosen


@kernel
def swap_colours(colours, place_of_colour, p, q):
    """Exchange two places of the list of colours."""
    colours[p], colours[q] = colours[q], colours[p]
    place_of_colour[colours[p]] = p
    place_of_colour[colours[q]] = q
