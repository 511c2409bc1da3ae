# SPDX-License-Identifier: Apache-2.0
"""Working copies are private, gone at the end, and after a crash at the next start."""

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from overt.studio.workspace import PREFIX, Workspace


def test_a_workspace_is_private_and_goes_at_the_end(tmp_path):
    with Workspace(tmp_path) as workspace:
        assert stat.S_IMODE(workspace.folder.stat().st_mode) == 0o700
        (workspace.make_folder("one") / "table.csv").write_text("secret")
        with tempfile.TemporaryFile() as spooled:
            assert str(workspace.folder) in str(Path(f"/proc/self/fd/{spooled.fileno()}").readlink())
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_studio_left_goes_at_the_next_start(tmp_path):
    script = (
        "import os, sys; from pathlib import Path; from overt.studio.workspace import Workspace\n"
        "w = Workspace(Path(sys.argv[1])).__enter__(); (w.folder / 'table.csv').write_text('secret'); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    [left] = tmp_path.iterdir()
    assert (left / "table.csv").is_file()
    with Workspace(tmp_path) as workspace:
        assert workspace.removed == 1
        assert not left.exists()


def test_a_studio_that_runs_is_left_alone(tmp_path):
    with Workspace(tmp_path) as first, Workspace(tmp_path) as second:
        assert second.removed == 0
        assert first.folder.is_dir()


def test_a_folder_of_the_same_name_that_is_not_ours_is_left_alone(tmp_path):
    (tmp_path / f"{PREFIX}mine").mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(elsewhere)
    with Workspace(tmp_path) as workspace:
        assert workspace.removed == 0
    assert (tmp_path / f"{PREFIX}mine").is_dir()
    assert elsewhere.is_dir()


def test_what_a_killed_studio_had_begun_to_save_elsewhere_goes_at_the_next_start(tmp_path):
    elsewhere, place = tmp_path / "elsewhere", tmp_path / "elsewhere" / ".study.unfinished-0123"
    elsewhere.mkdir()
    script = (
        "import os, sys; from pathlib import Path; from overt.studio.workspace import SAVING, Workspace\n"
        "from overt.io.private_folder import hold\n"
        "w, place = Workspace(Path(sys.argv[1])).__enter__(), Path(sys.argv[2])\n"
        "(w.make_folder('one') / SAVING).write_text(str(place))\n"
        "place.mkdir(); hold(place); (place / 'table.csv').write_text('secret'); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path), str(place)], check=False)
    assert (place / "table.csv").is_file()
    with Workspace(tmp_path):
        assert list(elsewhere.iterdir()) == []


def test_a_note_names_one_folder_and_no_pattern(tmp_path):
    house, odd = tmp_path / "house", tmp_path / ".a[1].unfinished-0123"
    note = tmp_path / f"{PREFIX}{'0' * 16}" / "one" / ".saving"
    note.parent.mkdir(parents=True)
    for folder in (house, odd):
        folder.mkdir()
        (folder / "in-use").write_text("")
        note.write_text(str(tmp_path / "[.unfinished-]*" if folder == house else odd))
        with Workspace(tmp_path):
            assert folder.exists() == (folder == house)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only an administrator can give files away")
@pytest.mark.parametrize("whose", ["note", "folder"])
def test_a_note_of_another_user_is_not_read(tmp_path, whose):
    place = tmp_path / ".study.unfinished-0123"
    place.mkdir()
    (place / "in-use").write_text("")
    folder = tmp_path / f"{PREFIX}{'0' * 16}"
    note = folder / "one" / ".saving"
    note.parent.mkdir(parents=True)
    note.write_text(str(place))
    os.chown(note if whose == "note" else folder, 65534, 65534)
    with Workspace(tmp_path):
        assert place.is_dir()


def test_a_note_that_is_no_file_holds_nobody_up(tmp_path):
    """Whoever opens a pipe waits for somebody at its other end."""
    note = tmp_path / f"{PREFIX}{'0' * 16}" / "one" / ".saving"
    note.parent.mkdir(parents=True)
    os.mkfifo(note)
    script = "import sys; from pathlib import Path; from overt.studio.workspace import Workspace\nwith Workspace(Path(sys.argv[1])): pass"
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True, timeout=30)


def test_a_note_of_somebody_else_removes_nothing(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "in-use").write_text("")
    (tmp_path / f"{PREFIX}{'0' * 16}" / "one").mkdir(parents=True)
    for text in (str(kept), "kept", "\0", ""):
        (tmp_path / f"{PREFIX}{'0' * 16}" / "one" / ".saving").write_text(text)
        with Workspace(tmp_path):
            assert kept.is_dir()
