# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/roles/test_roles.py
"""Profile: what the columns of a file look like, and which role each seems to play, with the reason.

Proposals are read off names, kinds and counts; a person decides. Nothing here keeps or shows a value of a person, but for
marks such as `?` that seem to stand for "missing".
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidData, InvalidInput
from overt.hierarchy.texts import texts_of
from overt.io.csv import read_texts
from overt.io.database.address import TableName
from overt.io.database.reading import read_columns
from overt.io.database.selection import Selection
from overt.io.date_formats import DateFormats
from overt.io.encoding import CellPlaces, Coded, coded_from_series, encode
from overt.io.excel import read_sheet
from overt.io.files import dialect_of
from overt.io.formats import find_format, no_file, polars_errors, scan_typed
from overt.io.frames import coded_columns
from overt.io.number_formats import NumberFormat
from overt.io.repeated_persons import repeated_words
from overt.io.roles.cell_kinds import ReadAs, read_as
from overt.io.roles.cell_shapes import shape_of
from overt.io.roles.header_words import Meaning, meanings_of, words_of
from overt.io.roles.plain_text import plain
from overt.io.roles.role_choice import NAMING, UNCLEAR, Choice, Look, choice_by_name, choose_role, is_private_by_name
from overt.progress import Progress, silent
from overt.table import Column, Kind, Role, unknown_column

GIVEN = "as given"
TOTALS = frozenset(
    [
        "total",
        "totals",
        "sum",
        "summe",
        "gesamt",
        "gesamtsumme",
        "insgesamt",
        "somme",
        "totale",
        "totaal",
        "som",
        "suma",
        "razem",
        "toplam",
        "totalt",
        "celkem",
        "osszesen",
        "yhteensa",
        "soma",
    ]
)
ANYTHING_KNOWN = "neither header nor cells say what it is, and of no other column either: perhaps others know it"
PRIVATE_IN_OTHERS = (
    "looks like something people keep to themselves, but not in the pilot; not released unless you give it a role"
)
MOST_NAMED = 12  # columns in one sentence
WHOSE = "says whose a row is, as given"
FEW_SHARE = 4.0  # other people who have somebody's value: with fewer, a value finds its line
ENOUGH = 20  # people of a pilot who have a value, so that it says something
TELLING = "hardly anybody shares a value of it: whoever knows somebody's, from a bill or a payslip say, would find the line and read what stands beside it"
FEW_PERSONS = 20  # different codes under a header that nobody knows: fewer are places or kinds of something
LEAST_AGAIN = 0.02  # of the rows, that agree with another in name and birth
BORN_APART = 0.3  # different births, as a share of rows: with fewer, namesakes are born on the same one
MOST_BORN = 0.5  # of those with several rows: if more have different births in them, they are no persons
MOST_CODES = 0.95  # of the different cells of a column of codes
_NO_PERSONS = frozenset([Meaning.HOUSEHOLD, Meaning.STAFF])
_NO_NAMES = frozenset([*_NO_PERSONS, Meaning.SENSITIVE, Meaning.PUBLIC, Meaning.THING])
_BIRTHS = r"dob|yob|dn|birth\w*|born|geb\w*|jahrgang|jg|nais\w*|nee?|nac|nacim\w*|nacid\w*|nacto|nasc\w*|nat[oai]|dogum\w*|ur|urodz\w*|fod\w*|syntym\w*|szul\w*|naroz\w*|anais"
_BIRTH = re.compile(rf"\b(?:{_BIRTHS})\b")
_OF_PERSONS = re.compile(
    rf"\b(?:{_BIRTHS}|sex\w*|gender|gndr|geschl\w*|geslacht|genre|genero|cins\w*|plec|kon|kjonn|koen|sukupuoli|pohlavi|neme?)\b"
)
# from how many rows there are, and whose they are if a person can have several, the rows to look at; None: none
Draw = Callable[[int, NDArray[np.intp] | None], NDArray[np.intp] | None]


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
    formats: DateFormats | NumberFormat | None = None  # of its dates or numbers, if they are not written plainly
    alternative: str | None = None  # a format that fits as well, with day and month the other way round
    odd: CellPlaces | None = None  # cells that are no number, or no date, in a column of them
    is_text: bool = False  # came as text
    column: Column | None = field(default=None, repr=False)  # encoded; None for identifiers and what cannot be
    n_differ: int = 0  # persons in whose rows it differs


@dataclass(frozen=True)
class Origin:
    """Where in a database the data is, in the words of a recipe."""

    database: str
    table: TableName | None
    query: str | None


@dataclass(frozen=True, eq=False)
class PersonsFound:
    """Whose the rows of a file seem to be."""

    column: str
    person_of_row: NDArray[np.intp] = field(repr=False)
    n_persons: int

    @classmethod
    def of(cls, name: str, column: Coded) -> "PersonsFound":
        """Number the persons that a column names; blanks around a name mean nothing."""
        texts = texts_of(column.dictionary).str.strip_chars().fill_null("").to_numpy()
        distinct, number = np.unique(texts[column.codes], return_inverse=True)
        return cls(name, number, int(distinct.size))

    @property
    def n_rows_of_person(self) -> NDArray[np.int64]:
        """(person) -> rows."""
        return np.bincount(self.person_of_row, minlength=self.n_persons)

    def count_different(self, column: Column, rows: "NDArray[np.intp] | None" = None) -> int:
        """Persons in whose rows, or in those of them that are given, a column differs. A missing cell differs from nothing."""
        known = (
            np.ones(column.codes.size, np.bool_) if column.missing_code is None else column.codes != column.missing_code
        )
        if rows is not None:
            known &= np.isin(np.arange(known.size), rows)
        least, most = np.full(self.n_persons, column.n_values, np.int64), np.full(self.n_persons, -1, np.int64)
        np.minimum.at(least, self.person_of_row[known], column.codes[known])
        np.maximum.at(most, self.person_of_row[known], column.codes[known])
        return int((most > least).sum())


@dataclass(frozen=True)
class NamedAgain:
    """Rows that agree with an earlier one in a person's name and birth, in a file without a number of persons."""

    column: str  # the name, or the part of it, with the most different values
    columns: tuple[str, ...]
    n_again: int  # rows

    @property
    def words(self) -> str:
        """What was found, and what it means."""
        together = " and ".join([", ".join(self.columns[:-1]), self.columns[-1]])
        return (
            f"its name says that it names a person; {self.n_again:,} rows have the same {together} as an earlier row, so persons have several rows. "
            "Number the persons in a column of their own"
        )


