# SPDX-License-Identifier: Apache-2.0
"""The single file that `make single-file` writes runs the demo with nothing beside it: no package installed, no network."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BASE = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"


def without_network() -> list[str]:
    """Words that run a command in a namespace without a network, where the system allows it."""
    words = ["unshare", "--net", "--map-root-user"]
    allowed = (
        shutil.which("unshare") and subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
    )
    return words if allowed else []


@pytest.mark.slow
def test_the_single_file_runs_the_demo_by_itself(tmp_path, record_property):
    made = tmp_path / "overt.pex"
    words = [sys.executable, "-m", "pex", "--no-compress", "--console-script", "overt", "--venv", "prepend"]
    built = subprocess.run(
        [*words, "--output-file", made, f"{ROOT}[excel,studio]"], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    bare = {"HOME": str(tmp_path), "PATH": os.defpath, "PEX_ROOT": str(tmp_path / "pex"), "NUMBA_DISABLE_JIT": "1"}
    alone = without_network()
    done = subprocess.run(
        [*alone, BASE, made, "demo", "--rows", "300", "--into", "tour"],
        cwd=tmp_path,
        env=bare,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "findings are as claimed, read back from the files" in done.stdout
    assert (tmp_path / "tour" / "release.report.html").exists()
    where = "without a network" if alone else "with a network, because a namespace without one is not allowed here"
    record_property("counted", f"the single file ran the demo {where}")
