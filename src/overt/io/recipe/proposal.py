# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_init.py
"""A first recipe for a file that nobody has described yet: it runs as it is, and says why it is as it is."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log10
from pathlib import Path

import numpy as np
import polars as pl
from numpy.random import Generator

from overt.algorithms.blind_buckets import bears_unseen_value, halvings_for
from overt.algorithms.blind_buckets.method import USUAL_BUCKET
from overt.errors import InvalidInput, OvertError
from overt.hierarchy import Levels
from overt.hierarchy.icd10 import are_icd10
from overt.hierarchy.texts import texts_of
from overt.io.database.address import is_path, is_variable, path_of
from overt.io.number_formats import NumberFormat
from overt.io.profiling import TELLING, ColumnProfile, Profile, is_code, lengths_of
from overt.io.recipe.person_proposal import input_lines, keep_for, static_table, varies_line
from overt.io.recipe.toml_text import key_of, text_of, value_of
from overt.metrics.uniques import Uniques, find_uniques
from overt.privacy import AllOf, FrequencyLDiversity, RelativeRisk, TCloseness
from overt.privacy.base import Property
from overt.table import Column, Kind, Role, Table

K = 5
L = 3
T = 0.1
TIMES = 2
ENOUGH = 30  # people of the pilot who have a value, so that what it says of their share holds of the others nearly
MANY = 10  # people of the pilot with rare values: fewer change no choice of a goal, which is public
MOST_ROWS = 500  # of a bucket that holds one copy of the rarest value at twice its share
MANY_AMOUNTS = 30  # different ones, of a column that counts or measures
FEW_BOUNDS = 5  # values with a bound of their own
MOST_BOUND = 0.7  # of a value that more persons have nothing useful is promised
FEW_NUMBERS = 10  # different ones: fewer may be codes
ROLE_WORDS = {
    Role.IDENTIFIER: "Identifies a person: never released.",
    Role.QUASI_IDENTIFIER: "What others may know about a person: released as coarser values.",
    Role.SENSITIVE: "What nobody should learn about a person.",
    Role.OTHER: "No role: not released unless [output] names it under `others`.",
}


def table_of_profile(profile: Profile) -> Table:
    """The columns with a proposed role, as a table; without the sensitive ones where those were looked at in a pilot alone.

    Where persons have several rows, what is the same in all of them, with one row per person.
    """
    if profile.persons is not None and any(not c.n_differ for c in profile.of_role(Role.QUASI_IDENTIFIER)):
        return static_table(profile, profile.persons)
    columns = tuple(
        Column(one.name, one.role, one.column.kind, one.column.codes, one.column.values)
        for one in profile.columns
        if one.column is not None
        and one.role is not Role.OTHER
        and not (profile.is_apart and one.role is Role.SENSITIVE)
    )
    if not any(column.role is Role.QUASI_IDENTIFIER for column in columns):
        unclear = f", and neither header nor cells say what this is: {profile.unclear}" if profile.unclear else ""
        raise InvalidInput(
            f"No column of {profile.path.name} looks like something that others may know of a person{unclear}; "
            "write a recipe by hand, or name quasi-identifiers."
        )
    return Table(columns, pl.DataFrame())


def pilot_of_profile(profile: Profile) -> Table | None:
    """The people of the pilot, whose sensitive values may be looked at; None if there is no pilot, or nothing to look at."""
    if profile.pilot is None or not profile.of_role(Role.SENSITIVE):
        return None
    columns = []
    for one in profile.columns:
        if one.column is not None and one.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
            codes = one.column.codes if one.role is Role.SENSITIVE else one.column.codes[profile.pilot]
            columns.append(Column(one.name, one.role, one.column.kind, codes, one.column.values))
    return Table(tuple(columns), pl.DataFrame())


def unique_words(uniques: Uniques, profile: Profile) -> str:
    """How many rows, or persons, can be singled out, and by how little."""
    if profile.persons is not None:
        static = any(not column.n_differ for column in profile.of_role(Role.QUASI_IDENTIFIER))
        return _unique_words(uniques, "persons" if static else "rows", " that do not vary" if static else "")
    return _unique_words(uniques, "rows", "")


def _unique_words(uniques: Uniques, things: str, which: str) -> str:
    share = f"{uniques.n_unique / uniques.n_rows:.0%}".replace("%", " %")
    if not uniques.sets:
        return f"{share} of {things} are unique on all quasi-identifiers{which} together"
    worst = uniques.sets[0]
    part = (
        f"{worst.n_rows / uniques.n_rows:.0%}".replace("%", " %")
        if worst.n_rows >= uniques.n_rows / 100
        else f"{worst.n_rows:,}"
    )
    together = " and ".join(filter(None, [", ".join(worst.columns[:-1]), worst.columns[-1]]))
    return f"{share} of {things} are unique on all quasi-identifiers{which} together, {part} on {together} alone"


def propose_recipe(
    profile: Profile, *, recipe: Path, rng: Generator, output: str = "release.csv", keep: int | None = None
) -> str:
    """The text of a recipe for a file, with paths as seen from where the recipe will lie.

    Goals and strata are chosen by what the pilot's people have, and without a pilot by nothing that anybody has. `keep` is how many rows of
    a person are kept, if that is decided already.
    """
    keep = keep_for(profile) if keep is None else keep
    return "\n".join(_lines(profile, recipe, output, keep, rng)) + "\n"


def _lines(profile: Profile, recipe: Path, output: str, keep: int | None, rng: Generator) -> Iterator[str]:
    table = table_of_profile(profile)
    uniques = find_uniques(table)
    yield "# A recipe for `overt run`, proposed by `overt init`. The roles are guesses: check them before you rely on them."
    yield "# Its comments are only for the owner of the data: they say how many rows are unique, and what is rare."
    yield f"# {profile.n_rows:,} rows, {len(profile.columns)} columns. {unique_words(uniques, profile)}."
    yield from ("version = 1", "", "[input]")
    yield from _origin_lines(profile, recipe)
    yield from input_lines(profile, keep)
    if len(profile.missing_values) > 1:
        yield f"missing_values = {value_of(profile.missing_values)}  # texts that stand for a missing value"
    yield from _doubtful_marks(profile)
    for role in (Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.OTHER):
        if profile.of_role(role):
            yield from ("", f"# {ROLE_WORDS[role]}")
        for n, column in enumerate(profile.of_role(role)):
            yield from ([""] if n else [])
            yield from _column_lines(column, profile, recipe)
    yield from ("", "# Every goal must hold.", "[[goal]]", 'property = "k-anonymity"')
    yield f"k = {min(K, profile.n_rows)}  # everybody looks the same as at least k - 1 others"
    pilot, sensitive = pilot_of_profile(profile), profile.of_role(Role.SENSITIVE)
    goals = [_goal_for(column, pilot, keep or 1) for column in sensitive]
    for goal in goals:
        yield from goal.lines
    if pilot is not None:
        yield from (
            "",
            "# A random sample of people. Only their values were used to choose the goals and strata of this recipe, and they are not published.",
        )
        yield from ("[pilot]", f"people = {profile.n_looked_at}")
    yield from ("", "[method]")
    if sensitive:
        yield 'name = "blind-buckets"  # also holds against somebody who replays it, whatever they believed before'
        if profile.n_rows < USUAL_BUCKET:
            yield f"rows_per_bucket = {profile.n_rows}"
        is_alone = pilot is None or profile.persons is not None  # persons are divided by how many rows they have
        asked = AllOf(tuple(goal.goal for goal in goals))
        depth = 0 if is_alone or pilot is None else halvings_for(pilot, asked, rng=rng).n
        why = (
            "persons with different numbers of rows are in different parts in any case"
            if profile.persons is not None
            else "chosen without looking at sensitive values"
            if pilot is None
            else "a value that few have could be in one part alone, and break the goal. If you know that this cannot happen, try 2 or 3"
            if not depth and not bears_unseen_value(asked, pilot.n_rows // 2, pilot.n_rows)
            else "as many as the goals allow, judging by the pilot"
        )
        yield f"stratify = {{ halvings = {depth} }}  # how often the table is halved into parts that share no box and no bucket; {why}"
    else:
        yield 'name = "mondrian"  # groups depend only on quasi-identifiers, so this also holds against somebody who replays it'
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
    if column.reason == TELLING:
        yield '# to release it all the same, say role = "sensitive" and give it a goal of its own'
    if column.role is Role.IDENTIFIER and column.repeats and profile.persons is None:
        yield 'repeats = "refuse"  # refuse several rows for one person'
    yield from varies_line(column, profile)
    if column.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):  # of others nothing is read
        yield from _reading_lines(column, profile)
    if column.role is Role.SENSITIVE:
        yield 'missing = "own value"  # treat missing as a value; "drop" leaves such rows out, "refuse" refuses the table'
    if column.column is not None and column.role is Role.QUASI_IDENTIFIER:
        yield from _hierarchy_lines(column.column, profile, recipe)


def _was_text(column: ColumnProfile) -> bool:
    """Whether the cells came as texts: of a format without types, or as texts of one that has them, as JSON has no dates."""
    return column.is_text or (column.column is not None and column.column.dtype == pl.String)


def _reading_lines(column: ColumnProfile, profile: Profile) -> Iterator[str]:
    """How cells are written, and what becomes of those that are not written so."""
    if isinstance(column.formats, NumberFormat):
        yield f"format = {text_of(column.formats.example)}  # how its numbers are written"
    elif column.formats is not None:
        formats = column.formats.formats
        said = value_of(list(formats)) if len(formats) > 1 else text_of(formats[0])
        notes = []
        if column.alternative is not None:
            notes.append(
                f"or {text_of(column.alternative)}: no cell shows which is the day and which the month, so find out"
            )
        if column.formats.has_short_years:
            notes.append("two-digit years are read as 1930 to 2029")
        yield f"format = {said}{'  # ' if notes else ''}{'; '.join(notes)}"
    elif column.kind is Kind.DATE and _was_text(column) and column.odd is None:
        yield 'kind = "date"'
    of_pilot = profile.is_apart and column.role is Role.SENSITIVE and column.column is not None
    may_be_odd = of_pilot and column.kind is Kind.NUMBER and column.is_text and column.n_distinct > FEW_NUMBERS
    if column.odd is None and not may_be_odd:
        return
    kind = "number" if column.kind is Kind.NUMBER else "date"
    if column.formats is None:
        yield f'kind = "{kind}"'
    if column.odd is None:
        yield f'unreadable = "missing"  # a cell that is no {kind} counts as missing; "refuse" stops instead'
        return
    n_odd = column.odd.numbers.size
    cells, count = (f"1 cell is no {kind}", "counts") if n_odd == 1 else (f"{n_odd:,} cells are no {kind}", "count")
    whose = " of the pilot" if of_pilot else ""
    yield f'unreadable = "missing"  # {cells}{whose} ({column.odd}) and {count} as missing; "refuse" stops instead'


def _hierarchy_lines(column: Column, profile: Profile, recipe: Path) -> Iterator[str]:
    """A hierarchy: a file that lies beside the data and fits, or what the values suggest."""
    if column.kind is Kind.CATEGORY and bool(texts_of(column.values).str.contains(r"^\d+$").all()):
        yield 'kind = "category"  # made of digits, but not a number'
    found = _hierarchy_file(column, profile.path)
    if found is not None:
        yield f"hierarchy = {{ file = {text_of(_seen_from(recipe, found))} }}  # found next to the data; it covers all values"
        return
    known = column.values.drop_nulls()
    if column.kind is Kind.DATE:
        yield 'hierarchy = { dates = ["month", "quarter", "year", "decade"] }'
    elif column.kind is Kind.NUMBER and len(known) > 10:
        yield f"hierarchy = {{ widths = {value_of(_widths(column))} }}  # ranges end at multiples of the first"
    elif column.kind is Kind.CATEGORY and are_icd10(texts_of(known)):
        yield 'hierarchy = { icd10 = ["category", "chapter"] }  # codes of ICD-10: categories such as E11*, then chapters such as E00-E90'
    elif column.kind is Kind.CATEGORY and is_code(texts_of(known)):
        lengths = list(range(lengths_of(texts_of(known))[0] - 1, 0, -1))[:3]
        yield f"hierarchy = {{ prefixes = {value_of(lengths)} }}  # codes with the same beginning belong together"
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


@dataclass(frozen=True)
class _Goal:
    """A goal for a sensitive column, and its lines in a recipe."""

    goal: Property
    lines: tuple[str, ...]


def _goal_for(column: ColumnProfile, pilot: Table | None, keep: int = 1) -> _Goal:
    """l-diversity if the pilot says, with a margin, that it can be reached; and a bound on relative risk where it says that buckets stay small.

    Where one value has more than half of the rows, l-diversity is out of reach: it is then relative risk that is bounded, which always can be.
    Without a pilot nothing is known, and relative risk is what protects whatever the values are. Of persons with up to `keep` rows the share is
    that of those who have a value in any row: at most what independent rows would give, since the rows of a person resemble each other.
    """
    of = f"column = {text_of(column.name)}"
    if pilot is None:
        return _relative(
            column, of, "No sensitive values were looked at, so this is a goal that can always be reached."
        )
    found = pilot.column(column.name)
    most, spelled = 1 - (1 - largest_share(found)) ** keep, _spelled(found)
    rarest = rarest_of_many(found)
    for l in (L, 2):
        bounds = own_bounds(found, l, keep) if keep > 1 and most > Fraction(1, l) else {}
        if most <= Fraction(1, l) or bounds:
            goal: Property = FrequencyLDiversity(l, column=column.name, bounds=bounds)
            lines = (
                "",
                *spelled,
                "[[goal]]",
                'property = "l-diversity"',
                f"l = {l}  # nobody's value{' but those with bounds below' if bounds else ''} is known with a probability above 1/{l}",
                *(
                    (
                        f"bounds = {value_of(bounds)}  # their own highest probabilities: more persons than 1/{l} have them in some row",
                    )
                    if bounds
                    else ()
                ),
                of,
            )
            if Fraction(rarest, found.codes.size) * TIMES >= Fraction(1, l):
                return _Goal(goal, lines)  # no value is so rare that relative risk would say more
            if (
                found.kind is Kind.NUMBER and has_many_amounts(found) and keep == 1
            ):  # ordered amounts are one per person
                return _Goal(goal & TCloseness(str(T), distance="ordered", column=column.name), (*lines, *_amounts(of)))
            if rarest < ENOUGH:
                return _Goal(goal, (*lines, *_hint(of)))
            relative = _relative(column, of, "Rare values are protected by a bound on relative risk.")
            return _Goal(goal & relative.goal, (*lines, *relative.lines))
    if rarest * MOST_ROWS * TIMES >= found.codes.size:
        relative = _relative(
            column,
            of,
            f"One value has, or may have, more than half of the {'rows' if keep == 1 else 'persons'}, so it is the others that are protected.",
        )
        return _Goal(relative.goal, ("", *spelled, *relative.lines[1:]))
    lines = ('property = "t-closeness"', f"t = {T}  # no bucket's values differ from the whole table's by more", of)
    why = f"# One value has, or may have, more than half of the {'rows' if keep == 1 else 'persons'}, and others are very rare: t-closeness, which can be reached."
    return _Goal(TCloseness(str(T), column=column.name), ("", *spelled, why, "[[goal]]", *lines, *_hint(of)))


def _relative(column: ColumnProfile, of: str, why: str) -> _Goal:
    """Nobody's value becomes more than so many times likelier."""
    lines = (
        'property = "relative-risk"',
        f"times = {TIMES}  # in no bucket is a value more than {TIMES} times as frequent as in the whole table",
        of,
    )
    return _Goal(RelativeRisk(TIMES, column=column.name), ("", f"# {why}", "[[goal]]", *lines))


