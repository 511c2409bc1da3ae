# SPDX-License-Identifier: Apache-2.0
"""What a board reads first: nothing that it says may be softer than what the figures below say."""

import json

import numpy as np
import polars as pl
import pytest

from contracts.methods import EXAMPLES
from overt import (
    Anatomy,
    BatchMatching,
    BlindBuckets,
    CrossBucket,
    FrequencyLDiversity,
    KAnonymity,
    Mondrian,
    TCloseness,
    read_frame,
)
from overt.io.publication import published_tables
from overt.io.reader_view import release_as_read
from overt.privacy import PROPERTIES, Property
from overt.report.html import page_of
from overt.report.opening import fails_against
from overt.report.owner_report import make_report
from overt.report.public import make_public_report
from overt.report.public_html import page_of_public
from overt.report.sentences import of_rare

PARTS = (
    "What was promised",
    "Against whom it holds",
    "Against whom it does not hold",
    "The worst case",
    "What is not promised",
)


@pytest.fixture(scope="module")
def clinic():
    rng = np.random.default_rng(3)
    n = 600
    frame = pl.DataFrame(
        {
            "Age": rng.integers(18, 90, n),
            "Town": rng.integers(0, 30, n).astype(str),
            "HIV": np.where(rng.permutation(n) < 12, "yes", "no"),
        }
    )
    return read_frame(frame, quasi_identifiers=["Age", "Town"], sensitive=["HIV"])


def reports(method, table):
    release = method.anonymize(table, rng=np.random.default_rng(0))
    tables = published_tables(release)
    read = release_as_read(tables, made_by=method, quasi_identifiers=["Age", "Town"], sensitive=["HIV"])
    public = make_public_report(read, goal=method.goal, name="release.csv")
    return public, make_report(release, goal=method.goal, name="release.csv", source="clinic.csv")


@pytest.mark.parametrize(
    "method",
    [
        Mondrian(goal=KAnonymity(5) & TCloseness("0.3")),
        BlindBuckets(goal=KAnonymity(5) & TCloseness("0.1")),
        BlindBuckets(goal=TCloseness("0.3"), k=1, rows_per_bucket=5),
    ],
    ids=["mondrian", "blind-buckets", "boxes of one"],
)
def test_both_reports_open_with_the_five_parts_and_the_condition(clinic, method):
    public, owner = reports(method, clinic)
    for page, opening in ((page_of_public(public), public.opening), (page_of(owner), owner.opening)):
        places = [page.index(f"<dt>{part}</dt>") for part in PARTS]
        assert places == sorted(places) and places[-1] < page.index('class="figures"')
        assert "<h1>release.csv</h1>" in page and opening.condition in page
        assert 'class="glossary"' in page
        assert ('<p class="verdict">' in page) == (method.guarantee.strength == "strong")
    assert json.loads(json.dumps(public.to_dict()))["verdict"]["the_worst_case"] == list(public.opening.worst_cases)


def test_the_worst_case_of_a_rare_value_is_said_in_both_and_names_no_value(clinic):
    public, owner = reports(Mondrian(goal=KAnonymity(5) & TCloseness("0.3")), clinic)
    [likelier] = public.opening.rare
    assert likelier.times >= 3
    for page in (page_of_public(public), page_of(owner)):
        assert of_rare(likelier).replace("'", "&#x27;") in page or of_rare(likelier) in page
    assert "yes" not in of_rare(likelier)
    assert any(one.became.endswith("of the rows") for one in owner.columns if one.name == "HIV")
    assert "nothing says whose" not in page_of(owner)


def test_exact_quasi_identifiers_are_said_wherever_boxes_hold_one_person(clinic):
    public, owner = reports(BlindBuckets(goal=TCloseness("0.3"), k=1, rows_per_bucket=5), clinic)
    for opening in (public.opening, owner.opening):
        assert opening.worst_cases[0].startswith("What others know of people is published exactly.")
    release = CrossBucket(1, 2).anonymize(diverse(), rng=np.random.default_rng(0))
    assert "with exact quasi-identifiers" in str(release.method.guarantee)
    assert any("their quasi-identifiers are published exactly" in caution for caution in release.cautions)
    assert not any(
        "exactly" in words for words in CrossBucket(3, 2).anonymize(diverse(), rng=np.random.default_rng(0)).cautions
    )
    assert "exact quasi-identifiers" in str(Anatomy(goal=FrequencyLDiversity(2)).guarantee)


@pytest.mark.parametrize("goal", [FrequencyLDiversity(3), KAnonymity(7) & FrequencyLDiversity(3)], ids=str)
def test_a_weak_release_says_whether_replaying_adds_something_for_everybody(goal):
    """Merged groups: a replay brings people above the share in their group, whatever they knew, though not above the goal."""
    release = BatchMatching(goal=goal).anonymize(diverse(), rng=np.random.default_rng(0))
    how = {"made_by": release.method, "quasi_identifiers": ["Age"], "sensitive": ["Ill"]}
    public = make_public_report(release_as_read(published_tables(release), **how), goal=goal, name="release.csv")
    [last] = [words for words in public.opening.worst_cases if "replay" in words]
    is_merged = goal != FrequencyLDiversity(3)
    assert last.startswith("These figures are for readers who do not replay the method.") == is_merged
    assert ("as far as the goal allows" in str(release.method.guarantee)) == is_merged


def diverse():
    frame = pl.DataFrame({"Age": list(range(24)), "Ill": ["flu", "gout", "cold"] * 8})
    return read_frame(frame, quasi_identifiers=["Age"], sensitive=["Ill"])


@pytest.mark.parametrize("method", EXAMPLES, ids=lambda method: method.name)
def test_only_a_strong_guarantee_has_no_replaying_adversary_among_those_it_fails_against(method):
    fails = " ".join(fails_against(method.guarantee))
    assert ("replays the method" in fails) == (method.guarantee.strength != "strong")


@pytest.mark.parametrize("name", PROPERTIES)
def test_every_property_says_in_words_what_it_promises(name):
    assert PROPERTIES[name].in_words is not Property.in_words


def test_somebody_who_knows_a_sensitive_value_is_named_where_others_stand_beside_it():
    method = BlindBuckets(goal=FrequencyLDiversity(2))
    alone, beside = " ".join(fails_against(method.guarantee)), " ".join(fails_against(method.guarantee, 2))
    assert "more about a person than the quasi-identifiers" in alone and "columns of this table" not in alone
    assert "one sensitive value" not in alone and "may find the line by it" in beside
