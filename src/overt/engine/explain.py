# SPDX-License-Identifier: Apache-2.0
"""`overt.explain`: what a property, a method or a word of a guarantee is, what it does not promise, and a tiny example."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, ClassVar

from overt.audience import Audience
from overt.engine.result import Result
from overt.errors import InvalidInput
from overt.report.explanations import METHODS_EXPLAINED, PROPERTIES_EXPLAINED, WORDS_EXPLAINED
from overt.report.glossary import GLOSSARY

USUAL_WIDTH = 100


@dataclass(frozen=True)
class Explained(Result):
    """What `overt.explain` gives: one term, or all of them by kind."""

    audience: ClassVar[Audience | None] = None

    term: str
    kind: str  # "property", "method", "word"
    what: str
    not_promised: str
    example: str

    def content(self) -> dict[str, Any]:
        """The term in parts."""
        return {
            "term": self.term,
            "kind": self.kind,
            "what": self.what,
            "not_promised": self.not_promised,
            "example": self.example,
        }

    def lines(self, width: int | None = None) -> Iterator[str]:
        """The term in words."""
        parts = (
            (f"{self.term} ({self.kind})", self.what),
            ("What it does not promise" if self.kind != "word" else "What it does not mean", self.not_promised),
            ("Example", self.example),
        )
        for n, (heading, text) in enumerate(parts):
            yield from ([""] if n else [])
            yield heading
            for line in text.splitlines():
                plain = line.startswith(("[", "name =", "property =")) or " = " in line[:24]
                yield from (
                    [f"  {line}"]
                    if plain or not line
                    else textwrap.wrap(line, width or USUAL_WIDTH, initial_indent="  ", subsequent_indent="  ")
                )


@dataclass(frozen=True)
class Terms(Result):
    """All terms that can be explained."""

    audience: ClassVar[Audience | None] = None

    properties: tuple[str, ...] = tuple(PROPERTIES_EXPLAINED)
    methods: tuple[str, ...] = tuple(METHODS_EXPLAINED)
    words: tuple[str, ...] = tuple(GLOSSARY)

    def content(self) -> dict[str, Any]:
        """The terms by kind."""
        return {"properties": list(self.properties), "methods": list(self.methods), "words": list(self.words)}

    def lines(self, width: int | None = None) -> Iterator[str]:
        """The terms by kind."""
        for heading, terms in (("Properties", self.properties), ("Methods", self.methods), ("Words", self.words)):
            yield heading
            yield from textwrap.wrap(
                ", ".join(terms),
                width or USUAL_WIDTH,
                initial_indent="  ",
                subsequent_indent="  ",
                break_on_hyphens=False,
            )
        yield ""
        yield "For one of them: overt explain l-diversity"


def explain(term: str | None = None) -> Explained | Terms:
    """Explain a term: what it is, what it does not promise, and a tiny example. Without a term, list all terms.

    >>> print(explain("k-anonymity"))
    k-anonymity (property)
      Every group has at least k people, for whom the release shows the same. Somebody who looks for one
      of them finds at least k.
    <BLANKLINE>
    What it does not promise
      Anything about sensitive values. If all k people have the same disease, everybody knows it.
    <BLANKLINE>
    Example
      Two groups of four people: flu, flu, gout, HIV and cold, cold, flu, gout. k = 4: the chance of
      finding somebody's row is at most 1 in 4.
    """
    if term is None:
        return Terms()
    wanted = " ".join(term.lower().split())
    for name in (wanted, wanted.replace(" ", "-"), wanted.removesuffix("s")):
        for kind, explained in (("property", PROPERTIES_EXPLAINED), ("method", METHODS_EXPLAINED)):
            if name in explained:
                found = explained[name]
                return Explained(name, kind, found.what, found.not_promised, found.example)
        if name in GLOSSARY:
            return Explained(name, "word", GLOSSARY[name], *WORDS_EXPLAINED[name])
    every = [*PROPERTIES_EXPLAINED, *METHODS_EXPLAINED, *GLOSSARY]
    near = get_close_matches(wanted, every, n=1, cutoff=0.6)
    advice = f"did you mean {near[0]!r}?" if near else "overt explain, without a term, lists what can be explained."
    raise InvalidInput(f"There is no explanation of {term!r}; {advice}")
