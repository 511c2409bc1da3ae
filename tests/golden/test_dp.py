# SPDX-License-Identifier: Apache-2.0
"""The golden cases on generalisation, risk and utility, through the answering script."""

import copy
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
DOCUMENT = json.loads((HERE / "cases" / "dp.json").read_text("utf-8"))


def agree(one, other, abs_tol=1e-12):
    """Equal, numbers to a relative 1e-7 or an absolute difference."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(agree(one[key], other[key], abs_tol) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(agree(a, b, abs_tol) for a, b in zip(one, other, strict=True))
    if isinstance(one, float | int) and not isinstance(one, bool) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=1e-7, abs_tol=abs_tol)
    return one == other


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    question = copy.deepcopy(DOCUMENT)
    for case in question["cases"]:
        del case["expected"]
    path = tmp_path_factory.mktemp("golden") / "question.json"
    path.write_text(json.dumps(question), "utf-8")
    done = subprocess.run([sys.executable, HERE / "answer.py", path], capture_output=True, check=True, text=True)
    return {case["id"]: case for case in json.loads(done.stdout)["cases"]}


@pytest.mark.parametrize("case", DOCUMENT["cases"], ids=lambda case: case["id"])
def test_the_answer_is_the_golden_one(case, answers):
    expected, answered = dict(case["expected"]), dict(answers[case["id"]]["expected"])
    for key in ("argmin", "argmax"):  # any of the optima will do
        if key in expected:
            optima, chosen = expected.pop(key), answered.pop(key)
            assert chosen and all(element in optima for element in chosen)
    assert agree(answered, expected, case.get("abs_tol", 1e-12))
