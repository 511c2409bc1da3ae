# SPDX-License-Identifier: Apache-2.0
from fractions import Fraction

from hypothesis import given

from oracles import privacy as oracle
from overt.metrics.rare_values import RARE, SEVERAL, rare_values_of
from privacy.groups import groups_of_counts, worlds


@given(worlds(max_size=30))
def test_agrees_with_counting_by_hand(world):
    q = oracle.shares(world.table)
    gains = [{v: share / q[v] for v, share in oracle.shares(group).items() if q[v] <= RARE} for group in world.counters]
    worst = max((gain for of_group in gains for gain in of_group.values()), default=Fraction(0))
    found = rare_values_of(world.groups)
    if worst < SEVERAL:
        assert found == ()
        return
    [likelier] = found
    assert likelier.times == worst
    assert likelier.times * likelier.share == likelier.share_in_group
    people = [g.total() for g, of in zip(world.counters, gains, strict=True) if max(of.values(), default=0) >= SEVERAL]
    assert likelier.n_people == sum(people)


def test_hiv_of_two_percent_in_a_group_of_seven():
    [found] = rare_values_of(groups_of_counts([[5, 2], [93, 0], [882, 18]], table=[980, 20]))
    assert found.times == Fraction(2, 7) / Fraction(2, 100) and found.n_people == 7
    assert found.share == Fraction(1, 50)


def test_counts_beyond_64_bits():
    n = 10**17
    [found] = rare_values_of(groups_of_counts([[n, n], [9 * n, 0]], table=[40 * n, n]))
    assert found.times == Fraction(41, 2)
