# SPDX-License-Identifier: Apache-2.0
"""Whatever a public function or class is given, a wrong argument ends in our sentence, which shows nothing of what was given."""

import inspect
import pickle

import numpy as np
import polars as pl
import pytest

import overt
from overt.arguments import explained, refusal
from overt.errors import InvalidInput, OvertError

SECRET = "Xanthippe"
FRAME = pl.DataFrame({"Name": [SECRET] * 3, "Age": [30, 40, 50], "Illness": ["flu", "cold", "flu"]})
TAKES_FRAMES = {"read_frame", "risk", "anonymize"}
FUNCTIONS = sorted(name for name in overt.__all__ if inspect.isfunction(getattr(overt, name)))


@pytest.fixture(scope="module")
def table():
    return overt.read_frame(FRAME, quasi_identifiers=["Age"], sensitive=["Illness"])


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("given", [FRAME, 5, None, object()], ids=["a frame", "5", "None", "an object"])
def test_every_public_function_says_in_our_words_what_it_takes(name, given):
    function = getattr(overt, name)
    first = next(iter(inspect.signature(function).parameters.values()), None)
    if first is None or first.default is not inspect.Parameter.empty or first.kind is inspect.Parameter.KEYWORD_ONLY:
        pytest.skip("it can be called with nothing")
    if (name in TAKES_FRAMES and given is FRAME) or (name == "optimal_discernibility" and given is not FRAME):
        pytest.skip("it takes that")
    needed = [
        one.name
        for one in inspect.signature(function).parameters.values()
        if one.default is inspect.Parameter.empty and one.name != first.name
    ]
    with pytest.raises(OvertError) as refused:
        function(given, **dict.fromkeys(needed, given))
    assert SECRET not in str(refused.value) and "shape" not in str(refused.value)
    if given is FRAME and name not in ("grow_strata",):
        assert "frame" in str(refused.value).lower()


METHODS = ("BlindBuckets", "Mondrian", "FullDomain", "Anatomy", "BatchMatching", "Dealing", "RDA", "RIA", "InOrder", "RecordLagrangian")  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_a_goal_that_is_no_property_is_refused(name):
    for goal in (5, "k-anonymity", [overt.KAnonymity(5)]):
        with pytest.raises(InvalidInput, match="goal"):
            made = getattr(overt, name)(goal=goal)
            made.anonymize(
                overt.read_frame(FRAME, quasi_identifiers=["Age"], sensitive=["Illness"]), rng=np.random.default_rng()
            )
    with pytest.raises(InvalidInput, match="The goal of CrossBucket is 5; give a property"):
        overt.CrossBucket(goal=5)


@pytest.mark.parametrize("name", ["BlindBuckets", "Mondrian", "Anatomy", "FullDomain"])
def test_a_frame_is_no_table_and_a_seed_no_generator(name, table):
    method = getattr(overt, name)(goal=overt.FrequencyLDiversity(1))
    with pytest.raises(InvalidInput, match="is a DataFrame; give a Table, as overt.read_frame") as refused:
        method.anonymize(FRAME, rng=np.random.default_rng())
    assert "overt.anonymize makes a release in one call" in str(refused.value) and SECRET not in str(refused.value)
    for rng in (5, np.random.RandomState(5)):
        with pytest.raises(InvalidInput, match=r"give it rng=overt.secret_generator\(\)"):
            method.anonymize(table, rng=rng)
    if name in ("BlindBuckets", "Anatomy"):  # the others draw nothing
        with pytest.raises(InvalidInput, match="None was given"):
            method.anonymize(table)


def test_properties_look_at_groups_and_join_properties(table):
    goal = overt.FrequencyLDiversity(2)
    for ask in (goal.holds, goal.measure, goal.breaks, (goal & overt.KAnonymity(2)).holds):
        with pytest.raises(InvalidInput, match=r"is a Table; give the groups of a release, `release.groups`"):
            ask(table)
    with pytest.raises(InvalidInput, match="joined to .* with & is 5; give another property"):
        goal & 5
    with pytest.raises(InvalidInput, match="AllOf takes a list"):
        overt.AllOf(5)
    with pytest.raises(InvalidInput, match="The goal of a Claim is 5"):
        overt.Claim(goal=5, n_rows=3)


@pytest.mark.parametrize(
    ("name", "given"),
    [("Prefixes", 5), ("Intervals", 5), ("Dates", "year"), ("CutPoints", 5), ("Quantiles", 5), ("Levels", 5)],
)
def test_hierarchies_take_lists(name, given):
    with pytest.raises(InvalidInput, match=f"{name} takes a list, such as"):
        getattr(overt, name)(given)


def test_columns_and_hierarchies_of_read_frame():
    for how, words in (
        ({"quasi_identifiers": 5}, "`quasi_identifiers` of overt.read_frame is 5; give a list of texts"),
        ({"quasi_identifiers": [5]}, "give a list of texts"),
        ({"quasi_identifiers": ["Agee"]}, "There is no column 'Agee'; the columns are 'Name', 'Age', 'Illness'"),
        ({"quasi_identifiers": ["Age"], "hierarchies": {"Age": 5}}, "The hierarchy of 'Age' is 5; give one made by"),
        ({"quasi_identifiers": ["Age"], "hierarchies": 5}, "`hierarchies` of overt.read_frame is 5; give a dict"),
    ):
        with pytest.raises(InvalidInput) as refused:
            overt.read_frame(FRAME, **how)
        assert words in str(refused.value)


def test_the_door_does_not_change_what_is_given_or_found():
    assert overt.explain.__wrapped__("k-anonymity").to_dict() == overt.explain("k-anonymity").to_dict()
    assert pickle.loads(pickle.dumps(overt.risk)) is overt.risk
    with pytest.raises(TypeError, match="missing 1 required"):  # Python's own words are good
        overt.run()

    def takes(n: int, share: float = 0.5, *, names: tuple[str, ...] = ()) -> int:
        return n

    door = explained(takes)
    assert door(3, 1, names=("a",)) == 3
    with pytest.raises(InvalidInput, match="`share` of overt.takes is a text; give a number"):
        door(3, "x")
    with pytest.raises(InvalidInput, match="`n` of overt.takes is 3.5; give a whole number"):
        door(3.5)
    assert refusal("It", SECRET, "a number") == "It is a text; give a number."


def test_consoles_and_notebooks_show_roles_counts_and_figures_and_never_a_value(table):
    release = overt.BlindBuckets(goal=overt.FrequencyLDiversity(1), k=3, rows_per_bucket=3).anonymize(
        table, rng=np.random.default_rng()
    )
    audit = overt.audit_release(release, rng=np.random.default_rng())
    for shown, words in (
        (table, ("Table of 3 rows", "quasi-identifier", "Illness")),
        (table.columns[0], ("Age", "3 values")),
        (release, ("CrossBucketRelease", "blind-buckets", "whatever they believed before")),
        (audit, ("Audit of 'Illness' by blind-buckets: 3 people", "people known for certain", "highest belief")),
    ):
        text = repr(shown)
        assert all(word in text for word in words) and max(map(len, text.splitlines())) < 400
        if shown is not table.columns[0]:
            markup = shown._repr_html_()
            assert all(word.replace("'", "&#x27;") in markup or word in markup for word in words)
            assert markup.startswith(("<div", "<table", "<pre")) and "array(" not in markup
        assert not any(word in text for word in (SECRET, "flu", "cold", "array("))
    assert (
        repr(overt.explain("l-diversity")).startswith("l-diversity")
        and "<pre" in overt.explain("l-diversity")._repr_html_()
    )
