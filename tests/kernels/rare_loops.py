# SPDX-License-Identifier: Apache-2.0
"""Of `kernel_runs.py`: loops that only large tables, rare shapes or other options reach. Tests that are called here compare with oracles."""

from functools import partial

import numpy as np
import polars as pl

import overt
from adversary.downcoding import test_half_test
from adversary.learner import test_replayed_matching
from adversary.replay import test_mode_mixture
from algorithms.record import test_lagrangian
from algorithms.record import test_methods as test_record_methods
from algorithms.sequence.engines import test_jump_landing, test_sampling
from algorithms.sequence.worlds import windows
from metrics import test_sum_queries
from overt.adversary.downcoding.half_test import try_halves
from overt.algorithms.sequence import Exclusive, MaxRatio, Sequence
from overt.algorithms.sequence.engines.frontier_sweep import FrontierSweep
from persons import table_of_persons
from tables import table_of


def all_rare(table, coins, is_off):
    """(name, what was found) of each; `coins` makes the same generator again and again."""
    printed = table_of([[5, 1, 4, 2, 3]], [0, 0, 1, 2, 3])
    yield (
        "cross-bucket as printed",
        overt.publish(overt.CrossBucket(2, 2, mode="paper").anonymize(printed, rng=coins())),
    )
    both = overt.AllOf((overt.KAnonymity(5), overt.FrequencyLDiversity(2)))
    yield (
        "batch-matching, k",
        overt.publish(overt.BatchMatching(goal=both, form="bucketized").anonymize(table, rng=coins())),
    )
    visits = table_of_persons([[0, 1, 2, 0]], ["ab", "ac", "bd", "cd"])
    buckets = (
        overt.BlindBuckets(goal=overt.FrequencyLDiversity(2), k=1, rows_per_bucket=2, cuts="strict")
        .anonymize(visits, rng=coins())
        .buckets
    )
    yield "visits of persons", buckets.rows.tolist()
    alike = overt.Mondrian(goal=overt.TCloseness("1/2")).anonymize(table, rng=coins())
    yield "audit of t-closeness", overt.audit_release(alike, rng=coins(), sweeps=8, seconds=600)
    pay = overt.read_frame(
        pl.DataFrame({"age": [1, 2, 3, 4] * 2, "pay": [1, 1, 5, 5, 9, 9, 13, 13]}),
        quasi_identifiers=["age"],
        sensitive=["pay"],
    )
    yield "values that are near", overt.publish(overt.CrossBucket(2, 2).anonymize(pay, rng=coins()))
    yield (
        "halves",
        try_halves(
            test_half_test.people(200, coins(), n_codes=90), overt.Mondrian(goal=overt.KAnonymity(3)), rng=coins()
        ),
    )
    sequence, values = Sequence(windows(24, 4, 6, 12), MaxRatio("1/2")), coins().integers(0, 4, 24).astype(np.int32)
    yield "a sweep", FrontierSweep(sequence, Exclusive()).disclosure(values, 4, 3).count
    for name, test in TESTS.items():
        if is_off:  # with the compiler on they run where they are at home
            test()
        yield name, "passed"


TESTS = {
    "rows that are generalized": test_record_methods.test_rows_show_the_labels_of_what_was_chosen,
    "rows, by the Lagrangian": test_lagrangian.test_long_work_says_how_far_it_is,
    "lists that were matched": test_replayed_matching.test_lists_that_gave_the_groups_have_energy_0_and_a_chain_finds_some,
    "sums": test_sum_queries.test_drawn_queries_have_an_answer_and_the_asked_number_of_predicates,
    "reasons": test_mode_mixture.test_search_names_the_reasons_that_hold_most,
    "counts of cells": partial(test_mode_mixture.test_counts_of_cells_are_listed_exactly, [9, 8, 8, 8, 2], 14, 3),
    "jumps": partial(
        test_jump_landing.test_tables_that_are_sent_on_are_those_of_the_definition, test_jump_landing.SENT_ON[2]
    ),
    "samples": test_sampling.test_the_estimate_switches_to_karp_luby_by_itself,
}
