# SPDX-License-Identifier: Apache-2.0
"""The name of a table in the catalog of a cluster: that of the table, perhaps after a database, perhaps after a catalog."""

import re
from dataclasses import dataclass
from typing import Self

from overt.errors import InvalidInput

TABLE_OF_CATALOG = "table"  # the format that says so in a recipe
_PART = re.compile(r"[A-Za-z0-9_]+")


@dataclass(frozen=True)
class CatalogTable:
    """The name of a table that is written. Letters, digits and underscores are what every catalog takes.

    >>> str(CatalogTable.parse("clinic.release").beside("sensitive"))
    'clinic.release_sensitive'
    """

    parts: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `table`, `database.table` or `catalog.database.table`."""
        parts = tuple(text.split("."))
        if len(parts) > 3 or not all(map(_PART.fullmatch, parts)):
            raise InvalidInput(
                f"{text!r} is no name of a table that Overt writes to a catalog; write table, database.table or catalog.database.table, each of "
                "letters, digits and underscores without accents."
            )
        return cls(parts)

    def __str__(self) -> str:
        return ".".join(self.parts)

    @property
    def name(self) -> str:
        """Without its database."""
        return self.parts[-1]

    @property
    def database(self) -> tuple[str, ...]:
        """Its database, perhaps after a catalog; nothing where the name leaves that to the session."""
        return self.parts[:-1]

    @property
    def quoted(self) -> str:
        """As SQL takes it."""
        return ".".join(f"`{part}`" for part in self.parts)

    def called(self, name: str) -> Self:
        """Another table of the same database."""
        return type(self)((*self.database, name))

    def beside(self, ending: str) -> Self:
        """The table of the same release with this name at its end: "sensitive" of `release` is `release_sensitive`."""
        return self.called(f"{self.name}_{ending.replace('-', '_')}")

    def is_same(self, other: str) -> bool:
        """Whether another name, as far as both say it, is of the same table: catalogs do not tell large from small letters."""
        ours, theirs = ([p.strip("`").lower() for p in reversed(str(one).split("."))] for one in (self, other))
        return all(mine == his for mine, his in zip(ours, theirs, strict=False))
