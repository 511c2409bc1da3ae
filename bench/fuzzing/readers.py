# SPDX-License-Identifier: Apache-2.0
"""Readers: how each kind of input is read, from bytes, and examples that are right."""

import gzip
import io
import json
import random
import sqlite3
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.fuzzing.mutations import mutated, mutated_document

Mutate = Callable[[bytes, random.Random, Sequence[bytes]], bytes]

CSV = (
    b"age,sex,ill\n31,f,flu\n32,m,cold\n33,f,flu\n",
    b'age;sex;ill\r\n"31";"f";"a ""b"" c"\r\n32;m;\r\n',
    b"\xef\xbb\xbfage\tsex\till\n01.02.1999\tf\t1.234,5\n31.12.2001\tm\t0,5\n",
    "age,sex,ill\n31,f,Grippe ä\n".encode("utf-16"),
    gzip.compress(b"age,sex,ill\n31,f,flu\n"),
)
RECIPE = b"""version = 1
[input]
path = "people.csv"
missing_values = ["", "NA"]
[columns.name]
role = "identifier"
[columns.age]
role = "quasi-identifier"
hierarchy = { widths = [10, 40] }
[columns.zip]
role = "quasi-identifier"
kind = "category"
hierarchy = { prefixes = [4, 3, 2] }
[columns.sex]
role = "quasi-identifier"
hierarchy = { nested = { any = ["f", "m"] } }
[columns.born]
role = "quasi-identifier"
format = "%d.%m.%Y"
[columns.ill]
role = "sensitive"
missing = "own value"
[[goal]]
property = "l-diversity"
l = 2
[[goal]]
property = "k-anonymity"
k = 3
[method]
name = "blind-buckets"
[output]
path = "release.csv"
"""
LINES = (
    b'{"age": 31, "sex": "f", "ill": "flu"}\n{"age": 3.5e1, "sex": null, "ill": [1]}\n',
    b'{"age": true, "sex": "\\u00e9", "ill": {}}\n\n',
)
HIERARCHY = (
    gzip.compress(b"f,any\nm,any\n"),
    b"f;any\nm;any\n",
    b"value,level 1,level 2\n31,30-39,*\n32,30-39,*\n",
    b"[f, m]\n",
    b"1\t1-2\n2\t1-2\n",
)
CASE = {
    "id": "six", "rows": ["A", "B", "C", "D"], "values": ["flu", "cold", "cancer", "flu"],
    "functions": [{"name": "g1", "groups": [["A", "B"], ["C", "D"]]}, {"name": "g2", "groups": [["A", "B", "C", "D"]]}],
    "sequence": ["g1", "g2"], "property": {"kind": "max_ratio", "delta": "1/2"},
    "runs": [{"strategy": {"kind": "safe"}}, {"strategy": {"kind": "jump", "k": [1, 1]}}],
}  # fmt: skip
SHOWN = (
    b'age,sex,ill\n31..33,*,flu\n31..33,*,cold\n"{31, 32}",f,flu\n',
    b'age,sex,ill\n"31..32 or missing","{f, ""m""}",flu\n20..40,any,cold\n',
)
TOOL = (b"age,sex,ill\n31,*,flu\n*,m,cold\n33,f,flu\n", b"ill;age;sex\nflu;*;*\ncold;*;*\nflu;*;*\n")
JOURNAL = (b'{"target": "r.csv"}\n{"replacing": {"r.csv": 12}, "way back": true}\n', b'{"turned back": true}\n')


@dataclass(frozen=True)
class Reader:
    """A kind of input: right examples, how they are changed, and what reads them in a folder."""

    name: str
    seeds: Sequence[bytes]
    read: Callable[[bytes, Path], Any]
    share: int  # of all cases: what is read quickly is tried more often
    mutate: Mutate = mutated


