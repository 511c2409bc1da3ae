# SPDX-License-Identifier: Apache-2.0
"""What a killed process leaves is told from what a living one writes, and cleared; nothing is lost or mixed."""

import json
import os
import signal
import stat
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from overt.errors import InvalidInput
from overt.io.atomic import all_or_nothing
from overt.io.unfinished import Journal, clear_unfinished

SRC = str(Path(__file__).parents[2] / "src")
NEW = {"r.csv": "new", "r.report.html": "new", "r.csv.manifest.json": "new"}
OLD = {"r.csv": "old", "r.sensitive.csv": "old", "r.csv.manifest.json": "old"}

# Writes a release over the old one and kills itself at the nth call of a function that changes the folder.
WRITER = """
import os, signal, sys
from pathlib import Path
from overt.io import atomic
from overt.io.atomic import all_or_nothing
folder, nth, new = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
calls = 0
def counted(change):
    def counting(*args, **kwargs):
        global calls
        calls += 1
        if calls == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return change(*args, **kwargs)
    return counting
for name in ("rename", "unlink", "replace", "chmod"):
    setattr(Path, name, counted(getattr(Path, name)))
os.open, os.write, os.fsync = counted(os.open), counted(os.write), counted(os.fsync)
with all_or_nothing(overwrite=True, going=[folder / "r.sensitive.csv"]) as stage:
    for name in new:
        stage(folder / name).write_text("new")
print(calls)
"""

WAITER = """
import sys, time
from pathlib import Path
from overt.io.atomic import all_or_nothing
with all_or_nothing(overwrite=True) as stage:
    stage(Path(sys.argv[1]) / "r.csv").write_text("half of a release")
    print("writing", flush=True)
    time.sleep(60)
"""


def start(text, *words, **more):
    environment = {**os.environ, "PYTHONPATH": SRC}
    return subprocess.Popen(
        [sys.executable, "-c", text, *map(str, words)], env=environment, stdout=subprocess.PIPE, **more
    )


