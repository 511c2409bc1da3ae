# SPDX-License-Identifier: Apache-2.0
"""Truth with a witness: the owner says which rows went together, and every row is followed to its lines.

The witness is trusted in nothing. It only suggests which group of lines a group of rows became: the one whose
cells are the tight range (rounded to the grid), label or set around the group's codes, or just the range that it says it shows. Then every
row is held against the cells of that group, and the values of rows and lines are compared group by group. What the
witness cannot show is left to the matching, which needs no witness.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.checks.published_lines import Key, group_alike
from overt.checks.reading import Readings
from overt.hierarchy.grid import blocks_of
from overt.kernels.counting import order_by_code, starts_of
from overt.kernels.witness import count_uncovered, count_unpaired, sketch_groups
from overt.partition import Partition, ShownPartition
from overt.table import Codes, Column, Table
from overt.threads import n_threads

Unsigned = NDArray[np.uint64]


def rows_are_lines(
    table: Table,
    witness: Partition,
    forms: Sequence[str],
    readings: Sequence[Readings],
    text_of_group: Sequence[Codes],
    groups: Partition,
    values: tuple[Codes, Codes, int],
) -> bool:
    """Whether the witness shows that the lines are the rows, each row in a group whose cells cover it."""
    if witness.group_of_row.size != table.n_rows or groups.group_of_row.size != table.n_rows:
        return False
    columns = table.quasi_identifiers
    _ = witness.rows  # made once, before the threads need it
    with ThreadPoolExecutor(max_workers=n_threads()) as pool:
        if isinstance(witness, ShownPartition):
            texts = list(pool.map(find_shown, columns, witness.shown, readings))
        else:
            texts = list(pool.map(suggest_texts, columns, repeat(witness), forms, readings))
        group_of_suggested = find_groups(texts, text_of_group, [reading.n_texts for reading in readings])
        if (group_of_suggested < 0).any():
            return False
        shown = [texts[group_of_suggested] for texts in text_of_group]
        if sum(pool.map(count_strangers, columns, repeat(witness), shown, readings)):
            return False
    group_of_row = group_of_suggested[witness.group_of_row]
    value_of_row, value_of_line, n_values = values
    rows = order_by_code(group_of_row, groups.n_groups, np.arange(table.n_rows, dtype=np.int32))
    starts = starts_of(np.bincount(group_of_row, minlength=groups.n_groups))
    unpaired = count_unpaired(rows, starts, value_of_row, groups.rows, groups.starts, value_of_line, n_values)
    return sum(unpaired) == 0


def suggest_texts(column: Column, witness: Partition, form: str, readings: Readings) -> Codes:
    """The text that shows the codes of each group most tightly, or -1 if the column has none; never proof.

    A set of codes is looked up by its sketch, the exclusive or of random numbers, one for each code.
    """
    number_of_code = np.random.default_rng(0).integers(0, 2**64, column.n_values, dtype=np.uint64)
    below = np.append(np.uint64(0), np.bitwise_xor.accumulate(number_of_code))  # (code) -> sketch of all lesser codes
    missing = -1 if column.missing_code is None else column.missing_code
    codes = codes_by_group(column, witness)
    least, greatest, has_missing, sketch = sketch_groups(codes, witness.starts, missing, number_of_code)
    if form in ("range", "grid"):
        blocks = blocks_of(column) if form == "grid" else None
        if blocks is not None:
            around = blocks.outward(np.maximum(np.stack([least, greatest], 1), 0).astype(np.int32), None)
            least, greatest = (np.where(least < 0, least, end) for end in around.T)
        sketch = np.where(least < 0, np.uint64(0), below[greatest + 1] ^ below[least])
        if missing >= 0:
            sketch = sketch ^ np.where(has_missing, number_of_code[missing], np.uint64(0))
    elif form == "label" and column.hierarchy is not None:
        tree = column.hierarchy
        nodes = tree.common_ancestor(np.where(least < 0, missing, least), np.where(has_missing, missing, greatest))
        first = tree.first_leaf_of_node[nodes]
        sketch = below[first + tree.n_leaves_of_node[nodes]] ^ below[first]
    return _look_up(sketch, _sketches(readings, below))


def find_shown(column: Column, shown: Codes, readings: Readings) -> Codes:
    """The text that covers just the range of codes that each group is said to show, or -1."""
    number_of_code = np.random.default_rng(0).integers(0, 2**64, column.n_values, dtype=np.uint64)
    below = np.append(np.uint64(0), np.bitwise_xor.accumulate(number_of_code))
    return _look_up(below[shown[:, 1] + 1] ^ below[shown[:, 0]], _sketches(readings, below))


def count_strangers(column: Column, witness: Partition, text_of_group: Codes, readings: Readings) -> int:
    """How many rows have a value that the text of their group does not cover."""
    runs = readings.first, readings.least, readings.greatest
    return int(count_uncovered(codes_by_group(column, witness), witness.starts, text_of_group, *runs))


def codes_by_group(column: Column, witness: Partition) -> NDArray[Any]:
    """The codes of a column, group after group. Rows are jumped about in, so few bytes are worth a copy."""
    codes = column.codes.astype(np.uint8) if column.n_values <= 256 else column.codes
    return codes[witness.rows]


def find_groups(texts: Sequence[Codes], text_of_group: Sequence[Codes], n_texts: Sequence[int]) -> Codes:
    """The group of lines that shows these texts, or -1, for many combinations of texts."""
    n_groups, n_asked = text_of_group[0].size, texts[0].size
    both = zip(text_of_group, texts, n_texts, strict=True)
    alike = group_alike([Key(np.concatenate([known, asked]) + np.int32(1), n + 1) for known, asked, n in both])
    group_of_kind = np.full(alike.n_groups, -1, np.int32)
    group_of_kind[alike.group_of_row[:n_groups]] = np.arange(n_groups, dtype=np.int32)
    return group_of_kind[alike.group_of_row[n_groups : n_groups + n_asked]]


def _sketches(readings: Readings, below: Unsigned) -> Unsigned:
    """The sketch of all codes that each text covers."""
    runs = np.append(np.uint64(0), np.bitwise_xor.accumulate(below[readings.greatest + 1] ^ below[readings.least]))
    sketches: Unsigned = runs[readings.first[1:]] ^ runs[readings.first[:-1]]
    return sketches


def _look_up(asked: Unsigned, known: Unsigned) -> Codes:
    """The position of each asked number among the known ones, or -1."""
    order = np.argsort(known, kind="stable")
    place = np.searchsorted(known, asked, sorter=order)
    place[place == known.size] = 0
    found = order[place]
    return np.where(known[found] == asked, found, -1).astype(np.int32)
