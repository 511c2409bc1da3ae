# SPDX-License-Identifier: Apache-2.0
from overt.checks import Finding, Verdict
from overt.report.lines import of_findings

VERDICT = Verdict((Finding("rows", True, "All there."), Finding("order", False, "Not sorted by what is shown.")))


def test_findings_stand_in_columns():
    assert list(of_findings(VERDICT)) == [
        "  ok      rows   All there.",
        "  FAILED  order  Not sorted by what is shown.",
    ]


def test_findings_are_wrapped_under_themselves_in_a_terminal():
    assert list(of_findings(VERDICT, 42))[1:] == ["  FAILED  order  Not sorted by what is", "                 shown."]


def test_a_terminal_too_narrow_to_wrap_gets_whole_lines():
    assert list(of_findings(VERDICT, 30)) == list(of_findings(VERDICT))
