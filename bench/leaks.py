# SPDX-License-Identifier: Apache-2.0
"""What methods give away on Adult: the tables and pictures of docs/guides/why-the-algorithm-matters.md, in one command.

`python -m bench leaks` prints the page's tables as they stand there and draws its pictures into docs/images, within an hour on two idle cores; it
says how long it took. What is sampled differs from run to run, and with the machine. `--quick` samples for a tenth of the time and draws nothing.
"""

import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import overt
from bench import adult
from bench.measure import Sheet
from overt.adversary.learner.findings import Learned
from overt.adversary.other_tools.searches import FirstOnPath, LeastCost, MedianCuts, audit_other
from overt.adversary.position_test import place
from overt.adversary.posterior import ROUNDING, Sampled
from overt.adversary.summary import FACTORS, Audit
from overt.io.files import read_release
from overt.method import Method
from overt.metrics.risk import risk_of_release
from overt.metrics.utility import measure_utility
from overt.privacy import AllOf, RecursiveCLDiversity
from overt.progress import silent as silently
from overt.report.leak import plot_beliefs
from overt.report.leak_verdict import LeakVerdict, verdict_of
from overt.report.plots import Plot, points
from overt.report.sentences import one_in
from overt.report.svg import draw
from overt.table import Table

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
RELEASES = adult.FOLDER / "releases"
LOOK = (
    "<style>text{fill:#5b6675}.axis{fill:#1b2430}.grid{stroke:#e1e5ea}</style>"
    '<rect width="100%" height="100%" fill="#ffffff"/>'
)

F = overt.FrequencyLDiversity
METHODS: dict[str, Callable[[int], Method]] = {
    "mondrian": lambda l: overt.Mondrian(goal=F(l)),
    "full-domain": lambda l: overt.FullDomain(goal=F(l)),
    "anatomy": lambda l: overt.Anatomy(goal=F(l)),
    "rda": lambda l: overt.RDA(goal=F(l)),
    "batch-matching": lambda l: overt.BatchMatching(goal=F(l)),
    "cross-bucket": lambda l: overt.CrossBucket(k=2, l=l),
}
SAFE = ("anatomy", "rda", "batch-matching", "cross-bucket")


LS = (2, 3, 4, 5, 6, 7)
SECONDS, LONGER = 55.0, 150.0  # of an audit; from l = 4 on failed cuts tie many people together
Row = tuple[str, ...]


def run(*, quick: bool = False) -> None:
    """All parts; without Adult at hand, the five people only."""
    began = time.perf_counter()
    sheet = Sheet("Leaks: what someone who knows the method learns")
    print("The tables of docs/guides/why-the-algorithm-matters.md, within an hour.", flush=True)
    five_people(sheet)
    if adult.is_there():
        table, seconds = (
            adult.read(quasi_identifiers=adult.SEVEN, sensitive=["occupation"]),
            SECONDS / 10 if quick else SECONDS,
        )
        audits = Audits(table, seconds)
        by_l(sheet, audits)
        keep(plot_beliefs(audits.of("mondrian", 3)), "beliefs-3", quick)
        learners(sheet, table)
        compare(sheet, audits, quick)
        breaches(audits)
        claimed_safe(sheet, table, quick)
        others(sheet, table, seconds)
    print(f"This took {(time.perf_counter() - began) / 60:.0f} minutes.")
    sheet.save()


class Audits:
    """Audits of Adult by method and l, each made once."""

    def __init__(self, table: Table, seconds: float) -> None:
        self.table, self.seconds = table, seconds
        self.known: dict[tuple[str, int], Audit] = {}

    def of(self, name: str, l: int) -> Audit:
        """One of them."""
        if (name, l) not in self.known:
            release = METHODS[name](l).anonymize(self.table, rng=np.random.default_rng(1))
            self.known[name, l] = overt.audit_release(
                release, rng=np.random.default_rng(l), seconds=self.seconds * (LONGER / SECONDS if l > 3 else 1)
            )
        return self.known[name, l]


def show(title: str, rows: list[Row]) -> None:
    """A table as the page has it; the first row is its header."""
    header, *others = rows
    print(f"\n{title}\n")
    for row in (header, ("---",) * len(header), *others):
        print(f"| {' | '.join(row)} |")
    print(flush=True)


def percent(share: float) -> str:
    """Two digits of a share."""
    return f"{share:.0%}" if share >= 0.1 else f"{share:.1%}"


def silent(found: Audit) -> bool:
    """Whether nothing is known of anybody."""
    return found.n_unknown == found.n_rows


