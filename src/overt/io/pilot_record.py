# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_pilot.py
"""Pilot: people of a file who are drawn blindly, whose values may be looked at, and who are therefore not published.

A file beside the recipe, readable by its owner alone, remembers who they are (by position, with a digest of the data), so
that a release can leave them out. It belongs to the data and not to one recipe: all recipes in a folder share it, since what was
seen in one comparison may decide any of them. It also remembers what was decided when the others were first released, or
refused: another decision for the same people would be a second try. After a refusal a goal that asks for less may be run, if a release shows
by itself that the first goal could not be reached. And it remembers where the release went: the same decision at a second place would be dealt anew,
and two deals of the same people together tell more than either.
"""

import json
import os
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from overt.errors import InvalidData, InvalidInput, Unreachable
from overt.io.atomic import all_or_nothing
from overt.io.closed_model import ClosedModel
from overt.io.encoding import positions_without
from overt.io.files import digest
from overt.io.manifest import files_read
from overt.io.owner_record import Digest, OwnerRecord
from overt.io.recipe.recipe import Recipe
from overt.io.recipe.settings import Output
from overt.randomness import secret_generator

if TYPE_CHECKING:
    from overt.io.sources import Source

SUFFIX = ".pilot.owner.json"
FEWEST_ROWS = 200  # of a table of which a pilot is drawn without being asked for
MOST_PEOPLE = 2_000

PilotRows = NDArray[np.intp]


class _File(ClosedModel):
    """What the file holds."""

    pilot_record: Literal[1] = 1
    audience: Literal["owner"] = "owner"
    input_sha256: Digest
    n_rows: int
    rows: tuple[Annotated[int, Field(ge=0, lt=1 << 62)], ...]
    n_persons: int | None = None  # whose rows these are, if a person can have several; None: a row is a person
    decided: Digest | None = None  # what was asked for when the others were first released or refused
    refused: Digest | None = None  # the same but for the goals, if it was refused in a way that a release shows
    released: str | None = None  # where the others' release went, as the recipe names it


@dataclass(frozen=True, eq=False)
class Pilot:
    """Who was drawn, from which data, and what was decided since."""

    input_sha256: str
    n_rows: int
    rows: PilotRows  # ascending
    decided: str | None = None
    n_persons: int | None = None  # whose rows these are; None: a row is a person
    refused: str | None = None  # the same but for the goals, if these were refused and others may be tried
    released: str | None = None  # where the others' release went, as seen from the folder of the recipes

    @property
    def people(self) -> int:
        """How many people were drawn."""
        return int(self.rows.size) if self.n_persons is None else self.n_persons

    @property
    def others(self) -> PilotRows:
        """The rows that are not in the pilot."""
        return positions_without(self.rows, self.n_rows)

    def write(self, path: Path) -> None:
        """Write the file, readable by its owner alone."""
        content = _File(
            input_sha256=self.input_sha256,
            n_rows=self.n_rows,
            rows=tuple(self.rows.tolist()),
            n_persons=self.n_persons,
            decided=self.decided,
            refused=self.refused,
            released=self.released,
        )
        with all_or_nothing(overwrite=True, for_owner=True) as stage:
            stage(path).write_text(content.model_dump_json() + "\n", encoding="utf-8")


def pilot_path(folder: Path, data: "Source") -> Path:
    """Where the pilot of a file is remembered: in the folder of the recipes."""
    return folder / f"{data.base.name}{SUFFIX}"


