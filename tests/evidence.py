# SPDX-License-Identifier: Apache-2.0
"""Data that some tests need and that are not ours to publish. They lie beside the checkout, in `../shared/data`.

What the docs say of other tools' optima is shown on them. A test says which it needs: `@pytest.mark.evidence("adult")`. Where they
are missing it is skipped, and fails where CI is set in the environment, as CI services do. The summary counts both.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
ADULT = FOLDER / "adult"


HIERARCHIES = ("age", "education", "marital-status", "native-country", "occupation", "race", "salary-class", "sex", "workclass")  # fmt: skip


@dataclass(frozen=True)
class Evidence:
    """Data beside the checkout."""

    folder: Path
    files: tuple[str, ...]
    origin: str  # where they come from, for people who want to get them

    @property
    def missing(self) -> list[str]:
        return [name for name in self.files if not (self.folder / name).exists()]


NEEDED = {
    "adult": Evidence(
        ADULT,
        (
            "adult.csv.gz",
            *(f"adult_hierarchy_{name}.csv" for name in HIERARCHIES),
            "releases/arx_distinct5_dm.csv.gz",
            "releases/arx_local_distinct5_loss.csv.gz",
        ),
        "UCI Adult as the folder data/ of github.com/arx-deidentifier/arx has it (30,162 rows, ';' between cells), with its "
        "hierarchies, and releases of it that ARX made",
    ),
}


def require(name: str) -> None:
    """End a test that needs data which are not there: skipped on a person's machine, failed in CI."""
    evidence = NEEDED[name]
    if evidence.missing:
        words = (
            f"needs ../shared/data/{evidence.folder.name}/{evidence.missing[0]}, which is not there: {evidence.origin}"
        )
        if os.environ.get("CI"):
            pytest.fail(words, pytrace=False)
        pytest.skip(words)


def summary(reports) -> str | None:
    """How many tests of those that need data beside the checkout had them."""
    ours = [report for report in reports if "evidence" in getattr(report, "keywords", ())]
    n_skipped = sum(report.skipped for report in ours)
    n_run = sum(not report.skipped and report.when == "call" for report in ours)
    n_failed = sum(report.failed and report.when == "setup" for report in ours)
    if not ours:
        return None
    return f"evidence beside the checkout (../shared/data): {n_run} tests had it, {n_skipped + n_failed} did not"
