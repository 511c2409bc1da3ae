# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_methods_at_scale.py
"""Boxes and blind buckets at scale.

The law is that of one machine (`overt.algorithms.blind_buckets`). There, the rows of each value of a stratum are put in uniformly random
order, and the row with rank r among the n of its value goes to bucket (f + r) mod G, where f, n and G are functions of counts. Here the
order is that of coins of 128 independent bits, drawn by the operating system and staged. Given that no two coins of a value are equal
(two are with probability below n squared / 2**129), every order is equally likely, whatever the rows hold: that is the uniform order.
A rank is the number of smaller coins of the same value: those in the parts of the coins' range before the row's own, which are counted
over the whole table, and those before it in the part. Neither depends on where rows lie, in which batches they come, or which step was
tried again. Boxes read no value. Strict ones are the same as on one machine. Relaxed ones part people who are alike by a coin of their own, which is
independent of those of the deal; until a part is small enough to be cut in one place its cuts are strict. Buckets are numbered
as they are dealt, so that what a bucket holds follows from its number and the counts: the release with these numbers has the same probability for
all tables that fit it, and Theorem S of docs/theory/safety.md holds of it word for word. What the buckets hold is written from the plan.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.algorithms.blind_buckets.deal import Deal, Values
from overt.algorithms.blind_buckets.plan import plan_strata
from overt.engine.scale.cut_tree import MOST_ALIKE, CutRule, grow_cut_tree
from overt.engine.scale.fragment_lines import BUCKET, ShownLines, as_lines, order_lines
from overt.engine.scale.groups_by_cuts import CutFragment, like_of
from overt.engine.scale.made_tables import MadeGroups, MadeTables, release_of_groups
from overt.engine.scale.row_strata import StratumOf, divide_into_strata
from overt.engine.scale.scaled_methods import DealsBlind
from overt.engine.scale.seam import (
    MOST_COUNTED,
    NO_CELLS,
    RowBatch,
    column_of,
    count_cells,
    n_fragments_of,
    require_countable,
)
from overt.engine.scale.staging import BOX_COIN, COIN, SECOND_COIN, Staged
from overt.errors import InvalidInput, TooLarge
from overt.kernels.compositions import compositions_of_deal
from overt.kernels.counting import starts_of
from overt.method import Method
from overt.partition import Counts
from overt.progress import Progress
from overt.release import Release
from overt.table import Codes

PART_BITS = 8  # of a coin, at most, that say to which fragment its row goes
_MOST_NUMBERED = 1 << 62  # combinations
_FEWER_VALUES = "Use fewer sensitive columns, or columns with fewer values: round numbers, shorten codes."


@dataclass(frozen=True, eq=False)
class ValueNumber:
    """Which value each row has: of one sensitive column its code, of several the combination that occurs, numbered in order."""

    names: tuple[str, ...]
    n_codes: tuple[int, ...]
    present: tuple[
        NDArray[np.int64] | None, ...
    ]  # (column) -> combinations up to this column that occur; None: all are numbered

    def __call__(self, rows: RowBatch) -> NDArray[np.int64]:
        number = np.zeros(rows.height, np.int64)
        for name, n, present in zip(self.names, self.n_codes, self.present, strict=True):
            number = number * n + column_of(rows, name)
            number = number if present is None else np.searchsorted(present, number)
        return number

    @property
    def n_values(self) -> int:
        n_values = 1
        for n, present in zip(self.n_codes, self.present, strict=True):
            n_values = n_values * n if present is None else present.size
        return n_values

    @property
    def code_of_value(self) -> Codes:
        """(column, value) -> code."""
        left: NDArray[np.int64] = np.arange(self.n_values)
        codes = []
        for n, present in zip(reversed(self.n_codes), reversed(self.present), strict=True):
            left, code = np.divmod(left if present is None else present[left], n)
            codes.append(code.astype(np.int32))
        return np.stack(codes[::-1])


@dataclass(frozen=True, eq=False)
class CountNumbers:
    """How often every number occurs."""

    number_of: ValueNumber

    def __call__(self, batches: Iterable[RowBatch]) -> Iterator[RowBatch]:
        counted = NO_CELLS
        for rows in batches:
            cell, n = np.unique(self.number_of(rows), return_counts=True)
            here = pl.DataFrame({"cell": cell, "n": n}, schema=NO_CELLS.schema)
            counted = pl.concat([counted, here]).group_by("cell").agg(pl.col("n").sum())
            require_countable(counted.height, _FEWER_VALUES)
        yield counted


def find_values(staged: Staged) -> tuple[ValueNumber, Counts]:
    """The values of the sensitive columns, numbered as on one machine; and how often each occurs.

    Of several columns only combinations that occur are counted, so that it does not matter how many there could be.
    """
    names, n_codes = staged.sensitive_names, tuple(column.n_values for column in staged.sensitive)
    if len(names) == 1:
        return ValueNumber(names, n_codes, (None,)), staged.sensitive[0].total_of_value
    present: list[NDArray[np.int64] | None] = [None]
    counts, n_values = staged.sensitive[0].total_of_value, n_codes[0]
    for j in range(1, len(names)):
        n_values *= n_codes[j]
        if j < len(names) - 1 and n_values * n_codes[j + 1] < _MOST_NUMBERED:
            present.append(None)
            continue
        number = ValueNumber(names[: j + 1], n_codes[: j + 1], (*present, None))
        try:
            found = staged.engine.histogram(staged.data, CountNumbers(number), NO_CELLS).sort("cell")
        except TooLarge:
            raise TooLarge(
                f"{' and '.join(map(repr, (c.name for c in staged.sensitive)))} have more than {MOST_COUNTED:,} different combinations of values, "
                f"which would have to be counted at once. {_FEWER_VALUES}"
            ) from None
        present.append(column_of(found, "cell"))
        counts, n_values = column_of(found, "n"), found.height
    return ValueNumber(names, n_codes, tuple(present)), counts


@dataclass(frozen=True, eq=False)
class PartOfCoin:
    """Which part of the range of coins a row's coin is in; parts are as wide as each other."""

    bits: int

    def __call__(self, rows: RowBatch) -> Codes:
        coins = column_of(rows, COIN).view(np.uint64)
        return (coins >> np.uint64(64 - self.bits)).astype(np.int32) if self.bits else np.zeros(coins.size, np.int32)


