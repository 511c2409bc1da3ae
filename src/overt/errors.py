# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_main.py
"""Every exception that Overt raises on purpose.

OvertError
├── InvalidInput    what was given cannot be used as it is (also a ValueError)
│   ├── InvalidData     rows of the data cannot: how many, which or what of them, so that the message is for their owner
│   └── InvalidRecipe   a recipe says something that Overt does not understand
├── Unreachable     the goal cannot be reached on this table
│   ├── Stuck           it could be, but not by this algorithm, which went astray
│   └── NothingReleased an algorithm decided, by its public rule, to release nothing: an answer, not a failure
├── TooLarge        an exact answer would need more than this machine can do
└── MissingExtra    an optional package is not installed (also an ImportError)

Caution is no error: Overt warns with it of what a release does not protect from. Cancelled is none either: whoever watches
the progress of long work raises it to end that work.

A message says what was given, what was expected and what to do next. COUNTED are the kinds whose messages say what was counted in
the data: they are for its owner, as is all that a run prints. None holds an identifier or a
sensitive value of a person: logs travel.
"""


class OvertError(Exception):
    """Base of everything Overt raises on purpose."""


class InvalidInput(OvertError, ValueError):
    """What was given cannot be used as it is."""


class InvalidData(InvalidInput):
    """What is in the rows of the data cannot be used; the message says how many rows, which or what of them, and is for their owner."""


class InvalidRecipe(InvalidInput):
    """A recipe says something that Overt does not understand; the message names the line and the fix."""


class Unreachable(OvertError):
    """The goal cannot be reached on this table."""


class Stuck(Unreachable):
    """The goal could be reached on this table, but this algorithm has worked itself into a dead end."""

    def __init__(self, message: str, *, row: int) -> None:
        super().__init__(message)
        self.row = row  # the row that found no place: for the owner, never printed


class NothingReleased(Unreachable):
    """An algorithm decided to release nothing; the message says what it tried and why that was not released."""


class TooLarge(OvertError):
    """An exact answer would need more than this machine can do."""


class MissingExtra(OvertError, ImportError):
    """An optional package is not installed; the message says which, and how to get it."""


class Caution(UserWarning):
    """What was asked for is done, and does not protect from something its owner could overlook."""


class Cancelled(Exception):
    """Long work was ended by whoever watches it: raise this from `on_progress`. Overt does not catch it, and writes nothing."""


COUNTED = (InvalidData, Unreachable, TooLarge)  # whose messages say what was counted in the data
