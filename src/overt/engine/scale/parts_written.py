# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_altered_parts.py
"""How the parts of a release are written: which files there are, in which order lines stand, how cells are spelt.

Lines in another order, a file more, a blank or a quote that a reader skips could each mark a person or carry a message. Every part is
read, written again from what it means, and compared byte for byte, one at a time. Spark writes its own bytes; of its parts the spelling of
cells is compared.
"""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from overt.checks import Claim, Finding
from overt.checks.findings import AGAIN
from overt.checks.generalized import ShownColumn
from overt.checks.published_lines import Key, Shared, are_in_order
from overt.checks.reading import UNKNOWN, Texts, read_values
from overt.checks.spelling import rewrite
from overt.engine.scale.parts import MANIFEST, REPORT, are_plain, parts_of
from overt.engine.scale.parts_check import BUCKET, PublishedParts
from overt.io.encoding import values_as_came
from overt.io.files import read_release
from overt.io.formats import write_frame
from overt.io.own_content import in_own_type
from overt.table import Codes, Column, Table

_BY_SPARK = re.compile(
    r"part-\d{5}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-c\d{3})?(\.snappy|\.zstd|\.gz)?\.(csv|parquet)"
)


def find_files(folder: Path, tables: Sequence[PublishedParts]) -> Finding:
    """Whether the folder holds the parts of its tables, numbered without gaps, the manifest, and nothing else."""
    there = {path.name for path in folder.iterdir()}
    unasked = there - {MANIFEST, *REPORT, *(table.name for table in tables)}
    n_unasked = len(unasked) + (not are_plain(folder, [table.name for table in tables]))
    for table in tables:
        parts = sorted((folder / table.name).iterdir())
        ours = [f"part-{i:05}.{table.place.format}" for i in range(1, len(parts) + 1)]
        is_ours = [path.name for path in parts] == ours or all(_BY_SPARK.fullmatch(path.name) for path in parts)
        n_unasked += not is_ours
    if n_unasked:
        return Finding(
            "files",
            False,
            f"The folder holds files or folders that are no parts of the release, or are not called like parts. {AGAIN}",
        )
    if there & set(REPORT):
        return Finding(
            "files",
            True,
            "The folder holds the parts of the release, its manifest, and nothing else but a public report, which is not checked.",
        )
    return Finding("files", True, "The folder holds the parts of the release, its manifest, and nothing else.")


def find_written(
    folder: Path, tables: Sequence[PublishedParts], original: Table, claim: Claim, by_level: Sequence[str] = ()
) -> tuple[Finding, Finding]:
    """Whether lines are in order, and cells spelt, as in a release; of parts that were written on this machine, whether every byte is."""
    n_parts, n_of_spark, out_of_order, misspelt = 0, 0, 0, 0
    as_written = partial(_as_written, _types_of_published(folder, tables, original))
    with tempfile.TemporaryDirectory(prefix="overt-check-") as made:
        for table, path, frame in _frames(folder, tables):
            n_parts += 1
            rewritten = rewrite(original, {_called(table): frame}, claim, as_written, by_level=by_level)
            is_of_spark = _BY_SPARK.fullmatch(path.name) is not None
            own_way = _written_by_spark_in_its_own_way(table) if is_of_spark else set()
            if rewritten.tables is None or any(n for name, n in rewritten.n_misspelt.items() if name not in own_way):
                misspelt += 1
            elif is_of_spark:
                n_of_spark += 1
            if rewritten.tables is None or is_of_spark:
                continue
            out_of_order += not are_in_order(_keys(table, frame, claim))
            anew = Path(made) / "anew"
            _write(table, rewritten.tables[_called(table)].select(_in_order(table, original)), anew)
            misspelt += anew.read_bytes() != path.read_bytes() and not any(rewritten.n_misspelt.values())
    return _find_order(out_of_order, n_of_spark), _find_spelling(misspelt, n_parts, n_of_spark)


def _find_order(n_wrong: int, n_of_spark: int) -> Finding:
    if n_wrong:
        return Finding(
            "order",
            False,
            f"In {n_wrong:,} parts lines are not in the order of what they show, which could tell who they are. {AGAIN}",
        )
    if n_of_spark:
        return Finding("order", True, "Not checked: Spark may put several pieces, each in order, into one part.")
    return Finding("order", True, "The lines of every part are in the order of what they show.")


