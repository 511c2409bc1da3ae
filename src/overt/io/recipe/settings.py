# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/recipe/test_recipe.py
"""The shape of a recipe: which sections and keys there are, and of what type. Pydantic checks it.

Choices that exclude each other are different models: a column's keys depend on its role, a hierarchy is
known by the one key that describes it, and the keys of a goal or a method are the fields of its class, so
that a new property or method needs no line here.
"""

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from dataclasses import Field as DataclassField
from fractions import Fraction
from functools import cache
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, create_model
from pydantic_core import PydanticCustomError

from overt.algorithms import METHODS
from overt.algorithms.blind_buckets import Strata
from overt.io.database.address import holds_password
from overt.privacy import PROPERTIES


def _expecting(expected: str, accepts: Callable[[Any], bool]) -> BeforeValidator:
    """Take a value as it is, or say in words what was expected: nothing is converted behind a person's back."""

    def check(value: Any) -> Any:
        if not accepts(value):
            raise PydanticCustomError("expected", "{expected}", {"expected": expected})
        return value

    return BeforeValidator(check)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


Text = Annotated[str, _expecting("a text in quotes", lambda value: isinstance(value, str))]
Flag = Annotated[bool, _expecting("true or false", lambda value: isinstance(value, bool))]
Whole = Annotated[int, _expecting("a whole number", lambda value: _is_number(value) and isinstance(value, int))]
Amount = Annotated[int | float, _expecting("a number", _is_number)]
Exact = Annotated[
    int | float | str,
    _expecting(
        'a number, or a fraction in quotes such as "1/3"', lambda value: _is_number(value) or isinstance(value, str)
    ),
]


def _is_file_name(path: str) -> bool:
    return PurePath(path).name not in ("", "..") and "\0" not in path


class Section(BaseModel):
    """A table of a recipe: its keys are known, and it does not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


FilePath = Annotated[
    str,
    _expecting(
        "the path of a file; the address of a database goes under 'database'",
        lambda value: isinstance(value, str) and "://" not in value,
    ),
]
OutputPath = Annotated[
    FilePath,
    _expecting(
        "the path of a file, such as release.csv",
        lambda value: not isinstance(value, str) or _is_file_name(value),
    ),
]
DatabaseReference = Annotated[
    str,
    _expecting("the name of an environment variable, the address of a database, or the path of an SQLite file", lambda value: isinstance(value, str)),
    _expecting(
        "an address without a password: put one that has it into an environment variable and name the variable, or leave the "
        "password to PGPASSFILE or a service file",
        lambda value: not isinstance(value, str) or not holds_password(value),
    ),
]  # fmt: skip


Keep = Annotated[
    int | str,
    _expecting(
        'a whole number of rows, or "all"',
        lambda value: (isinstance(value, int) and not isinstance(value, bool) and value >= 1) or value == "all",
    ),
]
PersonColumn = Annotated[
    str,
    _expecting(
        "the name of one column in quotes; several that are linked (patients and their households) are refused, because the groups of both together "
        "tell more than either: name the household to protect that somebody in it has a value, else the patient",
        lambda value: isinstance(value, str),
    ),
]


class WhoseRows(Section):
    """Whose the rows are, if a person can have several, and which of them are kept."""

    person: PersonColumn | None = None
    keep: Keep | None = None
    which: Literal["random", "latest", "first"] | None = None
    order: Text | None = None
    known: Literal["visits", "static"] | None = None


class Input(WhoseRows):
    """Where the data is and how its file is written."""

    path: FilePath
    format: Literal["csv", "parquet", "arrow", "jsonl", "excel", "table"] | None = None
    separator: Text | None = None
    encoding: Text | None = None
    missing_values: tuple[Text, ...] = ("",)


class DatabaseInput(WhoseRows):
    """Which database the data is in, and which table or query of it."""

    database: DatabaseReference
    table: Text | None = None
    query: Text | None = None
    missing_values: tuple[Text, ...] = ("",)


class Output(Section):
    """Where the release goes, and what else goes into it."""

    path: OutputPath
    format: Literal["csv", "parquet", "arrow", "jsonl", "table"] | None = None
    others: tuple[Text, ...] = ()
    flat: Flag = False
    rows: Literal["linked", "pooled"] = "linked"
    neutralise_formulas: Flag = True
    overwrite: Flag = False


class DatabaseOutput(Section):
    """Which table of which database the release goes to, and what else goes into it."""

    database: DatabaseReference
    table: Text
    others: tuple[Text, ...] = ()
    flat: Flag = False
    rows: Literal["linked", "pooled"] = "linked"
    overwrite: Flag = False


PLACES: dict[str, dict[str, type[Section]]] = {
    "input": {"file": Input, "database": DatabaseInput},
    "output": {"file": Output, "database": DatabaseOutput},
}


def _place_key(value: Any) -> str | None:
    """Whether [input] or [output] is a file or a database, by the keys it has."""
    if isinstance(value, Section):
        return "database" if isinstance(value, DatabaseInput | DatabaseOutput) else "file"
    if not isinstance(value, dict):
        return None
    return "database" if any(key in value for key in ("database", "table", "query")) else "file"


InputChoice = Annotated[
    Annotated[Input, Tag("file")] | Annotated[DatabaseInput, Tag("database")], Discriminator(_place_key)
]
OutputChoice = Annotated[
    Annotated[Output, Tag("file")] | Annotated[DatabaseOutput, Tag("database")], Discriminator(_place_key)
]


class Auditing(Section):
    """How long a run asks what someone who knows the method learns, and what the owner's report compares that with."""

    seconds: Amount | None = None  # time limit of the estimate; 0 skips it
    sweep: tuple[Whole, ...] = ()
    methods: tuple[Text, ...] = ()
    learner: bool = False  # also what someone guesses right who knows how values depend on quasi-identifiers


