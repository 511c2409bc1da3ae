# SPDX-License-Identifier: Apache-2.0
"""Small runs give the same releases and the same findings with checks of bounds, with the compiler off, and as always."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
PROGRAM = Path(__file__).with_name("kernel_runs.py")
TESTS = Path(__file__).parents[1]
SRC = str(TESTS.parent / "src")
KERNELS = TESTS.parent / "src" / "overt" / "kernels"


def run(*words, **environment):
    words = [sys.executable, str(PROGRAM), *words]
    given = {**os.environ, "PYTHONPATH": os.pathsep.join([SRC, str(TESTS)]), **environment}
    done = subprocess.run(words, env=given, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) > 15
    return lines


def test_no_loop_leaves_its_arrays_and_none_needs_the_compiler(tmp_path):
    usual = run()
    *without, called = run(NUMBA_DISABLE_JIT="1")
    assert without == usual
    modules = {path.stem for path in KERNELS.glob("*.py")} - {"__init__", "compiler"}
    assert set(called.removeprefix("called: ").split()) == modules, (
        "a module of loops is not reached: add what calls it to kernel_runs.py"
    )
    checked = run("few", NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))
    assert set(checked) < set(usual)


def test_the_check_of_bounds_can_fail(tmp_path):
    """Else the test above would say nothing."""
    (tmp_path / "beyond.py").write_text(
        "import numpy as np\nfrom overt.kernels.compiler import kernel\n"
        "@kernel\ndef beyond(given, place):\n    return given[place]\n"
        "print(beyond(np.arange(3), 3))\n"
    )
    environment = {**os.environ, "PYTHONPATH": SRC, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    words = [sys.executable, "-c", "import beyond"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "IndexError" in done.stderr
