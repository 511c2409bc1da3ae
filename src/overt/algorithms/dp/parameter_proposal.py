# SPDX-License-Identifier: Apache-2.0
"""Parameters of the dp mechanisms, proposed from what is public: a budget, a rough size, the heights of hierarchies.

Nothing here looks at data, and the size should not be its exact size either: a round number serves as well. The proposal
is a heuristic for utility; whatever it proposes is dp, since the mechanisms compute what they need.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from overt.algorithms.dp.accounting import Budget, largest_s, least_k
from overt.errors import InvalidInput
from overt.privacy.base import Number, exact, require_number, require_whole

N_VECTORS = 7
CHOICE = Fraction(1, 50)  # of epsilon, for choosing one vector of levels
HierarchySize = int | Sequence[int]  # its highest level; or the number of labels at every level

_SHARES = [Fraction(i, 20) for i in range(1, 20)]
_RATES = [Fraction(i, 10) for i in range(1, 11)]


@dataclass(frozen=True)
class Proposal:
    """Parameters for `DpCube` (or `DpSampling`, if there is no share): what to write into a recipe."""

    budget: Budget
    share: Fraction | None  # of epsilon, for the cube
    s: Fraction
    k: int
    support: int  # rows that an element needs so that little of it is lost
    levels: tuple[tuple[int, ...], ...]


def left_for_rows(epsilon: Number, delta: Number) -> Fraction:
    """The epsilon that keeping rows may cost where one vector of levels is chosen with differential privacy (`DpFullDomain`)."""
    return Budget.of(epsilon, delta).split(CHOICE)[1].epsilon


def propose(
    epsilon: Number,
    delta: Number,
    n: int,
    columns: Sequence[HierarchySize],
    *,
    n_vectors: int = N_VECTORS,
    least_s: Number = 0,
    with_cube: bool = True,
) -> Proposal:
    """Propose parameters for about n rows. A column is given by its highest level, or by its number of labels at every level.

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


def spread_levels(columns: Sequence[HierarchySize], n_vectors: int = N_VECTORS) -> tuple[tuple[int, ...], ...]:
    """Vectors of levels from everything exact to everything suppressed, evenly spaced on a path between them.

    The path raises one column at a time: the one with the most labels at its level, which parts records the most, and the
    first among equals. Of a column whose labels are not counted, each level is taken to have a quarter of those below.

    >>> spread_levels([2, 1], 3)
    ((0, 0), (2, 0), (2, 1))
    >>> spread_levels([[100, 3, 1], [5, 1]], 4)
    ((0, 0), (1, 0), (1, 1), (2, 1))
    """
    require_whole("the number of vectors", n_vectors)
    widths = [_widths(column) for column in columns]
    top = tuple(len(labels) - 1 for labels in widths)
    path = [(0,) * len(widths)]
    while path[-1] != top:
        here = path[-1]
        widest = max((j for j in range(len(top)) if here[j] < top[j]), key=lambda j: (widths[j][here[j]], -j))
        path.append(tuple(level + (j == widest) for j, level in enumerate(here)))
    last, n = len(path) - 1, min(n_vectors, len(path))
    if n == 1:
        return (path[-1],)
    return tuple(path[(2 * i * last + n - 1) // (2 * (n - 1))] for i in range(n))


def _widths(column: HierarchySize) -> Sequence[int]:
    """(level) -> how many labels there are, or are taken to be."""
    if isinstance(column, int):
        require_whole("a highest level", column)
        return [4 ** (column - level) for level in range(column + 1)]
    for n_labels in column:
        require_whole("a number of labels", n_labels)
    if len(column) < 2:
        raise InvalidInput(
            f"A column is given as {list(column)!r}; numbers of labels for at least two levels are expected."
        )
    return column
