# SPDX-License-Identifier: Apache-2.0
"""Ways to alter a published file or its manifest that a reader would not notice, or would believe.

Each takes the bytes of a file, or the document of a manifest, and returns another, or None where it does not apply.
"""

import gzip
import io
import json
import re
import struct
import zlib

import polars as pl


def _lines(content, change):
    lines = content.decode().split("\n")[:-1]
    changed = change(list(lines))
    return None if changed is None or changed == lines else ("\n".join(changed) + "\n").encode()


def _on_some_line(content, pattern, by):
    """The first line (not the header) in which a pattern occurs, changed there."""
    head, _, rest = content.decode().partition("\n")
    changed, n = re.subn(pattern, by, rest, count=1, flags=re.MULTILINE)
    return (head + "\n" + changed).encode() if n and changed != rest else None


def swap_first_unequal(lines):
    for i in range(1, len(lines) - 1):
        if lines[i] != lines[i + 1]:
            lines[i], lines[i + 1] = lines[i + 1], lines[i]
            return lines
    return None


def reorder_columns(content, separator):
    import csv

    rows = list(csv.reader(io.StringIO(content.decode()), delimiter=separator))
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows([[*row[1:], row[0]] for row in rows])
    return out.getvalue().encode() if len(rows[0]) > 1 else None


def with_separator(content, old, new, *, quoting=0):
    import csv

    out = io.StringIO()
    rows = list(csv.reader(io.StringIO(content.decode()), delimiter=old))
    csv.writer(out, delimiter=new, lineterminator="\n", quoting=quoting).writerows(rows)
    return out.getvalue().encode() if len(rows[0]) > 1 else None


def swap_label_case(content):
    head, _, rest = content.decode().partition("\n")
    changed = re.sub(r"\b(north|south|mild|hard|cold|flu|Ash)\b", lambda m: m[0].swapcase(), rest, count=1)
    return (head + "\n" + changed).encode() if changed != rest else None


TEXT = {
    "byte order mark": lambda b: b"\xef\xbb\xbf" + b,
    "no newline at the end": lambda b: b[:-1],
    "blank line at the end": lambda b: b + b"\n",
    "CRLF everywhere": lambda b: b.replace(b"\n", b"\r\n"),
    "one CRLF": lambda b: b.replace(b"\n", b"\r\n", 2).replace(b"\r\n", b"\n", 1),
    "CRLF at the end": lambda b: b[:-1] + b"\r\n",
    "blank line inside": lambda b: _lines(b, lambda lines: [*lines[:3], "", *lines[3:]]),
    "two lines swapped": lambda b: _lines(b, swap_first_unequal),
    "lines reversed": lambda b: _lines(b, lambda lines: [lines[0], *lines[:0:-1]]),
    "a line twice": lambda b: _lines(b, lambda lines: [*lines[:2], *lines[1:]]),
    "a line less": lambda b: _lines(b, lambda lines: lines[:-1]),
    "label in another case": swap_label_case,
}
SEPARATED = {
    "a first cell quoted": lambda b, s: _on_some_line(b, rf'^([^"{s}\n]+){s}', rf'"\1"{s}'),
    "a last cell quoted": lambda b, s: _on_some_line(b, rf'{s}([^"{s}\n]+)$', rf'{s}"\1"'),
    "header quoted": lambda b, s: re.sub(rb"^(\w+)", rb'"\1"', b),
    "blank at the end of a line": lambda b, s: _on_some_line(b, r"([^\"\n])$", r"\1 "),
    "blank before a cell": lambda b, s: _on_some_line(b, rf"{s}(\w)", rf"{s} \1"),
    "blank before a quote": lambda b, s: _on_some_line(b, rf'{s}"', rf'{s} "'),
    "leading zero": lambda b, s: _on_some_line(b, r"^(\d+)", r"0\1"),
    "plus": lambda b, s: _on_some_line(b, r"^(\d+)", r"+\1"),
    "zero in a range": lambda b, s: _on_some_line(b, r"\.\.(\d+)", r"..0\1"),
    "point": lambda b, s: _on_some_line(b, r"^(\d+)", r"\1.0"),
    "exponent": lambda b, s: _on_some_line(b, r"^(\d)(\d)\b", r"\1.\2e+01"),
    "columns in another order": reorder_columns,
    "another separator": lambda b, s: with_separator(b, s, ";"),
    "everything quoted": lambda b, s: with_separator(b, s, s, quoting=1),
    "wide digit": lambda b, s: _on_some_line(b, r"^\d", lambda m: chr(0xFF10 + int(m[0]))),
    "look-alike letter": lambda b, s: _on_some_line(b, r"o(?=r|u|l)", "\u043e"),
    "blank of no width": lambda b, s: _on_some_line(b, r"([^\"\n])$", "\\1\u200b"),
    "line separator": lambda b, s: b.replace(b"\n", "\u2028\n".encode(), 1),
    "zero byte": lambda b, s: b + b"\0",
    "end of file": lambda b, s: b + b"\x1a",
    "name in another case": lambda b, s: b[:1].swapcase() + b[1:],
    "compressed": lambda b, s: gzip.compress(b, mtime=0),
    "line of separators": lambda b, s: b + s.encode() * b.split(b"\n")[0].count(s.encode()) + b"\n",
    "comment": lambda b, s: b + b"# 1\n",
    "apostrophe": lambda b, s: _on_some_line(b, rf"{s}(\w[^{s}\n]*)$", rf"{s}'\1"),
    "no-break space": lambda b, s: _on_some_line(b, r"([^\"\n])$", "\\1\u00a0"),
}


