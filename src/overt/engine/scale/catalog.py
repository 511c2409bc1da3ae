# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_catalog_release.py
"""The catalog of a session of Spark: what a release needs of it, by calls that classic and Connect both have."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overt.errors import InvalidInput
from overt.io.catalog_table import CatalogTable

MARK = "overt.run"  # the property of a table that says which run made it


@dataclass(frozen=True)
class SparkCatalog:
    """The tables that a session knows by their names. `failing` says of a failure what is known without the words of Spark."""

    session: Any
    failing: Callable[[Callable[[], Any]], Any]

    def found(self, table: CatalogTable) -> CatalogTable:
        """The table with its database, in which no view of the session hides it; refused where there is no such database."""
        if not table.database:
            current = str(self.failing(self.session.catalog.currentDatabase))
            return CatalogTable((current, table.name))
        database = ".".join(f"`{part}`" for part in table.database)
        if not self.failing(lambda: self.session.catalog.databaseExists(database)):
            raise InvalidInput(
                f"There is no database {'.'.join(table.database)} in the catalog of this session; make it first, or give [output] another."
            )
        return table

    def exists(self, table: CatalogTable) -> bool:
        """Whether there is a table or a view of this name."""
        return bool(self.failing(lambda: self.session.catalog.tableExists(table.quoted)))

    def is_managed(self, table: CatalogTable) -> bool:
        """Whether it is a table whose rows go with it, and no view."""
        return bool(self.failing(lambda: self.session.catalog.getTable(table.quoted).tableType == "MANAGED"))

    def write(self, parts: Path, table: CatalogTable, token: str) -> None:
        """Make a table of Parquet files, and compare its columns with theirs."""
        rows = self.failing(lambda: self.session.read.parquet(parts.resolve().as_uri()))
        made = self.failing(lambda: self.session.conf.get("spark.sql.sources.default"))
        self.failing(lambda: rows.writeTo(table.quoted).using(made).tableProperty(MARK, token).create())
        written, kept = self._columns(rows), self._columns(self.session.table(table.quoted))
        if written != kept:
            raise InvalidInput(
                f"A table of this catalog ({made}) does not keep the names and types of the columns of the release; write files instead."
            )

    def rename(self, table: CatalogTable, to: CatalogTable) -> None:
        """Give a table another name in its database."""
        inside = CatalogTable(to.parts[-2:])  # a new name is inside the catalog of the old one
        self.failing(lambda: self.session.sql(f"ALTER TABLE {table.quoted} RENAME TO {inside.quoted}"))

    def drop(self, table: CatalogTable) -> None:
        """Remove a table, if it is there."""
        self.failing(lambda: self.session.sql(f"DROP TABLE IF EXISTS {table.quoted}"))

    def is_marked(self, table: CatalogTable, token: str) -> bool:
        """Whether a table was made by a run."""
        if not self.exists(table) or not self.is_managed(table):
            return False
        rows = self.failing(
            lambda: self.session.sql(f"SHOW TBLPROPERTIES {table.quoted} ('{MARK}')").select("value").collect()
        )
        return [str(row[0]) for row in rows] == [token]

    def names(self, beside: CatalogTable, prefix: str) -> Iterator[CatalogTable]:
        """The tables of a database whose names begin like that."""
        database = ".".join(f"`{part}`" for part in beside.database)
        rows = self.failing(
            lambda: self.session.sql(f"SHOW TABLES IN {database} LIKE '{prefix}*'").select("tableName").collect()
        )
        yield from (beside.called(str(row[0])) for row in rows)

    def _columns(self, rows: Any) -> list[tuple[str, Any]]:
        return list(self.failing(lambda: [(field.name, field.dataType) for field in rows.schema.fields]))