def usual_people(n_rows: int) -> int:
    """How many people are drawn unless somebody says otherwise: one in ten; nobody of a small table."""
    return 0 if n_rows < FEWEST_ROWS else min(MOST_PEOPLE, max(n_rows // 10, FEWEST_ROWS // 4))


def draw_rows(n_rows: int, n_people: int, rng: Generator) -> PilotRows:
    """People who are drawn without looking at anything but how many rows there are."""
    if not 1 <= n_people <= n_rows // 2:
        raise InvalidData(
            f"A pilot of {n_people:,} people is asked for and the table has {n_rows:,} rows; at most half of them can be looked "
            "at, and at least one. Change `people` of [pilot], or leave [pilot] out."
        )
    return np.sort(rng.choice(n_rows, size=n_people, replace=False))


def draw_persons(person_of_row: PilotRows, n_people: int, rng: Generator) -> PilotRows:
    """All rows of persons who are drawn without looking at anything but how many persons there are."""
    chosen = draw_rows(int(person_of_row.max()) + 1, n_people, rng)
    return np.flatnonzero(np.isin(person_of_row, chosen))


def read_pilot(path: Path) -> Pilot | None:
    """The pilot that a file remembers; None if there is no file."""
    try:
        found = _File.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except PermissionError:
        raise InvalidInput(f"{path.name} can be read by its owner only; ask them to do this.") from None
    except ValidationError:
        raise InvalidInput(
            f"{path.name} is not a pilot that this Overt can read. Who was looked at is not known, so nobody of this data can be released."
        ) from None
    rows = np.array(found.rows, np.intp)
    if rows.size and (np.any(np.diff(rows) <= 0) or rows[-1] >= found.n_rows):
        raise InvalidInput(f"{path.name} names rows that the data cannot have; it was changed.")
    return Pilot(found.input_sha256, found.n_rows, rows, found.decided, found.n_persons, found.refused, found.released)


def pilot_of_data(path: Path, data: "Source") -> Pilot | None:
    """The pilot that a file remembers, if it is of this data; None if there is no file."""
    found = read_pilot(path)
    return None if found is None else _of_this_data(found, path, data)


def pilot_for_run(recipe: Recipe) -> Pilot | None:
    """The pilot that a release must leave out; None if the recipe has none.

    Refused is whatever would publish people who were looked at: a pilot that is not known, one of other data, and a recipe
    that does not name the pilot that was drawn from its data.
    """
    path, data = pilot_path(recipe.folder, recipe.source), recipe.source
    if recipe.settings.pilot is None:
        _refuse_looked_at(read_pilot(path), path, recipe)
        beside_data = pilot_path(data.base.parent, data)
        if os.access(beside_data, os.R_OK):  # what another user looked at is no choice of this recipe
            _refuse_looked_at(read_pilot(beside_data), beside_data, recipe)
        return None
    found = read_pilot(path)
    if found is None:
        raise InvalidInput(
            f"{recipe.name} has a [pilot] and {path.name}, which says who is in it, is not there. If people were looked at, put the file back: "
            "they must not be published. If nobody was, `overt compare` draws the pilot."
        )
    pilot = _of_recipe(found, path, recipe)
    _refuse_another(pilot, path, recipe)
    return pilot


def _refuse_another(pilot: Pilot, path: Path, recipe: Recipe) -> None:
    """Refuse a second pilot of the same data where the first lies beside the data: its others may be released already."""
    data = recipe.source
    beside_data = pilot_path(data.base.parent, data)
    if beside_data.resolve() == path.resolve() or not os.access(beside_data, os.R_OK):
        return
    other = read_pilot(beside_data)
    if other is None or other.input_sha256 != pilot.input_sha256:
        return
    if other.released is not None or not np.array_equal(other.rows, pilot.rows):
        raise InvalidInput(
            f"Beside {data.name} lies {beside_data.name}, and {recipe.name} has a pilot of its own for the same data. Other people were looked at there, or the "
            "others are released already, and two releases of the same people together tell more than either. Go on with the recipe of that pilot, or begin "
            "with new data."
        )


def pilot_of_release(recipe: Recipe, record: OwnerRecord | None, *, has_manifest: bool) -> PilotRows | None:
    """The people whom a release left out, for its check: its owner's record says who, or the file beside the recipe."""
    if recipe.settings.pilot is None:
        return None
    if record is not None:
        return np.array(record.pilot, np.intp)
    found = None if has_manifest else read_pilot(pilot_path(recipe.folder, recipe.source))
    if found is None:
        raise InvalidInput(
            "The release leaves out the people of a pilot, and what says who they are is not there: put the owner's record beside the "
            "manifest, or give the recipe with --recipe where its pilot lies."
        )
    return found.rows


def pilot_to_look_at(recipe: Recipe) -> Pilot | None:
    """The people whose values a comparison may look at; None if nobody was drawn yet."""
    path = pilot_path(recipe.folder, recipe.source)
    found = read_pilot(path)
    return None if found is None else _of_recipe(found, path, recipe)


def draw_pilot(recipe: Recipe, n_rows: int) -> Pilot:
    """Draw the pilot of a recipe with coins that nobody can repeat, and remember it."""
    assert recipe.settings.pilot is not None
    people, rng, person = recipe.settings.pilot.people, secret_generator(), recipe.settings.input.person
    found = recipe.source.digest()
    assert found is not None  # a pilot is of a file
    if person is None:
        drawn = Pilot(found, n_rows, draw_rows(n_rows, people, rng))
    else:
        whose = recipe.source.person_of_row(person)
        drawn = Pilot(found, whose.size, draw_persons(whose, people, rng), n_persons=people)
    drawn.write(pilot_path(recipe.folder, recipe.source))
    return drawn


def decide(pilot: Pilot, recipe: Recipe) -> None:
    """Remember what is asked for before the others' values are seen, and refuse another decision for the same people, or another place for their release.

    Where nothing was released yet, and a release would show that the goals of before could not be reached, other goals may be asked for.
    """
    asked, data = digest_of_decision(recipe), recipe.source
    is_less = pilot.refused is not None and pilot.refused == digest_of_decision(recipe, with_goals=False)
    if pilot.decided is None or (pilot.decided != asked and is_less):
        replace(pilot, decided=asked, refused=None).write(pilot_path(recipe.folder, data))
    elif pilot.decided != asked:
        raise InvalidInput(
            f"The people of {data.name} who are not in the pilot were already released, or refused, under other choices. A second try would tell "
            "what became of the first, and two releases of the same people together tell more than either. Go back to those choices"
            f"{', of which the goals alone may change' if pilot.refused is not None else ''}, or begin with new data."
        )
    _refuse_second_place(pilot, recipe)


def remember_place(recipe: Recipe) -> None:
    """Remember where the others' release goes, when it is complete and about to appear. What a run that failed would have written is not remembered."""
    path = pilot_path(recipe.folder, recipe.source)
    pilot = read_pilot(path)  # anew: another run may have ended meanwhile
    assert pilot is not None
    _refuse_second_place(pilot, recipe)
    replace(pilot, released=_place_of(recipe)).write(path)


def _refuse_second_place(pilot: Pilot, recipe: Recipe) -> None:
    if pilot.released is None or _is_same_place(pilot.released, recipe):
        return
    raise InvalidInput(
        f"The people of {recipe.source.name} who are not in the pilot were already released, as {pilot.released}. Another run would deal their values anew, and "
        "two releases of the same people together tell more than either. If you need the release at another place or in another format, copy or convert its "
        f"files. If nobody has it yet, replace it: give [output] its old place, {pilot.released}, and add --overwrite."
    )


def _place_of(recipe: Recipe) -> str:
    """The place of a release as its recipe names it: a path as seen from the folder of the recipe, so that the folder can be moved."""
    output, table = recipe.settings.output, recipe.target.catalog_table
    if table is not None:
        return f"{table} of the catalog"
    return Path(output.path).as_posix() if isinstance(output, Output) else f"{output.table} of {output.database}"


def _is_same_place(place: str, recipe: Recipe) -> bool:
    is_file = recipe.target.file is not None
    return place == _place_of(recipe) or (is_file and (recipe.folder / place).resolve() == recipe.output_path.resolve())


def refused_after(pilot: Pilot, recipe: Recipe, error: Unreachable) -> Unreachable:
    """A refusal of the people who are not in the pilot, with what may be done after it, which is remembered."""
    if not recipe.method.refusal_is_shown:
        return refused_for_good(error)
    decided, but_for_goals = digest_of_decision(recipe), digest_of_decision(recipe, with_goals=False)
    replace(pilot, decided=decided, refused=but_for_goals).write(pilot_path(recipe.folder, recipe.source))
    return Unreachable(
        f"{error} These people have now been looked at. You may ask for less and run again: a release in the same strata shows by itself that more could "
        "not be reached. Any other change is refused, because a second try with other strata would tell what became of the first. If nothing less "
        "will do, begin with new data, with more people in the pilot."
    )


def refused_for_good(error: Unreachable) -> Unreachable:
    """The same where nothing may be tried again."""
    return Unreachable(
        f"{error} These people have now been looked at: a second try with other strata or another goal would tell what became of the first, so it is "
        "refused. Begin with new data, with more people in the pilot or an easier goal."
    )


def sentence_of_pilot(pilot: Pilot) -> str:
    """What the owner should know of a release whose choices a pilot made."""
    again = (
        ""
        if pilot.released is None
        else " This release replaces an earlier one of the same people, whose values are dealt anew: if somebody has the earlier one, both together tell "
        "more than either."
    )
    return (
        f"The {pilot.people:,} people of the pilot are not in the release. What was chosen because of their values says something about them "
        f"together, and nothing about anybody who is published.{again}"
    )


def digest_of_decision(recipe: Recipe, *, with_goals: bool = True) -> str:
    """A digest of all that decides what a release says of people: everything but where it goes and what is reported."""
    sections = {"columns", "method", "pilot", *(("goal",) if with_goals else ())}
    content = recipe.settings.model_dump(mode="json", include=sections)
    content["others"] = list(recipe.settings.output.others)
    if recipe.settings.input.person is not None:  # which rows of whom are kept
        content["persons"] = recipe.settings.input.model_dump(include={"person", "keep", "which", "order", "known"})
    content["missing_values"] = list(recipe.settings.input.missing_values)
    beside = {name: path for name, path in files_read(recipe).items() if path.is_file()}
    if beside:  # hierarchies: their files may change and keep their names
        content["files"] = {name: digest(path) for name, path in beside.items()}
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _refuse_looked_at(found: Pilot | None, path: Path, recipe: Recipe) -> None:
    """A recipe without [pilot] publishes nobody of data whose pilot lies beside the recipe, or beside the data."""
    data = recipe.source
    if found is not None and found.input_sha256 == data.digest():
        where = "" if path.parent.resolve() == recipe.folder.resolve() else f" beside {data.name}"
        raise InvalidInput(
            f"{path.name}{where} says that values of some people of {data.name} were looked at, and {recipe.name} has no [pilot], so they would "
            f"be published. Put [pilot] with people = {found.people} into the recipe{', and move the file beside it' if where else ''}; or move the file "
            "away, if nothing in the recipe was chosen because of those values."
        )


def _of_recipe(pilot: Pilot, path: Path, recipe: Recipe) -> Pilot:
    _of_this_data(pilot, path, recipe.source)
    if recipe.settings.pilot is not None and recipe.settings.pilot.people != pilot.people:
        raise InvalidInput(
            f"[pilot] of {recipe.name} has people = {recipe.settings.pilot.people} and {pilot.people} were drawn; write that number."
        )
    return pilot


def _of_this_data(pilot: Pilot, path: Path, data: "Source") -> Pilot:
    if data.digest() not in (None, pilot.input_sha256):
        raise InvalidInput(
            f"{data.name} changed since its pilot was drawn, so {path.name} does not say who was looked at. Bring the data back as it was; or, if "
            "these are other people, move the file away and begin again with `overt init`."
        )
    return pilot
