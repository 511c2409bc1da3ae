# SPDX-License-Identifier: Apache-2.0
"""A first recipe for a file that nobody has described yet: it runs as it is, and says why it is as it is."""

import os
from collections.abc import Iterator
from math import floor, log10
from pathlib import Path

import polars as pl

from overt.errors import InvalidInput, OvertError
from overt.hierarchy import Levels
from overt.hierarchy.texts import texts_of
from overt.io.database.address import is_path, is_variable, path_of
from overt.io.profiling import ColumnProfile, Profile, is_code, lengths_of
from overt.io.toml_text import key_of, text_of, value_of
from overt.metrics.uniques import Uniques, find_uniques
from overt.table import Column, Kind, Role, Table

K = 5
L = 3
T = 0.3
ROLE_WORDS = {
    Role.IDENTIFIER: "Names or reaches a person: never released.",
    Role.QUASI_IDENTIFIER: "What somebody who looks for a person may know: released in coarser values.",
    Role.SENSITIVE: "What nobody may learn about a person.",
    Role.OTHER: "No role: not released unless [output] names it under `others`.",
}


def table_of_profile(profile: Profile) -> Table:
    """The quasi-identifiers and sensitive columns that are proposed, as a table."""
    columns = tuple(
        Column(one.name, one.role, one.column.kind, one.column.codes, one.column.values)
        for one in profile.columns
        if one.column is not None
    )
    if not any(column.role is Role.QUASI_IDENTIFIER for column in columns):
        raise InvalidInput(
            f"No column of {profile.path.name} looks like something that others may know of a person; "
            "write a recipe by hand, or name quasi-identifiers."
        )
    return Table(columns, pl.DataFrame())


def unique_words(uniques: Uniques) -> str:
    """How many rows can be singled out, and by how little."""
    share = f"{uniques.n_unique / uniques.n_rows:.0%}".replace("%", " %")
    if not uniques.sets:
        return f"{share} of rows are unique on all quasi-identifiers together"
    worst = uniques.sets[0]
    part = (
        f"{worst.n_rows / uniques.n_rows:.0%}".replace("%", " %")
        if worst.n_rows >= uniques.n_rows / 100
        else f"{worst.n_rows:,}"
    )
    together = " and ".join(filter(None, [", ".join(worst.columns[:-1]), worst.columns[-1]]))
    return f"{share} of rows are unique on all quasi-identifiers together, {part} on {together} alone"


def propose_recipe(profile: Profile, *, recipe: Path, output: str = "release.csv") -> str:
    """The text of a recipe for a file, with paths as seen from where the recipe will lie."""
    return "\n".join(_lines(profile, recipe, output)) + "\n"


def _lines(profile: Profile, recipe: Path, output: str) -> Iterator[str]:
    table = table_of_profile(profile)
    uniques = find_uniques(table)
    yield "# A recipe for `overt run`, proposed by `overt init`. The roles are guesses: read them before you rely on them."
    yield f"# {profile.n_rows:,} rows, {len(profile.columns)} columns. {unique_words(uniques)}."
    yield from ("version = 1", "", "[input]")
    yield from _origin_lines(profile, recipe)
    if len(profile.missing_values) > 1:
        yield f"missing_values = {value_of(profile.missing_values)}  # texts that mean: not known"
    yield from _doubtful_marks(profile)
    for role in (Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.OTHER):
        if profile.of_role(role):
            yield from ("", f"# {ROLE_WORDS[role]}")
        for n, column in enumerate(profile.of_role(role)):
            yield from ([""] if n else [])
            yield from _column_lines(column, profile, recipe)
    yield from ("", "# Every goal must hold.", "[[goal]]", 'property = "k-anonymity"')
    yield f"k = {min(K, profile.n_rows)}  # everybody is one of at least so many who look alike"
    yield from _sensitive_goals(table)
    yield from (
        "",
        "[method]",
        'name = "mondrian"  # holds against someone who sees the release, not one who replays it',
    )
    yield from ("", "[output]", f"path = {text_of(output)}")
    if profile.origin is not None:
        yield "# To write to a table instead: database = the name of an environment variable, and table = the table's name."


def _origin_lines(profile: Profile, recipe: Path) -> Iterator[str]:
    """Where the data is."""
    origin = profile.origin
    if origin is None:
        yield f"path = {text_of(_seen_from(recipe, profile.path))}"
        return
    reference = _seen_from(recipe, Path(path_of(origin.database))) if is_path(origin.database) else origin.database
    if is_variable(reference):
        yield f"database = {text_of(reference)}  # an environment variable that holds the address; it does not belong in here"
    else:
        yield f"database = {text_of(f'./{reference}' if is_path(origin.database) and '/' not in reference else reference)}"
    yield (
        f"table = {text_of(str(origin.table))}"
        if origin.table is not None
        else f"query = {text_of(origin.query or '')}"
    )


