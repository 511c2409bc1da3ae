# SPDX-License-Identifier: Apache-2.0
"""Recipe: everything that is decided about a release, in one TOML file that anybody can read and repeat.

A recipe holds no data and no seed. It is checked as a whole before any data is read: every problem is
named with its line and its fix.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from overt.algorithms import METHODS
from overt.errors import InvalidInput, InvalidRecipe
from overt.hierarchy import CutPoints, Dates, Flat, Icd10, Intervals, Levels, Nested, Prefixes, Quantiles
from overt.io.catalog_table import CatalogTable
from overt.io.database.address import TableName
from overt.io.date_formats import formats_of
from overt.io.encoding import kind_of_format
from overt.io.recipe import settings as shape
from overt.io.recipe.dp_rules import dp_contradictions, released_columns
from overt.io.recipe.person_rules import has_several_values, person_contradictions, require_bundles
from overt.io.recipe.problems import closest, quoted, section_name, sentence
from overt.io.recipe.settings import (
    DatabaseInput,
    DatabaseOutput,
    Identifier,
    Input,
    Missing,
    Output,
    QuasiIdentifier,
    Section,
    Sensitive,
    Settings,
    settings_model,
)
from overt.io.recipe.toml_lines import KeyPath, document_of, lines_of_keys
from overt.io.roles.header_words import may_number_persons, numbers_persons
from overt.privacy import PROPERTIES, AllOf
from overt.privacy.base import Property, SensitiveProperty

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from overt.algorithms.dp.mechanism import DpMethod
    from overt.hierarchy import Builder
    from overt.io.intake import Intake
    from overt.io.person_rows import PersonRows
    from overt.io.sources import Source
    from overt.io.targets import Target
    from overt.method import Method


@dataclass(frozen=True)
class Recipe:
    """A recipe that is understood: its settings, and the values they stand for."""

    settings: Settings
    goal: Property
    method: "Method"
    hierarchies: Mapping[str, "Builder"]
    folder: Path  # paths in a recipe are relative to the file it is written in
    name: str

    @property
    def dp_method(self) -> "DpMethod":
        """The method of a recipe whose releases are differentially private; ask `is_dp` first."""
        from overt.algorithms.dp.mechanism import DpMethod

        assert isinstance(self.method, DpMethod)
        return self.method

    @property
    def path(self) -> Path:
        """The file that it is written in."""
        return self.folder / self.name

    @property
    def source(self) -> "Source":
        """Where the data is."""
        return self.source_at(None)

    def source_at(self, place: str | Path | None) -> "Source":
        """The same data at another place: a path, or a reference to a database."""
        from overt.io.sources import source_of

        return source_of(self.settings.input, self.folder, place)

    @property
    def target(self) -> "Target":
        """Where the release goes."""
        from overt.io.targets import target_of

        return target_of(self.settings.output, self.folder)

    @property
    def output_path(self) -> Path:
        """What the paths of files about the release, such as its manifest, begin with; of a release that is a file, its own."""
        return self.target.base

    @property
    def persons(self) -> tuple[str, ...]:
        """The columns that name persons, each of whom may stand in one row only."""
        if self.settings.input.person is not None:
            return ()
        return tuple(
            name
            for name, column in self.settings.columns.items()
            if isinstance(column, Identifier)
            and (column.repeats == "refuse" or (column.repeats is None and not self.is_dp and numbers_persons(name)))
        )

    @property
    def perhaps_persons(self) -> tuple[str, ...]:
        """The identifiers that may number persons, of which the recipe does not say whether a value may stand in several rows."""
        if self.settings.input.person is not None or self.is_dp:
            return ()
        columns = self.settings.columns.items()
        unsaid = [name for name, column in columns if isinstance(column, Identifier) and column.repeats is None]
        return tuple(name for name in unsaid if may_number_persons(name) and not numbers_persons(name))

    @property
    def may_repeat(self) -> tuple[str, ...]:
        """The identifiers of which a value may stand in several rows, because the recipe allows it, while every row counts as a person."""
        if self.settings.input.person is not None:
            return ()
        columns = self.settings.columns.items()
        return tuple(name for name, column in columns if isinstance(column, Identifier) and column.repeats == "allow")

    @property
    def varying(self) -> tuple[str, ...]:
        """The quasi-identifiers that differ between the rows of a person."""
        return tuple(name for name, varies in self.choices("varies").items() if varies)

    def person_rows(self, key: int | None = None) -> "PersonRows | None":
        """Whose the rows are, if the recipe says that a person can have several."""
        from overt.io.person_rows import PersonRows, keep_of

        said = self.settings.input
        if said.person is None:
            return None
        return PersonRows(
            column=said.person,
            keep=keep_of(said.keep),
            which=said.which or "random",
            order=said.order,
            known=said.known or "visits",
            varies=self.varying,
            key=key,
        )

    def intake(self, left_out: "NDArray[np.intp] | None" = None, key: int | None = None) -> "Intake":
        """How the data is read: the roles, kinds and hierarchies of columns, without the rows that are left out."""
        from overt.io.intake import Intake

        roles: dict[str, Any] = {
            "quasi_identifiers": self.columns_of("quasi-identifier"),
            "sensitive": self.columns_of("sensitive"),
            "identifiers": self.columns_of("identifier"),
            "others": (*self.settings.output.others, *self.method.columns_read),
            "hierarchies": self.hierarchies,
            "kinds": self.choices("kind"),
            "date_formats": self.choices("format"),
            "unreadable": self.choices("unreadable"),
            "missing": self.missing,
            "missing_values": self.settings.input.missing_values,
        }
        if self.is_dp:
            kept = ("quasi_identifiers", "sensitive", "identifiers", "missing_values", "date_formats")
            roles = {name: roles[name] for name in kept} | {"row_by_row": True}
        return Intake(**roles, left_out=left_out, persons=self.person_rows(key))

    def columns_of(self, role: str) -> tuple[str, ...]:
        """The names of the columns that have this role, in the order of the recipe."""
        return tuple(name for name, column in self.settings.columns.items() if column.role == role)

    @property
    def is_dp(self) -> bool:
        """Whether it makes differentially private releases, for which no row may say how another is read."""
        return self.method.is_dp

    @property
    def missing(self) -> Missing:
        """What becomes of rows whose sensitive value is missing."""
        columns = self.settings.columns.values()
        return next((column.missing for column in columns if isinstance(column, Sensitive)), "refuse")

    def choices(self, key: str) -> dict[str, Any]:
        """What the columns say under a key such as `kind` or `show`: those that say something. A key that no column can have is refused."""
        if not any(key in section.model_fields for section in (Identifier, QuasiIdentifier, Sensitive)):
            raise ValueError(f"{key!r} is no key of a column.")
        chosen = {name: getattr(column, key, None) for name, column in self.settings.columns.items()}
        return {name: choice for name, choice in chosen.items() if choice is not None}


def as_recipe(given: "Recipe | str | Path") -> Recipe:
    """A recipe, from the path of its file unless it is read already."""
    return given if isinstance(given, Recipe) else read_recipe(Path(given))


def read_recipe(path: Path) -> Recipe:
    """Read a recipe file, or raise `InvalidRecipe` with one sentence per problem.

    >>> import tempfile, overt
    >>> folder = Path(tempfile.mkdtemp())
    >>> overt.samples.hospital().write_csv(folder / "hospital.csv")
    >>> _ = overt.init(folder / "hospital.csv", into=folder / "recipe.toml")
    >>> read_recipe(folder / "recipe.toml").method.name
    'blind-buckets'
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InvalidRecipe(f"There is no recipe {str(path)!r}; give the path of a TOML file.") from None
    except IsADirectoryError:
        raise InvalidRecipe(f"{str(path)!r} is a folder; give the path of a recipe in it.") from None
    except UnicodeDecodeError:
        raise InvalidRecipe(f"{path.name} is not UTF-8 text; save it as UTF-8.") from None
    return parse_recipe(text, folder=path.parent, name=path.name)


