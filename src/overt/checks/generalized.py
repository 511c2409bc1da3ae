# SPDX-License-Identifier: Apache-2.0
# Tested through tests/checks/test_broken_releases.py
"""Check of a generalized release: one table of ranges, labels and sets with sensitive values."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import polars as pl

from overt.checks.findings import (
    find_cells,
    find_columns,
    find_goal,
    find_order,
    find_rows,
    find_truth,
    not_checked,
)
from overt.checks.matching import Boxes, match_rows
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
from overt.checks.witness import rows_are_lines
from overt.partition import Partition
from overt.table import Codes, Column, Table
from overt.threads import n_threads

ORDER = "what they show"


@dataclass(frozen=True, eq=False)
class ShownColumn:
    """A published quasi-identifier: what its texts mean, and the text of every line by its place in their order."""

    form: str
    readings: Readings
    texts_in_order: Codes
    key: Key
    n_unreadable: int  # lines

    @classmethod
    def read(cls, column: Column, cells: pl.Series, form: str | None) -> "ShownColumn":
        """Read every distinct text of a column once."""
        form = form_of(column, form)
        texts = Texts.of(cells)
        readings = read_cells(texts.distinct, column, form)
        order = order_texts(readings, column, form)
        return cls(form, readings, order, key_of(texts, order), int(readings.is_unreadable[texts.text_of_line].sum()))


def check_generalized(table: Table, frame: pl.DataFrame, claim: Claim, witness: Partition | None) -> Verdict:
    """Everything that can be said of a generalized release and the table it is said to come from."""
    columns, sensitive = table.quasi_identifiers, table.sensitive
    wanted = [column.name for column in (*columns, *sensitive)] + list(claim.others)
    layout = find_columns(table, frame, wanted)
    rows = find_rows(table, frame.height, claim)
    if not set(wanted) <= set(frame.columns):
        return Verdict((layout, rows, *not_checked(("cells", "order", "goal", "truth"), "columns are missing")))

    with ThreadPoolExecutor(max_workers=n_threads()) as pool:
        reads = [
            pool.submit(ShownColumn.read, column, frame.get_column(column.name), claim.show.get(column.name))
            for column in columns
        ]
        shared = {column.name: Shared.of_column(column, frame.get_column(column.name)) for column in sensitive}
        shared |= {n: Shared.of_other(table.others.get_column(n), frame.get_column(n)) for n in claim.others}
        shown = [read.result() for read in reads]
    n_unreadable = {name: column.n_unknown for name, column in shared.items()}
    n_unreadable |= {column.name: read.n_unreadable for column, read in zip(columns, shown, strict=True)}
    cells = [column.key for column in shown]
    groups = group_alike(cells)
    codes = {column.name: shared[column.name].code_of_line for column in sensitive}
    return Verdict(
        (
            layout,
            rows,
            find_cells(n_unreadable, len(wanted)),
            find_order(are_in_order([*cells, *(column.key for column in shared.values())]), ORDER),
            find_goal(claim, sensitive, codes, groups, "group"),
            _find_truth(table, claim, witness, shown, groups, list(shared.values())),
        )
    )


def _find_truth(
    table: Table,
    claim: Claim,
    witness: Partition | None,
    shown: list[ShownColumn],
    groups: Partition,
    shared: list[Shared],
) -> Finding:
    n_lines = groups.group_of_row.size
    some_line = first_of_each(groups)
    text_of_group = [column.texts_in_order[column.key.code_of_line[some_line]] for column in shown]
    forms, readings = [column.form for column in shown], [column.readings for column in shown]
    values = join_shared(shared, table.n_rows, n_lines)
    if witness is not None and rows_are_lines(table, witness, forms, readings, text_of_group, groups, values):
        return find_truth(claim, table.n_rows, n_lines, n_lines, "the owner's grouping of the rows shows it")
    value_of_row, value_of_line, n_values = values
    boxes = Boxes.of(readings, text_of_group)
    match = match_rows(table, value_of_row, groups, boxes, value_of_line, n_values)
    how = "every row fits one group only"
    if match.n_with_choice:
        how = f"{counted(match.n_with_choice, 'row')} could be in several groups, and all find a place"
    return find_truth(claim, table.n_rows, n_lines, match.n_matched, how)
