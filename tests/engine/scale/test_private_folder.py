# SPDX-License-Identifier: Apache-2.0
"""A private folder that goes when the work is done, or, after a crash, when the next work begins."""

import stat
import subprocess
import sys

import pytest

from overt.engine.scale.private_folder import PREFIX, PrivateFolder
from overt.errors import InvalidInput

CRASH = """
import os, sys
from pathlib import Path
from overt.engine.scale.private_folder import PrivateFolder
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


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="make it first"):
        PrivateFolder(tmp_path / "nowhere")
