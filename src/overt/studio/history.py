# SPDX-License-Identifier: Apache-2.0
"""History: a recipe and all that it was before. Every change is a new text, and undo goes back to an older one."""

import tomllib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import ndiff
from typing import Any

from overt.io.recipe.toml_text import toml_of

Document = dict[str, Any]


@dataclass(frozen=True)
class Edit:
    """A recipe as it stood after a change, and what the change was in words."""

    text: str
    words: str
    when: datetime = field(default_factory=datetime.now)
    is_household: bool = False  # whether what a recipe calls a person is a household; only words differ
    settled: tuple[str, ...] = ()  # columns of which somebody said that their dates are read rightly


@dataclass(frozen=True)
class History:
    r"""What was done, oldest first, and what was undone, next to be redone first.

    >>> history = History.begin("version = 1\n", "Read").change("Version two", lambda recipe: {**recipe, "version": 2})
    >>> history.changed_lines
    ('version = 2',)
    >>> history.undo().text
    'version = 1\n'
    """

    done: tuple[Edit, ...]
    undone: tuple[Edit, ...] = ()

    @classmethod
    def begin(cls, text: str, words: str) -> "History":
        """A history with one recipe, in our spelling."""
        return cls((Edit(toml_of(tomllib.loads(text)), words),))

    @property
    def text(self) -> str:
        """The recipe as it stands."""
        return self.done[-1].text

    @property
    def document(self) -> Document:
        """The recipe as it stands, as plain values."""
        return tomllib.loads(self.text)

    def change(
        self,
        words: str,
        edit: Callable[[Document], Document],
        *,
        is_household: bool | None = None,
        settled: Collection[str] | None = None,
    ) -> "History":
        """The history with one change more; a change that changes nothing is none. What is not said of its words stays as it was."""
        before, text = self.done[-1], toml_of(edit(self.document))
        household = before.is_household if is_household is None else is_household
        answered = before.settled if settled is None else tuple(sorted(settled))
        if (text, household, answered) == (before.text, before.is_household, before.settled):
            return self
        return History((*self.done, Edit(text, words, is_household=household, settled=answered)))

    @property
    def can_undo(self) -> bool:
        """Whether anything can be undone."""
        return len(self.done) > 1

    def undo(self) -> "History":
        """The history without its last change, which can be redone."""
        return History(self.done[:-1], (self.done[-1], *self.undone)) if self.can_undo else self

    def redo(self) -> "History":
        """The history with the change that was undone last."""
        return replace(self, done=(*self.done, self.undone[0]), undone=self.undone[1:]) if self.undone else self

    @property
    def changed_lines(self) -> tuple[str, ...]:
        """The lines that the last change wrote."""
        if not self.can_undo:
            return ()
        before, after = (edit.text.splitlines() for edit in self.done[-2:])
        return tuple(line[2:] for line in ndiff(before, after) if line.startswith("+ ") and line[2:].strip())
