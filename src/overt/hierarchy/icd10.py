# SPDX-License-Identifier: Apache-2.0
"""Hierarchies of diagnoses coded in ICD-10: categories of three characters, and the chapters of the classification."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

from overt.arguments import require_list
from overt.errors import InvalidInput
from overt.hierarchy.base import Counts, Level, contiguous_level, known_values, plant
from overt.hierarchy.texts import texts_of
from overt.hierarchy.tree import Hierarchy
from overt.table import Kind

Icd10Level = Literal["category", "chapter"]
LEVELS: tuple[Icd10Level, ...] = get_args(Icd10Level)
CHAPTERS = (  # World Health Organization, ICD-10: first and last category of each chapter, in the order of the codes
    *("A00-B99", "C00-D48", "D50-D89", "E00-E90", "F00-F99", "G00-G99", "H00-H59", "H60-H95", "I00-I99", "J00-J99", "K00-K93"),
    *("L00-L99", "M00-M99", "N00-N99", "O00-O99", "P00-P96", "Q00-Q99", "R00-R99", "S00-T98", "U00-U99", "V01-Y98", "Z00-Z99"),
)  # fmt: skip
_FIRST = [chapter[:3] for chapter in CHAPTERS]
_CODE = re.compile(r"[A-Z][0-9][0-9A-Z](?:\.?[0-9A-Z]{1,4})?[+*!]?")


@dataclass(frozen=True)
class Icd10:
    """Codes of ICD-10 by their category (`E11*`) and their chapter (`E00-E90`), the finer first.

    A text that is no code, or lies in no chapter, stands for itself.

    >>> codes = pl.Series(["B20", "E11.9", "D50.0", "unclear"])
    >>> Icd10(levels=("category", "chapter")).build(codes, Kind.CATEGORY).to_frame().rows()[:3]
    [('B20', 'B20*', 'A00-B99', '*'), ('D50.0', 'D50*', 'D50-D89', '*'), ('E11.9', 'E11*', 'E00-E90', '*')]
    """

    levels: tuple[Icd10Level, ...] = LEVELS

    def __post_init__(self) -> None:
        require_list("Icd10", self.levels, '("category", "chapter")')
        object.__setattr__(self, "levels", tuple(self.levels))
        if not self.levels or list(self.levels) != [level for level in LEVELS if level in self.levels]:
            raise InvalidInput(
                f"Icd10 needs levels among {', '.join(LEVELS)}, each once and in this order; given: {self.levels}."
            )

    def build(self, values: pl.Series, kind: Kind, n_rows_of_value: Counts | None = None) -> Hierarchy:
        if kind is not Kind.CATEGORY:
            raise InvalidInput(f"Codes of ICD-10 are categories and this is a {kind} column; declare it a category.")
        leaves = known_values(values, kind)
        texts = texts_of(leaves)
        chapters = pl.Series([chapter_of(text) for text in texts], dtype=pl.Int64)
        order = pl.DataFrame({"chapter": chapters, "text": texts, "place": range(len(texts))}).sort("chapter", "text")
        leaves, texts, chapters = leaves.gather(order["place"]), order["text"], order["chapter"]
        built = [self._level(name, texts, chapters, values, kind) for name in self.levels]
        return plant(pl.concat([leaves, values.tail(values.null_count())]), built)

    def _level(self, name: Icd10Level, texts: pl.Series, chapters: pl.Series, values: pl.Series, kind: Kind) -> Level:
        is_code = chapters < len(CHAPTERS)
        shown = (
            texts.str.strip_chars().str.to_uppercase().str.slice(0, 3)
            if name == "category"
            else chapters.cast(pl.String)
        )
        blocks = pl.select(pl.when(is_code).then(shown).otherwise(texts)).to_series()
        keys = pl.DataFrame({"chapter": chapters, "block": blocks})
        number = (keys != keys.shift()).select(pl.any_horizontal(pl.all().fill_null(True))).to_series().cum_sum()

        def label(leaf: int) -> str | None:
            if not is_code[leaf]:
                return None
            return f"{blocks[leaf]}*" if name == "category" else CHAPTERS[chapters[leaf]]

        return contiguous_level(number.to_numpy(), label, values, kind)


def chapter_of(text: str) -> int:
    """The place of a code's chapter; as many as there are chapters for what lies in none."""
    is_ascii, text = text.isascii(), text.strip().upper()  # of other letters one can be two in capitals
    place = bisect_right(_FIRST, text[:3]) - 1
    is_code = is_ascii and place >= 0 and _CODE.fullmatch(text) is not None
    return place if is_code and text[:3] <= CHAPTERS[place][4:] else len(CHAPTERS)


def are_icd10(texts: pl.Series) -> bool:
    """Whether nearly all texts are codes of ICD-10 in some chapter, some of them finer than a category."""
    codes = texts.str.strip_chars()
    has_finer = bool(codes.str.contains(r"^[A-Z][0-9][0-9A-Z]\.").any())
    return has_finer and len(codes) >= 5 and sum(chapter_of(code) < len(CHAPTERS) for code in codes) >= 0.9 * len(codes)
