# SPDX-License-Identifier: Apache-2.0
"""What lies in a folder, and whether it is an old output, a new one, or a mixture.

Nothing of the package is used: digests, manifests and records are compared as their documentation says.
"""

import hashlib
import json
import sqlite3
import stat
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

STATES = (".budget.json", ".pilot.owner.json")  # what is written before a release, on purpose
FILLER = "filler.bin"  # what fills a small disk
Files = Mapping[str, bytes]


def visible(folder: Path) -> dict[str, bytes]:
    """Everything that is not hidden; of an SQLite file, what its tables hold once it has recovered."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not any(part.startswith(".") for part in Path(name).parts):
            if name == FILLER or name.endswith(("-journal", "-wal", "-shm")):
                continue
            found[name] = _dump(path) if name.endswith(".db") else path.read_bytes()
    return found


def hidden(folder: Path) -> list[Path]:
    """Hidden files with something in them, and hidden folders."""
    found = []
    for path in sorted(folder.rglob("*")):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            is_lock = path.name.endswith(".lock") and path.is_file() and not path.stat().st_size
            if not is_lock:
                found.append(path)
    return found


def left_in(scratch: Path) -> list[str]:
    """What lies in the folder for temporary files."""
    tried = (b"", b"blat")  # what Python writes to find out whether a folder can be written
    files = [path for path in (scratch / "tmp").rglob("*") if path.is_file() and path.read_bytes() not in tried]
    return sorted(str(path.relative_to(scratch / "tmp")) for path in files)


def open_to_others(paths: Iterable[Path]) -> list[str]:
    """Those of some hidden paths that another user can read."""
    found = []
    for path in paths:
        if path.is_file() and path.stat().st_size and stat.S_IMODE(path.stat().st_mode) & 0o077:
            if any(not stat.S_IMODE(above.stat().st_mode) & 0o077 for above in list(path.parents)[:3]):
                continue
            if path.name.endswith(".old"):
                continue  # was there before, with these rights
            if any((above / "manifest.json").is_file() and not (above / "in-use").exists() for above in path.parents):
                continue  # a whole release in parts, about to get its name
            found.append(path.name)
    return found


def is_state(name: str) -> bool:
    """Whether a file is written before a release, on purpose: what a budget spent, who was looked at."""
    return name.endswith(STATES)


def is_old(found: Files, old: Files) -> bool:
    """Whether everything is as it was, byte for byte."""
    return _but_states(found) == _but_states(old)


def why_not_new(found: Files, old: Files, new: Files) -> str:
    """Why files are not a whole new output, if they are not. `new` is another output of the same command."""
    found, old, new = _but_states(found), _but_states(old), _but_states(new)
    if set(found) != set(new):
        return f"files {sorted(set(found) ^ set(new))} are missing or too many"
    for name, content in found.items():
        was_changed = old.get(name) != new[name]
        if not was_changed and content != new[name]:
            return f"{name} changed"
        if was_changed and name in old and content == old[name]:
            return f"{name} is still the old one"
    return why_not_whole(found)


def only_tables(found: Files, old: Files, new: Files) -> bool:
    """Whether the tables of a database are old or new, and nothing beside them claims anything of them."""
    tables = {name: content for name, content in found.items() if name.endswith(".db")}
    claims = [name for name in found if name.endswith((".manifest.json", ".owner.json"))]
    return not claims and any(
        all(content == one.get(name) or one is new for name, content in tables.items()) for one in (old, new)
    )


def why_not_whole(files: Files) -> str:
    """Why a manifest or an owner's record is not of the files beside it."""
    for name, content in files.items():
        if not name.endswith("manifest.json"):
            continue
        try:
            release = json.loads(content)["release"]
        except (ValueError, KeyError):
            return f"{name} is not whole"
        parts = release.values() if "sha256" not in release else [release]
        for part in parts:
            why = _why_not_of(part, name, files)
            if why:
                return why
        owner = name.removesuffix("/manifest.json").removesuffix(".manifest.json") + ".owner.json"
        if owner in files and json.loads(files[owner])["manifest_sha256"] != _digest(content):
            return f"{owner} belongs to another manifest"
    return ""


def _why_not_of(part: Mapping[str, str], manifest: str, files: Files) -> str:
    place = part.get("path") or part["place"]
    if manifest.endswith("/manifest.json"):
        folder = f"{manifest.removesuffix('manifest.json')}{place}/"
        names = sorted(name for name in files if name.startswith(folder) and name.split("/")[-1].startswith("part-"))
        lines = "".join(f"{name.split('/')[-1]} {_digest(files[name])}\n" for name in names)
        return "" if _digest(lines.encode()) == part["sha256"] else f"{manifest} is not of the parts beside it"
    if place not in files:
        is_table = any(name.endswith(".db") for name in files) or "." not in place
        return "" if is_table else f"{manifest} names {place}, which is not there"
    return "" if _digest(files[place]) == part["sha256"] else f"{manifest} is not of {place}"


def _but_states(files: Files) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if not is_state(name)}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _dump(path: Path) -> bytes:
    with closing(sqlite3.connect(path)) as connection:
        try:
            return "\n".join(connection.iterdump()).encode()
        except sqlite3.DatabaseError:
            return b"damaged " + path.read_bytes()
