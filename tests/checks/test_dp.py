# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import polars as pl
import pytest

from oracles.sampling_law import delta_of_identical
from overt.algorithms.dp.accounting import exact_delta, least_k, least_tau
from overt.checks.dp import DpClaim, check_dp, worst_delta

LABELS = {"a": {0}, "b": {0}, "north": {1}, "*": {0, 1, 2}}


def claim(**settings):
    given = {
        "epsilon": 1.0, "delta": 1e-3, "s": 0.4, "k": 10, "sampling_epsilon": 1.0, "coins": "secret",
        "levels_of_label": {"place": LABELS.get}, "vectors": [(0,), (1,)],
    }  # fmt: skip
    return DpClaim(**{**given, **settings})


def release(*rows):
    return pl.DataFrame({"place": sorted(rows)})


@pytest.mark.parametrize(("s", "epsilon"), [(0.1, 0.2), (0.3, 0.9), (0.5, 0.70), (0.05, 2.0), (0.5, 40.0)])
@pytest.mark.parametrize("k", [1, 2, 5, 12, 40])
def test_the_figure_is_that_of_the_definition_and_of_the_calculator(k, s, epsilon):
    found = worst_delta(k, s, epsilon)
    assert found == pytest.approx(exact_delta(k, str(s), str(epsilon)), rel=1e-9)
    if k <= 12:
        assert found == pytest.approx(max(delta_of_identical(n, s, k, epsilon) for n in range(1, 30 * k)), rel=1e-6)


def test_a_good_release_is_found_good():
    verdict = check_dp(release(*["a"] * 10, *["north"] * 12), claim())
    assert verdict.ok
    nothing = check_dp(release(), claim())
    assert nothing.ok and "The release has no rows" in " ".join(f.sentence for f in nothing.findings)


def test_a_column_may_be_called_anything():
    named = claim(levels_of_label={"copies of this row": LABELS.get})
    assert check_dp(pl.DataFrame({"copies of this row": ["a"] * 60}), named).ok


@pytest.mark.parametrize(
    ("settings", "finding"),
    [
        ({"k": 2}, "parameters"),
        ({"s": 0.7}, "parameters"),
        ({"cube_epsilon": 0.5, "tau": 50}, "parameters"),  # the parts cost more than the whole
        ({"sampling_epsilon": 0.6, "cube_epsilon": 0.4, "tau": 3, "k": 50}, "parameters"),
        ({"coins": "seeded"}, "coins"),
        ({"coins": None}, "coins"),
        ({"k": 61}, "copies"),
        ({"vectors": [(1,)]}, "labels"),
        ({"levels_of_label": {"place": {"b": {0}}.get}}, "labels"),
        ({"levels_of_label": {"place": LABELS.get, "sex": LABELS.get}, "vectors": [(0, 0)]}, "columns"),
        ({"levels_of_label": {"sex": LABELS.get}}, "columns"),
    ],
)
def test_what_is_wrong_is_found(settings, finding):
    verdict = check_dp(release(*["a"] * 60), claim(**settings))
    assert [failure.name for failure in verdict.failures] == [finding]


def test_missing_cells_and_order():
    assert [f.name for f in check_dp(pl.DataFrame({"place": [None] * 10}), claim()).failures] == ["labels"]
    unordered = pl.DataFrame({"place": ["north"] * 10 + ["a"] * 10})
    assert [f.name for f in check_dp(unordered, claim()).failures] == ["order"]


def test_least_parameters_are_enough_and_fewer_are_not():
    k, tau = least_k("0.5", "5e-7", "0.3"), least_tau("0.5", "5e-7", 2)
    parts = claim(delta=1e-6, s=0.3, sampling_epsilon=0.5, cube_epsilon=0.5, k=k, tau=tau)
    good = release(*["a"] * k)
    assert check_dp(good, parts).ok
    assert not check_dp(good, replace(parts, k=k - 1)).ok
    assert not check_dp(good, replace(parts, tau=tau - 10)).ok
