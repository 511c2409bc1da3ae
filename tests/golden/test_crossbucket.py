# SPDX-License-Identifier: Apache-2.0
"""Every case of the company's golden file on cross-bucket generalization, through the answering script."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
DOCUMENT = json.loads((HERE / "cases" / "crossbucket.json").read_text("utf-8"))
ANSWERS = {
    "alpha": ["alpha"],
    "division": ["group_sizes", "buckets", "max_breach"],
    "releases": ["valid", "max_breach", "min_group", "c_dm", "published", "own_value_breach"],
    "must_succeed": ["one_valid_plan"],
    "must_refuse": ["reason"],
}
QUERY_ANSWERS = ["lower", "upper", "actual", "relative_error"]


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """Through the script, as a user calls it, with the answers taken out of the question."""
    question = copy.deepcopy(DOCUMENT)
    for section, fields in ANSWERS.items():
        for case in question[section]:
            for field in fields:
                del case[field]
    for case in question["sum_queries"]:
        for query in case["queries"]:
            for field in QUERY_ANSWERS:
                del query[field]
    path = tmp_path_factory.mktemp("golden") / "question.json"
    path.write_text(json.dumps(question), "utf-8")
    done = subprocess.run([sys.executable, HERE / "answer.py", path], capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("section", ["alpha", "division", "releases", "sum_queries", "tables", "attacks"])
def test_answers_are_those_of_the_file(answered, section):
    assert answered[section] == DOCUMENT[section]


def test_every_plan_is_valid(answered):
    for case in answered["must_succeed"]:
        m, left = max(case["k"], case["l"]), dict(case["counts"])
        for values, alpha in case["one_valid_plan"]:
            assert len(set(values)) == len(values) >= m
            for value in values:
                left[value] -= alpha
            assert m * max(left.values()) <= sum(left.values())
        assert set(left.values()) == {0}


def test_every_refusal_is_a_sentence_with_the_count_and_no_value(answered):
    for case in answered["must_refuse"]:
        most, n = max(case["counts"].values()), sum(case["counts"].values())
        assert f"fills {most} of {n} rows" in case["reason"] or f"there are {n} rows" in case["reason"]
        assert f"max(k, l) = {max(case['k'], case['l'])}" in case["reason"]
        assert "v000" not in case["reason"]
