# SPDX-License-Identifier: Apache-2.0
"""Other Python programs, timed beside us when they are installed (none is needed)."""

import time
from collections.abc import Iterator
from importlib.util import find_spec

import polars as pl

from bench.adult import EIGHT


def time_on_adult(frame: pl.DataFrame) -> Iterator[tuple[str, float]]:
    """(name, seconds) of 5-anonymity on Adult, 8 quasi-identifiers, for every peer at hand."""
    if find_spec("anonypy"):
        import anonypy

        data = frame.to_pandas()
        for name in EIGHT:
            if name != "age":
                data[name] = data[name].astype("category")
        begin = time.perf_counter()
        anonypy.Preserver(data, EIGHT, "salary-class").anonymize_k_anonymity(k=5)
        yield "anonypy", time.perf_counter() - begin
    if find_spec("anonypyx"):
        import anonypyx

        data = frame.to_pandas()
        for name in EIGHT:
            if name != "age":
                data[name] = data[name].astype("category")
        begin = time.perf_counter()
        anonypyx.Anonymizer(data, k=5, feature_columns=EIGHT, sensitive_column="salary-class").anonymize()
        yield "anonypyx", time.perf_counter() - begin
