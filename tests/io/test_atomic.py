# SPDX-License-Identifier: Apache-2.0
"""Files appear whole or not at all, whatever goes wrong and when."""

import os
import stat
from pathlib import Path

import pytest

from overt.errors import InvalidInput
from overt.io import atomic
from overt.io.atomic import all_or_nothing


def write(folder, names, *, content="new", overwrite=False):
    with all_or_nothing(overwrite=overwrite) as stage:
        for name in names:
            stage(folder / name).write_text(content)


def state(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_files_appear_together(tmp_path):
    with all_or_nothing() as stage:
        stage(tmp_path / "a").write_text("1")
        stage(tmp_path / "b").write_text("2")
        assert not (tmp_path / "a").exists() and not (tmp_path / "b").exists()
    assert state(tmp_path) == {"a": "1", "b": "2"}


def test_rights_are_those_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_text("")
    write(tmp_path, ["a"])
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, RuntimeError])
def test_an_interrupt_while_writing_leaves_nothing(tmp_path, error):
    with pytest.raises(error), all_or_nothing() as stage:
        stage(tmp_path / "a").write_text("1")
        stage(tmp_path / "b").write_text("half")
        raise error
    assert state(tmp_path) == {}


@pytest.mark.parametrize("existing", [{}, {"b": "old"}, {"a": "old", "b": "old", "c": "old"}])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("nth", range(8))
@pytest.mark.parametrize("after", [False, True])
def test_an_interrupt_at_any_rename_leaves_what_was_there(tmp_path, monkeypatch, existing, error, nth, after):
    for name, content in existing.items():
        (tmp_path / name).write_text(content)
    rename, calls = Path.rename, []

    def failing(self, target):
        calls.append(self)
        if len(calls) - 1 != nth:
            return rename(self, target)
        if after:
            rename(self, target)
        raise error

    monkeypatch.setattr(Path, "rename", failing)
    if nth >= 3 + len(existing):
        write(tmp_path, "abc", overwrite=True)
        assert state(tmp_path) == {"a": "new", "b": "new", "c": "new"}
        return
    with pytest.raises(error):
        write(tmp_path, "abc", overwrite=True)
    assert state(tmp_path) == existing


def test_an_interrupt_while_forcing_to_disk_leaves_nothing(tmp_path, monkeypatch):
    def failing(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path, "ab")
    assert state(tmp_path) == {}


def test_everything_is_forced_to_disk_before_anything_appears(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(atomic, "_force_to_disk", lambda path: seen.append((path.name, sorted(state(tmp_path)))))
    write(tmp_path, "ab")
    first, second, folder = seen
    assert first[0].startswith(".a.") and second[0].startswith(".b.") and folder[0] == tmp_path.name
    assert "a" not in second[1] and {"a", "b"} < set(folder[1])


def test_existing_files_are_kept_unless_asked(tmp_path):
    (tmp_path / "b").write_text("old")
    with pytest.raises(InvalidInput, match="b exists already; choose another name, or ask to overwrite it"):
        write(tmp_path, "ab")
    assert state(tmp_path) == {"b": "old"}
    write(tmp_path, "ab", overwrite=True)
    assert state(tmp_path) == {"a": "new", "b": "new"}


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    with pytest.raises(InvalidInput, match="exists already"), all_or_nothing() as stage:
        stage(tmp_path / "a").write_text("new")
        (tmp_path / "a").write_text("theirs")
    assert state(tmp_path) == {"a": "theirs"}


def test_folders_are_checked(tmp_path):
    with pytest.raises(InvalidInput, match="no folder .*nowhere"):
        write(tmp_path / "nowhere", "a")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidInput, match="folder is a folder"):
        write(tmp_path, ["folder"], overwrite=True)
