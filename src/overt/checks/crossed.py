# SPDX-License-Identifier: Apache-2.0
"""Check of a cross-bucket release: boxes in one table, sensitive values in another, joined by bucket.

People who show the same box are one group to the reader. A goal is judged of what can be believed of such a group: in
which of its buckets a member is, and which value of that bucket is theirs.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from overt.checks.bucket_truth import Members, rows_are_members
from overt.checks.buckets import BUCKET, ORDER, BucketNumbers, are_numbered_by_content, find_two_tables
from overt.checks.findings import AGAIN, find_cells, find_order, find_truth, not_checked
from overt.checks.matching import Boxes, share_out
from overt.checks.published_lines import (
    Key,
    Shared,
    are_in_order,
    first_of_each,
    group_alike,
    join_shared,
    key_of,
    order_texts,
)
from overt.checks.reading import Readings, Texts, form_of, read_cells
from overt.checks.verdict import Claim, Finding, Verdict, counted
from overt.checks.witness import count_strangers, find_groups, suggest_texts
from overt.kernels.counting import order_by_code
from overt.kernels.matching import seat_points
from overt.partition import Groups, Partition
from overt.table import Codes, Column, Role, Table
from overt.threads import n_threads

GROUPS_AND_BUCKETS = tuple[Partition, Partition]


@dataclass(frozen=True, eq=False)
class ShownBoxes:
    """The quasi-identifiers of all lines: what each column's texts mean, and which lines show the same box."""

    forms: list[str]
    texts: list[Texts]
    readings: list[Readings]
    keys: list[Key]
    groups: Partition

    @classmethod
    def of(cls, columns: Sequence[Column], people: pl.DataFrame, claim: Claim) -> "ShownBoxes":
        """Read the cells of the table of boxes."""
        forms = [form_of(column, claim.show.get(column.name)) for column in columns]
        texts = [Texts.of(people.get_column(column.name)) for column in columns]
        readings = [read_cells(t.distinct, c, form) for t, c, form in zip(texts, columns, forms, strict=True)]
        orders = [order_texts(r, c, form) for r, c, form in zip(readings, columns, forms, strict=True)]
        keys = [key_of(text, order) for text, order in zip(texts, orders, strict=True)]
        return cls(forms, texts, readings, keys, group_alike(keys))

    @property
    def text_of_group(self) -> list[Codes]:
        some_line = first_of_each(self.groups)
        return [text.text_of_line[some_line] for text in self.texts]


def check_crossed(
    table: Table, people: pl.DataFrame, values: pl.DataFrame, claim: Claim, witness: GROUPS_AND_BUCKETS | None
) -> Verdict:
    """Everything that can be said of a cross-bucket release and the table it is said to come from."""
    columns, sensitive = table.quasi_identifiers, table.sensitive
    layout, rows, is_whole = find_two_tables(table, people, values, claim)
    if not is_whole:
        names = ("buckets", "cells", "order", "goal", "truth")
        return Verdict((layout, rows, *not_checked(names, "columns are missing")))

    buckets = BucketNumbers.of(people.get_column(BUCKET), values.get_column(BUCKET))
    boxes = ShownBoxes.of(columns, people, claim)
    others = {n: Shared.of_other(table.others.get_column(n), people.get_column(n)) for n in claim.others}
    of_values = {column.name: Shared.of_column(column, values.get_column(column.name)) for column in sensitive}
    n_unreadable = {BUCKET: buckets.n_unreadable}
    n_unreadable |= {
        column.name: int(reading.is_unreadable[text.text_of_line].sum())
        for column, text, reading in zip(columns, boxes.texts, boxes.readings, strict=True)
    }
    n_unreadable |= {name: column.n_unknown for name, column in (others | of_values).items()}
    n = max(1, buckets.numbers.size)
    people_keys = [*boxes.keys, *(other.key for other in others.values())]
    is_sorted = are_in_order([Key(buckets.of_person, n), *people_keys]) and are_in_order(
        [Key(buckets.of_value, n), *(column.key for column in of_values.values())]
    )
    shown = group_alike(people_keys)
    value_of_row, value_of_line, n_values = join_shared(list(of_values.values()), table.n_rows, values.height)
    nobody = np.zeros(table.n_rows, np.int32)  # who is which person matters for truth only
    members = Members(
        nobody, shown.group_of_row, shown.n_groups, value_of_row, value_of_line, n_values, buckets.of_person,
        buckets.of_value, n,
    )  # fmt: skip
    same_buckets = buckets.find()
    return Verdict(
        (
            layout,
            rows,
            same_buckets,
            find_cells(n_unreadable, 1 + len(columns) + len(claim.others) + len(sensitive)),
            find_order(is_sorted and are_numbered_by_content(members), ORDER),
            find_belief(claim, sensitive, of_values, boxes.groups, buckets)
            if same_buckets.ok
            else not_checked(("goal",), "the buckets of the two tables differ")[0],
            find_crossed_truth(table, claim, boxes, list(others.values()), members, witness),
        )
    )