class PilotChoice(Section):
    """How many people are drawn blindly whose values may be looked at, and who are then not published."""

    people: Whole


class LevelsFile(Section):
    """A file whose lines are a value and its generalizations."""

    file: Text
    separator: Text | None = None


class Widths(Section):
    """Intervals of fixed widths, each a multiple of the one before."""

    widths: tuple[Amount, ...] = Field(min_length=1)
    origin: Amount = 0


def _one_level_as_list(value: Any) -> Any:
    plain = isinstance(value, list) and value and not any(isinstance(level, list) for level in value)
    return [value] if plain else value


class CutPointLevels(Section):
    """Intervals between cut points; several lists make several levels, finest first."""

    cut_points: Annotated[tuple[tuple[Amount, ...], ...], BeforeValidator(_one_level_as_list)] = Field(min_length=1)


class QuantileCounts(Section):
    """Intervals that hold about as many rows each."""

    quantiles: tuple[Whole, ...] = Field(min_length=1)


class PrefixLengths(Section):
    """The first characters of a code: postcodes, diagnoses."""

    prefixes: tuple[Whole, ...] = Field(min_length=1)


class Icd10Levels(Section):
    """Codes of ICD-10 by category and chapter; the finer first."""

    icd10: tuple[Literal["category", "chapter"], ...] = Field(min_length=1)


class DateUnits(Section):
    """Days, months, quarters, years, decades; the finest first."""

    dates: tuple[Literal["day", "month", "quarter", "year", "decade"], ...] = Field(min_length=1)


class NestedValues(Section):
    """Tables in tables whose innermost lists are the values."""

    nested: dict[str, Any] = Field(min_length=1)


class FlatValues(Section):
    """One step from any value to `*`."""

    flat: Literal[True]


HIERARCHIES: dict[str, type[Section]] = {
    "file": LevelsFile,
    "widths": Widths,
    "cut_points": CutPointLevels,
    "quantiles": QuantileCounts,
    "prefixes": PrefixLengths,
    "icd10": Icd10Levels,
    "dates": DateUnits,
    "nested": NestedValues,
    "flat": FlatValues,
}


def _hierarchy_key(value: Any) -> str | None:
    """The key that says which hierarchy is meant."""
    if isinstance(value, Section):
        return next(key for key, model in HIERARCHIES.items() if isinstance(value, model))
    return next((key for key in HIERARCHIES if key in value), None) if isinstance(value, dict) else None


HierarchyChoice = Annotated[
    Annotated[LevelsFile, Tag("file")]
    | Annotated[Widths, Tag("widths")]
    | Annotated[CutPointLevels, Tag("cut_points")]
    | Annotated[QuantileCounts, Tag("quantiles")]
    | Annotated[PrefixLengths, Tag("prefixes")]
    | Annotated[Icd10Levels, Tag("icd10")]
    | Annotated[DateUnits, Tag("dates")]
    | Annotated[NestedValues, Tag("nested")]
    | Annotated[FlatValues, Tag("flat")],
    Discriminator(_hierarchy_key),
]
KindName = Literal["number", "date", "category"]
DateFormat = Annotated[
    str,
    _expecting(
        'a format of dates in quotes such as "%d.%m.%Y", or a list of them, or a number as they are written, "1.234,5"',
        lambda value: isinstance(value, str),
    ),
]
Missing = Literal["refuse", "drop", "own value"]


class Identifier(Section):
    """A column that is never released. `repeats` says whether a value of it may stand in two rows."""

    role: Literal["identifier"]
    repeats: Literal["refuse", "allow"] | None = None


