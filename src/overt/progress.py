# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_progress.py
"""Progress: how long work says how far it is. The library itself is silent."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]  # (stage, done, total), called from any thread


def silent(stage: str, done: int, total: int) -> None:
    """Say nothing."""
