# SPDX-License-Identifier: Apache-2.0
"""Check of a generalized release: one table of ranges, labels and sets with sensitive values."""

import polars as pl

from overt.check.findings import (
    find_cells,
    find_columns,
    find_goal,
    find_order,
    find_rows,
    find_truth,
    not_checked,
)
from overt.check.lines import Shared, are_in_order, first_of_each, group_alike, join_shared, key_of, order_texts
from overt.check.matching import Boxes, match_rows
from overt.check.reading import Readings, Texts, read_cells, usual_form
from overt.check.verdict import Claim, Finding, Verdict, counted
from overt.check.witness import rows_are_lines
from overt.partition import Partition
from overt.table import Table

ORDER = "what they show"


def check_generalized(table: Table, frame: pl.DataFrame, claim: Claim, witness: Partition | None) -> Verdict:
    """Everything that can be said of a generalized release and the table it is said to come from."""
    columns, sensitive = table.quasi_identifiers, table.sensitive
    wanted = [column.name for column in (*columns, *sensitive)] + list(claim.others)
    layout = find_columns(table, frame, wanted)
    rows = find_rows(table, frame.height, claim)
    if not set(wanted) <= set(frame.columns):
        return Verdict((layout, rows, *not_checked(("cells", "order", "goal", "truth"), "columns are missing")))

    forms = [claim.show.get(column.name) or usual_form(column) for column in columns]
    texts = [Texts.of(frame.get_column(column.name)) for column in columns]
    readings = [read_cells(t.distinct, c, form) for t, c, form in zip(texts, columns, forms, strict=True)]
    shared = {column.name: Shared.of_column(column, frame.get_column(column.name)) for column in sensitive}
    shared |= {n: Shared.of_other(table.others.get_column(n), frame.get_column(n)) for n in claim.others}
    n_unreadable = {name: column.n_unknown for name, column in shared.items()} | {
        column.name: int(reading.is_unreadable[text.text_of_line].sum())
        for column, text, reading in zip(columns, texts, readings, strict=True)
    }
    orders = [order_texts(r, c, form) for r, c, form in zip(readings, columns, forms, strict=True)]
    cells = [key_of(text, order) for text, order in zip(texts, orders, strict=True)]
    groups = group_alike(cells)
    codes = {column.name: shared[column.name].code_of_line for column in sensitive}
    return Verdict(
        (
            layout,
            rows,
            find_cells(n_unreadable, len(wanted)),
            find_order(are_in_order([*cells, *(column.key for column in shared.values())]), ORDER),
            find_goal(claim, sensitive, codes, groups, "group"),
            _find_truth(table, claim, witness, forms, texts, readings, groups, list(shared.values())),
        )
    )


def _find_truth(
    table: Table,
    claim: Claim,
    witness: Partition | None,
    forms: list[str],
    texts: list[Texts],
    readings: list[Readings],
    groups: Partition,
    shared: list[Shared],
) -> Finding:
    n_lines = groups.group_of_row.size
    some_line = first_of_each(groups)
    text_of_group = [text.text_of_line[some_line] for text in texts]
    values = join_shared(shared, table.n_rows, n_lines)
    if witness is not None and rows_are_lines(table, witness, forms, readings, text_of_group, groups, values):
        return find_truth(claim, table.n_rows, n_lines, n_lines, "the owner's grouping of the rows shows it")
    value_of_row, value_of_line, n_values = values
    boxes = Boxes.of(readings, text_of_group)
    match = match_rows(table, value_of_row, groups, boxes, value_of_line, n_values)
    how = f"{counted(match.n_with_choice, 'row')} could be in several groups, and all find a place"
    return find_truth(claim, table.n_rows, n_lines, match.n_matched, how)
