# SPDX-License-Identifier: Apache-2.0
"""Opening: the verdict of a report, for a board that reads one page. Figures follow it. Public and owner's reports open alike.

It says what was promised, against whom it holds and does not, the worst case in people, and what is not promised.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from overt.guarantee import Adversary, Guarantee
from overt.markup import Markup, element
from overt.metrics.rare_values import Likelier
from overt.metrics.risk import AttributeDisclosure, Identification
from overt.report.sentences import counted, listed, of_rare, one_in, percent


@dataclass(frozen=True, kw_only=True)
class Opening:
    """What a verdict rests on: of the release alone, so that it may be public; `leak` is for the owner."""

    promised: tuple[str, ...]  # the goals, in words
    asked: tuple[str, ...]  # and by their names
    holds: bool
    guarantee: Guarantee
    found: Identification
    shows_exactly: bool
    learnt: tuple[AttributeDisclosure, ...]
    rare: tuple[Likelier, ...]
    where: str  # "group" or "bucket"
    not_promised: tuple[str, ...]
    leak: str = ""  # what an audit says, for the owner
    knowledge: str = ""  # whose knowledge of somebody's rows is covered

    @property
    def worst_cases(self) -> tuple[str, ...]:
        """The worst that happens to anybody, in people."""
        return (*self._found(), *self._learnt(), *map(of_rare, self.rare), *self._unmeasured())

    @property
    def rows(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Every heading with its sentences."""
        promised = self.promised or ("There is no goal about groups.",)
        rows = [
            ("What was promised", promised),
            ("Against whom it holds", (f"{_capital(holds_against(self.guarantee))}.", *filter(None, [self.knowledge]))),
            ("Against whom it does not hold", fails_against(self.guarantee, len(self.learnt))),
            ("The worst case", self.worst_cases),
            ("What is not promised", self.not_promised or ("Nothing beyond what is stated here.",)),
        ]
        return tuple(rows)

    @property
    def dress(self) -> str:
        """How the verdict looks: green only where replaying the method adds nothing, whatever was believed before."""
        if not self.holds:
            return "verdict broken"
        return "verdict" if self.guarantee.strength == "strong" else "verdict careful"

    @property
    def condition(self) -> str:
        """The condition under which the verdict holds, as a second sentence of it."""
        match self.guarantee.strength, self.guarantee.adversary:
            case "strong", _:
                return "Somebody who knows exactly how it was made learns no more than other readers."
            case "weak", _:
                return "Somebody who knows how it was made, and also how values depend on what is known of people, may learn more than is promised."
            case _, Adversary.READER:
                return "Somebody who knows how it was made, and makes it again, may learn more than is promised."
            case _:
                return "Nothing limits what a reader may learn."

    def _found(self) -> Iterator[str]:
        found = self.found
        if self.shows_exactly:
            yield (
                f"What others know of people is published exactly. {counted(found.n_unique, 'person is', 'people are')} alone with what is shown "
                "of them: whoever knows that of them sees that they are in the table."
            )
        elif found.n_unique:
            yield f"{counted(found.n_unique, 'person is', 'people are')} alone with what is shown of them, and can be singled out."
        else:
            n_smallest = dict(found.below).get(5, 0)
            under = (
                f" {counted(n_smallest, 'person is', 'people are')} in groups of fewer than 5." if n_smallest else ""
            )
            yield f"Whoever knows a person finds them among {found.smallest:,} who look alike: {one_in(float(found.prosecutor))}.{under}"

    def _learnt(self) -> Iterator[str]:
        for one in self.learnt:
            if one.n_certain:
                people = counted(one.n_certain, "person's value is", "people's values are")
                yield (
                    f"{one.column}: {people} known for certain: everybody in their {self.where} has the same one. "
                    f"Of all, {percent(float(one.blind_guess))} have the most frequent value."
                )
            else:
                yield (
                    f"{one.column}: in the worst {self.where} a reader concludes a value with {percent(float(one.worst))}, where "
                    f"{percent(float(one.blind_guess))} of all have the most frequent value; nobody's is certain."
                )

    def _unmeasured(self) -> Iterator[str]:
        if self.leak:
            yield f"To somebody who knows the method: {self.leak}."
        elif not self.guarantee.resists_replay:
            yield "All this is for a reader who does not replay the method. For one who does, this report cannot say how bad it is."
        elif self.guarantee.replaying_adds:
            yield (
                "These figures are for readers who do not replay the method. Somebody who replays it may conclude more: up to what was promised, "
                "and beyond that if they know how values depend on what is known of people."
            )
        elif self.guarantee.strength == "weak":
            yield "Somebody who knows how values depend on what is known of people may conclude more than these figures, by replaying the method."


def holds_against(guarantee: Guarantee) -> str:
    """Whom it holds against, in words for everybody."""
    return str(guarantee)


def fails_against(guarantee: Guarantee, n_sensitive: int = 1) -> tuple[str, ...]:
    """Whom it does not hold against; where a line has several sensitive values, one of them may find it."""
    if guarantee.adversary is Adversary.ANYONE:
        return ("Nobody; epsilon and delta say how far the guarantee goes.",)
    knows = [
        "Somebody who knows more about a person than the quasi-identifiers, or how columns depend on each other, may guess better."
    ]
    if n_sensitive > 1:
        knows.append(
            "Somebody who knows one sensitive value of a person, such as an amount, may find the line by it, and read the person's other sensitive values there."
        )
    if guarantee.strength == "strong":
        return tuple(knows)
    if guarantee.strength == "weak":
        return (
            "Somebody who replays the method, and knows how values depend on quasi-identifiers, may learn more than is promised.",
            *knows,
        )
    return (
        "Somebody who replays the method: Overt's code is public, and anybody can run it on every table that fits the release, and rule out "
        "those that would have led to another one.",
        *knows,
    )


def section_of_opening(opening: Opening) -> Markup:
    """The verdict with its five parts, one under the other."""
    parts = []
    for heading, sentences in opening.rows:
        said = [element("p", sentence) for sentence in sentences]
        kind = (
            "against" if heading == "Against whom it does not hold" and opening.guarantee.strength != "strong" else None
        )
        parts.append(element("div", element("dt", heading), element("dd", said), class_=kind))
    return element("dl", parts, class_="opening")


def verdict_of_opening(opening: Opening, headline: str) -> Markup:
    """The first sentence of a report, and the condition under which it is true."""
    return element("p", f"{headline} {opening.condition}", class_=opening.dress)


def of_goals(asked: Sequence[str]) -> str:
    """Goals by their names, or that there are none."""
    return listed(list(asked)) if asked else "no goal"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
