# SPDX-License-Identifier: Apache-2.0
"""What is said of a leak never depends on luck: two audits of a release may know more or less, and never contradict each other."""

import re
from dataclasses import MISSING, fields, replace

import numpy as np
import pytest

from overt import FrequencyLDiversity, FullDomain, Mondrian, read_frame, samples
from overt.adversary.audit import audit_release
from overt.adversary.posterior import Sampled
from overt.engine.compared_recipes import Candidate, leak_of
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


def compared(leak):
    """A recipe in a comparison, of which nothing but the leak is looked at."""
    rest = dict.fromkeys(field.name for field in fields(Candidate) if field.default is MISSING)
    return Candidate(**{**rest, "leak": leak})


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


def test_components_that_agree_say_at_least_in_every_place_whatever_is_not_known_of_others():
    """As on Adult at l = 3: 6 % of the people are not known, and of the others far more are above than chance makes."""
    found = sampled([0.9] * 12 + [0.5] * 82 + [0.9] * 6, 0.01, known=[True] * 94 + [False] * 6)
    assert not found.is_known and verdict_of(found) is LeakVerdict.SOME
    leak = Leak(found)
    assert brief(leak).startswith("at least 12\u00a0% of people above the promised 1/2 to someone who knows the method")
    rows = {what: after for what, _, after in belief_rows(found)}
    assert rows["people above the promised 1/2"] == "at least 12\u00a0%"
    assert rows["people for whom this is not known yet"] == "6"
    candidate = compared(leak)
    assert leak_of(candidate) == candidate.above_in_words == "at least 12\u00a0%" and candidate.people_above == 0.12
    assert "at least 12.0%" in repr(found) and "at least 12\u00a0% of people" in "".join(map(str, section_of(leak)))
    assert found.to_dict()["above"][0]["with_method"] == 0.12


def test_where_chance_may_have_made_it_no_place_has_a_figure():
    found = sampled([0.9, *[0.5] * 19], 0.01)
    leak = Leak(found)
    assert found.share_above() == 0.05 and verdict_of(found) is LeakVerdict.UNKNOWN
    assert brief(leak).startswith("not enough sampling yet")
    assert {after for what, _, after in belief_rows(found) if "above" in what} == {"not known yet"}
    assert leak_of(compared(leak)) == "not known yet" and compared(leak).people_above is None
    assert "not known yet" in repr(found) and found.to_dict()["above"][0]["with_method"] is None


def test_a_cell_that_was_counted_is_not_held_for_chance_beside_one_that_was_sampled():
    """More seconds would not change what was counted, so they are not advised."""
    found = sampled([0.9, 0.5], 0.0)
    error = np.array([[0.0, 0.0], [0.01, 0.01]])
    found = replace(found, replayed=replace(found.replayed, error=error))
    assert verdict_of(found) is LeakVerdict.SOME
    assert brief(Leak(found)).startswith("at least 50\u00a0% of people above the promised 1/2")
    turned = replace(found, replayed=replace(found.replayed, error=error[::-1]))  # now the one above was sampled
    assert verdict_of(turned) is LeakVerdict.UNKNOWN


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