def above(found: Audit, factor: Fraction | float = 1) -> str:
    """The share of people above so many times the bound, as far as the audit supports it."""
    said = found.share_said(factor)
    if said is None:
        return "not known yet" if found.n_unknown or found.is_above(factor).any() else "none seen"
    return percent(said) if said else "none seen"


def bare(found: Audit) -> float:
    """The share of people whose estimate is above the bound, whatever its error."""
    is_over = found.replayed.belief_of_row > found.bound_of_row + ROUNDING
    return float((is_over & found.replayed.is_known_of_row).mean())


def covering(table: Table, shown: NDArray[np.int32]) -> int:
    """The most groups whose labels cover the quasi-identifiers of one person."""
    codes = np.stack([column.codes for column in table.quasi_identifiers], axis=1)
    low, high = shown[:, :, 0].T, shown[:, :, 1].T  # (group, column)
    return max(int(((low <= one) & (one <= high)).all(axis=1).sum()) for one in np.unique(codes, axis=0))


def sampled_of(found: Audit) -> dict[str, str]:
    """Error, spread and seconds, as the page shows them."""
    sampled: Sampled | None = found.replayed.sampled
    if sampled is None:
        return {"error": "exact", "spread": "", "seconds": ""}
    figures = sampled.to_dict(found.replayed)
    error, spread = figures["standard_error"]["99_percent"], figures["spread"]["99_percent"]
    return {
        "error": "" if error is None else f"{error:.3f}",
        "spread": "not finite" if spread is None or silent(found) else f"{spread:.2f}",
        "seconds": f"{sampled.seconds:.0f}",
    }


def keep(plot: Plot, name: str, quick: bool) -> None:
    """Draw a picture for the documents."""
    if not quick:
        head, _, rest = str(draw(plot.spec)).partition("</title>")
        (IMAGES / f"{name}.svg").write_text(f"{head}</title>{LOOK}{rest}\n", encoding="utf-8")


def by_l(sheet: Sheet, audits: Audits) -> None:
    """Mondrian at every l: what is believed of people, and how surely that is known."""
    found = [audits.of("mondrian", l) for l in LS]
    for l, one in zip(LS, found, strict=True):
        say(sheet, f"Adult, Mondrian, l = {l}", one)
    told = [sampled_of(one) for one in found]
    rows: list[Row] = [
        ("with the method", *(f"l = {l}" for l in LS)),
        ("groups", *(f"{one.n_groups:,}" for one in found)),
    ]
    for factor in FACTORS:
        name = "people above 1/l, at least" if factor == 1 else f"above {float(factor):g}/l"
        rows.append((name, *(above(one, factor) for one in found)))
    rows += [
        (
            "above 1/l without the allowance of three errors",
            *("" if silent(one) else percent(bare(one)) for one in found),
        ),
        (
            "highest belief",
            *("" if silent(one) else f"{one.worst.belief:.3f} ± {one.worst.error:.3f}" for one in found),
        ),
        ("people for whom this is not known yet", *(percent(one.n_unknown / one.n_rows) for one in found)),
        ("people known for certain, counted exactly", *(f"{one.n_certain:,}" for one in found)),
        (
            "values guessed right: release alone, with the method at least",
            *(
                f"{one.guesses[0]:,.0f}, {'not known yet' if silent(one) else format(one.guesses[1], ',.0f')}"
                for one in found
            ),
        ),
        ("standard error of 99 % of the other people, at most", *(one["error"] for one in told)),
        ("spread of log Z, 99 % of cells", *(one["spread"] for one in told)),
        ("seconds", *(one["seconds"] for one in told)),
    ]
    show("Adult, Mondrian", rows)


def learners(sheet: Sheet, table: Table) -> None:
    """What somebody guesses right who knows the correlations; `python -m bench learner` has more releases."""
    methods = {
        "anatomy, l = 3": METHODS["anatomy"](3),
        "mondrian, k = 5, l = 3": overt.Mondrian(goal=overt.KAnonymity(5) & F(3)),
    }
    rows: list[Row] = [("release", "learner, person not in the release", "learner")]
    for name, method in methods.items():
        found: Learned = overt.learn(
            method.anonymize(table, rng=np.random.default_rng(1)), rng=np.random.default_rng(7)
        )
        sheet.add(f"Adult, {name}: guessed right by a learner", found.inside.value, "", note=str(found.inside))
        rows.append((name, f"{found.outside} %", f"{found.inside} %"))
    show("Adult, a learner", rows)


