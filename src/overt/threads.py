# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/learner/test_held_out.py
"""Work in threads: compiled loops release the interpreter lock, so threads are enough.

`OVERT_THREADS` limits how many are used; the result never depends on it.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput

EVERY_SECONDS = 0.1

Returned = TypeVar("Returned")


def n_threads() -> int:
    """How many threads to use: `OVERT_THREADS`, or one per core."""
    asked = os.environ.get("OVERT_THREADS", "")
    if not asked:
        return os.cpu_count() or 1
    if not asked.isdecimal() or int(asked) < 1:
        raise InvalidInput(f"OVERT_THREADS is {asked!r}; it must be a whole number from 1 on, or unset.")
    return int(asked)


def run_watched(
    tasks: Sequence[Callable[[], Returned]], stop: NDArray[np.bool_], watch: Callable[[], None]
) -> list[Returned]:
    """Run tasks in threads, call `watch` while they run, and return their results in order.

    If anything goes wrong here, an interrupt by the user included, `stop[0]` is set and the tasks, which look at
    it, end early.
    """
    with ThreadPoolExecutor(max_workers=n_threads()) as pool:
        futures = [pool.submit(task) for task in tasks]
        try:
            while True:
                done, running = wait(futures, timeout=EVERY_SECONDS, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()  # raises what the task raised
                if not running:
                    return [future.result() for future in futures]
                watch()
        except BaseException:
            stop[0] = True
            raise


def map_in_threads(work: Callable[..., Returned], *arguments: Iterable[Any]) -> list[Returned]:
    """What `map` gives, worked out in threads."""
    with ThreadPoolExecutor(max_workers=n_threads()) as pool:
        return list(pool.map(work, *arguments))


def in_threads(work: Callable[..., Returned], *arrays: NDArray[Any]) -> list[Returned]:
    """The results of some work on parts of arrays of the same length, one part for each thread, in order."""
    cuts = np.linspace(0, len(arrays[0]), n_threads() + 1).astype(np.int64)
    parts = [[array[begin:end] for array in arrays] for begin, end in pairwise(cuts)]
    return map_in_threads(lambda part: work(*part), parts)
