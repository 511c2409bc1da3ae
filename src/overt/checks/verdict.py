# SPDX-License-Identifier: Apache-2.0
# Tested through tests/checks/test_check.py
"""Claim: what a release says of itself. Verdict: what was found, in sentences without any person's value."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from overt.arguments import WORDS, refusal
from overt.errors import InvalidInput
from overt.privacy.base import Property


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a release says of itself, as its manifest does."""

    goal: Property
    n_rows: int  # rows of the release
    others: tuple[str, ...] = ()  # columns of the role "other" that it shows
    show: Mapping[str, str] = field(default_factory=dict)  # column -> "range", "label" or "set" where not as usual

    def __post_init__(self) -> None:
        if not isinstance(self.goal, Property):
            raise InvalidInput(refusal("The goal of a Claim", self.goal, WORDS["Property"]))
        if self.n_rows < 0:
            raise InvalidInput(f"A release cannot claim {self.n_rows} rows; 0 or more are expected.")


@dataclass(frozen=True)
class Finding:
    """One thing that was checked: its name, whether it is as claimed, and a sentence that says what was found."""

    name: str
    ok: bool
    sentence: str


@dataclass(frozen=True)
class Verdict:
    """Everything that was checked of a release."""

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether the release is what it claims to be."""
        return all(finding.ok for finding in self.findings)

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that are not as claimed."""
        return tuple(finding for finding in self.findings if not finding.ok)

    def finding(self, name: str) -> Finding:
        """The finding of this name."""
        for finding in self.findings:
            if finding.name == name:
                return finding
        raise InvalidInput(
            f"Nothing named {name!r} was checked; there is {', '.join(finding.name for finding in self.findings)}."
        )


def counted(n: int, thing: str) -> str:
    """A number with its noun: "1 row", "2 rows"."""
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"
