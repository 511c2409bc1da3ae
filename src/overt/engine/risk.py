# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_risk.py
"""`overt.risk`: who can be re-identified in data, and what can be learnt about them, before anything is done to it."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from overt.engine.result import Result
from overt.errors import InvalidInput
from overt.io.intake import Intake
from overt.io.person_rows import PersonRows
from overt.io.profiling import Profile
from overt.io.recipe.person_proposal import keep_for
from overt.io.recipe.proposal import table_of_profile
from overt.io.recipe.recipe import Recipe, as_recipe
from overt.io.sources import Source, source_named
from overt.metrics.person_uniques import PersonUniques, find_person_uniques
from overt.metrics.risk import Risk, risk_of_table
from overt.metrics.uniques import Uniques, find_uniques
from overt.persons import COUNT
from overt.progress import Progress, silent
from overt.report.lines import aligned, labelled
from overt.report.sentences import counted, one_in, percent
from overt.table import Role, Table

MOST_SETS = 8


@dataclass(frozen=True, eq=False)
class Exposure(Result):
    """What `overt.risk` gives."""

    known: tuple[str, ...]  # the quasi-identifiers
    sensitive: tuple[str, ...]
    whence: str  # how their roles are known
    risk: Risk
    uniques: Uniques
    persons: PersonUniques | None = None  # who can be found by how many of their rows; None: a row is a person
    cautions: tuple[str, ...] = ()  # why rows may not be persons

    def content(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "known": list(self.known),
            "sensitive": list(self.sensitive),
            **self.risk.to_dict(),
            "smallest_sets": [{"columns": list(one.columns), "rows": one.n_rows} for one in self.uniques.sets],
            "sets_of_up_to": self.uniques.max_size,
            "persons": None if self.persons is None else self.persons.to_dict(),
            "cautions": list(self.cautions),
        }

    def lines(self, width: int | None = None) -> Iterator[str]:
        """Who can be found by whom, and the sets of columns by which."""
        yield from labelled(self._rows(), width)
        sets = self.uniques.sets
        if sets:
            yield ""
            left_out = f"; {n} columns with few values were not combined" if (n := self.uniques.n_not_combined) else ""
            left_out += (
                f"; {n} sets with too many combinations were not counted" if (n := self.uniques.n_not_counted) else ""
            )
            things = "rows" if self.persons is None else "persons"
            yield f"The smallest sets of columns that single {things} out (of up to {self.uniques.max_size} columns{left_out}):"
            yield ""
            yield from aligned((counted(one.n_rows, things[:-1]), " + ".join(one.columns)) for one in sets[:MOST_SETS])
        if len(sets) > MOST_SETS:
            yield f"  and {len(sets) - MOST_SETS} more"

    def _rows(self) -> Iterator[tuple[str, str]]:
        found = self.risk.identification
        yield "Known", f"{', '.join(self.known)} ({self.whence})"
        things = "rows" if self.persons is None else "persons"
        if self.persons is not None:
            yield from lines_of_persons(self.persons)
        else:
            yield "Unique", f"{found.n_unique:,} of {found.n_rows:,} rows ({percent(found.n_unique / found.n_rows)})"
        yield (
            "Found by",
            f"an attacker who knows that a person is in the file: {one_in(float(found.prosecutor))} for the person who is easiest to find",
        )
        if found.journalist is not None:
            yield (
                "",
                f"an attacker who does not know who is in the file: {one_in(found.journalist)} for the person who is easiest to find (estimated)",
            )
        yield "", f"an attacker who matches everybody: right for {percent(float(found.marketer))} of {things}"
        for one in self.risk.disclosures:
            yield (
                "Learnt",
                f"{one.column}: {percent(one.n_certain / found.n_rows)} of {things} are in groups where everybody has the same value; "
                f"guessing the most frequent value of each group is right for {percent(one.best_guess)}, "
                f"guessing that of the whole table for {percent(float(one.blind_guess))}",
            )
        yield from (("Caution", caution) for caution in self.cautions)


def lines_of_persons(found: PersonUniques) -> Iterator[tuple[str, str]]:
    """Who can be found by what never changes, and by how many of their rows."""
    yield "Persons", f"{found.n_persons:,} with {found.n_rows:,} rows"
    known = [
        ("what is the same in all their rows", found.static),
        ("also how many rows they have", found.with_count),
        ("also one of these rows, the most revealing", found.with_one),
        ("also two of these rows", found.with_two),
        ("all of their rows", found.with_all),
    ]
    label = "Unique"
    for words, n in known:
        if n is not None:
            yield (
                label,
                f"{n:,} of {found.n_persons:,} persons ({percent(n / found.n_persons)}) to someone who knows {words}",
            )
            label = ""


def risk(
    data: Any,
    *,
    table: str | None = None,
    query: str | None = None,
    recipe: Recipe | str | Path | None = None,
    known: Collection[str] = (),
    sensitive: Collection[str] = (),
    population_share: float | None = None,
    engine: Any = None,
    master: str | None = None,
    staging: str | None = None,
    on_progress: Progress = silent,
) -> Exposure:
    """Measure who can be re-identified in data, and what can be learnt about them, before anything is done to it.

    `data` is a file, a frame or, with a `table` or `query`, a reference to a database. The roles of columns come from a `recipe`, or
    `known` names the quasi-identifiers and `sensitive` the sensitive columns. Otherwise they are guessed as by `overt.init`.
    `population_share` is the share of the population that is in the data, for an attacker who does not know who is in it.
    With an `engine`, as of `overt.run`, everything is counted where the rows are; roles then come from a recipe, or are named.

    >>> import tempfile, overt
    >>> path = Path(tempfile.mkdtemp()) / "hospital.csv"
    >>> overt.samples.hospital().write_csv(path)
    >>> exposure = overt.risk(path, known=["Postcode", "Sex"], sensitive=["Disease"])
    >>> exposure.risk.identification.n_rows
    96
    """
    if engine is not None:
        from overt.engine.scale.scaled_risk import risk_at_scale

        if table is not None or query is not None:
            raise InvalidInput(
                "An engine reads files and tables of a catalog, and no database; export the table to Parquet."
            )
        how: dict[str, Any] = {"master": master, "staging": staging, "population_share": population_share}
        return risk_at_scale(data, recipe, known, sensitive, engine, **how, on_progress=on_progress)
    if master is not None or staging is not None:
        raise InvalidInput("Only an engine has a master and a folder for staging; choose one, as with --engine spark.")
    people, whence, cautions = _read(data, table, query, recipe, known, sensitive, on_progress)
    on_progress("Measuring", 0, 0)
    return Exposure(
        known=_named(people),
        sensitive=tuple(column.name for column in people.sensitive),
        whence=whence,
        risk=risk_of_table(people, population_share=population_share),
        uniques=find_uniques(static_part(people)),
        persons=None if people.persons is None else find_person_uniques(people),
        cautions=cautions,
    )


def _read(
    data: Any,
    table: str | None,
    query: str | None,
    recipe: Recipe | str | Path | None,
    known: Collection[str],
    sensitive: Collection[str],
    on_progress: Progress,
) -> tuple[Table, str, tuple[str, ...]]:
    """The table, where its roles come from, and why its rows may not be persons."""
    if recipe is not None:
        asked = as_recipe(recipe)
        is_named = table or query or not isinstance(data, str | Path)
        source = source_named(data, table=table, query=query) if is_named else asked.source_at(data)
        return _read_all(source, asked.intake(), asked.persons, on_progress), f"as {asked.name} says", ()
    source = source_named(data, table=table, query=query)
    profile = source.profile(on_progress=on_progress)
    if not known:
        guessed = "guessed from the columns; name them with --known to be certain"
        if profile.persons is None:
            return table_of_profile(profile), guessed, (*cautions_of(profile), *not_counted(profile))
        return _read_all(source, intake_of_profile(profile), (), on_progress), guessed, not_counted(profile)
    intake = Intake(quasi_identifiers=known, sensitive=sensitive, others=(), missing="own value")
    whose = None if profile.persons is None else profile.persons.column
    if whose is None or whose in (*known, *sensitive):
        return source.read(intake, on_progress=on_progress)[0], "as you named them", cautions_of(profile)
    varies = tuple(c.name for c in profile.columns if c.name in known and differs(profile, c.name))
    try:
        asked_of = replace(intake, persons=PersonRows(column=whose, varies=varies))
        people, _ = source.read(asked_of, on_progress=on_progress)
        return people, f"as you named them; persons by {whose!r}; the number of their rows counts as known", ()
    except InvalidInput:
        return source.read(intake, on_progress=on_progress)[0], "as you named them", cautions_of(profile)


def differs(profile: Profile, name: str) -> bool:
    """Whether a column differs between the rows of some person, as far as its profile says."""
    return any(column.name == name and column.n_differ for column in profile.columns)


def cautions_of(profile: Profile) -> tuple[str, ...]:
    """Columns that seem to name persons who have several rows, which are counted as rows all the same."""
    whose = {column.name for column in profile.columns if column.repeats}
    whose |= set() if profile.persons is None else {profile.persons.column}
    return tuple(
        f"{column.name!r} seems to name persons, some in several rows, and rows are counted here: five that look alike may be one person. "
        "In a recipe, person says whose the rows are"
        for column in profile.columns
        if column.name in whose
    )


def not_counted(profile: Profile) -> tuple[str, ...]:
    """Columns that others may know or not: nothing says so, and they are not counted."""
    if not profile.unclear:
        return ()
    return (
        f"not counted, because neither header nor cells say what it is: {profile.unclear}. Name what others know with --known",
    )


def _read_all(source: Source, intake: Intake, persons: Collection[str], on_progress: Progress) -> Table:
    """All rows of everybody, who is at risk before anything is cut; of somebody with too many, as many as the recipe keeps."""
    said = intake.persons
    if said is not None and said.keep is not None:
        try:
            whole = replace(intake, persons=replace(said, keep=None, which="random"))
            return source.read(whole, persons=tuple(persons), on_progress=on_progress)[0]
        except InvalidInput:
            pass
    return source.read(intake, persons=tuple(persons), on_progress=on_progress)[0]


def intake_of_profile(profile: Profile) -> Intake:
    """How the data of a profile is read, whose persons have several rows: each column in the role that is proposed."""
    assert profile.persons is not None
    read = [c for c in profile.columns if c.column is not None and c.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)]
    kinds = {c.name: c.kind for c in read if c.kind is not None and c.formats is None}
    return Intake(
        quasi_identifiers=[c.name for c in read if c.role is Role.QUASI_IDENTIFIER],
        sensitive=[c.name for c in read if c.role is Role.SENSITIVE],
        kinds=kinds,
        date_formats={c.name: c.formats for c in read if c.formats is not None},
        unreadable={c.name: "missing" for c in read if c.odd is not None},
        missing="own value",
        missing_values=profile.missing_values,
        others=(),
        persons=PersonRows(
            column=profile.persons.column,
            keep=keep_for(profile),
            varies=tuple(c.name for c in read if c.n_differ and c.role is Role.QUASI_IDENTIFIER),
        ),
    )


def _named(table: Table) -> tuple[str, ...]:
    """The quasi-identifiers by the names that they have in the data."""
    positions = {} if table.persons is None else table.persons.positions
    base_of = {position: name for name, of in positions.items() for position in of}
    return tuple(dict.fromkeys(base_of.get(column.name, column.name) for column in table.quasi_identifiers))


def static_part(table: Table) -> Table:
    """Without what differs between the rows of a person, of which the uniques of persons speak; all of it if nothing else is known."""
    if table.persons is None:
        return table
    varying = {COUNT, *(position for of in table.persons.positions.values() for position in of)}
    static = tuple(c for c in table.columns if c.name not in varying)
    return replace(table, columns=static) if any(c.role is Role.QUASI_IDENTIFIER for c in static) else table