@dataclass(frozen=True)
class HouseholdsFound:
    """Households that some column numbers, with members in several rows."""

    column: str
    n_households: int
    n_several: int  # in which there are several people


@dataclass(frozen=True, eq=False)
class Profile:
    """What a file, or a table of a database, looks like."""

    path: Path  # of a table, its name
    n_rows: int
    columns: tuple[ColumnProfile, ...]
    origin: Origin | None = None  # None: a file
    pilot: NDArray[np.intp] | None = (
        None  # the rows that sensitive columns are looked at in, if there was a draw; None: in none
    )
    is_apart: bool = False  # whether sensitive columns hold the pilot's rows alone
    persons: PersonsFound | None = None  # whose the rows are, if some persons have several
    households: HouseholdsFound | None = None
    ends_in_totals: bool = False  # whether the last row seems to hold sums, and nobody's values

    @property
    def n_looked_at(self) -> int | None:
        """How many people the pilot has; None if there was no draw."""
        if self.pilot is None:
            return None
        return int(self.pilot.size if self.persons is None else np.unique(self.persons.person_of_row[self.pilot]).size)

    def of_role(self, role: Role) -> list[ColumnProfile]:
        """The columns that a role is proposed for."""
        return [column for column in self.columns if column.role is role]

    @property
    def unclear(self) -> str:
        """The columns that are not released since nothing says what they are, in words; empty if there is none."""
        return self._named(UNCLEAR, PRIVATE_IN_OTHERS)

    @property
    def perhaps_known(self) -> str:
        """The columns that others are said to know only because nothing says what any column is; empty if there is none."""
        return self._named(ANYTHING_KNOWN)

    def _named(self, *reasons: str) -> str:
        names = [" ".join(column.name.split()) for column in self.columns if column.reason in reasons]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        return ", ".join(names[:MOST_NAMED]) + more

    @property
    def missing_values(self) -> list[str]:
        """The texts that stand for missing values beyond doubt, the empty one first."""
        sure = {mark for column in self.columns if column.is_sure for mark in column.marks}
        return ["", *sorted(sure)]


