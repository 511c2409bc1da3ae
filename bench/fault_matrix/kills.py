# SPDX-License-Identifier: Apache-2.0
"""Kills: at a change of the disk, at a random moment, and politely."""

import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.fault_matrix.processes import Ended, start_alone, start_forked
from bench.fault_matrix.scenes import Prepared, Stage
from bench.fault_matrix.verdicts import (
    DATA,
    INTERRUPTED,
    OK,
    why_bad_words,
    why_neither,
    why_not_done,
    why_torn,
)


@dataclass(frozen=True)
class Fault:
    """One injected fault and what was wrong afterwards; nothing, if all was well."""

    kind: str
    scene: str
    what: str
    problem: str


def killed_at_changes(stage: Stage, prepared: Prepared, n: int, draw: random.Random) -> Iterator[Fault]:
    """Kill -9 just before a change of the disk, drawn without repetition: every step of writing can be the last."""
    places = draw.sample(range(1, prepared.n_changes + 1), min(n, prepared.n_changes))
    for place in places:
        folder = stage.fresh(prepared)
        how = {"kill_at": place, "environment": prepared.scene.environment}
        ended = start_forked(prepared.scene.words, folder, stage.scratch(), **how).wait()
        if ended.code == -signal.SIGKILL:
            problem = _after_a_kill(prepared, folder, stage.scratch(), draw)
            what = f"at change {place} of {prepared.n_changes}"
            yield Fault("kill -9 at a change of the disk", prepared.scene.name, what, problem)
        stage.strike()


def killed_at_moments(stage: Stage, prepared: Prepared, n: int, draw: random.Random, longest: float) -> Iterator[Fault]:
    """Kill -9 of a process of its own at a random moment of its run."""
    for _ in range(n):
        folder, moment = stage.fresh(prepared), draw.uniform(0.0, longest)
        how = {"kill_after": moment, "environment": prepared.scene.environment}
        ended = start_alone(prepared.scene.words, folder, stage.scratch(), **how).wait()
        if ended.code == -signal.SIGKILL:
            problem = _after_a_kill(prepared, folder, stage.scratch(), draw)
        else:
            problem = why_bad_words(ended, {OK}) or why_not_done(folder, stage.scratch(), prepared)
        yield Fault("kill -9 at a random moment", prepared.scene.name, f"after {moment:.2f} s", problem)
        stage.strike()


def interrupted(stage: Stage, prepared: Prepared, n: int, draw: random.Random) -> Iterator[Fault]:
    """Ctrl-C and a polite kill at a change of the disk: the command says so, and leaves everything as it was."""
    places = draw.sample(range(1, prepared.n_changes + 1), min(n, prepared.n_changes))
    for place in places:
        how = draw.choice((signal.SIGINT, signal.SIGTERM))
        folder = stage.fresh(prepared)
        more = {"kill_at": place, "with_signal": how, "environment": prepared.scene.environment}
        ended = start_forked(prepared.scene.words, folder, stage.scratch(), **more).wait()
        problem = why_bad_words(ended, {OK, INTERRUPTED})
        if not problem and ended.code == OK:  # it came when all was done
            problem = why_not_done(folder, stage.scratch(), prepared)
        elif not problem:
            problem = why_neither(folder, stage.scratch(), prepared)
        what = f"{how.name} at change {place} of {prepared.n_changes}"
        yield Fault("interrupt", prepared.scene.name, what, problem)
        stage.strike()


def _after_a_kill(prepared: Prepared, folder: Path, scratch: Path, draw: random.Random) -> str:
    """What is wrong just after a kill, and after the next command in that folder."""
    why = why_torn(folder, scratch, prepared)
    if why:
        return why
    words, can_refuse = list(prepared.scene.words), "--overwrite" in prepared.scene.words
    if can_refuse and words[0] == "run" and draw.random() < 0.5:
        words.remove("--overwrite")
        ended = _again(words, folder, scratch, prepared)
        why = why_bad_words(ended, {OK, DATA})
        if not why and ended.code == DATA:
            why = why_neither(folder, scratch, prepared)
    else:
        if not can_refuse and words[0] == "run":  # nothing was there at first
            words.append("--overwrite")
        ended = _again(words, folder, scratch, prepared)
        why = why_bad_words(ended, {OK}) or why_not_done(folder, scratch, prepared)
    return f"after the next start, {why}" if why else ""


def _again(words: list[str], folder: Path, scratch: Path, prepared: Prepared) -> Ended:
    return start_forked(words, folder, scratch, environment=prepared.scene.environment).wait()
