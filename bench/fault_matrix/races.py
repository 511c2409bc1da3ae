# SPDX-License-Identifier: Apache-2.0
"""Two at once: several processes that write to the same place, and budgets that only one of them can have."""

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

from bench.fault_matrix.folders import visible, why_not_whole
from bench.fault_matrix.kills import Fault
from bench.fault_matrix.processes import start_forked
from bench.fault_matrix.scenes import Prepared, Stage
from bench.fault_matrix.verdicts import DATA, OK, UNREACHABLE, why_bad_words, why_not_done

AT_ONCE = 3


def raced(stage: Stage, prepared: Prepared, n: int, draw: random.Random) -> Iterator[Fault]:
    """The same command several times at once: one or more do it whole, the others are refused, and nothing is mixed."""
    for _ in range(n):
        folder = stage.fresh(prepared)
        scratches = [stage.scratch().with_name(f"{stage.scratch().name}-{i}") for i in range(AT_ONCE)]
        running = [start_forked(prepared.scene.words, folder, scratch) for scratch in scratches]
        ended = [one.wait() for one in running]
        problem = next(filter(None, (why_bad_words(one, {OK, DATA, UNREACHABLE}) for one in ended)), "")
        if not problem and all(one.code != OK for one in ended):
            problem = "nobody finished"
        if not problem:
            problem = why_not_done(folder, scratches[0], prepared) or why_not_whole(visible(folder))
        if not problem and "people.csv.budget.json" in prepared.old:
            problem = _why_wrong_account(folder, prepared, sum(one.code == OK for one in ended))
        finished = sum(one.code == OK for one in ended)
        yield Fault("two runs on one output", prepared.scene.name, f"{finished} of {AT_ONCE} finished", problem)
        stage.strike()


def one_budget(stage: Stage, prepared: Prepared, n: int) -> Iterator[Fault]:
    """Several private runs at once, and budget for one: one is made, and the others spend nothing."""
    for _ in range(n):
        folder = stage.fresh(prepared)
        budget = folder / "people.csv.budget.json"
        limit = start_forked(
            ["budget", "people.csv", "--epsilon", "3.5", "--delta", "0.5", "--quiet"], folder, stage.scratch()
        )
        assert limit.wait().code == OK
        homes = [folder.with_name(f"{folder.name}-{i}") for i in range(AT_ONCE)]
        for home in homes:  # recipes of their own, and the same data with its ledger
            home.mkdir()
            shutil.copy(folder / "sex.csv", home)
            text = (folder / "new.toml").read_text("utf-8").replace("people.csv", str(folder / "people.csv"))
            (home / "new.toml").write_text(text, "utf-8")
        running = [start_forked(prepared.scene.words, home, home / "scratch") for home in homes]
        ended = [one.wait() for one in running]
        problem = next(filter(None, (why_bad_words(one, {OK, UNREACHABLE}) for one in ended)), "")
        n_spent = _n_spent(budget.read_bytes()) - _n_spent(prepared.old["people.csv.budget.json"])
        if not problem and ([one.code for one in ended].count(OK), n_spent) != (1, 1):
            problem = f"{[one.code for one in ended]} and {n_spent} entries in the ledger"
        yield Fault("two runs on one budget", prepared.scene.name, f"{AT_ONCE} at once", problem)
        stage.strike()


def _why_wrong_account(folder: Path, prepared: Prepared, n_finished: int) -> str:
    name = "people.csv.budget.json"
    n = _n_spent((folder / name).read_bytes()) - _n_spent(prepared.old[name])
    if "private" in prepared.scene.name and n < n_finished:
        return f"{n_finished} releases, and {n} entries in the ledger"
    return ""


def _n_spent(ledger: bytes) -> int:
    return sum(entry["kind"] == "spent" for entry in json.loads(ledger)["entries"])
