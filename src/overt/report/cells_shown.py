# SPDX-License-Identifier: Apache-2.0
# Tested through tests/report/test_opening.py
"""Cells shown: what the published texts of a quasi-identifier look like, and how wide they are, from the texts alone."""

import re
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from overt.report.sentences import percent
from overt.table import Column

_RANGE = re.compile(r"(?P<low>[^\"{}]+?)\.\.(?P<high>[^\"{}]+?)(?: or missing)?")
_MEMBER = re.compile(r'"(?:[^"\\]|\\.)*"|[^",{}]+')


@dataclass(frozen=True)
class CellsShown:
    """How many rows show each form of cell in a column, and how wide the wide ones are."""

    single: int  # rows that show one value, or one label of a hierarchy
    ranges: int
    sets: int
    everything: int  # *
    missing: int
    median_width: float | None  # of ranges of numbers (or of days), over rows
    widest: float | None
    unit: str  # "" or "days"
    median_members: float | None  # of sets, over rows

    @classmethod
    def of(cls, column: Column) -> "CellsShown":
        """Read the texts of a column as it is published."""
        rows = dict.fromkeys(("single", "ranges", "sets", "everything", "missing"), 0)
        widths: list[tuple[float, int]] = []
        members: list[tuple[float, int]] = []
        units = set()
        for text, count in zip(column.values.to_list(), column.total_of_value.tolist(), strict=True):
            form = _form_of(text)
            rows[form] += count
            if form == "ranges" and (found := _width_of(text)) is not None:
                widths.append((found[0], count))
                units.add(found[1])
            elif form == "sets":
                members.append((len(_MEMBER.findall(text[1:-1].replace(", ", ","))), count))
        known = len(units) == 1
        return cls(
            **rows,
            median_width=_median(widths) if known else None,
            widest=max(width for width, _ in widths) if known else None,
            unit=units.pop() if known else "",
            median_members=_median(members) if members else None,
        )

    @property
    def words(self) -> str:
        """What the column looks like, in a sentence."""
        n_rows = self.single + self.ranges + self.sets + self.everything + self.missing
        unit = f" {self.unit}" if self.unit else ""
        width = f", half of them at most {self.median_width:,.6g}{unit} wide" if self.median_width is not None else ""
        members = f", half of them of at most {self.median_members:,.6g}" if self.median_members is not None else ""
        parts = [
            (self.single, "one value or one label"),
            (self.ranges, f"a range{width}"),
            (self.sets, f"a set of values{members}"),
            (self.everything, "nothing (*)"),
            (self.missing, "that it is missing"),
        ]
        return "; ".join(f"{percent(rows / n_rows)} of rows show {what}" for rows, what in parts if rows)


def _form_of(text: str | None) -> str:
    if text is None:
        return "missing"
    if text == "*":
        return "everything"
    if text.startswith("{") and text.endswith("}"):
        return "sets"
    return "ranges" if _RANGE.fullmatch(text) else "single"


def _width_of(text: str) -> tuple[float, str] | None:
    """How far apart the ends of a range are; None for a range of texts."""
    found = _RANGE.fullmatch(text)
    assert found is not None
    low, high = found["low"], found["high"]
    try:
        return float(high) - float(low), ""
    except ValueError:
        pass
    try:
        return float((date.fromisoformat(high[:10]) - date.fromisoformat(low[:10])).days), "days"
    except ValueError:
        return None


def _median(weighted: list[tuple[float, int]]) -> float:
    """The least number that at least half of the weight does not exceed."""
    ordered: NDArray[np.float64] = np.array(sorted(weighted), np.float64)
    reached = np.cumsum(ordered[:, 1])
    return float(ordered[np.searchsorted(reached, reached[-1] / 2), 0])