def say(sheet: Sheet, name: str, found: Audit) -> None:
    """The figures of an audit."""
    against = "what the release alone says" if found.bound is None else str(found.bound)
    sheet.add(f"{name}: groups", found.n_groups, "")
    for factor in FACTORS:
        for words, posterior in (("release alone", found.alone), ("with the method", found.replayed)):
            share = found.share_above(factor, posterior=posterior)
            sheet.add(f"{name}: people above {float(factor):g} times {against}, {words}", share, "")
    for risk in found.risks:
        sheet.add(f"{name}: {risk.name}, release alone", risk.alone, "", note=risk.measure)
        sheet.add(f"{name}: {risk.name}, with the method", risk.replayed, "")
    sheet.add(f"{name}: highest belief, release alone", found.alone.belief_of_row.max(), "")
    sheet.add(f"{name}: highest belief, with the method", found.worst.belief, "", note=found.worst.why)
    sheet.add(f"{name}: people known for certain", found.n_certain, "")
    sheet.add(f"{name}: values guessed right, release alone", found.guesses[0], "")
    sheet.add(f"{name}: values guessed right, with the method", found.guesses[1], "")
    sampled = found.replayed.sampled
    if sampled is not None:
        figures = sampled.to_dict(found.replayed)
        error, spread = figures["standard_error"]["99_percent"], figures["spread"]["99_percent"]
        sheet.add(f"{name}: standard error, 99% of people", np.inf if error is None else error, "", bar=0.02)
        spread = np.inf if spread is None else spread
        sheet.add(f"{name}: spread of log Z, 99% of cells", spread, "", note=f"{sampled.seconds:.0f} s")
        sheet.add(f"{name}: people for whom this is not known yet", found.n_unknown, "")


def claimed_safe(sheet: Sheet, table: Table, quick: bool) -> None:
    """Methods that are claimed safe: whether anybody's place in a group says what they have."""
    for name in (*SAFE, "gda"):
        method = METHODS[name](3) if name in SAFE else overt.GDA(goal=F(3), mode="paper")
        found = place(method, table, rng=np.random.default_rng(3), n_runs=10 if quick else 40)
        largest = float(np.abs(found.mean).max())
        sheet.add(
            f"Adult, l = 3, {name}: largest excess of twelve looks, in standard errors",
            found.largest,
            "",
            bar=5 if name in SAFE else None,
            note=f"{largest:.4f} of {found.n_groups:,} groups in {len(found.excess)} runs",
        )


def compare(sheet: Sheet, audits: Audits, quick: bool) -> None:
    """Risk, leak and utility of six methods at l = 3."""
    points_of, risen = [], {}
    rows: list[Row] = [
        ("", "groups", "found", "guessed, release alone", "guessed, with the method", "people above 1/3", "lost (bits)")
    ]
    for name, method_of in METHODS.items():
        release = method_of(3).anonymize(audits.table, rng=np.random.default_rng(1))
        risk, utility = risk_of_release(release), measure_utility(release)
        found = audits.of(name, 3)
        alone, risen[name] = (guessed / found.n_rows for guessed in found.guesses)
        points_of.append((name, utility.pair_divergence, alone))
        what, least = f"Adult, l = 3, {name}", "" if found.replayed.is_exact else "at least "
        worst = float(risk.identification.prosecutor)
        sheet.add(f"{what}: found at worst", worst, "")
        sheet.add(f"{what}: guessed right, release alone", alone, "")
        sheet.add(f"{what}: guessed right, with the method", risen[name], "", note=found.replayed.how)
        sheet.add(f"{what}: people above 1/3, with the method", found.share_over(1 / 3), "")
        sheet.add(f"{what}: pairs of columns lost", utility.pair_divergence, "bit")
        share = found.share_over(1 / 3)
        rows.append(
            (
                f"`{name}`",
                f"{found.n_groups:,}",
                "certain" if worst == 1 else one_in(worst),
                f"{alone:.1%}",
                f"{least}{risen[name]:.1%}",
                f"{least}{percent(share)}" if share else "none" if found.replayed.is_exact else "none seen",
                f"{utility.pair_divergence:.2f}",
            )
        )
    show("Adult, l = 3, six methods", rows)
    plot = points(
        points_of,
        description="Risk, leak and cost of six methods on Adult, l = 3",
        x="what pairs of columns lost (bits)",
        y="sensitive values guessed right",
        risen=risen,
    )
    keep(plot, "leak-and-cost", quick)


