# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/other_tools/test_published_cells.py
"""Guesses: how many exact values somebody gets right who spreads what is not certain evenly over what is possible.

For the owner: it compares with the true values. It is also where bounds are held against the truth, which they must never exclude.
"""

from collections.abc import Sequence

import numpy as np

from overt.adversary.downcoding.bounds import CountBounds
from overt.adversary.downcoding.published import Published
from overt.errors import InvalidInput
from overt.table import Codes


def count_guessed(
    published: Published, bounds: Sequence[CountBounds], class_of_row: Codes, codes: Sequence[Codes]
) -> float:
    """Generalized cells whose exact value is guessed right, on the average over which row of the class has which value."""
    right = 0.0
    for column, of_column, code_of_row in zip(published.columns, bounds, codes, strict=True):
        n_codes = column.column.n_values
        n_items = of_column.n_items
        key = np.repeat(np.arange(n_items.size), n_items) * n_codes + of_column.least
        item = np.searchsorted(key, class_of_row.astype(np.int64) * n_codes + code_of_row, side="right") - 1
        true = np.bincount(np.maximum(item, 0), minlength=of_column.lo.size)
        fits = (item >= 0) & (of_column.greatest[item] >= code_of_row) & (of_column.least[item] <= code_of_row)
        if not fits.all() or (true < of_column.lo).any() or (true > of_column.hi).any():
            raise InvalidInput(
                f"What would follow for column {column.column.name!r} does not agree with the original: the release is not "
                "what its method makes of this table, or is not shown in the forms that are claimed."
            )
        width = of_column.greatest - of_column.least + 1
        room = np.where(of_column.hi > of_column.lo, width, 0)
        extra = of_column.spread(of_column.n_rows - of_column.sum(of_column.lo))
        expected = of_column.lo + extra * room / np.maximum(1, of_column.spread(of_column.sum(room)))
        chance = expected / (width * of_column.spread(of_column.n_rows))
        counted = true * np.minimum(chance, 1.0)
        right += float(counted[of_column.spread(column.is_generalized.astype(np.int64)) > 0].sum())
    return right
