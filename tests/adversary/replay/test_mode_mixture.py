# SPDX-License-Identifier: Apache-2.0
"""Modes that are searched for, sampled and mixed: against one cut whose tables can be counted value by value, whatever its size.

The oracle counts, for each number of rows on one side, the ways in which values can lie, one value after the other. It shares
nothing with what it tests: no particles, no reasons.
"""

import time
from fractions import Fraction
from itertools import permutations
from math import comb, exp, lgamma, log

import numpy as np
import pytest

from overt.adversary.replay import mode_mixture, reason_search
from overt.adversary.replay.cell_particles import CellComponent, CellParticles, can_count
from overt.adversary.replay.component_listing import count_component, list_components
from overt.adversary.replay.failed_trials import FailedTrials
from overt.adversary.replay.mode_mixture import can_mix, mix_modes
from overt.adversary.replay.reason_search import ReasonSearch, search_reasons
from overt.adversary.replay.run_sums import RunSums
from overt.adversary.replay.time_limit import Watch
from overt.algorithms import Mondrian
from overt.errors import Unreachable
from overt.kernels.cell_counts import draw_of
from overt.privacy import (
    AllOf,
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
)
from overt.progress import silent
from overt.trace import Trials
from tables import table_of

GO = np.zeros(1, np.bool_)


def failed_of(table, goal):
    method = Mondrian(goal=goal)
    release, column = method.anonymize(table), table.sensitive[0]
    facts = np.zeros((table.n_rows, column.n_values), np.bool_)
    return FailedTrials.of([Trials.of_cuts(method.trace(table))], release.partition, column, method.goal, facts)


def one_cut(counts, first, l):
    """People of two streets, with a cut that fails as the values lie: the first value fills the first street as far as it can."""
    values = np.repeat(np.arange(len(counts)), counts)
    n = values.size
    most = first // l + 1
    inside = np.append(np.arange(most), np.arange(counts[0], n))[:first]
    street = np.ones(n, int)
    street[inside] = 0
    return table_of([street.tolist()], values.tolist()), n


def exact_cut(counts, first, n, l):
    """The chance that a random table fails, and (value) -> how many rows of the first street have it then, expected."""
    caps = first // l, (n - first) // l

    def ways(fits_only):
        held = {0: 1}
        for count in counts:
            further = {}
            for size, so_far in held.items():
                for here in range(min(count, first - size) + 1):
                    if fits_only and (here > caps[0] or count - here > caps[1]):
                        continue
                    further[size + here] = further.get(size + here, 0) + so_far * comb(count, here)
            held = further
        return held.get(first, 0)

    def ways_with(value, here, fits_only):
        count = counts[value]
        if fits_only and (here > caps[0] or count - here > caps[1]):
            return 0
        rest = [one for v, one in enumerate(counts) if v != value]
        held = {0: 1}
        for one in rest:
            further = {}
            for size, so_far in held.items():
                for k in range(min(one, first - here - size) + 1):
                    if fits_only and (k > caps[0] or one - k > caps[1]):
                        continue
                    further[size + k] = further.get(size + k, 0) + so_far * comb(one, k)
            held = further
        return comb(count, here) * held.get(first - here, 0)

    total, fit = ways(False), ways(True)
    expected = [
        sum(h * (ways_with(v, h, False) - ways_with(v, h, True)) for h in range(count + 1)) / (total - fit)
        for v, count in enumerate(counts)
    ]
    return log((total - fit) / total), np.array(expected)


CASES = [([20, 20, 20, 20], 40, 3), ([25, 21, 18, 12, 4], 30, 3), ([30, 29, 28, 27, 26, 25], 60, 4)]


@pytest.mark.parametrize(("counts", "first", "l"), CASES)
def test_particles_of_counts_find_what_counting_finds(counts, first, l):
    table, n = one_cut(counts, first, l)
    failed = failed_of(table, FrequencyLDiversity(l))
    assert failed.n_components == 1 and can_count(failed).all()
    of = CellComponent.of(failed, 0)
    log_z, expected = exact_cut(counts, first, n, l)
    found, means, none = [], [], np.full((0, of.n_trials, 2), -1)
    for rng in np.random.default_rng(1).spawn(12):
        particles = CellParticles.begin(of, 60, rng)
        found.append(particles.anneal(GO)[0])
        seen = particles.record(10, none, GO)
        cell = 0 if np.bincount(of.cells.cell_of_place)[0] == first else 1
        means.append(seen.total[cell] / seen.weight)
    z = np.exp(np.array(found) - log_z)
    assert abs(z.mean() - 1) < 4 * max(0.03, z.std(ddof=1) / np.sqrt(12))
    mean = np.average(means, axis=0, weights=z)
    error = np.std(means, axis=0, ddof=1) / np.sqrt(12)
    assert (np.abs(mean - expected) < 5 * error + 0.02 * first / len(counts)).all()


