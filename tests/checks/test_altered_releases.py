# SPDX-License-Identifier: Apache-2.0
"""Releases of every method and format, altered by someone who mends every digest afterwards: each alteration is found.

Finding out that a digest changed is no finding here: the manifest and the owner's record are sealed anew.
"""

import gzip
import hashlib
import json
import shutil

import pytest

import overt
from checks.alterations import ARROW, GZIP, OF_PRIVATE, PARQUET, RECORDS, SEPARATED, SPELLINGS, TEXT, WORDS
from checks.released import FORMATS, MADE, PRIVATE, make
from overt.errors import OvertError


def seal(folder):
    """Make digests right again, as someone would who wants to be believed."""
    ((path),) = folder.glob("*.manifest.json")
    document = json.loads(path.read_text())
    release = document["release"]
    for record in [release] if "place" in release else release.values():
        found = folder / record.get("path", record.get("place"))
        if found.is_file():
            record["sha256"] = digest(found)
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    bind(folder)


def bind(folder):
    """The owner's record knows the manifest."""
    ((path),) = folder.glob("*.manifest.json")
    for record in folder.glob("*.owner.json"):
        content = json.loads(record.read_text())
        if "manifest_sha256" in content:
            content["manifest_sha256"] = digest(path)
            record.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def is_found(folder, release):
    """Whether a check finds something, or refuses to believe the files at all."""
    try:
        return not overt.check(str(folder / "people.csv"), str(release)).ok
    except OvertError:
        return True


def alterations_of(path):
    """(name, function of the bytes) for the format of a file."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        found = dict(PARQUET)
    elif name.endswith(".arrow"):
        found = dict(ARROW)
    elif name.endswith(".jsonl"):
        found = TEXT | RECORDS
    else:
        separator = "\t" if name.endswith(".tsv") else ","
        found = TEXT | {n: lambda b, f=f: f(b, separator) for n, f in SEPARATED.items()}
    if path.name.endswith(".gz"):
        inside = {n: lambda b, f=f: pack(f(gzip.decompress(b))) for n, f in found.items()}
        return inside | {f"gzip: {n}": f for n, f in GZIP.items()}
    return found


def pack(content):
    return None if content is None else gzip.compress(content, compresslevel=6, mtime=0)


def find_overlooked(folder, made, ending):
    """(how many alterations were tried, those that were overlooked)."""
    pristine = folder / "pristine"
    pristine.mkdir()
    release = make(pristine, made, ending)
    assert not is_found(pristine, release), overt.check(str(pristine / "people.csv"), str(release)).verdict.failures
    seal(pristine)
    assert not is_found(pristine, release), "sealing alone is an alteration"
    n, overlooked = 0, []

    def attempt(name, alter):
        nonlocal n
        work = folder / "work"
        shutil.copytree(pristine, work)
        try:
            if alter(work) is None:
                return
            n += 1
            if not is_found(work, work / release.name):
                overlooked.append(name)
        finally:
            shutil.rmtree(work)

    tables = [path for path in pristine.iterdir() if path.name.startswith("release.") and path.name.endswith(ending)]
    for table in tables:
        for name, alter in alterations_of(table).items():

            def alter_table(work, table=table, alter=alter):
                before = table.read_bytes()
                after = alter(before)
                if after is None or after == before:
                    return None
                (work / table.name).write_bytes(after)
                seal(work)
                return work

            attempt(f"{table.name}: {name}", alter_table)
    manifest = pristine / f"{release.name}.manifest.json"
    words = WORDS if made not in PRIVATE else {name: WORDS[name] for name in OF_PRIVATE}
    for name, alter in words.items():

        def alter_words(work, alter=alter):
            document = alter(json.loads(manifest.read_text()))
            if document is None:
                return None
            (work / manifest.name).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
            bind(work)
            return work

        attempt(f"manifest: {name}", alter_words)
    for name, alter in SPELLINGS.items():

        def alter_text(work, alter=alter):
            before = manifest.read_text()
            after = alter(before)
            if after == before:
                return None
            (work / manifest.name).write_bytes(after.encode())
            bind(work)
            return work

        attempt(f"manifest: {name}", alter_text)
    return n, overlooked


@pytest.mark.slow
@pytest.mark.parametrize("made", MADE)
def test_every_method(made, tmp_path):
    n, overlooked = find_overlooked(tmp_path, made, ".csv")
    print(f"{made}: {n} alterations, {n - len(overlooked)} found")  # noqa: T201 (a list for people)
    assert n > (10 if made in PRIVATE else 50) and not overlooked


@pytest.mark.slow
@pytest.mark.parametrize("made", ["mondrian", "anatomy", "cross-bucket-flat", "dp-sampling"])
@pytest.mark.parametrize("ending", FORMATS[1:])
def test_every_format(made, ending, tmp_path):
    n, overlooked = find_overlooked(tmp_path, made, ending)
    print(f"{made}{ending}: {n} alterations, {n - len(overlooked)} found")  # noqa: T201 (a list for people)
    assert n > 10 and not overlooked