def _column_lines(column: ColumnProfile, profile: Profile, recipe: Path) -> Iterator[str]:
    yield f"[columns.{key_of(column.name)}]  # {column.reason}"
    yield f'role = "{column.role}"'
    if column.role is Role.IDENTIFIER and column.repeats:
        yield 'repeats = "refuse"  # several rows for one person: make one row per person, or take this line out'
    if column.role is Role.SENSITIVE and any(other.n_missing for other in profile.of_role(Role.SENSITIVE)):
        why = f'{column.n_missing:,} rows have none; "drop" leaves them out' if column.n_missing else "as the others"
        yield f'missing = "own value"  # {why}'
    if column.column is not None and column.role is Role.QUASI_IDENTIFIER:
        yield from _hierarchy_lines(column.column, profile, recipe)


def _hierarchy_lines(column: Column, profile: Profile, recipe: Path) -> Iterator[str]:
    """A hierarchy: a file that lies beside the data and fits, or what the values suggest."""
    if column.kind is Kind.CATEGORY and bool(texts_of(column.values).str.contains(r"^\d+$").all()):
        yield 'kind = "category"  # digits that one cannot add up'
    found = _hierarchy_file(column, profile.path)
    if found is not None:
        yield f"hierarchy = {{ file = {text_of(_seen_from(recipe, found))} }}  # found beside the data; it covers all values"
        return
    known = column.values.drop_nulls()
    if column.kind is Kind.DATE:
        yield 'hierarchy = { dates = ["month", "quarter", "year", "decade"] }'
    elif column.kind is Kind.NUMBER and len(known) > 10:
        yield f"hierarchy = {{ widths = {value_of(_widths(column))} }}  # shown as ranges all the same"
    elif column.kind is Kind.CATEGORY and is_code(texts_of(known)):
        lengths = list(range(lengths_of(texts_of(known))[0] - 1, 0, -1))[:3]
        yield f"hierarchy = {{ prefixes = {value_of(lengths)} }}  # codes: beginnings that are the same belong together"
    elif column.kind is Kind.CATEGORY and len(known) > 6:
        yield '# hierarchy = { file = "..." }  # without one, groups show sets of values; a hierarchy shows labels'


def _widths(column: Column) -> list[float]:
    known = column.values.drop_nulls()
    width = float(known[-1] - known[0])
    power = 10.0 ** floor(log10(width / 16))
    step = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= width / 16 * (1 - 1e-9))
    if known.dtype.is_integer():
        step = max(1.0, step)
    widths = [step, 2 * step, 4 * step]
    return [int(w) if w == int(w) else round(w, 10) for w in widths]


def _hierarchy_file(column: Column, data: Path) -> Path | None:
    """A file beside the data whose name speaks of a hierarchy and of this column, if it covers the column."""
    name = column.name.lower()
    ours = data.name.partition(".")[0]
    for path in sorted(data.parent.glob("*.csv"), key=lambda path: (not path.name.startswith(ours), path.name)):
        stem = path.stem.lower()
        if "hierarchy" in stem and stem.endswith((f"_{name}", f"-{name}")):
            try:
                Levels.read(path).build(column.values, column.kind, column.total_of_value)
            except (OvertError, OSError, ValueError):
                continue
            return path
    return None


def _sensitive_goals(table: Table) -> Iterator[str]:
    for column in table.sensitive:
        most = table.n_rows // int(column.total_of_value.max())
        yield from ("", "[[goal]]")
        if most >= 2:
            l = min(L, most)
            yield 'property = "l-diversity"'
            yield f"l = {l}  # nobody's value is known with more than 1/{l}"
        else:
            yield "# One value has more than half of the rows, so l-diversity cannot be reached."
            yield 'property = "t-closeness"'
            yield f"t = {T}  # no group's values differ from the whole table's by more"
        yield f"column = {text_of(column.name)}"


def _doubtful_marks(profile: Profile) -> Iterator[str]:
    for column in profile.columns:
        if column.marks and not column.is_sure:
            marks = " and ".join(map(text_of, column.marks))
            yield (
                f"# {marks} stands in {column.n_marked:,} rows of {text_of(column.name)}: if that means missing, list it in "
                "missing_values; it then means so in every column."
            )


def _seen_from(recipe: Path, path: Path) -> str:
    return Path(os.path.relpath(path, recipe.parent)).as_posix()
