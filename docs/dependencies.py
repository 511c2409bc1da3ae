# SPDX-License-Identifier: Apache-2.0
"""What Overt installs, package by package, with licences: the table in docs/reference/dependencies.md.

`python docs/dependencies.py` prints it anew, from the packages that are installed here.
"""

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SPOKEN = {  # licences that packages name in words of their own
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "MIT": "MIT",
    "MIT License": "MIT",
    "BSD License": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache-2.0": "Apache-2.0",
}


def packages() -> dict[str, set[str]]:
    """Every package that Overt needs, directly or not -> the extras that need it; "" for the package itself."""
    found: dict[str, set[str]] = {}
    for extra, needed in {"": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}.items():
        for name in reached(needed):
            found.setdefault(name, set()).add(extra)
    return dict(sorted(found.items()))


def reached(needed: list[str]) -> set[str]:
    """The names of the packages that these requirements bring."""
    names: set[str] = set()
    waiting = [(Requirement(text), "") for text in needed]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        if name in names:
            continue
        names.add(name)
        brought = [Requirement(text) for text in metadata.requires(name) or ()]
        waiting += [(each, extra) for each in brought for extra in ("", *requirement.extras)]
    return names


def licence_of(name: str) -> str:
    """What a package says of its licence, in the words of SPDX."""
    said = metadata.metadata(name)
    if said["License-Expression"]:
        return str(said["License-Expression"])
    classes = [line.rpartition(" :: ")[2] for line in said.get_all("Classifier") or () if line.startswith("License")]
    words = [*classes, (said["License"] or "").splitlines()[0] if said["License"] else ""]
    return next((SPOKEN[word] for word in words if word in SPOKEN), "unknown")


def table() -> Iterator[str]:
    """The lines of the table."""
    direct = {canonicalize_name(Requirement(text).name): Requirement(text) for text in requirements()}
    yield "| package | range | needed by | licence |"
    yield "|---|---|---|---|"
    for name, extras in packages().items():
        bounds = str(direct[name].specifier) if name in direct else ""
        ordered = ",".join(sorted(bounds.split(","), reverse=True)) if bounds else "what others ask for"
        needed = "Overt" if "" in extras else ", ".join(f"`{extra}`" for extra in sorted(extras))
        yield f"| {name} | {ordered} | {needed} | {licence_of(name)} |"


def requirements() -> list[str]:
    """All direct requirements, those of extras too."""
    return [*PROJECT["dependencies"], *(text for texts in PROJECT["optional-dependencies"].values() for text in texts)]


def lowest() -> dict[str, str]:
    """The lowest version that each direct requirement admits."""
    found = {}
    for text in requirements():
        requirement = Requirement(text)
        bound = re.search(r">=([\w.]+)", str(requirement.specifier))
        if bound is not None:
            found[canonicalize_name(requirement.name)] = bound[1]
    return found


if __name__ == "__main__":
    print("\n".join(table()))  # noqa: T201 (what the command is for)
