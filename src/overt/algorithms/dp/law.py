# SPDX-License-Identifier: Apache-2.0
"""The exact law of what sampling and suppression release, for tables so small that everything can be written down.

Paper       none; the mechanism is that of docs/guides/differential-privacy.md.
Implements  The distribution of the released multiset when every record draws its element from a law of its own, is kept
            with probability s, and elements with fewer than k kept copies are left out; and the least delta between
            two such distributions (the hockey-stick divergence).
Departs     nothing.
Guarantee   Probabilities are fractions. Only exp(epsilon) is rounded, to 60 digits.
"""

from collections.abc import Hashable, Mapping, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction

from overt.algorithms.dp.accounting import DIGITS, require_epsilon
from overt.errors import InvalidInput, TooLarge
from overt.privacy.base import Number, exact, require_number, require_whole

Element = Hashable
Multiset = tuple[tuple[Element, int], ...]  # elements in order, each with how often it was released
RecordLaw = Mapping[Element, Number]  # probabilities of a record's elements; what is missing to 1 is withheld

MOST_OUTPUTS = 1_000_000
_SLACK = Fraction(1, 10**9)  # by which decimals that stand for probabilities may add up to more than 1


def law_of_sampling(laws: Sequence[RecordLaw], s: Number, k: int) -> dict[Multiset, Fraction]:
    """(released multiset) -> its probability.

    >>> law_of_sampling([{"u": 1}, {"u": 1}], "1/2", 2)
    {(): Fraction(3, 4), (('u', 2),): Fraction(1, 4)}
    """
    require_number("s", s, above=0, most=1)
    require_whole("k", k)
    elements = sorted({element for law in laws for element in law}, key=repr)
    place = {element: i for i, element in enumerate(elements)}
    counts: dict[tuple[int, ...], Fraction] = {(0,) * len(elements): Fraction(1)}
    for law in laws:
        kept = {place[element]: exact(s) * p for element, p in probabilities(law).items() if p}
        lost = 1 - sum(kept.values())
        grown: dict[tuple[int, ...], Fraction] = {}
        for state, p in counts.items():
            grown[state] = grown.get(state, Fraction(0)) + p * lost
            for i, q in kept.items():
                more = (*state[:i], state[i] + 1, *state[i + 1 :])
                grown[more] = grown.get(more, Fraction(0)) + p * q
        if len(grown) > MOST_OUTPUTS:
            raise TooLarge(
                f"These records can come out in more than {MOST_OUTPUTS:,} ways; give fewer records or elements."
            )
        counts = grown
    released: dict[Multiset, Fraction] = {}
    for state, p in sorted(counts.items()):
        shown = tuple((element, n) for element, n in zip(elements, state, strict=True) if n >= k)
        if p:
            released[shown] = released.get(shown, Fraction(0)) + p
    return released


def probabilities(law: RecordLaw) -> dict[Element, Fraction]:
    """The probabilities of a record's elements, exactly; refused if they are none."""
    given = {element: exact(p) for element, p in law.items()}
    total = sum(given.values(), Fraction(0))
    if any(p < 0 for p in given.values()) or total > 1 + _SLACK:
        raise InvalidInput("The probabilities of a record's elements must be at least 0 and add up to at most 1.")
    return given if total <= 1 else {element: p / total for element, p in given.items()}


def hockey_stick(one: Mapping[Multiset, Fraction], other: Mapping[Multiset, Fraction], epsilon: Number) -> float:
    """The least delta with P(one in S) <= exp(epsilon) P(other in S) + delta for all sets S of outputs."""
    require_epsilon(epsilon)
    with localcontext(Context(prec=DIGITS)):
        number = exact(epsilon)
        power = Fraction((Decimal(number.numerator) / number.denominator).exp())
    return float(sum((max(Fraction(0), p - power * other.get(output, 0)) for output, p in one.items()), Fraction(0)))


def delta_of_neighbours(laws: Sequence[RecordLaw], s: Number, k: int, epsilon: Number) -> float:
    """The exact delta of sampling and suppression between these records and all of them but the last."""
    if not laws:
        raise InvalidInput("There are no records; give at least the one that is to be removed.")
    whole, rest = law_of_sampling(laws, s, k), law_of_sampling(laws[:-1], s, k)
    return max(hockey_stick(whole, rest, epsilon), hockey_stick(rest, whole, epsilon))
