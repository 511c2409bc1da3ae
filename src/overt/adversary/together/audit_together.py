# SPDX-License-Identifier: Apache-2.0
"""Several releases of the same people: what their intersection gives away.

Every release shows who is with whom, and which values they have together. Somebody who has several keeps the tables that fit all of
them. Of persons with several rows it is all rows of a person that move together, and what is believed is that somebody has a value in any row. Where few tables fit the first release, the methods are also run on each, so that the answer covers replaying as well.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.adversary.posterior import ROUNDING, Chances, shares
from overt.adversary.replay.enumeration import count_tables, groups_seen, runs, tables_like, with_values
from overt.adversary.summary import promised
from overt.adversary.together.elimination import eliminate
from overt.adversary.together.exact_counts import TooManyStates, count_component
from overt.adversary.together.shared_cells import SharedCells
from overt.errors import InvalidInput, TooLarge, Unreachable
from overt.partition import n_members
from overt.progress import Progress, silent
from overt.release import Release
from overt.table import Column

STAGE = "Counting tables that fit all releases"
FEW_TABLES = 2_000  # on which all methods are run again
SMALL = 1_000  # rows


@dataclass(frozen=True, eq=False)
class Together:
    """What somebody believes who has several releases of the same people."""

    column: str
    methods: tuple[str, ...]
    n_rows: int
    bound: Fraction | None  # the weakest promise of all releases; None if one of them promises nothing of that kind
    alone: Chances = field(repr=False)  # (row) -> belief by the release that says most of the person
    chance: Chances = field(repr=False)  # (row, value) -> by all of them; by the first alone where it is not known
    is_known: NDArray[np.bool_] = field(repr=False)  # (row) -> whether all ways were counted
    certain: NDArray[np.bool_] = field(repr=False)  # (row) -> whether the value is known for certain
    replays: bool  # whether the methods were run on all tables that fit
    is_of_persons: bool = False  # beliefs are of values that a person has in any row

    @property
    def belief(self) -> Chances:
        """(row) -> the chance of the likeliest value."""
        belief: Chances = self.chance.max(axis=1)
        return belief

    @property
    def n_unknown(self) -> int:
        """People of whom beliefs are not known: too many tables fit to be counted."""
        return int((~self.is_known).sum())

    def n_above(self, bound: float | None = None) -> int:
        """People of whom more is believed than promised; if nothing is promised, than by any single release."""
        limit = self.alone if self.bound is None and bound is None else float(bound or self.bound or 1)
        is_above = (self.is_known & (self.belief > limit + ROUNDING)) | (self.certain & (np.asarray(limit) < 1))
        return int(is_above.sum())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs; nothing about single people."""
        known = self.is_known
        return {
            "sensitive": self.column,
            "methods": list(self.methods),
            "rows": self.n_rows,
            "bound": None if self.bound is None else str(self.bound),
            "above": self.n_above(),
            "certain": {"one_release": int((self.alone >= 1 - ROUNDING).sum()), "together": int(self.certain.sum())},
            "highest_belief": {
                "one_release": float(self.alone.max()),
                "together": float(self.belief[known].max()) if known.any() else None,
            },
            "guessed_right": {
                "one_release": float(self.alone.sum()),
                "together": float(self.belief[known].sum() + self.alone[~known].sum()),
            },
            "not_known": self.n_unknown,
            "replayed": self.replays,
        }

    def sentences(self) -> Iterator[str]:
        """What a board can act on."""
        n, against = len(self.methods), "the weakest promise" if self.bound is not None else "any single release says"
        who = "has all of them and replays the methods" if self.replays else "has all of them"
        certain = int(self.certain.sum())
        least = "at least " if self.n_unknown else ""
        if certain:
            what = f"A value of {self.column} in the rows" if self.is_of_persons else f"The {self.column}"
            yield (
                f"{what} of {least}{certain:,} of {self.n_rows:,} people is known for certain to somebody who {who}; a single "
                f"release says it of {int((self.alone >= 1 - ROUNDING).sum()):,}."
            )
        above = self.n_above()
        if above:
            yield f"{least.capitalize()}{above:,} people are above {against} to somebody who {who}."
        elif not self.n_unknown:
            yield f"Nobody is above {against} to somebody who {who}, if they had no idea beforehand how values depend on quasi-identifiers."
        if self.n_unknown:
            yield (
                f"Not known yet for {self.n_unknown:,} people: their groups are tied together across the {n} releases, and too many tables fit to "
                "be counted. Only what follows by elimination is said of them."
            )
        if not self.replays:
            yield "Somebody who also replays the methods may learn more."


