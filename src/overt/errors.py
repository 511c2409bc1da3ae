# SPDX-License-Identifier: Apache-2.0
"""Every exception that Overt raises on purpose.

OvertError
├── InvalidInput    what was given cannot be used as it is (also a ValueError)
├── Unreachable     the goal cannot be reached on this table
├── TooLarge        an exact answer would need more than this machine can do
└── MissingExtra    an optional package is not installed (also an ImportError)

A message says what was given, what was expected and what to do next. It never holds an identifier or a
sensitive value of a person: logs travel.
"""


class OvertError(Exception):
    """Base of everything Overt raises on purpose."""


class InvalidInput(OvertError, ValueError):
    """What was given cannot be used as it is."""


class Unreachable(OvertError):
    """The goal cannot be reached on this table."""


class TooLarge(OvertError):
    """An exact answer would need more than this machine can do."""


class MissingExtra(OvertError, ImportError):
    """An optional package is not installed; the message says which, and how to get it."""
