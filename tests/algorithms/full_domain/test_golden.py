# SPDX-License-Identifier: Apache-2.0
"""Sixteen optima that ARX found on Adult. The data lie beside the project; see `evidence`."""

import json
from pathlib import Path

import pytest

import overt
from evidence import ADULT

CASES = Path(__file__).parents[2] / "golden" / "cases" / "fulldomain_adult.json"
GOLDEN = json.loads(CASES.read_text(encoding="utf-8"))["cases"]
GOALS = {
    "k_anonymity": lambda case: overt.KAnonymity(case["k"]),
    "distinct_l": lambda case: overt.DistinctLDiversity(case["l"], column=case["sensitive"]),
    "entropy_l": lambda case: overt.EntropyLDiversity(case["l"], column=case["sensitive"]),
    "recursive_cl": lambda case: overt.RecursiveCLDiversity(case["c"], case["l"], column=case["sensitive"]),
    "t_closeness_equal": lambda case: overt.TCloseness(case["t"], column=case["sensitive"]),
}


def goal_of(wanted):
    parts = wanted if isinstance(wanted, list) else [wanted]
    goals = tuple(GOALS[part["kind"]](part) for part in parts)
    return goals[0] if len(goals) == 1 else overt.AllOf(goals)


@pytest.fixture(scope="module")
def table_of():
    tables = {}

    def read(names):
        if names not in tables:
            sensitive = [] if "occupation" in names else ["occupation"]
            hierarchies = {name: overt.Levels.read(ADULT / f"adult_hierarchy_{name}.csv") for name in names}
            tables[names] = overt.read_file(
                ADULT / "adult.csv.gz", quasi_identifiers=names, sensitive=sensitive, hierarchies=hierarchies
            )
        return tables[names]

    return read


def name_of(case):
    return f"{goal_of(case['property'])}, {case['max_suppressed']:.0%} suppressed"


@pytest.mark.evidence("adult")
@pytest.mark.parametrize("case", GOLDEN, ids=name_of)
def test_the_optimum_is_the_one_that_arx_found(case, table_of):
    table, goal = table_of(tuple(case["quasi_identifiers"])), goal_of(case["property"])
    method = overt.FullDomain(goal=goal, max_suppressed=case["max_suppressed"], optimise="discernibility")
    release = method.anonymize(table)
    assert release.search.cost == case["optimal_dm"]
    assert list(release.node) == case["node"]
    assert (release.n_groups, release.n_suppressed) == (case["groups"], case["suppressed"])
    sizes = release.partition.sizes
    assert (sizes.min(), sizes.max()) == (case["smallest"], case["largest"])
    assert goal.holds(release.groups)
    assert release.search.is_complete


def test_there_are_sixteen():
    assert len(GOLDEN) == 16
