# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_persons.py
"""What a recipe may say of persons with several rows, and what of it does not fit together: refused by name, before any data is read."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from overt.errors import InvalidInput
from overt.io.recipe.toml_lines import KeyPath
from overt.method import Method
from overt.privacy.base import Property

if TYPE_CHECKING:
    from overt.io.recipe.settings import Settings

INSTEAD = "use l-diversity, alpha-k-anonymity, relative-risk, beta-likeness or t-closeness (equal), or keep one row per person (keep = 1)"


def person_contradictions(settings: "Settings", method: type[Method]) -> Iterator[tuple[KeyPath, str]]:
    """What is wrong with what a recipe says of persons."""
    said, chosen = settings.input, settings.method
    varying = [name for name, column in settings.columns.items() if getattr(column, "varies", None)]
    if settings.output.rows == "pooled":
        if said.person is None or said.keep == 1:
            yield (
                ("output", "rows"),
                'rows = "pooled" is for persons with several rows; leave \'rows\' out, or say in [input] whose rows they are (person = "...") and keep several.',
            )
        elif settings.output.flat or getattr(chosen, "form", "buckets") != "buckets":
            yield (
                ("output", "rows"),
                'rows = "pooled" is for sensitive values in a table of their own; use form = "buckets" in [method], without flat.',
            )
    if said.person is None:
        for key in ("keep", "which", "order", "known"):
            if getattr(said, key) is not None:
                yield (
                    ("input", key),
                    f"'{key}' of [input] is about the rows of a person; also say which column identifies the person: person = \"...\".",
                )
        for name in varying:
            yield (
                ("columns", name, "varies"),
                f'{name!r} varies between the rows of a person; say in [input] which column identifies the person: person = "...".',
            )
        return
    yield from _contradictory_roles(settings)
    yield from _contradictory_knowledge(settings, varying)
    several = has_several_values(settings)
    if method.is_dp:
        yield (
            ("input", "person"),
            "a differentially private method counts rows, and somebody with m rows has m times its epsilon (group privacy): make a file with "
            'one row per person for it, or use "blind-buckets".',
        )
    elif several and not method.takes_bundles:
        yield (
            ("method", "name"),
            f"{method.name} does not support persons with several rows: somebody who knows which rows belong to one person could intersect "
            'their groups. Use "blind-buckets", or keep one row per person (keep = 1), and then only this row is protected.',
        )
    if several and settings.output.others:
        yield (
            ("output", "others"),
            "columns without a role cannot be released of persons with several rows; leave out 'others', or keep one row per person (keep = 1).",
        )


def has_several_values(settings: "Settings") -> bool:
    """Whether a person can have several sensitive values: also of a column that varies and that nobody knows."""
    columns = settings.columns.values()
    is_static = settings.input.known == "static"
    has_values = any(
        column.role == "sensitive" or (is_static and getattr(column, "varies", None)) for column in columns
    )
    return settings.input.person is not None and settings.input.keep != 1 and has_values


def require_bundles(goal: Property) -> None:
    """Refuse a property that is defined for one value per person only."""
    if not goal.takes_bundles:
        raise InvalidInput(f"{goal} is defined for one value per person, and here a person has several: {INSTEAD}.")


def _contradictory_roles(settings: "Settings") -> Iterator[tuple[KeyPath, str]]:
    said, columns = settings.input, settings.columns
    role = columns[said.person].role if said.person in columns else "identifier"
    if role != "identifier":
        yield (
            ("input", "person"),
            f"{said.person!r} identifies persons and is never released; give it the role 'identifier', not '{role}'.",
        )
    if said.order is not None and said.order in columns and columns[said.order].role == "sensitive":
        yield (
            ("input", "order"),
            f"{said.order!r} is sensitive and cannot be the order, because the choice of rows would reveal something about it; name a date.",
        )
    if said.which in ("latest", "first") and said.order is None:
        yield (
            ("input", "which"),
            f'which = "{said.which}" needs order = "..." in [input]: the column that says which row is earlier.',
        )
    if said.which is not None and said.keep in (None, "all"):
        yield (
            ("input", "which"),
            "'which' says which rows are kept, but all rows are kept; give, for example, keep = 3, or leave 'which' out.",
        )
    if said.order == said.person:
        yield ("input", "order"), f"{said.order!r} identifies persons; name another column for the order."


def _contradictory_knowledge(settings: "Settings", varying: list[str]) -> Iterator[tuple[KeyPath, str]]:
    if settings.input.known == "static" and settings.input.keep != 1:
        for name in varying:
            if getattr(settings.columns[name], "show", None) is not None:
                yield (
                    ("columns", name, "show"),
                    f"with known = \"static\" {name!r} stands beside the sensitive values as it is; leave 'show' out.",
                )