def profile_file(
    path: Path, *, format: str | None = None, separator: str | None = None, encoding: str | None = None,  # noqa: A002
    person: str | None = None, draw: Draw | None = None, on_progress: Progress = silent,
) -> Profile:  # fmt: skip
    """Look at every column of a file.

    `person` names the column that says whose a row is; otherwise it is guessed. With `draw`, columns that people keep to themselves, by their names, are looked at only in the rows that it draws.
    """
    return _profile_of(
        path, dict(_columns_of(path, format, separator, encoding, None, on_progress)), draw=draw, person=person
    )


def profile_selection(
    selection: Selection,
    *,
    reference: str,
    person: str | None = None,
    draw: Draw | None = None,
    on_progress: Progress = silent,
) -> Profile:
    """Look at every column of a table or query of a database, which a recipe is to call `reference`."""
    coded = read_columns(selection, on_progress)
    origin = Origin(reference, selection.table, selection.query)
    return _profile_of(Path(selection.name), coded, origin, draw, person=person)


def profile_frame(
    frame: Any, *, roles: Mapping[str, Role], person: str | None = None, draw: Draw | None = None
) -> Profile:
    """Look at every column of a frame, but for those whose role is given; `person` names the column that says whose a row is."""
    coded, _ = coded_columns(frame)
    for name in roles:
        if name not in coded:
            raise unknown_column(name, coded)
    return _profile_of(Path("the frame"), coded, draw=draw, roles=roles, person=person)


def _profile_of(
    path: Path,
    coded: dict[str, Coded | None],
    origin: "Origin | None" = None,
    draw: Draw | None = None,
    roles: Mapping[str, Role] | None = None,
    person: str | None = None,
) -> Profile:
    n_rows = max((column.codes.size for column in coded.values() if column is not None), default=0)
    if not n_rows:
        raise InvalidInput(f"{path.name} has no rows; there is nothing to look at.")
    if person is None:
        persons = find_persons({name: column for name, column in coded.items() if name not in (roles or {})}, n_rows)
    else:
        persons = _persons_named(person, coded, n_rows)
    households = None if person is not None else _find_households(coded, persons, n_rows)
    named_again = find_named_again(coded, n_rows) if person is None and persons is None else None
    last = _cells_of_row(coded, n_rows - 1)
    pilot = None if draw is None else draw(n_rows, None if persons is None else persons.person_of_row)
    columns = []
    for name in list(coded):  # each is let go when done
        column = coded.pop(name)
        if roles is not None and name in roles:
            found = _profile_in_role(name, column, roles[name], pilot, n_rows)
        else:
            found = _profile(name, column, n_rows) if draw is None else _look_apart(name, column, pilot, n_rows)
        if persons is not None and found.role is Role.QUASI_IDENTIFIER and found.column is not None:
            found = replace(found, n_differ=persons.count_different(found.column))
        if named_again is not None and name == named_again.column and found.role is Role.IDENTIFIER:
            found = replace(found, reason=named_again.words, repeats=True)
        if persons is not None and name == persons.column and name != person:
            found = replace(found, repeats=True)
        columns.append(
            found
            if name != person
            else ColumnProfile(name, Role.IDENTIFIER, WHOSE, None, found.n_distinct, found.n_missing)
        )
    columns = _with_something_known(columns, persons)
    if pilot is not None:
        columns = _without_telling(columns, pilot, persons, n_rows)
    return Profile(
        path,
        n_rows,
        tuple(columns),
        origin,
        pilot,
        draw is not None,
        persons,
        households,
        _ends_in_totals(columns, last),
    )


