# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_commands.py
"""Result: what a command gives, for people as words and for programs as plain values.

A command line, a notebook, a studio and a scheduler call the same function of the engine and get the same result. Its
words are the lines that the command prints.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from overt.audience import PRINTED, Audience
from overt.checks import Verdict
from overt.markup import Markup, element
from overt.report.lines import labelled, of_findings

NOT_WRITTEN = (
    "Nothing was written: the release did not pass its own check. Please report this as a bug in Overt.",
    "",
)


class Result(ABC):
    """What every command gives."""

    audience: ClassVar[Audience | None] = Audience.OWNER  # who may see it; None: it holds nothing of anybody's data

    @abstractmethod
    def lines(self, width: int | None = None) -> Iterator[str]:
        """What a person wants to know; `width` is that of a terminal in which long lines are wrapped."""

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """The same as plain values, and more exactly."""

    def for_whom(self) -> Audience | None:
        """Who may see this result."""
        return self.audience

    def summary(self, width: int | None = None) -> str:
        """The words of the command. What is for the owner says so first."""
        notice = [PRINTED, ""] if self.for_whom() is Audience.OWNER else []
        return "\n".join([*notice, *self.lines(width)])

    def rows_for_the_owner(self) -> Iterator[tuple[str, str]]:
        """What the owner is told beside a result that is public, as labels and texts; a command prints it where errors go."""
        return iter(())

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of the command. Its key "audience" says who may see it."""
        audience = self.for_whom()
        return self.content() if audience is None else {"audience": str(audience), **self.content()}

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]  # no dataclass writes one of its own

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        """What a console shows: the words of the command."""
        return self.summary()

    def _repr_html_(self) -> Markup:
        """What notebooks show: the same words."""
        return element("pre", self.summary(), style="white-space:pre-wrap")


class RunResult(Result):
    """What a run gives that checks its release before it writes it."""

    verdict: Verdict

    @property
    def ok(self) -> bool:
        """Whether the release passed its own check and was written."""
        return self.verdict.ok

    def for_whom(self) -> Audience | None:
        """Who may see this result. What was found in a release that was not written is for the owner, whatever the method."""
        return self.audience if self.ok else Audience.OWNER

    def lines(self, width: int | None = None) -> Iterator[str]:
        """What a person wants to know; of a release that did not pass its own check, why."""
        return labelled(self.rows(), width) if self.ok else iter([*NOT_WRITTEN, *of_findings(self.verdict, width)])

    @abstractmethod
    def rows(self) -> Iterator[tuple[str, str]]:
        """What a person wants to know about a release that was just written, as labels and texts."""
