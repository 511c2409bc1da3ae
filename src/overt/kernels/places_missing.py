# SPDX-License-Identifier: Apache-2.0
"""How far a part is from breaking a goal: its *lack*, how many of its places must take other values until it does, 0 if it does.

A part is known by its tally: the most places that one value may have (CAP), how many places it has (SIZE), the highest
count there is (MOST), how many values have it (N_MOST), how many different values there are (DISTINCT), and from COUNTS on how
often each occurs. It breaks the goal if a value has more places than CAP, if there are fewer than `least` different values, or by
one of the rules beyond: (numerator, denominator, l) for recursive (c,l)-diversity, log(l) for entropy l-diversity. Rules about
several columns, or about how far a part is from the whole table, are in `viewed_rules`.

A lack has no upper limit: whoever walks along it is drawn to the goal's limit from any distance.
"""

from typing import Any, NamedTuple

import numpy as np

from overt.kernels.compiler import kernel
from overt.kernels.viewed_rules import NEVER, lack_of_entropy, lack_of_views

CAP, SIZE, MOST, N_MOST, DISTINCT, COUNTS = 0, 1, 2, 3, 4, 5


class Rules(NamedTuple):
    """What breaks a goal, besides the caps."""

    least: int
    recursive: Any  # (rule, 3)
    entropy: Any  # (rule)
    times_log: Any  # (n) -> n log n, up to the size of the largest part; or empty without entropy
    viewed: Any  # see `viewed_rules`


@kernel
def goes_beyond(rules):
    """Whether there is more than a cap and `least`."""
    return rules.recursive.size + rules.entropy.size + rules.viewed.rule.size > 0


@kernel
def tally_parts(values, starts, tally):
    """Fill all of a tally but CAP; part p is `values[starts[p]:starts[p + 1]]`."""
    for part in range(starts.size - 1):
        tally[part, SIZE:] = 0
        for i in range(starts[part], starts[part + 1]):
            tally[part, COUNTS + values[i]] += 1
        sum_up(tally, part)


@kernel
def sum_up(tally, part):
    """Work out SIZE, MOST, N_MOST and DISTINCT of one part."""
    tally[part, SIZE:COUNTS] = 0
    for n in tally[part, COUNTS:]:
        tally[part, SIZE] += n
        tally[part, DISTINCT] += n > 0
        if n > tally[part, MOST]:
            tally[part, MOST] = n
            tally[part, N_MOST] = 1
        elif n == tally[part, MOST]:
            tally[part, N_MOST] += 1


@kernel
def sum_of_highest(tally, part, most, m):
    """The sum of the m highest counts of a part, the highest of which is `most`."""
    total, level = 0, most
    while m > 0 and level > 0:
        n_equal, below = 0, 0
        for n in tally[part, COUNTS:]:
            n_equal += n == level
            if below < n < level:
                below = n
        total += min(m, n_equal) * level
        m, level = m - n_equal, below
    return total


@kernel
def most_after(tally, part, x, y):
    """The highest count of a part, if one of its places had value y instead of x."""
    most, n_x = tally[part, MOST], tally[part, COUNTS + x]
    if n_x == most and tally[part, N_MOST] == 1:
        most -= 1  # value x itself has so many then
    return max(most, tally[part, COUNTS + y] + 1)


@kernel
def plain_lack_after(tally, part, x, y, least):
    """The lack of a part by its cap and `least` alone, if one of its places had value y instead of x."""
    most = most_after(tally, part, x, y)
    lack = tally[part, CAP] + 1 - most
    if least == 2:
        lack = min(lack, tally[part, SIZE] - most)
    elif least > 2 and lack > 0:
        tally[part, COUNTS + x] -= 1
        tally[part, COUNTS + y] += 1
        lack = min(lack, tally[part, SIZE] - sum_of_highest(tally, part, most, least - 1))
        tally[part, COUNTS + x] += 1
        tally[part, COUNTS + y] -= 1
    return max(0, lack)


@kernel
def plain_lack(tally, part, least):
    """The lack of a part by its cap and `least` alone.

    Too few values are left when all places have one of the least - 1 most frequent ones.
    """
    lack = tally[part, CAP] + 1 - tally[part, MOST]
    if least > 1 and lack > 0:
        lack = min(lack, tally[part, SIZE] - sum_of_highest(tally, part, tally[part, MOST], least - 1))
    return max(0, lack)


@kernel
def lack_of(tally, part, rules):
    """The lack of a part."""
    lack = plain_lack(tally, part, rules.least)
    if lack > 0 and goes_beyond(rules):
        lack = min(lack, lack_beyond(tally, part, tally[part, MOST], rules))
    return lack


@kernel
def lack_after(tally, part, x, y, rules):
    """The lack of a part if one of its places had value y instead of x."""
    lack = plain_lack_after(tally, part, x, y, rules.least)
    if lack > 0 and goes_beyond(rules):
        most = most_after(tally, part, x, y)
        tally[part, COUNTS + x] -= 1
        tally[part, COUNTS + y] += 1
        lack = min(lack, lack_beyond(tally, part, most, rules))
        tally[part, COUNTS + x] += 1
        tally[part, COUNTS + y] -= 1
    return lack


@kernel
def lack_beyond(tally, part, most, rules):
    """The lack of a part, the highest count of which is `most`, by rules that look at all counts."""
    lack, size = NEVER, np.int64(tally[part, SIZE])
    for i in range(rules.recursive.shape[0]):
        numerator, denominator, l = rules.recursive[i]
        # broken if the highest count is at least c times the sum of those from the l-th on
        tail = size - sum_of_highest(tally, part, most, l - 1)
        spare = numerator * tail - denominator * np.int64(most)
        lack = min(lack, max(0, -(-spare // (numerator + denominator))))
    if rules.entropy.size > 0:
        counts = np.sort(tally[part, COUNTS:])
        for log_l in rules.entropy:
            lack = min(lack, lack_of_entropy(counts, size, log_l, rules.times_log))
    if rules.viewed.rule.size > 0:
        lack = min(lack, lack_of_views(tally[part, COUNTS:], size, rules.viewed, rules.times_log))
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
