# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_scaled_run.py
"""What a run at scale achieved, for its owner."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overt.checks import Verdict
from overt.engine.outcome import PUBLISH_ONE, again, as_typed, findings_of
from overt.engine.result import RunResult
from overt.engine.scale.scaled_utility import ScaledUtility
from overt.guarantee import Guarantee
from overt.report.sentences import counted


@dataclass(frozen=True)
class ScaledOutcome(RunResult):
    """What `overt.run` gives with an engine; `places` is empty if the check failed, because then nothing is written."""

    recipe_path: Path
    method: str
    engine: str
    n_rows: int
    n_dropped: int
    n_suppressed: int
    n_groups: int
    n_fragments: int
    goal: str
    reached: str
    least_group: int
    discernibility: int
    utility: ScaledUtility | None  # None: no report was asked for
    guarantee: Guarantee
    remarks: Mapping[str, str]
    cautions: tuple[str, ...]
    instead: str  # that the method leaks, and which one reaches the same goal and does not
    verdict: Verdict
    is_of_catalog: bool  # whether only an engine finds the input, or the release
    input: str
    checked: str  # what to name to a check
    places: tuple[str, ...]

    def rows(self) -> Iterator[tuple[str, str]]:
        left_out = (
            [f"{counted(self.n_dropped, 'row')} with a missing sensitive value left out"] if self.n_dropped else []
        )
        left_out += [f"{self.n_suppressed:,} suppressed"] if self.n_suppressed else []
        dropped = f" ({', '.join(left_out)})" if left_out else ""
        yield (
            "Release",
            f"{self.n_rows - self.n_suppressed:,} rows{dropped} in {self.n_groups:,} groups, by {self.method}",
        )
        yield "Holds", f"{self.goal}; reached: {self.reached}"
        yield "Against", f"{self.guarantee}"
        if self.instead:
            yield "Instead", self.instead
        yield (
            "Cost",
            f"groups of {(self.n_rows - self.n_suppressed) / max(1, self.n_groups):,.1f} rows on average, the smallest of {self.least_group:,}; discernibility "
            f"{self.discernibility:,}",
        )
        if self.utility is not None:
            yield "Cost", str(self.utility)
        yield from self.remarks.items()
        yield "Engine", f"{self.engine}, in {self.n_fragments:,} fragments"
        yield from (("Caution", caution) for caution in self.cautions)
        yield from (("Files", place) for place in self.places)
        yield "Again", f"{again(self.recipe_path)} --engine {self.engine}"
        yield "Again", PUBLISH_ONE
        if self.places:
            on = f" --engine {self.engine}" if self.is_of_catalog else ""
            yield "Check", f"overt check {as_typed(self.input)} {as_typed(self.checked)}{on}"

    def content(self) -> dict[str, Any]:
        """The outcome as plain values."""
        return {
            "method": self.method,
            "engine": self.engine,
            "rows": self.n_rows,
            "rows_dropped": self.n_dropped,
            "rows_suppressed": self.n_suppressed,
            "groups": self.n_groups,
            "fragments": self.n_fragments,
            "goal": {"asked": self.goal, "reached": self.reached},
            **self.guarantee.to_dict(),
            "discernibility": self.discernibility,
            "smallest_group": self.least_group,
            "utility": None if self.utility is None else self.utility.to_dict(),
            "remarks": dict(self.remarks),
            "cautions": list(self.cautions),
            "instead": self.instead or None,
            "check": findings_of(self.verdict),
            "files": list(self.places),
        }
