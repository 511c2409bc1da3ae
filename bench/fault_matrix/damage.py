# SPDX-License-Identifier: Apache-2.0
"""Damage: files that end too early, hold other bytes, or are something else, read by every command that reads them."""

import json
import random
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bench.fault_matrix.folders import visible, why_not_whole
from bench.fault_matrix.kills import Fault
from bench.fault_matrix.processes import start_forked
from bench.fault_matrix.scenes import Prepared, Scene, Stage, recipe
from bench.fault_matrix.verdicts import (
    DATA,
    FAILED,
    OK,
    UNREACHABLE,
    USAGE,
    why_bad_words,
    why_left,
    why_not_done,
    why_not_untouched,
)

CASE = """{"id": "six", "rows": ["A", "B", "C", "D", "E", "F"],
"values": ["flu", "cold", "cancer", "cancer", "headache", "toothache"],
"functions": [{"name": "g1", "groups": [["A", "B"], ["C", "D"], ["E", "F"]]}, {"name": "g2", "groups": [["A", "B", "C"], ["D", "E", "F"]]}],
"sequence": ["g1", "g2"], "property": {"kind": "distinct_l", "l": 2}, "runs": [{"strategy": {"kind": "naive"}}, {"strategy": {"kind": "safe"}}]}
"""
Damage = Callable[[bytes, random.Random], bytes]
_BLIND = 'name = "blind-buckets"'


def cut(content: bytes, draw: random.Random) -> bytes:
    """The first part."""
    return content[: draw.randrange(len(content))] if content else content


def flipped(content: bytes, draw: random.Random) -> bytes:
    """One bit is another."""
    spoilt = bytearray(content)
    spoilt[draw.randrange(len(spoilt))] ^= 1 << draw.randrange(8)
    return bytes(spoilt)


def overwritten(content: bytes, draw: random.Random) -> bytes:
    """Some bytes are others."""
    begin = draw.randrange(len(content))
    return content[:begin] + draw.randbytes(draw.randint(1, 64)) + content[begin + 64 :]


def zeroed(content: bytes, draw: random.Random) -> bytes:
    """A block was never written."""
    begin = draw.randrange(len(content))
    return content[:begin] + b"\0" * len(content[begin : begin + 512]) + content[begin + 512 :]


def emptied(content: bytes, draw: random.Random) -> bytes:
    """Nothing is left."""
    return b""


def replaced(content: bytes, draw: random.Random) -> bytes:
    """It is something else altogether."""
    return draw.choice(
        (draw.randbytes(300), b"{}", b"[]", b"null", b"\xff\xfe" + b"a\0" * 40, b"PK\x03\x04" + b"x" * 90)
    )


def doubled(content: bytes, draw: random.Random) -> bytes:
    """It was appended to itself."""
    return content + content


DAMAGES: tuple[Damage, ...] = (cut, flipped, overwritten, zeroed, emptied, replaced, doubled)


@dataclass(frozen=True)
class Read:
    """A file that is damaged, and the command that reads it."""

    what: str
    file: str
    scene: Scene
    codes: Collection[int]  # how the command may end: docs/reference/command-line.md, Exit codes


_DATA = (OK, DATA, UNREACHABLE)  # fewer rows or other values may be out of reach of the goal
_CHECK = (OK, FAILED, DATA)
_CHECKED = (
    "manifest",
    "release",
    "values of a release",
    "manifest of parts",
    "a part",
)  # a check may not pass another one


