# SPDX-License-Identifier: Apache-2.0
"""What is said of a leak never depends on luck: two audits of a release may know more or less, and never contradict each other."""

import re
from dataclasses import replace

import numpy as np
import pytest

from overt import FrequencyLDiversity, FullDomain, Mondrian, read_frame, samples
from overt.adversary.audit import audit_release
from overt.adversary.posterior import Sampled
from overt.report.leak import Leak, belief_rows, brief, sentence_of_worst
from overt.report.leak_section import section_of
from overt.report.leak_verdict import LeakVerdict, verdict_of
from report.test_leak import audit_of

SAMPLED = Sampled(8, 1000, 0.5, 0.5, np.zeros(1))


def sampled(beliefs, error, *, known=None, how="sampling"):
    """An audit that was sampled: everybody's belief beside a promise of 1/2, with one standard error for all."""
    found = audit_of([0.5] * len(beliefs), beliefs)
    is_known = None if known is None else np.array(known)
    posterior = replace(
        found.replayed, error=np.full_like(found.replayed.chance, error), how=how, sampled=SAMPLED, is_known=is_known
    )
    return replace(found, replayed=posterior, n_rows=len(beliefs))


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (audit_of([0.5] * 9, [0.5] * 9), LeakVerdict.NOBODY),
        (audit_of([0.5] * 9, [0.51, *[0.5] * 8]), LeakVerdict.SOME),
        (sampled([0.9] * 9, 0.01), LeakVerdict.SOME),
        (sampled([0.9] * 9, 0.2), LeakVerdict.UNKNOWN),
        (sampled([0.9, *[0.5] * 8], 0.01), LeakVerdict.UNKNOWN),  # one cell of nine may be chance
        (sampled([0.5] * 9, 0.01), LeakVerdict.UNKNOWN),  # nobody was seen, which is not that nobody is
        (sampled([0.5] * 9, 0.0), LeakVerdict.NOBODY),
        (sampled([0.5] * 9, 0.0, known=[True] * 8 + [False]), LeakVerdict.UNKNOWN),
        (sampled([0.9] * 9, 0.01, known=[False] * 9), LeakVerdict.UNKNOWN),
        (sampled([0.9] * 9, 0.01, how="chain"), LeakVerdict.UNKNOWN),
    ],
)
def test_a_verdict_is_said_only_where_the_estimate_supports_it(found, verdict):
    assert verdict_of(found) is verdict


def test_what_is_not_known_has_no_figure_no_plot_and_no_colour_of_a_verdict():
    leak = Leak(sampled([0.9] * 20, 0.2))
    assert brief(leak) == "not enough sampling yet: run overt audit --seconds 30"
    assert leak.plots == {} and leak.to_dict()["audit"] is None
    page = "".join(map(str, section_of(leak)))
    assert 'class="unknown"' in page and "<table" not in page and "%" not in page


def test_what_is_sampled_in_passing_has_no_figure():
    leak = Leak(sampled([0.9] * 20, 0.01), in_passing=True)
    assert brief(leak).startswith(
        "some people are above the promised 1/2 to someone who knows the method; overt audit --seconds 30"
    )
    assert not re.search(r"\d\s?%", brief(leak)) and leak.plots == {} and leak.to_dict()["audit"] is None
    page = "".join(map(str, section_of(leak)))
    assert 'class="alarm"' in page and "<table" not in page
    assert Leak(sampled([0.9] * 20, 0.01)).plots


def test_certainty_is_of_what_was_counted():
    found = sampled([1.0] * 9, 0.01)
    assert found.n_certain == 0
    assert "certain" not in brief(Leak(found))


@pytest.mark.parametrize("method", [Mondrian(goal=FrequencyLDiversity(2)), FullDomain(goal=FrequencyLDiversity(2))])
def test_many_seeds_and_little_time_never_contradict_each_other(method):
    table = read_frame(
        samples.hospital().head(60), quasi_identifiers=["Postcode", "Sex"], sensitive=["Disease"], others=()
    )
    release = method.anonymize(table, rng=np.random.default_rng(0))
    said = {
        Leak(audit_release(release, rng=np.random.default_rng(seed), sweeps=8), in_passing=True).verdict
        for seed in range(12)
    }
    assert not said >= {LeakVerdict.NOBODY, LeakVerdict.SOME}


def test_figures_say_at_least_while_something_is_not_known_of_some_people():
    rows = {what: after for what, _, after in belief_rows(sampled([0.5] * 9, 0.0, known=[True] * 8 + [False]))}
    assert rows["people known for certain"] == "at least 0" and rows["highest belief"] == "at least 0.500"
    assert sentence_of_worst(sampled([0.5] * 9, 0.0, known=[True] * 8 + [False])).startswith(
        "of those of whom something is known"
    )
    rows = {what: after for what, _, after in belief_rows(sampled([0.5] * 9, 0.0))}
    assert rows["people known for certain"] == "0" and rows["highest belief"] == "0.500"