@dataclass(frozen=True, eq=False)
class CountByPart:
    """Of every row the cell (stratum, value, part of the coin)."""

    stratum_of: StratumOf
    value_of: ValueNumber
    part_of: PartOfCoin

    def __call__(self, rows: RowBatch) -> NDArray[np.int64]:
        value = self.stratum_of(rows).astype(np.int64) * self.value_of.n_values + self.value_of(rows)
        return (value << self.part_of.bits) + self.part_of(rows)


@dataclass(frozen=True, eq=False)
class DealPart:
    """The bucket of every row of one part of the coins."""

    stratum_of: StratumOf
    value_of: ValueNumber
    before: Counts  # (stratum and value, part) -> rows of the value whose coins are in earlier parts
    place: Counts  # (stratum and value) -> where the value begins in the line of its stratum
    n_buckets: Counts  # (stratum)
    first_bucket: Counts  # (stratum)
    kept: tuple[str, ...]  # what boxes are made of

    def __call__(self, part: int, rows: RowBatch) -> RowBatch:
        stratum = self.stratum_of(rows)
        value = stratum.astype(np.int64) * self.value_of.n_values + self.value_of(rows)
        coins = [column_of(rows, name).view(np.uint64) for name in (SECOND_COIN, COIN)]
        order = np.lexsort((*coins, value))
        ordered = value[order]
        begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if ordered.size else np.empty(0, int)
        rank = np.arange(ordered.size) - np.repeat(begins, np.diff(np.append(begins, ordered.size)))
        position = self.place[ordered] + self.before[ordered, part] + rank
        of_stratum = stratum[order]
        bucket = np.empty(ordered.size, np.int64)
        bucket[order] = self.first_bucket[of_stratum] + position % self.n_buckets[of_stratum]
        return rows.select(self.kept).with_columns(pl.Series(BUCKET, bucket))