def state(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def fill(folder, files):
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(content)


@pytest.mark.slow
def test_a_kill_at_any_moment_is_undone_or_done_by_the_next_run(tmp_path):
    fill(tmp_path / "all", OLD)
    n_calls = int(start(WRITER, tmp_path / "all", 0, *NEW).communicate()[0])
    assert state(tmp_path / "all") == NEW and n_calls > 20
    seen = set()
    for nth in range(1, n_calls + 1):
        folder = tmp_path / str(nth)
        fill(folder, OLD)
        killed = start(WRITER, folder, nth, *NEW)
        killed.communicate()
        assert killed.returncode == -signal.SIGKILL
        between = {name: text for name, text in state(folder).items() if not name.startswith(".")}
        if "r.csv.manifest.json" in between:  # a manifest lies beside what it was written for, and nothing else
            assert between in (OLD, NEW)
        for path in folder.glob(".*.part"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600 or between != OLD
        cleared = clear_unfinished(folder)
        assert state(folder) in (OLD, NEW)
        assert state(folder) == between or cleared
        seen.add(state(folder) == OLD)
        with all_or_nothing(overwrite=True) as stage:
            stage(folder / "r.csv").write_text("next")
        assert state(folder)["r.csv"] == "next"
    assert seen == {True, False}


def test_a_killed_run_is_cleared_by_the_next_and_a_living_one_is_not(tmp_path):
    fill(tmp_path / "f", {"r.csv": "old"})
    folder = tmp_path / "f"
    living = start(WAITER, folder)
    try:
        assert living.stdout.readline() == b"writing\n"
        (part,) = folder.glob(".*.part")
        assert stat.S_IMODE(part.stat().st_mode) == 0o600
        before = state(folder)
        assert clear_unfinished(folder) == () and state(folder) == before
        with (
            pytest.raises(InvalidInput, match="Another run is writing .*r.csv at this moment"),
            all_or_nothing(overwrite=True) as stage,
        ):
            stage(folder / "r.csv")
        with all_or_nothing() as stage:  # other files of the folder are free
            stage(folder / "other").write_text("x")
        assert state(folder) == {**before, "other": "x"}
    finally:
        living.kill()
        living.communicate()
    assert clear_unfinished(folder) == ("r.csv",)
    assert state(folder) == {"r.csv": "old", "other": "x"}


def test_two_writers_of_one_process_are_kept_apart_too(tmp_path):
    with all_or_nothing() as stage:
        stage(tmp_path / "a").write_text("1")
        with pytest.raises(InvalidInput, match="Another run"), all_or_nothing() as other:
            other(tmp_path / "a")
    assert state(tmp_path) == {"a": "1"}


@pytest.mark.parametrize(("is_owners", "umask"), [*product([False, True], [0o022, 0o077])])
def test_files_get_their_rights_when_they_appear(tmp_path, is_owners, umask):
    name = "r.csv.owner.json" if is_owners else "r.csv"
    before = os.umask(umask)
    try:
        with all_or_nothing() as stage:
            part = stage(tmp_path / name)
            part.write_text("x")
            assert stat.S_IMODE(part.stat().st_mode) == 0o600
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == (0o600 if is_owners else 0o666 & ~umask)


@pytest.mark.parametrize(
    "line",
    [
        {"target": "../precious"},
        {"target": "/precious"},
        {"target": "precious"},
        {"target": ".."},
        {"target": "precious", "replacing": {"precious": 1}, "turned back": True},
        {"target": 7},
        {"replacing": 7},
        {"target": "a\0b"},
        {"target": "a" * 300},
        {"target": "\ud800"},
        {"replacing": {"precious": float("inf")}},
        [],
        "",
    ],
)
def test_a_journal_that_somebody_made_up_removes_nothing_of_others(tmp_path, line):
    fill(tmp_path / "f", {"precious": "1", ".precious.part": "2"})
    (tmp_path / "precious").write_text("3")
    journal = tmp_path / "f" / ".overt-01234567.unfinished"
    journal.write_text(json.dumps(line) + "\n" + "[" * 100_000 + "\n" + '{"target": "prec')
    journal.chmod(0o600)
    clear_unfinished(tmp_path / "f")
    assert state(tmp_path / "f") == {"precious": "1", ".precious.part": "2"}
    assert (tmp_path / "precious").read_text() == "3"


@pytest.mark.skipif(os.name == "nt", reason="rights of files mean less there")
@pytest.mark.parametrize("is_administrator", [False, True])
def test_a_journal_of_another_user_removes_nothing_and_is_in_nobodys_way(tmp_path, monkeypatch, is_administrator):
    """In a folder like /tmp others can make files but not remove ours; their journal must not make us do it.

    They have to let everybody write it, or we could not open it; an administrator can open it anyway.
    """
    fill(tmp_path / "f", {"precious": "1"})
    number = (tmp_path / "f" / "precious").stat().st_ino
    journal = tmp_path / "f" / ".overt-01234567.unfinished"
    lines = [{"target": "precious"}, {"replacing": {"precious": number}}, {"turned back": True}]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    journal.chmod(0o600 if is_administrator else 0o666)
    monkeypatch.setattr(os, "geteuid", lambda: 0 if is_administrator else 4321)
    if is_administrator and not journal.stat().st_uid:
        os.chown(journal, 65534, -1)
    import fcntl

    before = state(tmp_path / "f")
    assert clear_unfinished(tmp_path / "f") == () and state(tmp_path / "f") == before
    with journal.open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with all_or_nothing(overwrite=True) as stage:
            stage(tmp_path / "f" / "precious").write_text("2")
    assert state(tmp_path / "f") == {**before, "precious": "2"}


@pytest.mark.skipif(os.name == "nt", reason="there are none")
def test_a_journal_that_is_no_file_is_passed_over(tmp_path):
    os.mkfifo(tmp_path / ".overt-01234567.unfinished", 0o600)
    with all_or_nothing() as stage:
        stage(tmp_path / "a").write_text("1")
    assert (tmp_path / "a").read_text() == "1"


def test_a_journal_that_is_a_link_is_not_followed(tmp_path):
    fill(tmp_path / "f", {})
    (tmp_path / "elsewhere").write_text('{"target": "x"}\n')
    (tmp_path / "f" / ".overt-01234567.unfinished").symlink_to(tmp_path / "elsewhere")
    assert clear_unfinished(tmp_path / "f") == ()
    assert (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("fails", [False, True])
def test_old_files_are_gone_and_new_ones_not_there_when_something_else_is_committed(tmp_path, fails):
    fill(tmp_path / "f", OLD)
    seen = []

    def commit():
        seen.append({name for name in state(tmp_path / "f") if not name.startswith(".")})
        if fails:
            raise RuntimeError

    try:
        with all_or_nothing(overwrite=True, going=[tmp_path / "f" / "r.sensitive.csv"], commit=commit) as stage:
            for name in NEW:
                stage(tmp_path / "f" / name).write_text("new")
    except RuntimeError:
        pass
    assert seen == [set()]
    assert state(tmp_path / "f") == (OLD if fails else NEW)


def test_after_a_commit_nothing_old_comes_back(tmp_path, monkeypatch):
    fill(tmp_path / "f", OLD)
    rename = Path.rename

    def failing(self, target):
        if self.name.endswith(".part"):
            raise OSError
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError), all_or_nothing(overwrite=True, commit=lambda: None) as stage:
        stage(tmp_path / "f" / "r.csv.manifest.json").write_text("new")
    assert state(tmp_path / "f") == {"r.csv": "old", "r.sensitive.csv": "old"}


def test_a_second_interrupt_leaves_everything_for_the_next_run(tmp_path, monkeypatch):
    fill(tmp_path / "f", OLD)

    def interrupted(self, target):
        raise KeyboardInterrupt

    rename = Path.rename
    with monkeypatch.context() as patched:
        patched.setattr(
            Path,
            "rename",
            lambda self, target: interrupted(self, target) if self.name.endswith(".part") else rename(self, target),
        )
        patched.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt), all_or_nothing(overwrite=True) as stage:
            stage(tmp_path / "f" / "r.csv").write_text("new")
    assert "r.csv" not in state(tmp_path / "f")
    assert clear_unfinished(tmp_path / "f") == ("r.csv",)
    assert state(tmp_path / "f") == OLD


@pytest.mark.parametrize("name", ["_write", "close"])
@pytest.mark.parametrize("nth", range(4))
def test_an_interrupt_in_the_journal_leaves_nothing(tmp_path, monkeypatch, name, nth):
    """It came before anything had moved, or when all had: the folder is as it was, or done, and nothing hidden stays."""
    fill(tmp_path / "f", OLD)
    call, calls = getattr(Journal, name), []

    def interrupted(self, *words):
        calls.append(name)
        if len(calls) - 1 == nth:
            raise KeyboardInterrupt
        return call(self, *words)

    monkeypatch.setattr(Journal, name, interrupted)
    try:
        with all_or_nothing(overwrite=True, going=[tmp_path / "f" / "r.sensitive.csv"]) as stage:
            for new in NEW:
                stage(tmp_path / "f" / new).write_text("new")
    except KeyboardInterrupt:
        assert len(calls) > nth
    assert state(tmp_path / "f") in (OLD, NEW)


def test_an_interrupt_while_a_journal_begins_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(self, mode):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "chmod", interrupted)
    with pytest.raises(KeyboardInterrupt), all_or_nothing() as stage:
        stage(tmp_path / "a")
    assert state(tmp_path) == {}
