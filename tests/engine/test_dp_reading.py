# SPDX-License-Identifier: Apache-2.0
"""One record more, whatever it holds, changes neither how the others are read nor whether a private run succeeds."""

import gzip
import io
import json
import sqlite3
from contextlib import closing, redirect_stderr, redirect_stdout

import numpy as np
import polars as pl
import pytest

import overt
from hostile_records import CSV_RECORDS, JSON_RECORDS, TYPED_RECORDS
from overt.cli import main
from overt.cli.console import Exit
from overt.engine.course import prepare
from overt.io.ledger import ledger_path, read_ledger, set_limit
from overt.io.recipe.recipe import parse_recipe

ALIKE = ("fermière", 1011, "2024-03-31")
N_ALIKE = 200
SHOWN = ("fermière", "1011", "2024-03-31")
METHODS = ("dp-sampling", "dp-cube", "dp-full-domain")
RECIPE = """
version = 1
[input]
{input}
[columns.job]
role = "sensitive"
hierarchy = {{ nested = {{ women = ["fermière", "ouvrière"], men = ["fermier", "café"] }} }}
[columns.code]
role = "quasi-identifier"
hierarchy = {{ prefixes = [3, 2] }}
[columns.day]
role = "quasi-identifier"
hierarchy = {{ dates = ["month", "year"] }}
[method]
name = "{method}"
epsilon = 1
delta = 1e-3
s = 0.5
levels = [[0, 0, 0]]
[output]
path = "release.csv"
"""
SQLITE_RECORDS = {
    **TYPED_RECORDS,
    "not UTF-8": ("CAST(x'636166e9' AS TEXT)", "1011.0", "'x'"),
    "bytes": ("x'ff00'", "x'00'", "zeroblob(9)"),
    "text among numbers": ("7", "'1011.0'", "2024.5"),
    "great": ("9223372036854775807", "-9223372036854775808", "9e999"),
}
POSTGRESQL_RECORDS = {
    "fractional": ("'café'", "1011.50", "'2024-03-31'"),
    "infinite": ("'x'", "'-Infinity'", "'infinity'"),
    "not a number": ("E'a\\n\"'", "'NaN'", "'0044-03-15 BC'"),
    "huge number": ("'*'", "1e4000", "'290000-01-01'"),
    "nulls": ("NULL", "NULL", "NULL"),
}
SOURCES = ("csv", "csv.gz", "tsv", "parquet", "arrow", "jsonl", "jsonl.gz", "sqlite", "postgresql")
RECORDS = {
    **dict.fromkeys(("csv", "csv.gz", "tsv"), CSV_RECORDS),
    **dict.fromkeys(("jsonl", "jsonl.gz"), JSON_RECORDS),
    **dict.fromkeys(("parquet", "arrow"), TYPED_RECORDS),
    "sqlite": SQLITE_RECORDS,
    "postgresql": POSTGRESQL_RECORDS,
}


@pytest.fixture
def place(tmp_path, request):
    """What writes people alike, and records among them, to a source; and gives a recipe that reads it."""

    def write(source, extra, method="dp-sampling"):
        if source == "postgresql":
            chosen = _to_postgresql(request.getfixturevalue("postgresql"), extra)
        elif source == "sqlite":
            chosen = _to_sqlite(tmp_path / "people.db", extra)
        else:
            _TO_FILE[source.removesuffix(".gz")](tmp_path / f"people.{source}", extra)
            chosen = f'path = "people.{source}"'
        text = RECIPE.format(input=chosen, method=method)
        (tmp_path / "recipe.toml").write_text(text, "utf-8")
        return parse_recipe(text, folder=tmp_path)

    return write


