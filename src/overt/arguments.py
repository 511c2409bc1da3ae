# SPDX-License-Identifier: Apache-2.0
"""Arguments: what a public function or class was given, compared with what it says that it takes.

A frame where a table is expected, a number where a goal is: both end in a sentence that says what was given, what is expected and what
makes it. The sentence names types, and numbers, but never shows what is in a frame or a text.
"""

import builtins
import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, wraps
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ForwardRef, Literal, TypeVar, Union, get_args, get_origin

from overt.errors import InvalidInput

F = TypeVar("F", bound=Callable[..., Any])

WORDS = {  # class -> what is expected in its place
    "Table": "a Table, as overt.read_frame, overt.read_file and overt.read_database make it",
    "Release": "a release, as the `anonymize` of a method makes it",
    "Property": "a property such as FrequencyLDiversity(3), or several joined with &",
    "Method": "a method such as BlindBuckets(goal=FrequencyLDiversity(3))",
    "Generator": "random numbers such as overt.secret_generator()",
    "Groups": "the groups of a release, `release.groups`",
    "Recipe": "the path of a recipe, or what overt.read_recipe gives",
    "Path": "the path of a file",
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "True or False",
    "Claim": "an overt.Claim",
    "NoneType": "nothing",
    "DataFrame": "a frame",
}


def explained(function: F) -> F:
    """A function that says in a sentence which argument is not what it takes."""
    signature = inspect.signature(function)

    @wraps(function)
    def checked(*given: Any, **named: Any) -> Any:
        try:
            bound = signature.bind(*given, **named)
        except TypeError:
            return function(*given, **named)  # Python names the argument that is missing or unknown
        require_arguments(function, bound.arguments)
        return function(*given, **named)

    return checked  # type: ignore[return-value]


def require_arguments(function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Refuse what a function does not take."""
    for name, value in arguments.items():
        annotation = _annotations(function).get(name, Any)
        if annotation is not Any and not _fits(value, annotation):
            raise InvalidInput(refusal(f"`{name}` of overt.{function.__name__}", value, _words_of(annotation)))


def refusal(what: str, value: object, expected: str) -> str:
    """The sentence: what was given, what is expected, and for frames what to do."""
    sentence = f"{what} is {said(value)}; give {expected}."
    if is_frame(value):
        sentence += " Of a frame overt.anonymize makes a release in one call, and overt.read_frame a Table."
    return sentence


def said(value: object) -> str:
    """A value in a message: numbers as they are, of anything else the type alone."""
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    name = "text" if isinstance(value, str) else type(value).__name__
    return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"


def is_frame(value: object) -> bool:
    """Whether a value is a frame of pandas, Polars or PyArrow."""
    return type(value).__module__.partition(".")[0] in ("pandas", "polars", "pyarrow") and hasattr(value, "columns")


def require_list(what: str, value: object, example: str) -> None:
    """Refuse one value where several are expected."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(f"{what} takes a list, such as {example}; {said(value)} was given.")


@cache
def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    """(parameter) -> what it takes; `Any` where only type checkers know."""
    globals_ = getattr(inspect.unwrap(function), "__globals__", {})
    return {
        name: Any if one.annotation is inspect.Parameter.empty else _resolved(one.annotation, globals_)
        for name, one in inspect.signature(function).parameters.items()
        if one.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    }


def _resolved(annotation: Any, names: Mapping[str, Any]) -> Any:
    if isinstance(annotation, ForwardRef):
        annotation = annotation.__forward_arg__
    if not isinstance(annotation, str):
        return annotation
    return eval(
        annotation, {}, _Names({**vars(builtins), **names})
    )  # our own annotations, never anything that was given


class _Names(dict[str, Any]):
    """What annotations name; `Any` for what only type checkers know."""

    def __missing__(self, name: str) -> Any:
        return Any


def _fits(value: object, annotation: Any) -> bool:
    """Whether a value is what an annotation says, as far as a look at it tells."""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in get_args(annotation))
    if annotation is Any:
        return True
    if annotation in (None, NoneType):
        return value is None
    if annotation is Path:
        return isinstance(value, str | os.PathLike)
    if annotation is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if origin is None:
        return _is_instance(value, annotation)
    if origin is Literal:
        return (
            value in get_args(annotation) if isinstance(value, str) else True
        )  # a wrong text has a sentence of its own
    if not isinstance(origin, type):
        return True
    if not _is_instance(value, origin):
        return False
    inner = get_args(annotation)
    if origin.__module__ == "numpy":
        return True  # its parameters are a shape and a type, not what is in it
    if issubclass(origin, Mapping) or not issubclass(origin, Iterable) or not inner:
        return True
    if isinstance(value, str):
        return True  # has a sentence of its own, which says how a list is written
    each = isinstance(value, Collection) and (origin is not tuple or inner[1:] == (...,))
    return not each or all(_fits(one, inner[0]) for one in value)  # type: ignore[attr-defined]


def _is_instance(value: object, annotation: Any) -> bool:
    if not isinstance(annotation, type):
        return True
    try:
        return isinstance(value, annotation)
    except TypeError:  # a protocol that is for type checkers alone
        return True


def _words_of(annotation: Any) -> str:
    """What is expected, in words."""
    if get_origin(annotation) in (Union, UnionType):
        parts = [one for one in get_args(annotation) if one is not NoneType]
        named = {getattr(one, "__name__", "") for one in parts}
        if "Recipe" in named:
            return WORDS["Recipe"]
        if "Path" in named:
            return WORDS["Path"]
        return " or ".join(dict.fromkeys(_words_of(one) for one in parts))
    origin = get_origin(annotation)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "a dict"
    if isinstance(origin, type) and issubclass(origin, Iterable):
        inner = get_args(annotation)[0]
        return "a list of texts" if inner is str else f"a list, each {_words_of(inner)}"
    name = getattr(annotation, "__name__", str(annotation))
    return WORDS.get(name, f"a {name}" if isinstance(annotation, type) else "something else")
