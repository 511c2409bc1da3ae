# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/replay/test_engines.py
"""Any method at all: a chain on the tables that give a release, which runs the method again at every step.

Paper       Not in a paper. Metropolis et al., "Equation of State Calculations by Fast Computing Machines", 1953.
Implements  One to three pairs of values swap places inside released groups (a suppressed row takes any value), and the method
            is run on the table that makes: along every way its coins can fall, if it draws any. A table counts with
            the chance that it leads to the release.
Departs     nothing
Guarantee   Every table counted can give the release. All chains start at the true table, since no other is known, so that tables
            which no sequence of such steps reaches are missed, and R-hat does not show it: an audit says nothing of anybody because of it. For
            small tables; slow.
"""

import time

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.knowledge import Knowledge
from overt.adversary.posterior import Posterior, Sampled
from overt.adversary.replay.enumeration import Anonymizer, View, groups_seen, runs, values_of
from overt.adversary.replay.joint_values import JointValues
from overt.adversary.replay.time_limit import NotReplayed
from overt.errors import InvalidInput
from overt.progress import Progress, silent
from overt.release import Release
from overt.table import Codes

STAGE = "Running the method on tables that could be"
N_CHAINS = 4
AGREED = 1.1  # R-hat, beyond which nothing is said of a row
N_BATCHES = 20
WARM_UP = 5  # batches
REMEMBERED = 20_000  # tables
MOST_WAYS = 2_000  # that the coins can fall in one run


def wander(
    release: Release,
    method: Anonymizer,
    *,
    rng: Generator,
    knowledge: Knowledge | None = None,
    seconds: float = 10.0,
    sweeps: int | None = None,
    seen: View = groups_seen,
    on_progress: Progress = silent,
) -> Posterior:
    """The posterior of everybody, for so many seconds; or for so many sweeps of each chain. A sweep has as many steps as rows."""
    began, knowledge = time.perf_counter(), knowledge or Knowledge()
    values = values_of(release)
    column = values.column
    steps = Steps(release, method, knowledge, seen)
    chains = [(column.codes.copy(), steps.weight(column.codes)) for _ in range(N_CHAINS)]
    if not chains[0][1]:
        raise InvalidInput("The true table does not lead to this release by this method; was it made by another one?")
    n_rows = release.table.n_rows
    shape = N_CHAINS, N_BATCHES, n_rows, column.n_values
    held = np.zeros(shape, np.int64)
    rows, n_taken, n_steps, length = np.arange(n_rows), 0, 0, 0
    n_batches = WARM_UP + N_BATCHES
    for batch in range(n_batches):
        deadline = began + seconds * (batch + 1) / n_batches
        done = 0
        while done < (max(1, sweeps * n_rows // N_BATCHES) if sweeps else 1) or (
            sweeps is None and time.perf_counter() < deadline and (batch <= WARM_UP or done < length)
        ):
            for i, (codes, weight) in enumerate(chains):
                other = steps.propose(codes, rng)
                new = steps.weight(other) if other is not None else 0.0
                if new and rng.random() * weight < new:
                    chains[i] = other, new  # type: ignore[assignment]
                    n_taken += 1
                if batch >= WARM_UP:
                    held[i, batch - WARM_UP, rows, chains[i][0]] += 1
            done += 1
            n_steps += N_CHAINS
        length = done
        on_progress(STAGE, batch + 1, n_batches)
    return _posterior_of(held, values, n_steps, n_taken, time.perf_counter() - began)


class Steps:
    """What can be proposed, and how likely it leads to the release."""

    def __init__(self, release: Release, method: Anonymizer, knowledge: Knowledge, seen: View) -> None:
        self.table, self.values = release.table, values_of(release)
        self.column = self.values.column
        self.method, self.seen, self.what = method, seen, seen(release)
        self.forbidden, self.replays = knowledge.forbidden(self.column), knowledge.replays
        partition = release.value_groups
        self.groups = np.split(partition.rows, partition.starts[1:-1]) if partition.n_groups else []
        self.hidden = np.flatnonzero(partition.group_of_row < 0)
        self.ends = np.cumsum([rows.size for rows in self.groups] + [self.hidden.size])
        self.known: dict[bytes, float] = {}

    def propose(self, codes: Codes, rng: Generator) -> Codes | None:
        """Another table, or None if it is the same or facts rule it out."""
        other = codes.copy()
        for _ in range(rng.integers(1, 4)):
            group = int(np.searchsorted(self.ends, rng.integers(0, self.ends[-1]), side="right"))
            if group == len(self.groups):
                other[self.hidden[rng.integers(0, self.hidden.size)]] = rng.integers(0, self.column.n_values)
            else:
                a, b = self.groups[group][rng.integers(0, self.groups[group].size, 2)]
                other[a], other[b] = other[b], other[a]
        changed = np.flatnonzero(other != codes)
        if not changed.size or self.forbidden[changed, other[changed]].any():
            return None
        return other

    def weight(self, codes: Codes) -> float:
        """The chance that the method makes the release of a table. Tables come up again: the first ones are remembered."""
        key = codes.tobytes()
        if key not in self.known:
            found = self._run(codes) if self.replays else 1.0
            if len(self.known) >= REMEMBERED:
                return found
            self.known[key] = found
        return self.known[key]

    def _run(self, codes: Codes) -> float:
        total = 0.0
        for n, (chance, release) in enumerate(runs(self.method, self.values.with_codes(self.table, codes))):
            if n > MOST_WAYS:
                raise NotReplayed(f"The coins of the method can fall in more than {MOST_WAYS:,} ways; use fewer rows.")
            if release is not None and self.seen(release) == self.what:
                total += float(chance)
        return total


def _posterior_of(
    held: NDArray[np.int64], values: JointValues, n_steps: int, n_taken: int, seconds: float
) -> Posterior:
    """Means, errors and agreement of chains, from what was held in each batch: (chain, batch, row, value)."""
    n = held.sum(axis=3, keepdims=True)
    batches = values.told(held / np.maximum(1, n))
    of_chain = values.told(held.sum(axis=1) / n.sum(axis=1))
    mean = of_chain.mean(axis=0)
    error = np.sqrt(
        np.maximum(
            batches.reshape(-1, *mean.shape).var(axis=0, ddof=1) / (batches.shape[0] * batches.shape[1]),
            of_chain.var(axis=0, ddof=1) / len(of_chain),
        )
    )
    half = batches.shape[1] // 2
    halves = np.concatenate([batches[:, :half].mean(axis=1), batches[:, half:].mean(axis=1)])
    within, between = mean * (1 - mean), halves.var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        r_hat = np.where(between < 1e-12, 1.0, np.sqrt(1 + between / within))
        effective = np.where(error < 1e-9, np.inf, within / error**2).min(initial=np.inf)
    # each batch shows one table at least that is its own; where all rows vary, the chain itself says how many tables that were
    n_tables = min(max(effective, held.shape[0] * held.shape[1]), held.sum() / len(mean))
    error = np.minimum(0.5, np.maximum(error, 1 / n_tables))
    worst = r_hat.max(axis=1, initial=1.0)
    is_known = worst <= AGREED
    error[~is_known] = 0.5
    sampled = Sampled(
        n_runs=len(held),
        n_proposed=n_steps,
        accepted=n_taken / max(1, n_steps),
        seconds=seconds,
        spread=np.log(worst),
        needed=None if is_known.all() else 2 * seconds,
    )
    cells = np.arange(len(mean), dtype=np.int32)
    return Posterior(cells, mean, error, "chain", sampled=sampled, is_known=is_known)
