# SPDX-License-Identifier: Apache-2.0
"""Doubts: what a person should look at of a column before they go on, as the library noticed it."""

from overt.engine.init import odd_words
from overt.io.date_formats import DateFormats
from overt.io.profiling import ColumnProfile
from overt.studio.history import Document


def notes_of(one: ColumnProfile, document: Document) -> tuple[str, ...]:
    """What a person should look at of a column, as the library says it."""
    settings, notes = document["columns"].get(one.name, {}), []
    if one.repeats and settings.get("repeats") == "refuse":
        notes.append("It seems to name people, and some of them stand in several rows. Say who a row is about.")
    if one.alternative is not None and isinstance(one.formats, DateFormats):
        notes.append(
            f"Its dates are written {one.formats.formats[0]} or {one.alternative}, and no cell tells which. Find out, and say which."
        )
    if one.odd is not None:
        notes.append(f"{odd_words(one)[0].upper()}{odd_words(one)[1:]}.")
    if one.n_marked and not one.is_sure:
        marks = ", ".join(one.marks)
        notes.append(f"{one.n_marked:,} cells hold {marks}, which may stand for “missing”.")
    return tuple(notes)