def _cells_of_row(coded: Mapping[str, Coded | None], row: int) -> dict[str, str]:
    """The cells of a row as texts; empty where there is none."""
    cells = {name: None if c is None else texts_of(c.dictionary.gather([c.codes[row]]))[0] for name, c in coded.items()}
    return {name: "" if text is None else text.strip() for name, text in cells.items()}


def _ends_in_totals(columns: list[ColumnProfile], last: Mapping[str, str]) -> bool:
    """Whether a word for totals stands in the last row beside empty cells, as below a sheet; what people keep to themselves has no say."""
    cells = [last[one.name] for one in columns if one.role in (Role.IDENTIFIER, Role.QUASI_IDENTIFIER)]
    return "" in cells and any(plain(text.rstrip(":")) in TOTALS for text in cells)


def _persons_named(name: str, coded: Mapping[str, Coded | None], n_rows: int) -> PersonsFound | None:
    """Whose the rows are, by a column that somebody named; None if everybody has one row."""
    if name not in coded:
        raise unknown_column(name, coded)
    column = coded[name]
    if column is None:
        raise InvalidInput(f"Column {name!r} is of a type whose values cannot be compared; make it numbers or text.")
    found = PersonsFound.of(name, column)
    return found if found.n_persons < n_rows else None


def _find_households(
    coded: Mapping[str, Coded | None], persons: PersonsFound | None, n_rows: int
) -> HouseholdsFound | None:
    """Households, if a column numbers them by its header and some have several people."""
    for name, column in coded.items():
        meanings = meanings_of(name)
        if column is None or Meaning.HOUSEHOLD not in meanings or meanings & {Meaning.SENSITIVE, Meaning.PUBLIC}:
            continue
        if _profile(name, column, n_rows).role is not Role.IDENTIFIER:
            continue
        homes = PersonsFound.of(name, column)
        who = np.arange(n_rows) if persons is None else persons.person_of_row
        members = np.unique(np.column_stack([homes.person_of_row, who]), axis=0)[:, 0]
        n_several = int((np.bincount(members) > 1).sum())
        if n_several:
            return HouseholdsFound(name, homes.n_persons, n_several)
    return None


def _with_something_known(columns: list[ColumnProfile], persons: PersonsFound | None) -> list[ColumnProfile]:
    """The columns; where nothing at all says what others know of a person, as of questions by number, they may know whatever is unclear."""
    if any(one.role is Role.QUASI_IDENTIFIER for one in columns):
        return columns
    return [
        replace(
            one,
            role=Role.QUASI_IDENTIFIER,
            reason=ANYTHING_KNOWN,
            n_differ=0 if persons is None else persons.count_different(one.column),
        )
        if one.reason == UNCLEAR and one.column is not None
        else one
        for one in columns
    ]


def _without_telling(
    columns: list[ColumnProfile], pilot: NDArray[np.intp], persons: PersonsFound | None, n_rows: int
) -> list[ColumnProfile]:
    """The columns, without sensitive ones whose values hardly anybody shares, if others would stand beside them in a line.

    Whoever has seen somebody's bill finds the line by it and reads the diagnosis beside it. How many share a value is estimated from the
    pilot, by how many pairs of its people do.
    """
    whose = np.arange(pilot.size) if persons is None else persons.person_of_row[pilot]
    n_people = n_rows if persons is None else persons.n_persons
    sensitive = [one for one in columns if one.role is Role.SENSITIVE and one.column is not None]
    telling = {one.name for one in sensitive if _n_sharing(one, whose, n_people) < FEW_SHARE}
    if len(telling) == len(sensitive):
        return columns  # one of them may be what the release is for: a run cautions
    return [
        replace(one, role=Role.OTHER, reason=TELLING, marks=(), formats=None, alternative=None, odd=None, column=None)
        if one.name in telling and one.reason != GIVEN
        else one
        for one in columns
    ]


