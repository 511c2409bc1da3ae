# SPDX-License-Identifier: Apache-2.0
"""Census-like microdata of any size, made from a seed: no real person is in it.

The shape is that of the census extract on which bucketization papers measure: Age 79 values, Gender 2,
Education 17, Birthplace 57, Occupation 50, Income 50. Education depends on age; occupation on education,
gender and age; income on occupation, education and age. Birthplace is skewed. No occupation and no income
is above a tenth of the rows, so that l up to 10 can be asked for.

Every random choice is one of 4096 equally likely tickets. What a ticket stands for is decided in integers,
and a row takes a fixed share of the bit stream: the same seed gives the same rows on every machine, and a
shorter table is the beginning of a longer one.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput
from overt.samples import vocabulary

if TYPE_CHECKING:
    from overt.hierarchy import Builder

SmallCodes = NDArray[np.uint8]

N_TICKETS = 4096
WORDS_PER_ROW = 3  # of 64 bits, four tickets each
BLOCK_ROWS = 1 << 16  # what fits the cache

COLUMNS = ("Age", "Gender", "Education", "Birthplace", "Occupation", "Income")
WIDE_COLUMNS = (
    *("Id", "Age", "Gender", "Education", "Birthplace", "Marital status", "Race", "Work class"),
    *("Hours", "Region", "Occupation", "Income"),
)


def census(n_rows: int = 600_000, *, seed: int = 0) -> pl.DataFrame:
    """Census-like microdata: four quasi-identifiers, then Occupation and Income, meant as sensitive.

    >>> census(3, seed=1).columns
    ['Age', 'Gender', 'Education', 'Birthplace', 'Occupation', 'Income']
    """
    return generate(n_rows, seed, COLUMNS)


def wide_census(n_rows: int = 600_000, *, seed: int = 0) -> pl.DataFrame:
    """The same people with twelve columns: an identifier and five more quasi-identifiers.

    >>> wide_census(3, seed=1).select(census(3, seed=1).columns).equals(census(3, seed=1))
    True
    """
    return generate(n_rows, seed, WIDE_COLUMNS)


def census_hierarchies() -> dict[str, "Builder"]:
    """Builders of hierarchies for columns of `census` and `wide_census`, by column name.

    >>> sorted(census_hierarchies())
    ['Age', 'Birthplace', 'Education', 'Hours', 'Income', 'Occupation']
    """
    from overt.hierarchy import Intervals, Nested

    return {
        "Age": Intervals(widths=(5, 10, 20, 40)),
        "Education": Nested(vocabulary.EDUCATIONS),
        "Birthplace": Nested(vocabulary.BIRTHPLACES),
        "Occupation": Nested(vocabulary.OCCUPATIONS),
        "Income": Intervals(widths=(10_000, 20_000, 40_000)),
        "Hours": Intervals(widths=(5, 10, 20)),
    }


def generate(n_rows: int, seed: int, names: Sequence[str]) -> pl.DataFrame:
    """The named columns of the first `n_rows` people of a seed."""
    if n_rows < 0 or seed < 0:
        raise InvalidInput(f"n_rows is {n_rows} and seed is {seed}; neither can be negative.")
    codes_of = {name: np.empty(n_rows, np.uint8) for name in names if name != "Id"}
    stream = np.random.PCG64(seed)
    for start in range(0, n_rows, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, n_rows)
        words = stream.random_raw((stop - start) * WORDS_PER_ROW).reshape(-1, WORDS_PER_ROW)
        people = draw_people(words, wide=len(names) > len(COLUMNS))
        for name, codes in codes_of.items():
            codes[start:stop] = people[name]
    return pl.DataFrame({name: decode(name, codes_of[name]) if name != "Id" else ids(n_rows) for name in names})


def draw_people(words: NDArray[np.uint64], *, wide: bool) -> dict[str, SmallCodes]:
    """Codes of every column but Id, for as many people as there are rows of random words."""
    code_of_ticket = deal_all()

    def ticket(choice: int) -> NDArray[np.int64]:
        word, quarter = divmod(choice, 4)
        return ((words[:, word] >> np.uint64(16 * quarter)) & np.uint64(N_TICKETS - 1)).view(np.int64)

    def draw(choice: int, name: str, condition: NDArray[np.integer] | int = 0) -> SmallCodes:
        return code_of_ticket[name].take(condition * N_TICKETS + ticket(choice))

    age = draw(0, "Age")
    band = vocabulary.band_of_age()[age]
    gender = draw(1, "Gender", age.astype(np.int64))
    education = draw(2, "Education", band)
    birthplace = draw(3, "Birthplace")
    occupation = draw(4, "Occupation", (band * vocabulary.N_EDUCATIONS + education) * 2 + gender)
    pay = vocabulary.usual_pay()[band, education, occupation] + vocabulary.luck()[ticket(5)]
    people = {
        "Age": age,
        "Gender": gender,
        "Education": education,
        "Birthplace": birthplace,
        "Occupation": occupation,
        # nobody earns less than nothing: what falls below the first step is as far above it
        "Income": np.minimum(np.abs(pay), len(vocabulary.INCOMES) - 1).astype(np.uint8),
    }
    if wide:
        people["Marital status"] = draw(6, "Marital status", band)
        people["Race"] = draw(7, "Race", vocabulary.branch_of_birthplace()[birthplace])
        people["Work class"] = draw(8, "Work class", vocabulary.branch_of_occupation()[occupation])
        people["Hours"] = draw(9, "Hours", band)
        people["Region"] = draw(10, "Region")
    return people


@cache
def deal_all() -> dict[str, SmallCodes]:
    """Name of a choice -> (condition, ticket) -> code."""
    return {name: deal(weights) for name, weights in vocabulary.weights().items()}


def deal(weights: NDArray[np.float64]) -> SmallCodes:
    """Share out the tickets of every condition in proportion to its weights, in whole numbers."""
    whole = np.rint(weights * 1e6 / weights.max(axis=1, keepdims=True)).astype(np.int64)
    last_ticket = whole.cumsum(axis=1) * N_TICKETS // whole.sum(axis=1, keepdims=True)
    n_tickets = np.diff(last_ticket, axis=1, prepend=0)  # (condition, code)
    codes = np.broadcast_to(np.arange(weights.shape[1], dtype=np.uint8), weights.shape)
    return np.repeat(codes.ravel(), n_tickets.ravel()).reshape(len(weights), N_TICKETS)


def decode(name: str, codes: SmallCodes) -> pl.Series:
    """The values that codes stand for: numbers, or labels that keep the order of the vocabulary."""
    values = vocabulary.values()[name]
    if isinstance(values, np.ndarray):
        return pl.Series(values[codes])
    return pl.Series(values, dtype=pl.Enum(values)).gather(codes)


def ids(n_rows: int) -> pl.Series:
    """A number for every row, no two alike and in no visible order."""
    scramble = np.uint32(0x9E3779B1)  # odd, so that multiplying by it modulo 2**32 loses nothing
    return pl.Series(np.arange(1, n_rows + 1, dtype=np.uint32) * scramble)
