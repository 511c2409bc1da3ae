# SPDX-License-Identifier: Apache-2.0
"""`kernel`: Numba's compiler, set up the same way for every loop of the project.

Compiled code is kept on disk so that only the first run on a machine waits for the compiler. Where neither
the package folder nor the user's cache folder can be written, Numba refuses to cache; then the loop is
compiled afresh in every process instead of failing at import. What an earlier version of Overt left there may name types that
are gone, and what a killed process left may be half a file; then the loop is compiled anew too.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import config, njit

Loop = TypeVar("Loop", bound=Callable[..., Any])


def kernel(loop: Loop) -> Loop:
    """Compile a loop over arrays: cached on disk, releasing the interpreter lock while it runs."""
    try:
        compiled = njit(cache=True, nogil=True)(loop)
    except RuntimeError:  # "no locator available": nowhere to keep the compiled code
        return njit(nogil=True)(loop)
    if not config.DISABLE_JIT:
        _forget_what_cannot_be_read(compiled._cache)
    return compiled


def _forget_what_cannot_be_read(cache: Any) -> None:
    """Numba reads what is kept before it asks whether it is fresh, and stumbles over names that are gone."""
    load = cache.load_overload

    def load_or_forget(*of: Any) -> Any:
        try:
            return load(*of)
        except Exception:  # whatever an unpickled file raises
            cache.flush()
            return None

    cache.load_overload = load_or_forget
