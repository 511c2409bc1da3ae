# SPDX-License-Identifier: Apache-2.0
"""Leak verdict: what an audit allows to be said of somebody who knows the method: nobody, some people, or not known yet.

What was counted exactly is said as it is. An estimate supports "some people" only if more cells of people are above the bound by three
standard errors than chance can make, and "nobody" only if everybody is below it by three. Anything between is not known yet,
so that two audits of one release differ in how much they know and never in what they say. Chains that begin at the true
table support neither: that they agree may mean that they never left it.
"""

from enum import StrEnum

import numpy as np

from overt.adversary.posterior import ERRORS, ROUNDING
from overt.adversary.summary import Audit

BY_CHANCE = 0.005  # the share of cells that are three of their stated errors too high, as bench/coverage.py measures


class LeakVerdict(StrEnum):
    """What can be said."""

    NOBODY = "nobody"
    SOME = "some"
    UNKNOWN = "not known yet"


def verdict_of(found: Audit) -> LeakVerdict:
    """What an audit supports."""
    if found.replayed.sampled is None:
        return LeakVerdict.SOME if found.is_above().any() or found.n_certain else LeakVerdict.NOBODY
    if found.replayed.how == "chain":
        return LeakVerdict.UNKNOWN
    if found.n_certain or (found.is_known and _more_than_chance(found)):  # certain only where tables were counted
        return LeakVerdict.SOME
    return LeakVerdict.NOBODY if not found.n_unknown and _all_below(found) else LeakVerdict.UNKNOWN


def _more_than_chance(found: Audit) -> bool:
    """Whether so many cells are above by three errors as chance makes in fewer than one of a thousand audits."""
    cells = found.replayed.cell_of_row
    n_cells, n_above = np.unique(cells).size, np.unique(cells[found.is_above()]).size
    return bool(n_above > BY_CHANCE * n_cells + 3 * np.sqrt(BY_CHANCE * n_cells) + 1)


def _all_below(found: Audit) -> bool:
    """Whether everybody's belief is at most the bound, even if it is three errors higher than estimated."""
    replayed = found.replayed
    highest = replayed.belief_of_row + ERRORS * replayed.error_of_row
    return bool((highest <= found.bound_of_row + ROUNDING).all())
