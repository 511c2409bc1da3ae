# SPDX-License-Identifier: Apache-2.0
"""The verdicts of `python -m bench load`: what makes no release has missed its bar, and every method that claims any number of rows is tried."""

import math

import numpy as np
import pytest

import overt
from bench import load
from bench.measure import Line
from overt.algorithms import METHODS

FOR_STUDY = {"gda", *(name for name in METHODS if name.endswith("not-dp"))}  # docs/research/methods-for-study.md


@pytest.mark.parametrize(
    "said", [{"refused": "too large", "peak": "0.2"}, {"refused": "the process ended with -9"}, {}]
)
def test_a_refusal_is_a_miss_however_little_memory_it_took(said):
    assert load.peak_of(said) == math.inf
    assert Line("a method", load.peak_of(said), "GiB", bar=load.BAR).met is False
    assert load.note_of(said, 3.0).startswith("no release, after 3 s")


def test_a_release_is_judged_by_its_peak():
    assert Line("a method", load.peak_of({"peak": "19.5"}), "GiB", bar=load.BAR).met is True
    assert Line("a method", load.peak_of({"peak": "20.5"}), "GiB", bar=load.BAR).met is False


def test_every_method_that_may_be_used_to_publish_is_tried_and_makes_a_release():
    assert set(load.methods()) == set(load.CLAIMED) - {"out of core"}
    assert {method.name for method in load.methods().values()} == set(METHODS) - FOR_STUDY
    for name, method in load.methods().items():
        table = load.table_for(name, overt.samples.census(1_500))
        assert overt.publish(method.anonymize(table, rng=np.random.default_rng(1))) is not None, name