def _find_spelling(n_wrong: int, n_parts: int, n_of_spark: int) -> Finding:
    if n_wrong:
        return Finding(
            "spelling",
            False,
            f"{n_wrong:,} of {n_parts:,} parts are not written as a part that means the same is: the order of columns, quotes, blanks, line ends, "
            f"other spellings or what a reader skips could carry a message. {AGAIN}",
        )
    if n_of_spark:
        return Finding(
            "spelling",
            True,
            "Every cell is spelt in the one way in which a release spells it. The bytes that Spark writes were not compared.",
        )
    return Finding("spelling", True, "The parts are, byte for byte, what is written of a release that means the same.")


def _frames(folder: Path, tables: Sequence[PublishedParts]) -> Iterator[tuple[PublishedParts, Path, pl.DataFrame]]:
    for table in tables:
        for path in parts_of(folder / table.name):
            how = {"format": table.place.format, "neutralised": table.place.neutralised, "tells_empty": True}
            separator = table.place.separator if table.place.format == "csv" else None
            yield table, path, read_release(path, separator=separator, **how)  # type: ignore[arg-type]


def _called(table: PublishedParts) -> str:
    """A name by which a check of files in memory knows a table of this kind."""
    if table.is_exact:
        return table.name
    return "release" if not table.has_buckets else "boxes" if table.quasi else "sensitive"


def _keys(table: PublishedParts, frame: pl.DataFrame, claim: Claim) -> list[Key]:
    """What lines are ordered by: boxes and then their buckets, or buckets and then their values."""
    boxes = () if table.is_exact else table.quasi
    shown = [ShownColumn.read(c, frame.get_column(c.name), claim.show.get(c.name)).key for c in boxes]
    values = [Shared.of_column(column, frame.get_column(column.name)).key for column in table.sensitive]
    if not table.has_buckets:
        return [*shown, *values]
    if table.is_exact:
        values = [Shared.of_column(column, frame.get_column(column.name)).key for column in table.quasi]
    number = frame.get_column(BUCKET).cast(pl.String).cast(pl.Int32).to_numpy()
    return [*shown, Key(number, int(number.max(initial=0)) + 1), *values]


def _types_of_published(folder: Path, tables: Sequence[PublishedParts], original: Table) -> dict[str, pl.DataType]:
    """(sensitive column) -> the type that follows from the values of all parts, where no source declares one."""
    values = {column.name: values_as_came(column).alias(column.name) for column in original.sensitive}
    found = {n: of[:0] for n, of in values.items() if in_own_type(of.clear(), original).dtype != of.dtype}
    for _, _, frame in _frames(folder, tables) if found else ():
        for name in found.keys() & set(frame.columns):
            codes = read_values(Texts.of(frame.get_column(name)).distinct, values[name])
            found[name] = pl.concat([found[name], values[name].gather(codes[codes != UNKNOWN])]).unique()
    return {name: in_own_type(shown, original).dtype for name, shown in found.items()}


def _as_written(types: Mapping[str, pl.DataType], column: Column, codes: Codes) -> pl.Series:
    """Sensitive values as an engine writes them: of the type that came in or follows from what is published, categories as text."""
    values = values_as_came(column)
    values = values.cast(pl.String) if isinstance(values.dtype, pl.Categorical | pl.Enum) else values
    return values.gather(codes).cast(types.get(column.name, values.dtype))


def _written_by_spark_in_its_own_way(table: PublishedParts) -> set[str]:
    """Columns of fractions, which Spark spells otherwise in files of text."""
    return {c.name for c in table.sensitive if c.values.dtype.is_float()} if table.place.format == "csv" else set()


def _in_order(table: PublishedParts, original: Table) -> list[str]:
    return [name for name in (BUCKET, *original.order) if name in table.wanted]


def _write(table: PublishedParts, frame: pl.DataFrame, path: Path) -> None:
    if table.has_buckets:
        frame = frame.with_columns(pl.col(BUCKET).cast(pl.Int64))
    write_frame(
        frame,
        path,
        file_format=table.place.format,
        compress=False,
        separator=table.place.separator,
        neutralise_formulas=table.place.neutralised,
    )
