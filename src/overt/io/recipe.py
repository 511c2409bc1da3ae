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
from overt.hierarchy import CutPoints, Dates, Flat, Intervals, Levels, Nested, Prefixes, Quantiles
from overt.io import settings as shape
from overt.io.database.address import Address, TableName, find_address, holds_password
from overt.io.database.selection import Selection
from overt.io.private_recipe import private_contradictions, released_columns
from overt.io.recipe_problems import closest, quoted, section_name, sentence
from overt.io.settings import (
    DatabaseInput,
    DatabaseOutput,
    Input,
    Missing,
    Output,
    Section,
    Sensitive,
    Settings,
    settings_model,
)
from overt.io.toml_lines import Path as KeyPath
from overt.io.toml_lines import lines_of_keys
from overt.privacy import PROPERTIES, AllOf
from overt.privacy.base import Property, SensitiveProperty

if TYPE_CHECKING:
    from overt.algorithms.base import Algorithm
    from overt.hierarchy import Builder


@dataclass(frozen=True)
class Recipe:
    """A recipe that is understood: its settings, and the values they stand for."""

    settings: Settings
    goal: Property
    method: "Algorithm"
    hierarchies: Mapping[str, "Builder"]
    folder: Path  # paths in a recipe are relative to the file it is written in
    name: str

    @property
    def input_path(self) -> Path:
        """The file with the data; of data in a database, a path with the name of its table, at which nothing lies."""
        chosen = self.settings.input
        return self.folder / (chosen.path if isinstance(chosen, Input) else file_name_of(chosen.table or "query"))

    @property
    def output_path(self) -> Path:
        """The file of the release; of one in a database, the path that the names of its manifest and report begin with."""
        chosen = self.settings.output
        return self.folder / (chosen.path if isinstance(chosen, Output) else file_name_of(chosen.table))

    @property
    def source(self) -> Path | Selection:
        """Where the data is. The address of a database is looked up now."""
        return self.source_at(None)

    def source_at(self, place: str | Path | None) -> Path | Selection:
        """The same data at another place: a path, or a reference to a database."""
        chosen = self.settings.input
        if isinstance(chosen, Input):
            if place is not None and holds_password(str(place)):
                find_address(str(place))  # refuses it without repeating it
            return self.input_path if place is None else Path(place)
        address = find_address(chosen.database, self.folder) if place is None else find_address(str(place))
        return Selection.of(address, table=chosen.table, query=chosen.query)

    @property
    def target(self) -> Address | None:
        """The database that the release goes to; None if it goes to a file."""
        chosen = self.settings.output
        return find_address(chosen.database, self.folder) if isinstance(chosen, DatabaseOutput) else None

    def columns_of(self, role: str) -> tuple[str, ...]:
        """The names of the columns that have this role, in the order of the recipe."""
        return tuple(name for name, column in self.settings.columns.items() if column.role == role)

    @property
    def missing(self) -> Missing:
        """What becomes of rows whose sensitive value is missing."""
        columns = self.settings.columns.values()
        return next((column.missing for column in columns if isinstance(column, Sensitive)), "refuse")

    def choices(self, key: str) -> dict[str, str]:
        """What the columns say under a key such as `kind` or `show`: those that say something."""
        chosen = {name: getattr(column, key, None) for name, column in self.settings.columns.items()}
        return {name: choice for name, choice in chosen.items() if choice is not None}


def read_recipe(path: Path) -> Recipe:
    """Read a recipe file, or raise `InvalidRecipe` with one sentence per problem."""
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
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidRecipe(_syntax_sentence(str(error), name)) from None
    return understand(document, folder=folder, name=name, lines=lines_of_keys(text))


def understand(document: Any, *, folder: Path, name: str, lines: Mapping[KeyPath, int] | None = None) -> Recipe:
    """Check a recipe that is already a mapping (of a TOML file, or inside a manifest)."""
    lines = lines or {}
    model = settings_model()
    try:
        settings = model.model_validate(document)
    except ValidationError as error:
        found = dict.fromkeys(sentence(detail, model) for detail in error.errors(include_url=False))
        raise _refusal(found, name, lines) from None
    return _Understanding(settings, folder, name, lines).recipe()


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
            if made is not None:
                properties.append(made)
        if len(properties) < len(self.settings.goal):
            return None
        return properties[0] if len(properties) == 1 else AllOf(tuple(properties))

    def method(self, goal: Property | None, hierarchies: Mapping[str, "Builder"]) -> "Algorithm | None":
        chosen = self.settings.method
        kind: Any = METHODS[chosen.name]
        given = _given(chosen)
        if _is_private(kind):
            given["hierarchies"] = released_columns(self.settings, hierarchies)
        elif goal is not None:
            given["goal"] = goal
        made: Algorithm | None = self.attempt(("method",), lambda: kind(**given))
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


def _is_private(kind: Any) -> bool:
    return getattr(kind, "is_private", False)


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
    if _is_private(method):
        yield from private_contradictions(settings, method)
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
    if settings.audit.seconds is not None and settings.audit.seconds < 0:
        yield ("audit", "seconds"), "'seconds' of [audit] needs a number of at least 0; 0 is no audit."
    for position, l in enumerate(settings.audit.sweep):
        if l < 2:
            yield ("audit", "sweep", position), f"'sweep' of [audit] has l = {l}; give whole numbers of at least 2."
    for position, name in enumerate(settings.audit.methods):
        if name not in METHODS:
            advice = f"did you mean {near!r}?" if (near := closest(name, list(METHODS))) else f"use {quoted(METHODS)}."
            yield ("audit", "methods", position), f"{name!r} is not a method; {advice}"
    yield from _contradictory_places(settings.input, settings.output)


def _contradictory_places(source: Any, target: Any) -> Iterator[tuple[KeyPath, str]]:
    """What is wrong with where the data is and where the release goes, as far as it can be seen without looking there."""
    if isinstance(source, DatabaseInput) and (source.table is None) == (source.query is None):
        both = "both 'table' and 'query'; keep" if source.query is not None else "neither 'table' nor 'query'; add"
        yield ("input",), f"[input] has {both} one of the two."
    if re.search(r"(?i)password\s*=\s*\w", getattr(source, "query", None) or ""):  # dblink('... password=...')
        yield (
            ("input", "query"),
            "the query seems to hold a password, which does not belong in a recipe; leave it to the server.",
        )
    for section, place in (("input", source), ("output", target)):
        if getattr(place, "table", None) is not None:
            try:
                TableName.parse(place.table)
            except InvalidInput as error:
                yield (section, "table"), str(error)
    if isinstance(source, Input) and isinstance(target, Output) and Path(target.path) == Path(source.path):
        yield ("output", "path"), "the release would replace the input; give [output] another path."
    if (
        isinstance(source, DatabaseInput)
        and isinstance(target, DatabaseOutput)
        and (source.database, source.table) == (target.database, target.table)
    ):
        yield ("output", "table"), "the release would replace the input; give [output] another table."


def file_name_of(table: str) -> str:
    """The name of a table as the beginning of a file's.

    >>> file_name_of('clinic."Patients 2024"')
    'clinic_Patients_2024'
    """
    return re.sub(r"[^\w-]+", "_", table).strip("_") or "table"


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
    where = f"{name}, line {line}, column {column}" if line else f"{name}, at its end"
    return f"{where}: this is not TOML: {what[0].lower()}{what[1:]}."
