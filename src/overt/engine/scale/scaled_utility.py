# SPDX-License-Identifier: Apache-2.0
"""What a release at scale cost in single columns: the metrics of `overt.metrics.utility` that are sums over rows, added up over fragments.

Every fragment is a release of its own whose columns have the totals of the whole table, so that each row loses there what it loses in memory. What
a reader expects of every value is added up by value. All of it is for the owner, as the same figures of a run in memory are. Pairs of
columns, queries and predictions are measured in memory only.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.engine.scale.made_tables import FindRelease, MadeTables
from overt.engine.scale.seam import MOST_COUNTED, RowBatch, column_of
from overt.engine.scale.staging import Staged
from overt.kernels.counting import starts_of
from overt.method import Method
from overt.metrics.distribution_divergence import divergence
from overt.metrics.entropy import bits_covered, entropy_of_bits
from overt.metrics.expected_counts import spreads_of
from overt.metrics.granularity import granularity_of_shares
from overt.metrics.precision import precision_of_column
from overt.metrics.utility import penalty_of_spread
from overt.table import Column

_SUMS = ("certainty penalty", "bits covered", "values covered", "precision")  # over rows
_NO_SUMS = pl.DataFrame(schema={"cell": pl.Int64, "n": pl.Float64})


@dataclass(frozen=True)
class ScaledColumn:
    """What became of one quasi-identifier."""

    name: str
    certainty_penalty: float
    non_uniform_entropy: float
    precision: float
    divergence: float | None  # None: the columns have too many values to count at once


@dataclass(frozen=True)
class ScaledUtility:
    """What a release cost, as far as single columns tell; each figure as `overt.metrics.utility.Utility` defines it."""

    certainty_penalty: float
    non_uniform_entropy: float
    precision: float
    granularity: float
    marginal_divergence: float | None
    columns: tuple[ScaledColumn, ...]

    def __str__(self) -> str:
        differ = (
            "" if self.marginal_divergence is None else f"; divergence of columns {self.marginal_divergence:.4f} bits"
        )
        return (
            f"certainty penalty {self.certainty_penalty:.3f}, entropy lost {self.non_uniform_entropy:.3f}, precision {self.precision:.3f}, "
            f"granularity {self.granularity:.3f}{differ}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs."""
        return {**asdict(self), "columns": [asdict(column) for column in self.columns]}


@dataclass(frozen=True, eq=False)
class SumOfCells:
    """What the cells of one fragment lose, summed over its rows; and how many rows a reader expects to have each value."""

    find: FindRelease
    made_by: Method
    first: tuple[int, ...]  # (column) -> where its values begin; only of columns whose values are counted

    def __call__(self, fragment: int, rows: RowBatch) -> RowBatch:
        release = self.find(fragment, rows, self.made_by)
        columns, spreads = release.table.quasi_identifiers, spreads_of(release)
        sums = np.zeros((len(columns), len(_SUMS)))
        for j, column in enumerate(columns):
            spread = spreads[column.name]
            precise = precision_of_column(release, column) * rows.height
            covered = float(spread.n_values_covered @ spread.sizes)
            sums[j] = penalty_of_spread(release, spread), bits_covered(spread), covered, precise
        cells, found = [np.arange(sums.size)], [sums.ravel()]
        for column, first in zip(columns, self.first, strict=False):
            expected = spreads[column.name].rows_of_value
            there = np.flatnonzero(expected)
            cells.append(sums.size + first + there)
            found.append(expected[there])
        return pl.DataFrame({"cell": np.concatenate(cells), "n": np.concatenate(found)}, schema=_NO_SUMS.schema)


@dataclass(frozen=True)
class AsTheyAre:
    """Sums that were made already."""

    def __call__(self, batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
        yield from batches


def measure_utility_of_parts(staged: Staged, made: MadeTables, made_by: Method) -> ScaledUtility:
    """What a release cost in single columns."""
    columns, groups = staged.quasi_identifiers, made.groups
    n_values = [column.n_values for column in columns]
    if groups is None:  # every cell is exact
        exact = tuple(ScaledColumn(column.name, 0.0, 0.0, 1.0, 0.0) for column in columns)
        return _put_together(exact, granularity_of_shares([1 / n for n in n_values], n_values), len(staged.columns))
    starts = starts_of(np.array(n_values, np.int64))
    n_counted = int(np.searchsorted(starts[1:] + len(columns) * len(_SUMS), MOST_COUNTED, side="right"))
    cells = SumOfCells(groups.find, made_by, tuple(starts[:n_counted].tolist()))
    engine = staged.engine
    found = engine.histogram(engine.apply(groups.data, groups.number, cells, _NO_SUMS), AsTheyAre(), _NO_SUMS)
    added = np.zeros(len(columns) * len(_SUMS) + int(starts[n_counted]))
    added[column_of(found, "cell")] = column_of(found, "n")
    sums, expected = np.split(added, [len(columns) * len(_SUMS)])
    mean = sums.reshape(len(columns), -1) / staged.n_rows
    of_values = [expected[starts[j] : starts[j + 1]] if j < n_counted else None for j in range(len(columns))]
    measured = tuple(
        _measure(column, of_column, of_value, staged.n_rows)
        for column, of_column, of_value in zip(columns, mean, of_values, strict=True)
    )
    granularity = granularity_of_shares((mean[:, _SUMS.index("values covered")] / n_values).tolist(), n_values)
    return _put_together(measured, granularity, len(staged.columns))


def _measure(
    column: Column, mean: NDArray[np.float64], expected: NDArray[np.float64] | None, n_rows: int
) -> ScaledColumn:
    of = dict(zip(_SUMS, mean.tolist(), strict=True))
    return ScaledColumn(
        column.name,
        of["certainty penalty"],
        entropy_of_bits(column, of["bits covered"] * n_rows),
        of["precision"],
        None if expected is None else divergence(column.total_of_value, expected),
    )


def _put_together(columns: tuple[ScaledColumn, ...], granularity: float, n_columns: int) -> ScaledUtility:
    divergences = [column.divergence for column in columns if column.divergence is not None]
    return ScaledUtility(
        float(np.mean([column.certainty_penalty for column in columns])),
        float(np.mean([column.non_uniform_entropy for column in columns])),
        float(np.mean([column.precision for column in columns])),
        granularity,
        sum(divergences) / n_columns if len(divergences) == len(columns) else None,  # sensitive ones have none
        columns,
    )
