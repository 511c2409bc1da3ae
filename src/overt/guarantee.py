# SPDX-License-Identifier: Apache-2.0
# Tested through tests/contracts/test_guarantees.py
"""Guarantee: against whom a release keeps what its goal promises, and for which beliefs.

Every method has one for its goal and parameters. What is said of it in reports, summaries and manifests is made from this
value, so that no two places can say different things. docs/theory/safety.md has the proof, or the counterexample, of each.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from overt.errors import InvalidInput


class Adversary(StrEnum):
    """Against whom a guarantee holds; those who know more come later."""

    NOBODY = "nobody"
    RECORD_LINKER = "record linker"  # compares single rows with an external database, as the risk models it
    READER = "reader"  # sees the release
    REPLAYER = "replayer"  # also runs the method on every table there could be
    ANYONE = "anyone"  # whatever they know and do


class Beliefs(StrEnum):
    """For which beliefs, held before the release is seen, the goal also holds against someone who replays the method."""

    EVERY = "every"  # strong: all tables that fit a release are equally likely to lead to it
    FLAT = "flat"  # weak: if all tables were equally likely beforehand, and not necessarily otherwise
    NONE = "none"


@dataclass(frozen=True)
class Guarantee:
    """Against whom the goal holds of a release, and for which beliefs.

    Parameters
    ----------
    adversary
        The one who knows most of those that it holds against.
    beliefs
        For which beliefs of someone who replays the method.
    posterior_is_share
        Whether someone who replays the method, and had no idea beforehand, believes the share of a value in its group, and
        nothing else. Then an audit has nothing to search for.
    condition
        What must be true beside that, as a clause: "if the external database is public".
    besides
        What the release leaves open, whoever sees it.
    measured
        What was found against it, for the owner.

    """

    adversary: Adversary
    beliefs: Beliefs = Beliefs.NONE
    posterior_is_share: bool = False
    condition: str = ""
    besides: str = ""
    measured: str = ""

    def __post_init__(self) -> None:
        if self.resists_replay == (self.beliefs is Beliefs.NONE):
            raise InvalidInput(f"A guarantee against a {self.adversary} cannot be for {self.beliefs} beliefs.")
        if self.posterior_is_share and self.adversary is not Adversary.REPLAYER:
            raise InvalidInput(
                f"A guarantee against a {self.adversary} says nothing of what someone who replays believes."
            )

    @property
    def resists_replay(self) -> bool:
        """Whether it holds against someone who runs the method again, at least for a flat belief."""
        return self.adversary in (Adversary.REPLAYER, Adversary.ANYONE)

    @property
    def strength(self) -> str:
        """`strong`, `weak`, or `none` against someone who replays the method."""
        return {Beliefs.EVERY: "strong", Beliefs.FLAT: "weak", Beliefs.NONE: "none"}[self.beliefs]

    def __str__(self) -> str:
        """Whom it holds against, as a phrase that follows "against"."""
        words = f"{_WORDS[self.adversary, self.beliefs]}{self.condition and f', {self.condition}'}"
        return "; ".join(filter(None, [words, REPLAYING_ADDS if self.replaying_adds else "", self.besides]))

    @property
    def replaying_adds(self) -> bool:
        """Whether someone without any idea beforehand can conclude more by replaying than the shares of values in groups say."""
        return self.resists_replay and self.beliefs is Beliefs.FLAT and not self.posterior_is_share

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for programs."""
        return {
            "against": str(self),
            "adversary": str(self.adversary),
            "beliefs": str(self.beliefs),
            "strength": self.strength,
            "measured": self.measured or None,
        }


_WORDS = {
    (Adversary.NOBODY, Beliefs.NONE): "nobody",
    (Adversary.RECORD_LINKER, Beliefs.NONE): (
        "someone who compares rows with the external database, one row at a time, as the risk models it"
    ),
    (Adversary.READER, Beliefs.NONE): "someone who sees the release, but not someone who replays the method",
    (Adversary.REPLAYER, Beliefs.EVERY): (
        "someone who sees the release and also replays the method; replaying adds nothing, whatever they believed before (strong)"
    ),
    (Adversary.REPLAYER, Beliefs.FLAT): (
        "someone who sees the release and also replays the method, but only if they had no idea how values depend on "
        "quasi-identifiers (weak)"
    ),
    (Adversary.ANYONE, Beliefs.EVERY): "anyone, whatever they know, as far as epsilon and delta allow",
}

ANYONE = Guarantee(Adversary.ANYONE, Beliefs.EVERY)
STRONG = Guarantee(Adversary.REPLAYER, Beliefs.EVERY, posterior_is_share=True)
WEAK = Guarantee(Adversary.REPLAYER, Beliefs.FLAT, posterior_is_share=True)
RELEASE_ONLY = Guarantee(Adversary.READER)
ONE_ROW_AT_A_TIME = Guarantee(Adversary.RECORD_LINKER)
NO_GUARANTEE = Guarantee(Adversary.NOBODY)

MATCHED = replace(
    WEAK,
    measured="Rows were matched by their quasi-identifiers. A learner, who knows how values depend on quasi-identifiers and replays "
    "batch-matching, guessed at least 82% of the occupations of Adult right at l = 3 (promised: 33%) and 70% at l = 5 (promised: 20%).",
)

REPLAYING_ADDS = "replaying can make a value more likely than its share of the group, as far as the goal allows"
EXACT_ROWS = "who is in the table is public, with exact quasi-identifiers"
