# SPDX-License-Identifier: Apache-2.0
"""Releases of microdata that give nobody away, even to someone who has the source code.

The public names stand in `__init__.pyi`, and nowhere else. Each is loaded when it is first used, so that `import overt` costs
next to nothing.
"""

from functools import cache
from importlib import import_module
from types import FunctionType


@cache
def _module_of_name() -> dict[str, str]:
    """Where each public name is at home, as `__init__.pyi` says."""
    import ast
    from pathlib import Path

    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    return {alias.name: line.module for line in imports for alias in line.names if line.module is not None}


def __getattr__(name: str) -> object:
    if name == "__all__":
        return sorted(_module_of_name())
    if name == "__version__":
        from importlib import metadata

        return metadata.version("overt")
    if name.startswith("_") or name not in _module_of_name():
        raise AttributeError(f"module 'overt' has no attribute {name!r}")
    module = _module_of_name()[name]
    if module == "overt":
        return import_module(f"overt.{name}")
    found = getattr(import_module(module), name)
    return _at_the_door(name, found) if isinstance(found, FunctionType) else found


@cache
def _at_the_door(name: str, found: FunctionType) -> FunctionType:
    """A function says in a sentence which argument is not what it takes; it is the same one the next time."""
    from overt.arguments import explained

    door = explained(found)
    door.__module__, door.__qualname__ = "overt", name  # so that it can be pickled
    return door


def __dir__() -> list[str]:
    return sorted([*_module_of_name(), "__version__"])
