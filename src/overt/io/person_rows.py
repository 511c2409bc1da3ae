# SPDX-License-Identifier: Apache-2.0
"""From rows to persons: the rows of a person are put together, some of them perhaps cut, and become one row of a table.

Which rows are cut, and in which order the others stand, is decided by persons, dates, other quasi-identifiers and coins, and never by a
sensitive value: what is cut by diagnosis tells of the diagnosis. Rows that only sensitive values could put in order are in
random order where it matters which row is which, and else in the order of what they hold.
"""

import itertools
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from json import dumps
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.random import Generator, Philox, SeedSequence
from numpy.typing import NDArray

from overt.errors import InvalidData, InvalidInput
from overt.hierarchy.texts import texts_of
from overt.io.encoding import Coded, codes_by_text, is_missing
from overt.io.roles.cell_kinds import read_as
from overt.persons import COUNT, Bundles, Known, Persons, Which, position_name
from overt.randomness import secret_generator
from overt.table import Column, Kind, Role, Table

if TYPE_CHECKING:
    from overt.io.intake import Intake

_MISREAD = re.compile(r'^$|^missing$|^\s|\s$|["|]')
MOST_POSITIONS = 400  # columns that varying ones become, one for each row that a person can have
NEAR = 0.05  # of the whole range: between rows of a person that are nearly the same, as ages are
ENOUGH_PERSONS = 25  # who have as many rows as are proposed to be kept
RowsOfPersons = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class PersonRows:
    """Which column says whose row it is, and what becomes of somebody's rows.

    `keep` is how many rows of a person are kept at most (None: all), `which` of them: drawn at random, or the latest or first by
    `order`. `varies` names the quasi-identifiers that differ between rows of a person. `known` says what an adversary is taken to know:
    "visits", all quasi-identifiers of all rows and how many there are; or "static", those that do not vary alone. With `key` the
    draws are repeated.
    """

    column: str
    keep: int | None = None
    which: Which = "random"
    order: str | None = None
    known: Known = "visits"
    varies: tuple[str, ...] = ()
    key: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            raise InvalidInput(
                "person names one column. Several kinds of persons that are linked (patients in households) are refused: somebody's rows "
                "would stand in the groups of others of the household, and both together tell more than either. To protect that "
                "somebody in a household has a value, make the household the person; else protect patients."
            )
        object.__setattr__(self, "varies", tuple(self.varies))
        keep: Any = self.keep
        if keep is not None and (isinstance(keep, bool) or not isinstance(keep, int) or keep < 1):
            raise InvalidInput(
                f'keep is {keep!r}; give the most rows per person, a whole number of at least 1, or "all".'
            )
        for name, given, known in (
            ("which", self.which, ("random", "latest", "first")),
            ("known", self.known, ("visits", "static")),
        ):
            if given not in known:
                raise InvalidInput(f"{name} is {given!r}; choose one of {', '.join(map(repr, known))}.")
        if self.which != "random" and self.order is None:
            raise InvalidInput(
                f'which = "{self.which}" needs order, the column of numbers or dates that says which row is earlier.'
            )
        if self.which != "random" and self.keep is None:
            raise InvalidInput(f'which = "{self.which}" says which rows are kept, and all are; give keep too.')


def keep_of(given: "int | str | None") -> int | None:
    """What a recipe says of `keep`: a number, or "all"."""
    if isinstance(given, str) and given != "all":
        raise InvalidInput(f'keep is {given!r}; give the most rows per person, a whole number of at least 1, or "all".')
    return None if given == "all" else given  # type: ignore[return-value]


def person_rows(
    person: str | None, keep: "int | str", which: Which, order: str | None, known: Known, varies: Collection[str], key: int | None
) -> PersonRows | None:  # fmt: skip
    """What the keywords of `read_file` and `read_frame` say; None if a row is a person."""
    if person is None:
        said = {
            "keep": keep != "all",
            "which": which != "random",
            "order": order,
            "known": known != "visits",
            "varies": varies,
        }
        for name, given in said.items():
            if given:
                raise InvalidInput(
                    f"{name} is about the rows of a person; also say which column identifies the person: person='...'."
                )
        return None
    if isinstance(varies, str):
        raise InvalidInput(f"varies takes a list of texts; write [{varies!r}] instead of {varies!r}.")
    return PersonRows(
        column=person, keep=keep_of(keep), which=which, order=order, known=known, varies=tuple(varies), key=key
    )


