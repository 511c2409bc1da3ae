# SPDX-License-Identifier: Apache-2.0
"""The public Adult data, if it is beside the project (../shared/data/adult)."""

from pathlib import Path

import polars as pl

import overt

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"
SEVEN = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
EIGHT = [*SEVEN, "occupation"]


def is_there() -> bool:
    return (FOLDER / "adult.csv.gz").exists()


def read(*, quasi_identifiers: list[str], sensitive: list[str] | None = None) -> overt.Table:
    """Adult as a table, with its own hierarchies."""
    hierarchies = {
        name: overt.Levels.read(FOLDER / f"adult_hierarchy_{name}.csv")
        for name in [*quasi_identifiers, *(sensitive or [])]
    }
    return overt.read_file(
        FOLDER / "adult.csv.gz",
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive or (),
        hierarchies=hierarchies,
    )


def frame() -> pl.DataFrame:
    return pl.read_csv(FOLDER / "adult.csv.gz", separator=";")
