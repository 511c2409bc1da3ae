# SPDX-License-Identifier: Apache-2.0
"""What must hold after a fault, as one sentence about what does not; empty if all does."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from bench.fault_matrix.folders import (
    hidden,
    is_old,
    left_in,
    only_tables,
    open_to_others,
    visible,
    why_not_new,
    why_not_whole,
)
from bench.fault_matrix.processes import Ended
from bench.fault_matrix.scenes import PERSON, VALUE, Prepared
from overt.audience import PRINTED

OK, FAILED, USAGE, DATA, UNREACHABLE, TOO_LARGE, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
_SENTENCE = re.compile(r"\S.*[.)\]:]$|\S.* See: overt --help$")


def why_bad_words(ended: Ended, codes: Collection[int]) -> str:
    """Why the code or the words of a command are not what they must be: one line, no traceback, nobody's value."""
    if ended.code not in codes:
        return f"exit code {ended.code} and not {sorted(codes)}: {ended.complained[-300:]!r}"
    lines = ended.complained.splitlines()
    if ended.code in (DATA, UNREACHABLE, TOO_LARGE) and lines[:1] == [PRINTED]:
        lines = lines[1:]  # what was counted in the data says first whom it is for
    if PERSON in ended.complained or VALUE in ended.complained:
        return "a message holds somebody's value"
    if "Traceback" in ended.complained or "panicked" in ended.complained:
        return f"a traceback: {ended.complained[-200:]!r}"
    most = len(lines) if ended.code == USAGE else 1  # of a recipe every mistake is named, each in a line
    if ended.code not in (OK, FAILED) and (len(lines) != max(1, most) or not all(map(_SENTENCE.match, lines))):
        return f"not one sentence: {ended.complained[-400:]!r}"
    return ""


def why_not_untouched(folder: Path, scratch: Path, old: Mapping[str, bytes]) -> str:
    """Why a folder is not as it was before a command that failed and could clean up."""
    found = visible(folder)
    if not is_old(found, old):
        changed = sorted(name for name in {*found, *old} if found.get(name) != old.get(name))
        return f"the earlier output changed: {changed}"
    return why_left(folder, scratch)


def why_not_done(folder: Path, scratch: Path, prepared: Prepared) -> str:
    """Why a folder does not hold a whole new output and nothing else."""
    why = why_not_new(visible(folder), prepared.old, prepared.new)
    return f"no whole new output: {why}" if why else why_left(folder, scratch)


def why_torn(folder: Path, scratch: Path, prepared: Prepared) -> str:
    """Why a folder in which a process was just killed is torn: a claim beside what it is not about, or data that others can read."""
    if not prepared.scene.is_database:
        why = why_not_whole(visible(folder))
        if why:
            return f"just after the kill, {why}"
    readable = open_to_others([*hidden(folder), *(path for path in (scratch / "tmp").rglob("*") if path.is_file())])
    return f"others can read {readable}" if readable else ""


def why_neither(folder: Path, scratch: Path, prepared: Prepared) -> str:
    """Why a folder holds neither the old output nor a whole new one."""
    found = visible(folder)
    if is_old(found, prepared.old):
        return why_left(folder, scratch)
    if prepared.scene.is_database and only_tables(found, prepared.old, prepared.new):
        return why_left(folder, scratch)  # docs/reference/command-line.md, Files of a run
    why = why_not_new(found, prepared.old, prepared.new)
    return f"neither the old output nor a new one: {why}" if why else why_left(folder, scratch)


def why_left(folder: Path, scratch: Path) -> str:
    """What a command left behind, hidden in the folder or among temporary files."""
    left = [path.name for path in hidden(folder)]
    if left:
        return f"left behind: {left}"
    temporary = left_in(scratch)
    return f"left among temporary files: {temporary}" if temporary else ""
