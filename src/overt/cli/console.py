# SPDX-License-Identifier: Apache-2.0
"""What the command line says, and the code it ends with.

Results go to standard output; problems and progress go to standard error, so that the output of `--json`
is one document and nothing else.
"""

import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from overt.errors import InvalidInput, InvalidRecipe, MissingExtra, NothingReleased, TooLarge, Unreachable

if TYPE_CHECKING:
    from overt.check import Verdict

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
    UNEXPECTED = 70  # a mistake in Overt
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


def exit_of(error: BaseException) -> Exit:
    """The exit code that an error ends a command with."""
    return next((code for kind, code in _EXIT_OF_ERROR if isinstance(error, kind)), Exit.UNEXPECTED)


def sentence_of(error: BaseException) -> str:
    """One sentence for a person, without a traceback: tracebacks can hold values of people."""
    match exit_of(error):
        case Exit.UNEXPECTED:
            return (
                f"Overt stopped on a mistake of its own ({type(error).__name__}); no release was written. "
                "Run the command again with --debug to see where, and please report it."
            )
        case Exit.INTERRUPTED:
            return "Interrupted; no release was written."
        case _ if isinstance(error, MemoryError):
            return "This machine has not enough memory for that; use fewer rows or columns."
        case _ if isinstance(error, OSError) and error.strerror:
            where = f"{error.filename}: " if error.filename is not None else ""
            return f"{where}{error.strerror}."
        case _:
            return str(error)


def complain(error: BaseException, *, as_json: bool = False) -> Exit:
    """Say what went wrong, and with which code the command ends."""
    sys.stderr.write(sentence_of(error) + "\n")
    if as_json:
        say_json({"error": sentence_of(error), "exit_code": exit_of(error)})
    return exit_of(error)


def say(text: str = "") -> None:
    """A line on standard output."""
    sys.stdout.write(text + "\n")


def say_table(rows: Iterable[Sequence[str]]) -> None:
    """Rows in aligned columns."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        say("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def say_json(document: Any) -> None:
    """One JSON document on standard output."""
    say(json.dumps(document, indent=2, ensure_ascii=False))


def say_rows(rows: Iterable[tuple[str, str]]) -> None:
    """Lines of `label  text`; a label is said once for the rows that share it."""
    previous = ""
    for label, text in rows:
        lead = f"  {label if label != previous else '':<10}"
        previous = label
        say("\n".join(_wrapped(lead, text, len(lead))))


def say_findings(verdict: "Verdict") -> None:
    """Every finding of a check: whether it is as claimed, its name, and its sentence."""
    indent = max((len(finding.name) for finding in verdict.findings), default=0) + 12
    for finding in verdict.findings:
        lead = f"  {'ok' if finding.ok else 'FAILED':<8}{finding.name:<{indent - 10}}"
        say("\n".join(_wrapped(lead, finding.sentence, indent)))


def _wrapped(lead: str, text: str, indent: int) -> list[str]:
    """A text beside its lead; in a terminal, a long one is wrapped under itself."""
    width = shutil.get_terminal_size().columns - indent
    if not sys.stdout.isatty() or width < 24:
        return [lead + text]
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
    return [lead + lines[0], *(" " * indent + line for line in lines[1:])]
