# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_persons.py
"""Persons who can be found by what others know of them: what never changes, how many rows they have, and some or all of these rows.

A person counts as found by one row if some row of theirs, with what never changes, is nobody else's; of a household as a person, that is a
household with a member like whom there is no other. By two rows: some two of theirs stand together in nobody else's.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.metrics.rows_of_persons import rows_of_table
from overt.partition import Partition
from overt.persons import COUNT
from overt.table import Table

MOST_PAIRS = 20_000_000
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class PersonUniques:
    """Of how many persons each kind of knowledge singles out how many; None where nothing varies, or there are too many pairs."""

    n_persons: int
    n_rows: int
    static: int | None  # None: nothing is static
    with_count: int
    with_one: int | None
    with_two: int | None
    with_all: int | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "persons": self.n_persons,
            "rows": self.n_rows,
            "unique": {
                "static": self.static,
                "with_count": self.with_count,
                "with_one_row": self.with_one,
                "with_two_rows": self.with_two,
                "with_all_rows": self.with_all,
            },
        }


def find_person_uniques(table: Table) -> PersonUniques:
    """Count them in a table of persons."""
    assert table.persons is not None
    varying = {position for of in table.persons.positions.values() for position in of}
    static = [c for c in table.quasi_identifiers if c.name != COUNT and c.name not in varying]
    known = Partition.of_columns(static).group_of_row.astype(np.int64) if static else np.zeros(table.n_rows, np.int64)
    person, place, columns = rows_of_table(table)
    n_rows = np.bincount(person, minlength=table.n_rows)
    counted = _together(known, n_rows)
    alone = {"static": _alone(known) if static else None, "with_count": _alone(counted)}
    if not columns:
        return PersonUniques(table.n_rows, person.size, alone["static"], alone["with_count"] or 0, None, None, None)
    visit = np.zeros(person.size, np.int64)
    for column in columns:
        visit = _together(visit, column.codes)
    order = np.lexsort((visit, person))
    visit, starts = visit[order], np.cumsum(np.append(0, n_rows))
    one = _found(_together(known[person], visit), person, table.n_rows)
    n_pairs = int((n_rows * (n_rows - 1) // 2).sum())
    two = None
    if n_pairs <= MOST_PAIRS:
        first, second, whose = _pairs(visit, starts, n_rows)
        two = int(_found(_together(_together(known[whose], first), second), whose, table.n_rows).sum())
    history = counted
    for at in range(int(n_rows.max())):
        here = np.where(n_rows > at, visit[np.minimum(starts[:-1] + at, visit.size - 1)], -1)
        history = _together(history, here + 1)
    del place
    return PersonUniques(
        table.n_rows, person.size, alone["static"], alone["with_count"] or 0, int(one.sum()), two, _alone(history)
    )


def _pairs(visit: Ids, starts: Ids, n_rows: Ids) -> tuple[Ids, Ids, Ids]:
    """Every two rows of each person, and of who has one row that row twice."""
    firsts, seconds, persons = [], [], []
    for length in np.unique(n_rows).tolist():
        these = np.flatnonzero(n_rows == length)
        held = visit[starts[these][:, None] + np.arange(length)]
        a, b = np.triu_indices(length, 1) if length > 1 else (np.zeros(1, np.int64), np.zeros(1, np.int64))
        firsts.append(held[:, a].ravel())
        seconds.append(held[:, b].ravel())
        persons.append(np.repeat(these, a.size))
    return np.concatenate(firsts), np.concatenate(seconds), np.concatenate(persons)


def _together(one: NDArray[Any], other: NDArray[Any]) -> Ids:
    """A number for each combination."""
    _, a = np.unique(one, return_inverse=True)
    _, b = np.unique(other, return_inverse=True)
    _, both = np.unique(a.astype(np.int64) * (int(b.max(initial=0)) + 1) + b, return_inverse=True)
    return both.astype(np.int64)


def _alone(key: Ids) -> int:
    return int((np.bincount(key) == 1).sum())


def _found(key: Ids, person: Ids, n_persons: int) -> NDArray[np.bool_]:
    """(person) -> whether they have a key that nobody else has."""
    held = np.unique(np.stack([key, person]), axis=1)
    is_lone = np.bincount(held[0])[held[0]] == 1
    found = np.zeros(n_persons, np.bool_)
    found[held[1][is_lone]] = True
    return found