def _amounts(of: str) -> tuple[str, ...]:
    """What l-diversity does not see of amounts."""
    return (
        "",
        "# Amounts that are near each other say nearly the same, which l-diversity does not see: t-closeness counts how far apart they are.",
        "[[goal]]",
        'property = "t-closeness"',
        f"t = {T}  # no bucket's distribution of amounts differs from the whole table's by more than this",
        'distance = "ordered"',
        of,
    )


def _hint(of: str) -> tuple[str, ...]:
    """How the values that matter most are bounded, where a bound for all would make buckets too large."""
    return (
        "# Rare values may become much likelier than they are in the whole table. To bound those that matter, list them (from a code book:",
        "# the list is public) and take the marks away:",
        "# [[goal]]",
        '# property = "relative-risk"',
        f"# times = {TIMES}",
        '# positive = ["..."]',
        f"# {of}",
    )


def _spelled(column: Column) -> tuple[str, ...]:
    """A warning of values that differ in spelling alone."""
    if spellings_of(column).n_unique() == column.n_values:
        return ()
    return (
        f"# {text_of(column.name)} has values that differ in spelling alone. They count as different, so a goal promises less than it",
        "# says: write them alike in the data first.",
    )


def own_bounds(column: Column, l: int, keep: int) -> dict[str, str]:
    """Bounds of their own for values that more than 1/l of the persons have, if these are few and far from everybody's; else none."""
    bounds = {}
    for text, n in zip(texts_of(column.values).to_list(), column.total_of_value.tolist(), strict=True):
        share = n / column.codes.size
        upper = share + 3 * (share * (1 - share) / column.codes.size) ** 0.5 + 1 / column.codes.size
        of_persons = 1 - (1 - min(1.0, upper)) ** keep
        if of_persons > 1 / l:
            if text is None or of_persons > MOST_BOUND:
                return {}
            bounds[text] = f"{ceil(20 * of_persons) / 20:g}"
    return bounds if len(bounds) <= FEW_BOUNDS else {}


