# SPDX-License-Identifier: Apache-2.0
import json

import pytest

from overt.cli import main
from overt.cli.console import Exit

CASE = {
    "id": "six patients",
    "rows": ["A", "B", "C", "D", "E", "F"],
    "values": ["flu", "cold", "cancer", "cancer", "headache", "toothache"],
    "functions": [
        {"name": "g1", "groups": [["A", "B"], ["C", "D"], ["E", "F"]]},
        {"name": "g2", "groups": [["A", "B", "C"], ["D", "E", "F"]]},
    ],
    "sequence": ["g1", "g2"],
    "property": {"kind": "distinct_l", "l": 2},
    "runs": [{"strategy": {"kind": "naive"}}, {"strategy": {"kind": "safe"}}],
}


@pytest.fixture
def case(tmp_path):
    path = tmp_path / "case.json"
    path.write_text(json.dumps(CASE), "utf-8")
    return path


def test_a_case_is_printed_as_a_table(case, capsys):
    assert main(["disclose", str(case)]) == Exit.DONE
    out = capsys.readouterr().out
    assert "six patients: 6 rows, functions g1, g2" in out
    assert "naive: releases g2 at step 2" in out and "safe: releases nothing" in out
    assert "2     36                        yes       4                   no        1" in out


def test_a_case_is_answered_as_json(case, capsys):
    assert main(["disclose", str(case), "--json", "--tables", "4"]) == Exit.DONE
    answered = json.loads(capsys.readouterr().out)
    found = answered["runs"][0]["expected"]
    assert (found["released"], found["released_function"]) == (2, "g2")
    assert found["steps"][1]["ds_size"] == 4 == len(found["steps"][1]["ds_tables"])
    assert found["posterior"]["C"] == {"cancer": "1"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"property": {"kind": "nice"}}, "There is no property 'nice'"),
        ({"sequence": ["g1", "g9"]}, "The sequence names 'g9'; the functions are g1, g2."),
        ({"values": ["flu"]}, "The case has 6 rows and 1 values"),
        ({"runs": []}, "has no 'runs'"),
        ({"runs": [{"strategy": {"kind": "bold"}}]}, "There is no strategy 'bold'"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(tmp_path, capsys, change, sentence):
    path = tmp_path / "case.json"
    path.write_text(json.dumps({**CASE, **change}), "utf-8")
    assert main(["disclose", str(path)]) == Exit.DATA
    assert sentence in capsys.readouterr().err


def test_no_json_and_no_such_case(tmp_path, case, capsys):
    path = tmp_path / "broken.json"
    path.write_text("{", "utf-8")
    assert main(["disclose", str(path)]) == Exit.DATA
    assert "broken.json is not JSON" in capsys.readouterr().err
    assert main(["disclose", str(case), "--only", "other"]) == Exit.DATA
    assert "case.json has no case 'other'" in capsys.readouterr().err


def test_nothing_released_has_its_own_exit_code(tmp_path, capsys):
    (tmp_path / "people.csv").write_text("age,disease\n" + "".join(f"{20 + i},flu\n" for i in range(8)) + "50,cold\n")
    (tmp_path / "recipe.toml").write_text(
        'version = 1\n[input]\npath = "people.csv"\n[columns.age]\nrole = "quasi-identifier"\n'
        '[columns.disease]\nrole = "sensitive"\n[[goal]]\nproperty = "l-diversity"\nl = 2\n'
        '[method]\nname = "in-order"\nstrategy = "exclusive"\nlevels = 3\nsmallest = 2\ncut = "1/3"\n'
        '[output]\npath = "release.csv"\n'
    )
    assert main(["run", str(tmp_path / "recipe.toml")]) == Exit.NOTHING_RELEASED == 6
    assert "Nothing can be released by the exclusive strategy" in capsys.readouterr().err
    assert not (tmp_path / "release.csv").exists()
