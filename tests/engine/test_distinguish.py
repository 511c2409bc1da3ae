# SPDX-License-Identifier: Apache-2.0
"""The black box against mechanisms that claim differential privacy: what is not private is caught, what is passes."""

import json

import numpy as np
import polars as pl
import pytest

from overt import samples
from overt.algorithms import Algorithm3, Algorithm3Threshold, Mondrian
from overt.algorithms.dp.cube import DpCube, DpSampling
from overt.algorithms.dp.full_domain import DpFullDomain
from overt.cli import main
from overt.cli.console import Exit
from overt.engine.distinguish import distinguish_table, rows_to_try, without_row
from overt.errors import InvalidInput
from overt.guarantee import ANYONE
from overt.hierarchy import Nested
from overt.io.frames import read_frame
from overt.method import Method
from overt.privacy import KAnonymity, exact
from overt.progress import silent

YES = {"i_know_it_is_not_dp": True}


def people(n_a=30, n_b=68):
    frame = pl.DataFrame({"value": ["a"] * n_a + ["b"] * n_b})
    return read_frame(frame, quasi_identifiers=["value"], row_by_row=True)


@pytest.mark.parametrize(
    "method",
    [Algorithm3(**YES, t=30, beta="1/2", tau1=0.91), Algorithm3Threshold(**YES, t=30, beta="1/2", c=0)],
    ids=["Lagrangian", "threshold"],
)
def test_the_published_mechanism_is_refuted(method):
    # the element a has a chance of 0.9997 with all 30 rows and 0 with 29: 60 runs miss that with a chance below 1e-9
    found = distinguish_table(people(), method, rng=np.random.default_rng(0), n_runs=120, n_tried=2)
    assert found.refuted
    assert found.evidence.delta_at(1.0) > 0.4
    assert found.n_tried == 2  # there are no more different records
    assert found.to_dict()["refuted"] is True
    assert f"row={found.row}" not in repr(found)


@pytest.mark.slow
def test_the_published_mechanism_is_refuted_on_thousands_of_rows_of_which_nothing_is_known():
    # an element that one of the 20 rows made frequent is published in about 0.6 of the runs with it, never without;
    # 100 runs give fewer than the 42 hits that are needed with a chance of about 1e-4
    columns = ["Age", "Education"]
    hierarchies = {name: samples.census_hierarchies()[name] for name in columns}
    table = read_frame(samples.census(2000).select(columns), quasi_identifiers=columns, hierarchies=hierarchies)
    method = Algorithm3(**YES, t=30)
    found = distinguish_table(table, method, rng=np.random.default_rng(0), n_runs=200, n_tried=20)
    assert found.refuted and found.evidence.n_other_hits == 0


PRIVATE = {"hierarchies": {"value": Nested({"*": ["a", "b", "c"]})}, "epsilon": 1, "delta": "1/1000"}


@pytest.mark.parametrize(
    "method",
    [
        DpSampling(**PRIVATE, s="0.6", levels=[(0,)]),
        DpCube(**PRIVATE, s="0.3", levels=[(0,), (1,)]),
        DpCube(**PRIVATE, s="0.3", levels=[(0,), (1,)], support=1),
        DpFullDomain(**PRIVATE, s="0.4", share="1/4"),
    ],
    ids=["M1", "M2", "M2, few copies suffice", "full domain"],
)
def test_the_dp_mechanisms_pass(method):
    # by the guarantee each fails with a chance of at most 1e-3, whatever rows and events are tried; the seed is fixed
    k = method.least_copies
    for n_a in (k, int(k / float(exact(method.s)))):  # at the threshold if all are kept, and in the mean
        found = distinguish_table(people(n_a, 3 * k), method, rng=np.random.default_rng(n_a), n_runs=120, n_tried=2)
        assert not found.refuted, found.to_dict()


def test_a_dp_mechanism_with_a_false_claim_is_refuted():
    # k = 1 would need a delta of 0.6: 200 runs miss the lone row, which is shown with that chance, with one below 1e-9
    table = people(1, 40)

    class TooFew(DpSampling):
        @property
        def least_copies(self):
            return 1

    method = TooFew(**PRIVATE, s="0.6", levels=[(0,)])
    assert distinguish_table(table, method, rng=np.random.default_rng(0), n_runs=200, n_tried=2).refuted


def test_a_claim_that_is_true_is_not_refuted():
    """A mechanism that publishes noise only; by the guarantee this fails with a chance of at most 1e-3."""

    class Noise(Method):
        name, guarantee, claimed_budget, goal = "noise", ANYONE, (1, 0), KAnonymity(1)

        def anonymize(self, table, *, rng, on_progress=silent):
            kept = read_frame(pl.DataFrame({"value": ["a"] * int(rng.integers(1, 9))}), quasi_identifiers=["value"])
            return Mondrian(goal=KAnonymity(1)).anonymize(kept)

    found = distinguish_table(people(3, 3), Noise(), rng=np.random.default_rng(0), n_runs=100, n_tried=2)
    assert not found.refuted


