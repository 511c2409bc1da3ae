# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_persons.py
"""Persons with several rows, in words: how many persons and rows, whose knowledge is covered, and what is not promised."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from overt.metrics.known_counts import KnownCounts
from overt.partition import Groups, Partition
from overt.persons import Persons
from overt.privacy.base import Property, SensitiveProperty
from overt.report.sentences import counted, percent
from overt.table import Table

HOW = {"random": "drawn at random", "latest": "the latest", "first": "the first"}


def rows_published(table: Table) -> int:
    """How many rows the persons of a table have in it."""
    column = next((column for column in table.sensitive if column.bundles is not None), None)
    return table.n_rows if column is None or column.bundles is None else int(column.bundles.lengths[column.codes].sum())


def counted_persons(table: Table, n: int | None = None) -> str:
    """As in "600 persons with 1,190 rows", or of a table in which a row is a person "600 rows"."""
    n = table.n_rows if n is None else n
    if table.persons is None:
        return counted(n, "row")
    if not table.has_bundles:
        return f"{counted(n, 'person')} with one row each"
    return f"{counted(n, 'person')} with {counted(rows_published(table), 'row')}"


def released_words(whom: str) -> str:
    """What stands under the number of those who are released: of persons also how many rows they have.

    >>> released_words("600 persons with 1,190 rows"), released_words("600 rows"), released_words("")
    ('persons with 1,190 rows', 'rows released', 'rows released')
    """
    words = whom.partition(" ")[2]
    return words if " " in words else "rows released"


def of_cut(persons: Persons) -> str:
    """How many rows of the source were not kept, and which were."""
    kept = "1 row was" if persons.keep == 1 else f"{persons.keep:,} rows were"
    return (
        f"{persons.n_cut:,} of {counted(persons.n_rows, 'row')}: at most {kept} kept per person ({HOW[persons.which]})"
    )


def of_knowledge(table: Table) -> str:
    """Whose knowledge the guarantee covers; nothing where a row is a person."""
    persons = table.persons
    if persons is None or not table.has_bundles:
        return ""
    if persons.known == "visits":
        varying = f", with their {', '.join(persons.positions)}" if persons.positions else ""
        return f"Holds also against somebody who knows how many rows everybody has{varying}."
    return (
        "Holds against somebody who knows only the columns that are the same in all rows of a person. Somebody who also knows how many rows a person "
        "has, or the date of one visit, may learn more."
    )


def not_promised_of(persons: Persons | None, *, has_bundles: bool) -> Iterator[str]:
    """What nobody should take a release of persons to promise; true of every table that is published so."""
    if persons is None:
        return
    if persons.keep is not None:
        yield "Nothing is promised about rows that were not kept: others may know their number and content from elsewhere."
    if not has_bundles:
        yield (
            "Only the row that was kept is protected. Whether somebody has a value in any of their rows is not: people with one of two related values "
            "often have both, and other rows of the same person may be known."
        )
        return
    if persons.known == "static":
        carried = "dates or wards of visits are published exactly, next to the sensitive values, so "
        yield (
            f"Not covered: somebody who knows anything about one visit. {carried}one known visit finds the person's rows, and with them everything they say."
        )
    else:
        yield (
            "Not hidden: what somebody who knows how seasons or wards are related to diagnoses concludes from the season or ward of a visit."
        )


def base_rates(table: Table, goal: Property) -> Iterator[str]:
    """For the owner: how many persons have the most frequent value in any row, beside what the goal allows."""
    if not table.has_bundles:
        return
    everyone = Groups.of(table, Partition(_stratum_of_person(table), int(_stratum_of_person(table).max()) + 1))
    for name, histogram in everyone.histograms.items():
        assert histogram.sets is not None
        worst: tuple[Fraction, Fraction, int] | None = None
        n_above = 0
        for part in goal.parts:
            if not isinstance(part, SensitiveProperty) or part.column not in (None, name):
                continue
            most = part.share_limits(histogram).most
            for stratum, n_persons in enumerate(histogram.sets.n_persons.tolist()):
                for value, total in enumerate(histogram.sets.total[stratum].tolist()):
                    share, bound = Fraction(total, n_persons), Fraction(most[stratum, value])
                    n_above += share > bound
                    if bound < 1 and total and (worst is None or share / bound > worst[0] / worst[1]):
                        worst = (share, bound, n_persons)
        if worst is not None:
            share, bound, n_persons = worst
            yield (
                f"{name}: the value nearest to its bound is one that {percent(float(share))} of {counted(n_persons, 'person')} have in any row; "
                f"no group may have more than {percent(float(bound))}"
            )


def _stratum_of_person(table: Table) -> Any:
    column = next(column for column in table.sensitive if column.bundles is not None)
    assert column.bundles is not None
    return np.ascontiguousarray(column.bundles.stratum_of_bundle[column.codes])


def of_known_counts(found: Iterable[KnownCounts]) -> Iterator[str]:
    """For the owner: what somebody learns who knows how many rows everybody has, where the release was made for those who do not."""
    for one in found:
        yield (
            f"Somebody who knows how many rows everybody has, and their bucket: {percent(one.n_alone / one.n_persons)} of persons are alone with their number, so that "
            f"all their rows are known, and of {percent(one.n_above / one.n_persons)} a value of {one.column!r} is likelier than the release says of anybody "
            f'(at most {percent(float(one.highest))}). known = "visits" covers them.'
        )
