# SPDX-License-Identifier: Apache-2.0
"""How the benchmarks measure: best of several runs, as multiples of a yardstick taken in the same process.

The yardstick Y(n) is a stable argsort of n random 64-bit keys: the least that anything must do which groups n rows.
Seconds differ from machine to machine; multiples of Y differ much less.
"""

import gc
import json
import os
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"


@cache
def yardstick(n: int) -> float:
    """Y(n): seconds for `numpy.argsort(keys, kind="stable")` of n random 64-bit keys, best of five."""
    keys = np.random.default_rng(0).integers(0, 2**63, n)
    return best_of(5, lambda: np.argsort(keys, kind="stable"))


def best_of(repeats: int, work: Callable[[], Any]) -> float:
    """The least wall time of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        gc.collect()
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


@contextmanager
def threads(n: int):
    """Limit Overt's own threads."""
    before = os.environ.get("OVERT_THREADS")
    os.environ["OVERT_THREADS"] = str(n)
    try:
        yield
    finally:
        if before is None:
            del os.environ["OVERT_THREADS"]
        else:
            os.environ["OVERT_THREADS"] = before


@dataclass
class Line:
    """One figure: what was measured, what it came to, and the bar it is held against."""

    what: str
    value: float
    unit: str
    bar: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        return None if self.bar is None else self.value <= self.bar


@dataclass
class Sheet:
    """The figures of one benchmark, printed as they come and kept as JSON."""

    name: str
    lines: list[Line] = field(default_factory=list)

    def __post_init__(self) -> None:
        print(f"\n{self.name}\n{'-' * len(self.name)}", flush=True)

    def add(self, what: str, value: float, unit: str, *, bar: float | None = None, note: str = "") -> None:
        """Note a figure; a bar is the most it may be."""
        line = Line(what, float(value), unit, bar, note)
        self.lines.append(line)
        verdict = {None: "", True: "met", False: "MISSED"}[line.met]
        against = "" if bar is None else f"bar {bar:g} {verdict}"
        print(f"{what:<80} {value:>12,.6g} {unit:<8} {against:<18} {note}", flush=True)

    def time(self, what: str, n: int, work: Callable[[], Any], *, bar: float | None = None, repeats: int = 3) -> float:
        """Time some work on n rows and note it as a multiple of Y(n); returns the seconds."""
        seconds = best_of(repeats, work)
        self.add(what, seconds / yardstick(n), "Y", bar=bar, note=f"{seconds:.3f} s; Y = {yardstick(n):.3f} s")
        return seconds

    def save(self) -> None:
        """Keep the figures under bench/results."""
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{self.name.split(':')[0].strip().lower().replace(' ', '_')}.json"
        path.write_text(json.dumps([asdict(line) for line in self.lines], indent=1))
