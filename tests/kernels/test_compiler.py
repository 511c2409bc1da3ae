# SPDX-License-Identifier: Apache-2.0
"""Compiled loops are kept on disk; what an earlier version kept there never makes a later one fail."""

import os
import pickle
import subprocess
import sys

import pytest

from bench.fault_matrix.limits import obey_rights

LOOP = """
from typing import Any, NamedTuple
import numpy as np
from overt.kernels.compiler import kernel

class {name}(NamedTuple):
    rows: Any

@kernel
def total(given):
    return given.rows.sum()

print(total({name}(np.arange(4))), sum(total.stats.cache_hits.values()))
"""


def run(folder, name):
    (folder / "loops.py").write_text(LOOP.format(name=name))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "kept")}
    words = [sys.executable, "-c", "import loops"]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


def test_a_loop_is_kept_and_compiled_anew_if_its_types_have_other_names(tmp_path):
    assert run(tmp_path, "Rows") == "6 0\n"
    assert run(tmp_path, "Rows") == "6 1\n"
    assert run(tmp_path, "Lines") == "6 0\n"
    assert run(tmp_path, "Lines") == "6 1\n"


@pytest.mark.parametrize("kept", ["*.nbi", "*.nbc"])
def test_a_loop_of_which_half_is_kept_is_compiled_anew(tmp_path, kept):
    assert run(tmp_path, "Rows") == "6 0\n"
    (path,) = (tmp_path / "kept").rglob(kept)
    path.write_bytes(path.read_bytes()[:-40])
    assert run(tmp_path, "Rows") == "6 0\n"
    assert run(tmp_path, "Rows") == "6 1\n"


def start(folder, **environment):
    (folder / "loops.py").write_text(LOOP.format(name="Rows"))
    words = [sys.executable, "-c", "import loops"]
    given = {**os.environ, **environment}
    return subprocess.Popen(words, cwd=folder, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_several_processes_that_compile_at_once_do_not_disturb_each_other(tmp_path):
    (tmp_path / "loops.py").write_text(LOOP.format(name="Rows"))
    running = [start(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "kept")) for _ in range(3)]
    for process in running:
        said, complained = process.communicate()
        assert said.startswith("6 "), complained
    assert run(tmp_path, "Rows") == "6 1\n"


@pytest.mark.parametrize(
    "kept", [b"", b"\0" * 200, b"\x80\x05\x95", pickle.dumps("0.0.1") + b"of another version", b"cos\nsystem\n."]
)
def test_what_is_kept_and_is_no_index_of_this_version_is_compiled_anew(tmp_path, kept):
    assert run(tmp_path, "Rows") == "6 0\n"
    (path,) = (tmp_path / "kept").rglob("*.nbi")
    path.write_bytes(kept)
    assert run(tmp_path, "Rows") == "6 0\n"
    assert run(tmp_path, "Rows") == "6 1\n"


def test_an_installation_that_can_only_be_read_compiles_in_every_process(tmp_path):
    """Neither beside the code nor in the home folder anything can be kept. What passes over rights is given up first, if there is any."""
    (tmp_path / "loops.py").write_text(LOOP.format(name="Rows"))
    (tmp_path / "home").mkdir(mode=0o500)
    tmp_path.chmod(0o500)
    given = {name: text for name, text in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    words = [sys.executable, "-c", "import loops"]
    try:
        done = subprocess.run(
            words,
            cwd=tmp_path,
            env={**given, "HOME": str(tmp_path / "home"), "PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=obey_rights,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        tmp_path.chmod(0o700)
    assert done.stdout == "6 0\n", done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "loops.py"]