def reads() -> list[Read]:
    """Every kind of file that a command reads."""

    def of(data: str, name: str) -> Scene:
        new = recipe(_BLIND, 'path = "release.csv"', k=3, data=f'path = "{data}"')
        old = recipe('name = "mondrian"', 'path = "release.csv"', k=5)
        words = ["run", "new.toml", "--overwrite", "--quiet", "--no-audit"]
        return Scene(name, words, ["run", "old.toml", "--quiet"], {"new.toml": new, "old.toml": old})

    run = of("people.csv", "run")
    database = recipe(_BLIND, 'path = "release.csv"', k=3, data='database = "people.db"\ntable = "people"')
    from_database = replace(run, recipes={**run.recipes, "new.toml": database})
    private = recipe(
        'name = "dp-cube"\nepsilon = 1\ndelta = 1e-3\ns = 0.5',
        'path = "release.csv"',
        goal="",
        ill="hierarchy = { prefixes = [9] }",
        sex='hierarchy = { nested = { any = ["f", "m"] } }',
    )
    spend = replace(run, name="private run", recipes={**run.recipes, "new.toml": private}, words=run.words[:-1])
    piloted = recipe(_BLIND, 'path = "release.csv"', k=3, more="[pilot]\npeople = 40\n")
    drawn = replace(
        run,
        name="run with a pilot",
        recipes={**run.recipes, "new.toml": piloted},
        old=("compare", "new.toml", "--seconds", "0", "--quiet"),
    )
    parts = recipe(_BLIND + '\ncuts = "strict"', 'path = "release"\nformat = "csv"', k=3)
    engine = ("--engine", "out-of-core", "--quiet")
    in_parts = Scene(
        "check in parts",
        ["check", "people.csv", "release", "--quiet"],
        ["run", "new.toml", *engine],
        {"new.toml": parts},
    )
    check = ["check", "people.csv", "release.csv", "--quiet"]
    checked = Scene("check", check, ["run", "new.toml", "--quiet", "--no-audit"], run.recipes)
    return [
        Read("CSV", "people.csv", run, _DATA),
        Read("Parquet", "people.parquet", of("people.parquet", "run"), _DATA),
        Read("Arrow", "people.arrow", of("people.arrow", "run"), _DATA),
        Read("JSON Lines", "people.jsonl", of("people.jsonl", "run"), _DATA),
        Read("SQLite", "people.db", from_database, _DATA),
        Read("hierarchy", "sex.csv", run, (OK, USAGE, DATA)),  # it belongs to the recipe that names it
        Read("recipe", "new.toml", run, (OK, USAGE, DATA, UNREACHABLE)),
        Read("data that are looked at", "people.csv", Scene("init", ["init", "people.csv", "--into", "first.toml", "--overwrite", "--quiet"]), (OK, DATA)),
        Read("ledger", "people.csv.budget.json", spend, (OK, DATA)),
        Read("pilot record", "people.csv.pilot.owner.json", drawn, (OK, DATA)),
        Read("manifest", "release.csv.manifest.json", checked, _CHECK),
        Read("manifest of what is replaced", "release.csv.manifest.json", run, (OK, DATA)),
        Read("owner's record", "release.csv.owner.json", checked, _CHECK),
        Read("release", "release.csv", checked, _CHECK),
        Read("values of a release", "release.sensitive.csv", checked, _CHECK),
        Read("manifest of parts", "release/manifest.json", in_parts, _CHECK),
        Read("a part", "release/boxes/part-00001.csv", in_parts, _CHECK),
        Read("case", "case.json", Scene("disclose", ["disclose", "case.json"]), (OK, DATA)),
    ]  # fmt: skip


def damaged(stage: Stage, read: Read, n: int, draw: random.Random) -> Iterator[Fault]:
    """A command that reads a damaged file: it says so in one sentence, or, where the damage is no damage, does its work whole."""
    prepared = prepare(stage, read)
    for number in range(n):
        folder = stage.fresh(prepared)
        spoil = DAMAGES[number % len(DAMAGES)]
        before = (folder / read.file).read_bytes()
        after = spoil(before, draw)
        (folder / read.file).write_bytes(after)
        old = visible(folder)
        ended = start_forked(prepared.scene.words, folder, stage.scratch()).wait()
        problem = why_bad_words(ended, read.codes)
        if not problem and ended.code == OK and read.scene.words[0] in ("run", "init"):
            problem = why_not_made(read, prepared, folder, stage.scratch(), old)
        elif not problem:
            problem = why_not_untouched(folder, stage.scratch(), old)
        if not problem and ended.code == OK and read.what in _CHECKED:
            problem = "" if _means_the_same(before, after) else "the check passed what is damaged"
        yield Fault("damaged file", f"{read.what}, {prepared.scene.name}", spoil.__name__, problem)
        stage.strike()


def prepare(stage: Stage, read: Read) -> Prepared:
    """The scene of a file, with the file in it."""
    if read.file == "case.json":
        (stage.inputs / "case.json").write_text(CASE, "utf-8")
    return stage.prepare(read.scene)


def why_not_made(read: Read, prepared: Prepared, folder: Path, scratch: Path, old: Mapping[str, bytes]) -> str:
    """Why a command that ended well has not made all that it makes without damage; `old` is what lay there, damage included."""
    found = visible(folder)
    if read.what == "recipe":  # a damaged one may name other files, or ask for fewer
        return why_no_release(found, old) or why_left(folder, scratch)
    if read.what == "ledger" and found.get(read.file) == old[read.file]:
        return "the ledger does not know of the run"
    is_input = prepared.new.get(read.file) == prepared.old.get(read.file)
    new = {**prepared.new, **({read.file: old[read.file]} if is_input else {})}
    return why_not_done(folder, scratch, replace(prepared, old=old, new=new))


def why_no_release(found: Mapping[str, bytes], old: Mapping[str, bytes]) -> str:
    """Why no release was made, under whatever name: a new manifest, whole, and no other file is gone."""
    made = [name for name, content in found.items() if name.endswith("manifest.json") and old.get(name) != content]
    if not made:
        return "no release was made"
    outputs = tuple(name.removesuffix("manifest.json") for name in made)
    gone = [name for name in old if name not in found and not name.startswith(outputs)]
    return f"{gone} are gone" if gone else why_not_whole(found)


def _means_the_same(before: bytes, after: bytes) -> bool:
    try:
        return bool(json.loads(before) == json.loads(after))
    except (ValueError, RecursionError):
        return before == after
