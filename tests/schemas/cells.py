# SPDX-License-Identifier: Apache-2.0
"""What the cells of an invented column are drawn from. The words are Faker's, written by other people than our rules."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

import numpy as np
import polars as pl
from faker import Faker


@dataclass(frozen=True)
class Drawing:
    """The coins of a schema, and how many rows it has."""

    faker: Faker
    rng: np.random.Generator
    n_rows: int


Cells = Callable[[Drawing], list[str]]


@dataclass(frozen=True)
class Schema:
    """A file: its language, and (name, expected role, cells) of every column. Two letters: an expert might say either."""

    name: str
    locale: str
    columns: tuple[tuple[str, str, Cells], ...]
    n_rows: int = 600

    def frame(self) -> pl.DataFrame:
        """The same invented rows every time."""
        return _frame_of(self)

    @property
    def expected(self) -> dict[str, str]:
        """(column) -> the letters of the roles that are right: I, Q, S or O."""
        return {header: letters for header, letters, _ in self.columns}


@cache
def _frame_of(schema: Schema) -> pl.DataFrame:
    faker = Faker(schema.locale)
    faker.seed_instance(sum(schema.name.encode()))
    drawing = Drawing(faker, np.random.default_rng(sum(schema.name.encode())), schema.n_rows)
    return pl.DataFrame({header: cells(drawing) for header, _, cells in schema.columns})


def some(provider: str, n_distinct: int = 150, **options: object) -> Cells:
    """Cells of a provider of Faker, with so many different values."""

    def cells(drawing: Drawing) -> list[str]:
        pool = [str(getattr(drawing.faker, provider)(**options)).replace("\n", ", ") for _ in range(n_distinct)]
        return [pool[i] for i in drawing.rng.integers(0, len(pool), drawing.n_rows)]

    return cells


def every(provider: str, **options: object) -> Cells:
    """A value for every row."""

    def cells(drawing: Drawing) -> list[str]:
        return [str(getattr(drawing.faker, provider)(**options)).replace("\n", ", ") for _ in range(drawing.n_rows)]

    return cells


def one_of(*values: str, shares: tuple[float, ...] | None = None) -> Cells:
    """Some of these values."""
    return lambda drawing: [values[i] for i in drawing.rng.choice(len(values), drawing.n_rows, p=shares)]


def whole(least: int, most: int) -> Cells:
    """Whole numbers."""
    return lambda drawing: [str(n) for n in drawing.rng.integers(least, most + 1, drawing.n_rows)]


def amount(middle: float, spread: float, decimals: int = 2, comma: bool = False) -> Cells:
    """Amounts of money and the like, skewed."""

    def cells(drawing: Drawing) -> list[str]:
        drawn = middle * np.exp(spread * drawing.rng.standard_normal(drawing.n_rows))
        return [f"{x:.{decimals}f}".replace(".", "," if comma else ".") for x in drawn]

    return cells


def day(form: str, first: int = 1930, last: int = 2010) -> Cells:
    """Days of these years, in a form."""

    def cells(drawing: Drawing) -> list[str]:
        n_days = (date(last, 12, 31) - date(first, 1, 1)).days
        return [
            (date(first, 1, 1) + timedelta(days=int(n))).strftime(form)
            for n in drawing.rng.integers(0, n_days, drawing.n_rows)
        ]

    return cells


def pattern(form: str, n_distinct: int | None = None) -> Cells:
    """Texts in which every # is a digit and every ? a capital letter; without `n_distinct` one for every row."""

    def cells(drawing: Drawing) -> list[str]:
        made: list[str] = []
        while len(made) < (n_distinct or drawing.n_rows):
            digits = drawing.rng.integers(0, 10, len(form))
            letters = drawing.rng.integers(0, 26, len(form))
            text = "".join(
                str(d) if mark == "#" else chr(65 + c) if mark == "?" else mark
                for mark, d, c in zip(form, digits, letters, strict=True)
            )
            if n_distinct or text not in made:
                made.append(text)
        return made if n_distinct is None else [made[i] for i in drawing.rng.integers(0, len(made), drawing.n_rows)]

    return cells


def rising(first: int) -> Cells:
    """1001, 1002, ..."""
    return lambda drawing: [str(first + i) for i in range(drawing.n_rows)]


def often_missing(cells: Cells, share: float = 0.1, mark: str = "") -> Cells:
    """The same, with cells that are not known."""

    def with_missing(drawing: Drawing) -> list[str]:
        known = cells(drawing)
        gone = drawing.rng.random(drawing.n_rows) < share
        return [mark if is_gone else text for text, is_gone in zip(known, gone, strict=True)]

    return with_missing


ICD = ("I10", "I25.1", "E11.9", "J45.0", "J18.9", "K35.8", "M54.5", "F32.1", "F20.0", "C50.9", "N18.3", "S72.0", "G43.9", "A09.9", "B20", "Z51.1")  # fmt: skip
