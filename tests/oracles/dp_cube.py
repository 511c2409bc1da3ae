# SPDX-License-Identifier: Apache-2.0
"""The private cube from its definition, for tiny tables: exact laws of what it releases, and one run with given coins.

Shares no code with `overt.algorithms.dp`. A record is a tuple of labels per level: record[level] is what it looks like at
the vector of levels number `level`, the most useful first. Elements at different levels are different.
"""

import itertools
import math
from collections import Counter, defaultdict

from oracles.sampling_law import law_of_choices


def passes(n, least, epsilon):
    """P(n + Z >= least) for Z with P(z) proportional to exp(-epsilon |z|)."""
    a = math.exp(-epsilon)
    z = least - n
    return a**z / (1 + a) if z >= 0 else 1 - a ** (1 - z) / (1 + a)


def occupied(records):
    """(level, label) -> how many records look like that."""
    return Counter((level, label) for record in records for level, label in enumerate(record))


def chosen(record, candidates):
    """The first level at which the record's cell may be chosen; None: it is withheld."""
    return next(((level, label) for level, label in enumerate(record) if (level, label) in candidates), None)


def law_of_cube(records, n_levels, epsilon, least, s, k, *, show_cube, universe=None):
    """(output) -> probability; the output is the released multiset, with the candidate cells if they are shown.

    Cells are the occupied ones, or those of a universe, which get their noise whether or not somebody is there.
    """
    counts = occupied(records)
    cells = sorted(counts) if universe is None else universe
    law = defaultdict(float)
    for pattern in itertools.product((False, True), repeat=len(cells)):
        weight = 1.0
        for cell, one in zip(cells, pattern, strict=True):
            p = passes(counts[cell], least, epsilon / n_levels)
            weight *= p if one else 1 - p
        candidates = frozenset(cell for cell, one in zip(cells, pattern, strict=True) if one)
        choices = [chosen(record, candidates) for record in records]
        for released, p in law_of_choices(choices, s, k).items():
            law[(candidates if show_cube else None, released)] += weight * p
    return dict(law)


def release(records, noise_of_level, least, kept, k):
    """What comes out when all cells of a level get the same noise and these records are kept."""
    counts = occupied(records)
    candidates = {(level, label) for (level, label), n in counts.items() if n + noise_of_level[level] >= least}
    copies = Counter(chosen(record, candidates) for record, one in zip(records, kept, strict=True) if one)
    del copies[None]
    return {element: n for element, n in copies.items() if n >= k}
