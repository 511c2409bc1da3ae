# SPDX-License-Identifier: Apache-2.0
"""What docs/theory/sequences.md shows works as shown."""

import json
import re
from pathlib import Path

from overt.algorithms.sequence.case_file import Case

TEXT = (Path(__file__).parents[3] / "docs" / "theory" / "sequences.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


def test_the_example_on_paper_prints_what_its_comments_say(capsys):
    code = blocks("python")[0]
    exec(code, {})
    assert capsys.readouterr().out.split("\n")[:2] == re.findall(r"print\(.*\)  # (.*)", code)


def test_the_case_can_be_read_and_answered():
    case = Case.read(json.loads(blocks("json")[0]))
    assert [case.answer(strategy)["released"] for strategy in case.strategies] == [2, 2]