def readers() -> Iterator[Reader]:
    """Every reader of the package."""
    import polars as pl

    import overt
    from overt.adversary.other_tools.published_classes import read_local_recoding, read_published
    from overt.adversary.other_tools.published_levels import NoLevels, read_full_domain
    from overt.checks.reading import read_cells
    from overt.engine.disclose import disclose
    from overt.engine.scale.parts import _is_of
    from overt.hierarchy.texts import texts_of
    from overt.io.database.address import TableName, find_address
    from overt.io.dp_release import find_dp_manifest
    from overt.io.excel import read_sheet
    from overt.io.files import read_release
    from overt.io.json_lines import cells_of_line
    from overt.io.ledger import read_ledger
    from overt.io.manifest import read_manifest, recipe_of
    from overt.io.owner_record import find_owner_record
    from overt.io.pilot_record import read_pilot
    from overt.io.recipe.recipe import parse_recipe
    from overt.io.unfinished import clear_unfinished
    from overt.studio.saved_sessions import history_of, read_saved

    frame = pl.DataFrame({"age": [31, 32, 33], "sex": ["f", "m", "f"], "ill": ["flu", "cold", "flu"]})
    how: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"]}

    def file(name: str, **more: Any) -> Callable[[bytes, Path], Any]:
        return lambda content, folder: overt.read_file(_put(folder / name, content), **how, **more)

    def looked_at(content: bytes, folder: Path) -> Any:
        return overt.init(_put(folder / "people.csv", content), into=folder / "recipe.toml", overwrite=True)

    def of_lines(content: bytes, folder: Path) -> Any:
        return [cells_of_line(line, ("age", "sex", "ill")) for line in content.split(b"\n")]

    def recipe(content: bytes, folder: Path) -> Any:
        return parse_recipe(content.decode("utf-8", "surrogateescape"), folder=folder)

    def recipe_file(content: bytes, folder: Path) -> Any:
        from overt.io.recipe.recipe import read_recipe

        return read_recipe(_put(folder / "recipe.toml", content))

    def hierarchy(content: bytes, folder: Path) -> Any:
        return overt.Levels.read(_put(folder / "h.csv", content)).build(
            pl.Series("sex", ["f", "m"]), overt.Kind.CATEGORY
        )

    def manifest(content: bytes, folder: Path) -> Any:
        path = _put(folder / "r.csv.manifest.json", content)
        find_dp_manifest(folder / "r.csv")
        return recipe_of(read_manifest(path), path)

    def journal(content: bytes, folder: Path) -> Any:
        _put(folder / ".overt-01234567.unfinished", content)
        return clear_unfinished(folder)

    table = overt.read_frame(frame, **how)

    def other_tool(content: bytes, folder: Path) -> Any:
        shown = read_release(_put(folder / "r.csv", content))
        read_published(table, shown)
        try:
            return read_full_domain(table, shown, "ill")
        except NoLevels:
            return read_local_recoding(table, shown, "ill")

    def release(content: bytes, folder: Path) -> Any:
        shown = read_release(_put(folder / "r.csv", content))
        for column in table.columns:
            if column.name in shown.columns:
                for form in ("set", "range", "label"):
                    read_cells(texts_of(shown.get_column(column.name)).unique(), column, form)
        return shown

    def address(content: bytes, folder: Path) -> Any:
        text = content.decode("utf-8", "replace")
        find_address(text, folder, may_hold_password=True)
        return TableName.parse(text)

    def saved(content: bytes, folder: Path) -> Any:
        _put(folder / "session.json", content)
        return history_of(read_saved(folder))

    def record(content: bytes, folder: Path) -> Any:
        path = _put(folder / "r.owner.json", content)
        _is_of(path, folder)
        return find_owner_record(path)

    yield Reader("CSV", CSV, file("people.csv"), 60)
    yield Reader("CSV, row by row", CSV[:2], file("people.csv", row_by_row=True), 60)
    yield Reader("CSV that init looks at", CSV[:3], looked_at, 3)
    yield Reader(
        "CSV with formats of dates",
        CSV[2:3],
        file("people.tsv", date_formats={"age": "%d.%m.%Y"}, unreadable={"age": "missing"}),
        30,
    )
    yield Reader("JSON Lines, a line at a time", LINES, of_lines, 250)
    yield Reader("JSON Lines", LINES, file("people.jsonl"), 30)
    yield Reader("Parquet", (_bytes(frame.write_parquet),), file("people.parquet"), 15)
    yield Reader("Arrow", (_bytes(frame.write_ipc), _bytes(frame.write_ipc_stream)), file("people.arrow"), 15)
    yield Reader(
        "Excel",
        (workbook(),),
        lambda content, folder: read_sheet(_put(folder / "people.xlsx", content)),
        15,
        mutated_workbook,
    )
    yield Reader(
        "SQLite", (sqlite(),), lambda content, folder: _read_sqlite(_put(folder / "people.db", content), how), 10
    )
    yield Reader("hierarchy", HIERARCHY, hierarchy, 50)
    yield Reader("recipe", (RECIPE,), recipe, 100)
    yield Reader("recipe, its values", (RECIPE,), recipe, 60, mutated_recipe)
    yield Reader("recipe file", (RECIPE,), recipe_file, 10)
    yield Reader(
        "case",
        (json.dumps(CASE).encode(),),
        lambda content, folder: disclose(_put(folder / "case.json", content)),
        40,
        as_json,
    )
    yield Reader("manifest", (manifest_text(RECIPE),), manifest, 60, as_json)
    yield Reader(
        "ledger", (ledger_text(),), lambda content, folder: read_ledger(_put(folder / "l.json", content)), 60, as_ledger
    )
    yield Reader("owner's record", (RECORD,), record, 40, as_json)
    yield Reader(
        "pilot record", (PILOT,), lambda content, folder: read_pilot(_put(folder / "p.json", content)), 40, as_json
    )
    yield Reader("saved session", (session_text(),), saved, 30, as_json)
    yield Reader("journal of unfinished files", JOURNAL, journal, 20)
    yield Reader("release read back", SHOWN, release, 20)
    yield Reader("release of another tool", TOOL, other_tool, 10)
    yield Reader(
        "address of a database",
        (b"postgresql://u:p@host:5432/d?x=y", b"sqlite:///people.db", b"CLINIC_DB", b"schema.table"),
        address,
        100,
    )


