# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_steps.py
"""Doubts: what a person should look at before they go on, as the library noticed it, with the answers that can be given."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from overt.engine.init import odd_words, table_cautions
from overt.io.date_formats import DateFormats
from overt.io.profiling import ColumnProfile, Profile
from overt.studio.edits import is_dp
from overt.studio.history import Document

READ = ("quasi-identifier", "sensitive")  # roles whose cells are read


@dataclass(frozen=True)
class Doubt:
    """Something that the table does not tell. Of dates it can be said how they are read, of marks that they mean "missing"."""

    words: str
    about: Literal["", "dates", "marks"] = ""
    is_open: bool = True
    choices: tuple[tuple[str, str], ...] = ()  # (format, in words)
    chosen: str = ""


def doubts_of(one: ColumnProfile, document: Document, settled: Collection[str] = ()) -> tuple[Doubt, ...]:
    """What a person should look at of a column; `settled` are columns of which somebody said that their dates are read rightly."""
    settings, doubts = document["columns"].get(one.name, {}), []
    if one.repeats and settings.get("repeats") == "refuse":
        doubts.append(Doubt("It seems to name people, and some of them stand in several rows. Say who a row is about."))
    if one.alternative is not None and isinstance(one.formats, DateFormats) and settings.get("role") in READ:
        choices = tuple((form, in_words(form)) for form in (one.formats.formats[0], one.alternative))
        now = formats_of(settings)
        chosen = next((form for form, _ in choices if form in now), "")
        is_open = chosen != one.alternative and one.name not in settled
        said = " or ".join(words for _, words in choices)
        doubts.append(
            Doubt(
                f"Its dates can be read with the {said}, and no cell tells which. Find out, and say which.",
                "dates",
                is_open,
                choices,
                "" if is_open else chosen,
            )
        )
    if one.odd is not None:
        doubts.append(Doubt(f"{odd_words(one)[0].upper()}{odd_words(one)[1:]}."))
    if one.n_marked and not one.is_sure and not is_dp(document):  # marks that the table holds are no public ones
        is_missing = set(one.marks) <= set(document["input"].get("missing_values", ()))
        doubts.append(
            Doubt(
                f"{one.n_marked:,} cells hold {', '.join(one.marks)}, which may stand for “missing”.",
                "marks",
                not is_missing,
                chosen="missing" if is_missing else "",
            )
        )
    return tuple(doubts)


def is_doubtful(one: ColumnProfile, document: Document, settled: Collection[str] = ()) -> bool:
    """Whether something of a column is still open."""
    return any(doubt.is_open for doubt in doubts_of(one, document, settled))


def cautions_of(profile: Profile, document: Document) -> tuple[str, ...]:
    """What to know of the table as a whole."""
    n_known = sum(column["role"] == "quasi-identifier" for column in document["columns"].values())
    return tuple(table_cautions(profile, n_known))


def formats_of(settings: Document) -> list[str]:
    """The formats that a recipe gives a column."""
    given = settings.get("format", [])
    return [given] if isinstance(given, str) else list(given)


def in_words(form: str) -> str:
    """A format of dates as people say it.

    >>> in_words("%d/%m/%Y"), in_words("%m/%d/%Y")
    ('day first', 'month first')
    """
    return "day first" if form.find("%d") < form.find("%m") else "month first"
