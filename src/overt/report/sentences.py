# SPDX-License-Identifier: Apache-2.0
# Tested through tests/report/test_opening.py
"""Sentences: what the numbers of a report mean, for someone who decides and is no specialist."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from overt.guarantee import Guarantee
from overt.metrics.rare_values import SEVERAL, Likelier
from overt.metrics.risk import AttributeDisclosure, Identification

if TYPE_CHECKING:
    from overt.report.owner_report import Report


def one_in(share: float) -> str:
    """A chance in words.

    >>> one_in(0.2), one_in(1.0), one_in(0.0123)
    ('1 in 5', 'certain', '1 in 81')
    """
    if share >= 0.995:
        return "certain"
    n = 1 / share
    return f"1 in {n:.1f}" if n < 3 and abs(n - round(n)) > 0.05 else f"1 in {n:,.0f}"


def percent(share: float) -> str:
    r"""A share in words that never rounds something to nothing, or a part to all.

    >>> percent(0.4999), percent(0.00001), percent(0.99999), percent(1), percent(0.034), percent(0.998)
    ('50\xa0%', 'under 0.1\xa0%', 'over 99.9\xa0%', '100\xa0%', '3.4\xa0%', '99.8\xa0%')
    """
    if 0 < share < 0.001:
        return "under 0.1\u00a0%"
    if 0.999 < share < 1:
        return "over 99.9\u00a0%"
    return f"{share * 100:.1f}\u00a0%" if 0 < share < 0.1 or 0.99 < share < 1 else f"{share * 100:.0f}\u00a0%"


def counted(n: int, noun: str, plural: str = "") -> str:
    """A number of things.

    >>> counted(1, "group"), counted(1200, "group"), counted(2, "person", "people")
    ('1 group', '1,200 groups', '2 people')
    """
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"


def of_rare(one: Likelier) -> str:
    """How much likelier a release makes a rare value; it names the column and no value."""
    people = counted(one.n_people, "person is", "people are")
    return (
        f"Rare values of {one.column!r}: one that {percent(float(one.share))} of all have is {float(one.times):.3g} times as likely in a "
        f"group, {percent(float(one.share_in_group))} of it. {people} in groups where a rare value is at least {SEVERAL} times as likely."
    )


def listed(words: list[str]) -> str:
    """a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def headline(report: "Report") -> str:
    """The report in one sentence."""
    goals = listed([goal.asked for goal in report.goals]) if report.goals else "no goal"
    held = "satisfies" if report.holds else "does NOT satisfy"
    return f"This release of {report.whom} {held} {goals}."


def of_finding(report: "Report") -> Iterator[str]:
    """How easily people are found, before and after."""
    before, after = report.before.identification, report.after.identification
    known = listed([fate.name for fate in report.columns if fate.role == "quasi-identifier"])
    yield f"Before: {_uniques_of(before, report.thing)} by {known}. {_sets_of(report)}"
    if report.kind == "buckets":
        yield (
            f"After: people are found as before, because {known} are published exactly; what is hidden is which "
            "sensitive values are theirs."
        )
        return
    if after.smallest == 1:
        share = percent(after.n_unique / after.n_rows)
        yield f"After: {share} of people ({counted(after.n_unique, report.thing)}) can still be singled out by what is shown about them."
        return
    yield (
        f"After: everyone looks like at least {counted(after.smallest - 1, 'other')}. Someone who knows that a person is in "
        f"the table picks the right {report.thing} with a chance of at most {one_in(float(after.prosecutor))}; someone who tries to "
        f"match everybody gets {percent(float(after.marketer))} right (before: {percent(float(before.marketer))})."
    )


def _uniques_of(before: Identification, thing: str) -> str:
    if not before.n_unique:
        return f"nobody was unique, but the smallest groups had {counted(before.smallest, thing)},"
    return (
        f"{percent(before.n_unique / before.n_rows)} of people ({counted(before.n_unique, thing)}) could be singled out"
    )


