# SPDX-License-Identifier: Apache-2.0
"""Knowledge: what an adversary knows beside the release.

Every adversary here knows the quasi-identifiers of everyone in the table, and so who is in which group. What differs is
whether they also know the method, and which facts they have about single people.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.table import Column


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What an adversary knows beside the release and everyone's quasi-identifiers.

    Parameters
    ----------
    replays
        Whether they know the method with its parameters, and exclude tables that would have led to another release.
    known
        The positions of rows whose sensitive value they know.
    excluded
        (row, code of a value) for each value that they know a row does not have. Only true facts are taken.

    """

    replays: bool = True
    known: tuple[int, ...] = ()
    excluded: tuple[tuple[int, int], ...] = ()

    @property
    def n_facts(self) -> int:
        """How many facts about single people they have."""
        return len(set(self.known)) + len(set(self.excluded))

    def forbidden(self, column: Column) -> NDArray[np.bool_]:
        """(row, value) -> whether their facts rule it out."""
        n_rows = column.codes.size
        rows = [*self.known, *(row for row, _ in self.excluded)]
        if any(not 0 <= row < n_rows for row in rows):
            raise InvalidInput(f"Facts are about rows 0 to {n_rows - 1}; one is about a row that is not there.")
        if any(not 0 <= value < column.n_values for _, value in self.excluded):
            raise InvalidInput(
                f"Facts exclude codes 0 to {column.n_values - 1} of {column.name!r}; one excludes another."
            )
        if any(column.codes[row] == value for row, value in self.excluded):
            raise InvalidInput("A fact excludes the value that its row has; an adversary is given true facts only.")
        forbidden = np.zeros((n_rows, column.n_values), np.bool_)
        known = list(self.known)
        forbidden[known] = True
        forbidden[known, column.codes[known]] = False
        for row, value in self.excluded:
            forbidden[row, value] = True
        return forbidden


RELEASE_ONLY = Knowledge(replays=False)