@pytest.mark.parametrize(("counts", "first", "l"), CASES)
def test_modes_mixed_find_what_counting_finds(counts, first, l):
    table, n = one_cut(counts, first, l)
    failed = failed_of(table, FrequencyLDiversity(l))
    runs = RunSums(failed)
    done, *_ = mix_modes(failed, 0, runs, np.random.default_rng(2), Watch(np.inf, silent), repeats=True)
    assert done
    log_z, expected = exact_cut(counts, first, n, l)
    told = runs.estimate()
    assert told.is_known.all() and abs(runs.top[0] - log_z) < 1
    of = CellComponent.of(failed, 0)
    sizes = np.bincount(of.cells.cell_of_place)
    cell = 0 if sizes[0] == first else 1
    assert (np.abs(told.mean[cell] * sizes[cell] - expected) <= 3 * told.error[cell] * sizes[cell]).all()
    assert told.error.max() < 0.1


def test_modes_that_are_too_many_for_what_is_kept_are_not_mixed(monkeypatch):
    monkeypatch.setattr(mode_mixture, "MOST_MODES", 1)  # eight hold the mass: four values on two sides
    table, _ = one_cut(*CASES[0])
    failed = failed_of(table, FrequencyLDiversity(3))
    runs = RunSums(failed)
    found = mix_modes(failed, 0, runs, np.random.default_rng(2), Watch(np.inf, silent), repeats=True)
    assert found == (False, 0, 0) and not runs.n_runs.any()


def test_search_names_the_reasons_that_hold_most():
    counts, first, l = [60, 40, 30, 20], 40, 2  # only the first value can be too frequent, and in the first street only
    table, n = one_cut(counts, first, l)
    failed = failed_of(table, FrequencyLDiversity(l))
    search = search_reasons(CellComponent.of(failed, 0), np.random.default_rng(1), GO)
    modes = search.modes(6)
    log_z, _ = exact_cut(counts, first, n, l)
    part, value = modes.reasons[0, 0].tolist()
    assert (
        value == 0
        and search.cells_of_part[part].size
        and search.size_of_cell[search.cells_of_part[part]].sum() == first
    )
    assert search.is_agreed and modes.share > 0.9
    assert abs(modes.log_chance[0] - log_z) < 1


class Impatient(Watch):
    """There is no time left when it looks at the clock for the first time."""

    def look(self):
        self.stop[0] = True


def test_a_search_that_does_not_end_is_told_to_stop(monkeypatch):
    def search(of, rng, stop):
        for _ in range(1_000):
            if stop[0]:
                return
            time.sleep(0.01)
        raise AssertionError("nobody looked at the clock while it searched")

    monkeypatch.setattr(mode_mixture, "search_reasons", search)
    table, _ = one_cut(*CASES[0])
    failed = failed_of(table, FrequencyLDiversity(3))
    runs = RunSums(failed)
    found = mix_modes(failed, 0, runs, np.random.default_rng(2), Impatient(np.inf, silent), repeats=True)
    assert found == (False, 0, 0) and not runs.n_runs.any()


@pytest.mark.parametrize("n_before", [0, 1, 7])
def test_a_search_stops_when_it_is_told_to(n_before, monkeypatch):
    stop, looked = np.zeros(1, np.bool_), []

    def counted(*arguments):
        looked.append(bool(stop[0]))
        stop[0] |= len(looked) > n_before
        return log_chance(*arguments)

    log_chance = reason_search.log_chance
    monkeypatch.setattr(reason_search, "log_chance", counted)
    monkeypatch.setattr(reason_search, "ENOUGH", 1_000)  # it never agrees with itself
    table, _ = one_cut(*CASES[1])
    search_reasons(CellComponent.of(failed_of(table, FrequencyLDiversity(3)), 0), np.random.default_rng(1), stop)
    assert looked.count(False) == n_before + 1 and looked.count(True) <= 2


def test_a_search_whose_starts_disagree_says_nothing():
    search = ReasonSearch.__new__(ReasonSearch)
    search.best_of_start = [-10.0, -10.5, -14.0]
    assert not search.is_agreed
    search.best_of_start.append(-10.9)
    assert search.is_agreed


def test_goals_without_a_part_and_a_value_as_reason_are_not_searched():
    table, _ = one_cut([20, 20, 20, 20], 40, 3)
    failed = failed_of(table, FrequencyLDiversity(3))
    assert can_mix(failed).all()
    values = [v for pair in ([0] * 9, [1] * 1, [0, 1, 2] * 10) for v in pair]
    other = failed_of(table_of([[0] * 10 + [1] * 30], values), DistinctLDiversity(3))
    assert other.n_components == 1 and can_count(other).all() and not can_mix(other).any()


