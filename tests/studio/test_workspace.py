# SPDX-License-Identifier: Apache-2.0
"""Working copies are private, gone at the end, and after a crash at the next start."""

import stat
import subprocess
import sys
import tempfile
from pathlib import Path

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


def test_a_note_of_somebody_else_removes_nothing(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "in-use").write_text("")
    (tmp_path / f"{PREFIX}{'0' * 16}" / "one").mkdir(parents=True)
    for text in (str(kept), "kept", "\0", ""):
        (tmp_path / f"{PREFIX}{'0' * 16}" / "one" / ".saving").write_text(text)
        with Workspace(tmp_path):
            assert kept.is_dir()
