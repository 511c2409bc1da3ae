# SPDX-License-Identifier: Apache-2.0
"""`overt disclose CASE`: what an adversary who knows the method infers, step by step."""

from pathlib import Path
from typing import Any

from cyclopts.types import NonNegativeInt

from overt.cli.console import Exit, Switch, say, say_json, say_table


def disclose(
    case: Path,
    /,
    *,
    only: str | None = None,
    tables: NonNegativeInt = 0,
    seed: NonNegativeInt | None = None,
    json: Switch = False,
) -> int:
    """Analyse a sequence of functions, a table and strategies: what is released, and what it gives away.

    Parameters
    ----------
    case
        A JSON file: one case, or several under "cases". docs/sequences.md shows its shape.
    only
        Analyse the case with this id only.
    tables
        List disclosure sets of up to so many tables.
    seed
        Estimate by sampling what is too large to be exact, with this seed.
    json
        Print the file with the answers filled in instead of tables.

    """
    import json as text

    import numpy as np

    from overt.algorithms.sequence.case import Case
    from overt.errors import InvalidInput

    try:
        document = text.loads(case.read_text("utf-8"))
    except (UnicodeDecodeError, text.JSONDecodeError) as error:
        raise InvalidInput(f"{case.name} is not JSON: {error}.") from None
    several = isinstance(document, dict) and isinstance(document.get("cases"), list)
    cases = document["cases"] if several else [document]
    if only is not None:
        cases = [one for one in cases if one.get("id") == only]
        if not cases:
            raise InvalidInput(f"{case.name} has no case {only!r}.")
    rng = None if seed is None else np.random.default_rng(seed)
    answered = []
    for one in cases:
        read = Case.read(one)
        if not read.strategies:
            raise InvalidInput(
                f"A case of {case.name} has no 'runs'; name at least one strategy, as docs/sequences.md shows."
            )
        runs = [{**run, "expected": read.answer(run["strategy"], max_tables=tables, rng=rng)} for run in one["runs"]]
        answered.append({**one, "runs": runs})
    if json:
        say_json({**document, "cases": answered} if several else answered[0])
    else:
        for one in answered:
            describe(one)
    return Exit.DONE


def describe(case: dict[str, Any]) -> None:
    """One case as tables."""
    say(f"{case.get('id', 'Case')}: {len(case['rows'])} rows, functions {', '.join(case['sequence'])}")
    for run in case["runs"]:
        strategy, found = run["strategy"], run["expected"]
        name = " ".join(str(part) for part in strategy.values())
        if "choices" in found:
            say(f"\n  {name}: {found['feasible']} of {len(found['choices'])} choices explain the release")
            say_table([("row", "averaged over choices", "weighted by tables"), *averages(found)])
            continue
        released = found["released_function"]
        say(f"\n  {name}: " + (f"releases {released} at step {found['released']}" if released else "releases nothing"))
        rows = [("step", "tables with this release", "private?", "that come this far", "private?", "highest ratio")]
        for step in found["steps"]:
            sizes = (str(step["per_size"]), str(step["ds_size"]))
            private = ["yes" if step[key] else "no" for key in ("p_per", "p_ds")]
            rows.append((str(step["step"]), sizes[0], private[0], sizes[1], private[1], str(step["ds_max_ratio"])))
        say_table(rows)
    say()


def averages(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Per row the likeliest value under both rules."""
    rows = []
    for row in found["average"] or {}:
        likeliest = []
        for rule in ("average", "bayes"):
            value, ratio = max(found[rule][row].items(), key=lambda pair: _fraction(pair[1]))
            likeliest.append(f"{value}: {ratio}")
        rows.append((row, likeliest[0], likeliest[1]))
    return rows


def _fraction(text: str) -> float:
    from fractions import Fraction

    return float(Fraction(text))
