# SPDX-License-Identifier: Apache-2.0
"""Rare values: how much likelier a release makes them than they are in the whole table, whatever its goal says.

A goal that bounds shares (l-diversity, t-closeness) allows a value that 2 % of people have to have a third of a group: sixteen times as
many. Whoever is in that group pays for it, so it is measured of every release: exactly, from its groups.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overt.partition import Counts, Groups, Histogram
from overt.privacy.exactness import greatest_ratio, times

RARE = Fraction(1, 10)  # a value that at most this share of the table has is called rare
SEVERAL = 3  # times as likely as in the whole table, from which on it is said


@dataclass(frozen=True)
class Likelier:
    """What the groups of a release make of the rare values of one column. It names no value."""

    column: str
    times: Fraction  # the greatest share of a rare value in a group, divided by its share in the table
    share: Fraction  # that value's share in the table
    share_in_group: Fraction
    n_people: int  # in groups in which some rare value is at least SEVERAL times as likely

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs."""
        return {
            "column": self.column,
            "times": float(self.times),
            "share": float(self.share),
            "share_in_group": float(self.share_in_group),
            "people": self.n_people,
        }


def rare_values_of(groups: Groups) -> tuple[Likelier, ...]:
    """For every sensitive column whose rare values become several times likelier in some group, how much.

    >>> from overt import FrequencyLDiversity, Mondrian, read_frame
    >>> frame = {"Age": list(range(100)), "HIV": ["yes"] * 2 + ["no"] * 49 + ["unknown"] * 49}
    >>> import polars as pl
    >>> table = read_frame(pl.DataFrame(frame), quasi_identifiers=["Age"], sensitive=["HIV"])
    >>> from overt.partition import Groups, Partition
    >>> ten_each = Partition.from_groups([[*range(5), *range(50, 55)], [*range(5, 50), *range(55, 100)]])
    >>> [likelier] = rare_values_of(Groups.of(table, ten_each))
    >>> str(likelier.times), str(likelier.share_in_group), likelier.n_people
    ('10', '1/5', 10)
    """
    found = (likelier_of(name, histogram, groups.sizes) for name, histogram in groups.histograms.items())
    return tuple(one for one in found if one is not None)


def likelier_of(column: str, histogram: Histogram, sizes: Counts) -> Likelier | None:
    """The same for one column; None if no rare value becomes several times likelier."""
    group = np.repeat(np.arange(sizes.size), np.diff(histogram.first))
    if histogram.sets is None:
        n_rows: NDArray[np.int64] = np.full(group.size, histogram.total_of_value.sum())
        total = histogram.total_of_value[histogram.value]
    else:  # of persons with several rows, who count once for each value, among those with as many rows
        stratum = histogram.sets.stratum_of_group[group]
        n_rows, total = histogram.sets.n_persons[stratum], histogram.sets.total[stratum, histogram.value]
    chosen = np.flatnonzero(times(total, RARE.denominator) <= n_rows * RARE.numerator)
    if not chosen.size:
        return None
    out_of = sizes if histogram.out_of is None else histogram.out_of
    # p / q = (count / out_of) / (total / n_rows)
    above = times(histogram.count[chosen], n_rows[chosen])
    below = times(out_of[group[chosen]], total[chosen])
    is_much = above >= times(below, SEVERAL)
    if not is_much.any():
        return None
    worst = greatest_ratio(above, below)
    at = chosen[int(np.argmax((above / below).astype(np.float64)))]
    share_in_group = Fraction(int(histogram.count[at]), int(out_of[group[at]]))
    return Likelier(
        column, worst, share_in_group / worst, share_in_group, int(sizes[np.unique(group[chosen[is_much]])].sum())
    )
