# SPDX-License-Identifier: Apache-2.0
# Tested through tests/analysis/test_estimates.py
"""A release as an analyst has it: its files or frames, and what its public manifest says. Nothing of what its owner knows."""

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import getitem
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.analysis.read_columns import ReadColumn, members_of
from overt.analysis.strata_shown import components, find_strata
from overt.errors import InvalidInput
from overt.io.files import read_release
from overt.io.flat import BUCKET
from overt.io.manifest import SUFFIX, Manifest, manifest_path, read_manifest
from overt.io.publication import SHUFFLED, published_tables
from overt.io.recipe.recipe import Recipe, understand
from overt.io.recipe.settings import DatabaseOutput
from overt.method import Method
from overt.metrics.blind_deal import BlindDeal
from overt.release import Release


@dataclass(frozen=True, eq=False)
class PublishedRelease:
    """Every line's box and bucket, and the values of every bucket, as published."""

    quasi_identifiers: tuple[ReadColumn, ...]
    sensitive: tuple[pl.Series, ...]  # the different values of every sensitive column, as texts or as they came
    code_of_value: NDArray[np.int64]  # (sensitive column, combination of values) -> which of its values
    bucket_of_row: NDArray[np.int64]
    bucket_of_value_row: NDArray[np.int64]
    value_of_value_row: NDArray[np.int64]  # the combination in every line of values
    method: Method
    has_labels: bool  # whether a column may show labels of a hierarchy
    boxes_are_buckets: bool

    @property
    def n_rows(self) -> int:
        """How many people are in the release."""
        return self.bucket_of_row.size

    def column(self, name: str) -> ReadColumn:
        """A quasi-identifier as it is shown."""
        return next(column for column in self.quasi_identifiers if column.name == name)

    def cells(self, name: str) -> pl.DataFrame:
        """What a quasi-identifier shows: every cell, and in how many lines it stands."""
        known = [column.name for column in self.quasi_identifiers]
        if name not in known:
            raise InvalidInput(f"There is no quasi-identifier {name!r}; there are {', '.join(map(repr, known))}.")
        column = self.column(name)
        return pl.DataFrame({name: [cell.text for cell in column.cells], "rows": column.n_of_cell}).sort(
            "rows", name, descending=[True, False]
        )

    @cached_property
    def box_of_row(self) -> NDArray[np.int64]:
        """The lines that show the same cells."""
        number = np.zeros(self.n_rows, np.int64)
        for column in self.quasi_identifiers:
            number = np.unique(number * len(column.cells) + column.cell_of_row, return_inverse=True)[1].reshape(-1)
        return number

    @cached_property
    def stratum_of_bucket(self) -> NDArray[np.int64] | None:
        """The stratum of every bucket, or None if boxes do not show it.

        Boxes of two strata can look alike if they show labels or a grid. Then as many strata must be found as there can be. Where boxes are
        exact, those with a box in common are the strata: blind deals bring all buckets of a stratum together in this way, unless it is
        tiny, and then parts of it are strata as good.
        """
        n_buckets = int(self.bucket_of_row.max(initial=-1)) + 1
        if self.boxes_are_buckets:
            return np.arange(n_buckets)
        most = self.method.most_strata or 0
        if most == 1:
            return np.zeros(n_buckets, np.int64)
        if not self._may_look_alike:
            return components(self.bucket_of_row, self.box_of_row)
        if most == 0:  # one for each combination of some columns' values
            shown = [self.column(name) for name in self.method.strata]
            if not all(column.shows_single_values for column in shown):
                return None
            return components(self.bucket_of_row, self.box_of_row)
        return find_strata(self.bucket_of_row, self.box_of_row, self.quasi_identifiers, most)

    @property
    def _may_look_alike(self) -> bool:
        """Whether boxes of two strata may show the same cells."""
        is_ordered = any(column.scale != "categories" for column in self.quasi_identifiers)
        return self.has_labels or (is_ordered and self.method.shows == "grid")

    @cached_property
    def deal(self) -> BlindDeal:
        """The buckets as a model of where values went; of unknown strata as if there were one, which only `even` answers and bounds may use."""
        n_values = self.code_of_value.shape[1]
        keys, counts = np.unique(self.bucket_of_value_row * n_values + self.value_of_value_row, return_counts=True)
        stratum = self.stratum_of_bucket
        if stratum is None:
            stratum = np.zeros(int(self.bucket_of_row.max()) + 1, np.int64)
        return BlindDeal(self.bucket_of_row, keys // n_values, keys % n_values, counts, n_values, stratum)


def open_release(
    release: Any, *, made_by: Method | None = None, sensitive: Collection[str] = (), others: Collection[str] = ()
) -> PublishedRelease:
    """A release to be analysed: the path of its file (its manifest lies beside), or what `publish` gave.

    Parameters
    ----------
    release
        The path of the (first) file of a release or of its manifest; a `Release`; or one or two frames.
    made_by
        Of frames: the method, which the manifest or the publisher names.
    sensitive
        Of one frame: the columns of sensitive values.
    others
        Of frames: columns without a role, which are left aside.


    >>> import overt
    >>> table = overt.read_frame(overt.samples.hospital(), quasi_identifiers=["Sex"], sensitive=["Disease"])
    >>> method = overt.BlindBuckets(goal=overt.FrequencyLDiversity(3))
    >>> opened = open_release(method.anonymize(table, rng=overt.secret_generator()))
    >>> overt.estimate(opened, by="Sex")["even"].sum()
    96.0

    """
    if isinstance(release, PublishedRelease):
        return release
    if isinstance(release, Release):
        table = release.table
        if table.has_bundles:
            raise InvalidInput(
                "Persons of this release have several rows, which were dealt together; estimates are made where a row is a person."
            )
        has_labels = any(column.hierarchy is not None for column in table.quasi_identifiers)
        names = [column.name for column in table.sensitive]
        return _opened(published_tables(release), release.method, names, has_labels=has_labels)
    if isinstance(release, str | Path):
        return _from_files(Path(release))
    frames = list(release) if isinstance(release, list | tuple) else [release]
    if made_by is None:
        raise InvalidInput("A frame does not say how it was made; name the method under made_by, as its manifest does.")
    tables = [nw.from_native(frame, eager_only=True).to_polars() for frame in frames]
    tables = [table.drop(others, strict=False) for table in tables]
    named = dict(zip(("boxes", "sensitive") if len(tables) > 1 else ("release",), tables, strict=True))
    if len(tables) > 1:
        sensitive = [name for name in named["sensitive"].columns if name != BUCKET]
    return _opened(named, made_by, sensitive, has_labels=True)


def _from_files(path: Path) -> PublishedRelease:
    beside = path if path.name.endswith(SUFFIX) else manifest_path(path)
    manifest = read_manifest(beside)
    recipe = _public_recipe(manifest, beside)
    output = recipe.settings.output
    if isinstance(output, DatabaseOutput):
        raise InvalidInput(f"{beside.name} is that of tables in a database; read them as frames and give those.")
    first, *rest = manifest.release
    files = {first: beside.with_name(beside.name.removesuffix(SUFFIX))}
    files |= {name: beside.parent / manifest.release[name].path for name in rest}
    tables = {
        name: read_release(file, format=output.format, neutralised=output.neutralise_formulas).drop(
            output.others, strict=False
        )
        for name, file in files.items()
    }
    may_hide = bool(recipe.hierarchies) or not {"grid", "label"}.isdisjoint(recipe.choices("show").values())
    return _opened(tables, recipe.method, recipe.columns_of("sensitive"), has_labels=may_hide)


def _public_recipe(manifest: Manifest, path: Path) -> Recipe:
    """The recipe without what the manifest leaves out, which nothing here needs."""
    content = deepcopy(manifest.recipe)
    for *before, last in manifest.left_out:
        if last == "query":
            reduce(getitem, before, content)[last] = "SELECT"
        else:
            *above, hierarchy = before
            content_of_column = reduce(getitem, above, content)
            content_of_column[hierarchy] = {"flat": True}
    return understand(content, folder=path.parent, name=path.name)


def _opened(
    tables: Mapping[str, pl.DataFrame], method: Method, sensitive: Collection[str], *, has_labels: bool
) -> PublishedRelease:
    if method.most_strata is None:
        raise InvalidInput(
            f"{type(method).__name__} does not deal values blind, so that the law of what its releases show is not known; "
            "estimates are made from releases of BlindBuckets."
        )
    people, *more = tables.values()
    names = list(sensitive)
    if not names:
        raise InvalidInput("Which columns are sensitive cannot be seen in one frame; name them under `sensitive`.")
    missing = [name for name in names if not any(name in table.columns for table in tables.values())]
    if missing:
        raise InvalidInput(f"The release has no column {missing[0]!r}; its columns are {', '.join(people.columns)}.")
    number = next((name for name in (BUCKET, SHUFFLED) if name in people.columns), None)
    shown = [name for name in people.columns if name not in {*names, number}]
    columns = tuple(ReadColumn.of(name, people.get_column(name)) for name in shown)
    if number is None:  # every group is its own bucket
        boxes = people.select(shown).with_columns(pl.all().cast(pl.String))
        bucket_of_row = boxes.select(pl.struct(shown).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
        values, bucket_of_value = people.select(names), bucket_of_row
    else:
        bucket_of_row = people.get_column(number).cast(pl.String).cast(pl.Int64).to_numpy() - 1
        if more:
            values, bucket_of_value = (
                more[0].select(names),
                more[0].get_column(number).cast(pl.String).cast(pl.Int64).to_numpy() - 1,
            )
        elif number == SHUFFLED:
            values, bucket_of_value = people.select(names), bucket_of_row
        else:
            values, bucket_of_value = _unfolded(people, names)
    sizes = [np.bincount(of, minlength=1) for of in (bucket_of_row, bucket_of_value)]
    if sizes[0].size != sizes[1].size or (sizes[0] != sizes[1]).any() or not sizes[0].all():
        raise InvalidInput(
            "The buckets of the release do not have as many people as values: its files are not of one release, or its persons have several rows, "
            "from which nothing is estimated."
        )
    different, code_of_value, value_of_row = _combinations(values)
    return PublishedRelease(
        columns,
        different,
        code_of_value,
        bucket_of_row,
        bucket_of_value,
        value_of_row,
        method,
        has_labels,
        number is None,
    )


def _unfolded(flat: pl.DataFrame, names: Sequence[str]) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """The values of every bucket from the lists that each of its lines shows."""
    lists = flat.select(BUCKET, *names).with_columns(pl.col(names).cast(pl.String)).unique(BUCKET, maintain_order=True)
    members = [[members_of(text) if text is not None else [None] for text in lists.get_column(name)] for name in names]
    lengths = [list(map(len, of_column)) for of_column in members]
    if any(length != lengths[0] for length in lengths):
        raise InvalidInput(
            "The lists of values of a bucket have different lengths; the file is not a flat release of ours."
        )
    values = {
        name: [value for listed in of_column for value in listed]
        for name, of_column in zip(names, members, strict=True)
    }
    bucket = lists.get_column(BUCKET).cast(pl.String).cast(pl.Int64).to_numpy() - 1
    return pl.DataFrame(values, schema=dict.fromkeys(names, pl.String)), np.repeat(bucket, lengths[0])


def _combinations(values: pl.DataFrame) -> tuple[tuple[pl.Series, ...], NDArray[np.int64], NDArray[np.int64]]:
    """The different values of every column in order, the combinations of them that occur, and each line's combination."""
    different, codes = [], []
    for series in values:
        plain = series.cast(pl.String) if isinstance(series.dtype, pl.Enum | pl.Categorical) else series
        plain = _numbers_where_all_are(plain)
        known = plain.unique().sort(nulls_last=True)
        codes.append(pl.DataFrame({"value": plain}).join(
            pl.DataFrame({"value": known}).with_row_index("code"), on="value", how="left", nulls_equal=True,
            maintain_order="left",
        ).get_column("code").to_numpy().astype(np.int64))  # fmt: skip
        different.append(known)
    together, combination = np.unique(np.stack(codes), axis=1, return_inverse=True)
    return tuple(different), together, combination.reshape(-1)


def _numbers_where_all_are(series: pl.Series) -> pl.Series:
    """Texts of a file as numbers, if they are written as numbers are: `7`, not `007`."""
    if series.dtype != pl.String:
        return series
    for dtype in (pl.Int64, pl.Float64):
        numbers = series.cast(dtype, strict=False)
        if numbers.null_count() == series.null_count() and (numbers.cast(pl.String) == series).all():
            return numbers
    return series
