# SPDX-License-Identifier: Apache-2.0
"""Every run of the company's golden file on disclosure sets, through the answering script."""

import copy
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
DOCUMENT = json.loads((HERE / "cases" / "disclosure_paper.json").read_text("utf-8"))


def answered(document):
    """Through the script, as a user calls it, with the answers taken out of the question."""
    question = copy.deepcopy(document)
    for case in question["cases"]:
        case["ds_tables"] = 24  # the golden file lists sets of up to 24 tables
        for run in case["runs"]:
            del run["expected"]
    path = HERE / "answer.py"
    question_file = Path(answered.folder) / "question.json"
    question_file.write_text(json.dumps(question), "utf-8")
    done = subprocess.run([sys.executable, path, question_file], capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


def test_all_golden_runs_reproduce(tmp_path):
    answered.folder = tmp_path
    answers = answered(DOCUMENT)
    assert len(answers["cases"]) == len(DOCUMENT["cases"])
    for case, expected in zip(answers["cases"], DOCUMENT["cases"], strict=True):
        for run, golden in zip(case["runs"], expected["runs"], strict=True):
            assert run == golden, (case["id"], golden["strategy"])


def test_what_is_not_known_is_left_alone(tmp_path):
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"cases": [{"id": "x", "question": 1}], "more": [2]}), "utf-8")
    done = subprocess.run([sys.executable, HERE / "answer.py", path], capture_output=True, check=True, text=True)
    assert json.loads(done.stdout) == json.loads(path.read_text("utf-8"))
