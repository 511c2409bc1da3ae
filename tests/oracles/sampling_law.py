# SPDX-License-Identifier: Apache-2.0
"""Sampling and suppression from the definition: every subset of the records, weighed, suppressed and counted.

Shares no code with `overt.algorithms.dp`. Probabilities are floats, sums are `math.fsum`.
"""

import itertools
import math
from collections import Counter, defaultdict


def law_of_choices(choices, s, k):
    """(released multiset) -> probability, when record i has the element choices[i] (None: it is withheld)."""
    law = defaultdict(list)
    for kept in itertools.product((False, True), repeat=len(choices)):
        p = math.prod(s if one else 1 - s for one in kept)
        copies = Counter(x for x, one in zip(choices, kept, strict=True) if one and x is not None)
        law[frozenset((x, n) for x, n in copies.items() if n >= k)].append(p)
    return {output: math.fsum(parts) for output, parts in law.items()}


def law_of_laws(laws, s, k):
    """The same when every record draws its element from a law: {element: probability}, the rest withheld."""
    law = defaultdict(list)
    options = [[*one.items(), (None, 1 - math.fsum(one.values()))] for one in laws]
    for drawn in itertools.product(*options):
        weight = math.prod(p for _, p in drawn)
        if weight > 0:
            for output, p in law_of_choices([x for x, _ in drawn], s, k).items():
                law[output].append(weight * p)
    return {output: math.fsum(parts) for output, parts in law.items()}


def delta_between(one, other, epsilon):
    """The greatest of P(S) - exp(epsilon) Q(S) over all sets S of outputs."""
    return math.fsum(max(0.0, p - math.exp(epsilon) * other.get(output, 0.0)) for output, p in one.items())


def delta_of_identical(n, s, k, epsilon):
    """The delta between n identical records and n - 1, from the two binomial laws."""

    def visible(n):
        law = defaultdict(float)
        for j in range(n + 1):
            law[j if j >= k else None] += math.comb(n, j) * s**j * (1 - s) ** (n - j)
        return law

    return max(
        delta_between(visible(n), visible(n - 1), epsilon),
        delta_between(visible(n - 1), visible(n), epsilon),
    )
