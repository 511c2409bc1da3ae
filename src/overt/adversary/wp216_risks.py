# SPDX-License-Identifier: Apache-2.0
"""Singling out, linkability and inference: the three risks that European regulators ask about, as figures of an audit.

Paper       Article 29 Data Protection Working Party, "Opinion 05/2014 on Anonymisation Techniques", WP216, section 3.
Implements  Singling out: a line of the release that is a certain person's is isolated. Linkability: lines are linked to the
            people of a second table that has everyone's quasi-identifiers. Inference: a person's sensitive value is
            deduced from the others.
Departs     The opinion gives no formula. Lines of a group differ in the sensitive value only, so a line with a value that
            c people of the group have is a certain one's with the chance of that value for them, divided by c; to someone
            without the method that is one in the size of the group.
Guarantee   None: what the audit found, in other words. Exact where the audit is.
"""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from overt.adversary.posterior import ERRORS, ROUNDING, Chances, Posterior, expected_best

if TYPE_CHECKING:
    from overt.adversary.summary import Audit

CITATION = "Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (WP216), section 3"


@dataclass(frozen=True)
class OpinionRisk:
    """One of the three risks: what is measured, and its figure without and with the method."""

    name: str
    asks: str  # the opinion's question in our words
    measure: str  # what the figures are, in words
    alone: float
    replayed: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs."""
        return {**asdict(self), "source": CITATION}


def opinion_risks(audit: "Audit") -> tuple[OpinionRisk, OpinionRisk, OpinionRisk]:
    """The three risks of a release, from what was found out about its people."""
    found = audit.identification
    isolated, highest, linked = found.n_unique, float(found.prosecutor), float(found.marketer)
    if not audit.shows_exactly and audit.replayed.how != "shares":
        # else people are found by what is published of them, whatever is believed of values
        chance, error, expected = line_chances(audit.alone, audit.replayed)
        if found.n_rows < audit.n_rows:
            has_none = audit.alone.cell_of_row >= audit.n_groups  # who is suppressed has no line
            chance[has_none], expected[has_none] = 0, 0
        isolated = max(isolated, int(((chance >= 1 - ROUNDING) & (error == 0)).sum()))
        known = audit.replayed.is_known_of_row
        highest = max(highest, float((chance[known] - ERRORS * error[known]).max(initial=0)))
        linked = max(linked, float(expected.mean()))
    n_rows = audit.n_rows
    return (
        OpinionRisk(
            "singling out",
            "Can the record of a person be isolated?",
            f"highest chance to pick a person's line; certain for {found.n_unique:,} and {isolated:,} people",
            float(found.prosecutor),
            highest,
        ),
        OpinionRisk(
            "linkability",
            "Can records about the same person be linked?",
            "lines linked to the right person by someone who has everyone's quasi-identifiers, expected",
            float(found.marketer),
            linked,
        ),
        OpinionRisk(
            "inference",
            "Can a person's value be deduced with significant probability?",
            f"sensitive values guessed right, expected; {100 * audit.blind_guess:.0f} % without the release",
            audit.guesses[0] / n_rows,
            audit.guesses[1] / n_rows,
        ),
    )


def line_chances(alone: Posterior, replayed: Posterior) -> tuple[Chances, Chances, Chances]:
    """(row) -> the chance that its likeliest line is its own, the standard error of that, and what is expected of it.

    `alone` must hold the shares of groups, so that their counts can be told from it.
    """
    sizes = np.bincount(alone.cell_of_row, minlength=len(alone.chance))
    group_of_cell = np.zeros(len(replayed.chance), np.int64)
    group_of_cell[replayed.cell_of_row] = alone.cell_of_row
    weight = (
        1 / np.maximum(1, np.rint(alone.chance * sizes[:, None]))[group_of_cell]
    )  # one over how many have the value
    chance = replayed.chance * weight
    best = chance.argmax(axis=1)
    cells = np.arange(best.size)
    most, error = chance[cells, best], (replayed.error * weight)[cells, best]
    expected = expected_best(replayed, 1 / sizes[alone.cell_of_row], weight)
    return most[replayed.cell_of_row], error[replayed.cell_of_row], expected