def _to_csv(path, extra):
    separator = b"\t" if path.suffix == ".tsv" else b","
    line = "fermière,1011,2024-03-31".encode()
    lines = [b"job,code,day", *[line] * (N_ALIKE // 2), *extra, *[line] * (N_ALIKE // 2), b""]
    _write(path, b"\n".join(lines[:1] + lines[1:]).replace(b",", separator))


def _to_jsonl(path, extra):
    line = json.dumps(dict(zip(("job", "code", "day"), ALIKE, strict=True)), ensure_ascii=False).encode()
    _write(path, b"\n".join([*[line] * (N_ALIKE // 2), *extra, *[line] * (N_ALIKE // 2), b""]))


def _write(path, content):
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def _to_typed(path, extra):
    schema = {"job": pl.String, "code": pl.Float64, "day": pl.String}
    frame = pl.DataFrame([ALIKE] * (N_ALIKE // 2) + list(extra) + [ALIKE] * (N_ALIKE // 2), schema=schema, orient="row")
    frame.write_parquet(path, row_group_size=64) if path.suffix == ".parquet" else frame.write_ipc(path)


def _to_sqlite(path, extra):
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE people (job, code, day)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", [ALIKE] * (N_ALIKE // 2))
        for record in extra:
            is_sql = all(isinstance(cell, str) for cell in record)
            marks = ", ".join(record) if is_sql else "?, ?, ?"
            connection.execute(f"INSERT INTO people VALUES ({marks})", () if is_sql else record)
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", [ALIKE] * (N_ALIKE // 2))
        connection.commit()
    return 'database = "people.db"\ntable = "people"'


def _to_postgresql(server, extra):
    server.run(
        "DROP TABLE IF EXISTS read_rows",
        "CREATE TABLE read_rows (job text, code numeric, day timestamp)",
        f"INSERT INTO read_rows SELECT 'fermière', 1011, '2024-03-31' FROM generate_series(1, {N_ALIKE // 2})",
        *(f"INSERT INTO read_rows VALUES ({', '.join(record)})" for record in extra),
        f"INSERT INTO read_rows SELECT 'fermière', 1011.00, '2024-03-31' FROM generate_series(1, {N_ALIKE // 2})",
    )
    return 'database = "OVERT_TEST_READ_ROWS"\ntable = "read_rows"'


_TO_FILE = {"csv": _to_csv, "tsv": _to_csv, "jsonl": _to_jsonl, "parquet": _to_typed, "arrow": _to_typed}


@pytest.fixture(autouse=True)
def _address(request, monkeypatch):
    if "source" in request.fixturenames and request.getfixturevalue("source") == "postgresql":
        monkeypatch.setenv("OVERT_TEST_READ_ROWS", request.getfixturevalue("postgresql").address())


def command(*words):
    """(exit code, standard output, standard error) of a command."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main([str(word) for word in words])
    return code, out.getvalue(), err.getvalue()


def shown_as(recipe):
    """The most exact labels of all rows that a differentially private recipe reads."""
    prepared = prepare(recipe)
    table, method = prepared.table, prepared.method
    columns = []
    for name in ("job", "code", "day"):
        column, tree = table.column(name), method.trees[name]
        columns.append([tree.chain(column.values[code])[0] for code in column.codes.tolist()])
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize(("source", "record"), [(source, record) for source in SOURCES for record in RECORDS[source]])
def test_one_record_changes_how_no_other_is_read(place, source, record):
    alone = shown_as(place(source, []))
    assert alone == [SHOWN] * N_ALIKE
    together = shown_as(place(source, [RECORDS[source][record]]))
    half = N_ALIKE // 2
    assert together[:half] == together[-half:] == alone[:half] and len(together) > N_ALIKE


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("source", SOURCES)
def test_no_record_makes_a_dp_run_fail_or_changes_what_others_show(place, tmp_path, source, method):
    outcomes = []
    for extra in ([], RECORDS[source].values()):
        recipe = place(source, list(extra), method)
        ledger = ledger_path(recipe.source.base)
        ledger.unlink(missing_ok=True)  # what is said to the owner holds what was spent before
        set_limit(ledger, 100, "0.5")
        code, _, err = command("run", tmp_path / "recipe.toml", "--overwrite", "--report")
        released = pl.read_csv(tmp_path / "release.csv", infer_schema=False, separator="\t" if source == "tsv" else ",")
        assert set(released.iter_rows()) == {SHOWN}  # 200 rows are kept in fewer than k copies with a chance below 1e-9
        stages = [line for line in err.splitlines() if not line.startswith("Compiling")]  # once on a machine
        outcomes.append((code, stages))
    assert outcomes[0][0] == outcomes[1][0] == Exit.DONE and outcomes[0][1] == outcomes[1][1]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("source", SOURCES)
def test_one_value_that_is_not_utf_8_leaves_everybody_elses_label(place, tmp_path, source, method):
    """What declares that its texts are UTF-8 cannot hold another: there a record of unknown cells, which is what such a value becomes, stands in for it."""
    cannot_hold_it = source in ("parquet", "arrow", "postgresql")
    assert cannot_hold_it == ("not UTF-8" not in RECORDS[source])
    extra = RECORDS[source]["nulls" if cannot_hold_it else "not UTF-8"]
    for records in ([], [extra]):
        recipe = place(source, records, method)
        set_limit(ledger_path(recipe.source.base), 100, "0.5")
        assert command("run", tmp_path / "recipe.toml", "--overwrite")[0] == Exit.DONE
        assert "fermière" in (tmp_path / "release.csv").read_text("utf-8")


@pytest.mark.parametrize("source", [source for source in SOURCES if "fractional" in RECORDS[source]])
def test_one_fractional_record_leaves_the_prefixes_of_whole_numbers(place, source):
    labels = {code for _, code, _ in shown_as(place(source, [RECORDS[source]["fractional"]]))}
    assert labels == {"1011", "1011.5"}


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_one_fractional_record_leaves_the_prefixes_of_a_frame(kind):
    method = overt.DpSampling(
        epsilon=1, delta="1e-3", s="0.5", hierarchies={"code": overt.Prefixes(lengths=(3, 2))}, levels=[(0,)]
    )
    for extra in ([], [1011.5]):
        frame = pl.DataFrame({"code": [*[1011] * N_ALIKE, *extra]}, strict=False)
        frame = frame.to_pandas() if kind == "pandas" else frame.to_arrow() if kind == "pyarrow" else frame
        table = overt.read_frame(frame, quasi_identifiers=["code"], row_by_row=True)
        release = method.anonymize(table, rng=np.random.default_rng(0))
        assert release.labels_of_group == {"code": ("1011",)}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("record", ["huge integer", "list"])
def test_one_odd_record_of_json_lines_does_not_end_the_run(place, tmp_path, record, method):
    recipe = place("jsonl", [JSON_RECORDS[record]], method)
    set_limit(ledger_path(recipe.source.base), 100, "0.5")
    assert command("run", tmp_path / "recipe.toml")[0] == Exit.DONE
    assert shown_as(recipe).count(SHOWN) == N_ALIKE


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "extra", [[], [b"caf\xc3\xa9,11 1,\xd9\xa0\xd9\xa1.02.99"], [b"x,1" + b"0" * 90 + b",01.02.\xd9\xa9\xd9\xa9"]]
)
def test_one_date_in_digits_of_another_script_does_not_end_the_run(tmp_path, method, extra):
    line = "fermière,11 455,31.03.24".encode()
    (tmp_path / "people.csv").write_bytes(b"\n".join([b"job,code,day", *[line] * N_ALIKE, *extra, b""]))
    text = RECIPE.format(input='path = "people.csv"', method=method)
    text = text.replace('dates = ["month", "year"] }', 'dates = ["month", "year"] }\nformat = "%d.%m.%y"')
    text = text.replace("levels = [[0, 0, 0]]", "levels = [[0, 1, 1]]")
    (tmp_path / "recipe.toml").write_text(text, "utf-8")
    set_limit(ledger_path(tmp_path / "people.csv"), 100, "0.5")
    assert command("run", tmp_path / "recipe.toml")[0] == Exit.DONE
    released = pl.read_csv(tmp_path / "release.csv", infer_schema=False)
    assert set(released.iter_rows()) == {("fermière", "11 *", "2024-03")}


ODD_TEXTS = [
    "x\0y", "a\nb", "a\rb", 'q"q', '""', "=1+1", "'=1", "@x|y", "\ufeffz", "a\u2028b", "\x1f", "*a", "a*", "a,b", "a;b", "a\tb", "NULL", "0007",
    "\u0663", "e\u0301", "{", "missing", "1..2", "a\\nb", "'", "a  b", "\x7f", "SW 1 4AA",
]  # fmt: skip


@pytest.mark.parametrize(
    "output",
    ['path = "release.csv"', 'path = "release.parquet"', 'path = "release.jsonl"', 'database = "out.db"\ntable = "release"',
     'database = "OVERT_TEST_READ_ROWS"\ntable = "odd_release"'],
)  # fmt: skip
def test_whatever_texts_many_people_share_are_released_and_pass_the_check(tmp_path, request, monkeypatch, output):
    """A run that failed here would have spent its budget, because of what records hold."""
    if "OVERT_TEST" in output:
        monkeypatch.setenv("OVERT_TEST_READ_ROWS", request.getfixturevalue("postgresql").address())
    lines = [json.dumps({"text": text, "sex": "f"}) for text in ODD_TEXTS for _ in range(90)]
    (tmp_path / "people.jsonl").write_text("\n".join(lines), "utf-8")
    (tmp_path / "recipe.toml").write_text(
        f"""version = 1
[input]
path = "people.jsonl"
[columns.text]
role = "quasi-identifier"
hierarchy = {{ prefixes = [3] }}
[columns.sex]
role = "quasi-identifier"
hierarchy = {{ nested = {{ any = ["f", "m"] }} }}
[method]
name = "dp-sampling"
epsilon = 1
delta = 1e-3
s = 0.5
levels = [[1, 0]]
[output]
{output}
""",
        "utf-8",
    )
    set_limit(ledger_path(tmp_path / "people.jsonl"), 100, "0.5")
    assert command("run", tmp_path / "recipe.toml")[0] == Exit.DONE
    place = output.split('"')[1] if output.startswith("path") else "release.manifest.json"
    place = "odd_release.manifest.json" if "odd" in output else place
    code, out, _ = command("check", tmp_path / "people.jsonl", tmp_path / place)
    assert code == Exit.DONE, out


@pytest.mark.parametrize("name", ["release.csv", "release.tsv"])
def test_the_separator_of_the_release_is_not_found_in_the_rows(place, tmp_path, name):
    lines = [b"x;y;z;1,2", b"x|y|z|1"] * 400
    recipe = place("csv", lines)
    (tmp_path / "recipe.toml").write_text(
        (tmp_path / "recipe.toml").read_text("utf-8").replace("release.csv", name), "utf-8"
    )
    set_limit(ledger_path(recipe.source.base), 100, "0.5")
    assert command("run", tmp_path / "recipe.toml")[0] == Exit.DONE
    assert (tmp_path / name).read_text("utf-8").startswith("job\tcode" if name.endswith("tsv") else "job,code")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('path = "people.csv"', 'path = "people.csv"\nencoding = "utf-16"', "one row can change how others are read"),
        ('path = "people.csv"', 'path = "people"', "does not say a format"),
        ('path = "people.csv"', 'database = "people.db"\nquery = "SELECT 1"', "a query can make many rows of one"),
        (
            'path = "people.csv"',
            'database = "people.db"\ntable = "seen"',
            "a query or a view can make many rows of one",
        ),
        ("[columns.job]", "[columns.trade]", "There is no column 'trade'"),
    ],
)
@pytest.mark.parametrize("record", [None, *CSV_RECORDS])
def test_what_cannot_be_read_row_by_row_is_refused_alike_with_any_record_and_costs_nothing(
    place, tmp_path, before, after, words, record
):
    recipe = place("csv", [] if record is None else [CSV_RECORDS[record]])
    (tmp_path / "people").write_bytes((tmp_path / "people.csv").read_bytes())
    _to_sqlite(tmp_path / "people.db", [])
    with closing(sqlite3.connect(tmp_path / "people.db")) as connection:
        connection.execute("CREATE VIEW seen AS SELECT * FROM people")
    changed = (tmp_path / "recipe.toml").read_text("utf-8").replace(before, after)
    (tmp_path / "recipe.toml").write_text(changed, "utf-8")
    paths = [ledger_path(tmp_path / name) for name in (recipe.source.base.name, "people", "query", "seen")]
    for path in paths:
        set_limit(path, 100, "0.5")
    code, _, err = command("run", tmp_path / "recipe.toml", "--quiet")
    assert code in (Exit.DATA, Exit.USAGE) and words in err
    assert not any(read_ledger(path).releases for path in paths)


def test_an_external_database_is_read_as_the_table_is(place, tmp_path):
    recipe = place("jsonl", [JSON_RECORDS["fractional"]])
    pl.DataFrame(
        {"job": ["fermière"] * 400, "code": [1011.0] * 399 + [0.5], "day": ["2024-03-31"] * 400}
    ).write_parquet(tmp_path / "census.parquet")
    text = (
        (tmp_path / "recipe.toml")
        .read_text("utf-8")
        .replace("[output]", 'external = "census.parquet"\nsupport = 300\n[output]')
    )
    (tmp_path / "recipe.toml").write_text(text, "utf-8")
    set_limit(ledger_path(recipe.source.base), 100, "0.5")
    assert command("run", tmp_path / "recipe.toml")[0] == Exit.DONE
    assert "fermière,1011," in (tmp_path / "release.csv").read_text("utf-8")
