# SPDX-License-Identifier: Apache-2.0
"""A folder with a session may come from somebody else: it names files of its own alone, or it is refused."""

import os

import pytest

from overt.errors import InvalidInput
from overt.studio.history import History
from overt.studio.saved_sessions import copy_into, history_of, read_kept, read_saved, save
from overt.studio.session import Session

RECIPE = """version = 1
[input]
path = "table.csv"
[columns]
Age = { role = "quasi-identifier", hierarchy = { widths = [5] } }
City = { role = "quasi-identifier", hierarchy = { file = "hierarchy-1-2.csv" } }
[[goal]]
property = "k-anonymity"
k = 2
[method]
name = "mondrian"
[output]
path = "release.csv"
"""


def test_a_recipe_of_the_studio_is_taken():
    assert read_kept(RECIPE)["output"] == {"path": "release.csv"}


@pytest.mark.parametrize(
    "elsewhere", ["/home/you/.bashrc", "../release.csv", "a/b.csv", "~/x.csv", ".profile", "..", "a\\\\b"]
)
@pytest.mark.parametrize("name", ["table.csv", "release.csv", "hierarchy-1-2.csv"])
def test_a_recipe_that_reads_or_writes_elsewhere_is_refused(name, elsewhere):
    with pytest.raises(InvalidInput, match="outside its own folder"):
        read_kept(RECIPE.replace(name, elsewhere))


def test_a_recipe_that_writes_into_a_database_is_refused():
    with pytest.raises(InvalidInput, match="outside its own folder"):
        read_kept(RECIPE.replace('path = "release.csv"', 'database = "CLINIC_DB"\ntable = "patients"'))


@pytest.mark.parametrize("text", ["", "no = toml = at all", "[columns]\nAge = 1", RECIPE.replace("name =", "named =")])
def test_what_no_page_could_show_is_refused(text):
    with pytest.raises(InvalidInput, match="not as the studio writes it"):
        read_kept(text)


@pytest.mark.parametrize("what", ["pipe", "endless", "folder", "link"])
def test_what_is_no_plain_file_is_refused_at_once(tmp_path, what):
    """A pipe never ends to be read, and /dev/zero ends with the memory."""
    path = tmp_path / "session.json"
    if what == "pipe":
        os.mkfifo(path)
    elif what == "endless":
        path.symlink_to("/dev/zero")
    elif what == "folder":
        path.mkdir()
    else:
        path.symlink_to("elsewhere")
    with pytest.raises(InvalidInput, match="no plain file"):
        read_saved(tmp_path)


def test_a_session_comes_back_as_it_was(tmp_path):
    folder, target, again = (tmp_path / name for name in ("session", "kept", "again"))
    folder.mkdir()
    again.mkdir()
    (folder / "table.csv").write_text("Age\n1\n")
    (folder / ".download-x.zip").write_text("half a download")
    session = Session("session", folder, "People", History.begin(RECIPE, "Read"))
    session.change("Households", lambda document: {**document, "version": 1}, is_household=True)
    session.change("Never mind", lambda document: {**document, "goal": []})
    session.undo()
    save(session, target, [RECIPE])
    kept = read_saved(target)
    assert history_of(kept) == session.history
    assert history_of(kept).done[-1].is_household
    copy_into(target, again)
    assert {path.name for path in again.iterdir()} == {"table.csv", "recipe.toml", "run-1.toml"}


def test_who_a_row_is_about_is_undone_with_the_rest():
    """Only words differ between a person and a household: the recipe is the same."""
    history = History.begin(RECIPE, "Read").change("Households", lambda document: document, is_household=True)
    assert history.done[-1].is_household
    assert not history.undo().done[-1].is_household
    assert history.undo().redo().done[-1].is_household
    assert history.change("another", lambda document: {**document, "goal": []}).done[-1].is_household