@pytest.mark.parametrize(("good", "bad", "drawn"), [(3, 2, 2), (4, 1, 4), (2, 5, 6), (1, 1, 1), (6, 6, 5)])
def test_rows_of_a_move_are_drawn_without_putting_back(good, bad, drawn):
    n, at = 20_000, (np.arange(20_000) + 0.5) / 20_000
    drawn_good = np.bincount([draw_of(u, good, bad, drawn) for u in at], minlength=good + 1) / n
    exact = [
        comb(good, k) * comb(bad, drawn - k) / comb(good + bad, drawn) if drawn >= k else 0 for k in range(good + 1)
    ]
    assert np.abs(drawn_good - exact).max() < 2 / n


def test_the_oracle_counts_as_enumeration_does():
    counts, first, l = [3, 2, 2], 3, 2
    values, caps = [0, 0, 0, 1, 1, 2, 2], (3 // 2, 4 // 2)
    held = {tuple(order) for order in permutations(values)}
    fails = [one for one in held if any(one[:3].count(v) > caps[0] or one[3:].count(v) > caps[1] for v in range(3))]
    log_z, expected = exact_cut(counts, first, 7, l)
    assert exp(log_z) == pytest.approx(len(fails) / len(held))
    assert expected == pytest.approx([np.mean([one[:3].count(v) for one in fails]) for v in range(3)])


@pytest.mark.parametrize(("counts", "first", "l"), [*CASES[:1], ([25, 21, 18, 12], 30, 3), ([9, 8, 8, 8, 2], 14, 3)])
def test_counts_of_cells_are_listed_exactly(counts, first, l):
    table, n = one_cut(counts, first, l)
    failed = failed_of(table, FrequencyLDiversity(l))
    listed = list_components(failed, seconds=600)
    _, expected = exact_cut(counts, first, n, l)
    sizes = np.bincount(CellComponent.of(failed, 0).cells.cell_of_place)
    cell = 0 if sizes[0] == first else 1
    assert listed.is_listed.all()
    assert listed.chance[cell] * first == pytest.approx(expected, rel=1e-9)
    assert listed.chance.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("counts", [[1500, 1500], [1800, 1200]])
def test_counts_far_from_the_likeliest_are_listed_too(counts):
    """Few values and many people: tables whose cut fails may be e^-1000 of all tables, and one of them is the true one."""
    first, l = 1500, Fraction(10, 9)
    table, _ = one_cut(counts, first, l)
    failed = failed_of(table, FrequencyLDiversity(l))
    listed = list_components(failed, seconds=600)
    logs = {}  # rows of the first value in the first street -> the logarithm of how many tables that is
    for here in range(max(0, first - counts[1]), min(first, counts[0]) + 1):
        sides = (here, first - here), (counts[0] - here, counts[1] - first + here)
        if any(max(side) * l > sum(side) for side in sides):
            chosen = zip(counts, sides[0], strict=True)
            logs[here] = sum(lgamma(m + 1) - lgamma(k + 1) - lgamma(m - k + 1) for m, k in chosen)
    top = max(logs.values())
    weight = {here: exp(one - top) for here, one in logs.items()}
    share = sum(here * one for here, one in weight.items()) / sum(weight.values()) / first
    street = table.quasi_identifiers[0].codes[failed.rows]
    cell = failed.layout.cell_of_place[street.argmin()]
    assert listed.is_listed.all()
    assert listed.chance[cell] == pytest.approx([share, 1 - share], rel=1e-6)


GOALS = [
    FrequencyLDiversity(2),
    DistinctLDiversity(3),
    EntropyLDiversity(2),
    RecursiveCLDiversity(2, 2),
    AllOf((KAnonymity(2), DistinctLDiversity(2))),
]


def test_counts_of_cells_say_what_listing_every_table_says():
    compared, rng = 0, np.random.default_rng(3)
    for number in range(40):
        n = int(rng.integers(7, 13))
        columns = [rng.integers(0, 4, n).tolist() for _ in range(2)]
        table = table_of(columns, rng.integers(0, 4, n).tolist())
        try:
            failed = failed_of(table, GOALS[number % len(GOALS)])
        except Unreachable:
            continue
        listed = list_components(failed)
        for component in np.flatnonzero(listed.is_listed & can_count(failed)).tolist():
            counted, _ = count_component(failed, component, 100_000)
            assert counted == pytest.approx(listed.chance[failed.component_of_cell == component], abs=1e-12)
            compared += 1
    assert compared > 15
