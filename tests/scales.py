# SPDX-License-Identifier: Apache-2.0
"""Tables with coins that are known, staged on any engine; and what an engine made of them, in one piece."""

from dataclasses import replace
from itertools import count

import numpy as np
import polars as pl
import pytest

import overt
from overt.engine.scale.local import LocalEngine
from overt.engine.scale.parts_check import Everything
from overt.engine.scale.seam import TablePlace
from overt.engine.scale.staging import BOX_COIN, COIN, SECOND_COIN, Staged
from overt.io.private_folder import PrivateFolder

LOCAL = ["memory", "out-of-core"]
ENGINES = [*LOCAL, pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.xdist_group("spark")])]
_NUMBERS = count()


class Keep:
    """Stage rows as they are."""

    def __call__(self, rows):
        return rows


def engine_named(name, request, tmp_path, fragment_rows=300):
    """An engine whose fragments are small, so that small tables have many."""
    if name == "spark":
        from pyspark import cloudpickle

        from overt.engine.scale.spark import SparkEngine

        cloudpickle.register_pickle_by_value(request.module)  # workers cannot import a test
        return SparkEngine(request.getfixturevalue("spark"), str(tmp_path), fragment_rows)
    return LocalEngine(None if name == "memory" else PrivateFolder(tmp_path), 700, fragment_rows)


def box_coins(n_rows):
    """The coins by which relaxed cuts part people who are alike."""
    return np.random.default_rng(17).integers(0, 2**62, n_rows)


def staged_with_coins(engine, table, coins, folder):
    """A table whose coins were drawn before; the second coin of a row is its position."""
    quasi, sensitive = table.quasi_identifiers, table.sensitive
    names = [f"q{i}" for i in range(len(quasi))] + [f"s{i}" for i in range(len(sensitive))]
    columns = {name: column.codes for name, column in zip(names, (*quasi, *sensitive), strict=True)}
    frame = pl.DataFrame(
        {**columns, COIN: coins.view(np.int64), SECOND_COIN: np.arange(coins.size), BOX_COIN: box_coins(coins.size)}
    )
    file = folder / f"staged-{next(_NUMBERS)}.parquet"
    frame.write_parquet(file)
    place = TablePlace(str(file), "parquet")
    data = engine.stage(engine.open(place, {name: name for name in frame.columns}), Keep(), frame.clear())
    without_rows = tuple(
        replace(column, codes=np.empty(0, np.int32), totals=column.total_of_value) for column in table.columns
    )
    return Staged(engine, data, without_rows, table.n_rows, 0, tuple(column.name for column in table.columns))


def collected(engine, data, like):
    """All rows of what an engine made."""
    return engine.select(data, Everything(), like, 10_000_000)


def as_written(frame):
    """Lines as text, in the order of what they show."""
    return frame.with_columns(pl.all().cast(pl.String)).sort(pl.all())


RECIPE = """
version = 1
[input]
path = "people.{input}"
[columns]
Name = {{ role = "identifier" }}
Age = {{ role = "quasi-identifier" }}
Gender = {{ role = "quasi-identifier" }}
Education = {{ role = "quasi-identifier", hierarchy = {{ prefixes = [3, 1] }} }}
Occupation = {{ role = "sensitive" }}
[[goal]]
property = "l-diversity"
l = 3
[[goal]]
property = "k-anonymity"
k = 3
[method]
{method}
[output]
path = "release.{output}"
{more}
"""
METHODS = {
    "blind-buckets": 'name = "blind-buckets"\ncuts = "strict"',
    "full-domain": 'name = "full-domain"\nmax_suppressed = 0.05',
    "mondrian": 'name = "mondrian"',
    "dealing": 'name = "dealing"',
    "rda": 'name = "rda"',
    "batch-matching": 'name = "batch-matching"',
}


def write_people(folder, n_rows=900, ending="parquet"):
    frame = overt.samples.census(n_rows, seed=3).with_columns(
        pl.Series("Name", [f"Kanarienvogel {i}" for i in range(n_rows)])
    )
    frame = frame.with_columns(pl.when(pl.int_range(pl.len()) % 50 > 0).then("Education").alias("Education"))
    getattr(frame, f"write_{ending}")(folder / f"people.{ending}")
    return frame


def read_parts(folder):
    files = sorted(folder.glob("part-*"))
    read = pl.read_parquet if files[0].suffix == ".parquet" else (lambda file: pl.read_csv(file, infer_schema=False))
    return pl.concat([read(file) for file in files])