@dataclass(frozen=True, eq=False)
class PublishBoxes:
    """The lines of the people of one fragment, in the order of what they show and then of their buckets."""

    cut: CutFragment
    lines: ShownLines

    def __call__(self, fragment: int, rows: RowBatch) -> RowBatch:
        if self.cut.relaxed:  # people who are alike lie in random order, however they came together here
            rows = rows[np.argsort(column_of(rows, BOX_COIN), kind="stable")]
        quasi, _ = self.cut.columns(rows)
        boxes = self.cut.groups(quasi, ())
        cells, bucket = self.lines.boxes(quasi, boxes), column_of(rows, BUCKET)
        order = order_lines([*(cell.cell_of_group[boxes.group_of_row] for cell in cells), bucket])
        shown = as_lines(cells, quasi, boxes.group_of_row[order])
        return self.lines.frame({BUCKET: pl.Series(bucket[order] + 1), **shown})

    def release(self, fragment: int, rows: RowBatch, made_by: Method) -> Release:
        """The fragment as a release of its own, without buckets; whoever of the alike is in which box, the boxes are the same."""
        quasi, _ = self.cut.columns(rows)
        return release_of_groups(quasi, self.cut.groups(quasi, ()), made_by)


@dataclass(frozen=True, eq=False)
class PublishBuckets:
    """The lines of the values of some buckets, from the plan."""

    deals: tuple[Deal, ...]
    first_bucket: Counts
    code_of_value: Codes
    lines: ShownLines
    n_parts: int

    def __call__(self, part: int, rows: RowBatch) -> RowBatch:
        n_all = int(self.first_bucket[-1])
        begin, end = n_all * part // self.n_parts, n_all * (part + 1) // self.n_parts
        buckets, codes = [], []
        for s, deal in enumerate(self.deals):
            least, most = max(begin, int(self.first_bucket[s])), min(end, int(self.first_bucket[s + 1]))
            if least < most:
                here = np.arange(least, most) - self.first_bucket[s]
                start, item, count = compositions_of_deal(starts_of(deal.count), here, deal.n_buckets)
                value = np.repeat(deal.value[item], count)
                size = np.add.reduceat(count, start[:-1])
                buckets.append(np.repeat(here + self.first_bucket[s], size))
                codes.append(self.code_of_value[:, value])
        bucket, code = np.concatenate([np.empty(0, np.int64), *buckets]), np.concatenate(codes, axis=1)
        order = order_lines([bucket, *code])
        values = {
            column.name: self.lines.values(column, of_column[order])
            for column, of_column in zip(self.lines.sensitive, code, strict=True)
        }
        return self.lines.frame({BUCKET: pl.Series(bucket[order] + 1), **values})


