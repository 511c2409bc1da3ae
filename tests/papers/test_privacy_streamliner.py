# SPDX-License-Identifier: Apache-2.0
"""W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012: the motivating example and Examples 1 to 5 as printed."""

from fractions import Fraction

import pytest

from overt.algorithms.streamliner import (
    after_release,
    are_candidates,
    are_l_candidate,
    are_l_covers,
    arrangements,
    colours,
    disclosure_set,
    family_set,
    has_l_cover,
    is_cover,
    is_globally_safe,
    is_locally_safe,
    is_self_contained,
    is_strongly_globally_safe,
    locally_safe_set,
    minimal_self_contained,
    partition_of,
    satisfies_theorem_2,
    worst_share,
)

ADA, BOB, COY, DAN, EVE = range(5)
CONDITIONS = ("flu", "flu", "cold", "cold", "HIV")
TWO_THIRDS = Fraction(2, 3)
P = {
    1: [[ADA, COY], [BOB, DAN, EVE]],
    2: [[ADA, DAN], [BOB, COY, EVE]],
    3: [[ADA, EVE], [BOB, COY, DAN]],
    4: [[BOB, COY], [ADA, DAN, EVE]],
    5: [[BOB, DAN], [ADA, COY, EVE]],
    6: [[BOB, EVE], [ADA, COY, DAN]],
    7: [[COY, EVE], [ADA, BOB, DAN]],
    8: [[DAN, EVE], [ADA, BOB, COY]],
    9: [[ADA, BOB, COY, DAN, EVE]],
}
P = {number: partition_of(groups) for number, groups in P.items()}
T = {  # Table 1, right: the condition of Ada, Bob, Coy, Dan, Eve
    1: "flu flu cold cold HIV",
    2: "cold cold flu flu HIV",
    3: "flu flu cold HIV cold",
    4: "cold cold flu HIV flu",
    5: "flu HIV cold cold flu",
    6: "cold HIV flu flu cold",
    7: "flu flu HIV cold cold",
    8: "cold cold HIV flu flu",
    9: "HIV flu cold cold flu",
    10: "HIV cold flu flu cold",
}
T = {number: tuple(table.split()) for number, table in T.items()}


def numbers(tables):
    return sorted(number for number, table in T.items() if table in tables)


def subset(*numbers):
    return [P[number] for number in numbers]


def test_motivating_example_has_nine_locally_safe_partitions():
    assert locally_safe_set(CONDITIONS, TWO_THIRDS) == set(P.values())
    assert not is_locally_safe(partition_of([[ADA, BOB], [COY, DAN, EVE]]), CONDITIONS, TWO_THIRDS)


def test_motivating_example_whole_lss_gives_eve_away():
    left = disclosure_set(P.values(), CONDITIONS, TWO_THIRDS)
    assert numbers(left) == [1, 2]
    assert len(left) == 2
    assert {table[EVE] for table in left} == {"HIV"}
    assert not is_globally_safe(P.values(), CONDITIONS, TWO_THIRDS)


def test_motivating_example_without_p7_is_globally_safe_but_p3_gives_ada_and_eve_away():
    chosen = subset(1, 2, 3, 4, 5, 6, 8, 9)
    left = disclosure_set(chosen, CONDITIONS, TWO_THIRDS)
    assert numbers(left) == [1, 2, 3, 4]
    assert worst_share(left) == Fraction(1, 2)
    assert is_globally_safe(chosen, CONDITIONS, TWO_THIRDS)
    assert numbers(after_release(left, P[3], CONDITIONS)) == [1]
    assert not is_strongly_globally_safe(chosen, CONDITIONS, TWO_THIRDS)


def test_motivating_example_without_p3_p6_p7_p8_is_strongly_globally_safe():
    chosen = subset(1, 2, 4, 5, 9)
    left = disclosure_set(chosen, CONDITIONS, TWO_THIRDS)
    assert numbers(left) == list(range(1, 11))
    assert len(left) == 10 < len(list(arrangements(CONDITIONS)))
    assert is_strongly_globally_safe(chosen, CONDITIONS, TWO_THIRDS)
    after_p1 = after_release(left, P[1], CONDITIONS)
    assert numbers(after_p1) == [1, 2, 3, 4, 5, 6]
    assert worst_share(after_p1) == Fraction(1, 2)


# Table 3: id1, id2 have s1 and id3, id4 have s2; rows are numbered from 0 here
S = ("s1", "s1", "s2", "s2")
HALF = Fraction(1, 2)
Q1, Q2, Q3, Q4 = map(partition_of, ([[0, 2], [1, 3]], [[0, 3], [1, 2]], [[0, 1, 2, 3]], [[0, 1], [2, 3]]))
C1, C2 = (0, 1), (2, 3)


def test_example_1_colours():
    assert colours(S) == {"s1": C1, "s2": C2}


def test_example_2_safe_sets():
    assert locally_safe_set(S, HALF) == {Q1, Q2, Q3}
    assert not is_locally_safe(Q4, S, HALF)
    for chosen in ([Q1, Q3], [Q2, Q3]):
        assert is_globally_safe(chosen, S, HALF)
        assert is_strongly_globally_safe(chosen, S, HALF)


def test_example_3_the_two_colours_are_candidates():
    assert are_candidates(C1, C2, S)
    assert are_l_candidate([C1, C2], S)
    assert satisfies_theorem_2(C1, [C2], S)
    assert satisfies_theorem_2(C2, [C1], S)


@pytest.mark.parametrize(
    ("chosen", "minimal", "family"),
    [
        ({0: [2], 1: [3], 2: [0], 3: [1]}, Q1, {Q1, Q3}),
        ({0: [3], 1: [2], 2: [1], 3: [0]}, Q2, {Q2, Q3}),
        ({0: [2], 1: [3], 2: [1], 3: [0]}, Q3, {Q3}),
    ],
)
def test_example_4_self_contained_partitions(chosen, minimal, family):
    assert minimal_self_contained(chosen) == minimal
    assert {partition for partition in (Q1, Q2, Q3) if is_self_contained(partition, chosen)} == family
    assert set(family_set(chosen)) == family


@pytest.mark.parametrize(("chosen", "images"), [([Q1, Q3], (2, 3)), ([Q2, Q3], (3, 2))])
def test_example_5_the_colours_cover_each_other(chosen, images):
    to_second = dict(zip(C1, images, strict=True))
    to_first = {image: row for row, image in to_second.items()}
    assert is_cover(to_second, chosen)
    assert are_l_covers(C1, [to_second], chosen, S)
    assert are_l_covers(C2, [to_first], chosen, S)
    assert has_l_cover(chosen, S, 2)
