# SPDX-License-Identifier: Apache-2.0
"""How many roles of the schemas are proposed right."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from overt.io.profiling import profile_file
from overt.table import Role
from schemas.cells import Schema

LETTERS = {Role.IDENTIFIER: "I", Role.QUASI_IDENTIFIER: "Q", Role.SENSITIVE: "S", Role.OTHER: "O"}


@cache
def proposed_roles(schema: Schema) -> dict[str, str]:
    """(column) -> the letter of the role that is proposed for it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "schema.csv"
        schema.frame().write_csv(path)
        return {column.name: LETTERS[column.role] for column in profile_file(path).columns}


def share_right(schemas: Iterable[Schema]) -> tuple[int, int, list[tuple[str, str, str, str]]]:
    """(columns whose role is right, all columns, (schema, column, expected, proposed) of the others)."""
    n_columns, wrong = 0, []
    for schema in schemas:
        proposed = proposed_roles(schema)
        n_columns += len(proposed)
        for name, letter in proposed.items():
            if letter not in schema.expected[name]:
                wrong.append((schema.name, name, schema.expected[name], letter))
    return n_columns - len(wrong), n_columns, wrong
