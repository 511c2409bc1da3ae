# SPDX-License-Identifier: Apache-2.0
"""Small tables of persons with several rows, built from codes."""

import numpy as np
import polars as pl

from overt.persons import Bundles, Persons
from overt.table import Column, Kind, Role, Table


def table_of_persons(quasi_identifiers, *bundles, known="visits"):
    """One list per quasi-identifier; one list of bundles per sensitive column, a bundle being a text, of which each letter is a row."""
    columns = [
        Column(f"q{j}", Role.QUASI_IDENTIFIER, Kind.NUMBER, np.array(codes, np.int32), pl.Series(range(max(codes) + 1)))
        for j, codes in enumerate(quasi_identifiers)
    ]
    if known == "visits":
        lengths = [len(bundle) for bundle in bundles[0]]
        counts = sorted(set(lengths))
        codes = np.array([counts.index(n) for n in lengths], np.int32)
        columns.append(Column("number of rows", Role.QUASI_IDENTIFIER, Kind.NUMBER, codes, pl.Series(counts)))
    for j, of_person in enumerate(bundles):
        letters, kinds = sorted(set("".join(of_person))), sorted(set(of_person))
        first = np.append(0, np.cumsum([len(bundle) for bundle in kinds]))
        code = np.array([letters.index(letter) for bundle in kinds for letter in bundle], np.int32)
        held = Bundles(first, code, pl.Series(letters), by_length=known == "visits")
        codes = np.array([kinds.index(bundle) for bundle in of_person], np.int32)
        columns.append(Column(f"s{j}", Role.SENSITIVE, Kind.CATEGORY, codes, pl.Series(kinds), bundles=held))
    return Table(tuple(columns), pl.DataFrame(), persons=Persons("id", sum(map(len, bundles[0])), 0, known=known))
