# SPDX-License-Identifier: Apache-2.0
"""How far a part is from breaking a goal: its *lack* is about how many places are missing to that, 0 if it breaks it.

A part is known by its tally: the most places that one value may have (CAP), the highest count there is (MOST), how many
values have it (N_MOST), how many different values there are (DISTINCT), and from COUNTS on how often each occurs.
It breaks the goal if a value has more places than CAP, if there are fewer than `least` different values, or by one of the
rules beyond: (numerator, denominator, l) for recursive (c,l)-diversity, log(l) for entropy l-diversity.
"""

from math import log
from typing import Any, NamedTuple

import numpy as np

from overt.kernels.compiling import kernel

CAP, MOST, N_MOST, DISTINCT, COUNTS = 0, 1, 2, 3, 4
TIE = 1e-9  # of an entropy: no two that differ are so close


class Rules(NamedTuple):
    """What breaks a goal, besides the caps."""

    least: int
    recursive: Any  # (rule, 3)
    entropy: Any  # (rule)


@kernel
def tally_parts(values, starts, tally):
    """Fill all of a tally but CAP; part p is `values[starts[p]:starts[p + 1]]`."""
    for part in range(starts.size - 1):
        tally[part, MOST:] = 0
        for i in range(starts[part], starts[part + 1]):
            tally[part, COUNTS + values[i]] += 1
        sum_up(tally, part)


@kernel
def sum_up(tally, part):
    """Work out MOST, N_MOST and DISTINCT of one part."""
    tally[part, MOST] = tally[part, N_MOST] = tally[part, DISTINCT] = 0
    for n in tally[part, COUNTS:]:
        tally[part, DISTINCT] += n > 0
        if n > tally[part, MOST]:
            tally[part, MOST] = n
            tally[part, N_MOST] = 1
        elif n == tally[part, MOST]:
            tally[part, N_MOST] += 1


@kernel
def plain_lack_after(tally, part, x, y, least):
    """The lack of a part by its cap and `least` alone, if one of its places had value y instead of x."""
    most, n_x, n_y = tally[part, MOST], tally[part, COUNTS + x], tally[part, COUNTS + y]
    if n_x == most and tally[part, N_MOST] == 1:
        most -= 1  # value x itself has so many then
    most = max(most, n_y + 1)
    distinct = tally[part, DISTINCT] + np.int32(n_y == 0) - np.int32(n_x == 1)
    return max(0, min(tally[part, CAP] + 1 - most, distinct - least + 1))


@kernel
def plain_lack(tally, part, least):
    """The lack of a part by its cap and `least` alone."""
    return max(0, min(tally[part, CAP] + 1 - tally[part, MOST], tally[part, DISTINCT] - least + 1))


@kernel
def lack_of(tally, part, rules):
    """The lack of a part."""
    lack = plain_lack(tally, part, rules.least)
    if lack > 0 and rules.recursive.size + rules.entropy.size > 0:
        lack = min(lack, lack_beyond(tally, part, rules))
    return lack


@kernel
def lack_after(tally, part, x, y, rules):
    """The lack of a part if one of its places had value y instead of x."""
    lack = plain_lack_after(tally, part, x, y, rules.least)
    if lack > 0 and rules.recursive.size + rules.entropy.size > 0:
        tally[part, COUNTS + x] -= 1
        tally[part, COUNTS + y] += 1
        lack = min(lack, lack_beyond(tally, part, rules))
        tally[part, COUNTS + x] += 1
        tally[part, COUNTS + y] -= 1
    return lack


@kernel
def lack_beyond(tally, part, rules):
    """The lack of a part by rules that look at all counts."""
    lack = 1 << 30
    counts = np.sort(tally[part, COUNTS:])[::-1].astype(np.int64)
    for i in range(rules.recursive.shape[0]):
        numerator, denominator, l = rules.recursive[i]
        # broken if the highest count is at least c times the sum of those from the l-th on
        spare = numerator * counts[l - 1 :].sum() - denominator * counts[0]
        lack = min(lack, max(0, -(-spare // (numerator + denominator))))
    n = counts.sum()
    for i in range(rules.entropy.size):
        entropy = log(n)
        for count in counts:
            if count > 0:
                entropy -= count * log(count) / n
        spare = entropy - rules.entropy[i]
        lack = min(lack, 1 + np.int64(spare * n / 4) if spare >= -TIE else 0)
    return lack


@kernel
def replace_in_part(tally, part, x, y):
    """One place of a part has value y instead of x."""
    n_x, n_y, most = tally[part, COUNTS + x], tally[part, COUNTS + y], tally[part, MOST]
    tally[part, DISTINCT] += np.int32(n_y == 0) - np.int32(n_x == 1)
    tally[part, COUNTS + x] = n_x - 1
    tally[part, COUNTS + y] = n_y + 1
    if n_x == most:
        tally[part, N_MOST] -= 1
    if n_y + 1 > most:
        tally[part, MOST], tally[part, N_MOST] = n_y + 1, 1
    elif n_y + 1 == most:
        tally[part, N_MOST] += 1
    elif tally[part, N_MOST] == 0:
        tally[part, MOST] = most - 1
        for n in tally[part, COUNTS:]:
            tally[part, N_MOST] += n == most - 1
