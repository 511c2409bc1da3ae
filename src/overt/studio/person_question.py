# SPDX-License-Identifier: Apache-2.0
"""Person question: who a row is about, as the first step asks for it and as the recipe says it. People are counted by the library."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from overt.engine.course import prepare
from overt.errors import InvalidInput
from overt.io.profiling import ColumnProfile, Profile
from overt.io.recipe.recipe import Recipe, parse_recipe
from overt.io.recipe.toml_text import toml_of
from overt.progress import Progress
from overt.studio.edits import Change, set_person
from overt.studio.jobs import Job
from overt.studio.session import Session
from overt.table import Kind

MOST_ROWS_AT_ONCE = 200_000  # of a table that is read several times while somebody waits
VARYING = re.compile(r"Column '(.+)' differs between the rows of")


@dataclass(frozen=True)
class PersonAnswer:
    """What a person chose. Columns are named by their numbers."""

    about: Literal["row", "person", "household"]
    column: int | None
    keep: int | str
    which: str
    order: str
    varies: tuple[int, ...]


def shown_person(session: Session, problem: str = "") -> dict[str, Any]:
    """The answer that the recipe holds, and what else could be answered."""
    document, profile = session.document, profile_of(session)
    given, columns = document["input"], document["columns"]
    return {
        "about": "row" if "person" not in given else "household" if session.history.done[-1].is_household else "person",
        "column": given.get("person"),
        "keep": given.get("keep", "all"),
        "which": given.get("which", "random"),
        "order": given.get("order"),
        "columns": [(number, one.name) for number, one in may_tell_persons(session)],
        "orders": list(may_tell_order(session)),
        "known": [
            (number, one.name, bool(columns[one.name].get("varies")))
            for number, one in enumerate(profile.columns)
            if columns.get(one.name, {}).get("role") == "quasi-identifier"
        ],
        "repeats": next((one for one in profile.columns if one.repeats), None),
        "problem": problem,
    }


def profile_of(session: Session) -> Profile:
    """What the library found when it looked at the table."""
    profile = session.found["profile"]
    assert isinstance(profile, Profile)
    return profile


def may_tell_persons(session: Session) -> Iterator[tuple[int, ColumnProfile]]:
    """Columns that could say whose a row is: identifiers, and what is left out."""
    columns = session.document["columns"]
    numbered = enumerate(profile_of(session).columns)
    return (
        (n, one) for n, one in numbered if columns.get(one.name, {}).get("role", "other") in ("identifier", "other")
    )


def may_tell_order(session: Session) -> Iterator[tuple[int, str]]:
    """Dates and numbers that nobody keeps to themselves: what is cut must not tell of what is sensitive."""
    columns = session.document["columns"]
    for number, one in enumerate(profile_of(session).columns):
        if one.kind in (Kind.DATE, Kind.NUMBER) and columns.get(one.name, {}).get("role") == "quasi-identifier":
            yield number, one.name


def edit_of(session: Session, asked: PersonAnswer) -> tuple[str, Change]:
    """What an answer writes into the recipe, with words for it."""
    profile = profile_of(session)
    repeats = next((one.name for one in profile.columns if one.repeats), None)
    if asked.about == "row":
        return "Each row another person", set_person(
            None, repeats_of=repeats, keep="all", which="random", order=None, varies=()
        )
    tellers = dict(may_tell_persons(session))
    is_first = "person" not in session.document["input"]
    proposed = next((n for n, one in tellers.items() if one.repeats), next(iter(tellers), None))
    number = asked.column if asked.column is not None else proposed
    if number is None or number not in tellers:
        raise InvalidInput("A column must say whose a row is; give one the role “Names a person”, and choose it here.")
    name = tellers[number].name
    orders = dict(may_tell_order(session))
    which, order = which_of(session, asked, orders, is_first=is_first)
    varies = [profile.columns[n].name for n in asked.varies if n < len(profile.columns)]
    keep = 1 if is_first else asked.keep
    if is_first and profile.n_rows <= MOST_ROWS_AT_ONCE:
        varies = find_varying(session, name, keep, which, order)
    words = f"Several rows per {'household' if asked.about == 'household' else 'person'}, told by {name}"
    return words, set_person(name, repeats_of=repeats, keep=keep, which=which, order=order, varies=varies)


def find_varying(session: Session, person: str, keep: int | str, which: str, order: str | None) -> list[str]:
    """The columns that differ between the rows of a person: those that the library refuses to take as the person's, one after the other."""
    varies: list[str] = []
    while True:
        edit = set_person(person, repeats_of=None, keep=keep, which=which, order=order, varies=varies)
        try:
            prepare(parse_recipe(toml_of(edit(session.document)), folder=session.folder))
        except InvalidInput as error:
            found = VARYING.match(str(error))
            if found is None or found[1] in varies:
                return varies
            varies.append(found[1])
        else:
            return varies


def which_of(
    session: Session, asked: PersonAnswer, orders: dict[int, str], *, is_first: bool
) -> tuple[str, str | None]:
    """Which rows are kept, and by which order: at first the latest that a date tells, where there is one."""
    dates = [n for n in orders if profile_of(session).columns[n].kind is Kind.DATE]
    visits = [n for n in dates if "birth" not in orders[n].lower()] or dates
    which = "latest" if is_first and visits else asked.which
    order = orders.get(int(asked.order)) if asked.order else None
    if which != "random" and order is None:
        if not orders:
            raise InvalidInput(
                "A date or a number that others may know must say which row is the latest, and there is none; keep rows that are drawn."
            )
        order = orders[(visits or list(orders))[0]]
    return which, order


def count_people(recipe: Recipe, on_progress: Progress) -> int:
    """How many people there are, as the library reads the table."""
    return prepare(recipe, on_progress).table.n_rows


def said_of_people(session: Session, job: Job) -> str:
    """The count in words; empty while it is not known."""
    if job.state != "done":
        return ""
    whose = "households" if session.history.done[-1].is_household else "people"
    return f"{job.result:,} {whose} in {profile_of(session).n_rows:,} rows"
