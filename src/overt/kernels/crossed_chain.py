# SPDX-License-Identifier: Apache-2.0
"""Groups crossed with buckets: a chain over who of a group is which of its rows, and which row of a bucket has which value.

Every state is a way to fill the release; its weight is the product of how much each person leans to the value of their row.
"""

import numpy as np

from overt.kernels.assignments import LEAST_LEANING, exact_chances, scale_to_counts
from overt.kernels.compiler import kernel


@kernel
def swap_in_parts(rows, starts, person_of_row, value_of_row, lean, class_of_value, moves_people, draws):
    """Propose to every row to change its person, or its value, with a random row of its part (Metropolis).

    draws[place, 0] picks the other row, draws[place, 1] decides; both are uniform in [0, 1).
    """
    for part in range(starts.size - 1):
        size = starts[part + 1] - starts[part]
        for place in range(starts[part], starts[part + 1]):
            r, q = rows[place], rows[starts[part] + int(draws[place, 0] * size)]
            p, v, other, w = person_of_row[r], value_of_row[r], person_of_row[q], value_of_row[q]
            cv, cw = class_of_value[v], class_of_value[w]
            before = max(lean[p, cv], LEAST_LEANING) * max(lean[other, cw], LEAST_LEANING)
            after = max(lean[p, cw], LEAST_LEANING) * max(lean[other, cv], LEAST_LEANING)
            if draws[place, 1] * before < after:
                if moves_people:
                    person_of_row[r], person_of_row[q] = other, p
                else:
                    value_of_row[r], value_of_row[q] = w, v


@kernel
def add_chances(rows, starts, person_of_row, value_of_row, lean, class_of_value, most_work, limits, chances):
    """Add to chances[person, value] what is believed of a group's people given which values its rows have now.

    Exact where the ways to hand them out can be counted; otherwise the value that each person has now counts.
    """
    for g in range(starts.size - 1):
        here = rows[starts[g] : starts[g + 1]]
        value = np.unique(value_of_row[here])
        count = np.zeros(value.size, np.int64)
        for r in here:
            count[np.searchsorted(value, value_of_row[r])] += 1
        work = float(value.size) / here.size
        for c in count:
            work *= c + 1
        if work > most_work:
            for r in here:
                chances[person_of_row[r], value_of_row[r]] += 1.0
            continue
        part = np.empty((here.size, value.size))
        for i in range(here.size):
            for j in range(value.size):
                part[i, j] = max(lean[here[i], class_of_value[value[j]]], LEAST_LEANING)
        scale_to_counts(part, count, int(limits[0]), limits[1])
        found = exact_chances(part, count)
        for i in range(here.size):
            for j in range(value.size):
                chances[here[i], value[j]] += found[i, j]
