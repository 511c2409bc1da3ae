# SPDX-License-Identifier: Apache-2.0
"""Held out: what a model says of everybody that was learned from other people's rows.

People are held out in parts. Everyone of a small group or bucket is in the same part: a model that had seen the true values
of the others would know what is left over. Nothing of one part's model is handed to another's.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.learner.indicators import Indicators, levels_of_values
from overt.adversary.learner.log_linear import LogLinear
from overt.adversary.posterior import Chances
from overt.progress import Progress
from overt.table import Codes, Column, Table
from overt.threads import map_in_threads

N_PARTS = 5
MOST_TAUGHT = 50_000  # rows that a model learns from
MOST_CLASSES = 32  # of sensitive values; rarer values, or neighbouring numbers, are one class
MOST_INTERVALS = 24
N_QUARTERS = 4
TRUSTS = tuple(np.linspace(0, 1, 21).tolist())  # from the shares of classes to what the model says
LEAST_CHANCE = 1e-12

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What is believed of people before the release is looked at. Values of one class are as frequent as they are elsewhere."""

    class_of_value: Codes
    chance: Chances  # (row, class); of rows that were not asked about, 0
    guess: Codes  # (row) -> the likeliest value


def learn_held_out(
    table: Table, column: Column, unit_of_row: Codes, asked: Rows, *, rng: Generator, on_progress: Progress
) -> HeldOut:
    """Learn how a sensitive column depends on the quasi-identifiers; rows of one unit are held out together."""
    class_of_value, n_classes = levels_of_values(column, MOST_CLASSES, MOST_INTERVALS)
    class_of_row, indicators = class_of_value[column.codes], Indicators.of(table.quasi_identifiers)
    n_units = int(unit_of_row.max(initial=-1)) + 1
    part_of_row = rng.permutation(np.arange(n_units) % N_PARTS)[unit_of_row]
    chance, guess = np.zeros((table.n_rows, n_classes)), np.zeros(table.n_rows, np.int32)
    part_of_asked = part_of_row[asked]
    taught = [_some(np.flatnonzero(part_of_row != part), rng) for part in range(N_PARTS)]
    on_progress("Learning from other people's rows", 0, N_PARTS)

    def learn(part: int) -> None:
        about = asked[part_of_asked == part]
        if about.size:
            chance[about] = _chances_about(about, indicators, class_of_row, n_classes, taught[part])
            others = np.bincount(column.codes[part_of_row != part], minlength=column.n_values)
            guess[about] = _likeliest(chance[about], others, class_of_value)

    map_in_threads(learn, range(N_PARTS))
    return HeldOut(class_of_value, chance, guess)


def _chances_about(about: Rows, indicators: Indicators, class_of_row: Codes, n_classes: int, taught: Rows) -> Chances:
    """(row, class): what a model says that learned from `taught`, drawn towards the shares of classes as far as it overstates.

    How far is learned from rows it was taught by too: a model of three quarters of them is asked about the last quarter.
    """
    share = (np.bincount(class_of_row[taught], minlength=n_classes) + 1) / (taught.size + n_classes)
    is_last = np.arange(taught.size) % N_QUARTERS == N_QUARTERS - 1
    last = taught[is_last]
    trial = LogLinear.fit(indicators, class_of_row, n_classes, taught[~is_last]).chances(indicators, last)
    losses = [
        -np.log(drawn_towards(share, trial, trust)[np.arange(last.size), class_of_row[last]]).sum() for trust in TRUSTS
    ]
    model = LogLinear.fit(indicators, class_of_row, n_classes, taught)
    return drawn_towards(share, model.chances(indicators, about), TRUSTS[int(np.argmin(losses))])


def drawn_towards(share: Chances, chance: Chances, trust: float) -> Chances:
    """(row, class): the share of each class, times how much likelier than that it is said to be, to the power of `trust`."""
    drawn = share * (np.maximum(chance, LEAST_CHANCE) / share) ** trust
    normed: Chances = drawn / drawn.sum(axis=1, keepdims=True)
    return normed


def _some(rows: Rows, rng: Generator) -> Rows:
    return rows if rows.size <= MOST_TAUGHT else np.sort(rng.choice(rows, MOST_TAUGHT, replace=False))


def _likeliest(chance: Chances, count_of_value: NDArray[np.int64], class_of_value: Codes) -> Codes:
    """(row) -> the likeliest value, if values of a class are as likely as they are frequent."""
    n_classes = chance.shape[1]
    of_class = np.bincount(class_of_value, weights=count_of_value, minlength=n_classes)
    by_count = np.lexsort((-count_of_value, class_of_value))
    first = by_count[
        np.searchsorted(class_of_value[by_count], np.arange(n_classes))
    ]  # (class) -> its most frequent value
    share = (count_of_value[first] + 1e-9) / (of_class + 1e-9)
    best: Codes = first.astype(np.int32)[(chance * share).argmax(axis=1)]
    return best
