# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_compare.py
"""Compared recipes: what each of several recipes would give, and their figures as a table, a plot and notes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from overt.adversary.downcoding.findings import Downcoding
from overt.adversary.learner.findings import Learned
from overt.guarantee import Guarantee
from overt.metrics.risk import Risk
from overt.metrics.utility import Utility
from overt.release import Release
from overt.report.leak import Leak, why_not_known, words_of_share
from overt.report.leak_verdict import LeakVerdict
from overt.report.plots import Plot, points
from overt.report.sentences import one_in, percent

DOWNCODED = (
    "the share of {things} in classes smaller than the smallest group, after finer values are written down that somebody who knows nobody's "
    "quasi-identifiers finds for certain; at least."
)


@dataclass(frozen=True, eq=False)
class Candidate:
    """What one recipe gives."""

    name: str
    method: str
    goal: str
    guarantee: Guarantee
    n_rows: int
    n_suppressed: int
    seconds: float | None  # for the method alone; None if another tool made it
    described: tuple[object, ...]  # the data and the roles of columns: what must be the same for numbers to compare
    risk: Risk
    utility: Utility
    leak: Leak | None = None  # what someone who knows the method learns; None if it was not asked
    downcoded: Downcoding | None = (
        None  # what a reader learns about quasi-identifiers; None if there is nobody in the release
    )
    persons: str | None = (
        None  # the column that says whose a row is, so that all counts are of persons; None: a row is a person
    )
    n_rows_of_persons: int = 0  # that they have in the release
    looks_at: int | None = None  # people of the pilot, the only ones who were looked at; None: everybody
    release: Release | None = field(default=None, repr=False)  # what was measured; nobody has written it anywhere

    @property
    def people_above(self) -> float | None:
        """The share of people of whom someone who knows the method believes more than promised, of the worst column; None if it is not known."""
        if self.leak is None or (self.leak.verdict is LeakVerdict.UNKNOWN and not self.leak.is_proven):
            return None
        if self.leak.is_proven:
            return max((one.share_above() for one in self.leak.audits), default=0.0)
        return max((one.share_said() or 0.0 for one in self.leak.audits), default=None)

    @property
    def above_in_words(self) -> str:
        """The same in words, which say "at least" where it was sampled; empty if it is not known."""
        is_exact = self.leak is not None and all(one.replayed.is_exact for one in self.leak.audits)
        return words_of_share(self.people_above, is_exact=is_exact)

    @property
    def _says_nothing(self) -> bool:
        """Whether an audit knows of nobody what they learn with the method."""
        return self.leak is not None and any(one.n_unknown == one.n_rows for one in self.leak.audits)

    @property
    def guessed_with_method(self) -> float | None:
        """The share of values that someone who knows the method guesses right; None if it is not known."""
        if self.leak is None or self.leak.audit is None or self._says_nothing:
            return None
        return max(one.guesses[1] / one.n_rows for one in self.leak.audits)

    @property
    def guessed_alone(self) -> float | None:
        """The same for someone who has not, but knows who is in which group, if that was asked; else `best_guess`."""
        if self.leak is None or self.leak.audit is None:
            return self.best_guess
        return max(one.guesses[0] / one.n_rows for one in self.leak.audits)

    @property
    def learned(self) -> Learned | None:
        """What a learner guesses right, if that was asked, of the column where it is most beyond someone not in the release."""
        return max(self.leak.learned if self.leak else (), key=lambda one: one.from_release.value, default=None)

    @property
    def best_guess(self) -> float | None:
        """The share of people whose sensitive value is guessed right, of the worst column."""
        return max((one.best_guess for one in self.risk.disclosures), default=None)

    @property
    def kept(self) -> float | None:
        """The share of what a model learns from the original that it also learns from the release, of the worst column."""
        return min((one.kept for one in self.utility.predictions), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "recipe": self.name,
            "method": self.method,
            "goal": self.goal,
            **self.guarantee.to_dict(),
            "rows": self.n_rows,
            "pilot": self.looks_at,
            "rows_suppressed": self.n_suppressed,
            "persons": None
            if self.persons is None
            else {"persons": self.n_rows - self.n_suppressed, "rows": self.n_rows_of_persons},
            "groups": self.risk.identification.n_groups,
            "prosecutor": float(self.risk.identification.prosecutor),
            "marketer": float(self.risk.identification.marketer),
            "best_guess": self.best_guess,
            "best_guess_with_method": self.guessed_with_method,
            "leak": self.people_above,
            "learner": [one.to_dict() for one in self.leak.learned] if self.leak is not None else [],
            "not_audited": self.leak.why_not or None if self.leak is not None else "not asked",
            "downcoding": None if self.downcoded is None else self.downcoded.to_dict(),
            "average_group_size": self.utility.average_group_size,
            "discernibility": self.utility.discernibility,
            "certainty_penalty": self.utility.certainty_penalty,
            "non_uniform_entropy": self.utility.non_uniform_entropy,
            "pair_divergence": self.utility.pair_divergence,
            "mean_error": self.utility.mean_error,
            "prediction_kept": self.kept,
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class Failure:
    """A recipe that gave nothing, and why."""

    name: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"recipe": self.name, "error": self.why}


def find_difference(candidates: Sequence[Candidate]) -> str:
    """What a reader of a comparison must know: whether numbers are of the same thing. Empty if they are."""
    if len({candidate.described for candidate in candidates}) < 2:
        return ""
    return "These recipes differ in the data or in the roles of columns, so their figures cannot be compared."


def find_looked_at(candidates: Sequence[Candidate]) -> str:
    """Whose values a comparison looked at, and what follows for a choice that is made by it."""
    pilots = {candidate.looks_at for candidate in candidates}
    if None in pilots:
        return (
            (
                "This comparison looked at the values of people who will be published. What you choose because of it can reveal something about "
                "them, and no guarantee covers that. With [pilot] in the recipes, a comparison looks only at people who are then left out."
            )
            if candidates
            else ""
        )
    people = " and ".join(f"{n:,}" for n in sorted(n for n in pilots if n is not None))
    return (
        (
            f"Only the values of the {people} people of the pilot were looked at. They are not published, so choose freely. The figures are about "
            "the pilot; in a release of everybody else, groups are smaller for its size."
        )
        if people
        else ""
    )


def plot_candidates(candidates: Sequence[Candidate]) -> Plot:
    """Risk against cost: further down is safer, further left is more useful."""
    has_sensitive = all(candidate.best_guess is not None for candidate in candidates)
    rows = [
        (
            candidate.name,
            candidate.utility.pair_divergence,
            candidate.guessed_alone or 0.0 if has_sensitive else float(candidate.risk.identification.prosecutor),
        )
        for candidate in candidates
    ]
    risen = {one.name: one.guessed_with_method for one in candidates if one.guessed_with_method is not None}
    y = "sensitive values guessed right" if has_sensitive else "highest chance to be found"
    return points(
        rows,
        description="Risk against cost of several releases",
        x="what pairs of columns lost (bits)",
        y=y,
        risen=risen if has_sensitive else {},
    )


def table_of(candidates: Sequence[Candidate]) -> list[list[str]]:
    """A header, and a row for every recipe."""
    header = ["recipe", "method", "goal", things_of(candidates), "groups", "found at worst", "found on average", "guessed", "leak", "downcoded", "entropy lost", "pairs lost", "model keeps", "time"]  # fmt: skip
    if any(one.learned for one in candidates):
        header[9:9] = ["learner", "not in it"]
    rows = [
        [
            one.name,
            one.method,
            one.goal,
            f"{one.n_rows - one.n_suppressed:,}",
            f"{one.risk.identification.n_groups:,}",
            one_in(float(one.risk.identification.prosecutor)),
            percent(float(one.risk.identification.marketer)),
            "" if one.best_guess is None else percent(one.best_guess),
            leak_of(one),
            *(learner_of(one) if "learner" in header else ()),
            "" if one.downcoded is None else percent(one.downcoded.share_below),
            percent(one.utility.non_uniform_entropy),
            f"{one.utility.pair_divergence:.4f} bit",
            "" if one.kept is None else percent(one.kept),
            "" if one.seconds is None else f"{one.seconds:.2f} s",
        ]
        for one in candidates
    ]
    return [header, *rows]


def things_of(candidates: Sequence[Candidate]) -> str:
    """What the recipes count: rows, or the persons who have them."""
    found = {"rows" if one.persons is None else "persons" for one in candidates}
    return " or ".join(sorted(found, reverse=True)) or "rows"


def learner_of(one: Candidate) -> tuple[str, str]:
    """What a learner guesses right about people in the release, and about someone who is not."""
    if one.learned is None:
        return "", ""
    least = "at least " if one.learned.is_least else ""
    return f"{least}{one.learned.best.value:.0%}", f"{one.learned.outside.value:.0%}"


def leak_of(one: Candidate) -> str:
    """The share of people of whom more is believed than promised, in as many words as a cell has room for."""
    if one.leak is None:
        return ""
    if one.leak.proof is not None:
        return "none" if one.leak.proof.strength == "strong" else "none (weak)"
    if one.leak.audit is None or any(why_not_known(audit) for audit in one.leak.audits):
        return "not known"
    if one.leak.verdict == LeakVerdict.UNKNOWN:
        return "not known yet"
    return one.above_in_words or "not known yet"


def notes_of_leaks(candidates: Sequence[Candidate]) -> list[str]:
    """What the column of leaks says, and why some are not known."""
    leaks = [(one.name, one.leak) for one in candidates if one.leak is not None]
    if not leaks:
        return []
    unknown = [
        f"{name}: not audited. {leak.why_not}" for name, leak in leaks if leak.audit is None and not leak.is_proven
    ]
    reasons = {
        f"{name}: not known. {why_not_known(one)}": None
        for name, leak in leaks
        for one in leak.audits
        if why_not_known(one)
    }
    unknown += list(reasons)
    found = [audit.replayed for _, leak in leaks for audit in leak.audits]
    errors = [one.error_of_row[one.is_known_of_row] for one in found]
    largest = max((float(sorted(error)[int(len(error) * 0.99)]) for error in errors if error.size), default=0.0)
    sampled = (
        f" Estimated by sampling where it is not exact, with a standard error of {largest:.3f} or less for 99% of people."
        if largest
        else ""
    )
    return [
        "the share of people about whom someone who knows the method can conclude more than promised (or, if nothing is promised, "
        f"more than the release alone says); none: by proof.{sampled}",
        *unknown,
    ]
