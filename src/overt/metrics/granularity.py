# SPDX-License-Identifier: Apache-2.0
"""Granularity: how much of the values of each column a cell leaves open, as ARX reports it.

V. Iyengar, "Transforming Data to Satisfy Privacy Constraints", KDD 2002, measures a cell by the share of its column's values
that it covers. ARX (3.9, "granularity" of its quality statistics) takes the mean over all cells, a suppressed row covering
everything, and rescales so that exact cells are 1 and suppressed ones 0. It averages columns before it rescales, and so does
this: with the shares s_j of columns of n_j values it is (1 - mean s_j) / (1 - mean 1/n_j).
"""

from collections.abc import Sequence

import numpy as np

from overt.metrics.expected_counts import is_exact, spreads_of
from overt.release import Release


def granularity(release: Release) -> float:
    """1 if every cell of the quasi-identifiers is exact, 0 if none says anything. The values are those of the table.

    >>> from overt import FullDomain, KAnonymity, read_frame, samples
    >>> table = read_frame(samples.hospital(), quasi_identifiers=["Postcode", "Sex"])
    >>> granularity(FullDomain(goal=KAnonymity(1)).anonymize(table))
    1.0
    """
    columns, n_rows = release.table.quasi_identifiers, max(1, release.table.n_rows)
    shares = []
    for column in columns:
        spread = spreads_of(release)[column.name]
        covered = 1.0 if is_exact(release, column) else float(spread.n_values_covered @ spread.sizes) / n_rows
        shares.append(covered / column.n_values)
    return granularity_of_shares(shares, [column.n_values for column in columns])


def granularity_of_shares(shares: Sequence[float], n_values: Sequence[int]) -> float:
    """The same from the mean share of its values that each column's cells cover, and how many values it has.

    >>> granularity_of_shares([1 / 4, 1.0], [4, 2])
    0.6
    """
    least = float(np.mean([1 / n for n in n_values]))
    return (1 - float(np.mean(shares))) / (1 - least) if least < 1 else 1.0
