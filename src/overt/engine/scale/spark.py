# SPDX-License-Identifier: Apache-2.0
"""The Spark engine: PySpark 4, classic and Connect, by its DataFrame API alone.

Staged rows are Parquet in a private folder that all executors reach. Nothing random is asked of Spark, and no number that it makes up: a task
that is tried again would get others, and rows would be lost or doubled (SPARK-38160, SPARK-23243). What is secret, coins above all, travels
in rows and in the pickled steps, never as a literal of a query, which plans and event logs repeat. A step that fails on an executor says what
failed and not with which cell: Spark writes tracebacks to its logs.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from overt.engine.scale.catalog import SparkCatalog
from overt.engine.scale.csv_files import files_of, names_of_csv, read_csv_files
from overt.engine.scale.seam import (
    FRAGMENT,
    FRAGMENT_ROWS,
    MOST_COUNTED,
    ROW,
    Count,
    FragmentOf,
    MakeRows,
    Place,
    RowBatch,
    TablePlace,
    WorkOnFragment,
    read_types,
)
from overt.engine.scale.spark_session import require_spark, staging_folder
from overt.errors import InvalidData, InvalidInput, OvertError, TooLarge, Unreachable
from overt.io.private_folder import PrivateFolder

FAILED = "overt-step-failed"
_KINDS: dict[str, type[OvertError]] = {
    kind.__name__: kind for kind in (InvalidInput, InvalidData, TooLarge, Unreachable)
}
MOST_TASKS = 1 << 10  # that read files
CSV_BATCH = 1 << 17  # rows


class StepFailed(RuntimeError):
    """A step failed on an executor. What is said of it holds no value of the data."""


@dataclass(frozen=True, eq=False)
class Guarded:
    """A step that never tells, when it fails, what it was working on."""

    step: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        try:
            yield from self.step(*arguments)
        except StepFailed:
            raise
        except BaseException as error:
            raise StepFailed(sentence_of_failure(self.step, error)) from None


def sentence_of_failure(step: Any, error: BaseException) -> str:
    """What failed; our own sentences are repeated, since they hold no value."""
    said = str(error) if isinstance(error, OvertError) else "please report this as a bug in Overt"
    for inner in ("make", "count", "fragment_of"):  # the step that was asked for, and not what hands it batches
        step = getattr(step, inner, step)
    return f"{FAILED}|{type(error).__name__}|{type(step).__name__}|{said}|{FAILED}"


@dataclass(frozen=True, eq=False)
class EachBatch:
    """`make` on every batch of a partition."""

    make: MakeRows

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            if batch.num_rows:
                yield from to_arrow(self.make(from_arrow(batch)))


@dataclass(frozen=True, eq=False)
class EachPartition:
    """`count` on all batches of a partition."""

    count: Count

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for counted in self.count(from_arrow(batch) for batch in batches if batch.num_rows):
            yield from to_arrow(counted)


@dataclass(frozen=True, eq=False)
class EachFile:
    """The rows of the CSV files with some numbers."""

    place: TablePlace
    files: tuple[str, ...]
    names: Mapping[str, str]
    is_numbered: bool

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in from_arrow(batch).get_column("id").to_list():
                file = Path(self.files[number])
                if not file.is_file():
                    raise InvalidInput(f"The executors cannot reach {file.name}; put it into a folder that they share.")
                for rows in read_csv_files(self.place, [file], self.names, CSV_BATCH, is_numbered=self.is_numbered):
                    yield from to_arrow(rows)


@dataclass(frozen=True, eq=False)
class WithFragment:
    """Rows with the number of their fragment."""

    fragment_of: FragmentOf

    def __call__(self, rows: RowBatch) -> RowBatch:
        return rows.with_columns(pl.Series(FRAGMENT, self.fragment_of(rows).astype(np.int32)))


@dataclass(frozen=True, eq=False)
class EachFragment:
    """`work` on all rows of a fragment."""

    work: WorkOnFragment

    def __call__(self, key: Any, table: Any) -> Any:
        os.environ["OVERT_THREADS"] = "1"  # an executor has its tasks in parallel already
        try:
            import pyarrow as pa

            rows = from_arrow(table)
            found = list(to_arrow(self.work(key[0].as_py(), rows.drop(FRAGMENT))))
            return pa.Table.from_batches(found)
        except BaseException as error:
            raise StepFailed(sentence_of_failure(self.work, error)) from None


def from_arrow(batch: Any) -> RowBatch:
    """A batch of Arrow as a frame; moments, which Spark hands over in the time zone of its session, in UTC."""
    rows = pl.DataFrame(pl.from_arrow(batch))
    wanted = read_types(rows.schema)
    return rows if wanted == dict(rows.schema) else rows.cast(wanted)  # type: ignore[arg-type]


def to_arrow(rows: RowBatch) -> Iterator[Any]:
    """A frame as batches of Arrow with the plain types that Spark expects."""
    import pyarrow as pa

    table = rows.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    plain = pa.schema([pa.field(field.name, _plain(field.type)) for field in table.schema])
    yield from table.cast(plain).combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema=plain)]


def _plain(kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        return pa.string()
    return pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else kind


class SparkEngine:
    """A session of Spark. `staging` is a folder that the driver and all executors reach under the same name."""

    name = "spark"

    def __init__(self, session: Any, staging: str | None = None, fragment_rows: int = FRAGMENT_ROWS) -> None:
        self.fragment_rows = fragment_rows
        require_spark()
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        self.session = session
        self.workspace = PrivateFolder(staging_folder(staging))

    @property
    def catalog(self) -> SparkCatalog:
        return SparkCatalog(self.session, self._failing)

    def columns(self, place: Place) -> Mapping[str, pl.DataType]:
        if place.format == "csv":
            return dict.fromkeys(names_of_csv(place.in_files()), pl.String())
        known = from_arrow(self._failing(lambda: self._read(place).limit(0).toArrow())).schema
        told = _types_that_spark_forgets(place.in_files()) if place.format == "parquet" else {}
        return {name: told.get(name, t) for name, t in known.items()}

    def open(self, place: Place, names: Mapping[str, str], *, is_numbered: bool = False) -> Any:
        from pyspark.sql import functions as F  # noqa: N812 (as everybody calls it)

        if is_numbered and place.file is None:
            raise InvalidInput(
                "The people of a pilot are left out by their position, which Spark knows of one file only; write the data to one, or use the "
                "engine 'out-of-core'."
            )
        if place.format == "csv":
            place = place.in_files()
            files = tuple(map(str, files_of(place)))
            like = pl.DataFrame(schema={**dict.fromkeys(names, pl.String), **({ROW: pl.Int64} if is_numbered else {})})
            numbers = self.session.range(0, len(files), 1, min(len(files), MOST_TASKS))
            return self._map(numbers, EachFile(place, files, dict(names), is_numbered), like)
        chosen = [F.col(f"`{name.replace('`', '``')}`").alias(alias) for alias, name in names.items()]
        if is_numbered:
            chosen.append(F.col("_metadata.row_index").alias(ROW))
        return self._read(place).select(*chosen)

    def only(self, data: Any, names: Sequence[str]) -> Any:
        return data.select(*names)

    def numbers(self, n: int) -> Any:
        from pyspark.sql import functions as F  # noqa: N812

        return self.session.range(n).select(F.col("id").alias("number"))

    def stage(self, data: Any, make: MakeRows, like: RowBatch) -> Any:
        return self._kept(self._map(data, EachBatch(make), like), like)

    def histogram(self, data: Any, count: Count, like: RowBatch) -> RowBatch:
        from pyspark.sql import functions as F  # noqa: N812

        keys = [name for name in like.columns if name != "n"]
        counted = self._map(data, EachPartition(count), like)
        summed = counted.groupBy(*keys).agg(F.sum("n").alias("n")).limit(MOST_COUNTED + 1)
        return self._collected(summed, like, MOST_COUNTED)

    def select(self, data: Any, choose: MakeRows, like: RowBatch, most: int) -> RowBatch:
        return self._collected(self._map(data, EachBatch(choose), like).limit(most + 1), like, most)

    def apply(self, data: Any, number: FragmentOf, work: WorkOnFragment, like: RowBatch) -> Any:
        from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

        numbered = self._failing(lambda: to_arrow_schema(data.schema))
        here = pl.DataFrame(pl.from_arrow(numbered.empty_table())).with_columns(pl.lit(0, pl.Int32).alias(FRAGMENT))
        with_fragment = self._map(data, EachBatch(WithFragment(number)), here.clear())
        each = EachFragment(work)

        def of_fragment(key: Any, table: Any) -> Any:
            return each(key, table)

        return with_fragment.groupBy(FRAGMENT).applyInArrow(of_fragment, from_arrow_schema(_arrow_schema(like)))

    def write(self, data: Any, folder: Path, file_format: str, separator: str) -> None:
        folder.mkdir()
        writer = data.write.mode("append")
        if file_format == "csv":
            writer = (
                writer.option("header", True).option("sep", separator).option("escape", '"').option("emptyValue", '""')
            )
            writer = writer.option("timestampNTZFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSSSS")
        self._failing(lambda: getattr(writer, file_format)(folder.resolve().as_uri()))
        for path in folder.iterdir():
            if not path.name.startswith("part-"):
                path.unlink()

    def close(self) -> None:
        self.workspace.close()

    def _kept(self, data: Any, like: RowBatch) -> Any:
        from pyspark.sql.pandas.types import from_arrow_schema

        folder = str(self.workspace.new_folder())
        self._failing(lambda: data.write.mode("error").parquet(folder))
        return self.session.read.schema(from_arrow_schema(_arrow_schema(like))).parquet(folder)

    def _map(self, data: Any, step: Callable[..., Any], like: RowBatch) -> Any:
        from pyspark.sql.pandas.types import from_arrow_schema

        guarded = Guarded(step)

        def of_partition(batches: Any) -> Any:
            return guarded(batches)

        return data.mapInArrow(of_partition, from_arrow_schema(_arrow_schema(like)))

    def _collected(self, data: Any, like: RowBatch, most: int) -> RowBatch:
        found = pl.DataFrame(pl.from_arrow(self._failing(data.toArrow)))
        if found.height > most:
            raise TooLarge(
                f"More than {most:,} things would have to be looked at together. Round numbers, shorten codes, or use fewer columns."
            )
        return found.select(like.columns).cast(dict(like.schema))  # type: ignore[arg-type]

    def _read(self, place: Place) -> Any:
        return self._failing(lambda: place.on_spark(self.session))

    def _failing(self, run: Callable[[], Any]) -> Any:
        """Run something on Spark; if it fails, say what is known of it without the words of Spark, which quote cells."""
        try:
            return run()
        except OvertError:
            raise
        except Exception as error:
            raise refusal_of(error) from None


def refusal_of(error: Exception) -> OvertError:
    """What to say of a failure of Spark."""
    text = str(error)
    if FAILED in text:
        kind, step, said = text.split(FAILED)[1].strip("|").split("|", 2)
        if kind in _KINDS:
            return _KINDS[kind](said)
        if kind in ("ModuleNotFoundError", "ImportError"):
            return InvalidInput(
                f"The step {step} needs a package that the executors lack; install overt and what it needs there."
            )
        return OvertError(f"The step {step} failed on an executor ({kind}); {said}.")
    if "No module named 'overt'" in text:
        return InvalidInput("The executors have no overt; install it there, in the Python that they run.")
    condition = ""
    with suppress(Exception):
        condition = str(getattr(error, "getCondition", lambda: "")() or "")
    named = f" ({condition})" if condition else ""
    return OvertError(
        f"Spark could not do that: {type(error).__name__}{named}. Its own log says more, for the owner alone."
    )


def _types_that_spark_forgets(place: TablePlace) -> dict[str, pl.DataType]:
    """The columns of Parquet files whose categories have an order, or whose moments a time zone; none where the driver cannot reach the files."""
    path = Path(place.path.removeprefix("file://"))
    files = sorted(path.glob("part-*")) if path.is_dir() else [path] if path.is_file() else []
    if not files:
        return {}
    known = pl.read_parquet_schema(files[0])
    zoned = {n: pl.Datetime("us", t.time_zone) for n, t in known.items() if isinstance(t, pl.Datetime) and t.time_zone}
    return {**zoned, **{name: t for name, t in known.items() if isinstance(t, pl.Enum)}}


def _arrow_schema(like: RowBatch) -> Any:
    return next(to_arrow(like)).schema
