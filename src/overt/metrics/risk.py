# SPDX-License-Identifier: Apache-2.0
"""Risk to people from someone who sees only the release (or, before one is made, the data).

K. El Emam, "Guide to the De-Identification of Personal Health Information", 2013, names three attackers. The
*prosecutor* looks for one person and knows that the person is in the table: one chance in the size of the group. The
*journalist* looks for anybody, to show that it can be done, and knows only that the person is in the population the
table was drawn from: one chance in as many of the population as would look alike. The *marketer* wants as many right
matches as possible: the share of rows that would be. Without a population the journalist knows at most what
the prosecutor knows, so the prosecutor's risk is a bound.

*Attribute disclosure* needs no match at all: if a group agrees on a sensitive value, everyone in it is known.

None of this is a guarantee against someone who also knows the method: see what the release holds against whom.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.errors import InvalidData, InvalidInput
from overt.metrics.equal_rows import groups_as_seen, rows_alike
from overt.partition import Groups, Histogram, Partition
from overt.release import Release
from overt.table import Table

Sizes = NDArray[np.int64]
THRESHOLDS = (2, 3, 5, 10, 20)


@dataclass(frozen=True)
class Identification:
    """The risk that a row is matched to its person. Prosecutor and marketer are exact, the journalist is if a population is.

    `journalist` is None without a population: it is then at most the prosecutor's risk.
    """

    n_rows: int
    n_groups: int
    n_unique: int
    prosecutor: Fraction  # the highest of any row
    marketer: Fraction  # the mean over rows, if the population is the table
    journalist: float | None
    population_marketer: float | None  # the mean over rows, of the population
    below: tuple[tuple[int, int], ...]  # (size, rows in groups of fewer rows than that)

    @property
    def smallest(self) -> int:
        """Rows of the smallest group."""
        return self.prosecutor.denominator

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "rows": self.n_rows,
            "groups": self.n_groups,
            "uniques": self.n_unique,
            "prosecutor": float(self.prosecutor),
            "journalist": self.journalist,
            "marketer": float(self.marketer),
            "population_marketer": self.population_marketer,
            "rows_in_groups_smaller_than": {str(size): n for size, n in self.below},
        }


@dataclass(frozen=True)
class AttributeDisclosure:
    """What can be learnt of a sensitive column without matching anybody."""

    column: str
    n_certain: int  # rows of groups in which everyone has the same value
    worst: Fraction  # the greatest share of one value in any group
    best_guess: float  # the share of rows that guessing the most frequent value of each group gets right
    blind_guess: Fraction  # the same for guessing the most frequent value of the table

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "column": self.column,
            "rows_certain": self.n_certain,
            "worst": float(self.worst),
            "best_guess": self.best_guess,
            "blind_guess": float(self.blind_guess),
        }


@dataclass(frozen=True)
class Risk:
    """The risk to the people of a table: of being found, and of having something learnt about them."""

    identification: Identification
    disclosures: tuple[AttributeDisclosure, ...]
    sizes: Sizes  # (group); of rows that lie elsewhere the sizes that occur

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "identification": self.identification.to_dict(),
            "attribute_disclosure": [disclosure.to_dict() for disclosure in self.disclosures],
        }


def risk_of_table(table: Table, *, population_share: float | None = None, alike: Partition | None = None) -> Risk:
    """The risk of the data as they are: groups are rows that agree on every quasi-identifier.

    `population_share` is the share of the population that is in the table, for the journalist; `alike` is
    `rows_alike(table)`, if that is known already.

    >>> from overt import read_frame, samples
    >>> table = read_frame(samples.hospital(), quasi_identifiers=["Postcode", "Sex"], sensitive=["Disease"])
    >>> risk_of_table(table).identification.prosecutor
    Fraction(1, 1)
    """
    alike = alike or rows_alike(table)
    return _risk(alike, Groups.of(table, alike), population_share)


def risk_of_release(release: Release, *, population_share: float | None = None) -> Risk:
    """The risk of a release to someone who sees only that.

    Groups that show the same are one to a reader. Buckets publish quasi-identifiers as they are: people are found as
    before, and what is learnt of them is what their bucket shows.

    >>> import overt
    >>> table = overt.read_frame(overt.samples.hospital(), quasi_identifiers=["Postcode"])
    >>> risk = risk_of_release(overt.Mondrian(goal=overt.KAnonymity(4)).anonymize(table))
    >>> risk.identification.smallest >= 4, risk.identification.n_unique
    (True, 0)
    """
    found = rows_alike(release.table) if release.shows_exactly else groups_as_seen(release)
    is_seen = release.has_boxes and not release.is_crossed and found is not release.partition
    groups = Groups.of(release.table, found) if is_seen else release.groups
    return _risk(found, groups, population_share)


def _risk(found: Partition, groups: Groups, population_share: float | None) -> Risk:
    disclosures = tuple(disclosure_of(name, histogram, groups.sizes) for name, histogram in groups.histograms.items())
    return Risk(identification_of(found.sizes, population_share=population_share), disclosures, found.sizes)


def identification_of(
    sizes: Sizes, *, population_share: float | None = None, population_sizes: Sizes | None = None
) -> Identification:
    """The risk of being matched in groups of these sizes.

    The population is known exactly (`population_sizes`: how many of it would look alike, by group), estimated from the
    share of it that is in the table, or not known.
    """
    if population_sizes is not None and (population_sizes.shape != sizes.shape or (population_sizes < sizes).any()):
        raise InvalidData("A population has at least as many rows in every group as the table; this one has fewer.")
    return identification_of_sizes(
        sizes, np.ones_like(sizes), population_share=population_share, population_sizes=population_sizes
    )


def identification_of_sizes(
    sizes: Sizes,
    n_groups: Sizes,
    *,
    population_share: float | None = None,
    population_sizes: Sizes | None = None,
) -> Identification:
    """The same where several groups have each of these sizes."""
    if not sizes.size:
        raise InvalidInput("There are no groups whose risk could be measured; give a table that has rows.")
    n_rows, n_all, journalist, marketer = int(sizes @ n_groups), int(n_groups.sum()), None, None
    small = np.minimum(sizes, THRESHOLDS[-1])
    n_groups_of_size = np.bincount(small, n_groups, THRESHOLDS[-1] + 1).astype(np.int64)
    if population_sizes is not None:
        chances = 1 / population_sizes
    elif population_share is not None:
        chances = expected_chance(sizes, population_share)
    if population_sizes is not None or population_share is not None:
        journalist, marketer = float(chances.max()), float(chances @ (sizes * n_groups)) / n_rows
    return Identification(
        n_rows=n_rows,
        n_groups=n_all,
        n_unique=int(n_groups_of_size[1]),
        prosecutor=Fraction(1, int(sizes.min())),
        marketer=Fraction(n_all, n_rows),
        journalist=journalist,
        population_marketer=marketer,
        below=tuple((size, int(n_groups_of_size[:size] @ np.arange(size))) for size in THRESHOLDS),
    )


def expected_chance(sizes: Sizes, share: float) -> NDArray[np.float64]:
    """(group) -> the expected 1 / F, if f rows of a table that holds this share of a population look alike.

    F given f is negative binomial: R. Benedetti, L. Franconi, "Statistical and Technological Solutions for Controlled
    Data Dissemination", 1998. With p the share, E[1/F | f] = p J(f), J(f) the integral over 0..1 of
    u^(f - 1) / (p + (1 - p) u), and (1 - p) J(f + 1) + p J(f) = 1 / f.

    >>> expected_chance(np.array([1]), 0.5).round(6)  # log 2
    array([0.693147])
    """
    if not 0 < share <= 1:
        raise InvalidInput(f"The share of the population is {share!r}; a number above 0 and of at most 1 is expected.")
    if share == 1:
        return 1 / sizes
    distinct, place = np.unique(sizes, return_inverse=True)
    most = int(distinct[-1])
    if most > 1_000_000:  # there 1/F is p/f to seven digits, and the table below would be long
        near = np.where(distinct > 1_000_000, share / distinct, 0)
        few = distinct <= 1_000_000
        near[few] = _chances(int(distinct[few].max(initial=1)), share)[distinct[few]]
    else:
        near = _chances(most, share)[distinct]
    return near[place]


def _chances(most: int, share: float) -> NDArray[np.float64]:
    """(f) -> p J(f) for f up to `most`; the recursion runs in the direction in which errors shrink."""
    rest = 1 - share
    integral = np.zeros(most + 1)
    if share <= rest:
        integral[1] = -np.log(share) / rest
        for f in range(1, most):
            integral[f + 1] = (1 / f - share * integral[f]) / rest
    else:
        beyond = 1 / (most + 64)  # J(f) is nearly 1/f far out, and every step back divides the error by share / rest
        start = most + 64 + int(64 / np.log(share / rest)) if share / rest > 1.02 else most + 4000
        beyond = 1 / start
        for f in range(start - 1, 0, -1):
            beyond = (1 / f - rest * beyond) / share
            if f <= most:
                integral[f] = beyond
    return share * integral


def disclosure_of(name: str, histogram: Histogram, sizes: Sizes) -> AttributeDisclosure:
    """What the groups of one sensitive column give away."""
    out_of = sizes if histogram.out_of is None else histogram.out_of
    most = np.maximum.reduceat(histogram.count, histogram.first[:-1])
    share = most / out_of
    near = np.flatnonzero(share >= share.max() * (1 - 1e-9))  # decided exactly among these
    n_people = histogram.total_of_value.sum() if histogram.sets is None else histogram.sets.n_persons.sum()
    worst = {(1, 1)} if share.max() == 1 else set(zip(most[near].tolist(), out_of[near].tolist(), strict=True))
    return AttributeDisclosure(
        column=name,
        n_certain=int(sizes[most == out_of].sum()),
        worst=max(Fraction(count, total) for count, total in worst),
        best_guess=float(share @ sizes) / int(sizes.sum()),
        blind_guess=Fraction(int(histogram.total_of_value.max()), int(n_people)),
    )