def test_what_claims_nothing_is_refused():
    with pytest.raises(InvalidInput, match="Mondrian claims no differential privacy, so there is nothing to refute"):
        distinguish_table(people(), Mondrian(goal=KAnonymity(2)), rng=np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="At least one row must be tried"):
        distinguish_table(people(), Algorithm3(**YES), rng=np.random.default_rng(0), n_tried=0)


def test_rows_that_are_tried_are_of_different_records():
    table = people(5, 5)
    rows = rows_to_try(table, 10, np.random.default_rng(0))
    assert sorted(table.columns[0].codes[rows].tolist()) == [0, 1]
    less = without_row(table, 0)
    assert less.n_rows == 9 and less.columns[0].n_values == 2
    assert np.bincount(less.columns[0].codes).tolist() == [4, 5]


RECIPE = """\
version = 1

[input]
path = "people.csv"

[columns.value]
role = "quasi-identifier"

[[goal]]
property = "k-anonymity"
k = 1

[method]
name = "algorithm-3-as-published-not-dp"
i_know_it_is_not_dp = true
beta = "1/2"
tau1 = 0.91
t = %d

[output]
path = "release.csv"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"value": ["a"] * 30 + ["b"] * 68}).write_csv("people.csv")
    (tmp_path / "recipe.toml").write_text(RECIPE % 30)
    return tmp_path


def test_the_command_says_what_was_seen_and_ends_with_1(folder, capsys):
    assert main(["distinguish", "recipe.toml", "--seed", "0", "--runs", "100", "--tried", "2"]) == Exit.CHECK_FAILED
    out = capsys.readouterr().out
    assert "epsilon 1 and delta 0.01, by algorithm-3-as-published-not-dp" in out
    assert "in 0 of 50 without it" in out
    assert "The claim is refuted: the method does not have the differential privacy that it claims." in out
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv", "recipe.toml"]  # nothing is written


def test_the_command_in_json(folder, capsys):
    assert main(["distinguish", "recipe.toml", "--seed", "0", "--runs", "60", "--json"]) == Exit.CHECK_FAILED
    found = json.loads(capsys.readouterr().out)
    assert found["claim"] == {"epsilon": 1.0, "delta": 0.01}
    assert found["delta_at_least"] > 0.01


def test_nothing_found_is_no_proof(folder, capsys):
    (folder / "recipe.toml").write_text(RECIPE % 40)  # only the root is frequent, before and after
    assert main(["distinguish", "recipe.toml", "--seed", "0", "--runs", "60"]) == Exit.DONE
    assert "not refuted. This does not prove it" in capsys.readouterr().out


def test_the_recipe_must_say_that_one_knows(folder, capsys):
    (folder / "recipe.toml").write_text((RECIPE % 30).replace("i_know_it_is_not_dp = true\n", ""))
    assert main(["run", "recipe.toml"]) == Exit.USAGE
    assert "is not differentially private, whatever its paper says" in capsys.readouterr().err


def test_a_run_and_its_report_say_that_it_is_not_dp(folder, capsys):
    assert main(["run", "recipe.toml", "--report", "--seed", "0"]) == Exit.DONE
    out = capsys.readouterr().out
    assert "Against   nobody; the differential privacy that the paper claims does not hold" in out
    assert "Needs 1   beta: at least e^-epsilon = 0.367879, given 0.5 (met)" in out
    assert "NOT differentially private" in out
    assert "NOT differentially private" in (folder / "release.report.html").read_text()
    assert main(["check", "people.csv", "release.csv"]) == Exit.DONE


def test_a_dp_recipe_is_run_without_spending_or_writing(folder, capsys):
    private = """\
version = 1
[input]
path = "people.csv"
[columns.value]
role = "quasi-identifier"
hierarchy = { nested = { "*" = ["a", "b"] } }
[method]
name = "dp-full-domain"
epsilon = 1
delta = 1e-3
s = 0.5
share = "1/4"
[output]
path = "release.csv"
"""
    (folder / "recipe.toml").write_text(private)
    # by the guarantee this fails with a chance of at most 1e-3
    assert main(["distinguish", "recipe.toml", "--seed", "0", "--runs", "60"]) == Exit.DONE
    out = capsys.readouterr().out
    assert "by dp-full-domain" in out and "98" not in out  # how many rows there are is nobody's business
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv", "recipe.toml"]


def test_a_dp_full_domain_recipe_is_run_and_checked(folder, capsys):
    test_a_dp_recipe_is_run_without_spending_or_writing(folder, capsys)
    assert main(["budget", "people.csv", "--epsilon", "1", "--delta", "1e-3"]) == Exit.DONE
    assert main(["run", "recipe.toml"]) == Exit.DONE
    assert "one vector of 2 is chosen by its score" in capsys.readouterr().out
    assert main(["check", "people.csv", "release.csv"]) == Exit.DONE