def _record(content, change):
    lines = content.decode().split("\n")
    document = json.loads(lines[1])
    changed = change(document)
    if changed is None:
        return None
    lines[1] = changed
    return "\n".join(lines).encode()


def _compact(document):
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False)


def _without_null(document):
    empty = [key for key, value in document.items() if value is None]
    return _compact({k: v for k, v in document.items() if k not in empty}) if empty else None


def _numbers_as(document, kind):
    numbers = {k: kind(v) for k, v in document.items() if isinstance(v, int)}
    return _compact({**document, **numbers}) if numbers else None


RECORDS = {
    "keys in another order": lambda b: _record(b, lambda d: _compact(dict(reversed(d.items())))),
    "blanks between keys": lambda b: _record(b, lambda d: json.dumps(d, ensure_ascii=False)),
    "escaped letter": lambda b: _record(
        b, lambda d: re.sub(r':"(\w)', lambda m: f':"\\u{ord(m[1]):04x}', _compact(d), count=1)
    ),
    "blank at the end of a record": lambda b: _record(b, lambda d: _compact(d) + " "),
    "a key twice": lambda b: _record(
        b, lambda d: _compact(d)[:-1] + "," + _compact({k: d[k] for k in [next(iter(d))]})[1:]
    ),
    "a null left out": lambda b: _record(b, _without_null),
    "a key more": lambda b: _record(b, lambda d: _compact({**d, "mark": 1})),
    "numbers as fractions": lambda b: _record(b, lambda d: _numbers_as(d, float)),
    "numbers as text": lambda b: _record(b, lambda d: _numbers_as(d, str)),
}


def _gzip(content, *, level=6, name=b"", mtime=0, extra=b"", comment=b"", os=255):
    flags = 8 * bool(name) | 4 * bool(extra) | 16 * bool(comment)
    head = struct.pack("<BBBBIBB", 31, 139, 8, flags, mtime, 0, os)
    head += struct.pack("<H", len(extra)) + extra if extra else b""
    head += b"".join(part + b"\0" for part in (name, comment) if part)
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    body = packer.compress(content) + packer.flush()
    return head + body + struct.pack("<II", zlib.crc32(content), len(content) & 0xFFFFFFFF)


