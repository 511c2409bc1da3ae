# SPDX-License-Identifier: Apache-2.0
"""`overt.anonymize`: a release of a frame in one call, with the roles, goals, method, checks and cautions that `overt init` and `overt run` give a file."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.arguments import is_frame, refusal
from overt.checks import Verdict, check_release
from overt.engine.course import make_release
from overt.engine.identifiers_released import find_identifiers_released
from overt.engine.outcome import (
    HeldProperty,
    content_of_persons,
    find_cautions,
    group_sizes,
    rows_of_promise,
    rows_of_release,
)
from overt.engine.promises import claim_of
from overt.engine.result import Result
from overt.errors import InvalidData, InvalidInput, OvertError, Unreachable
from overt.io.encoding import positions_without
from overt.io.frames import frame_intake, to_native
from overt.io.person_lines import lines_of_persons
from overt.io.person_rows import PersonRows, keep_of, person_rows
from overt.io.pilot_record import draw_persons, draw_rows, refused_for_good, usual_people
from overt.io.profiling import ColumnProfile, Profile, profile_frame
from overt.io.publication import as_frame, published_tables
from overt.io.recipe.proposal import K, propose_recipe
from overt.io.recipe.recipe import Recipe, parse_recipe
from overt.io.roles.header_words import Meaning, may_number_persons, meanings_of, numbers_persons
from overt.markup import Markup, element, html_table
from overt.method import Method
from overt.privacy import AllOf, KAnonymity
from overt.privacy.base import Property
from overt.progress import Progress, silent
from overt.randomness import secret_generator
from overt.release import Release
from overt.report.leak import Leak, brief
from overt.report.lines import aligned, labelled
from overt.report.person_sentences import base_rates, counted_persons, of_knowledge, rows_published
from overt.report.sentences import counted
from overt.table import Kind, Role, Table

ONCE = "This is one release of these people. Another call makes another release, and two together reveal more than either. Publish only one, and do not call again to get a nicer one."


@dataclass(frozen=True, eq=False)
class Anonymized(Result):
    """What `overt.anonymize` gives: the frames that may be published, and what holds of them, against whom, and what does not."""

    frames: Mapping[str, Any] = field(repr=False)  # what may be published, by name, in the kind of frame that came in
    release: Release = field(repr=False)  # for the owner: with the table it was made from
    columns: tuple[ColumnProfile, ...] = field(repr=False)  # their roles, and why
    goal: Property
    holds: tuple[HeldProperty, ...]
    verdict: Verdict = field(repr=False)
    cautions: tuple[str, ...]
    leak: Leak | None  # what someone who knows the method learns; None if it was not asked
    n_looked_at: int  # people whose sensitive values chose the goals, and who are therefore not published

    @property
    def published(self) -> Any:
        """The frame that may be published, or a tuple of them: for buckets the people, and the values of each bucket."""
        frames = tuple(self.frames.values())
        return frames[0] if len(frames) == 1 else frames

    def lines(self, width: int | None = None) -> Iterator[str]:
        """The roles and their reasons, then what holds, against whom, and what to know before publishing."""
        yield "Roles of the columns:"
        yield ""
        yield from aligned((" ".join(one.name.split()), str(one.role), one.reason) for one in self.columns)
        yield ""
        yield from labelled(self._rows(), width)

    def _rows(self) -> Iterator[tuple[str, str]]:
        release, method = self.release, self.release.method
        table, n_left = release.table, release.table.n_rows - release.n_suppressed
        yield from rows_of_release(
            counted_persons(table, n_left), table.n_dropped, release.n_suppressed, self.n_groups, method.name, table.persons
        )  # fmt: skip
        yield from rows_of_promise(self.holds, method.guarantee, of_knowledge(table), base_rates(table, self.goal))
        if self.leak is not None:
            yield "Leak", brief(self.leak)
        yield from release.remarks.items()
        yield from (("Caution", caution) for caution in self.cautions)
        yield "Checked", "the frames were read again, and hold what is said here" if self.verdict.ok else "not"
        yield "Publish", ", ".join(f"frames[{name!r}]" for name in self.frames)

    @property
    def n_groups(self) -> int:
        """How many groups of people a reader sees."""
        return int(group_sizes(self.release, published_tables(self.release)).size)

    def content(self) -> dict[str, Any]:
        """The same as plain values."""
        table, n_left = self.release.table, self.release.table.n_rows - self.release.n_suppressed
        return {
            "method": self.release.method.name,
            "rows": n_left,
            "persons": None
            if table.persons is None
            else content_of_persons(
                table.persons, n_left, rows_published(table), of_knowledge(table), base_rates(table, self.goal)
            ),
            "columns": [{"name": c.name, "role": c.role, "reason": c.reason} for c in self.columns],
            "goal": [{"property": held.name, "asked": held.asked, "reached": held.reached} for held in self.holds],
            **self.release.method.guarantee.to_dict(),
            "ok": self.verdict.ok,
            "cautions": list(self.cautions),
            "leak": None if self.leak is None else self.leak.to_dict()["sentence"],
            "pilot": self.n_looked_at,
            "frames": list(self.frames),
        }

    def _repr_html_(self) -> Markup:
        """What notebooks show: the same as two tables."""
        roles = [[one.name, str(one.role), one.reason] for one in self.columns]
        return element(
            "div",
            element("p", "For the owner of the data, but for the frames."),
            html_table(["what holds", ""], [list(row) for row in self._rows()], n_text_columns=2),
            html_table(["column", "role", "why"], roles, n_text_columns=3),
        )


def anonymize(
    frame: Any,
    *,
    quasi_identifiers: Collection[str] | None = None,
    sensitive: Collection[str] | None = None,
    identifiers: Collection[str] = (),
    others: Collection[str] = (),
    person: str | None = None,
    keep: int | Literal["all"] = "all",
    goal: Property | None = None,
    k: int | None = None,
    method: Method | None = None,
    rng: Generator | None = None,
    audit: bool = True,
    on_progress: Progress = silent,
) -> Anonymized:
    """Make a release of a frame of pandas, Polars or PyArrow in one call: roles, goals and method as `overt init` proposes them.

    Columns that you name have the role you give. For all others a role is proposed from headers and cells; if none is clear, the column is not
    released. Without `goal` or `method`, a random tenth of the people is left out of the release, and goals are chosen from
    their values. If a person can have several rows, `person` names the column that identifies persons, and `keep` is the maximum number of rows to
    keep for each: the latest where a column of dates differs between the rows of a person, else rows drawn at random.
    Without `rng`, nobody can repeat the draws. The frames are checked before they are returned.

    >>> import overt
    >>> made = overt.anonymize(overt.samples.hospital(), sensitive=["Disease"], goal=overt.FrequencyLDiversity(3))
    >>> people, diseases = made.published
    >>> people.columns[:3], diseases.columns
    (['bucket', 'Birth date', 'Postcode'], ['bucket', 'Disease'])
    """
    _refuse_wrong(frame, goal, k, method)
    person_rows(person, keep, "random", None, "visits", (), None)  # refuses what says nothing without a person
    rng = rng or secret_generator()
    looks = goal is None and method is None

    def draw(n_rows: int, whose: "NDArray[np.intp] | None") -> "NDArray[np.intp] | None":
        n_people = usual_people(n_rows if whose is None else int(whose.max()) + 1) if looks else 0
        if not n_people:
            return None
        return draw_rows(n_rows, n_people, rng) if whose is None else draw_persons(whose, n_people, rng)

    given = _given_roles(
        quasi_identifiers, sensitive, (*identifiers, *([person] if person is not None else ())), others
    )
    profile = profile_frame(frame, roles=given, person=person, draw=draw)
    profile = _without_unnamed(profile, quasi_identifiers, sensitive)
    _refuse_repeats(profile, person, identifiers)
    n_people = profile.n_rows if profile.persons is None else profile.persons.n_persons
    if k is not None and k > n_people:
        who = counted(n_people, "row" if profile.persons is None else "person")
        raise InvalidData(f"k is {k:,}, and the frame has {who}; groups cannot be larger than that.")
    if profile.perhaps_known:
        raise InvalidInput(
            f"Neither headers nor cells say what others may know about a person: {profile.perhaps_known}. Name quasi_identifiers, and what is sensitive."
        )
    text = propose_recipe(profile, recipe=Path("frame.toml"), rng=rng, keep=_most_kept(profile, keep))
    recipe = parse_recipe(text, folder=Path(), name="frame.toml")
    recipe = _asked(recipe, goal, k, method, tuple(others))
    table = _table_of(frame, profile, recipe, person, keep, rng)
    on_progress("Making the release", 0, 0)
    n_looked_at = 0 if recipe.settings.pilot is None else profile.n_looked_at or 0
    try:
        made = make_release(table, recipe.method, rng, on_progress)
    except Unreachable as error:
        raise (refused_for_good(error) if n_looked_at else error) from None
    return _checked(recipe, table, made.release, profile, made.warned, n_looked_at, audit, rng, on_progress)


def _checked(
    recipe: Recipe,
    table: Table,
    release: Release,
    profile: Profile,
    warned: tuple[str, ...],
    n_looked_at: int,
    audit: bool,
    rng: Generator,
    on_progress: Progress,
) -> Anonymized:
    """The frames, if they hold what is claimed; with everything that a run would say."""
    others = recipe.settings.output.others
    tables = published_tables(release, others=others)
    lines = lines_of_persons(table, tables)
    on_progress("Checking", 0, 0)
    claim = claim_of(recipe, table.n_rows - release.n_suppressed, table)
    verdict = check_release(table, lines, claim, witness=release.witness)
    if not verdict.ok:
        raise OvertError(
            "Nothing was released: the release did not pass its own check. Please report this as a bug in Overt."
        )
    leak = None
    if audit and table.sensitive:
        from overt.engine.quick_audit import look

        leak = look(release, None, rng=rng, on_progress=on_progress)
    pilot = (
        f"{n_looked_at:,} randomly drawn people are not in the release: the goals were chosen by their values."
        if n_looked_at
        else ""
    )
    cautions = (
        *find_identifiers_released(table, others),
        *warned,
        *find_cautions(release, recipe.goal, others),
        *filter(None, [_left_out(profile), pilot]),
        ONCE,
    )
    return Anonymized(
        frames={name: to_native(as_frame(table, shown), table.frame_kind) for name, shown in lines.items()},
        release=release,
        columns=profile.columns,
        goal=recipe.goal,
        holds=tuple(
            HeldProperty(part.name, str(part), part.describe_measure(release.groups)) for part in recipe.goal.parts
        ),
        verdict=verdict,
        cautions=cautions,
        leak=leak,
        n_looked_at=n_looked_at,
    )


def _left_out(profile: Profile) -> str:
    """Columns that are not released because nobody said what they are."""
    if not profile.unclear:
        return ""
    return f"not released, because neither header nor cells say what it is: {profile.unclear}. Name what you need under quasi_identifiers or sensitive."


def _refuse_wrong(frame: Any, goal: Property | None, k: int | None, method: Method | None) -> None:
    if not (is_frame(frame) or hasattr(frame, "__dataframe__") or hasattr(frame, "__arrow_c_stream__")):
        what = refusal("What is to be anonymized", frame, "a frame of pandas, Polars or PyArrow")
        if isinstance(frame, Table):
            what += " Of a Table a method makes a release: BlindBuckets(goal=...).anonymize(table, rng=...)."
        if isinstance(frame, str | Path):
            what += " Of a file overt.init writes a recipe, and overt.run makes its release."
        raise InvalidInput(what)
    if method is not None and (goal is not None or k is not None):
        raise InvalidInput("A method has its goal and its k already; give a method, or a goal and k.")
    if method is not None and method.is_dp:
        raise InvalidInput(
            f"{method.name} is differentially private and takes a table that was read row by row: overt.read_frame(frame, row_by_row=True, ...)."
        )


def _given_roles(
    quasi_identifiers: Collection[str] | None,
    sensitive: Collection[str] | None,
    identifiers: Collection[str],
    others: Collection[str],
) -> dict[str, Role]:
    """(column) -> the role that it is given."""
    roles: dict[str, Role] = {}
    for keyword, names, role in (
        ("quasi_identifiers", quasi_identifiers or (), Role.QUASI_IDENTIFIER),
        ("sensitive", sensitive or (), Role.SENSITIVE),
        ("identifiers", identifiers, Role.IDENTIFIER),
        ("others", others, Role.OTHER),
    ):
        if isinstance(names, str):
            raise InvalidInput(f"{keyword} takes a list of texts; write [{names!r}] instead of {names!r}.")
        for name in names:
            if name in roles:
                raise InvalidInput(f"Column {name!r} is given more than one role, or one role twice; a column has one.")
            roles[name] = role
    return roles


def _without_unnamed(
    profile: Profile, quasi_identifiers: Collection[str] | None, sensitive: Collection[str] | None
) -> Profile:
    """Where quasi-identifiers, or sensitive columns, are named, no others are proposed: such columns are not released."""

    def kept(column: ColumnProfile) -> ColumnProfile:
        for role, named in ((Role.QUASI_IDENTIFIER, quasi_identifiers), (Role.SENSITIVE, sensitive)):
            if column.role is role and named is not None and column.name not in named:
                return ColumnProfile(
                    column.name, Role.OTHER, f"not named among the {role} columns; not released", None, 0, 0
                )
        return column

    return replace(profile, columns=tuple(map(kept, profile.columns)))


def _refuse_repeats(profile: Profile, person: str | None, identifiers: Collection[str]) -> None:
    """Several rows of one person are not several people. No name is proposed as what tells them apart: several people have the same."""
    repeated = [column.name for column in profile.columns if column.repeats and column.name != person]
    if not repeated or person is not None:
        return
    name = repeated[0]
    ways = f"Say which column identifies the persons, person={name!r}; or, if it does not identify persons, identifiers=[{name!r}]."
    if Meaning.NAME in meanings_of(name):
        fit = [c.name for c in profile.columns if c.name in identifiers and 1 < c.n_distinct < profile.n_rows]
        numbers = sorted(filter(may_number_persons, fit), key=numbers_persons, reverse=True)
        told = (
            f"say which column numbers them, person={numbers[0]!r}"
            if numbers
            else "number them in a column, and name it as person"
        )
        ways = f"A name does not tell persons apart: {told}; or, if nobody has several rows, identifiers=[{name!r}]."
    raise InvalidData(
        f"Column {name!r} seems to name persons, some of whom have several rows, and five rows that look alike may be one person. {ways}"
    )


def _asked(
    recipe: Recipe, goal: Property | None, k: int | None, method: Method | None, others: tuple[str, ...]
) -> Recipe:
    """The proposed recipe with what was asked for instead."""
    settings = recipe.settings
    output = settings.output.model_copy(update={"others": others})
    settings = settings.model_copy(update={"output": output})
    if method is not None:
        return replace(recipe, settings=settings, goal=method.goal, method=method)
    parts = recipe.goal.parts if goal is None else goal.parts
    asked = [part for part in parts if isinstance(part, KAnonymity)]
    if k is not None or not asked:
        asked = [KAnonymity(K if k is None else k)]
    rest = tuple(part for part in parts if not isinstance(part, KAnonymity))
    goal = AllOf((*asked, *rest))
    known: Any = recipe.method
    return replace(recipe, settings=settings, goal=goal, method=replace(known, goal=goal))


def _table_of(
    frame: Any, profile: Profile, recipe: Recipe, person: str | None, keep: int | Literal["all"], rng: Generator
) -> Table:
    """The frame in its roles, without the people whose values were looked at."""
    is_pilot = recipe.settings.pilot is not None
    intake = recipe.intake(profile.pilot if is_pilot else None)
    found = {
        c.name: c.kind
        for c in profile.columns
        if c.is_text and c.kind is Kind.NUMBER and c.role is Role.QUASI_IDENTIFIER
    }
    kinds = {**found, **intake.kinds}
    persons = None
    if person is not None:
        said = recipe.person_rows() or PersonRows(column=person)  # nobody has several rows: nothing is said of them
        varies = _varying(profile, intake.left_out)
        persons = replace(said, keep=keep_of(keep), varies=varies, key=int(rng.integers(1 << 62)))
    return frame_intake(frame, replace(intake, kinds=kinds, persons=persons))


def _most_kept(profile: Profile, keep: int | Literal["all"]) -> int | None:
    """How many rows somebody has in the release at most; None if a row is a person."""
    if profile.persons is None:
        return None
    most = int(profile.persons.n_rows_of_person.max())
    return most if keep == "all" else min(keep, most)


def _varying(profile: Profile, left_out: "NDArray[np.intp] | None") -> tuple[str, ...]:
    """The quasi-identifiers that differ between the rows of somebody who is released."""
    if profile.persons is None:
        return ()
    rows = None if left_out is None else positions_without(left_out, profile.n_rows)
    known = [one for one in profile.of_role(Role.QUASI_IDENTIFIER) if one.column is not None]
    return tuple(
        one.name for one in known if one.column is not None and profile.persons.count_different(one.column, rows)
    )