@dataclass(frozen=True, eq=False)
class Identified:
    """Whose each row is. Persons are numbered in the order of their texts."""

    person_of_row: RowsOfPersons
    n_persons: int
    n_alike: int  # texts that differ from another one in upper and lower case alone

    @classmethod
    def of(cls, name: str, coded: Coded, missing_values: Sequence[str] = ("",)) -> "Identified":
        """Read a column that names persons: blanks around a name mean nothing, and nobody is without one."""
        gone = is_missing(coded, missing_values)
        if gone.any():
            is_entry = np.zeros(len(coded.dictionary), np.bool_)
            is_entry[coded.codes[gone]] = True
            n = int(gone.sum())
            raise InvalidData(
                f"Column {name!r}, which says whose row it is, is empty in {n:,} {'row' if n == 1 else 'rows'} ({coded.places_of(is_entry)}). "
                "Fill it in, or take these rows out of the file."
            )
        used = np.unique(coded.codes)
        texts = texts_of(coded.dictionary.gather(used)).str.strip_chars()
        distinct, number = np.unique(texts.to_numpy(), return_inverse=True)
        number_of_code = np.zeros(len(coded.dictionary), np.intp)
        number_of_code[used] = number
        n_folded = pl.Series(distinct).cast(pl.String).str.to_lowercase().n_unique()
        return cls(number_of_code[coded.codes], distinct.size, distinct.size - n_folded)


