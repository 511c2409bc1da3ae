# SPDX-License-Identifier: Apache-2.0
"""A private folder that goes when the work is done, or, after a crash, when the next work begins."""

import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from overt.errors import InvalidInput
from overt.io.private_folder import LOCK, PREFIX, PrivateFolder, remove_folder

CRASH = """
import os, sys
from pathlib import Path
from overt.io.private_folder import PrivateFolder
folder = PrivateFolder(Path(sys.argv[1])).folder
(folder / "rows").write_text("Kanarienvogel")
os._exit(9)
"""


def test_only_this_user_can_read_it_and_it_goes(tmp_path):
    with PrivateFolder(tmp_path) as work:
        assert stat.S_IMODE(work.folder.stat().st_mode) == 0o700
        work.new_folder().mkdir()
        with PrivateFolder(tmp_path) as other:  # a living one is left alone
            assert other.cleared == 0
            assert work.folder.exists()
    assert list(tmp_path.iterdir()) == []


def test_what_a_crash_left_goes_at_the_next_start(tmp_path):
    subprocess.run([sys.executable, "-c", CRASH, str(tmp_path)], check=False, capture_output=True)
    (left,) = tmp_path.glob(f"{PREFIX}*")
    assert (left / "rows").exists()
    (tmp_path / f"{PREFIX}not-ours").write_text("a file of this name is no workspace")
    with PrivateFolder(tmp_path) as work:
        assert work.cleared == 1
        assert not left.exists()
    assert [path.name for path in tmp_path.iterdir()] == [f"{PREFIX}not-ours"]


def test_a_folder_that_another_start_takes_for_abandoned_is_made_again(tmp_path, monkeypatch):
    """Between its making and its lock it is empty, as what a killed process leaves."""
    change, taken = Path.chmod, []

    def chmod(path, mode, **how):
        if not taken:
            taken.append(path)
            path.rmdir()
        change(path, mode, **how)

    monkeypatch.setattr(Path, "chmod", chmod)
    with PrivateFolder(tmp_path) as made:
        assert taken and made.folder != taken[0] and (made.folder / LOCK).exists()


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="make it first"):
        PrivateFolder(tmp_path / "nowhere")


def test_a_kill_while_it_is_removed_leaves_what_the_next_start_removes(tmp_path):
    """The lock goes last: a folder without one would never be known for ours."""
    kills_itself = CRASH.replace("os._exit(9)", "") + (
        "import shutil, signal\n"
        "from overt.io import private_folder\n"
        "(folder / 'more').mkdir(); (folder / 'more' / 'rows').write_text('Kanarienvogel')\n"
        "shutil.rmtree = lambda *of, **how: os.kill(os.getpid(), signal.SIGKILL)\n"
        "private_folder._remove(folder)\n"
    )
    subprocess.run([sys.executable, "-c", kills_itself, str(tmp_path)], check=False, capture_output=True)
    (left,) = tmp_path.glob(f"{PREFIX}*")
    assert (left / LOCK).exists() and (left / "more" / "rows").exists()
    with PrivateFolder(tmp_path) as work:
        assert work.cleared == 1
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_of_ours_goes_and_one_with_another_name_stays(tmp_path):
    (tmp_path / f"{PREFIX}{'0' * 16}").mkdir()
    (tmp_path / f"{PREFIX}somebody").mkdir()
    (tmp_path / f"{PREFIX}{'1' * 16}").mkdir()
    (tmp_path / f"{PREFIX}{'1' * 16}" / "theirs").write_text("kept")
    PrivateFolder(tmp_path).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{PREFIX}{'1' * 16}", f"{PREFIX}somebody"]


def test_what_cannot_be_removed_keeps_its_lock_for_a_later_start(tmp_path, monkeypatch):
    work = PrivateFolder(tmp_path)
    (work.folder / "rows").mkdir()
    monkeypatch.setattr("overt.io.private_folder.remove_folder", lambda folder: None)  # no handle is left to open it
    work.close()
    assert (work.folder / LOCK).exists()
    monkeypatch.undo()
    PrivateFolder(tmp_path).close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other limits")
def test_a_folder_goes_also_if_hardly_a_file_can_be_opened(tmp_path):
    """A removal that opens every folder on its way would leave what it cannot open."""
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    (folder / "a" / "b" / "c").mkdir(parents=True)
    elsewhere.mkdir()
    for place in (folder, folder / "a", folder / "a" / "b" / "c", elsewhere):
        (place / "part").write_text("secret")
    (folder / "link").symlink_to(elsewhere)
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    spare = os.open(os.devnull, os.O_RDONLY)
    os.close(spare)  # the lowest number that is free
    resource.setrlimit(resource.RLIMIT_NOFILE, (spare + 1, usual[1]))
    try:
        remove_folder(folder)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, usual)
    assert not folder.exists() and (elsewhere / "part").exists()


def test_an_interrupt_while_it_begins_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(folder):
        raise KeyboardInterrupt

    monkeypatch.setattr("overt.io.private_folder.hold", interrupted)
    with pytest.raises(KeyboardInterrupt):
        PrivateFolder(tmp_path)
    assert list(tmp_path.iterdir()) == []
