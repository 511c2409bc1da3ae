# SPDX-License-Identifier: Apache-2.0
"""What methods give away on Adult: the figures and the pictures of docs/guides/why-the-algorithm-matters.md.

`python -m bench leaks` repeats them, and draws the pictures into docs/images; `--quick` looks for a tenth of the time and
draws nothing.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import overt
from bench import adult
from bench.measure import Sheet
from overt.adversary.l_sweep import LSweep, sweep_l
from overt.adversary.other_tools.searches import FirstOnPath, LeastCost, MedianCuts, audit_other
from overt.adversary.position_test import place
from overt.adversary.summary import FACTORS, Audit
from overt.errors import OvertError
from overt.io.files import read_release
from overt.method import Method
from overt.metrics.risk import risk_of_release
from overt.metrics.utility import measure_utility
from overt.privacy import AllOf, RecursiveCLDiversity
from overt.report.leak import plot_beliefs
from overt.report.plots import Plot, points
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


def run(*, quick: bool = False) -> None:
    """All parts; without Adult at hand, the five people only."""
    sheet = Sheet("Leaks: what someone who knows the method learns")
    five_people(sheet)
    if adult.is_there():
        table, seconds = adult.read(quasi_identifiers=adult.SEVEN, sensitive=["occupation"]), 6.0 if quick else 55.0
        for l in (2, 3, 4):
            found = audit(sheet, table, l, seconds)
            if l == 3:
                keep(plot_beliefs(found), "beliefs-3", quick)
        claimed_safe(sheet, table, quick)
        compare(sheet, table, seconds, quick)
        breaches(sheet, table, seconds, quick)
        others(sheet, table, seconds)
    sheet.save()


def keep(plot: Plot, name: str, quick: bool) -> None:
    """Draw a picture for the documents."""
    if not quick:
        head, _, rest = str(draw(plot.spec)).partition("</title>")
        (IMAGES / f"{name}.svg").write_text(f"{head}</title>{LOOK}{rest}\n", encoding="utf-8")


def audit(sheet: Sheet, table: Table, l: int, seconds: float) -> Audit:
    """Mondrian at one l: what is believed of people, and how surely that is known."""
    release = overt.Mondrian(goal=F(l)).anonymize(table)
    found = overt.audit_release(release, rng=np.random.default_rng(l), seconds=seconds)
    say(sheet, f"Adult, Mondrian, l = {l}", found)
    return found


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


def compare(sheet: Sheet, table: Table, seconds: float, quick: bool) -> None:
    """Risk, leak and utility of six methods at l = 3."""
    rows, risen = [], {}
    for name, method_of in METHODS.items():
        release = method_of(3).anonymize(table, rng=np.random.default_rng(1))
        risk, utility = risk_of_release(release), measure_utility(release)
        found = overt.audit_release(release, rng=np.random.default_rng(2), seconds=seconds)
        alone, risen[name] = (guessed / found.n_rows for guessed in found.guesses)
        rows.append((name, utility.pair_divergence, alone))
        what = f"Adult, l = 3, {name}"
        sheet.add(f"{what}: found at worst", float(risk.identification.prosecutor), "")
        sheet.add(f"{what}: guessed right, release alone", alone, "")
        sheet.add(f"{what}: guessed right, with the method", risen[name], "", note=found.replayed.how)
        sheet.add(f"{what}: people above 1/3, with the method", found.share_over(1 / 3), "")
        sheet.add(f"{what}: pairs of columns lost", utility.pair_divergence, "bit")
    plot = points(
        rows,
        description="Risk, leak and cost of six methods on Adult, l = 3",
        x="what pairs of columns lost (bits)",
        y="sensitive values guessed right",
        risen=risen,
    )
    keep(plot, "leak-and-cost", quick)


def breaches(sheet: Sheet, table: Table, seconds: float, quick: bool) -> None:
    """People above 1/l for several l and methods."""
    ls = (3,) if quick else (2, 3, 4, 5)
    rng, cuts = np.random.default_rng(5), {"mondrian": METHODS["mondrian"]}
    by_cuts = sweep_l(table, cuts, ls, rng=rng, seconds=seconds)
    rest = {name: method for name, method in METHODS.items() if name not in cuts}  # exact, or soon known
    others = sweep_l(table, rest, ls, rng=rng, seconds=seconds / 6)
    found = LSweep((*by_cuts.points, *others.points), (*by_cuts.failures, *others.failures))
    for one in found.points:
        note = f"highest belief {one.highest:.3f}, {one.n_groups:,} groups, error {one.error:.3f}, {one.unknown:.1%} not known"
        sheet.add(f"Adult, {one.method}, l = {one.l}: people above 1/l", one.above, "", note=note)
    for failure in found.failures:
        print(f"{failure.method}, l = {failure.l}: {failure.why}")


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
    for name, search in made.items():
        shown = read_release(RELEASES / f"{name}.csv.gz")
        try:
            found = audit_other(table, shown, search, rng=np.random.default_rng(7), seconds=seconds)
        except OvertError as error:
            print(f"{name}: {error}")
            continue
        say(sheet, name, found)
