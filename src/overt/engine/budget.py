# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_dp_run.py
"""`overt.budget`: what differentially private releases of data have cost, and how much they may."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overt.engine.result import Result
from overt.errors import InvalidInput
from overt.io.database.address import find_address, holds_password
from overt.io.ledger import Ledger, ledger_path, read_ledger, set_limit
from overt.privacy.base import Number
from overt.report.lines import labelled

NO_LIMIT = "none yet: set one with --epsilon and --delta before the first differentially private release"


@dataclass(frozen=True)
class Account(Result):
    """What `overt.budget` gives: the ledger of the data."""

    ledger: Ledger

    def content(self) -> dict[str, Any]:
        """The ledger as plain values."""
        return self.ledger.to_dict()

    def lines(self, width: int | None = None) -> Iterator[str]:
        """The limit, what is spent of it, and by which releases."""
        yield from labelled(self._rows(), width)

    def _rows(self) -> Iterator[tuple[str, str]]:
        ledger = self.ledger
        yield "Limit", str(ledger.limit or NO_LIMIT)
        yield "Spent", f"{ledger.spent} by {len(ledger.releases)} releases"
        for entry in ledger.releases:
            cost = ledger.cost_of(entry)
            yield "Release", f"{entry.time:%Y-%m-%d %H:%M} UTC, {entry.release}, {entry.method}: {cost}"
        yield "Ledger", str(ledger.path)


def budget(data: str | Path, *, epsilon: Number | None = None, delta: Number | None = None) -> Account:
    """Read what the differentially private releases of some data have cost so far; with `epsilon` and `delta`, set a limit for their total.

    `data` is the file with the data, next to which the ledger is. For a table in a database, it is the name of the table, in the folder
    of the recipe.

    >>> import tempfile, overt
    >>> path = Path(tempfile.mkdtemp()) / "hospital.csv"
    >>> overt.budget(path, epsilon=1, delta="1/1000000").ledger.limit.epsilon
    Fraction(1, 1)
    >>> len(overt.budget(path).ledger.releases)
    0
    """
    said = str(data).replace(":/", "://", 1)  # a path has lost one of the slashes
    if holds_password(said):
        find_address(said)  # refuses it without repeating it
    if (epsilon is None) != (delta is None):
        raise InvalidInput("A limit has an epsilon and a delta; give both, or neither to see what was spent.")
    path = ledger_path(Path(data))
    return Account(read_ledger(path) if epsilon is None or delta is None else set_limit(path, epsilon, delta))