def parse_recipe(text: str, *, folder: Path, name: str = "recipe") -> Recipe:
    """Understand the text of a recipe whose paths are relative to `folder`."""
    try:
        document = document_of(text)
        lines = lines_of_keys(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidRecipe(_syntax_sentence(str(error), name)) from None
    except RecursionError:  # the lines are found by a reader of ours, which goes less deep
        raise InvalidRecipe(f"{name}: values are nested too deeply for a recipe; write them in fewer levels.") from None
    return understand(document, folder=folder, name=name, lines=lines)


def understand(document: Any, *, folder: Path, name: str, lines: Mapping[KeyPath, int] | None = None) -> Recipe:
    """Check a recipe that is already a mapping (of a TOML file, or inside a manifest)."""
    lines = lines or {}
    try:
        settings = settings_model(_method_named(document)).model_validate(document)
    except ValidationError:
        settings = _explained(document, name, lines)
    return _Understanding(settings, folder, name, lines).recipe()


def _method_named(document: Any) -> str | None:
    """The method that a recipe names, if it is one."""
    section = document.get("method") if isinstance(document, dict) else None
    named = section.get("name") if isinstance(section, dict) else None
    return named if isinstance(named, str) and named in METHODS else None


def _explained(document: Any, name: str, lines: Mapping[KeyPath, int]) -> Settings:
    """Refuse a recipe that is not of the right shape, with what each method and property would take."""
    model = settings_model()
    try:
        return model.model_validate(document)
    except ValidationError as error:
        found = dict.fromkeys(sentence(detail, model) for detail in error.errors(include_url=False))
        raise _refusal(found, name, lines) from None


class _Understanding:
    """Turns settings of the right shape into values, collecting what does not fit together."""

    def __init__(self, settings: Settings, folder: Path, name: str, lines: Mapping[KeyPath, int]) -> None:
        self.settings, self.folder, self.name, self.lines = settings, folder, name, lines
        self.problems: list[tuple[KeyPath, str]] = []

    def recipe(self) -> Recipe:
        self.problems += _contradictions(self.settings)
        hierarchies = self.hierarchies()
        goal = self.goal() if self.settings.goal else None
        is_asked = goal is not None or not (self.settings.goal or _needs_goal(METHODS[self.settings.method.name]))
        method = self.method(goal, hierarchies) if is_asked else None
        if self.problems or method is None:
            raise _refusal(self.problems, self.name, self.lines)
        return Recipe(self.settings, goal or method.goal, method, hierarchies, self.folder, self.name)

    def goal(self) -> Property | None:
        properties = []
        for position, chosen in enumerate(self.settings.goal):
            made = self.attempt(("goal", position), lambda chosen=chosen: PROPERTIES[chosen.property](**_given(chosen)))
            if made is not None and has_several_values(self.settings):
                self.attempt(("goal", position), lambda made=made: require_bundles(made))
            if made is not None:
                properties.append(made)
        if len(properties) < len(self.settings.goal):
            return None
        return properties[0] if len(properties) == 1 else AllOf(tuple(properties))

    def method(self, goal: Property | None, hierarchies: Mapping[str, "Builder"]) -> "Method | None":
        chosen = self.settings.method
        kind: Any = METHODS[chosen.name]
        given = _given(chosen)
        if METHODS[chosen.name].is_dp:
            given["hierarchies"] = released_columns(self.settings, hierarchies)
        elif goal is not None:
            given["goal"] = goal
        made: Method | None = self.attempt(("method",), lambda: kind(**given))
        return made

    def hierarchies(self) -> dict[str, "Builder"]:
        builders = {}
        for name, column in self.settings.columns.items():
            chosen = getattr(column, "hierarchy", None)
            if chosen is not None:
                path = ("columns", name, "hierarchy")
                builders[name] = self.attempt(path, lambda chosen=chosen: _builder(chosen, self.folder))
        return builders

    def attempt(self, path: KeyPath, make: Any) -> Any:
        """What `make` makes; if it refuses, its own words become a problem at this place."""
        try:
            return make()
        except InvalidInput as error:
            self.problems.append((path, f"{section_name(path)}: {error}"))
        except (TypeError, ValueError, ArithmeticError):
            self.problems.append((path, f"{section_name(path)} has a value that cannot be used; check its numbers."))
        return None


def _needs_goal(kind: Any) -> bool:
    """Whether a method holds what it is asked for, rather than something of its own."""
    goal = next((field for field in fields(kind) if field.name == "goal"), None)
    return goal is not None and goal.default is MISSING and goal.default_factory is MISSING


def _given(section: Section) -> dict[str, Any]:
    """The parameters that a goal or a method was given, without the key that names it."""
    parameters = {key: getattr(section, key) for key in section.model_fields_set}
    return {key: value for key, value in parameters.items() if key not in ("property", "name")}


def _builder(chosen: Section, folder: Path) -> "Builder":
    match chosen:
        case shape.LevelsFile():
            return Levels.read(folder / chosen.file, separator=chosen.separator)
        case shape.Widths():
            return Intervals(widths=chosen.widths, origin=chosen.origin)
        case shape.CutPointLevels():
            return CutPoints(levels=chosen.cut_points)
        case shape.QuantileCounts():
            return Quantiles(counts=chosen.quantiles)
        case shape.PrefixLengths():
            return Prefixes(lengths=chosen.prefixes)
        case shape.Icd10Levels():
            return Icd10(levels=chosen.icd10)
        case shape.DateUnits():
            return Dates(units=chosen.dates)
        case shape.NestedValues():
            return Nested(chosen.nested)
        case _:
            return Flat()


def _contradictions(settings: Settings) -> Iterator[tuple[KeyPath, str]]:
    """What no single section can know: whether the sections fit together."""
    columns, method = settings.columns, METHODS[settings.method.name]
    if not settings.goal and _needs_goal(method):
        yield (), "the recipe has no 'goal'; add [[goal]]."
    if method.is_dp:
        yield from dp_contradictions(settings, method)
    yield from _contradictory_formats(columns)
    yield from person_contradictions(settings, method)
    sensitive = [name for name, column in columns.items() if column.role == "sensitive"]
    if not any(column.role == "quasi-identifier" for column in columns.values()):
        yield ("columns",), "no column has the role 'quasi-identifier'; give it to those that an adversary may know."
    for position, goal in enumerate(settings.goal):
        column = getattr(goal, "column", None)
        if not issubclass(PROPERTIES[goal.property], SensitiveProperty):
            continue
        if not sensitive:
            yield (
                ("goal", position),
                f"{goal.property} needs a column with the role 'sensitive' and there is none; add one.",
            )
        elif column is not None and column not in sensitive:
            advice = f"did you mean {near!r}?" if (near := closest(column, sensitive)) else f"use {quoted(sensitive)}."
            yield ("goal", position, "column"), f"{column!r} is not a sensitive column of this recipe; {advice}"
    if len({column.missing for column in columns.values() if isinstance(column, Sensitive)}) > 1:
        yield ("columns", sensitive[-1]), "the sensitive columns differ under 'missing'; give all of them the same."
    for position, name in enumerate(settings.output.others):
        if name in columns and columns[name].role != "other":
            yield (
                ("output", "others", position),
                f"{name!r} has the role '{columns[name].role}' and cannot be released as it is; "
                "take it out of 'others', or give it the role 'other'.",
            )
    if settings.pilot is not None:
        if settings.pilot.people < 1:
            yield (
                ("pilot", "people"),
                "'people' of [pilot] needs a whole number of at least 1; without a pilot leave [pilot] out.",
            )
        if method.is_dp:
            yield (
                ("pilot",),
                "a differentially private method needs no pilot, because nothing in it depends on values that were looked at; leave [pilot] out.",
            )
        if isinstance(settings.input, DatabaseInput):
            yield (
                ("pilot",),
                "a pilot needs a file, because rows of a database have no order by which people could be remembered; leave [pilot] out.",
            )
    if settings.audit.seconds is not None and settings.audit.seconds < 0:
        yield ("audit", "seconds"), "'seconds' of [audit] needs a number of at least 0; 0 skips the audit."
    for position, l in enumerate(settings.audit.sweep):
        if l < 2:
            yield ("audit", "sweep", position), f"'sweep' of [audit] has l = {l}; give whole numbers of at least 2."
    for position, name in enumerate(settings.audit.methods):
        if name not in METHODS:
            advice = f"did you mean {near!r}?" if (near := closest(name, list(METHODS))) else f"use {quoted(METHODS)}."
            yield ("audit", "methods", position), f"{name!r} is not a method; {advice}"
    yield from _contradictory_places(settings.input, settings.output)


def _contradictory_formats(columns: Mapping[str, Section]) -> Iterator[tuple[KeyPath, str]]:
    """What is wrong with how dates and numbers are written, and with what becomes of cells that cannot be read."""
    for name, column in columns.items():
        kind, formats = getattr(column, "kind", None), getattr(column, "format", None)
        if formats is not None:
            try:
                written = kind_of_format(formats_of(formats))
            except InvalidInput as error:
                yield ("columns", name, "format"), f"{section_name(('columns', name))}: {error}"
            else:
                if kind not in (None, written):
                    yield (
                        ("columns", name, "format"),
                        f"{name!r} has a 'format' of {written}s and is a {kind}; keep one of the two.",
                    )
        if getattr(column, "unreadable", None) is not None and kind is None and formats is None:
            yield (
                ("columns", name, "unreadable"),
                f'\'unreadable\' is about cells that are not numbers or dates; give {name!r} kind = "number" or "date" too.',
            )


def _contradictory_places(source: Any, target: Any) -> Iterator[tuple[KeyPath, str]]:
    """What is wrong with where the data is and where the release goes, as far as it can be seen without looking there."""
    if isinstance(source, DatabaseInput) and (source.table is None) == (source.query is None):
        both = "both 'table' and 'query'; keep" if source.query is not None else "neither 'table' nor 'query'; add"
        yield ("input",), f"[input] has {both} one of the two."
    if re.search(r"(?i)password\s*=\s*\w", getattr(source, "query", None) or ""):  # dblink('... password=...')
        yield (
            ("input", "query"),
            "the query seems to contain a password, which must not be in a recipe; leave it to the server.",
        )
    for section, place in (("input", source), ("output", target)):
        if getattr(place, "table", None) is not None:
            try:
                TableName.parse(place.table)
            except InvalidInput as error:
                yield (section, "table"), str(error)
    if isinstance(target, Output) and target.format == "table":
        try:
            table = CatalogTable.parse(target.path)
        except InvalidInput as error:
            yield ("output", "path"), str(error)
            return
        if isinstance(source, Input) and source.format == "table" and table.is_same(source.path):
            yield ("output", "path"), "the release would overwrite the input; give [output] another table."
    elif isinstance(source, Input) and isinstance(target, Output) and Path(target.path) == Path(source.path):
        yield ("output", "path"), "the release would overwrite the input; give [output] another path."
    if (
        isinstance(source, DatabaseInput)
        and isinstance(target, DatabaseOutput)
        and (source.database, source.table) == (target.database, target.table)
    ):
        yield ("output", "table"), "the release would overwrite the input; give [output] another table."


def _refusal(problems: Any, name: str, lines: Mapping[KeyPath, int]) -> InvalidRecipe:
    return InvalidRecipe("\n".join(f"{_place(name, path, lines)}: {words}" for path, words in problems))


def _place(name: str, path: KeyPath, lines: Mapping[KeyPath, int]) -> str:
    """The name of the recipe and the line of the innermost key that it has."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return f"{name}, line {lines[path[:length]]}"
    return name


def _syntax_sentence(message: str, name: str) -> str:
    found = re.fullmatch(r"(?s)(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message)
    what, line, column = found.groups() if found else (message, None, None)
    where = f"{name}, line {line}, column {column}" if line else f"{name}, at its end" if found else name
    return f"{where}: this is not TOML: {what[0].lower()}{what[1:]}."