def _n_sharing(profile: ColumnProfile, whose: NDArray[np.intp], n_people: int) -> float:
    """How many other people have somebody's value, as the people of the pilot say."""
    column = profile.column
    assert column is not None
    known = column.codes != (-1 if column.missing_code is None else column.missing_code)
    totals = np.bincount(column.codes[known], minlength=column.n_values)
    if (
        2 * totals.max(initial=0) > known.sum()
    ):  # a zero, say, that most have finds nobody: it is the others who are found
        known &= column.codes != totals.argmax()
    held = np.unique(np.column_stack([column.codes[known], whose[known]]), axis=0)[:, 0]
    n_of_value = np.bincount(held, minlength=1).astype(float)
    n_looked_at = np.unique(whose[known]).size
    if n_looked_at < ENOUGH:
        return float(n_people)
    n_pairs = n_looked_at * (n_looked_at - 1) / 2
    return float((n_of_value * (n_of_value - 1) / 2).sum() / n_pairs) * (n_people - 1)


def _profile_in_role(
    name: str, coded: Coded | None, role: Role, pilot: NDArray[np.intp] | None, n_rows: int
) -> ColumnProfile:
    """A column whose role is given; of a sensitive one only the pilot's values are looked at."""
    if role in (Role.IDENTIFIER, Role.OTHER) or (role is Role.SENSITIVE and pilot is None):
        n_distinct = int(np.unique(coded.codes).size) if role is Role.IDENTIFIER and coded is not None else 0
        return ColumnProfile(name, role, GIVEN, None, n_distinct, 0)
    if coded is None:
        raise InvalidInput(f"Column {name!r} is of a type without an order; make it numbers, dates or text.")
    seen = coded if role is Role.QUASI_IDENTIFIER or pilot is None else coded.at(pilot)
    found = _profile(name, seen, n_rows if role is Role.QUASI_IDENTIFIER else seen.codes.size)
    column = found.column
    if column is None:  # it looks like something that is not released
        read = read_as(encode(name, role, seen), seen)
        column = read.column
        found = replace(found, kind=column.kind, formats=read.formats, odd=read.odd, is_text=coded.is_text)
    return replace(found, role=role, reason=GIVEN, repeats=False, column=replace(column, role=role))


def _look_apart(name: str, coded: Coded | None, pilot: NDArray[np.intp] | None, n_rows: int) -> ColumnProfile:
    """A column of which only the pilot's values are looked at if it seems to be something that people keep to themselves.

    Whether it does is decided by its header and by the pilot's values. Without a pilot, of such a column nothing is looked at but, if its
    header does not say so, whether its cells are codes of diagnoses, amounts and the like.
    """
    if coded is None:
        return _profile(name, coded, n_rows)
    if pilot is None:
        found = choice_by_name(name) if is_private_by_name(name) else _profile(name, coded, n_rows)
        if isinstance(found, ColumnProfile) and found.role is not Role.SENSITIVE:
            return found
        return ColumnProfile(name, found.role, found.reason, None, 0, 0)
    found = _profile(name, coded.at(pilot), pilot.size)
    is_private = is_private_by_name(name)
    if found.role is Role.SENSITIVE or (is_private and found.role is Role.OTHER):
        column = found.column
        if column is None:
            with suppress(InvalidInput):
                column = encode(name, Role.SENSITIVE, coded.at(pilot), kind=Kind.CATEGORY)
        reason = found.reason if found.role is Role.SENSITIVE else choice_by_name(name).reason
        column = None if column is None else replace(column, role=Role.SENSITIVE)
        return replace(found, role=Role.SENSITIVE, reason=reason, repeats=False, column=column)
    if is_private and found.role is Role.IDENTIFIER:
        return found
    everybody = _profile(name, coded, n_rows)
    if everybody.role is not Role.SENSITIVE:
        return everybody
    if found.role is not Role.QUASI_IDENTIFIER:
        return found
    return ColumnProfile(name, Role.OTHER, PRIVATE_IN_OTHERS, everybody.kind, everybody.n_distinct, everybody.n_missing)