def _sets_of(report: "Report") -> str:
    uniques = report.uniques
    if not uniques.sets:
        return ""
    worst = uniques.sets[0]
    few = next((size + 1 for size, n in enumerate(uniques.n_of_size) if n), 0)
    n_few = sum(uniques.n_of_size[:few])
    columns = f"{few} column{'s' if few > 1 else ''}"
    return (
        f"For {n_few:,} of them {columns} {'were' if few > 1 else 'was'} enough; the set that singled out most was "
        f"{listed(list(worst.columns))} ({counted(worst.n_rows, report.thing)})."
    )


def of_rates(report: "Report") -> Iterator[str]:
    """How frequent values are among persons, beside what the goals allow; and which of their rows were cut."""
    yield from (f"Base rate of {words}." for words in report.base_rates)
    if report.cut:
        yield f"Cut: {report.cut}."


def of_worst_group(share: float, thing: str, where: str = "group") -> str:
    r"""The share of a value in a group: of persons, of those who have it in any row.

    >>> of_worst_group(0.25, "row"), of_worst_group(0.25, "person", "bucket")
    ('in the worst group one value has 25\xa0% of the rows', 'in the worst bucket 25\xa0% of the persons have the same value')
    """
    if thing == "row":
        return f"in the worst {where} one value has {percent(share)} of the rows"
    return f"in the worst {where} {percent(share)} of the {thing}s have the same value"


def of_certain(n_certain: int, where: str = "group") -> str:
    """How many people's values follow from their group alone."""
    if not n_certain:
        return f"nobody is in a {where} where everyone has the same value"
    people = counted(n_certain, f"person is in a {where}", f"people are in {where}s")
    known = "is" if n_certain == 1 else "are"
    return f"{people} where everyone has the same value, and so {known} known with certainty"


def of_learning(before: AttributeDisclosure, after: AttributeDisclosure, thing: str = "row") -> str:
    """How much is learnt of a sensitive column without finding anybody."""
    worst = of_worst_group(float(after.worst), thing)
    return (
        f"{after.column}: {of_certain(after.n_certain)}. {worst[:1].upper()}{worst[1:]}. Guessing "
        f"the most frequent value of each group is right for {percent(after.best_guess)} of people; before it was "
        f"{percent(before.best_guess)}, and without looking at anybody it is {percent(float(after.blind_guess))}."
    )


def of_cost(report: "Report") -> Iterator[str]:
    """What the release cost, and what an analyst notices."""
    utility = report.utility
    if report.kind == "buckets":
        yield "Every column is published unchanged. What is lost is how they are related to the sensitive columns."
    else:
        yield (
            f"Groups have {utility.average_group_size:,.1f} {report.thing}s on average. Of the information in the quasi-identifiers, "
            f"{percent(1 - utility.non_uniform_entropy)} remains (in bits); a cell covers "
            f"{percent(utility.certainty_penalty)} of its column's range on average."
        )
    if report.n_suppressed:
        share = percent(report.n_suppressed / report.n_rows)
        were, they = ("was", "it is") if report.n_suppressed == 1 else ("were", "they are")
        yield f"{counted(report.n_suppressed, report.thing)} ({share}) {were} suppressed: {they} not in the release."
    if utility.mean_error is not None:
        yield (
            f"Averages of a number by category, computed from the release, are off by {utility.mean_error:.3f} standard "
            "deviations on average."
        )
    for one in utility.predictions:
        yield (
            f"A model that predicts {one.question} is right for {percent(one.by_release)} of people if it learnt from "
            f"the release, {percent(one.by_original)} if from the original, {percent(one.by_majority)} if it always "
            "says the same."
        )


def of_replay(guarantee: Guarantee, *, said: Sequence[str] = ()) -> str:
    """Against whom it holds, without looking away; what was measured against it is not repeated if it is `said` elsewhere."""
    if guarantee.resists_replay:
        return f"This holds against {guarantee}.{f' {guarantee.measured}' if guarantee.measured not in said else ''}".rstrip()
    return (
        f"This holds against {guarantee}. Overt's code is public: an adversary can run the method on every "
        "table that fits the release, and rule out those that would have led to a different one. The protection that remains may be "
        "less than what was asked for. If that matters, use a method that resists it."
    )