def largest_share(column: Column) -> Fraction:
    """The share that the most frequent value of a sample has at most, with a margin of three standard errors.

    Values that differ in spelling alone, "no" and "No", say the same and count as one.
    """
    said = pl.DataFrame({"value": spellings_of(column), "n": column.total_of_value}).group_by("value").sum()
    n_rows, most = int(column.codes.size), int(said.get_column("n").to_numpy().max())
    share = most / n_rows
    return Fraction(min(1.0, share + 3 * (share * (1 - share) / n_rows) ** 0.5 + 1 / n_rows))


def rarest_of_many(column: Column) -> int:
    """How many have the rarest value, those with rarer ones left aside who are too few to be heard: a goal must not tell what one person has."""
    totals = np.sort(column.total_of_value[column.total_of_value > 0])
    return int(totals[min(int(np.searchsorted(np.cumsum(totals), MANY)), totals.size - 1)])


def has_many_amounts(column: Column) -> bool:
    """Whether many people have other amounts than the most frequent ones."""
    return int(np.sort(column.total_of_value)[:-MANY_AMOUNTS].sum()) >= MANY


def spellings_of(column: Column) -> pl.Series:
    """(value) -> its text in small letters and without spaces and marks: what is said, however it is written."""
    return (
        texts_of(column.values).str.to_lowercase().str.replace_all(r"[\s_.-]+", "")
        if column.kind is Kind.CATEGORY
        else texts_of(column.values)
    )


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
