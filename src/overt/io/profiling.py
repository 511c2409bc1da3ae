# SPDX-License-Identifier: Apache-2.0
"""Profile: what the columns of a file look like, and which role each seems to play, with the reason.

Proposals are read off names, kinds and counts; a person decides. Nothing here keeps or shows a value of a person, but for
marks such as `?` that seem to stand for "missing".
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from overt.errors import InvalidInput
from overt.hierarchy.texts import texts_of
from overt.io.csv import read_texts
from overt.io.database.address import TableName
from overt.io.database.reading import read_columns
from overt.io.database.selection import Selection
from overt.io.encoding import Coded, coded_from_series, encode
from overt.io.files import dialect_of
from overt.io.formats import find_format, polars_errors, scan_typed
from overt.progress import Progress, silent
from overt.table import Column, Kind, Role

MARKS = ("?", "NA", "N/A", "n/a", "na", "NaN", "nan", "null", "NULL", "None", "none", "-", "--", ".", "#N/A", "unknown")
LONG_TEXT = 40  # letters on average: more is prose
OFTEN_REPEATED = 0.5  # a column with fewer different values than this share of rows is no name of a row


@dataclass(frozen=True, eq=False)
class ColumnProfile:
    """What one column looks like, and the role that is proposed for it."""

    name: str
    role: Role
    reason: str
    kind: Kind | None  # None: of a type that cannot have a role
    n_distinct: int
    n_missing: int
    repeats: bool = False  # it seems to name persons, and names some of them more than once
    marks: tuple[str, ...] = ()  # texts that seem to stand for "missing"
    is_sure: bool = False  # whether the marks cannot be anything else
    n_marked: int = 0
    column: Column | None = field(default=None, repr=False)  # encoded; None for identifiers and what cannot be


@dataclass(frozen=True)
class Origin:
    """Where in a database the data is, in the words of a recipe."""

    database: str
    table: TableName | None
    query: str | None


@dataclass(frozen=True, eq=False)
class Profile:
    """What a file, or a table of a database, looks like."""

    path: Path  # of a table, its name
    n_rows: int
    columns: tuple[ColumnProfile, ...]
    origin: Origin | None = None  # None: a file

    def of_role(self, role: Role) -> list[ColumnProfile]:
        """The columns that a role is proposed for."""
        return [column for column in self.columns if column.role is role]

    @property
    def missing_values(self) -> list[str]:
        """The texts that stand for missing values beyond doubt, the empty one first."""
        sure = {mark for column in self.columns if column.is_sure for mark in column.marks}
        return ["", *sorted(sure)]


def profile_file(
    path: Path, *, format: str | None = None, separator: str | None = None, encoding: str | None = None,  # noqa: A002
    on_progress: Progress = silent,
) -> Profile:  # fmt: skip
    """Look at every column of a file."""
    return _profile_of(path, dict(_columns_of(path, format, separator, encoding, None, on_progress)))


def profile_selection(selection: Selection, *, reference: str, on_progress: Progress = silent) -> Profile:
    """Look at every column of a table or query of a database, which a recipe is to call `reference`."""
    coded = read_columns(selection, on_progress)
    return _profile_of(Path(selection.name), coded, Origin(reference, selection.table, selection.query))


def _profile_of(path: Path, coded: dict[str, Coded | None], origin: "Origin | None" = None) -> Profile:
    n_rows = max((column.codes.size for column in coded.values() if column is not None), default=0)
    if not n_rows:
        raise InvalidInput(f"{path.name} has no rows; there is nothing to look at.")
    columns = tuple(_profile(name, coded.pop(name), n_rows) for name in list(coded))  # each is let go when done
    return Profile(path, n_rows, columns, origin)


def count_persons(
    path: Path, names: Sequence[str], *, format: str | None = None, separator: str | None = None,  # noqa: A002
    encoding: str | None = None,
) -> dict[str, tuple[int, int]]:  # fmt: skip
    """(different values, rows) of some columns that name persons; nothing else of the file is kept."""
    counted = {}
    for name, column in _columns_of(path, format, separator, encoding, names, silent):
        if column is None:
            raise InvalidInput(f"Column {name!r} is of a type whose values cannot be compared; leave out `repeats`.")
        texts = texts_of(column.dictionary).gather(np.unique(column.codes))
        counted[name] = (texts.n_unique(), int(column.codes.size))
    return counted


def refuse_repeated(path: Path, counted: dict[str, tuple[int, int]]) -> None:
    """Refuse a file that has several rows for one person, and say what to do."""
    for name, (n_persons, n_rows) in counted.items():
        if n_persons < n_rows:
            raise InvalidInput(
                f"Column {name!r} of {path.name} has {n_persons:,} different values in {n_rows:,} rows: several rows for "
                "one person. Properties count rows, so five rows that look alike may be one person. Make one row per "
                "person first (the latest, or sums and counts), or take `repeats` out of the recipe if it names no person."
            )


def _columns_of(
    path: Path,
    file_format: str | None,
    separator: str | None,
    encoding: str | None,
    names: Collection[str] | None,
    on_progress: Progress,
) -> Iterator[tuple[str, Coded | None]]:
    """Every column (or those named) as codes; None for one whose type has no order."""
    if not path.is_file():
        raise InvalidInput(f"There is no file {path}; check the name and the folder.")
    file_format = find_format(path, file_format)
    if file_format == "csv":
        dialect = dialect_of(path, separator=separator, encoding=encoding)
        wanted = [name for name in dialect.header if names is None or name in names]
        yield from read_texts(path, dialect, wanted, on_progress).items()
        return
    with polars_errors(path, file_format):
        frame = scan_typed(path, file_format)
        read = frame.select([n for n in frame.collect_schema().names() if names is None or n in names]).collect()
    for series in read:
        try:
            yield series.name, coded_from_series(series)
        except InvalidInput:
            yield series.name, None


# What names of columns say, in the order in which they are asked.
_IDENTIFIER = r"^(id|.*[_ -]id|id[_ -].*|.*(name|email|e-mail|phone|mobile|fax|ssn|passport|licen[cs]e|iban|account|uuid|guid|address|street|url|ip|mrn|nhs))$"
_PERSON = r"(^|[_ -])(id|ssn|mrn|nhs|patient|person|subject|member|customer|client|user|student|employee|uuid|guid)([_ -]|$|no$|nr$|number$)"
_SENSITIVE = r"diagnos|disease|icd|illness|condition|income|salary|wage|earning|pay(ment)?$|religion|politic|party|union|sexual|orientation|hiv|drug|medic|treat|therap|test.?result|score|grade|debt|credit|crime|offen[cs]e|convict|symptom|cause.of.death|disab"  # fmt: skip
_CODE = r"zip|post.?code|postal|plz|fips|(^|[_ -])(code|icd)([_ -]|$)"  # digits one cannot add up
_WEIGHT = r"^(fnl)?w(ei)?gh?t$|sampling.?weight|instance.?weight"
_EMAIL, _UUID, _PHONE = r"^[^@\s]+@[^@\s]+\.[^@\s]+$", r"^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$", r"^\+?[\d ()/.-]{7,}$"  # fmt: skip


def _profile(name: str, coded: Coded | None, n_rows: int) -> ColumnProfile:
    if coded is None:
        return ColumnProfile(name, Role.OTHER, "of a type that cannot be generalized; not released", None, 0, 0)
    try:
        column = encode(name, Role.QUASI_IDENTIFIER, coded)
    except InvalidInput:
        return ColumnProfile(name, Role.OTHER, "has numbers that are too long to be one; not released", None, 0, 0)
    marks, is_sure, n_marked = _find_marks(column)
    if is_sure:
        column = encode(name, Role.QUASI_IDENTIFIER, coded, missing_values=("", *marks))
    if column.kind is Kind.NUMBER and column.values.dtype.is_integer() and re.search(_CODE, name.lower()):
        column = encode(name, Role.QUASI_IDENTIFIER, coded, kind=Kind.CATEGORY, missing_values=("", *marks))
    n_missing = int(column.total_of_value[-1]) if column.missing_code is not None else 0
    n_distinct = column.n_values - (column.missing_code is not None)
    role, reason, repeats = _propose(column, n_distinct, n_rows, n_missing)
    kept = column if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE) else None
    return ColumnProfile(
        name, role, reason, column.kind, n_distinct, n_missing, repeats, marks, is_sure, n_marked, kept
    )


def _find_marks(column: Column) -> tuple[tuple[str, ...], bool, int]:
    """Values that seem to stand for "missing"; surely so if all others are numbers or dates. And how many rows have them."""
    if column.kind is not Kind.CATEGORY or column.values.dtype != pl.String:
        return (), False, 0
    is_mark = column.values.is_in(MARKS).fill_null(False)
    others = column.values.filter(~is_mark).drop_nulls()
    marks = tuple(column.values.filter(is_mark))
    if not marks or not len(others):
        return (), False, 0
    codes = np.arange(len(others), dtype=np.int32)
    kind = encode(column.name, column.role, Coded(others, codes, is_text=True)).kind
    return marks, kind is not Kind.CATEGORY, int(column.total_of_value[is_mark.to_numpy()].sum())


def _propose(column: Column, n_distinct: int, n_rows: int, n_missing: int) -> tuple[Role, str, bool]:
    """(role, reason, whether persons are named more than once)."""
    name = column.name.strip().lower()
    n_known = n_rows - n_missing
    if n_distinct == 0:
        return Role.OTHER, "empty in every row", False
    if n_distinct == 1 and not n_missing:
        return Role.OTHER, "the same in every row", False
    share = n_distinct / max(1, n_known)
    texts = texts_of(column.values).drop_nulls()
    is_fraction = column.values.dtype.is_float()
    says_person = bool(re.search(_PERSON, name))
    if look := _looks_personal(texts):
        return Role.IDENTIFIER, look, share < 1 and share > 0.05
    if share == 1 and n_rows > 20 and column.kind is not Kind.DATE and not is_fraction:
        return Role.IDENTIFIER, "unique per row", False
    if (re.match(_IDENTIFIER, name) or says_person) and n_distinct > max(20, n_rows * 0.02) and not is_fraction:
        if says_person and share < 1:
            return (
                Role.IDENTIFIER,
                f"named like a person, and {n_known:,} rows have only {n_distinct:,} different ones",
                True,
            )
        return Role.IDENTIFIER, "its name says that it names or reaches a person", False
    if column.kind is Kind.CATEGORY and float(texts.str.len_chars().mean() or 0) > LONG_TEXT and share > 0.2:  # type: ignore[arg-type]
        return Role.IDENTIFIER, "free text, which may say anything", False
    if re.search(_WEIGHT, name):
        return Role.OTHER, "a weight of the sample by its name; not released unless [output] names it", False
    if re.search(_SENSITIVE, name):
        return Role.SENSITIVE, "its name says that it is something people keep to themselves", False
    if column.kind is Kind.DATE:
        return Role.QUASI_IDENTIFIER, "looks like a date", False
    if column.kind is Kind.CATEGORY and share > OFTEN_REPEATED and not is_code(texts):
        return Role.IDENTIFIER, f"text that {share:.0%} of rows have for themselves".replace("%", " %"), False
    return Role.QUASI_IDENTIFIER, f"{n_distinct:,} different values that others may know", False


def _looks_personal(texts: pl.Series) -> str:
    for pattern, words in ((_EMAIL, "looks like e-mail addresses"), (_UUID, "looks like universally unique ids")):
        if bool(texts.str.contains(pattern).all()):
            return words
    has_marks = bool(texts.str.contains(r"^\+|[ ()/-]").all())
    if has_marks and bool(texts.str.contains(_PHONE).all()) and not bool(texts.str.contains(r"^\d{4}-\d{2}").all()):
        return "looks like telephone numbers"
    return ""


def is_code(texts: pl.Series) -> bool:
    """Whether texts are codes of one length with digits, such as postcodes or diagnoses: beginnings mean something."""
    shortest, longest = lengths_of(texts)
    return shortest >= 3 and longest <= 10 and longest - shortest <= 2 and bool(texts.str.contains(r"^[A-Z]?\d").all())


def lengths_of(texts: pl.Series) -> tuple[int, int]:
    """The letters of the shortest and of the longest text."""
    lengths = texts.str.len_chars().to_numpy()
    return int(lengths.min(initial=1 << 30)), int(lengths.max(initial=0))
