# SPDX-License-Identifier: Apache-2.0
"""Cautions: what a method notices that its owner could overlook. They belong to the release that is being made, and to no other.

A run notes them down and says them with its result. Python's warnings are shared by all threads of a process: a job would
hear what another said of other people's data. Where nobody notes cautions down they are Python warnings.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from overt.errors import Caution

_NOTED: ContextVar[list[str] | None] = ContextVar("cautions", default=None)


def caution(words: str, *, stacklevel: int = 1) -> None:
    """Say something to whoever makes a release. `stacklevel` is as in `warnings.warn`, seen from the caller."""
    noted = _NOTED.get()
    if noted is None:
        warnings.warn(words, Caution, stacklevel=stacklevel + 1)
    else:
        noted.append(words)


@contextmanager
def noting_cautions() -> Iterator[list[str]]:
    """Note down what this thread is cautioned of in the block.

    >>> with noting_cautions() as noted:
    ...     caution("Nobody has the second value.")
    >>> noted
    ['Nobody has the second value.']
    """
    noted: list[str] = []
    token = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(token)
