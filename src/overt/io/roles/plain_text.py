# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/roles/test_roles.py
"""Texts without accents and capitals, so that words of many languages can be compared."""

import unicodedata

import polars as pl

_LETTERS = {"ı": "i", "İ": "i", "ł": "l", "Ł": "l", "ß": "ss", "ø": "o", "Ø": "o", "ä": "a", "æ": "ae", "œ": "oe"}


def plain(text: str) -> str:
    """Small letters without accents.

    >>> plain("Straße"), plain("Öğrenci"), plain("N° 3")
    ('strasse', 'ogrenci', 'n° 3')
    """
    for letter, instead in _LETTERS.items():
        text = text.replace(letter, instead)
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).lower()


def plain_texts(texts: pl.Series) -> pl.Series:
    """The same of every text."""
    return (
        texts.str.replace_many(list(_LETTERS), list(_LETTERS.values()))
        .str.normalize("NFKD")
        .str.replace_all(r"\p{M}", "")
        .str.to_lowercase()
    )
