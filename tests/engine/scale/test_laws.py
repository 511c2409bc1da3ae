# SPDX-License-Identifier: Apache-2.0
"""The law of an engine is that of one machine: over all orders of coins, who goes where is exactly uniform.

Coins of independent bits come in every order with equal probability; the test goes through all orders, with coins that lie in one part of their
range or are spread over all, and with first coins that are equal. The rest is counting.
"""

from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np
import polars as pl
import pytest

import overt
from overt.engine.scale.boxes_and_buckets import deal_at_scale
from overt.engine.scale.fragment_lines import ShownLines
from overt.engine.scale.groups_by_cuts import like_of
from overt.engine.scale.groups_by_draw import make_dealing
from overt.engine.scale.local import LocalEngine
from overt.engine.scale.staging import system_coins
from overt.progress import silent
from overt.table import Kind
from scales import collected, staged_with_coins
from tables import table_of

ILL = [0, 0, 1, 1, 2, 2]
SPREAD = {
    "all over the range": np.linspace(0, 2**64 - 2**12, 6).astype(np.uint64),
    "in one part of it": np.arange(6).astype(np.uint64),
    "some equal": np.array([0, 0, 0, 2**63, 2**63, 2**64 - 1], np.uint64),
}


def people():
    return table_of([[0, 1, 2, 3, 4, 5]], ILL, kinds=[Kind.CATEGORY])


@pytest.mark.parametrize("coins", SPREAD.values(), ids=SPREAD)
def test_every_deal_of_people_to_buckets_is_equally_likely(coins, tmp_path):
    table, engine = people(), LocalEngine(fragment_rows=2)
    method = overt.BlindBuckets(goal=overt.FrequencyLDiversity(3), k=2, rows_per_bucket=3, cuts="strict")
    staged = staged_with_coins(engine, table, np.zeros(6, np.uint64), tmp_path)
    (rows,) = list(staged.data)
    deals = Counter()
    for order in permutations(range(6)):
        place = np.array(order)  # the second coin orders rows whose first are equal
        frame = rows.with_columns(coin=pl.Series(coins[place].view(np.int64)), second_coin=pl.Series(place))
        again = staged_with(staged, frame)
        dealt, *_ = deal_at_scale(again, method)
        found = pl.concat(list(dealt)).sort("q0")
        deals[tuple(found["bucket"].to_list())] += 1
    assert len(deals) == 8  # of every value one of two people goes to the first of two buckets
    assert set(deals.values()) == {90}


def staged_with(staged, frame):
    return replace(staged, data=staged.engine.stage([frame], lambda rows: rows, frame.clear()))


def test_every_grouping_by_dealing_is_equally_likely(tmp_path):
    table, engine = people(), LocalEngine(fragment_rows=2)
    staged = staged_with_coins(engine, table, np.zeros(6, np.uint64), tmp_path)
    (rows,) = list(staged.data)
    lines = ShownLines(staged.order, staged.quasi_identifiers, staged.sensitive)
    method, groupings = overt.Dealing(goal=overt.FrequencyLDiversity(3)), Counter()
    for order in permutations(range(6)):
        coins = SPREAD["all over the range"][np.array(order)]
        again = staged_with(staged, rows.with_columns(coin=pl.Series(coins.view(np.int64))))
        made = make_dealing(again, method, lines, silent, np.random.default_rng(0))
        assert made.n_fragments == 2
        found = collected(engine, made.tables["release"], like_of(lines))
        groupings[frozenset(map(str, found["q0"]))] += 1
    assert len(groupings) == 4  # two groups that show the sets of their three people, of different values
    assert set(groupings.values()) == {180}


def test_coins_come_from_the_operating_system_and_fill_their_range():
    coins = system_coins(20_000).view(np.uint64)
    assert np.unique(coins).size == coins.size  # two of them are equal once in 10**11 runs
    below = np.bincount((coins >> np.uint64(60)).astype(np.int64), minlength=16)
    chi = ((below - 1250) ** 2 / 1250).sum()
    assert chi < 60  # 15 degrees of freedom: above it once in 4 million runs
