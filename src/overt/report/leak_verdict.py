# SPDX-License-Identifier: Apache-2.0
"""Leak verdict: what an audit allows to be said of somebody who knows the method: nobody, some people, or not known yet.

Every place that says something of a leak (`overt audit`, the line of a run, a comparison, a report, the studio) asks the same three
functions of `Audit`. What was counted exactly is said as it is. What was sampled supports "at least so many" wherever cells that were
counted are above the bound, or more cells that the runs agree about than chance can make; of how many others nothing is known
does not matter. It supports "nobody" only if everybody is known and below by three standard errors. Anything between is not
known yet, so that two audits of one release differ in how much they know and never in what they say. Chains that begin at the
true table support neither: that they agree may mean that they never left it.
"""

from enum import StrEnum

from overt.adversary.summary import Audit


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
    if found.n_certain or found.says_some():  # certain only where tables were counted
        return LeakVerdict.SOME
    return LeakVerdict.NOBODY if found.says_nobody() else LeakVerdict.UNKNOWN