GZIP = {
    "time": lambda b: b[:4] + struct.pack("<I", 1234567) + b[8:],
    "system": lambda b: b[:9] + b"\x03" + b[10:],
    "extra flags": lambda b: b[:8] + b"\x02" + b[9:],
    "file name": lambda b: _gzip(gzip.decompress(b), name=b"mark"),
    "extra field": lambda b: _gzip(gzip.decompress(b), extra=b"AB\x02\x00hi"),
    "comment": lambda b: _gzip(gzip.decompress(b), comment=b"mark"),
    "empty member": lambda b: b + _gzip(b""),
    "two members": lambda b: _gzip(gzip.decompress(b)[:99]) + _gzip(gzip.decompress(b)[99:]),
    "zeros at the end": lambda b: b + b"\0\0\0",
    "other blocks": lambda b: _gzip(gzip.decompress(b), level=1),
}


def _parquet(content, *, change=lambda frame: frame, **how):
    out = io.BytesIO()
    changed = change(pl.read_parquet(content))
    if changed is None:
        return None
    changed.write_parquet(out, **{"compression": "zstd", "row_group_size": 1 << 18, **how})
    return out.getvalue()


def _arrow(content, *, change=lambda frame: frame, **how):
    out = io.BytesIO()
    changed = change(pl.read_ipc(content))
    if changed is None:
        return None
    changed.write_ipc(out, **{"compat_level": pl.CompatLevel.oldest(), **how})
    return out.getvalue()


def _wider(frame):
    numbers = [name for name, dtype in frame.schema.items() if dtype == pl.Int32]
    return frame.with_columns(pl.col(numbers).cast(pl.Int64)) if numbers else None


def _swap_rows(frame):
    for i in range(frame.height - 1):
        if frame.row(i) != frame.row(i + 1):
            return frame[[*range(i), i + 1, i, *range(i + 2, frame.height)]]
    return None


def _add_blank(frame):
    name = next(name for name, dtype in frame.schema.items() if dtype == pl.String)
    first = pl.int_range(pl.len()) == 1
    return frame.with_columns(pl.when(first).then(pl.col(name) + " ").otherwise(name).alias(name))


COLUMNAR = {
    "categories": lambda f: f.with_columns(pl.col(pl.String).cast(pl.Categorical)),
    "wider numbers": _wider,
    "columns in another order": lambda f: f.select(reversed(f.columns)) if f.width > 1 else None,
    "two rows swapped": _swap_rows,
    "blank in a cell": _add_blank,
    "a row twice": lambda f: pl.concat([f[:1], f]),
    "numbers as text": lambda f: f.with_columns(pl.col(pl.Int32).cast(pl.String)) if pl.Int32 in f.dtypes else None,
}
PARQUET = {
    "metadata": lambda b: _parquet(b, metadata={"mark": "1"}),
    "small row groups": lambda b: _parquet(b, row_group_size=50),
    "other compression": lambda b: _parquet(b, compression="snappy"),
    "no statistics": lambda b: _parquet(b, statistics=False),
    "bytes inside": lambda b: b[:-8] + b"mark" + b[-8:],
    "bytes after the magic": lambda b: b[:4] + b"mark" + b[4:],
} | {name: lambda b, change=change: _parquet(b, change=change) for name, change in COLUMNAR.items()}
ARROW = {
    "compression": lambda b: _arrow(b, compression="zstd"),
    "newer types": lambda b: _arrow(b, compat_level=pl.CompatLevel.newest()),
    "small batches": lambda b: _arrow(b, record_batch_size=50),
} | {name: lambda b, change=change: _arrow(b, change=change) for name, change in COLUMNAR.items()}


def _set(document, *path, value):
    *before, last = path
    inner = document
    for key in before:
        inner = inner[key]
    inner[last] = value
    return document


def _first(document):
    return document["release"][next(iter(document["release"]))]


def _more_rows(document):
    _first(document)["rows"] += 1
    return document


def _other_name(document):
    _first(document)["path"] = "other.csv"
    return document


def _other_strata(document, name):
    method = document["recipe"]["method"]
    return _set(document, "recipe", "method", "strata", value=[name]) if "strata" in method else None


