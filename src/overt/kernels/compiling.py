# SPDX-License-Identifier: Apache-2.0
"""`kernel`: Numba's compiler, set up the same way for every loop of the project.

Compiled code is kept on disk so that only the first run on a machine waits for the compiler. Where neither
the package folder nor the user's cache folder can be written, Numba refuses to cache; then the loop is
compiled afresh in every process instead of failing at import.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Loop = TypeVar("Loop", bound=Callable[..., Any])


def kernel(loop: Loop) -> Loop:
    """Compile a loop over arrays: cached on disk, releasing the interpreter lock while it runs."""
    try:
        return njit(cache=True, nogil=True)(loop)
    except RuntimeError:  # "no locator available": nowhere to keep the compiled code
        return njit(nogil=True)(loop)
