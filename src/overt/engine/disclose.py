# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_disclose.py
"""`overt.disclose`: what an adversary who knows the method infers in a small case, step by step."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from numpy.random import Generator

from overt.algorithms.sequence.case_file import Case
from overt.audience import Audience
from overt.engine.result import Result
from overt.errors import InvalidInput
from overt.progress import Progress, silent
from overt.report.lines import aligned

HEADER = ("step", "tables with this release", "private?", "that come this far", "private?", "highest ratio")


@dataclass(frozen=True, eq=False)
class Disclosed(Result):
    """What `overt.disclose` gives: cases with their answers filled in."""

    audience: ClassVar[Audience | None] = None

    document: Mapping[str, Any]  # as it was given, answers filled in

    @property
    def cases(self) -> tuple[Mapping[str, Any], ...]:
        """The cases, each with the answers of its runs."""
        cases = self.document.get("cases")
        return tuple(cases) if isinstance(cases, list) else (self.document,)

    def content(self) -> dict[str, Any]:
        """The file with the answers filled in."""
        return dict(self.document)

    def lines(self, width: int | None = None) -> Iterator[str]:
        """Every case as tables."""
        for case in self.cases:
            yield from _lines_of(case)


def disclose(
    case: str | Path | Mapping[str, Any],
    *,
    only: str | None = None,
    tables: int = 0,
    rng: Generator | None = None,
    on_progress: Progress = silent,
) -> Disclosed:
    """Compute for a small table what a sequence of functions releases under several strategies, and what this reveals.

    `case` is a JSON file or its content: one case, or several under "cases"; `only` names one of them. Disclosure sets of at
    most `tables` tables are listed. With `rng`, what is too large for an exact answer is estimated by sampling.

    >>> case = {"rows": ["A", "B"], "values": ["flu", "cold"], "functions": [{"name": "g", "groups": [["A", "B"]]}],
    ...         "sequence": ["g"], "property": {"kind": "distinct_l", "l": 2}, "runs": [{"strategy": {"kind": "safe"}}]}
    >>> disclose(case).cases[0]["runs"][0]["expected"]["released_function"]
    'g'
    """
    name, document = ("The case", case) if isinstance(case, Mapping) else _read(Path(case))
    several = isinstance(document, Mapping) and isinstance(document.get("cases"), list)
    cases = document["cases"] if several else [document]
    if only is not None:
        cases = [one for one in cases if one.get("id") == only]
        if not cases:
            raise InvalidInput(f"{name} has no case {only!r}.")
    answered = []
    for done, one in enumerate(cases):
        on_progress("Analysing cases", done, len(cases))
        read = Case.read(one)
        if not read.strategies:
            raise InvalidInput(
                f"A case of {name} has no 'runs'; name at least one strategy, as docs/theory/sequences.md shows."
            )
        runs = [{**run, "expected": read.answer(run["strategy"], max_tables=tables, rng=rng)} for run in one["runs"]]
        answered.append({**one, "runs": runs})
    return Disclosed({**document, "cases": answered} if several else answered[0])


def _read(path: Path) -> tuple[str, Any]:
    try:
        return path.name, json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:  # no UTF-8, no JSON, numbers or nesting without end
        why = f": {error.msg}, line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InvalidInput(f"{path.name} is not JSON in UTF-8{why}; docs/theory/sequences.md shows a case.") from None


def _lines_of(case: Mapping[str, Any]) -> Iterator[str]:
    yield f"{case.get('id', 'Case')}: {len(case['rows'])} rows, functions {', '.join(case['sequence'])}"
    for run in case["runs"]:
        strategy, found = run["strategy"], run["expected"]
        name = " ".join(str(part) for part in strategy.values())
        yield ""
        if "choices" in found:
            yield f"  {name}: {found['feasible']} of {len(found['choices'])} choices explain the release"
            yield from aligned([("row", "averaged over choices", "weighted by tables"), *_averages(found)])
            continue
        released = found["released_function"]
        yield f"  {name}: " + (f"releases {released} at step {found['released']}" if released else "releases nothing")
        rows = [HEADER]
        for step in found["steps"]:
            sizes = (str(step["per_size"]), str(step["ds_size"]))
            private = ["yes" if step[key] else "no" for key in ("p_per", "p_ds")]
            rows.append((str(step["step"]), sizes[0], private[0], sizes[1], private[1], str(step["ds_max_ratio"])))
        yield from aligned(rows)
    yield ""


def _averages(found: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Per row the likeliest value under both rules."""
    rows = []
    for row in found["average"] or {}:
        likeliest = []
        for rule in ("average", "bayes"):
            value, ratio = max(found[rule][row].items(), key=lambda pair: Fraction(pair[1]))
            likeliest.append(f"{value}: {ratio}")
        rows.append((row, likeliest[0], likeliest[1]))
    return rows
