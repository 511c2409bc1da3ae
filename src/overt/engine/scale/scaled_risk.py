# SPDX-License-Identifier: Apache-2.0
"""`overt.risk` with an engine: who can be found in a table, and what can be learnt of them, counted where the rows are.

Rows that agree are brought together and measured. Of sets of columns whose combinations can be counted at once, the smallest that single
rows out are found as on one machine (`overt.metrics.uniques`); sets with more combinations are left out, and it is said how many they are.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.engine.risk import Exposure
from overt.engine.scale.engine_choice import engine_of
from overt.engine.scale.parts_report import blind_guess_of, measure_groups
from overt.engine.scale.scaled_run import input_of, place_of_path
from overt.engine.scale.seam import MOST_COUNTED, NO_CELLS, CatalogPlace, Place, RowBatch, codes_of, dense, sparse
from overt.engine.scale.staging import Staged, stage_table
from overt.errors import InvalidInput
from overt.io.formats import SUFFIXES
from overt.io.intake import Intake
from overt.io.recipe.recipe import Recipe, as_recipe
from overt.metrics.risk import Risk
from overt.metrics.uniques import MOST_OF_SET, SetLayout, Uniques, UniqueSet, affordable_size, most_varied
from overt.progress import Progress, silent

MAX_SIZE = 3


def risk_at_scale(
    data: Any,
    recipe: Recipe | str | Path | None,
    known: Collection[str],
    sensitive: Collection[str],
    engine: Any,
    *,
    master: str | None = None,
    staging: str | None = None,
    population_share: float | None = None,
    on_progress: Progress = silent,
) -> Exposure:
    """Measure the risk of a table on an engine."""
    place, intake, whence = _asked(data, recipe, known, sensitive, has_catalog=engine != "out-of-core")
    with engine_of(engine, master=master, staging=staging) as run_on:
        on_progress("Reading", 0, 0)
        staged = stage_table(run_on, place, intake, coin_names=())
        on_progress("Measuring", 0, 0)
        found = measure_groups(run_on, staged.data, staged.quasi_names, staged.sensitive, None, staged.n_rows)
        identification = found.identification(population_share)
        disclosures = tuple(found.disclosure(column.name, blind_guess_of(column)) for column in staged.sensitive)
        return Exposure(
            known=tuple(column.name for column in staged.quasi_identifiers),
            sensitive=tuple(column.name for column in staged.sensitive),
            whence=whence,
            risk=Risk(identification, disclosures, found.sizes),
            uniques=find_uniques_at_scale(staged, identification.n_unique),
        )


def _asked(
    data: Any,
    recipe: Recipe | str | Path | None,
    known: Collection[str],
    sensitive: Collection[str],
    *,
    has_catalog: bool,
) -> tuple[Place, Intake, str]:
    """Where the rows are, how they are read, and where the roles come from."""
    if not isinstance(data, str | Path):
        raise InvalidInput(
            f"An engine reads files, folders of parts and tables of a catalog, not a {type(data).__name__}; name one."
        )
    if recipe is not None:
        asked = as_recipe(recipe)
        if asked.settings.input.person is not None:
            raise InvalidInput("Persons with several rows are counted on one machine in memory only; choose no engine.")
        return input_of(asked, data), asked.intake(), f"as {asked.name} says"
    if not known:
        raise InvalidInput(
            "An engine does not guess which columns are known; name them with --known, or give a recipe with --recipe."
        )
    intake = Intake(quasi_identifiers=known, sensitive=sensitive, others=(), missing="own value")
    called = str(data)
    could_be_file = "/" in called or Path(called).exists() or called.endswith(tuple(chain(*SUFFIXES.values())))
    place = CatalogPlace(called) if has_catalog and not could_be_file else place_of_path(Path(data))
    return place, intake, "as you named them"


@dataclass(frozen=True, eq=False)
class CountSets:
    """How often every combination of every set of columns occurs."""

    names: tuple[str, ...]
    layout: SetLayout

    def __call__(self, batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
        counts = np.zeros(self.layout.n_places, np.int64)
        for rows in batches:
            codes = codes_of(rows, self.names)
            for chosen, offset in zip(self.layout.sets, self.layout.offset.tolist(), strict=True):
                cell = np.full(rows.height, 0, np.int64)
                for j in chosen:
                    cell = cell * int(self.layout.n_values[j]) + codes[j]
                n_cells = prod(int(self.layout.n_values[j]) for j in chosen)
                counts[offset : offset + n_cells] += np.bincount(cell, minlength=n_cells)
        yield sparse(np.minimum(counts, 2))


@dataclass(frozen=True, eq=False)
class CountSingledOut:
    """How many rows each set singles out while no part of it does; and how many have a smallest set of each size."""

    names: tuple[str, ...]
    layout: SetLayout
    seen: NDArray[np.uint8]
    has_unique: NDArray[np.bool_]

    def __call__(self, batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
        n_sets = len(self.layout.sets)
        counts = np.zeros(n_sets + MAX_SIZE + 1, np.int64)
        for rows in batches:
            codes = np.ascontiguousarray(codes_of(rows, self.names).T)
            found, size_of_row = self.layout.find(
                codes, np.zeros((rows.height, 1), np.uint8), self.seen, self.has_unique
            )
            counts[:n_sets] += found
            counts[n_sets:] += np.bincount(size_of_row, minlength=MAX_SIZE + 1)
        yield sparse(counts)


def find_uniques_at_scale(staged: Staged, n_unique: int) -> Uniques:
    """The smallest sets of columns that single rows out, of those whose combinations can be counted at once."""
    columns = most_varied(staged.quasi_identifiers)
    names = tuple(n for n, c in zip(staged.quasi_names, staged.quasi_identifiers, strict=True) if c in columns)
    n_values = [column.n_values for column in columns]
    size = affordable_size(len(columns), min(MAX_SIZE, len(columns)), staged.n_rows if n_unique else 0)
    every = [chosen for n in range(1, size + 1) for chosen in combinations(range(len(columns)), n)]
    none = np.empty(0, np.int64), np.empty(0, np.int32), len(staged.quasi_identifiers) - len(columns)
    if not n_unique:
        return Uniques(staged.n_rows, 0, size, (), (0,) * size, *none)
    sets, n_places = [], 0
    for chosen in every:
        n_cells = prod(n_values[j] for j in chosen)
        if n_cells <= MOST_OF_SET and n_places + n_cells <= MOST_COUNTED:
            sets.append(chosen)
            n_places += n_cells
    if not sets:
        return Uniques(staged.n_rows, n_unique, size, (), (0,) * size, *none, len(every))
    layout = SetLayout.of(n_values, sets)
    engine = staged.engine
    counted = engine.histogram(staged.data, CountSets(names, layout), NO_CELLS)
    seen = np.minimum(dense(counted, layout.n_places), 2).astype(np.uint8)
    single = CountSingledOut(names, layout, seen, layout.has_unique(seen))
    counts = dense(engine.histogram(staged.data, single, NO_CELLS), len(sets) + MAX_SIZE + 1)
    found = [
        UniqueSet(tuple(columns[j].name for j in chosen), int(n))
        for chosen, n in zip(sets, counts[: len(sets)].tolist(), strict=True)
        if n
    ]
    found.sort(key=lambda one: (-one.n_rows, len(one.columns)))
    sizes = tuple(map(int, counts[len(sets) + 1 :][:size]))
    return Uniques(staged.n_rows, n_unique, size, tuple(found), sizes, *none, len(every) - len(sets))
