# SPDX-License-Identifier: Apache-2.0
# Tested through tests/checks/test_altered_releases.py
"""Shapes: what a method promises that can be seen in files, whoever made them.

Methods differ in what they leave to see. How many buckets there are, of which sizes, with which values together, which
boxes lie beside which: what contradicts a method's promise was not made by it. What agrees may still come from another
method, and the finding says so. Groups that show the same are one to the reader, so that some promises can be seen of
buckets and not of boxes.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.checks.crossed import ShownBoxes
from overt.checks.flat import BUCKET, SHUFFLED, unfold
from overt.checks.spelling import find_level
from overt.checks.verdict import Claim, Finding
from overt.group_shape import GroupShape
from overt.hierarchy.grid import blocks_of
from overt.kernels.witness import hulls_of_covered
from overt.partition import Partition
from overt.table import Codes, Column, Table

MOST_PAIRS = 2_000_000_000  # of boxes and rows that are compared
MOST_COMBINATIONS = 4096  # of levels

Ints = NDArray[np.int64]


def find_shape(table: Table, tables: dict[str, pl.DataFrame], claim: Claim, shape: GroupShape) -> Finding:
    """Whether the files contradict what their method promises."""
    if set(tables) != shape.tables:
        return _fault(shape, f"it publishes {_named(shape.tables)}, and there is {_named(frozenset(tables))}")
    if set(tables) == {"flat"}:
        people, values, _ = unfold(tables["flat"], table.sensitive)
    else:
        if "shuffled" in tables:
            tables = {name: frame.rename({SHUFFLED: BUCKET}, strict=False) for name, frame in tables.items()}
        people = next(frame for name, frame in tables.items() if name != "sensitive")
        values = tables.get("sensitive", people)
    in_buckets, is_exact = (
        "release" not in tables,
        "quasi-identifiers" in tables or ("flat" in tables and not shape.boxes),
    )
    wanted = {column.name for column in (*table.quasi_identifiers, *table.sensitive)} | (
        {BUCKET} if in_buckets else set()
    )
    has_numbers = not in_buckets or (BUCKET in people.columns and BUCKET in values.columns)
    if not wanted <= {*people.columns, *values.columns} or not has_numbers:
        return Finding("method", False, "Not checked: columns are missing.")
    known = [column.name for column in table.quasi_identifiers]
    if not set(shape.strata) <= set(known):
        return _fault(shape, "its strata are quasi-identifiers, and one that is named is none")
    boxes = None if is_exact else ShownBoxes.of(table.quasi_identifiers, people, claim)
    if boxes is not None and any(reading.is_unreadable.any() for reading in boxes.readings):
        return Finding("method", False, "Not checked: cells cannot be read.")
    seen: list[str] = []
    groups = _by_text(values.get_column(BUCKET)) if in_buckets else boxes.groups if boxes else None
    assert groups is not None
    faults = [_find_sizes(table, values, groups, shape, seen, are_told_apart=in_buckets)]
    if in_buckets:
        faults += [_find_strata(people, shape, seen), _find_least("bucket", groups, shape.least_bucket, seen)]
    if boxes is not None:
        faults += [
            _find_levels(table.quasi_identifiers, boxes, shape, seen),
            _find_cuts(boxes, shape, seen),
            _find_tightness(table, boxes, shape, seen),
        ]
        faults.append(_find_least("box", boxes.groups, shape.least_box, seen))
        faults.append(_find_strata_of_boxes(table.quasi_identifiers, boxes, shape, seen))
        if in_buckets:
            faults.append(_find_crossed(boxes, _by_text(people.get_column(BUCKET)), shape, seen))
    for fault in faults:
        if fault is not None:
            return _fault(shape, fault)
    what = f"What {shape.method} promises of files is there: {', '.join(seen)}. " if seen else ""
    return Finding("method", True, f"{what}The files cannot show by which method they were made.")


def _find_sizes(
    table: Table, values: pl.DataFrame, groups: Partition, shape: GroupShape, seen: list[str], *, are_told_apart: bool
) -> str | None:
    """How many groups of which sizes there can be behind what is seen, and whether their values differ."""
    if shape.l is None or len(table.sensitive) != 1 or not groups.n_groups:
        return None
    value = values.get_column(table.sensitive[0].name)
    pairs = pl.DataFrame({"group": groups.group_of_row, "value": value.cast(pl.String)})
    most = pairs.group_by("group", "value").len().group_by("group").agg(pl.col("len").max()).sort("group")
    largest, sizes = most.get_column("len").to_numpy().astype(np.int64), groups.sizes
    n, l = int(sizes.sum()), shape.l
    if shape.differ and are_told_apart:
        if (largest > 1).any():
            return "in each of its buckets all values differ"
        seen.append("all values of a bucket differ")
    if shape.sizes == "any":
        return None
    n_groups = n // l
    if not n_groups:
        return f"its groups have at least {l} rows, and there are {n:,}"
    if shape.sizes == "even":
        size = n // n_groups
        fewest, most_of = np.maximum(largest, -(-sizes // (size + 1))), sizes // size
        words = f"its groups have {size} or {size + 1} rows with different values"
    else:
        fewest, most_of = largest, sizes // l
        if int((sizes % l).sum()) > n % l:
            return f"its groups have {l} rows with different values, and {n % l} of them one more, or a few"
        words = f"its groups have {l} rows with different values, or few more"
    if are_told_apart and shape.differ and groups.n_groups != n_groups:
        return f"it makes {n_groups:,} buckets of {n:,} rows, and there are {groups.n_groups:,}"
    if (fewest > most_of).any() or not int(fewest.sum()) <= n_groups <= int(most_of.sum()):
        return words
    seen.append(f"groups can be of the sizes that it makes of {n:,} rows")
    return None


def _find_least(called: str, groups: Partition, least: int, seen: list[str]) -> str | None:
    if least == 1 or not groups.n_groups:
        return None
    if groups.sizes.min() < least:
        return f"every {called} of it has at least {least} rows"
    seen.append(f"every {called} has at least {least} rows")
    return None


def _find_strata(people: pl.DataFrame, shape: GroupShape, seen: list[str]) -> str | None:
    for name in shape.strata:
        texts = people.select(pl.col(BUCKET), pl.col(name).cast(pl.String)).unique()
        if texts.height > people.get_column(BUCKET).n_unique():
            return f"no bucket of it mixes values of {name!r}"
        seen.append(f"no bucket mixes values of {name!r}")
    return None


def _find_strata_of_boxes(
    columns: Sequence[Column], boxes: ShownBoxes, shape: GroupShape, seen: list[str]
) -> str | None:
    for column, readings in zip(columns, boxes.readings, strict=True):
        if column.name in shape.strata:
            least, greatest = readings.hulls
            if (least != greatest).any():
                return f"no group of it mixes values of {column.name!r}"
            seen.append(f"no group mixes values of {column.name!r}")
    return None


def _find_levels(columns: Sequence[Column], boxes: ShownBoxes, shape: GroupShape, seen: list[str]) -> str | None:
    if shape.one_level:
        for column, form, texts, readings in zip(columns, boxes.forms, boxes.texts, boxes.readings, strict=True):
            if form != "label":
                continue
            if find_level(texts.distinct.to_list(), readings, column) is None:
                return f"all cells of a column are at one level of its hierarchy, and those of {column.name!r} are not"
        if "label" in boxes.forms:
            seen.append("all cells of a column are at one level")
    if shape.levels is None or not boxes.groups.n_groups:
        return None
    hulls = [
        (least[text], greatest[text])
        for (least, greatest), text in zip((r.hulls for r in boxes.readings), boxes.text_of_group, strict=True)
    ]
    nodes = [_nodes_by_level(column, *hull) for column, hull in zip(columns, hulls, strict=True)]
    if shape.levels == "together":
        tops = [len(levels) - 1 for levels in nodes]
        combinations = [[min(level, top) for top in tops] for level in range(max(tops) + 1)]
    else:
        combinations = [list(levels) for levels in product(*(range(len(levels)) for levels in nodes))]
        combinations = combinations[:MOST_COMBINATIONS]
    for levels in combinations:
        found = [of_level[level] for of_level, level in zip(nodes, levels, strict=True)]
        if any(node is None for node in found):
            continue
        if len(np.unique(np.stack(found, 1), axis=0)) == boxes.groups.n_groups:  # type: ignore[arg-type]
            seen.append("groups are those of one of its levels")
            return None
    return "its groups are the rows that are alike at one of its levels"


def _nodes_by_level(column: Column, least: Codes, greatest: Codes) -> list[Codes | None]:
    """(level) -> the node of every group; None where a group is not inside one."""
    if column.hierarchy is None:
        return [least if (least == greatest).all() else None, np.zeros_like(least)]
    levels = column.hierarchy.node_of_leaf
    return [nodes[least] if (nodes[least] == nodes[greatest]).all() else None for nodes in levels]


def _find_cuts(boxes: ShownBoxes, shape: GroupShape, seen: list[str]) -> str | None:
    """Boxes that cuts made can be taken apart by cuts again. A label of several values hides where a group ends, and so does a grid."""
    if not shape.cuts or not boxes.groups.n_groups:
        return None
    hulls = [reading.hulls for reading in boxes.readings]
    least = np.stack([h[0][text] for h, text in zip(hulls, boxes.text_of_group, strict=True)], 1)
    greatest = np.stack([h[1][text] for h, text in zip(hulls, boxes.text_of_group, strict=True)], 1)
    labels = [place for place, form in enumerate(boxes.forms) if form in ("label", "grid")]
    is_hidden = (least[:, labels] != greatest[:, labels]).any(axis=1)
    waiting, n_hidden = [np.arange(boxes.groups.n_groups)], 0
    while waiting:
        together = waiting.pop()
        if together.size > 1:
            parts = _cut(together, least, greatest)
            if parts is None and not is_hidden[together].any():
                return "its boxes lie beside each other as cuts leave them, and some overlap"
            waiting += parts or []
            n_hidden += parts is None
    seen.append(
        "boxes lie beside each other as cuts leave them" + (", as far as labels and grids show it" if n_hidden else "")
    )
    return None


def _cut(together: Ints, least: Codes, greatest: Codes) -> list[Ints] | None:
    for column in range(least.shape[1]):
        order = together[np.argsort(least[together, column], kind="stable")]
        reached = np.maximum.accumulate(greatest[order, column])[:-1]
        gaps = np.flatnonzero(least[order[1:], column] > reached) + 1
        if gaps.size:
            return np.split(order, gaps)
    return None


def _find_crossed(boxes: ShownBoxes, of_people: Partition, shape: GroupShape, seen: list[str]) -> str | None:
    """The buckets of a set show the same boxes, one bucket for each member of a group; or one holds whole groups."""
    k = shape.crossed
    if k is None:
        return None
    counts = pl.DataFrame({"bucket": of_people.group_of_row, "box": boxes.groups.group_of_row})
    counts = counts.group_by("bucket", "box").len().sort("bucket", "box")
    contents = counts.group_by("bucket").agg("box", "len", fewest=pl.col("len").min())
    sets = contents.group_by("box", "len").agg(n=pl.len(), fewest=pl.col("fewest").first())
    if sets.filter((pl.col("n") % k != 0) & (pl.col("fewest") < k)).height:
        return f"{k} buckets each show the same boxes, or one bucket holds all of a box"
    seen.append("buckets share their boxes")
    return None


def _find_tightness(table: Table, boxes: ShownBoxes, shape: GroupShape, seen: list[str]) -> str | None:
    """Every box ends where some row that it covers does, or the block of its grid. A wider one could be a mark."""
    if not shape.tight or not boxes.groups.n_groups:
        return None
    columns = table.quasi_identifiers
    codes = np.unique(np.stack([column.codes for column in columns], 1), axis=0).astype(np.int32)
    if len(codes) * boxes.groups.n_groups > MOST_PAIRS:
        return None
    hulls = [reading.hulls for reading in boxes.readings]
    least = np.stack([h[0][text] for h, text in zip(hulls, boxes.text_of_group, strict=True)], 1).astype(np.int32)
    greatest = np.stack([h[1][text] for h, text in zip(hulls, boxes.text_of_group, strict=True)], 1).astype(np.int32)
    lowest, highest = hulls_of_covered(codes, least, greatest)
    for place, (column, form) in enumerate(zip(columns, boxes.forms, strict=True)):
        if form == "label" and column.hierarchy is not None:  # the lowest label above the rows
            node = column.hierarchy.common_ancestor(lowest[:, place], highest[:, place])
            shown = column.hierarchy.common_ancestor(least[:, place], greatest[:, place])
            is_wide = node != shown
        else:
            blocks = blocks_of(column) if form == "grid" else None
            if blocks is not None:
                covered = blocks.outward(np.stack([lowest[:, place], highest[:, place]], 1), column.missing_code)
                lowest[:, place], highest[:, place] = covered.T
            is_wide = (lowest[:, place] != least[:, place]) | (highest[:, place] != greatest[:, place])
        if is_wide.any():
            return f"its boxes end where their rows do, and {int(is_wide.sum()):,} are wider in {column.name!r}"
    seen.append("every box ends where rows do")
    return None


def _by_text(cells: pl.Series) -> Partition:
    texts, codes = np.unique(cells.cast(pl.String).fill_null("").to_numpy(), return_inverse=True)
    return Partition(codes.reshape(-1).astype(np.int32), len(texts))


def _fault(shape: GroupShape, words: str) -> Finding:
    return Finding("method", False, f"This is not what {shape.method} makes: {words}.")


def _named(tables: frozenset[str]) -> str:
    return " and ".join(map(repr, sorted(tables))) if tables else "nothing"
