# SPDX-License-Identifier: Apache-2.0
"""Tests on data beside the checkout say what is missing, fail in CI, and are counted."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import evidence


@pytest.fixture
def missing(monkeypatch, tmp_path):
    monkeypatch.setitem(evidence.NEEDED, "adult", evidence.Evidence(tmp_path / "adult", ("adult.csv.gz",), "from UCI"))


def test_what_is_missing_is_named_with_its_origin(missing, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"needs \.\./shared/data/adult/adult\.csv\.gz, .*: from UCI"):
        evidence.require("adult")


def test_in_ci_it_fails(missing, monkeypatch):
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="from UCI"):
        evidence.require("adult")


def report(when, outcome, *, is_ours=True):
    return SimpleNamespace(
        when=when, skipped=outcome == "skipped", failed=outcome == "failed", keywords={"evidence": 1} if is_ours else {}
    )


def test_the_summary_counts_both():
    reports = [
        report("call", "passed"),
        report("call", "failed"),
        report("setup", "skipped"),
        report("setup", "failed"),
    ]
    assert evidence.summary([*reports, report("call", "passed", is_ours=False)]).endswith("2 tests had it, 2 did not")
    assert evidence.summary([report("call", "passed", is_ours=False)]) is None


def test_whoever_needs_data_beside_the_checkout_says_so():
    """No test looks for them by itself, so that none is left out in silence."""
    tests = [
        path for path in Path(__file__).parent.rglob("*.py") if path.name not in ("evidence.py", "test_evidence.py")
    ]
    assert [path.name for path in tests if '"shared"' in path.read_text()] == []


def test_every_file_that_a_test_reads_is_listed():
    """A file that is missing and not listed would end a test with an error, and not with a sentence."""
    listed = set(evidence.NEEDED["adult"].files)
    assert {f"adult_hierarchy_{name}.csv" for name in ("sex", "age", "marital-status")} <= listed and len(listed) == 12
    for path in Path(__file__).parent.rglob("test_*.py"):
        text = path.read_text()
        if "from evidence import ADULT" not in text:
            continue
        used = set(re.findall(r"\b(?:arx_\w+|adult)\.csv\.gz", text))
        assert used and used <= {Path(name).name for name in listed}, f"{path.name}: {used - listed}"
