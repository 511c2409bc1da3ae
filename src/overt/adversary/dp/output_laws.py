# SPDX-License-Identifier: Apache-2.0
"""Laws: with which chance a randomised mechanism gives which output, exactly, for small databases.

There are two ways to one. `law_of_runs` runs the mechanism itself once for every way its coins can fall, and knows
nothing about it. `multiset_law` is for mechanisms that draw for every record by itself and show how often each
element came up: it adds up the records' own laws. Chances are fractions, so that what is computed of them is exact.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.adversary.replay.scripted_coins import ScriptedCoins
from overt.errors import InvalidInput, TooLarge

Chance = Fraction | float
Law = Mapping[Hashable, Fraction]  # output -> chance; they sum to 1
ChanceOfElement = Mapping[Any, Chance]  # element -> chance; what is missing to 1: the record is not shown
FrozenMultiset = frozenset[tuple[Any, int]]  # (element, how often)
CellArray = NDArray[np.float64]

MAX_RUNS = 200_000
MAX_OUTPUTS = 500_000
MAX_CELLS = 30_000_000


def law_of_runs(run: Callable[[Any], Hashable], *, max_runs: int = MAX_RUNS) -> Law:
    """The law of what `run` returns, given a generator whose draws fall in every way they can.

    >>> {str(k): str(v) for k, v in law_of_runs(lambda rng: int(rng.binomial(1, 0.25, size=2).sum())).items()}
    {'0': '9/16', '1': '3/8', '2': '1/16'}
    """
    law: dict[Hashable, Fraction] = {}
    coins, n_runs = ScriptedCoins(()), 0
    while True:
        n_runs += 1
        if n_runs > max_runs:
            raise TooLarge(f"The coins of the mechanism fall in more than {max_runs:,} ways; use fewer records.")
        output = run(coins)
        law[output] = law.get(output, Fraction(0)) + coins.chance
        following = coins.following()
        if following is None:
            return law
        coins = following


def multiset_law(laws: Iterable[ChanceOfElement], *, suppress: int = 1) -> Law:
    """The law of the multiset of elements, each record drawing by itself; elements below `suppress` copies are left out.

    >>> law = multiset_law([{"a": Fraction(1, 2)}, {"a": Fraction(1, 2)}])
    >>> sorted((sorted(output), str(chance)) for output, chance in law.items())
    [([], '1/4'), ([('a', 1)], '1/2'), ([('a', 2)], '1/4')]
    """
    if suppress < 1:
        raise InvalidInput(f"suppress is {suppress}; a whole number of at least 1 is expected.")
    alike = Counter(frozenset(_fractions(law).items()) for law in laws)
    total: dict[FrozenMultiset, Fraction] = {frozenset(): Fraction(1)}
    for items, n_records in alike.items():
        one = {frozenset([(element, 1)]): chance for element, chance in items if chance}
        rest = 1 - sum((chance for _, chance in items), Fraction(0))
        if rest:
            one[frozenset()] = rest
        total = reduce(_added, [one] * n_records, total)
    shown: dict[Hashable, Fraction] = {}
    for output, chance in total.items():
        kept = frozenset((element, count) for element, count in output if count >= suppress)
        shown[kept] = shown.get(kept, Fraction(0)) + chance
    return shown


def count_laws(
    *databases: Sequence[ChanceOfElement], elements: Sequence[Any] | None = None, most: int | None = None
) -> list[CellArray]:
    """The same laws in floats, as arrays with one axis of counts for each element: for hundreds of records, or thousands.

    All arrays have the same axes and sizes, so that they can be compared cell by cell. If only some `elements` are looked
    at, or counts up to `most`, what is found of these outputs is a lower bound of what all of them say.
    """
    if elements is None:
        elements = sorted({element for laws in databases for law in laws for element, p in law.items() if p}, key=repr)
    sizes = [max(sum(bool(law.get(e)) for law in laws) for laws in databases) for e in elements]
    sizes = [1 + (size if most is None else min(size, most)) for size in sizes]
    if np.prod([float(size) for size in sizes]) > MAX_CELLS:
        raise TooLarge(
            f"The counts of {len(elements)} elements make more than {MAX_CELLS:,} cells; use fewer records or elements."
        )
    return [_counted(laws, elements, sizes) for laws in databases]


def _counted(laws: Sequence[ChanceOfElement], elements: Sequence[Any], sizes: Sequence[int]) -> CellArray:
    cells = np.ones((1,) * len(sizes))
    for law in laws:
        shown = [(axis, float(law[element])) for axis, element in enumerate(elements) if law.get(element)]
        # a count that this record can raise gets room for one more
        grown = tuple(min(n + any(a == axis for a, _ in shown), sizes[axis]) for axis, n in enumerate(cells.shape))
        after = np.zeros(grown)
        within = tuple(slice(0, n) for n in cells.shape)
        after[within] = cells * (1.0 - sum(p for _, p in shown))
        for axis, p in shown:
            n = min(cells.shape[axis], sizes[axis] - 1)
            raised = (*within[:axis], slice(1, n + 1), *within[axis + 1 :])
            after[raised] += cells[(*within[:axis], slice(0, n), *within[axis + 1 :])] * p
        cells = after
    if not sizes:
        return cells
    return np.pad(cells, [(0, size - n) for size, n in zip(sizes, cells.shape, strict=True)])


def _fractions(law: ChanceOfElement) -> dict[Any, Fraction]:
    chances = {element: Fraction(chance) for element, chance in law.items()}
    total = sum(chances.values(), Fraction(0))
    if min(chances.values(), default=Fraction(0)) < 0 or total > 1 + Fraction(1, 10**9):
        raise InvalidInput(
            f"The chances of a record sum to {float(total):g}; they must be at least 0 and at most 1 together."
        )
    if total > 1:  # floats that sum to 1 up to rounding
        chances = {element: chance / total for element, chance in chances.items()}
    return chances


def _added(
    law: Mapping[FrozenMultiset, Fraction], one: Mapping[FrozenMultiset, Fraction]
) -> dict[FrozenMultiset, Fraction]:
    """The law of the union of two independent multisets, the second of at most one element."""
    total: dict[FrozenMultiset, Fraction] = {}
    for output, chance in law.items():
        for added, probability in one.items():
            both = Counter(dict(output))
            both.update(dict(added))
            union = frozenset(both.items())
            total[union] = total.get(union, Fraction(0)) + chance * probability
    if len(total) > MAX_OUTPUTS:
        raise TooLarge(f"There are more than {MAX_OUTPUTS:,} possible outputs; use fewer records.")
    return total