def find_persons(coded: Mapping[str, Coded | None], n_rows: int) -> PersonsFound | None:
    """Whose the rows seem to be, if some column numbers persons, some of whom have several rows; None if there is none.

    A header that speaks of persons is enough where cells are no names. Another number of something is taken for one of persons where at least two columns
    are the same in all of its rows, or a birth date is; codes under a header that nobody knows, where one of these columns is of persons alone; and
    names, where a birth date is the same. What has different births in most of its rows has several persons.
    """
    numbers: list[tuple[int, PersonsFound]] = []
    for name in sorted(coded, key=lambda name: Meaning.PERSON not in meanings_of(name)):
        column, meanings = coded[name], meanings_of(name)
        if Meaning.PERSON not in meanings and any(sureness == 2 for sureness, _ in numbers):
            break  # a header says it, which is enough
        if column is None or is_private_by_name(name) or meanings & _NO_PERSONS:
            continue
        is_named = bool(meanings & {Meaning.PERSON, Meaning.NUMBER})
        if not is_named and not (FEW_PERSONS < len(column.dictionary) < n_rows):
            continue
        profiled = _profile(name, column, n_rows)
        is_repeated = 0 < profiled.n_distinct < n_rows - profiled.n_missing
        if profiled.role is not Role.IDENTIFIER or not is_repeated:
            continue
        is_name = Meaning.NAME in meanings or shape_of(texts_of(column.dictionary)) in NAMING
        if Meaning.PERSON in meanings and not is_name:
            numbers.append((2, PersonsFound.of(name, column)))
        elif is_named or is_name or _are_codes(column):
            found = PersonsFound.of(name, column)
            if _are_persons(found, coded, is_name=is_name, is_named=is_named):
                numbers.append((0 if is_name else 1, found))
    return max(numbers, key=lambda one: (one[0], one[1].n_persons))[1] if numbers else None


def _are_persons(found: PersonsFound, coded: Mapping[str, Coded | None], *, is_name: bool, is_named: bool) -> bool:
    """Whether what repeats with these is of persons: their births and, unless they are names, whatever else does not change."""
    n_several = int((found.n_rows_of_person > 1).sum())
    static, births = [], []
    for name, column in coded.items():
        if column is None or name == found.column or is_private_by_name(name) or len(column.dictionary) < 2:
            continue
        with suppress(InvalidInput):
            is_birth = bool(_BIRTH.search(words_of(name))) and len(column.dictionary) > FEW_PERSONS
            encoded = (
                _as_read(name, column) if is_birth else encode(name, Role.QUASI_IDENTIFIER, column, kind=Kind.CATEGORY)
            )
            n_differ = found.count_different(encoded)
            n_missing = 0 if encoded.missing_code is None else int(encoded.total_of_value[encoded.missing_code])
            if is_birth and n_differ > MOST_BORN * n_several:
                return False
            if encoded.n_values > 1 and n_missing < encoded.codes.size / 2 and n_differ <= 0.05 * n_several:
                static.append(name)
                births += [name] if is_birth else []
    if births:
        return True
    return not is_name and len(static) >= 2 and (is_named or any(map(_is_of_persons, static)))