def _another_table(document):
    document["release"]["more"] = dict(_first(document))
    return document


def _without_sensitive(document):
    return document if document["release"].pop("sensitive", None) else None


def _higher_goal(document):
    document["goal"] = [re.sub(r"\d+", "99", goal, count=1) for goal in document["goal"]]
    return document


def _tables_in_another_order(document):
    document["release"] = dict(reversed(document["release"].items()))
    return document if len(document["release"]) > 1 else None


def _recipe_in_another_order(document):
    document["recipe"] = dict(reversed(document["recipe"].items()))
    return document


def _recipe_without_a_default(document):
    del document["recipe"]["output"]["flat"]
    return document


WORDS = {
    "another method": lambda d: _set(d, "method", value="anatomy" if d["method"] != "anatomy" else "mondrian"),
    "method in another case": lambda d: _set(d, "method", value=d["method"].upper()),
    "a higher goal": _higher_goal,
    "a goal more": lambda d: _set(d, "goal", value=[*d["goal"], "0.1-closeness"]),
    "no goal": lambda d: _set(d, "goal", value=[]),
    "more groups": lambda d: _set(d, "groups", value=d["groups"] + 1),
    "fewer groups": lambda d: _set(d, "groups", value=d["groups"] - 1),
    "more rows": _more_rows,
    "another name of a file": _other_name,
    "another table": _another_table,
    "a table less": _without_sensitive,
    "tables in another order": _tables_in_another_order,
    "from the future": lambda d: _set(d, "created", value="2999-01-01T00:00:00Z"),
    "microseconds": lambda d: _set(d, "created", value=d["created"].replace("Z", ".123456Z")),
    "another time zone": lambda d: _set(d, "created", value=d["created"].replace("Z", "+01:00")),
    "a version of words": lambda d: _set(d, "versions", "polars", value="mark"),
    "a long version": lambda d: _set(d, "versions", "polars", value="1." + "7" * 200),
    "a package more": lambda d: _set(d, "versions", "mark", value="1.0"),
    "a package less": lambda d: (d["versions"].pop("numba"), d)[1],
    "versions in another order": lambda d: _set(d, "versions", value=dict(reversed(d["versions"].items()))),
    "the recipe in another order": _recipe_in_another_order,
    "the recipe without a default": _recipe_without_a_default,
    "another name of the input": lambda d: _set(d, "recipe", "input", "path", value="mark.csv"),
    "an ending of the input that says something": lambda d: _set(d, "recipe", "input", "path", value="input.mark"),
    "a private recipe without its separator": lambda d: (
        None if "id" not in d else (d["recipe"]["input"].pop("separator"), d)[1]
    ),
    "an id that says something": lambda d: _set(d, "id", value="mark" + d["id"][4:]) if "id" in d else None,
    "a release without a name": lambda d: _set(d, "recipe", "output", "path", value=""),
    "strata that are no columns": lambda d: _other_strata(d, "mark"),
    "strata that are mixed": lambda d: _other_strata(d, "city"),
    "something left out": lambda d: _set(d, "left_out", value=[*d["left_out"], ["columns", "age"]]),
}
OF_PRIVATE = (  # those that a private manifest can have too
    "another method", "from the future", "microseconds", "another time zone", "a version of words", "a long version", "a package more", "a package less",
    "versions in another order", "the recipe in another order", "another name of the input", "an ending of the input that says something",
    "a private recipe without its separator", "an id that says something",
)  # fmt: skip
SPELLINGS = {
    "blank at the end": lambda text: text + " ",
    "no newline at the end": lambda text: text[:-1],
    "two blanks": lambda text: text.replace(": ", ":  ", 1),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "one line": lambda text: json.dumps(json.loads(text)) + "\n",
    "keys in another order": lambda text: json.dumps(dict(reversed(json.loads(text).items())), indent=2) + "\n",
    "escaped letter": lambda text: text.replace('"overt"', '"\\u006fvert"', 1),
    "a key twice": lambda text: text.replace('  "audience": "public",\n', '  "audience": "public",\n' * 2),
}
