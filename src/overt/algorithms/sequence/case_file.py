# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_docs.py
"""Case: a sequence, a table and strategies to run, as in a JSON file; and the answers in the same shape.

rows        names of the rows; values: one sensitive value per row
functions   [{name, groups}], groups = a partition of the row names
sequence    function names in evaluation order; a name may occur twice
property    {"kind": "max_ratio" | "recursive_cl" | "entropy_l" | "distinct_l" | "possible_values" |
             "rows_at_risk" | "personal_ratio", ...}
runs        [{"strategy": {"kind": "naive" | "safe" | "exclusive" | "jump" | "secret_subset", ...}}]
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import Generator

from overt.algorithms.sequence.equal_tables import AnyPosterior, RowPosterior
from overt.algorithms.sequence.functions import Function, Sequence
from overt.algorithms.sequence.inference import Inference
from overt.algorithms.sequence.properties import (
    DistinctL,
    EntropyL,
    MaxRatio,
    PersonalRatio,
    PossibleValues,
    RecursiveCL,
    RowsAtRisk,
    SetProperty,
)
from overt.algorithms.sequence.strategies.base import Strategy, StrategyRun, Visit
from overt.algorithms.sequence.strategies.exclusive import Exclusive
from overt.algorithms.sequence.strategies.k_jump import KJump
from overt.algorithms.sequence.strategies.naive import Naive
from overt.algorithms.sequence.strategies.safe import Safe
from overt.algorithms.sequence.subset_choice import Belief, SubsetChoice
from overt.errors import InvalidInput, OvertError
from overt.table import Codes

Json = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Case:
    """A table with named rows and values, a sequence, and the strategies asked for."""

    rows: tuple[str, ...]
    labels: tuple[str, ...]  # (code) -> value
    values: Codes
    sequence: Sequence
    strategies: tuple[Mapping[str, Any], ...]

    @classmethod
    def read(cls, case: Mapping[str, Any]) -> "Case":
        """From the shape above."""
        with _as_documented():
            return cls._read(case)

    @classmethod
    def _read(cls, case: Mapping[str, Any]) -> "Case":
        for part in ("rows", "values", "functions", "sequence", "property"):
            if part not in case:
                raise InvalidInput(
                    f"The case has no {part!r}; a case has rows, values, functions, sequence and property."
                )
        rows, values = tuple(map(str, case["rows"])), tuple(map(str, case["values"]))
        if len(rows) != len(values) or len(set(rows)) != len(rows):
            raise InvalidInput(f"The case has {len(rows)} rows and {len(values)} values; row names must differ.")
        labels = tuple(sorted(set(values)))
        code = {label: number for number, label in enumerate(labels)}
        functions = dict(read_function(function, rows) for function in case["functions"])
        unknown = [name for name in case["sequence"] if name not in functions]
        if unknown:
            raise InvalidInput(f"The sequence names {unknown[0]!r}; the functions are {', '.join(functions)}.")
        sequence = Sequence(tuple(functions[name] for name in case["sequence"]), read_property(case["property"], rows))
        strategies = tuple(run["strategy"] for run in case.get("runs", []))
        return cls(rows, labels, np.array([code[value] for value in values], np.int32), sequence, strategies)

    def answer(self, strategy: Mapping[str, Any], *, max_tables: int = 0, rng: Generator | None = None) -> Json:
        """Run one strategy; sets of up to `max_tables` tables are listed."""
        with _as_documented():
            if strategy.get("kind") == "secret_subset":
                choice, released = SubsetChoice(int(strategy.get("min_size", 2))), strategy["released"]
                return self._answer_secret(choice, released)
            chosen = read_strategy(strategy)
        inference = Inference(self.sequence, chosen, len(self.labels), rng=rng)
        outcome = inference.run(self.values)
        return self._write(outcome, max_tables)

    def _write(self, outcome: StrategyRun, max_tables: int) -> Json:
        last = outcome.visits[-1]
        return {
            "released": outcome.released,
            "path": [list(pair) for pair in outcome.path],
            "steps": [self._write_visit(visit, max_tables) for visit in outcome.visits],
            "posterior": None if outcome.released is None else self._write_posterior(last.disclosure.posterior),
            "released_function": outcome.function,
        }

    def _write_visit(self, visit: Visit, max_tables: int) -> Json:
        disclosure = visit.disclosure
        known = disclosure.knowledge
        written: Json = {
            "step": visit.step,
            "per_size": visit.permutation.count,
            "p_per": self.sequence.goal.holds(visit.permutation.posterior),
            "ds_size": known.count if isinstance(known.count, int) else str(known.count),
            "p_ds": disclosure.holds,
            "ds_max_ratio": str(known.posterior.highest),
            "ds_posterior": self._write_posterior(known.posterior),
        }
        if not known.exact:
            written["accuracy"] = known.accuracy
        if isinstance(known.count, int) and known.count <= max_tables:
            tables = disclosure.tables(max(visit.permutation.count, 1))
            written["ds_tables"] = sorted([self.labels[value] for value in table] for table in tables)
        return written

    def _write_posterior(self, posterior: AnyPosterior) -> Json:
        if isinstance(posterior, RowPosterior):
            return self._write_belief(posterior.of_row(row) for row in range(len(self.rows)))
        middle = posterior.middle
        return {
            row: {self.labels[value]: float(share) for value, share in enumerate(middle[cell]) if share > 0}
            for row, cell in zip(self.rows, posterior.cell_of_row.tolist(), strict=True)
        }

    def _write_belief(self, belief: Iterable[Mapping[int, Fraction]]) -> Json:
        return {
            row: {self.labels[value]: str(ratio) for value, ratio in sorted(of_row.items())}
            for row, of_row in zip(self.rows, belief, strict=True)
        }

    def _answer_secret(self, choice: SubsetChoice, released: Any) -> Json:
        secret = choice.infer(self.sequence, self.values, len(self.labels), released)
        written = []
        for one in secret.choices:
            known = one.knowledge
            posterior = None if known is None else self._write_posterior(known.posterior)
            written.append(
                {"subset": list(one.subset), "ds_size": 0 if known is None else known.count, "posterior": posterior}
            )
        none: Belief = ()
        feasible = bool(secret.feasible)
        return {
            "feasible": len(secret.feasible),
            "choices": written,
            "average": self._write_belief(secret.average()) if feasible else None,
            "bayes": self._write_belief(secret.bayes()) if feasible else None,
            "possible": {
                row: [self.labels[value] for value in possible]
                for row, possible in zip(self.rows, secret.possible() if feasible else none, strict=feasible)
            },
        }


@contextmanager
def _as_documented() -> Iterator[None]:
    """Refuse what has another shape, whatever it breaks on."""
    try:
        yield
    except OvertError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        raise InvalidInput(
            "The case does not have the shape of a case; docs/theory/sequences.md shows it, with every kind of property and strategy."
        ) from None


def read_function(function: Mapping[str, Any], rows: tuple[str, ...]) -> tuple[str, Function]:
    """A named partition of the row names."""
    position = {row: number for number, row in enumerate(rows)}
    name = str(function.get("name"))
    members = [str(row) for group in function["groups"] for row in group]
    if sorted(members) != sorted(rows):
        raise InvalidInput(f"The groups of {name!r} must hold every row of the case once.")
    return name, Function.from_groups(name, [[position[str(row)] for row in group] for group in function["groups"]])


def read_strategy(strategy: Mapping[str, Any]) -> Strategy:
    """A strategy by its kind."""
    match strategy.get("kind"):
        case "naive":
            return Naive()
        case "safe":
            return Safe()
        case "exclusive":
            return Exclusive()
        case "jump":
            k = strategy["k"]
            return KJump(k if isinstance(k, int) else tuple(k))
        case kind:
            raise InvalidInput(
                f"There is no strategy {kind!r}; the kinds are 'naive', 'safe', 'exclusive', 'jump' and 'secret_subset'."
            )


def read_property(given: Mapping[str, Any], rows: tuple[str, ...]) -> SetProperty:
    """A property by its kind."""
    match given.get("kind"):
        case "max_ratio":
            return MaxRatio(Fraction(given["delta"]), bool(given.get("strict", False)))
        case "recursive_cl":
            return RecursiveCL(Fraction(given["c"]), int(given["l"]))
        case "entropy_l":
            return EntropyL(Fraction(given["l"]))
        case "distinct_l":
            return DistinctL(int(given["l"]))
        case "possible_values":
            return PossibleValues(int(given["k"]))
        case "rows_at_risk":
            return RowsAtRisk(Fraction(given["delta"]), int(given["max_rows"]))
        case "personal_ratio":
            missing = [row for row in rows if row not in given["deltas"]]
            if missing:
                raise InvalidInput(
                    f"'personal_ratio' has no bound for {len(missing)} rows; give every row one in 'deltas'."
                )
            return PersonalRatio(tuple(Fraction(given["deltas"][row]) for row in rows))
        case kind:
            raise InvalidInput(
                f"There is no property {kind!r}; the kinds are 'max_ratio', 'recursive_cl', 'entropy_l', 'distinct_l', "
                "'possible_values', 'rows_at_risk' and 'personal_ratio'."
            )
