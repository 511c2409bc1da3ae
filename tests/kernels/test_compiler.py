# SPDX-License-Identifier: Apache-2.0
"""Compiled loops are kept on disk; what an earlier version kept there never makes a later one fail."""

import os
import subprocess
import sys

import pytest

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
