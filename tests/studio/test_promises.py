# SPDX-License-Identifier: Apache-2.0
"""What is promised, in the words that go into a protocol: values with bounds of their own, and values that matter, are named."""

from overt.studio.promises import cards_of, sentence_of

COLUMNS = {"Age": {"role": "quasi-identifier"}, "Diagnosis": {"role": "sensitive"}}
LIKELY = {"property": "l-diversity", "l": 3, "column": "Diagnosis"}
RARE = {"property": "relative-risk", "times": 2, "column": "Diagnosis"}


def said(goal):
    return sentence_of(cards_of({"columns": COLUMNS, "goal": [goal]}))


def test_values_with_bounds_of_their_own_are_named():
    assert said(LIKELY) == "Diagnosis: no value is likelier than 1 in 3."
    bounded = said({**LIKELY, "bounds": {"I10": "0.65", "J45": "0.7"}})
    assert "'I10' at most 0.65 of it, 'J45' at most 0.7 of it" in bounded
    assert "no value is likelier" not in bounded and "with more than 7/10" in bounded


def test_only_values_that_matter_are_promised_to_stay_rare():
    assert said(RARE) == "Diagnosis: in no group is a value more than 2 times as frequent as among all."
    assert said({**RARE, "positive": ["HIV", "B20"]}) == (
        "Diagnosis: in no group is a value more than 2 times as frequent as among all (only of 'HIV', 'B20')."
    )