def breaches(audits: Audits) -> None:
    """People above 1/l for every l, by the two methods that look at values; of the safe ones there are none, by proof."""
    rows: list[Row] = [("people above 1/l, with the method", *(f"l = {l}" for l in LS))]
    for name in ("mondrian", "full-domain"):
        found = [audits.of(name, l) for l in LS]
        rows.append((f"`{name}`: share, groups", *(f"{above(one)}, {one.n_groups:,}" for one in found)))
        rows.append((f"`{name}`: standard error", *("" if silent(one) else sampled_of(one)["error"] for one in found)))
        rows.append(
            (
                f"`{name}`: people for whom this is not known yet",
                *(percent(one.n_unknown / one.n_rows) for one in found),
            )
        )
        rows.append((f"`{name}`: spread of log Z", *(sampled_of(one)["spread"] for one in found)))
    rows.append((", ".join(f"`{name}`" for name in SAFE), *("0 %" for _ in LS)))
    show("Adult, every l", rows)


def five_people(sheet: Sheet) -> None:
    """The five people, as the searches of three other tools publish them."""
    import polars as pl

    people = pl.DataFrame({"street": ["A", "A", "B", "B", "B"], "disease": ["HIV", "HIV", "flu", "cold", "asthma"]})
    shown = people.with_columns(street=pl.lit("*"))
    table = overt.read_frame(
        people, quasi_identifiers=["street"], sensitive=["disease"], hierarchies={"street": overt.Flat()}
    )
    goal = overt.DistinctLDiversity(2)
    for search in (LeastCost(goal=goal), FirstOnPath(goal=goal), MedianCuts(goal=goal)):
        found = audit_other(table, shown, search, rng=np.random.default_rng(0))
        note = f"{found.n_certain} people known for certain; release alone {found.alone.belief_of_row.max():.2f}"
        sheet.add(f"five people, {search.name}: highest belief", found.worst.belief, "", note=note)


def others(sheet: Sheet, table: Table, seconds: float) -> None:
    """Four releases that ARX made."""
    distinct = overt.DistinctLDiversity(5)
    made = {
        "arx_distinct5_dm": LeastCost(goal=distinct),
        "arx_distinct5_supp5_dm": LeastCost(goal=distinct, max_suppressed="1/20"),
        "arx_recursive4-5_supp5_dm": LeastCost(goal=AllOf((RecursiveCLDiversity(c=4, l=5),)), max_suppressed="1/20"),
        "arx_local_distinct5_loss": LeastCost(goal=distinct, optimise="loss"),
    }
    every: list[Audit] = []
    for name, search in made.items():
        shown = read_release(RELEASES / f"{name}.csv.gz")
        found = audit_other(table, shown, search, rng=np.random.default_rng(7), seconds=seconds)
        say(sheet, name, found)
        over_half = int((found.alone.belief_of_row > 1 / 2).sum())
        sheet.add(f"{name}: people of whom the release alone tells a value with more than 1/2", over_half, "")
        made_of = search.reconstruct(table, shown, None, silently)
        if made_of.why_not and made_of.shown is not None:
            sheet.add(f"{name}: most groups whose labels cover one person", covering(table, made_of.shown), "")
        every.append(found)
    told = [sampled_of(one) for one in every]
    suppressed = [int((one.alone.cell_of_row >= one.n_groups).sum()) for one in every]
    show(
        "Adult, releases of ARX",
        [
            ("", *made),
            (
                "groups, suppressed rows",
                *(f"{one.n_groups:,}, {n:,}" for one, n in zip(every, suppressed, strict=True)),
            ),
            ("highest belief, release alone", *(f"{one.alone.belief_of_row.max():.2f}" for one in every)),
            ("people above what the release alone says", *(_above_alone(one) for one in every)),
            (
                "values guessed right: release alone, search known",
                *(
                    f"{one.guesses[0]:,.0f}, {'not known' if silent(one) else format(one.guesses[1], ',.0f')}"
                    for one in every
                ),
            ),
            ("people for whom this is not known yet", *(percent(one.n_unknown / one.n_rows) for one in every)),
            (
                "standard error of 99 % of people, at most",
                *("" if silent(one) else each["error"] for one, each in zip(every, told, strict=True)),
            ),
            ("spread of log Z", *(each["spread"] for each in told)),
            ("seconds", *(each["seconds"] for each in told)),
        ],
    )


def _above_alone(found: Audit) -> str:
    sampled = found.replayed.sampled
    if silent(found) and sampled is not None and sampled.why:
        return "not known: local recoding is not replayed"
    verdict, n_above = verdict_of(found), int(found.is_above().sum())
    if silent(found) or verdict is LeakVerdict.SOME or not n_above:
        return above(found)
    return f"none seen ({n_above:,}, no more than chance can make)"
