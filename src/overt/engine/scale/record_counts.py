# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_dp_at_scale.py
"""Counts of records for differentially private releases: all that an engine is asked of a table that is too large for one.

A record is counted by what it becomes: for every column the labels of its public hierarchy, from the finest level on that the method may release. All
that records can become is listed before anything is read, from the recipe alone, and numbered; a table is then a histogram over these numbers.
How many numbers there are decides whether a recipe is taken, and nothing else does.

*The same law as in memory.* Let c(r) be what the record r becomes. In memory a release is a function of the table through three things: the
histogram of c over its rows, the coins of noise, which are drawn for cells, and a coin for every row, which decides whether the row is kept.
(1) c is the same function: cells are read, made texts and looked up by the same code, each by itself, so that neither the batch nor the file in
which a record stands has a say. Levels below the finest one that may be released are never looked at: not by the choice of an element, not by its
label, not by a count. (2) The histogram is a sum over rows of whole numbers. Which machine counts a row, in which part, and how often a task is tried
until it succeeds, changes no sum: an engine adds what each part counts once. (3) Coins are drawn afterwards by one process, the driver, from the
operating system: noise for the cells, in the order of their labels, and for every row one coin, record after record. No task draws anything, so there
is no coin that could be drawn again, and none that has to be kept with a row. Coins of rows are independent of each other and of all else; the
distribution of the release does not depend on which of them is called whose. So the release has the distribution that it has in memory, and with equal
coins it is the release that `DpMethod.anonymize` makes of the same records in this order. The theorems of docs/guides/differential-privacy.md are
about that distribution.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.algorithms.dp.elements import CountedRecords
from overt.algorithms.dp.mechanism import DpMethod
from overt.engine.scale.seam import MOST_COUNTED, NO_CELLS, RowBatch, ScaleEngine, column_of, dense, sparse
from overt.errors import InvalidInput, TooLarge
from overt.hierarchy.base import Builder
from overt.hierarchy.texts import texts_of
from overt.hierarchy.value_rules import Chain, PublicColumn, PublicTree, public_tree
from overt.io.encoding import Coded
from overt.io.intake import Intake
from overt.io.record_files import RecordFiles


@dataclass(frozen=True, eq=False)
class RecordClasses:
    """All that the records of any table can become, numbered. It travels as hierarchies and levels, and is listed where it is needed."""

    hierarchies: Mapping[str, Builder]
    levels: tuple[int, ...]  # (column) -> the finest level that may be released

    @classmethod
    def of(cls, method: DpMethod) -> "RecordClasses":
        """What the vectors of levels of a method need; refused by what the recipe says alone."""
        levels = tuple(min(of_column) for of_column in zip(*method.vectors, strict=True))
        found = cls(method.hierarchies, levels)
        for (name, _), level, classes in zip(method.trees.items(), levels, found._listed, strict=True):
            if classes is None:
                raise InvalidInput(
                    f"With an engine, what may be released is counted by labels that are listed beforehand, and there is no end to those that the hierarchy of "
                    f"{name!r} has at level {level}. List its values (a file, or nested), or use cut points, or dates from months on, and name 'levels' "
                    "that do not go below these; or choose no engine."
                )
        if found.n_cells > MOST_COUNTED:
            sizes = ", ".join(f"{name} {len(of):,}" for name, of in zip(method.trees, found.classes, strict=True))
            raise TooLarge(
                f"The columns have {found.n_cells:,} combinations of labels that may be released ({sizes}), and with an engine {MOST_COUNTED:,} are counted, "
                "whether they occur or not. Name 'levels' that are coarser, use fewer columns, or choose no engine."
            )
        return found

    @cached_property
    def _trees(self) -> tuple[PublicTree, ...]:
        return tuple(public_tree(builder, name) for name, builder in self.hierarchies.items())

    @cached_property
    def _listed(self) -> tuple[tuple[Chain, ...] | None, ...]:
        return tuple(tree.classes(level) for tree, level in zip(self._trees, self.levels, strict=True))

    @property
    def classes(self) -> tuple[tuple[Chain, ...], ...]:
        """(column) -> (class) -> its labels from the finest level on."""
        return tuple(classes or () for classes in self._listed)

    @cached_property
    def _number_of_chain(self) -> tuple[dict[Chain, int], ...]:
        return tuple({chain: i for i, chain in enumerate(classes)} for classes in self.classes)

    def __getstate__(self) -> dict[str, Any]:
        return {"hierarchies": self.hierarchies, "levels": self.levels}

    @property
    def n_cells(self) -> int:
        return prod(map(len, self.classes))

    def cells(self, read: Mapping[str, Coded], intake: Intake) -> NDArray[np.int64]:
        """(record) -> the number of what it becomes."""
        number: NDArray[np.int64] = np.zeros(1, np.int64)
        for name, tree, level, known in zip(
            self.hierarchies, self._trees, self.levels, self._number_of_chain, strict=True
        ):
            column = intake.encode(name, read[name])
            unknown = known[(tree.root,) * (tree.n_levels - level)]
            texts = texts_of(column.values).to_list()
            of_value = np.array([known.get(tree.chain(text)[level:], unknown) for text in texts], np.int64)
            number = number * len(known) + of_value[column.codes]
        return number

    def records(self, counts: NDArray[np.int64]) -> CountedRecords:
        """(cell) -> how many rows, as the different records that occur and how often each does."""
        cells = np.flatnonzero(counts)
        values = np.stack(np.unravel_index(cells, [len(of) for of in self.classes])).astype(np.int32)
        columns = [
            PublicColumn.of_classes(tree, level, of)
            for tree, level, of in zip(self._trees, self.levels, self.classes, strict=True)
        ]
        return CountedRecords.counted(columns, values, counts[cells])


@dataclass(frozen=True, eq=False)
class CountRecords:
    """Count the records of the files with some numbers."""

    files: RecordFiles
    classes: RecordClasses
    intake: Intake = field(repr=False)

    def __call__(self, batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
        counts = np.zeros(self.classes.n_cells, np.int64)
        for batch in batches:
            for number in column_of(batch, "number").tolist():
                for read in self.files.read(number):
                    counts += np.bincount(self.classes.cells(read, self.intake), minlength=counts.size)
        yield sparse(counts)


def count_records(engine: ScaleEngine, files: RecordFiles, classes: RecordClasses, intake: Intake) -> NDArray[np.int64]:
    """(cell) -> how many records become that."""
    counted = engine.histogram(engine.numbers(len(files.paths)), CountRecords(files, classes, intake), NO_CELLS)
    return dense(counted, classes.n_cells)