class _Gathering:
    """Puts the rows of persons together, one column at a time."""

    def __init__(self, intake: "Intake", columns: Sequence[str], coded: Callable[[str], Coded]) -> None:
        assert intake.persons is not None
        self.intake, self.asked, self.columns = intake, intake.persons, columns
        self.rng = secret_generator() if self.asked.key is None else Generator(Philox(SeedSequence(self.asked.key)))
        self.coded = {name: coded(name) for name in intake.numbered if name != self.asked.column}
        self.who = Identified.of(self.asked.column, coded(self.asked.column), tuple(intake.missing_values))
        self.person = self.who.person_of_row
        self.n_rows = self.person.size
        self.n_rows_of_person = np.bincount(self.person, minlength=self.who.n_persons)
        self.priority = np.zeros(self.n_rows, np.int64)  # drawn when everything that a row holds is known

    def table(self, others: pl.DataFrame, frame_kind: str) -> Table:
        self.refuse_contradictions()
        self.priority = self.draw(others)
        time = None if self.asked.order is None else self.time_of_row(self.asked.order)
        kept = self.cut(time)
        kept, n_dropped = self.without_missing(kept)
        if not kept.size:
            from overt.io.intake import NoRows

            raise NoRows("The table has no rows; there is nothing to release.")
        persons, start = np.unique(self.person[kept], return_index=True)
        n_kept = np.diff(np.append(start, kept.size))
        said = Persons(
            column=self.asked.column,
            n_rows=self.n_rows,
            n_cut=self.n_rows - kept.size,
            keep=self.asked.keep,
            which=self.asked.which,
            order=self.asked.order,
            known=self.asked.known,
            names=tuple(name for name in self.columns if name in self.intake.encoded),
            key=self.asked.key,
            n_alike=self.who.n_alike,
        )
        if n_kept.max() == 1:
            encoded = {
                name: self.of_kept(name, kept) if self.is_of_row(name) else self.static(name, persons)
                for name in said.names
            }
            draws = bool((self.n_rows_of_person[persons] > 1).any()) and (
                self.asked.which == "random" or self.has_ties(kept, time)
            )
            others = others[kept] if others.width else others
            identifiers = tuple(name for name in self.columns if name in self.intake.identifiers)
            return Table(
                tuple(encoded.values()), others, identifiers, frame_kind, n_dropped, tuple(self.columns), False,
                replace(said, draws=draws),
            )  # fmt: skip
        return self.of_bundles(kept, persons, n_kept, time, said, n_dropped, frame_kind)

    def draw(self, others: pl.DataFrame) -> NDArray[np.int64]:
        """(row) -> its place in a random order: the same with the same key in whatever order the rows came, because a database keeps none.

        Places are drawn for the rows in the order of what they hold. They are as random as ever: rows that hold the same are exchangeable.
        """
        keys: list[Any] = [codes_by_text(coded.dictionary)[0][coded.codes] for coded in self.coded.values()]
        keys += [codes_by_text(others.get_column(name))[0] for name in sorted(others.columns)]
        priority = np.empty(self.n_rows, np.int64)
        priority[np.lexsort((*keys, self.person))] = self.rng.permutation(self.n_rows)
        return priority

    def is_of_row(self, name: str) -> bool:
        """Whether a column says something of a row rather than of its person."""
        return name in self.asked.varies or name in self.intake.sensitive

    def refuse_contradictions(self) -> None:
        """Static columns must not differ within a person, and varying ones must."""
        for name in self.intake.quasi_identifiers:
            n_differ, n_several = self.count_different(name)
            if name in self.asked.varies and n_several and not n_differ:
                raise InvalidData(
                    f"Column {name!r} has varies = true and is the same in all rows of each person; leave varies out for it."
                )
            if (
                name in self.asked.varies
                and self.asked.known == "static"
                and self.is_nearly_static(name, n_differ, n_several)
            ):
                raise InvalidData(
                    f'Column {name!r} differs little or seldom between the rows of a person, as an age or an address does, and with known = "static" it would '
                    'stand exactly beside the sensitive values, where it finds the person. Use known = "visits", or leave the column out.'
                )
            if name not in self.asked.varies and n_differ:
                raise InvalidData(
                    f"Column {name!r} differs between the rows of {n_differ:,} of {n_several:,} persons who have several. Say varies = true "
                    "for it if it belongs to a visit; if it belongs to the person, make it one value per person."
                )

    def count_different(self, name: str) -> tuple[int, int]:
        """(persons with different values, persons with several rows). A missing cell differs from nothing."""
        column = self.intake.encode(name, self.coded[name])
        known = np.ones(self.n_rows, np.bool_) if column.missing_code is None else column.codes != column.missing_code
        least = np.full(self.who.n_persons, column.n_values, np.int64)
        most = np.full(self.who.n_persons, -1, np.int64)
        np.minimum.at(least, self.person[known], column.codes[known])
        np.maximum.at(most, self.person[known], column.codes[known])
        return int((most > least).sum()), int((self.n_rows_of_person > 1).sum())

    def is_nearly_static(self, name: str, n_differ: int, n_several: int) -> bool:
        """Whether one row of a person tells much of what the others hold: most persons have one value, or all of theirs are near each other."""
        if 2 * n_differ < n_several:
            return True
        column = self.intake.encode(name, self.coded[name])
        if column.kind is Kind.CATEGORY or self.asked.keep == 1:
            return False
        known = np.ones(self.n_rows, np.bool_) if column.missing_code is None else column.codes != column.missing_code
        place = column.values.drop_nulls().to_physical().cast(pl.Float64).to_numpy()[column.codes[known]]
        least, most = np.full(self.who.n_persons, np.inf), np.full(self.who.n_persons, -np.inf)
        np.minimum.at(least, self.person[known], place)
        np.maximum.at(most, self.person[known], place)
        wide = (most - least)[(self.n_rows_of_person > 1) & np.isfinite(least)]
        return bool(wide.size) and float(np.median(wide)) < NEAR * float(place.max() - place.min())

    def time_of_row(self, name: str) -> NDArray[np.int64]:
        """(row) -> its place in time; -1 where that is missing."""
        coded = self.coded[name]
        column = self.intake.encode(name, coded)
        if column.kind is Kind.CATEGORY:
            read = read_as(column, coded)
            column = read.column
            if read.alternative is not None:
                raise InvalidInput(
                    f"Column {name!r} under order could be read with day and month either way; give it a role and a format."
                )
        if column.kind is Kind.CATEGORY:
            raise InvalidInput(
                f'Column {name!r} under order has neither numbers nor dates; give it a role and a format such as "%d.%m.%Y".'
            )
        codes = column.codes.astype(np.int64)
        return codes if column.missing_code is None else np.where(codes == column.missing_code, -1, codes)

    def cut(self, time: NDArray[np.int64] | None) -> RowsOfPersons:
        """The rows that stay, person by person: by coins, or by time and then coins."""
        first_of_all: Any = np.zeros(self.n_rows)
        if self.asked.which == "latest" and time is not None:
            first_of_all = -time
        elif self.asked.which == "first" and time is not None:
            first_of_all = np.where(time < 0, self.n_rows, time)
        order = np.lexsort((self.priority, first_of_all, self.person))
        if self.asked.keep is None:
            return order
        starts = np.cumsum(np.append(0, self.n_rows_of_person))
        place = np.arange(self.n_rows) - starts[self.person[order]]
        return order[place < self.asked.keep]

    def without_missing(self, kept: RowsOfPersons) -> tuple[RowsOfPersons, int]:
        """The rows of persons who have every sensitive value, and how many persons do not."""
        if self.intake.missing == "own value":
            return kept, 0
        lacks = np.zeros(self.who.n_persons, np.bool_)
        for name in self.intake.sensitive:
            gone = is_missing(self.coded[name], self.intake.missing_values)[kept]
            if self.intake.missing == "refuse" and gone.any():
                raise InvalidData(
                    f"The sensitive column {name!r} is missing in {int(gone.sum()):,} of {kept.size:,} rows; say what becomes "
                    "of them: missing='own value' makes missing a value like others, missing='drop' leaves out persons who lack one."
                )
            lacks[self.person[kept[gone]]] = True
        return kept[~lacks[self.person[kept]]], int(lacks.sum())

    def static(self, name: str, persons: RowsOfPersons) -> Column:
        """(person) -> the value that all rows of a person have; where some rows lack it, that of the others."""
        coded = self.coded[name]
        gone = is_missing(coded, self.intake.missing_values)
        order = np.lexsort((np.arange(self.n_rows), gone, self.person))
        starts = np.cumsum(np.append(0, self.n_rows_of_person))
        return self.intake.encode(name, coded.at(order[starts[persons]]))

    def of_kept(self, name: str, rows: RowsOfPersons) -> Column:
        return self.intake.encode(name, self.coded[name].at(rows))

    def has_ties(self, kept: RowsOfPersons, time: NDArray[np.int64] | None) -> bool:
        """Whether coins decided which rows are kept, or which of them is which."""
        if self.asked.keep is not None and (self.n_rows_of_person > self.asked.keep).any():
            return True
        return time is None or np.unique(np.stack([self.person, time]), axis=1).shape[1] < self.n_rows

    def of_bundles(
        self, kept: RowsOfPersons, persons: RowsOfPersons, n_kept: NDArray[np.int64], time: NDArray[np.int64] | None, said: Persons,
        n_dropped: int, frame_kind: str,
    ) -> Table:  # fmt: skip
        if others := set(self.intake.others or ()) & set(self.columns):
            raise InvalidInput(
                f"Columns without a role cannot be released of persons with several rows ({', '.join(map(repr, sorted(others)))}); leave them "
                "out, or keep one row per person (keep = 1)."
            )
        is_known = self.asked.known == "visits"
        of_row = {name: self.of_kept(name, kept) for name in said.names if self.is_of_row(name)}
        whose = np.repeat(np.arange(persons.size), n_kept)
        shown = [name for name in of_row if name in self.asked.varies]
        keys: list[Any] = [] if time is None else [np.where(time[kept] < 0, self.n_rows, time[kept])]
        if is_known and shown:
            keys += [] if time is not None else [of_row[name].codes for name in shown]
            is_tied = np.unique(np.stack([whose, *keys]), axis=1).shape[1] < kept.size
            keys.append(self.priority[kept])  # an order by what is sensitive would tell of it
        else:
            is_tied = False
            keys += [column.codes for column in of_row.values()]
        order = np.lexsort((*reversed(keys), whose))
        of_row = {name: replace(column, codes=column.codes[order]) for name, column in of_row.items()}
        is_cut = bool(self.asked.keep is not None and (self.n_rows_of_person[persons] > self.asked.keep).any())
        draws = is_tied or (is_cut and (self.asked.which == "random" or self.has_ties(kept, time)))
        columns: dict[str, list[Column]] = {}
        positions: dict[str, tuple[str, ...]] = {}
        if is_known:
            counts, code = np.unique(n_kept, return_inverse=True)
            named = Column(COUNT, Role.QUASI_IDENTIFIER, Kind.NUMBER, code.astype(np.int32), pl.Series(COUNT, counts))
            columns[COUNT] = [named]
        for name in said.names:
            if name in shown and is_known:
                columns[name] = self.by_position(name, kept[order], n_kept, len(shown))
                positions[name] = tuple(column.name for column in columns[name])
            elif name in of_row:
                columns[name] = [_bundled(of_row[name], n_kept, by_length=is_known, carried=name in shown)]
            else:
                columns[name] = [self.static(name, persons)]
        encoded = tuple(column for of_name in columns.values() for column in of_name)
        identifiers = tuple(name for name in self.columns if name in self.intake.identifiers)
        return Table(
            encoded, pl.DataFrame(), identifiers, frame_kind, n_dropped, tuple(column.name for column in encoded), False,
            replace(said, positions=positions, draws=draws),
        )  # fmt: skip

    def by_position(self, name: str, rows: RowsOfPersons, n_kept: NDArray[np.int64], n_varying: int) -> list[Column]:
        """One column for the first row of each person, one for the second, and so on; missing where there is none."""
        most = int(n_kept.max())
        if most * n_varying > MOST_POSITIONS:
            enough = [m for m in range(1, most) if int((n_kept >= m).sum()) >= ENOUGH_PERSONS]
            raise InvalidData(
                f"Somebody has {most:,} rows, each of which would be told apart by {n_varying} varying columns. Keep fewer rows per person "
                f'(keep = {max(enough, default=1):,}, say), or take their number and dates for unknown (known = "static").'
            )
        coded = self.coded[name]
        kind = self.of_kept(name, rows).kind
        missing, starts = len(coded.dictionary), np.cumsum(np.append(0, n_kept))
        dictionary = pl.concat([coded.dictionary, coded.dictionary.clear().extend_constant(None, 1)])
        found = []
        for place in range(most):
            has = n_kept > place
            at = rows[np.minimum(starts[:-1] + place, rows.size - 1)]
            codes = np.where(has, coded.codes[at], missing).astype(np.int32)
            positions = at if coded.positions is None else coded.positions[at]
            here = Coded(dictionary, codes, coded.is_text, coded.dtype, coded.first_line, positions)
            found.append(replace(self.intake.encode(name, here, kind), name=position_name(name, place)))
        return found


