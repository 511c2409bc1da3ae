# SPDX-License-Identifier: Apache-2.0
"""The short part of the fault matrix (bench/faults.py), with its seed; the whole of it is `python -m bench faults`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


def test_nothing_breaks_under_the_short_part_of_the_fault_matrix(record_property):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    words = [sys.executable, "-m", "bench", "faults", "--quick"]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0 and "BROKEN" not in done.stdout, done.stdout + done.stderr
    found = re.search(r"(\d+)  faults injected with seed \d+, 0 broke something", done.stdout)
    assert found is not None and int(found[1]) >= 40, done.stdout
    record_property(
        "counted", f"faults injected, a short part of the matrix: {found[1]}, of which none broke something"
    )