def bits_of_parts(staged: Staged, n_values: int) -> int:
    """How many bits of a coin say to which part its row goes: fewer where so many values of strata could not be counted by part."""
    wanted = min(PART_BITS, (n_fragments_of(staged.engine, staged.n_rows) - 1).bit_length())
    bits = max(0, min(wanted, (MOST_COUNTED // max(1, n_values)).bit_length() - 1))
    if staged.n_rows >> bits > MOST_ALIKE:
        raise TooLarge(
            f"{n_values:,} values of strata are too many for {staged.n_rows:,} people: they could be dealt in {1 << bits:,} parts only, and "
            f"{MOST_ALIKE:,} people are worked on in one place. Use fewer strata. {_FEWER_VALUES}"
        )
    return bits


def deal_at_scale(staged: Staged, method: DealsBlind) -> tuple[Any, StratumOf, tuple[Deal, ...], ValueNumber]:
    """Every row with its bucket; and the strata, their deals and the values that these were planned from."""
    engine, (value_of, _) = staged.engine, find_values(staged)
    stratum_of = divide_into_strata(engine, staged.data, staged.quasi_identifiers, method.stratify)
    n_strata, n_values = stratum_of.n_strata, value_of.n_values
    bits = bits_of_parts(staged, n_strata * n_values)
    part_of = PartOfCoin(bits)
    find = CountByPart(stratum_of, value_of, part_of)
    by_part = count_cells(engine, staged.data, find, n_strata * n_values << bits).reshape(n_strata * n_values, -1)
    counts = by_part.sum(axis=1).reshape(n_strata, n_values)
    values = Values(staged.sensitive, np.empty(0, np.int32), value_of.code_of_value)
    deals = tuple(plan_strata(values, counts, method.goal, method.box_size, method.bucket_size))
    place = np.zeros((n_strata, n_values), np.int64)
    for of_stratum, deal in zip(place, deals, strict=True):
        of_stratum[deal.value] = starts_of(deal.count)[:-1]
    n_buckets = np.array([deal.n_buckets for deal in deals], np.int64)
    before = np.cumsum(by_part, axis=1) - by_part
    coins = (BOX_COIN,) if method.cuts == "relaxed" else ()
    kept = (*staged.quasi_names, *coins)
    deal_part = DealPart(stratum_of, value_of, before, place.ravel(), n_buckets, starts_of(n_buckets)[:-1], kept)
    schema = {**dict.fromkeys(staged.quasi_names, pl.Int32), **dict.fromkeys((*coins, BUCKET), pl.Int64)}
    dealt = engine.apply(staged.data, part_of, deal_part, pl.DataFrame(schema=schema))
    return dealt, stratum_of, deals, value_of


def make_boxes_and_buckets(staged: Staged, method: DealsBlind, lines: ShownLines, on_progress: Progress) -> MadeTables:
    """The release of blind buckets."""
    if method.form != "buckets":
        raise InvalidInput(
            f'form = "{method.form}" of blind-buckets works on one machine in memory only; leave form out, or choose no engine.'
        )
    if not staged.sensitive:
        raise InvalidInput(
            "BlindBuckets deals sensitive values and the table has none; give a column the role 'sensitive'."
        )
    engine = staged.engine
    on_progress("Planning buckets", 0, 0)
    dealt, stratum_of, deals, value_of = deal_at_scale(staged, method)
    on_progress("Cutting the table into fragments", 0, 0)
    rule = CutRule(method.box_size, "gain")
    tree = grow_cut_tree(engine, staged.data, staged.quasi_identifiers, (), rule, stratum_of)
    cut = CutFragment(staged.quasi_identifiers, (), method.box_size, "gain", None, relaxed=method.cuts == "relaxed")
    first_bucket = starts_of(np.array([deal.n_buckets for deal in deals], np.int64))
    of_people = ShownLines(lines.order, lines.quasi, (), lines.show, lines.neutralise)
    of_values = ShownLines(lines.order, (), lines.sensitive, {}, lines.neutralise)
    n_parts = n_fragments_of(staged.engine, staged.n_rows)
    publish_boxes = PublishBoxes(cut, of_people)
    publish = PublishBuckets(deals, first_bucket, value_of.code_of_value, of_values, n_parts)
    return MadeTables(
        {
            "boxes": engine.apply(dealt, tree, publish_boxes, like_of(of_people, has_buckets=True)),
            "sensitive": engine.apply(
                engine.numbers(n_parts), FragmentIsNumber(), publish, like_of(of_values, has_buckets=True)
            ),
        },
        tree.n_fragments,
        groups=MadeGroups(engine.only(staged.data, staged.quasi_names), tree, publish_boxes.release),
    )


@dataclass(frozen=True)
class FragmentIsNumber:
    """The fragments 0, 1, 2, ..., of a row each."""

    def __call__(self, rows: RowBatch) -> Codes:
        return column_of(rows, "number").astype(np.int32)
