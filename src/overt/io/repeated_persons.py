# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_init.py
"""Persons who have several rows although no recipe says so: why that is refused, and the caution where a recipe allows it."""

from json import dumps

from overt.io.roles.header_words import numbers_persons


def repeated_words(name: str, where: str, n_persons: int, n_rows: int) -> str:
    """That persons have several rows, why that matters, and what to do. Where a header says that it numbers persons, nothing else will do."""
    allowed = "" if numbers_persons(name) else ' If nobody has several rows, say repeats = "allow" for it.'
    return (
        f"Column {name!r} of {where} has {n_persons:,} different values in {n_rows:,} rows: several rows for one person. Counted as rows, "
        f"five that look alike may be one person. Say whose they are: person = {dumps(name, ensure_ascii=False)} in [input]. A name alone does "
        f"not tell persons apart: number them in a column of their own.{allowed}"
    )


def allowed_words(name: str) -> str:
    """The caution where a recipe allows what would be refused."""
    return (
        f'{name!r} may have a value in several rows (repeats = "allow"), and every row counts as a person. If it identifies persons, k rows that look alike '
        f"may be one of them, and the release promises nothing about people: say person = {dumps(name, ensure_ascii=False)} in [input] instead."
    )
