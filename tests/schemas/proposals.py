# SPDX-License-Identifier: Apache-2.0
"""How many roles of the schemas are proposed right."""

from collections.abc import Iterable
from pathlib import Path

from overt.io.profiling import profile_file
from overt.table import Role
from schemas.cells import Schema

LETTERS = {Role.IDENTIFIER: "I", Role.QUASI_IDENTIFIER: "Q", Role.SENSITIVE: "S", Role.OTHER: "O"}


def share_right(schemas: Iterable[Schema], folder: Path) -> tuple[int, int, list[tuple[str, str, str, str]]]:
    """(columns whose role is right, all columns, (schema, column, expected, proposed) of the others)."""
    n_columns, wrong = 0, []
    for schema in schemas:
        path = folder / "schema.csv"
        schema.frame().write_csv(path)
        for column in profile_file(path).columns:
            n_columns += 1
            if LETTERS[column.role] not in schema.expected[column.name]:
                wrong.append((schema.name, column.name, schema.expected[column.name], LETTERS[column.role]))
    return n_columns - len(wrong), n_columns, wrong
