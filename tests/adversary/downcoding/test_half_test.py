# SPDX-License-Identifier: Apache-2.0
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from overt import KAnonymity, Mondrian
from overt.adversary.downcoding.half_test import try_halves
from overt.errors import Unreachable
from overt.guarantee import STRONG
from overt.method import Method
from tables import table_of


def people(n_rows, rng, n_codes=400):
    codes = [rng.integers(0, n_codes, n_rows), rng.integers(0, 4, n_rows)]
    return table_of(codes, rng.integers(0, 30, n_rows), n_codes=[n_codes, 4])


def test_the_half_that_is_released_is_singled_out_more_often_than_the_other():
    rng = np.random.default_rng(4)
    table = people(2_000, rng)
    found = try_halves(table, Mondrian(goal=KAnonymity(4)), rng=rng)
    assert found.n_rows == 1_000
    assert found.by_cell.inside > found.by_cell.outside + 0.2
    assert found.by_value.inside > 0.95  # boxes of strict cuts do not overlap: once in the class is once in the half
    assert found.by_value.outside < 0.5


def test_a_value_that_occurs_once_where_boxes_cover_each_other_is_no_longer_alone():
    rng = np.random.default_rng(4)
    everybody = try_halves(people(2_000, rng), Mondrian(goal=KAnonymity(600)), rng=rng)
    assert everybody.by_cell is None, "a single class has too few values to say anything of a share"


def test_a_method_that_gives_nothing_for_a_half_is_not_tested():
    @dataclass(frozen=True)
    class Large(Method):
        name: ClassVar[str] = "large"
        guarantee: ClassVar = STRONG
        goal: ClassVar = KAnonymity(2)

        def anonymize(self, table, *, rng, on_progress=None):
            if table.n_rows < 10:
                raise Unreachable("too few")
            return Mondrian(goal=self.goal).anonymize(table)

    table = people(12, np.random.default_rng(1))
    assert try_halves(table, Large(), rng=np.random.default_rng(1)) is None