def find_named_again(coded: Mapping[str, Coded | None], n_rows: int) -> "NamedAgain | None":
    """Whether many rows agree in a name and a birth date, so that persons have several rows although no single column says whose they are."""
    known = {name: column for name, column in coded.items() if column is not None}
    names = [name for name in known if Meaning.NAME in meanings_of(name) and not meanings_of(name) & _NO_NAMES][:2]
    births = [
        name
        for name in known
        if name not in names and _BIRTH.search(words_of(name)) and len(known[name].dictionary) > FEW_PERSONS
    ][:1]
    if not names or not births:
        return None
    try:
        born = _as_read(births[0], known[births[0]])
    except InvalidInput:
        return None
    if len(names) == 1 and born.n_values < BORN_APART * n_rows:
        return None  # some have the same name and were born in the same year
    numbered = [PersonsFound.of(name, known[name]) for name in names]
    columns = [*(one.person_of_row for one in numbered), born.codes.astype(np.intp)]
    n_persons = len(np.unique(np.column_stack(columns), axis=0))
    if n_rows - n_persons < LEAST_AGAIN * n_rows:
        return None
    most = max(numbered, key=lambda one: one.n_persons)
    return NamedAgain(most.column, (*names, *births), n_rows - n_persons)


def _as_read(name: str, coded: Coded) -> Column:
    """A column as most of its cells are: a day that is written in two ways is one day."""
    return read_as(encode(name, Role.QUASI_IDENTIFIER, coded), coded).column


def _are_codes(column: Coded) -> bool:
    """Whether nearly all cells are codes, numbers or addresses of e-mail, without blanks."""
    texts = texts_of(column.dictionary).drop_nulls().str.strip_chars()
    return float(texts.str.contains(r"^\S*[\d@]\S*$").mean() or 0) >= MOST_CODES  # type: ignore[arg-type]


def _is_of_persons(header: str) -> bool:
    """Whether a header speaks of a name, a birth or a sex, which a place or a thing has not."""
    return Meaning.NAME in meanings_of(header) or bool(_OF_PERSONS.search(words_of(header)))


def person_of_row(
    path: Path, name: str, *, format: str | None = None, separator: str | None = None, encoding: str | None = None,  # noqa: A002
) -> NDArray[np.intp]:  # fmt: skip
    """Whose each row of a file is, by the column of this name."""
    found = dict(_columns_of(path, format, separator, encoding, [name], silent))
    column = found.get(name)
    if column is None:
        raise InvalidInput(f"There is no column {name!r} in {path.name} that could tell persons apart.")
    return PersonsFound.of(name, column).person_of_row


def count_persons(
    path: Path, names: Sequence[str], *, format: str | None = None, separator: str | None = None,  # noqa: A002
    encoding: str | None = None,
) -> dict[str, tuple[int, int]]:  # fmt: skip
    """(different values, rows) of some columns that name persons; nothing else of the file is kept."""
    counted = {}
    for name, column in _columns_of(path, format, separator, encoding, names, silent):
        if column is None:
            raise InvalidInput(
                f"Column {name!r} is of a type whose values cannot be compared; make it numbers or text."
            )
        texts = texts_of(column.dictionary).gather(np.unique(column.codes))
        counted[name] = (texts.n_unique(), int(column.codes.size))
    return counted


def find_unsaid(
    path: Path, numbers: Sequence[str], others: Collection[str], *, format: str | None = None, separator: str | None = None,  # noqa: A002
    encoding: str | None = None,
) -> dict[str, tuple[int, int]]:  # fmt: skip
    """(different values, rows) of what numbers persons with several rows although nobody says so: what `overt init` would propose as the person."""
    how: dict[str, Any] = {"format": format, "separator": separator, "encoding": encoding}
    repeated = {name: counts for name, counts in count_persons(path, numbers, **how).items() if counts[0] < counts[1]}
    if not repeated:
        return {}
    coded = dict(_columns_of(path, format, separator, encoding, [*repeated, *others], silent))
    found = find_persons(coded, max(n_rows for _, n_rows in repeated.values()))
    return {name: counts for name, counts in repeated.items() if found is not None and found.column == name}


