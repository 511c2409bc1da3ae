# SPDX-License-Identifier: Apache-2.0
"""What the command line says, and the code it ends with.

Results go to standard output; problems and progress go to standard error, so that the output of `--json`
is one document and nothing else.
"""

import errno
import json
import re
import shutil
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from overt.audience import PRINTED, Audience
from overt.errors import COUNTED, InvalidInput, InvalidRecipe, MissingExtra, NothingReleased, TooLarge, Unreachable

if TYPE_CHECKING:
    from numpy.random import Generator

    from overt.engine.result import Result

Switch = Annotated[
    bool, Parameter(negative=(), show_default=False)
]  # an option without a value; --no-... would say nothing


class Exit(IntEnum):
    """How a command ends."""

    DONE = 0  # done, and everything that was claimed holds
    CHECK_FAILED = 1
    USAGE = 2  # the command line or the recipe
    DATA = 3  # the data, a file, or a package that is needed to read it
    UNREACHABLE = 4
    TOO_LARGE = 5
    NOTHING_RELEASED = 6  # an answer: by its public rule the method releases nothing
    UNEXPECTED = 70  # a bug in Overt
    INTERRUPTED = 130


_EXIT_OF_ERROR: tuple[tuple[type[BaseException], Exit], ...] = (
    (InvalidRecipe, Exit.USAGE),
    (InvalidInput, Exit.DATA),
    (MissingExtra, Exit.DATA),
    (NothingReleased, Exit.NOTHING_RELEASED),
    (Unreachable, Exit.UNREACHABLE),
    (TooLarge, Exit.TOO_LARGE),
    (MemoryError, Exit.TOO_LARGE),
    (OSError, Exit.DATA),
    (KeyboardInterrupt, Exit.INTERRUPTED),
)


_OURS = re.compile(r"\..*(\.[0-9a-f]{8}\.(part|old)|\.unfinished|\.lock)|\.overt-[0-9a-f]{8}\.unfinished")


def exit_of(error: BaseException) -> Exit:
    """The exit code that an error ends a command with."""
    return next((code for kind, code in _EXIT_OF_ERROR if isinstance(error, kind)), Exit.UNEXPECTED)


def sentence_of(error: BaseException) -> str:
    """One sentence for a person, without a traceback: tracebacks can hold values of people."""
    match exit_of(error):
        case Exit.UNEXPECTED:
            return (
                f"Overt stopped because of a bug ({type(error).__name__}); no release was written. "
                "Run the command again with --debug to see where, and please report it."
            )
        case Exit.INTERRUPTED:
            return "Interrupted. What was being written is whole in its place, or not there at all."
        case _ if isinstance(error, MemoryError):
            return "This machine does not have enough memory for this; use fewer rows or columns."
        case _ if isinstance(error, OSError) and error.strerror:
            return _of_the_system(error)
        case _:
            return str(error)


def _of_the_system(error: OSError) -> str:
    """What the system says, in words; writing is whole or not at all, so nothing is left behind."""
    name = "" if error.filename is None else _as_people_know_it(Path(str(error.filename)))
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return f"There is no space left on the disk{f' for {name}' if name else ''}; nothing was written. Free some space, or name another folder."
        case errno.EROFS:
            return f"{name or 'The folder'} cannot be written: its disk is read-only. Name another folder; nothing was written."
        case errno.EACCES | errno.EPERM:
            return f"{name or 'A file or folder'} cannot be opened or written: you do not have permission. Ask for it, or name another file or folder."
        case _:
            return f"{f'{name}: ' if name else ''}{error.strerror}."


def _as_people_know_it(path: Path) -> str:
    """A path; of a hidden file of ours, which nobody knows, its folder."""
    if _OURS.fullmatch(path.name) is None:
        return str(path)
    return "This folder" if path.parent == Path() else f"The folder {path.parent}"


def complain(error: BaseException, *, as_json: bool = False) -> Exit:
    """Say what went wrong, and with which code the command ends. What was counted in the data says first whom it is for."""
    if isinstance(error, (*COUNTED, MemoryError)):
        sys.stderr.write(f"{PRINTED}\n")
    sys.stderr.write(sentence_of(error) + "\n")
    if as_json:
        say_json({"error": sentence_of(error), "exit_code": exit_of(error)})
    return exit_of(error)


def show_places(error: BaseException | None) -> None:
    """Say where in the code an error and those behind it were raised, without their words: what a library repeats may be somebody's value."""
    if error is None:
        return
    show_places(error.__cause__ or (None if error.__suppress_context__ else error.__context__))
    sys.stderr.write(
        f"{type(error).__name__}, most recent call last:\n{''.join(traceback.format_tb(error.__traceback__))}"
    )


def say(text: str = "") -> None:
    """A line on standard output."""
    sys.stdout.write(text + "\n")


def tell(result: "Result", *, json: bool, quiet: bool = False) -> None:
    """Print what a command found: as one JSON document, or in words. What is for the owner beside a public result goes where errors go."""
    from overt.report.lines import labelled

    if beside := () if quiet else tuple(result.rows_for_the_owner()):
        sys.stderr.write("\n".join([PRINTED, *labelled(beside), ""]))
    if json:
        say_json(result.to_dict(), None)
    elif not quiet:
        say(result.summary(terminal_width()))


def rng_of(seed: int | None) -> "Generator":
    """Random numbers that a seed repeats; without one, that nobody can."""
    import numpy as np

    from overt.randomness import secret_generator

    return secret_generator() if seed is None else np.random.default_rng(seed)


def say_table(rows: Iterable[Sequence[str]]) -> None:
    """Rows in aligned columns."""
    from overt.report.lines import aligned

    for line in aligned(rows):
        say(line)


def say_json(document: Mapping[str, Any], audience: Audience | None = Audience.OWNER) -> None:
    """One JSON document on standard output. Its key "audience" says who may see it, unless it holds nothing of anybody's data."""
    labelled = document if audience is None else {"audience": audience, **document}
    say(json.dumps(labelled, indent=2, ensure_ascii=False))


def say_rows(rows: Iterable[tuple[str, str]]) -> None:
    """Lines of `label  text`; a label is said once for the rows that share it."""
    from overt.report.lines import labelled

    for line in labelled(rows, terminal_width()):
        say(line)


def terminal_width() -> int | None:
    """The columns of the terminal; None where the output goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
