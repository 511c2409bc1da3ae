# SPDX-License-Identifier: Apache-2.0
"""Every change can be undone and redone, and what a change wrote can be shown."""

from overt.studio.edits import set_key, set_of_column, set_role
from overt.studio.history import History

RECIPE = """version = 1
[input]
path = "a.csv"
[columns]
Age = { role = "quasi-identifier", hierarchy = { widths = [5] } }
Disease = { role = "sensitive", missing = "drop" }
[[goal]]
property = "k-anonymity"
k = 5
[[goal]]
property = "l-diversity"
l = 3
column = "Disease"
"""


def test_undo_and_redo_go_through_every_text():
    history = History.begin(RECIPE, "read")
    texts = [history.text]
    for k in (6, 7, 8):
        history = history.change(f"k = {k}", set_key("input", "path", f"{k}.csv"))
        texts.append(history.text)
    for text in reversed(texts[:-1]):
        history = history.undo()
        assert history.text == text
    assert not history.can_undo
    assert history.undo() == history
    for text in texts[1:]:
        history = history.redo()
        assert history.text == text
    assert history.redo() == history


def test_a_change_after_undo_forgets_what_was_undone():
    history = History.begin(RECIPE, "read").change("b", set_key("input", "path", "b.csv")).undo()
    assert history.change("c", set_key("input", "path", "c.csv")).undone == ()


def test_a_change_that_changes_nothing_is_none():
    history = History.begin(RECIPE, "read")
    assert history.change("same", set_key("input", "path", "a.csv")) is history


def test_what_a_change_wrote_is_shown():
    history = History.begin(RECIPE, "read").change("by tens", set_of_column("Age", "hierarchy", {"widths": [10]}))
    assert history.changed_lines == ("hierarchy = { widths = [10] }",)


def test_a_column_that_is_no_longer_sensitive_has_no_goal_and_no_key_that_does_not_fit():
    history = History.begin(RECIPE, "read").change("left out", set_role("Disease", "other"))
    assert history.document["columns"]["Disease"] == {"role": "other"}
    assert [goal["property"] for goal in history.document["goal"]] == ["k-anonymity"]
    back = history.change("back", set_role("Disease", "sensitive", {"role": "sensitive", "missing": "drop"}))
    assert back.document["columns"]["Disease"] == {"role": "sensitive", "missing": "own value"}


def test_edits_leave_the_recipe_they_are_given_as_it_is():
    before = History.begin(RECIPE, "read")
    document = before.document
    set_role("Age", "other")(document)
    set_of_column("Age", "hierarchy", None)(document)
    set_key("input", "path", None)(document)
    assert document == before.document


def test_an_answer_about_dates_is_undone_with_the_rest():
    """It changes nothing in the recipe where the dates are read as was proposed."""
    history = History.begin(RECIPE, "read").change("day first", lambda document: document, settled={"Visit"})
    assert history.done[-1].settled == ("Visit",)
    assert history.undo().done[-1].settled == ()
    assert history.undo().redo().done[-1].settled == ("Visit",)
    assert history.change("k", set_key("input", "path", "b.csv")).done[-1].settled == ("Visit",)
