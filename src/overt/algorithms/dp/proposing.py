# SPDX-License-Identifier: Apache-2.0
"""Parameters of the private mechanisms, proposed from what is public: a budget, a rough size, the heights of hierarchies.

Nothing here looks at data, and the size should not be its exact size either: a round number serves as well. The proposal
is a heuristic for utility; whatever it proposes is private, since the mechanisms compute what they need.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from overt.algorithms.dp.accounting import Budget, largest_s, least_k
from overt.errors import InvalidInput
from overt.privacy.base import Number, exact, require_number, require_whole

N_VECTORS = 7
_SHARES = [Fraction(i, 20) for i in range(1, 20)]
_RATES = [Fraction(i, 10) for i in range(1, 11)]


@dataclass(frozen=True)
class Proposal:
    """Parameters for `PrivateCube` (or `PrivateSampling`, if there is no share): what to write into a recipe."""

    budget: Budget
    share: Fraction | None  # of epsilon, for the cube
    s: Fraction
    k: int
    support: int  # rows that an element needs so that little of it is lost
    levels: tuple[tuple[int, ...], ...]


def propose(
    epsilon: Number,
    delta: Number,
    n: int,
    columns: Sequence[int],
    *,
    n_vectors: int = N_VECTORS,
    least_s: Number = 0,
    with_cube: bool = True,
) -> Proposal:
    """Propose parameters for about n rows with hierarchies of these highest levels, one number for each column.

    It weighs the share of rows that are kept against how few rows an element needs: the greatest s ln(n / support).
    `least_s` asks for more rows. `with_cube=False` proposes for one vector of levels that is chosen beforehand.

    >>> found = propose(1, 1e-6, 100_000, [3, 2, 2])
    >>> found.share, found.s, found.k, found.support
    (Fraction(3, 20), Fraction(143, 250), 54, 282)
    """
    budget = Budget.of(epsilon, delta)
    require_whole("n", n)
    require_number("least_s", least_s, least=0)
    levels = spread_levels(columns, n_vectors) if with_cube else ()
    best: tuple[float, Proposal] | None = None
    for share in _SHARES if with_cube else [None]:
        cube = None if share is None else budget.split(share)[0]
        sampling = budget if cube is None else Budget(budget.epsilon - cube.epsilon, budget.delta)
        most = largest_s(sampling.epsilon)
        for rate in _RATES:
            s = Fraction(math.floor(most * rate * 1000), 1000)
            if s <= 0 or s < exact(least_s):
                continue
            k = least_k(sampling.epsilon, sampling.delta, s)
            support = Fraction(3, 2) * k / s
            if cube is not None:
                support += 3 * len(levels) / cube.epsilon
            worth = float(s) * math.log(n / support)
            if best is None or worth > best[0]:
                best = worth, Proposal(budget, share, s, k, math.ceil(support), levels)
    if best is None or best[0] <= 0:
        raise InvalidInput(
            f"About {n:,} rows are too few for {budget}{f' with s of at least {float(exact(least_s)):g}' if least_s else ''}: "
            "every element would be left out. Spend more, or ask for fewer vectors of levels."
        )
    return best[1]


def spread_levels(tops: Sequence[int], n_vectors: int = N_VECTORS) -> tuple[tuple[int, ...], ...]:
    """Vectors of levels from everything exact to everything suppressed, evenly spaced on a path between them.

    The path raises one column at a time: the one that is lowest, relative to its highest level, the first among equals.

    >>> spread_levels([2, 1], 3)
    ((0, 0), (1, 1), (2, 1))
    """
    require_whole("the number of vectors", n_vectors)
    for top in tops:
        require_whole("a highest level", top)
    path = [(0,) * len(tops)]
    while path[-1] != tuple(tops):
        lowest = min(
            (j for j, top in enumerate(tops) if path[-1][j] < top), key=lambda j: (Fraction(path[-1][j], tops[j]), j)
        )
        path.append(tuple(level + (j == lowest) for j, level in enumerate(path[-1])))
    last, n = len(path) - 1, min(n_vectors, len(path))
    if n == 1:
        return (path[-1],)
    return tuple(path[(2 * i * last + n - 1) // (2 * (n - 1))] for i in range(n))
