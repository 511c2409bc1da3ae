# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_database.py
"""Plans: how a column of a database is asked for and what it becomes, decided from its type before anything arrives.

Whatever could arrive in a form that Arrow, Polars or a person would misread is turned into text by the server. The
full list of types and what becomes of them is in docs/guides/databases.md.
"""

from dataclasses import dataclass
from typing import Literal

from overt.errors import InvalidInput

Becomes = Literal[
    "as it is",  # numbers, dates, moments, booleans: of the type that the driver gives them
    "text",
    "loose text",  # text whose kind is to be found, as in a CSV file
    "decimal",  # an exact number, written as text
    "order",  # text with the order that an enumeration gives it
    "lone text",  # text that every cell is given by itself; null if it cannot be read
]


@dataclass(frozen=True)
class ColumnPlan:
    """How one column is read."""

    name: str
    expression: str  # what to SELECT
    becomes: Becomes
    type_name: str  # in the words of the database
    why_not: str = ""  # why it cannot have a role, and what to do; empty if it can
    labels: tuple[str, ...] = ()  # of an enumeration
    floats: str | None = None  # of a column that mixes texts and fractions: what selects the fractions

    def require_role(self) -> None:
        """Refuse a column that cannot be a quasi-identifier or sensitive."""
        if self.why_not:
            raise InvalidInput(f"Column {self.name!r} is of type {self.type_name}: {self.why_not}")
