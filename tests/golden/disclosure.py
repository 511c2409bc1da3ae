# SPDX-License-Identifier: Apache-2.0
"""Golden family: sequences of functions under the strategies of the k-jump and the exclusive paper.

`ds_tables` is filled in where it is asked for: a case or a run with `"ds_tables": true` lists every set of up to
100 tables, with `"ds_tables": n` every set of up to n.
"""

from overt.algorithms.sequence.case_file import Case
from overt.errors import OvertError


def recognises(document):
    cases = document.get("cases") if isinstance(document, dict) else None
    return bool(cases) and all(isinstance(case, dict) for case in cases) and any(is_case(case) for case in cases)


def is_case(case):
    return {"rows", "values", "functions", "sequence", "property", "runs"} <= case.keys()


def answer(document):
    return {**document, "cases": [answer_case(case) if is_case(case) else case for case in document["cases"]]}


def answer_case(case):
    try:
        read = Case.read(case)
    except (OvertError, KeyError):
        return case
    return {**case, "runs": [answer_run(read, run, case.get("ds_tables")) for run in case["runs"]]}


def answer_run(case, run, asked):
    asked = run.get("ds_tables", run["strategy"].get("ds_tables", asked))
    max_tables = 100 if asked is True else int(asked or 0)
    try:
        return {**run, "expected": case.answer(run["strategy"], max_tables=max_tables)}
    except (OvertError, KeyError):
        return run
