# SPDX-License-Identifier: Apache-2.0
"""Every golden case on the privacy streamliner, through the answering script, with its answers taken out."""

import copy
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
DOCUMENT = json.loads((HERE / "cases" / "streamliner.json").read_text("utf-8"))
ANSWERS = {
    "optimal_dm": {"n", "eligible", "optimal_dm"},
    "rda": {"groups_by_colour_index", "leftover", "n_groups"},
    "gda": {"partition", "dm", "stuck"},
    "candidates": {"candidates"},
    "l_cover": {"in_lss", "l_cover", "sgss"},
    "qwe": {"boxes", "dm", "weighted_rank", "actual", "estimate", "error"},
    "motivating": {"lss", "disclosure_set", "worst_share", "gss", "sgss", "after_release"},
    "example_table3": {"lss", "gss", "sgss", "l_cover", "minimal", "self_contained"},
}


def without(content, names):
    if isinstance(content, dict):
        return {name: without(inner, names) for name, inner in content.items() if name not in names}
    return [without(inner, names) for inner in content] if isinstance(content, list) else content


def answered(document, folder):
    question = folder / "question.json"
    question.write_text(json.dumps(document), "utf-8")
    done = subprocess.run([sys.executable, HERE / "answer.py", question], capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


def test_all_golden_cases_reproduce(tmp_path):
    question = copy.deepcopy(DOCUMENT)
    for section, names in ANSWERS.items():
        question[section] = without(question[section], names)
    assert question != DOCUMENT
    assert answered(question, tmp_path) == DOCUMENT


def test_sections_that_the_file_lacks_are_answered_too(tmp_path):
    question = {
        "lss": [{"values": ["a", "a", "b", "b"], "l": 2}],
        "merge": [{"values": ["a", "a", "b", "b"], "l": 2, "cans": {"0": [2], "1": [3], "2": [0], "3": [1]}}],
        "rda": [{"counts": [3, 1], "l": 2}],
    }
    found = answered(question, tmp_path)
    assert found["lss"][0]["n_lss"] == 3  # Example 2 of the paper: P1, P2 and P3
    assert found["merge"][0]["partition"] == [[0, 2], [1, 3]]  # Example 4: P1
    assert found["rda"] == question["rda"]  # not eligible: left as it is
