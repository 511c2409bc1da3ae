# SPDX-License-Identifier: Apache-2.0
# Tested through tests/checks/test_check.py
"""Findings that every kind of release shares, in words for people: columns, rows, cells, order, goal."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from overt.checks.verdict import Claim, Finding, counted
from overt.partition import Groups, Histogram, Partition, sets_of
from overt.table import Codes, Column, Role, Table

AGAIN = "Make the release again from the original, and do not publish this one."


def find_columns(table: Table, frame: pl.DataFrame, wanted: Sequence[str]) -> Finding:
    """The right columns: none is missing, none is there that must not be."""
    missing = [name for name in wanted if name not in frame.columns]
    identifiers = [name for name in frame.columns if name in table.identifiers]
    unasked = [name for name in frame.columns if name not in wanted and name not in identifiers]
    faults = []
    if missing:
        faults.append(f"lacks {_columns(missing)}")
    if identifiers:
        faults.append(f"shows the identifying {_columns(identifiers)}, which must never be released")
    if unasked:
        faults.append(f"shows {_columns(unasked)}, which nobody asked for")
    if faults:
        return Finding("columns", False, f"The release {'; it '.join(faults)}. {AGAIN}")
    return Finding("columns", True, f"The release shows {_columns(wanted)} and nothing else.")


def find_rows(table: Table, n_lines: int, claim: Claim) -> Finding:
    """As many rows as are claimed, and no more than there were."""
    thing = "row" if table.persons is None else "person"
    if n_lines != claim.n_rows:
        return Finding(
            "rows",
            False,
            f"The release has {counted(n_lines, thing)}, and of this data it should have {claim.n_rows:,}. {AGAIN}",
        )
    if claim.n_rows > table.n_rows:
        return Finding(
            "rows",
            False,
            f"The release has {counted(n_lines, thing)}, and the original only {table.n_rows:,}. Check that this is "
            "the original that the release was made from.",
        )
    sentence = f"The release has {counted(n_lines, thing)}, as claimed"
    left_out = []
    if claim.n_rows < table.n_rows:
        left_out.append(f"{table.n_rows - claim.n_rows:,} suppressed")
    if table.n_dropped:
        left_out.append(f"{table.n_dropped:,} without a sensitive value")
    if left_out:
        sentence += f"; left out of the original: {' and '.join(left_out)}"
    return Finding("rows", True, sentence + ".")


def find_cells(n_unreadable: Mapping[str, int], n_columns: int) -> Finding:
    """Every cell can be read, and speaks of values that the original has."""
    faults = [f"{counted(n, 'cell')} of {name!r}" for name, n in n_unreadable.items() if n]
    if faults:
        return Finding(
            "cells",
            False,
            f"{', '.join(faults)} cannot be read: no value, range, set or label of the original is written there. "
            "Check that the hierarchies and the way columns are shown are those of the recipe; if they are, make the "
            "release again.",
        )
    return Finding("cells", True, f"Every cell of {counted(n_columns, 'column')} names values of the original.")


def find_order(is_canonical: bool, order: str) -> Finding:
    """Order says nothing that the cells do not."""
    if is_canonical:
        return Finding("order", True, f"Rows are in the order of {order}, which says nothing about the original.")
    return Finding("order", False, f"Rows are not in the order of {order}, so that it could tell who is who. {AGAIN}")


def find_goal(
    claim: Claim, sensitive: Sequence[Column], codes: Mapping[str, Codes], groups: Partition, called: str
) -> Finding:
    """The goal holds of the groups that a reader sees. What compares them with the table compares with the original."""
    if not groups.n_groups:
        return Finding("goal", True, f"{claim.goal} holds: the release has no rows.")
    unknown = [column.name for column in sensitive if (codes[column.name] >= column.n_values).any()]
    if unknown:
        return Finding(
            "goal",
            False,
            f"{claim.goal} cannot be judged while cells of {_columns(unknown)} name values that the original lacks.",
        )
    shown = [replace(column, role=Role.SENSITIVE, codes=codes[column.name], dtype=None) for column in sensitive]
    seen = Groups.of_ranges(shown, groups.rows, groups.starts)
    of_name = {column.name: column for column in sensitive}
    histograms = {name: _of_original(found, of_name[name]) for name, found in seen.histograms.items()}
    seen = replace(seen, histograms=histograms)
    n_broken = int(claim.goal.breaks(seen).sum())
    measured = f"measured: {claim.goal.describe_measure(seen)}"
    if n_broken:
        return Finding(
            "goal",
            False,
            f"{claim.goal} is broken by {n_broken:,} of {counted(groups.n_groups, called)} ({measured}). {AGAIN}",
        )
    return Finding("goal", True, f"{claim.goal} holds in {counted(groups.n_groups, called)} ({measured}).")


def _of_original(found: Histogram, column: Column) -> Histogram:
    """What is compared with the table compares with the original, suppressed rows included."""
    sets = None
    if found.sets is not None:
        whole = sets_of(column, np.arange(column.codes.size, dtype=np.int32), np.array([0, column.codes.size]))
        assert whole is not None
        sets = replace(whole, stratum_of_group=found.sets.stratum_of_group)
    return replace(found, total_of_value=column.total_of_member, sets=sets)


def find_truth(claim: Claim, n_rows: int, n_lines: int, n_paired: int, how: str) -> Finding:
    """Behind every line is a row of the original, behind each line another, and none is lost that is not claimed."""
    n_lost = min(n_rows, claim.n_rows) - n_paired
    if n_paired < n_lines or n_lost > 0:
        return Finding(
            "truth",
            False,
            f"{counted(n_lines - n_paired, 'line')} of the release can be no row of the original, and "
            f"{counted(n_lost, 'row')} of the original can be no line: something was lost, invented or altered. "
            f"{AGAIN}",
        )
    return Finding("truth", True, f"Behind every line is one row of the original, behind each line another: {how}.")


def not_checked(names: Sequence[str], reason: str) -> tuple[Finding, ...]:
    """Findings that could not be made are not good ones."""
    return tuple(Finding(name, False, f"Not checked: {reason}.") for name in names)


def _columns(names: Sequence[str]) -> str:
    quoted = ", ".join(map(repr, names))
    return f"column {quoted}" if len(names) == 1 else f"columns {quoted}"
