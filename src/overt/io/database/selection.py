# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_database.py
"""What is read from a database: a table, or what a query gives."""

import re
from dataclasses import dataclass

from overt.errors import InvalidInput
from overt.io.database.address import Address, TableName


@dataclass(frozen=True)
class Selection:
    """A table or a query of a database."""

    database: Address
    table: TableName | None = None
    query: str | None = None

    def __post_init__(self) -> None:
        if (self.table is None) == (self.query is None):
            raise InvalidInput("A database is read by table or by query: name one of the two.")
        if self.query is not None and not self.query.strip().rstrip(";").strip():
            raise InvalidInput("The query is empty; write a SELECT.")
        if self.query is not None and ";" in _bare(self.query):  # SQLite would run the first and forget the others
            raise InvalidInput("The query holds several statements; one SELECT is read.")

    @classmethod
    def of(cls, database: Address, *, table: str | None = None, query: str | None = None) -> "Selection":
        """From words."""
        return cls(database, None if table is None else TableName.parse(table), query)

    @property
    def name(self) -> str:
        """What to call it: the table, or "query"."""
        return "query" if self.table is None else str(self.table)

    @property
    def what(self) -> str:
        """What to call it in a sentence."""
        return "the query" if self.table is None else f"table {self.table}"

    @property
    def sql(self) -> str:
        """What stands after FROM."""
        if self.table is not None:
            return self.table.quoted
        # the query ends before its semicolon, and a comment at its end ends before the bracket
        return "(" + re.sub(r"[;\s]+\Z", "", self.query or "") + "\n) AS overt_query"


def _bare(query: str) -> str:
    """A query without the texts, names and comments in it, and without what ends it."""
    quoted = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\$(\w*)\$.*?\$\1\$|--[^\n]*|/\*.*?\*/"
    return re.sub(r"[;\s]+\Z", "", re.sub(quoted, " ", query, flags=re.DOTALL))
