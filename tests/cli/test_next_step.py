# SPDX-License-Identifier: Apache-2.0
"""`overt` without a command leads from an empty folder to a checked release, by the commands that it prints."""

import re
import shlex

from overt.samples import hospital


def commands_of(out):
    return re.findall(r"  (overt \S.*)$", out.partition("\n\n")[2].partition("\n\nAll commands")[0], re.MULTILINE)


def test_an_empty_folder_leads_to_the_demo(overt, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = overt()
    assert (code, err) == (0, "") and "no table and no recipe" in out
    assert commands_of(out) == ["overt demo", "overt init patients.csv", "overt studio"]
    assert list(tmp_path.iterdir()) == []


def test_the_first_command_that_it_prints_leads_to_a_checked_release(overt, tmp_path, monkeypatch):
    """From a table whose name has a blank, three times the first command: a recipe, a release, a check."""
    monkeypatch.chdir(tmp_path)
    hospital().write_csv(tmp_path / "our patients.csv")
    begun = []
    for _ in range(3):
        code, out, _ = overt()
        assert code == 0
        words = shlex.split(commands_of(out)[0])[1:]
        begun.append(words[0])
        assert overt(*words)[0] == 0, words
    assert begun == ["init", "run", "check"]


def test_files_that_are_no_recipes_are_passed_over(overt, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (tmp_path / "broken.toml").write_bytes(b"\xff\xfe[[")
    (tmp_path / "odd.toml").write_text("input = 1\ncolumns = 2\noutput = []\n")
    (tmp_path / "folder.toml").mkdir()
    assert "Here is a recipe: odd.toml" in overt()[1]
    (tmp_path / "odd.toml").unlink()
    assert "no table and no recipe" in overt()[1]