class QuasiIdentifier(Section):
    """A column that an adversary may know."""

    role: Literal["quasi-identifier"]
    varies: Flag | None = None
    kind: KindName | None = None
    format: DateFormat | tuple[DateFormat, ...] | None = None
    unreadable: Literal["refuse", "missing"] | None = None
    hierarchy: HierarchyChoice | None = None
    show: Literal["range", "label", "set", "grid"] | None = None


class Sensitive(Section):
    """A column of which nobody may learn a person's value."""

    role: Literal["sensitive"]
    kind: KindName | None = None
    format: DateFormat | tuple[DateFormat, ...] | None = None
    unreadable: Literal["refuse", "missing"] | None = None
    hierarchy: HierarchyChoice | None = None
    missing: Missing = "refuse"


class Other(Section):
    """A column that is released as it is, and only if [output] names it under `others`."""

    role: Literal["other"]


ColumnChoice = Annotated[Identifier | QuasiIdentifier | Sensitive | Other, Discriminator("role")]
ROLES: dict[str, type[Section]] = {
    "identifier": Identifier,
    "quasi-identifier": QuasiIdentifier,
    "sensitive": Sensitive,
    "other": Other,
}


class Settings(Section):
    """A recipe for Overt: what to read, what must hold, by which method, and where the release goes."""

    version: Literal[1]
    input: InputChoice
    columns: dict[str, ColumnChoice]
    goal: tuple[Any, ...] = Field((), min_length=1)  # narrowed to the properties there are by `settings_model`
    method: Any  # narrowed to the methods there are
    output: OutputChoice
    audit: Auditing = Auditing()
    pilot: PilotChoice | None = None  # none: nobody was looked at, or everything was fixed by hand

    tags: ClassVar[Mapping[str, Mapping[str, type[Section]]]] = {}


@cache
def settings_model(method: str | None = None) -> type[Settings]:
    """The model of a recipe, with the properties and methods that there are, or with one method alone: only that is loaded then."""
    goals = {name: _section_of(kind, "property", name) for name, kind in PROPERTIES.items()}
    methods = {
        name: _section_of(METHODS[name], "name", name, leave_out=("goal", "hierarchies"))
        for name in ([method] if method else METHODS)
    }
    model = create_model(
        "Recipe",
        __base__=Settings,
        __doc__=Settings.__doc__,
        goal=(_several(_one_of(goals, "property")), Field((), min_length=1)),  # left out where a method has its own
        method=(_one_of(methods, "name"), ...),
    )
    model.tags = {"goal": goals, "method": methods, "columns": ROLES, "hierarchy": HIERARCHIES, **PLACES}
    return model


def _one_of(models: Mapping[str, type[Section]], key: str) -> Any:
    return Annotated[Union[*models.values()], Discriminator(key)] if len(models) > 1 else next(iter(models.values()))


def _several(kind: Any) -> Any:
    return tuple[kind, ...]


def _section_of(kind: type, tag: str, name: str, leave_out: tuple[str, ...] = ()) -> type[Section]:
    """A model whose keys are the fields of a dataclass, beside the key that names it."""
    hints = get_type_hints(kind)
    keys: dict[str, Any] = {tag: (Literal[name], ...)}
    for parameter in fields(kind):
        if parameter.init and parameter.name not in leave_out:
            keys[parameter.name] = (_recipe_type(hints[parameter.name]), _default(parameter))
    summary = (kind.__doc__ or name).partition("\n")[0]
    return create_model(kind.__name__, __base__=Section, __doc__=summary, **keys)


def _default(parameter: DataclassField[Any]) -> Any:
    if parameter.default_factory is not MISSING:
        return parameter.default_factory()
    if parameter.default is MISSING:
        return ...
    if isinstance(parameter.default, Strata):
        return parameter.default.plain()
    return str(parameter.default) if isinstance(parameter.default, Fraction) else parameter.default


def _recipe_type(hint: Any) -> Any:
    """How the type of a parameter is written in a recipe."""
    if get_origin(hint) in (Union, types.UnionType):
        kinds = [kind for kind in get_args(hint) if kind is not type(None)]
        return _recipe_type(kinds[0]) if len(kinds) == 1 else Exact
    if get_origin(hint) is Literal:
        return hint
    if get_origin(hint) is tuple:
        return _several(_recipe_type(get_args(hint)[0]))
    if get_origin(hint) is Mapping:
        if Fraction in get_args(get_args(hint)[1]):
            return dict[Text, Exact]
        return dict[Text, Amount]
    if isinstance(hint, type) and issubclass(hint, Strata):
        return dict[Text, Any]  # the class says what is wrong with it
    if isinstance(hint, type) and issubclass(hint, str):
        return Text
    return {bool: Flag, int: Whole}.get(hint, Exact)