def _put(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _bytes(write: Callable[[Any], Any]) -> bytes:
    into = io.BytesIO()
    write(into)
    return into.getvalue()


def _read_sqlite(path: Path, how: dict[str, Any]) -> Any:
    import overt

    return overt.read_database(path, table="people", **how)


def as_json(content: bytes, draw: random.Random, others: Sequence[bytes]) -> bytes:
    """Three times in four the document is another, else its bytes are."""
    if draw.random() < 0.25:
        return mutated(content, draw, others)
    return json.dumps(mutated_document(json.loads(content), draw)).encode("utf-8", "surrogatepass")


def as_ledger(content: bytes, draw: random.Random, others: Sequence[bytes]) -> bytes:
    """Three times in four the digests fit what was changed: what is behind them is read too."""
    spoilt = as_json(content, draw, others)
    if draw.random() < 0.25:
        return spoilt
    try:
        return json.dumps(with_digests(json.loads(spoilt))).encode()
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return spoilt


def with_digests(document: Any) -> Any:
    """A ledger whose digests are right."""
    from overt.io.ledger import _digest_of, _File

    done: list[Any] = []
    for entry in document["entries"]:
        entry["before"] = _digest_of(_File.model_validate({"entries": done, "digest": "0" * 64}).entries)
        done.append(entry)
    digest = _digest_of(_File.model_validate({**document, "entries": done, "digest": "0" * 64}).entries)
    return {**document, "entries": done, "digest": digest}


def mutated_recipe(content: bytes, draw: random.Random, others: Sequence[bytes]) -> bytes:
    """A recipe that is TOML and has other values."""
    import tomllib

    from overt.io.recipe.toml_text import toml_of

    try:
        return toml_of(mutated_document(tomllib.loads(content.decode()), draw)).encode("utf-8", "surrogateescape")
    except Exception:  # what no TOML can hold
        return mutated(content, draw, others)


def workbook() -> bytes:
    """A small workbook, as Excel writes it."""
    into = io.BytesIO()
    rows = "".join(
        f'<row r="{i}"><c r="A{i}"><v>{30 + i}</v></c><c r="B{i}" t="inlineStr"><is><t>f</t></is></c></row>'
        for i in (2, 3)
    )
    head = '<row r="1"><c r="A1" t="inlineStr"><is><t>age</t></is></c><c r="B1" t="inlineStr"><is><t>sex</t></is></c></row>'
    space = "http://schemas.openxmlformats.org"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{space}/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{space}/package/2006/relationships"><Relationship Id="r1" '
        f'Type="{space}/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{space}/spreadsheetml/2006/main" xmlns:r="{space}/officeDocument/2006/relationships">'
        '<sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{space}/package/2006/relationships"><Relationship Id="r1" '
        f'Type="{space}/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{space}/spreadsheetml/2006/main"><sheetData>{head}{rows}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return into.getvalue()


def mutated_workbook(content: bytes, draw: random.Random, others: Sequence[bytes]) -> bytes:
    """Three times in four a part inside is another, and the archive is whole."""
    if draw.random() < 0.25:
        return mutated(content, draw, others)
    into = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(into, "w") as after:
        names = before.namelist()
        spoilt = draw.choice([*names, "xl/worksheets/sheet1.xml"])
        for name in names:
            part = before.read(name)
            after.writestr(name, mutated(part, draw, [part]) if name == spoilt else part)
    return into.getvalue()


def sqlite() -> bytes:
    """A small database."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE people (age, sex, ill)")
        connection.executemany(
            "INSERT INTO people VALUES (?, ?, ?)", [(31, "f", "flu"), (2.5, "m", "cold"), ("x", None, "flu")]
        )
        connection.commit()
        return bytes(connection.serialize())


def ledger_text() -> bytes:
    """A ledger with a limit and two releases."""
    time = "2026-01-02T03:04:05Z"
    limit = {"kind": "limit", "time": time, "epsilon": "3", "delta": "1/1000", "before": "0" * 64}
    spent = {
        "kind": "spent",
        "time": time,
        "release": "r.csv",
        "id": "00",
        "method": "dp-cube",
        "epsilon": "1/2",
        "delta": "1/9999",
        "before": "0" * 64,
    }
    return json.dumps(with_digests({"ledger": 1, "entries": [limit, spent, dict(spent)], "digest": ""})).encode()


def manifest_text(recipe: bytes) -> bytes:
    """A manifest of a release by a recipe."""
    import tomllib

    from overt.io.manifest import FileRecord, Manifest, now, versions

    made = Manifest(
        created=now(), versions=versions(), method="blind-buckets", goal=("3-anonymity",), groups=3,
        release={"release": FileRecord(path="r.csv", sha256="0" * 64, rows=9)}, recipe=tomllib.loads(recipe.decode()), left_out=(),
    )  # fmt: skip
    return made.to_json().encode()


def session_text() -> bytes:
    """A saved session."""
    edit = {"text": RECIPE.decode(), "words": "Opened", "when": "2026-01-02T03:04:05"}
    return json.dumps(
        {
            "session": 1,
            "audience": "owner",
            "name": "people",
            "done": [edit],
            "undone": [edit],
            "runs": [{"recipe": RECIPE.decode()}],
        }
    ).encode()


RECORD = json.dumps(
    {
        "owner_record": 1, "audience": "owner", "manifest_sha256": "0" * 64,
        "input": {"name": "people.csv", "sha256": "1" * 64, "rows": 9, "rows_dropped": 0, "rows_suppressed": 0},
        "files_read": {"sex": "2" * 64}, "left_out": [{"path": ["columns", "sex"], "value": 1}], "persons": None, "pilot": [1, 2],
    }
).encode()  # fmt: skip
PILOT = json.dumps(
    {
        "pilot_record": 1,
        "audience": "owner",
        "input_sha256": "0" * 64,
        "n_rows": 9,
        "rows": [1, 2, 5],
        "n_persons": None,
        "decided": None,
    }
).encode()
