# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/streamliner/test_model.py
"""Colours and l-eligibility: when l-diversity can be reached at all.

Paper       W. M. Liu, L. Wang, "Privacy Streamliner", CODASPY 2012, section 2.1.
Implements  Colours; l-eligible tables (at most n / l rows share one value).
Departs     nothing.
Guarantee   Exact. The test depends on counts only, which every release shows.
"""

from collections.abc import Hashable, Sequence

import numpy as np

from overt.errors import InvalidInput, Unreachable
from overt.partition import Counts

Colour = tuple[int, ...]  # the rows that share one value, ascending


def colours(values: Sequence[Hashable]) -> dict[Hashable, Colour]:
    """The rows of every value, in order of first appearance.

    >>> colours("aabb")
    {'a': (0, 1), 'b': (2, 3)}
    """
    rows: dict[Hashable, list[int]] = {}
    for row, value in enumerate(values):
        rows.setdefault(value, []).append(row)
    return {value: tuple(members) for value, members in rows.items()}


def is_eligible(counts: Sequence[int] | Counts, l: int) -> bool:
    """Whether no value has more than 1/l of the rows, and there are rows.

    >>> is_eligible([2, 1, 1], 2), is_eligible([3, 1, 1], 2)
    (True, False)
    """
    array = np.asarray(counts, np.int64)
    n_rows = int(array.sum())
    return n_rows > 0 and l * int(array.max()) <= n_rows  # of any l: what 64 bits do not hold would turn round


def require_eligible(counts: Sequence[int] | Counts, l: int, *, column: str = "", where: str = "") -> None:
    """Raise the error that says which limit is exceeded, and what to do.

    `where` names the part of the table that the counts belong to, such as "in one stratum of 'gender'".
    """
    if l < 2:
        raise InvalidInput(f"l is {l}; l-diversity needs l to be a whole number from 2 on.")
    array = np.asarray(counts, np.int64)
    n = int(array.sum())
    if is_eligible(array, l):
        return
    place = f" {where}" if where else ""
    if n < l:
        raise Unreachable(
            f"{l}-diversity cannot be reached{place}: there are {n} rows and a group needs {l}; use l <= {n}."
        )
    count = int(array.max())
    of_column = f" of {column!r}" if column else ""
    remedy = f"Use l <= {n // count}, or suppress rows." if n // count >= 2 else "Suppress rows of that value."
    raise Unreachable(
        f"{l}-diversity cannot be reached{place}: one value{of_column} fills {count} of {n} rows, "
        f"and l={l} allows {n // l}. {remedy}"
    )
