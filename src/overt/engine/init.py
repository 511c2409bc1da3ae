# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_init.py
"""`overt.init`: a first recipe for data that nobody has described yet, and the pilot by which its goals and strata are chosen."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.engine.outcome import as_typed
from overt.engine.result import Result
from overt.errors import InvalidInput
from overt.io.atomic import all_or_nothing
from overt.io.date_formats import DateFormats
from overt.io.pilot_record import Pilot, draw_persons, draw_rows, pilot_of_data, pilot_path, usual_people
from overt.io.profiling import ColumnProfile, Profile
from overt.io.recipe.person_proposal import keep_for, persons_words, rows_per_person
from overt.io.recipe.proposal import propose_recipe, table_of_profile, unique_words
from overt.io.recipe.recipe import parse_recipe
from overt.io.sources import source_named
from overt.metrics.uniques import Uniques, find_uniques
from overt.progress import Progress, silent
from overt.randomness import secret_generator
from overt.report.lines import aligned, labelled
from overt.table import Role

MANY_KNOWN = 20  # quasi-identifiers: beyond, hardly anything of a column is left in a group


@dataclass(frozen=True, eq=False)
class FirstRecipe(Result):
    """What `overt.init` gives: where the recipe was written, and what it is based on."""

    path: Path
    data: str  # the reference to it, as it was given
    profile: Profile
    uniques: Uniques
    pilot_path: Path | None  # the owner's file that says who is in the pilot; None if there is no pilot

    @property
    def n_looked_at(self) -> int | None:
        """People of the pilot; None if there is no pilot."""
        return None if self.pilot_path is None else self.profile.n_looked_at

    @property
    def looked_at(self) -> str:
        """Whose sensitive values were looked at."""
        if self.n_looked_at is not None:
            return (
                f"in sensitive columns, only the values of {self.n_looked_at:,} randomly drawn people. They will not be "
                "published, and what you choose because of them reveals nothing about the others"
            )
        if self.profile.of_role(Role.SENSITIVE):
            return "no values of sensitive columns: without a pilot, goals are proposed without looking at them"
        return "there is no sensitive column"

    def content(self) -> dict[str, Any]:
        """The proposed roles, with their reasons."""
        profile = self.profile
        return {
            "rows": self.profile.n_rows,
            "columns": [
                {
                    "name": column.name,
                    "role": column.role,
                    "reason": column.reason,
                    "kind": column.kind,
                    "values": column.n_distinct,
                    "missing": column.n_missing,
                }
                for column in self.profile.columns
            ],
            "persons": None
            if profile.persons is None
            else {
                "column": profile.persons.column,
                "persons": profile.persons.n_persons,
                "rows_per_person": {str(n): n_persons for n, n_persons in rows_per_person(profile)},
                "varies": [column.name for column in profile.columns if column.n_differ],
                "keep": keep_for(profile),
            },
            "households": None if profile.households is None else asdict(profile.households),
            "uniques": self.uniques.n_unique,
            "pilot": self.n_looked_at,
            "recipe": str(self.path),
        }

    def lines(self, width: int | None = None) -> Iterator[str]:
        """The proposed roles, what was looked at, and what to do next."""
        profile = self.profile
        name = profile.path.name if profile.origin else self.data
        yield f"{profile.n_rows:,} rows, {len(profile.columns)} columns in {name}. Proposed roles:"
        yield ""
        yield from aligned((" ".join(c.name.split()), str(c.role), c.reason) for c in profile.columns)
        yield ""
        yield from labelled(self._rows(), width)

    def _rows(self) -> Iterator[tuple[str, str]]:
        yield from persons_words(self.profile)
        yield "Unique", unique_words(self.uniques, self.profile)
        for column in self.profile.columns:
            if column.repeats and self.profile.persons is None:
                yield "Caution", f"{column.name!r} seems to name persons, some in several rows; overt run refuses that"
            if column.alternative is not None and isinstance(column.formats, DateFormats):
                forms = f"{column.formats.formats[0]} or {column.alternative}"
                yield (
                    "Caution",
                    f"{column.name!r} is written {forms}, and no cell shows which; the recipe says the first, so find out",
                )
            if column.odd is not None:
                yield "Caution", f"{column.name!r}: {odd_words(column)}"
        for caution in table_cautions(self.profile, len(self.profile.of_role(Role.QUASI_IDENTIFIER))):
            yield "Caution", caution
        if self.profile.unclear:
            yield (
                "Unclear",
                f"not released, because neither header nor cells say what it is: {self.profile.unclear}. Give a role in the recipe to what you need",
            )
        yield "Looked at", self.looked_at
        yield "Recipe", str(self.path)
        if self.pilot_path is not None:
            yield "Owner", f"{self.pilot_path}: who is in the pilot"
        yield "Next", f"check it, correct what is wrong, then: overt run {as_typed(self.path)} --report"


def table_cautions(profile: Profile, n_known: int) -> Iterator[str]:
    """What to know of a table as a whole, of which so many columns are quasi-identifiers."""
    if profile.ends_in_totals:
        yield "the last row seems to hold totals, and would be published as if it were somebody: take it out of the data"
    if n_known > MANY_KNOWN:
        yield (
            f"{n_known} columns are proposed as what others may know about a person. With so many, a release shows little detail. Give "
            "those that hardly anybody else knows, such as answers to questions, the role 'sensitive', or leave them out"
        )
    if profile.perhaps_known:
        yield (
            "neither headers nor cells say what others know about a person, so these columns are all proposed as that, and nothing protects what is "
            f"private in them: {profile.perhaps_known}. Give every column its role before you make a release"
        )


def odd_words(column: ColumnProfile) -> str:
    """How many cells are not of the kind of their column, and where they are."""
    assert column.odd is not None
    n_odd, kind = column.odd.numbers.size, column.kind
    if n_odd == 1:
        return f"1 cell is no {kind} ({column.odd}); the recipe counts it as missing"
    return f"{n_odd:,} cells are no {kind} ({column.odd}); the recipe counts them as missing"


def init(
    data: str | Path,
    *,
    table: str | None = None,
    query: str | None = None,
    person: str | None = None,
    into: str | Path = "recipe.toml",
    overwrite: bool = False,
    on_progress: Progress = silent,
) -> FirstRecipe:
    """Inspect data and write a first recipe for it, ready to run, and the record of its pilot.

    `data` is a file or, with a `table` or `query`, a reference to a database. `person` names the column that identifies persons, such as the number of a
    patient or of a household; otherwise it is guessed. The roles are guesses, each with its reason.

    >>> import tempfile, overt
    >>> folder = Path(tempfile.mkdtemp())
    >>> overt.samples.hospital().write_csv(folder / "hospital.csv")
    >>> first = overt.init(folder / "hospital.csv", into=folder / "recipe.toml")
    >>> [(column.name, str(column.role)) for column in first.profile.columns][:2]
    [('Name', 'identifier'), ('Birth date', 'quasi-identifier')]
    """
    into, data = Path(into), str(data)
    rng = secret_generator()  # nobody shall be able to repeat the draw
    source = source_named(data, table=table, query=query)
    if into.exists() and not overwrite:
        raise InvalidInput(f"{into} exists already; choose another name with --into, or ask for it with --overwrite.")
    has_order = source.has_bytes  # rows of a database have no order to remember people by
    remembered = pilot_path(into.parent, source)
    known = pilot_of_data(remembered, source) if has_order else None

    def draw(n_rows: int, whose: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
        if known is not None:  # all rows of everybody of whom a row was looked at
            return known.rows if whose is None else np.flatnonzero(np.isin(whose, whose[known.rows]))
        n_people = usual_people(n_rows if whose is None else int(whose.max()) + 1) if has_order else 0
        if not n_people:
            return None
        return draw_rows(n_rows, n_people, rng) if whose is None else draw_persons(whose, n_people, rng)

    profile = source.profile(person=person, draw=draw, on_progress=on_progress)
    on_progress("Looking for unique rows", 0, 0)
    uniques = find_uniques(table_of_profile(profile))
    text = propose_recipe(profile, recipe=into, rng=rng)
    proposed = parse_recipe(text, folder=into.parent, name=into.name)  # what is written can be run
    has_pilot = proposed.settings.pilot is not None
    with all_or_nothing(overwrite=overwrite, for_owner=True) as stage:
        stage(into).write_text(text, encoding="utf-8")
    n_persons = None if profile.persons is None else profile.n_looked_at
    is_drawn = known is None or known.rows.size < (0 if profile.pilot is None else profile.pilot.size)
    if has_pilot and is_drawn and profile.pilot is not None and (found := source.digest()) is not None:
        before = Pilot(found, profile.n_rows, profile.pilot) if known is None else known  # what was decided stays
        replace(before, rows=profile.pilot, n_persons=n_persons).write(remembered)
    return FirstRecipe(into, data, profile, uniques, remembered if has_pilot else None)