def audit_together(releases: Sequence[Release], *, on_progress: Progress = silent) -> Together:
    """Measure what somebody who has several releases of the same people can conclude. The rows of all tables must be the same people, in the same order.

    >>> import overt
    >>> frame = overt.samples.hospital()
    >>> table = overt.read_frame(frame, quasi_identifiers=["Postcode", "Sex"], sensitive=["Disease"])
    >>> goal = overt.DistinctLDiversity(2)
    >>> releases = [overt.Mondrian(goal=goal).anonymize(table), overt.FullDomain(goal=goal).anonymize(table)]
    >>> found = audit_together(releases)
    >>> found.n_rows == table.n_rows
    True
    """
    first, column = _same_people(releases)
    partitions = [release.partition for release in releases]
    alone = np.max([_alone(release) for release in releases], axis=0)
    cells = SharedCells.of(partitions, column)
    least, _ = eliminate(cells)
    certain = (_of_members(column, least) == cells.size_of_cell[:, None]).any(axis=1)[cells.cell_of_row]
    chance = shares(first.partition, column).chance[shares(first.partition, column).cell_of_row].copy()
    known_cells = np.zeros(cells.n_cells, np.bool_)
    order = np.argsort(cells.component_of_cell, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(cells.component_of_cell[order])) + 1)
    of_cell = np.zeros((cells.n_cells, n_members(column)))
    for i, component in enumerate(members):
        if i % 64 == 0:
            on_progress(STAGE, i, len(members))
        try:
            _, found = count_component(cells, component.tolist())
        except TooManyStates:
            continue
        for cell, beliefs in found.items():
            of_cell[cell] = _of_members(column, np.array([float(one) for one in beliefs]))
            known_cells[cell] = True
    is_known = known_cells[cells.cell_of_row]
    chance[is_known] = of_cell[cells.cell_of_row[is_known]]
    replayed = _replayed(releases, column) if column.codes.size <= SMALL else None
    if replayed is not None:
        chance, is_known = replayed, np.ones(column.codes.size, np.bool_)
    certain |= is_known & (chance.max(axis=1) >= 1 - ROUNDING)
    bounds = [promised(release.method.goal, column.name) for release in releases]
    return Together(
        column=column.name,
        methods=tuple(release.method.name for release in releases),
        n_rows=int(column.codes.size),
        bound=None if None in bounds else max(bound for bound in bounds if bound is not None),
        alone=alone,
        chance=chance,
        is_known=is_known,
        certain=certain,
        replays=replayed is not None,
        is_of_persons=column.bundles is not None,
    )


def _same_people(releases: Sequence[Release]) -> tuple[Release, Column]:
    if len(releases) < 2:
        raise InvalidInput(f"{len(releases)} release was given; an audit together is of two or more.")
    first = releases[0]
    column = first.table.the_sensitive("An audit of several releases")
    for other in releases:
        if other.is_crossed or other.is_row_by_row or other.hides_table:
            raise InvalidInput(
                f"Releases by {other.method.name} do not show who is in which group of values; an audit together is of releases that do."
            )
        its = other.table.the_sensitive("An audit of several releases")
        same = its.name == column.name and other.table.n_rows == first.table.n_rows
        if not same or not np.array_equal(
            its.values.gather(its.codes).cast(str).to_numpy(), column.values.gather(column.codes).cast(str).to_numpy()
        ):
            raise InvalidInput(
                "The releases are not of the same people with the same sensitive column, row by row; make them from the same rows in the same "
                "order."
            )
    return first, column


def _of_members(column: Column, amounts: NDArray[Any]) -> NDArray[Any]:
    """Amounts of what moves between people, last axis, as amounts of what is believed of them: of a bundle, each value that is in any of its rows."""
    if column.bundles is None:
        return amounts
    first, code = column.bundles.distinct
    holds = np.zeros((column.n_values, column.bundles.n_values), amounts.dtype)
    holds[np.repeat(np.arange(column.n_values), np.diff(first)), code] = 1
    found: NDArray[Any] = amounts @ holds
    return found


def _alone(release: Release) -> Chances:
    """(row) -> what one release says of the likeliest value."""
    return shares(release.partition, release.table.sensitive[0]).belief_of_row


def _replayed(releases: Sequence[Release], column: Column) -> Chances | None:
    """(row, value) -> chance, of the tables from which all methods make their releases; None if there are too many to try."""
    first = releases[0]
    if count_tables(first.partition, column) > FEW_TABLES:
        return None
    wanted = [groups_seen(release) for release in releases]
    sums, total, n_runs = np.zeros((column.codes.size, column.n_values), object), Fraction(0), 0
    rows = np.arange(column.codes.size)
    for codes in tables_like(first.partition, column):
        weight = Fraction(1)
        for release, what in zip(releases, wanted, strict=True):
            own = release.table.sensitive[0]
            table, chance = with_values(release.table, own, _in_codes_of(codes, column, own)), Fraction(0)
            try:
                for share, other in runs(release.method, table):
                    n_runs += 1
                    if n_runs > 20 * FEW_TABLES:
                        return None
                    if other is not None and groups_seen(other) == what:
                        chance += share
            except (InvalidInput, TooLarge, Unreachable):
                return None  # draws that cannot be listed
            weight *= chance
            if not weight:
                break
        if weight:
            sums[rows, codes] += weight
            total += weight
    if not total:
        raise InvalidInput("No table gives all of these releases by their methods; were they made by others?")
    return _of_members(column, (sums / total).astype(np.float64))


def _in_codes_of(codes: NDArray[np.int32], column: Column, own: Column) -> NDArray[np.int32]:
    """Values of one column as codes of another that has the same labels."""
    if own is column or own.values.equals(column.values):
        return codes
    number = {label: code for code, label in enumerate(own.values.to_list())}
    new: NDArray[np.int32] = np.array([number[label] for label in column.values.to_list()], np.int32)[codes]
    return new