def refuse_repeated(path: Path, counted: dict[str, tuple[int, int]]) -> None:
    """Refuse a file that has several rows for one person, and say what to do."""
    for name, (n_persons, n_rows) in counted.items():
        if n_persons < n_rows:
            raise InvalidData(repeated_words(name, path.name, n_persons, n_rows))


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
        raise no_file(path)
    file_format = find_format(path, file_format)
    if file_format == "csv":
        dialect = dialect_of(path, separator=separator, encoding=encoding)
        wanted = [name for name in dialect.header if names is None or name in names]
        yield from read_texts(path, dialect, wanted, on_progress).items()
        return
    if file_format == "excel":
        sheet = read_sheet(path)
        yield from ((name, column) for name, column in sheet.items() if names is None or name in names)
        return
    with polars_errors(path, file_format):
        frame = scan_typed(path, file_format)
        read = frame.select([n for n in frame.collect_schema().names() if names is None or n in names]).collect()
    for series in read:
        try:
            yield series.name, coded_from_series(series)
        except InvalidInput:
            yield series.name, None


def _profile(name: str, coded: Coded | None, n_rows: int) -> ColumnProfile:
    if coded is None:
        return ColumnProfile(name, Role.OTHER, "of a type that cannot be generalized; not released", None, 0, 0)
    try:
        column = encode(name, Role.QUASI_IDENTIFIER, coded)
    except InvalidInput:
        return ColumnProfile(name, Role.OTHER, "has numbers that are too long to be one; not released", None, 0, 0)
    read = read_as(column, coded)
    column = read.column
    n_missing = int(column.total_of_value[-1]) if column.missing_code is not None else 0
    n_distinct = column.n_values - (column.missing_code is not None)
    choice = _choose(column, read, n_rows - n_missing, n_rows)
    if choice.role is Role.IDENTIFIER:
        return ColumnProfile(name, choice.role, choice.reason, column.kind, n_distinct, n_missing, choice.repeats)
    return ColumnProfile(
        name,
        choice.role,
        choice.reason,
        column.kind,
        n_distinct,
        n_missing,
        choice.repeats,
        read.marks,
        read.is_sure,
        read.n_marked,
        read.formats,
        read.alternative,
        read.odd,
        coded.is_text,
        column if choice.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE) or choice.reason == UNCLEAR else None,
    )


def _choose(column: Column, read: ReadAs, n_known: int, n_rows: int) -> Choice:
    """The role of a column, by its header and by its cells as they were written."""
    return choose_role(
        Look(
            column.name,
            column.kind,
            texts_of(column.values).drop_nulls(),
            n_rows,
            n_known,
            dates=read.dates,
            is_fraction=column.values.dtype.is_float() or isinstance(read.formats, NumberFormat),
            top_share=_top_share(column, n_known),
        )
    )


def _top_share(column: Column, n_known: int) -> float:
    """The share of the most frequent value among the rows in which there is one."""
    totals = (
        column.total_of_value if column.missing_code is None else np.delete(column.total_of_value, column.missing_code)
    )
    return float(totals.max(initial=0)) / max(1, n_known)


def is_code(texts: pl.Series) -> bool:
    """Whether texts are codes of one length with digits, such as postcodes or diagnoses: beginnings mean something."""
    shortest, longest = lengths_of(texts)
    return shortest >= 3 and longest <= 10 and longest - shortest <= 2 and bool(texts.str.contains(r"^[A-Z]?\d").all())


def lengths_of(texts: pl.Series) -> tuple[int, int]:
    """The letters of the shortest and of the longest text."""
    lengths = texts.str.len_chars().to_numpy()
    return int(lengths.min(initial=1 << 30)), int(lengths.max(initial=0))
