# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_persons.py
"""What `overt init` proposes where persons have several rows: whose rows they are, how many are kept, and what varies.

How many rows somebody has, and which columns are the same in all of them, are looked at in everybody: they count as known.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from overt.io.profiling import ColumnProfile, PersonsFound, Profile
from overt.io.recipe.toml_text import text_of
from overt.table import Column, Kind, Role, Table

LEAST_PERSONS = 100  # with as many rows as are kept, so that there are groups of them
LEAST_SHARE = 0.005  # of all persons: fewer are cut to as many rows as others have
MOST_KEPT = 12


def rows_per_person(profile: Profile) -> list[tuple[int, int]]:
    """(rows, persons who have so many), ascending."""
    if profile.persons is None:
        return [(1, profile.n_rows)]
    n_rows, n_persons = np.unique(profile.persons.n_rows_of_person, return_counts=True)
    return list(zip(n_rows.tolist(), n_persons.tolist(), strict=True))


def keep_for(profile: Profile) -> int | None:
    """How many rows per person are proposed to be kept: as many as enough persons have; None if a row is a person."""
    if profile.persons is None:
        return None
    n_rows = profile.persons.n_rows_of_person
    enough = max(LEAST_PERSONS, LEAST_SHARE * profile.persons.n_persons)
    candidates = [m for m in range(1, MOST_KEPT + 1) if (n_rows >= m).sum() >= enough]
    return min(max(candidates, default=1), int(n_rows.max()))


def order_for(profile: Profile) -> str | None:
    """The first column of dates that differs between the rows of a person."""
    return next((c.name for c in profile.of_role(Role.QUASI_IDENTIFIER) if c.kind is Kind.DATE and c.n_differ), None)


def input_lines(profile: Profile, keep: int | None) -> Iterator[str]:
    """What [input] says of persons, and of households."""
    if profile.households is not None:
        yield f"# {text_of(profile.households.column)} numbers households. To protect that somebody in one has a value: overt init with --person"
    persons, order = profile.persons, order_for(profile)
    if persons is None or keep is None:
        return
    n_rows = persons.n_rows_of_person
    n_cut = int(np.maximum(n_rows - keep, 0).sum())
    yield f"person = {text_of(persons.column)}  # whose a row is: {persons.n_persons:,} persons have {profile.n_rows:,} rows, at most {int(n_rows.max()):,}"
    cut = "1 row is cut, of which" if n_cut == 1 else f"{n_cut:,} rows are cut, of which"
    lost = f"{cut} nothing is promised" if n_cut else "nobody has more"
    yield f"keep = {keep}  # most rows per person; {lost}"
    if keep == 1:
        yield "# One row per person protects the row that is kept, and not that somebody has a value in any of their rows."
    if n_cut:
        yield 'which = "latest"' if order is not None else 'which = "random"'
    if order is not None:
        yield f"order = {text_of(order)}"
    yield 'known = "visits"  # others may know how many rows somebody has, and what varies in them; "static": only what does not vary'


def persons_words(profile: Profile) -> Iterator[tuple[str, str]]:
    """Labels and texts: persons, rows per person, which columns vary; and households."""
    if profile.households is not None:
        found = profile.households
        yield (
            "Household",
            f"{found.n_households:,} by {found.column!r}, {found.n_several:,} of them with several people. What is promised holds for each person; that somebody in a "
            f"household has a value can be likelier than that. To protect that: overt init again, with --person {text_of(found.column)} --overwrite",
        )
    persons = profile.persons
    if persons is None:
        return
    counts = rows_per_person(profile)
    shown = ", ".join(f"{n_persons:,} have {n}" for n, n_persons in counts[:4])
    beyond = sum(n_persons for _, n_persons in counts[4:])
    more = f", {beyond:,} have more (at most {counts[-1][0]:,})" if beyond else ""
    yield (
        "Persons",
        f"{persons.n_persons:,} in {profile.n_rows:,} rows, by {persons.column!r}. Rows per person: {shown}{more}",
    )
    n_several = int((persons.n_rows_of_person > 1).sum())
    static = [column.name for column in profile.of_role(Role.QUASI_IDENTIFIER) if not column.n_differ]
    varying = [
        f"{c.name} (of {c.n_differ:,} of {n_several:,} persons with several rows)"
        for c in profile.of_role(Role.QUASI_IDENTIFIER)
        if c.n_differ
    ]
    if static:
        yield "Static", f"the same in all rows of each person: {', '.join(static)}"
    if varying:
        yield "Varying", f"differ between rows of a person: {', '.join(varying)}"


def varies_line(column: ColumnProfile, profile: Profile) -> Iterator[str]:
    """That a quasi-identifier belongs to a row."""
    if profile.persons is not None and column.n_differ:
        n_several = int((profile.persons.n_rows_of_person > 1).sum())
        yield f"varies = true  # differs between the rows of {column.n_differ:,} of {n_several:,} persons who have several"


def static_table(profile: Profile, persons: PersonsFound) -> Table:
    """One row per person with what does not vary: of each the value of a row in which it is not missing."""
    columns = []
    for one in profile.of_role(Role.QUASI_IDENTIFIER):
        if one.column is None or one.n_differ:
            continue
        column = one.column
        code = np.full(persons.n_persons, column.n_values, np.int64)
        np.minimum.at(code, persons.person_of_row, column.codes)
        columns.append(Column(one.name, one.role, column.kind, code.astype(np.int32), column.values))
    return Table(tuple(columns), pl.DataFrame())
