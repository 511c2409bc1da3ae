# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_manifest.py
"""Paths as words: how a file is named from a folder, and the ending of its name."""

import os
from pathlib import Path


def seen_from(folder: Path, path: Path) -> str:
    """The path of a file relative to a folder, with forward slashes."""
    return Path(os.path.relpath(path, folder)).as_posix()


def ending_of(path: Path) -> str:
    """The ending of a file's name, `.csv` or `.csv.gz`."""
    return "".join(path.suffixes[-2:] if path.suffix.lower() == ".gz" else path.suffixes[-1:])
