# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_manifest.py
"""Paths as words: how a file is named from a folder, and the ending of its name."""

import os
from pathlib import Path

PACKED = (".gz", ".zip")
ORDINARY = (
    *(".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".arrow", ".ipc", ".feather", ".jsonl", ".ndjson"),
    *(".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".db", ".db3", ".sqlite", ".sqlite3"),
)


def seen_from(folder: Path, path: Path) -> str:
    """The path of a file relative to a folder, with forward slashes."""
    return Path(os.path.relpath(path, folder)).as_posix()


def ending_of(path: Path) -> str:
    """The ending of a file's name, `.csv` or `.csv.gz`."""
    return "".join(path.suffixes[-2:] if path.suffix.lower() == ".gz" else path.suffixes[-1:])


def input_name(path: Path) -> str:
    """What the data is called in public: `input` and the ending of its name, if that is an ordinary one; any other says what somebody called it.

    >>> input_name(Path("ward 7.csv.gz")), input_name(Path("patients.of dr meyer")), input_name(Path("of dr meyer.zip"))
    ('input.csv.gz', 'input', 'input.zip')
    """
    packed = path.suffix if path.suffix.lower() in PACKED else ""
    inner = Path(path.stem if packed else path.name).suffix
    return f"input{inner if inner.lower() in ORDINARY else ''}{packed}"
