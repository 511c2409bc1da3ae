# SPDX-License-Identifier: Apache-2.0
"""Clocks that jump: back by decades, ahead by decades, and to and fro while a command runs.

Debian's `faketime` shows a process another time of day; what counts seconds (the monotonic clock) goes on as it does when somebody sets
a clock. Where it is not installed, this class is empty and the matrix says so.
"""

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from bench.fault_matrix.kills import Fault
from bench.fault_matrix.processes import start_alone
from bench.fault_matrix.scenes import Prepared, Stage
from bench.fault_matrix.verdicts import OK, why_bad_words, why_not_done

TIMES = (
    "1970-01-02 00:00:00",
    "1999-12-31 23:59:59",
    "2000-02-29 12:00:00",
    "2038-01-19 03:14:07",
    "2199-12-31 23:59:59",
)
_FOLDERS = ("/usr/lib", "/usr/local/lib")


@cache
def find_library() -> Path | None:
    """Debian's libfaketime."""
    found = [path for folder in _FOLDERS for path in Path(folder).glob("**/faketime/libfaketime.so.1")]
    return found[0] if found else None


def jumped(stage: Stage, prepared: Prepared, n: int, draw: random.Random) -> Iterator[Fault]:
    """A command under another time, every second one under a clock that is set anew while it runs."""
    library = find_library()
    if library is None:
        return
    for number in range(n):
        folder, scratch = stage.fresh(prepared), stage.scratch()
        scratch.mkdir(parents=True)
        said = scratch / "time"
        first, second = draw.sample(TIMES, 2)
        said.write_text(f"@{first}\n")
        environment = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(said),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_RESET": "1",
        }
        running = start_alone(prepared.scene.words, folder, scratch, environment=environment)
        what = f"it is {first}"
        if number % 2:
            _set_after(said, f"@{second}\n", draw.uniform(0.3, 0.8 + prepared.seconds))
            what += f", then {second}"
        ended = running.wait()
        problem = why_bad_words(ended, {OK}) or why_not_done(folder, scratch, prepared)
        yield Fault("clock jump", prepared.scene.name, what, problem)
        stage.strike()


def _set_after(file: Path, text: str, seconds: float) -> None:
    import time

    time.sleep(seconds)
    file.write_text(text)
