# SPDX-License-Identifier: Apache-2.0
import polars as pl
import pytest

from overt.cli.console import Exit

FIVE = """\
version = 1
[input]
path = "five.csv"
[columns.street]
role = "quasi-identifier"
[columns.disease]
role = "sensitive"
[[goal]]
property = "distinct-l-diversity"
l = 2
[method]
name = "mondrian"
[output]
path = "five-release.csv"
"""


@pytest.fixture
def five(folder):
    (folder / "five.csv").write_text("street,disease\nA,HIV\nA,HIV\nB,flu\nB,cold\nB,asthma\n")
    (folder / "five.toml").write_text(FIVE)
    return folder


def test_five_people_in_the_terminal(five, overt):
    code, out, _ = overt("audit", "five.toml")
    assert code == Exit.DONE
    assert "people known for certain                             0              2" in out
    assert "a cut of 'street' into 2 and 3 rows was tried and failed" in out
    assert "trying every table, exactly; 6 give this release" in out
    assert "HIV" not in out and not (five / "five-release.csv").exists()


def test_rows_are_written_for_the_owner_by_position_only(five, overt):
    assert overt("audit", "five.toml", "--rows", "rows.csv", "--quiet")[:2] == (Exit.DONE, "")
    rows = pl.read_csv(five / "rows.csv")
    assert rows["with the method"].to_list() == pytest.approx([1, 1, 1 / 3, 1 / 3, 1 / 3])
    code, _, err = overt("audit", "five.toml", "--rows", "rows.csv", "--quiet")
    assert code == Exit.DATA and "rows.csv" in err
    assert overt("audit", "five.toml", "--rows", "rows.csv", "--quiet", "--overwrite")[0] == Exit.DONE


def test_a_hospital_is_sampled(folder, overt, overt_json):
    code, found = overt_json("audit", "recipe.toml", "--seconds", "0.5", "--seed", "1")
    assert code == Exit.DONE and found["how"] == "chain" and found["bound"] == "1/2"
    assert found["sampled"]["chains"] == 4 and found["rows"] == 96
    code, out, _ = overt("audit", "recipe.toml", "--seconds", "0.5")
    assert code == Exit.DONE and "tables that the chains did not reach are missing" in out


def test_what_is_not_covered_is_said(folder, overt):
    from cli.conftest import ANATOMY

    (folder / "anatomy.toml").write_text(ANATOMY)
    code, _, err = overt("audit", "anatomy.toml")
    assert code == Exit.DATA and "Anatomy is neither" in err