def gather_persons(
    intake: "Intake", columns: Sequence[str], coded: Callable[[str], Coded], others: pl.DataFrame, frame_kind: str
) -> Table:
    """A table of persons from columns of rows."""
    return _Gathering(intake, columns, coded).table(others, frame_kind)


def _bundled(column: Column, n_kept: NDArray[np.int64], *, by_length: bool, carried: bool) -> Column:
    """(person) -> the values of all rows: each combination that occurs is a bundle."""
    starts = np.cumsum(np.append(0, n_kept))
    bundle_of_person = np.empty(n_kept.size, np.int32)
    firsts, codes, n_bundles = [np.zeros(1, np.int64)], [], 0
    for length in np.unique(n_kept):
        these = np.flatnonzero(n_kept == length)
        held = column.codes[starts[these][:, None] + np.arange(length)]
        kinds, number = np.unique(held, axis=0, return_inverse=True)
        bundle_of_person[these] = n_bundles + number.reshape(-1)
        firsts.append(firsts[-1][-1] + length * np.arange(1, len(kinds) + 1))
        codes.append(kinds.reshape(-1))
        n_bundles += len(kinds)
    bundles = Bundles(
        np.concatenate(firsts), np.concatenate(codes).astype(np.int32), column.values, column.dtype, by_length,
        str(column.kind), carried,
    )  # fmt: skip
    texts = texts_of_bundles(bundles)
    return Column(
        column.name, Role.SENSITIVE, Kind.CATEGORY, bundle_of_person, texts.alias(column.name), bundles=bundles
    )


def texts_of_bundles(bundles: Bundles) -> pl.Series:
    """One text for every bundle: its values with bars between them, in quotes where they could be misread."""
    texts = texts_of(bundles.values).to_list()
    own = [
        "missing" if text is None else dumps(text, ensure_ascii=False) if _MISREAD.search(text) else text
        for text in texts
    ]
    codes, starts = bundles.code.tolist(), bundles.first.tolist()
    joined = [" | ".join(own[code] for code in codes[a:b]) for a, b in itertools.pairwise(starts)]
    return pl.Series(joined, dtype=pl.String)