def find_belief(
    claim: Claim, sensitive: Sequence[Column], values: dict[str, Shared], groups: Partition, buckets: BucketNumbers
) -> Finding:
    """The goal holds of what a reader can believe of the people of every box."""
    if not groups.n_groups:
        return Finding("goal", True, f"{claim.goal} holds: the release has no rows.")
    unknown = [column.name for column in sensitive if values[column.name].n_unknown]
    if unknown:
        names = ", ".join(map(repr, unknown))
        return Finding(
            "goal", False, f"{claim.goal} cannot be judged: cells of {names} name values that the original lacks."
        )
    # inside a bucket it does not matter which value stands beside which box
    n, lines = buckets.numbers.size, np.arange(groups.group_of_row.size, dtype=np.int32)
    by_person, by_value = order_by_code(buckets.of_person, n, lines), order_by_code(buckets.of_value, n, lines)
    shown = []
    for column in sensitive:
        codes = np.empty(lines.size, np.int32)
        codes[by_person] = values[column.name].code_of_line[by_value]
        shown.append(replace(column, role=Role.SENSITIVE, codes=codes, dtype=None))
    believed = Groups.of_crossed(shown, groups, Partition(buckets.of_person, n))
    measured = f"measured: {claim.goal.describe_measure(believed)}"
    n_broken = int(claim.goal.breaks(believed).sum())
    if n_broken:
        boxes = counted(groups.n_groups, "box").replace("boxs", "boxes")
        return Finding(
            "goal", False, f"{claim.goal} is broken for the people of {n_broken:,} of {boxes} ({measured}). {AGAIN}"
        )
    return Finding("goal", True, f"{claim.goal} holds for the people of every box ({measured}).")


def find_crossed_truth(
    table: Table,
    claim: Claim,
    boxes: ShownBoxes,
    others: list[Shared],
    members: Members,
    witness: GROUPS_AND_BUCKETS | None,
) -> Finding:
    """The lines are the rows: exactly with a witness; without one, as far as it can be decided.

    From the tables alone the question is NP-hard (see `bucket_truth`). Every row must find a box that covers it in a
    bucket that holds its value, no two rows the same place of a value; how values share a bucket is left open.
    """
    n_lines = boxes.groups.group_of_row.size
    if witness is not None and _is_witnessed(table, boxes, others, members, *witness):
        return find_truth(claim, table.n_rows, n_lines, n_lines, "the owner's groups and buckets of rows show it")
    placed = place_rows(table, boxes, members)
    rows, lines = (np.bincount(of, minlength=members.n_values) for of in (members.value_of_row, members.value_of_line))
    n_wrong = max(table.n_rows - placed, int(np.maximum(lines - rows, 0).sum()))
    for other in others:
        rows, lines = (np.bincount(of, minlength=other.n_codes) for of in (other.code_of_row, other.code_of_line))
        n_wrong = max(n_wrong, int(np.maximum(lines - rows, 0).sum()))
    how = "for every value its rows find boxes that cover them in buckets that hold it"
    return find_truth(claim, table.n_rows, n_lines, n_lines - n_wrong, how)


def _is_witnessed(
    table: Table, boxes: ShownBoxes, others: list[Shared], members: Members, groups: Partition, buckets: Partition
) -> bool:
    """Whether each group of rows is behind one box that covers it, and each bucket of rows behind one bucket."""
    columns = table.quasi_identifiers
    if not table.n_rows == groups.group_of_row.size == boxes.groups.group_of_row.size:
        return False
    shown = zip(columns, boxes.forms, boxes.readings, strict=True)
    texts = [suggest_texts(column, groups, form, readings) for column, form, readings in shown]
    text_of_box = boxes.text_of_group
    box_of_group = find_groups(texts, text_of_box, [reading.n_texts for reading in boxes.readings])
    if (box_of_group < 0).any():
        return False
    for column, readings, text in zip(columns, boxes.readings, text_of_box, strict=True):
        if count_strangers(column, groups, text[box_of_group], readings):
            return False
    box = Shared(box_of_group[groups.group_of_row], boxes.groups.group_of_row, boxes.groups.n_groups, 0)
    person_of_row, person_of_line, n_people = join_shared([box, *others], table.n_rows, table.n_rows)
    people = Members(
        person_of_row, person_of_line, n_people, members.value_of_row, members.value_of_line, members.n_values,
        members.bucket_of_person, members.bucket_of_value, members.n_buckets,
    )  # fmt: skip
    return rows_are_members(people, buckets)


def place_rows(table: Table, boxes: ShownBoxes, members: Members) -> int:
    """How many rows find a line whose box covers them in a bucket with their value, value by value."""
    lines = _count(bucket=members.bucket_of_person, box=boxes.groups.group_of_row)
    held = _count(bucket=members.bucket_of_value, value=members.value_of_line)
    seats = lines.join(held, on="bucket").select("value", "box", n=pl.min_horizontal("n", "n_right"))
    seats = seats.group_by("value", "box").agg(pl.col("n").sum()).sort("value", "box")
    first_seat = np.searchsorted(seats.get_column("value").to_numpy(), np.arange(members.n_values + 1))
    columns = table.quasi_identifiers
    keys = [Key(members.value_of_row, members.n_values), *(Key(c.codes, max(1, c.n_values)) for c in columns)]
    points = group_alike(keys)
    some_row = first_of_each(points)
    codes = np.stack([column.codes[some_row] for column in columns], 1)
    first_point = np.searchsorted(members.value_of_row[some_row], np.arange(members.n_values + 1))
    standing = points.sizes.copy()
    covers = Boxes.of(boxes.readings, boxes.text_of_group).arrays()
    box, capacity = (seats.get_column(name).to_numpy(writable=True) for name in ("box", "n"))

    def seat(values: tuple[int, int]) -> None:
        these = slice(values[0], values[1] + 1)
        seat_points(codes, standing, first_point[these], box, capacity, first_seat[these], covers)

    with ThreadPoolExecutor(max_workers=n_threads()) as pool:  # values do not meet, so threads do not either
        list(pool.map(seat, share_out(first_point, 4 * n_threads())))
    return table.n_rows - int(standing.sum())


def _count(**codes: Codes) -> pl.DataFrame:
    frame = pl.DataFrame(codes)
    return frame.group_by(frame.columns).agg(n=pl.len().cast(pl.Int64))
