# SPDX-License-Identifier: Apache-2.0
"""Blind buckets beside Mondrian with the same goal, Anatomy and the matched methods: what each costs on Adult and the census; and speed.

`python -m bench safe` writes one table to bench/results/safe.md after every part, and draws docs/images/safe.svg. `--quick` does all of it on 2,000 people,
and draws beside the table instead: its figures are only good for seeing that everything runs.

Strata come from a pilot of 2,000 people who are then left out of the release: its counts are scaled up by who is missing, and all errors are
against the whole table, so that the pilot counts as lost. Query errors are mean relative errors of 900 COUNT queries on two quasi-identifiers
and random sensitive values (`overt.metrics.query_workload`). Nine in ten people on Adult have the same native country, and what a box of five says of the others is
the same for every method; so queries on Adult leave it out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import polars as pl

import overt
from bench import adult
from bench.leaks import IMAGES, LOOK
from bench.measure import RESULTS, Sheet, best_of, yardstick
from bench.streamliner import census_table, copies
from overt.adversary.learner.findings import Learned
from overt.algorithms.blind_buckets import halvings_for
from overt.algorithms.blind_buckets.deal import Values
from overt.algorithms.blind_buckets.method import USUAL_BUCKET
from overt.algorithms.blind_buckets.plan import plan_stratum
from overt.errors import OvertError, Unreachable
from overt.method import Method
from overt.metrics.blind_deal import BlindDeal
from overt.metrics.expected_counts import spreads_of
from overt.metrics.query_workload import (
    Workload,
    actual_counts,
    even_in_cells,
    relative_errors,
    shares_of_groups,
    the_sensitive,
)
from overt.privacy.base import Property
from overt.release import CrossBucketRelease, Release
from overt.report.plots import points
from overt.report.svg import draw
from overt.table import Table

N_QUERIES, N_PILOT, N_QUICK, N_LEARNED = 900, 2_000, 2_000, 8_000
CENSUS_FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "census-income"
CENSUS = CENSUS_FOLDER / "census-income.csv.gz"
CENSUS_COLUMNS = ["age", "sex", "race", "marital-status", "education", "class-of-worker", "citizenship", "weeks-worked"]
L, T, BETA = overt.FrequencyLDiversity, overt.TCloseness, overt.BasicBetaLikeness


@dataclass(frozen=True)
class Case:
    """A goal for a sensitive column, the most that blind buckets may cost, and which others a learner is asked about.

    With bars for costs goes one for the learner: 2 points more about people in the release than about people who are not.
    """

    sensitive: str
    goal: Property
    k: int = 5
    penalty: float | None = None
    error: float | None = None
    learned: tuple[str, ...] = ()

    @property
    def both(self) -> Property:
        return overt.KAnonymity(self.k) & self.goal


OTHERS = ("Mondrian", "Anatomy", "BatchMatching")
ADULT = (
    Case("occupation", L(3), 5, 0.02, 0.09, OTHERS),
    Case("occupation", L(5), 5, 0.02, 0.15, OTHERS),
    Case("salary-class", T("0.3"), 5, 0.03, 0.18),
    Case("salary-class", T("0.1"), 5, 0.03, 0.42),
    Case("occupation", L(7)),
    Case("occupation", L(8)),
    Case("salary-class", T("0.2")),
    Case("salary-class", T("0.02")),
    *(Case("occupation", BETA(beta)) for beta in (1, 2, 3, 4)),
    *(
        Case(name, goal, k)
        for k in (3, 10)
        for name, goals in (
            ("occupation", (L(3), L(5), *(BETA(beta) for beta in (1, 2, 3, 4)))),
            ("salary-class", (T("0.3"), T("0.2"), T("0.1"), T("0.02"))),
        )
        for goal in goals
    ),
)
CENSUS_CASES = (
    *(Case("occupation", goal, k) for k in (5, 3, 10) for goal in (L(3), L(5), *(BETA(beta) for beta in (1, 2, 3, 4)))),
    Case("occupation", L(8)),
    *(Case("income", T(t), k) for k in (5, 3, 10) for t in ("0.3", "0.2", "0.1", "0.02")),
)
BARS = {case.goal.l: case.error for case in ADULT[:2]}  # of the query error about occupation
TWO = ((3, "0.1"), (5, "0.05"), (7, "0.1"))  # l of the first sensitive column and t of the second


@dataclass(frozen=True)
class Told:
    """A line of the table: what one release costs, and what a learner makes of it; or why there is none."""

    data: str
    goal: str
    k: int
    method: str
    penalty: float = np.nan
    error: float = np.nan
    unbiased: float = np.nan
    answered: float = np.nan
    pairs: float = np.nan
    discernibility: int = 0
    learned: Learned | None = None
    refused: str = ""
    bars: tuple[float | None, float | None, float | None] = (
        None,
        None,
        None,
    )  # of penalty, error and what a learner gains

    @property
    def line(self) -> str:
        start = [self.goal, str(self.k), self.method]
        if self.refused:
            return f"| {self.data}, {' | '.join([*start, 'refused', *[''] * 7])} |"
        costs = [
            beside(shown(self.penalty), self.penalty, self.bars[0]),
            beside(shown(self.error), self.error, self.bars[1]),
        ]
        unbiased = shown(self.unbiased) + (f" ({self.answered:.0%} answered)" if self.answered < 1 else "")
        costs += [unbiased, shown(self.pairs), f"{self.discernibility:,}"]
        found, guesses = self.learned, [""] * 3
        if found is not None:
            gained = beside(str(found.from_release), 100 * found.from_release.value, self.bars[2])
            guesses = [str(found.inside), str(found.outside), gained]
            if found.replaying is not None:
                guesses[0] += f"; also replaying at least {found.replaying}"
        return f"| {self.data}, {' | '.join([*start, *costs, *guesses])} |"


def shown(number: float) -> str:
    return "" if np.isnan(number) else f"{number:.3f}"


def beside(words: str, number: float, bar: float | None) -> str:
    """A figure with its bar."""
    if bar is None:
        return words
    by = f"{number - bar:.{3 if number - bar >= 0.0005 else 5}f}"
    return f"{words} (bar {bar:g}: {'met' if number <= bar else f'**missed by {by}**'})"


HEADER = (
    "| data, goal | k | method | penalty | query error | unbiased | pairs (bits) | discernibility | learner, of 100 in the release | of 100 not in it | difference |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
)


@dataclass(frozen=True, eq=False)
class Data:
    """A table to make releases of, and a pilot of it."""

    name: str
    frame: pl.DataFrame
    names: list[str]
    sensitive: tuple[str, ...]
    n_pilot: int
    not_asked: str = ""

    @property
    def asked(self) -> list[str]:
        return [name for name in self.names if name != self.not_asked]

    @cached_property
    def tables(self) -> tuple[Table, Table, Table, Table]:
        """Everybody, the pilot, the others, and those of them that a learner is asked about."""
        place = np.random.default_rng(0).permutation(self.frame.height)
        few = (place >= self.n_pilot) & (place < self.n_pilot + N_LEARNED)
        whole, pilot, others, learned = (
            table_of(self.frame.filter(chosen), self.names, self.sensitive)
            for chosen in (place >= 0, place < self.n_pilot, place >= self.n_pilot, few)
        )
        return whole, pilot, others, learned


def run(*, quick: bool = False) -> None:
    """Everything, what has bars first; `quick` on few people, and without the goals that have none."""
    bench = Bench(Sheet("Safe: blind buckets beside the others"), quick)
    if adult.is_there():
        frame = adult.frame()
        for case in ADULT[:4] if quick else ADULT:
            names = adult.SEVEN if case.sensitive == "occupation" else adult.EIGHT
            bench.compare(bench.data("Adult", frame, names, (case.sensitive,), "native-country"), case)
        bench.compare_two_columns(
            bench.data("Adult", frame, adult.SEVEN, ("occupation", "salary-class"), "native-country")
        )
        if not quick:
            vary_dials(bench, bench.data("Adult", frame, adult.SEVEN, ("occupation",), "native-country"))
        count_failures(bench.sheet, frame, n_pilots=1 if quick else 20)
    if CENSUS.exists():
        everybody = pl.read_csv(CENSUS, separator=";")
        at_work = everybody.filter(pl.col("occupation") != "Not in universe")
        by_column = {
            "occupation": bench.data("census-income", at_work, CENSUS_COLUMNS, ("occupation",)),
            "income": bench.data("census-income", everybody, CENSUS_COLUMNS, ("income",)),
        }
        for case in CENSUS_CASES[:1] if quick else CENSUS_CASES:
            bench.compare(by_column[case.sensitive], case)
        if not quick:
            bench.compare_two_columns(bench.data("census-income", at_work, CENSUS_COLUMNS, ("occupation", "income")))
    time_plans(bench.sheet)
    time_methods(bench.sheet, quick=quick)
    bench.learn_all()
    bench.keep()


@dataclass
class Bench:
    """What was measured so far."""

    sheet: Sheet
    quick: bool
    told: list[Told] = field(default_factory=list)
    to_learn: list[tuple[int | str, Method, Table]] = field(default_factory=list)  # a line of the table, or a name
    began: float = field(default_factory=perf_counter)

    def data(
        self, name: str, frame: pl.DataFrame, names: list[str], sensitive: tuple[str, ...], not_asked: str = ""
    ) -> Data:
        """A data set, or a sample of it."""
        if self.quick:
            frame = frame.sample(N_QUICK, seed=0)
        return Data(name, frame, names, sensitive, N_PILOT // 4 if self.quick else N_PILOT, not_asked)

    def compare(self, data: Data, case: Case) -> None:
        """One goal: blind buckets with the strata of a pilot and with one, and the others."""
        whole, _, others, few = data.tables
        goal_said = f"{case.sensitive}, {case.goal}"
        self.progress(f"{data.name}, {goal_said}, k = {case.k}")
        for what, method in methods(data, case, quick=self.quick):
            name = f"{data.name}, {goal_said}, k = {case.k}: {what}"
            is_tight = "tight" in what
            is_barred = case.error is not None and "by a pilot" in what and "generalized" not in what
            k = 1 if isinstance(method, overt.Anatomy | overt.BatchMatching) else case.k
            try:
                release = method.anonymize(others if "by a pilot" in what else whole, rng=np.random.default_rng(1))
            except OvertError as refused:
                print(f"{name}: refused. {refused}", flush=True)
                self.told.append(Told(data.name, goal_said, k, what, refused=str(refused)))
                continue
            utility = overt.measure_utility(release)
            note = f"pairs {utility.pair_divergence:.3f} bits, discernibility {utility.discernibility:,}"
            bars = (case.penalty, case.error, 2.0) if is_barred and not self.quick else (None, None, None)
            self.sheet.add(f"{name}: penalty", utility.certainty_penalty, "", bar=bars[0], note=note)
            error, unbiased, answered = errors_of(
                release, whole, data.asked, with_unbiased=case.error is not None and not is_tight
            )
            note = "" if np.isnan(answered) else f"unbiased {unbiased:.3f}, of {answered:.0%} of the queries"
            self.sheet.add(f"{name}: query error", error, "", bar=bars[1], note=note)
            if what in case.learned or is_barred:
                self.to_learn.append((len(self.told), method, few))
            penalty, pairs, discernibility = utility.certainty_penalty, utility.pair_divergence, utility.discernibility
            costs = penalty, error, unbiased, answered, pairs, discernibility
            self.told.append(Told(data.name, goal_said, k, what, *costs, bars=bars))
        self.keep()

    def compare_two_columns(self, data: Data) -> None:
        """Two sensitive columns, each with its goal: rows per bucket, what boxes cost, and Mondrian with the same goals."""
        whole, pilot, others, _ = data.tables
        for l, t in TWO[:1] if self.quick else TWO:
            said = f"{' and '.join(data.sensitive)}, l = {l} and t = {t}"
            self.progress(f"{data.name}, {said}")
            goal = overt.KAnonymity(5) & L(l, column=data.sensitive[0]) & T(t, column=data.sensitive[1])
            tree = strata_by(pilot, goal)
            compared: tuple[tuple[str, Method, Table], ...] = (
                (
                    f"blind buckets, {strata_said(tree)} by a pilot",
                    overt.BlindBuckets(goal=goal, stratify=tree),
                    others,
                ),
                (
                    "blind buckets, one stratum, the smallest buckets",
                    overt.BlindBuckets(goal=goal, rows_per_bucket=1),
                    whole,
                ),
                ("Mondrian", overt.Mondrian(goal=goal), whole),
                ("Anatomy", overt.Anatomy(goal=L(l)), whole),  # these two take one sensitive column, and say so
                ("BatchMatching", overt.BatchMatching(goal=L(l)), whole),
            )
            for what, method, table in compared:
                name = f"{data.name}, {said}: {what}"
                try:
                    release = method.anonymize(table, rng=np.random.default_rng(1))
                except OvertError as refused:
                    print(f"{name}: refused. {refused}", flush=True)
                    self.told.append(Told(data.name, said, 5, what, refused=str(refused)))
                    continue
                utility = overt.measure_utility(release)
                note = f"{table.n_rows / release.value_groups.n_groups:.1f} rows per bucket"
                self.sheet.add(f"{name}: penalty", utility.certainty_penalty, "", note=note)
                by_column = [errors_of(release, whole, data.asked, about)[0] for about in data.sensitive]
                note = f"about the second column {by_column[1]:.3f}"
                self.sheet.add(f"{name}: query error", by_column[0], "", note=note)
                costs = utility.certainty_penalty, by_column[0], np.nan, np.nan, utility.pair_divergence
                self.told.append(Told(data.name, said, 5, what, *costs, utility.discernibility))
        self.keep()

    def learn_all(self) -> None:
        """What a learner with the true correlations and joint inference guesses right, each person held out; of fewer people, for it is slow."""
        for at, method, few in self.to_learn:
            if isinstance(at, str):
                name, bar = f"{at}, {few.n_rows:,} people", 2.0
            else:
                one = self.told[at]
                name, bar = f"{one.data}, {few.n_rows:,} people, {one.goal}: {one.method}", one.bars[2]
            self.progress(f"a learner about {name}")
            try:
                release = method.anonymize(few, rng=np.random.default_rng(1))
            except OvertError as refused:
                print(f"{name}: refused. {refused}", flush=True)
                continue
            found = overt.learn(release, rng=np.random.default_rng(7))
            note = f"in the release {found.inside}, not in it {found.outside}, release alone {100 * found.plain:.1f}; above 0.9: {found.above_certain.n_people:,} people"
            self.sheet.add(
                f"{name}: points that taking part adds", 100 * found.from_release.value, "", bar=bar, note=note
            )
            if found.replaying is not None:
                self.sheet.add(f"{name}: guessed right by who also replays, at least", 100 * found.replaying.value, "%")
            if isinstance(at, int):
                self.told[at] = replace(self.told[at], learned=found)
            self.keep()
        self.to_learn.clear()

    def progress(self, what: str) -> None:
        print(f"[{perf_counter() - self.began:.0f} s] {what}", flush=True)

    def keep(self) -> None:
        """The table in Markdown, beside the figures, and the picture."""
        self.sheet.save()
        name = "safe-quick" if self.quick else "safe"
        lines = [*HEADER, *(one.line for one in self.told)]
        (RESULTS / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        picture = picture_of(self.told)
        if picture:
            (RESULTS if self.quick else IMAGES).joinpath(f"{name}.svg").write_text(picture, encoding="utf-8")


def picture_of(told: Sequence[Told]) -> str:
    """Cost against what a learner guesses, at occupation l = 3 on Adult."""
    rows, risen = [], {}
    for one in told:
        is_variant = "tight" in one.method or "halved" in one.method
        if (
            one.learned is not None
            and not is_variant
            and (one.data, one.goal) == ("Adult", f"occupation, {ADULT[0].goal}")
        ):
            name = one.method.partition(",")[0]
            rows.append((name, one.error, one.learned.inside.value))
            risen[name] = one.learned.best.value
    if not rows:
        return ""
    plot = points(
        rows,
        description="Query error on Adult at l = 3, and occupations that a learner guesses right on a sample of it. A line leads up to who also replays the method",
        x="mean relative error of queries",
        y="occupations that a learner guesses right",
        risen=risen,
    )
    head, _, rest = str(draw(plot.spec)).partition("</title>")
    return f"{head}</title>{LOOK}{rest}\n"


def methods(data: Data, case: Case, *, quick: bool) -> Iterator[tuple[str, Method]]:
    """The methods that are held beside each other at a goal; those with more of an interest where there are bars."""
    tree = strata_by(data.tables[1], case.goal)
    by_pilot, strata = overt.BlindBuckets(goal=case.both, stratify=tree), strata_said(tree)
    yield f"blind buckets, {strata} by a pilot", by_pilot
    if case.error is not None:
        yield f"blind buckets, {strata} by a pilot, tight cells", replace(by_pilot, cells="tight")
        yield "blind buckets, one stratum", overt.BlindBuckets(goal=case.both)
        halvings = halvings_for(data.tables[1], case.goal, rng=np.random.default_rng(0))
        yield (
            f"blind buckets, {strata_said(halvings)} by a pilot, halved as `overt init` does",
            replace(by_pilot, stratify=halvings),
        )
        generalized = replace(by_pilot, cells="tight", form="generalized", rows_per_bucket=5)
        yield f"blind buckets, {strata} by a pilot, generalized, tight cells", generalized
        yield "Mondrian, k alone (no goal on values)", overt.Mondrian(goal=overt.KAnonymity(case.k))
    yield "Mondrian", overt.Mondrian(goal=case.both)
    if isinstance(case.goal, L) and case.k == 5:
        yield "Anatomy", overt.Anatomy(goal=case.goal)
        yield "BatchMatching", overt.BatchMatching(goal=case.goal)
        if case.goal.l >= 5 and not quick:
            yield "CrossBucket", overt.CrossBucket(k=5, l=int(case.goal.l))


def strata_by(pilot: Table, goal: Property) -> overt.StrataTree:
    """The strata that a pilot chooses; one, if it says that there is no release."""
    try:
        return overt.grow_strata(pilot, goal, rng=np.random.default_rng(0))
    except Unreachable as refused:
        print(refused, flush=True)
        return overt.StrataTree()


def strata_said(strata: overt.StrataTree | overt.Halvings) -> str:
    return "1 stratum" if strata.most_strata == 1 else f"{strata.most_strata} strata"


def vary_dials(bench: Bench, data: Data) -> None:
    """Occupation, l = 3 and 5: strata by larger pilots, rows per bucket, cells, and strata that are halves, which no pilot chose; k = 5."""
    bench.progress("pilots, rows per bucket, halves")
    whole, place = data.tables[0], np.random.default_rng(0).permutation(data.frame.height)
    for l, n_pilot, sizes in ((3, 2_000, (3, 6, 12, 24)), (3, 4_000, (3, 12)), (5, 4_000, (12,)), (5, 6_000, (12,))):
        pilot, others = (
            table_of(data.frame.filter(of), data.names, data.sensitive) for of in (place < n_pilot, place >= n_pilot)
        )
        tree = strata_by(pilot, L(l))
        for size in sizes:
            for cells in ("grid", "tight"):
                method = overt.BlindBuckets(
                    goal=overt.KAnonymity(5) & L(l), stratify=tree, rows_per_bucket=size, cells=cells
                )
                release = method.anonymize(others, rng=np.random.default_rng(1))
                what = f"Adult, occupation, l = {l}, {strata_said(tree)} by a pilot of {n_pilot:,}, buckets of {size}, {cells} cells"
                bench.sheet.add(f"{what}: query error", error_of(release, whole, data.asked), "", bar=BARS[l])
                if n_pilot == N_PILOT and size != USUAL_BUCKET and cells == "grid":  # the usual size is in the table
                    bench.to_learn.append((what, method, data.tables[3]))
        exact = overt.BlindBuckets(goal=L(l), k=1, stratify=tree)
        what = f"Adult, occupation, l = {l}, {strata_said(tree)} by a pilot of {n_pilot:,}, exact quasi-identifiers: query error"
        bench.sheet.add(what, error_of(exact.anonymize(others, rng=np.random.default_rng(1)), whole, data.asked), "")
    for l in (3, 5):  # what a pilot approaches as it grows, and a leak
        tree = overt.grow_strata(whole, L(l), rng=np.random.default_rng(0), least_rows=500)
        release = overt.BlindBuckets(goal=L(l), k=1, stratify=tree).anonymize(whole, rng=np.random.default_rng(1))
        what = f"Adult, occupation, l = {l}, {strata_said(tree)} by looking at everybody, exact quasi-identifiers: query error"
        bench.sheet.add(what, error_of(release, whole, data.asked), "")
    boxes = overt.Mondrian(goal=overt.KAnonymity(5), relaxed=True, choose="gain")
    release = boxes.anonymize(whole)
    what, note = (
        "Adult, the boxes of blind buckets, with their own values: query error",
        f"penalty {overt.measure_utility(release).certainty_penalty:.3f}",
    )
    bench.sheet.add(what, error_of(release, whole, data.asked), "", note=note)
    for halvings in (2, 4):
        method = overt.BlindBuckets(goal=overt.KAnonymity(5) & L(3), stratify=overt.Halvings(halvings))
        what = f"Adult, occupation, l = 3, {2**halvings} strata by halvings, nobody left out: query error"
        try:
            release = method.anonymize(whole, rng=np.random.default_rng(1))
        except OvertError as refused:
            print(f"{what}: refused. {refused}", flush=True)
            continue
        bench.sheet.add(what, error_of(release, whole, data.asked), "")


def count_failures(sheet: Sheet, frame: pl.DataFrame, *, n_pilots: int) -> None:
    """How often the strata that a pilot chose cannot be planned on the others: five goals, new pilots of 2,000 each time."""
    for case in (*ADULT[:4], Case("occupation", BETA(2))):
        names, n_failed, n_strata = adult.SEVEN if case.sensitive == "occupation" else adult.EIGHT, 0, []
        for seed in range(n_pilots):
            rng = np.random.default_rng([15, seed])
            is_pilot = rng.permutation(frame.height) < N_PILOT
            pilot, others = (table_of(frame.filter(of), names, [case.sensitive]) for of in (is_pilot, ~is_pilot))
            tree = overt.grow_strata(pilot, case.goal, rng=rng)
            n_strata.append(tree.n_strata)
            try:
                overt.BlindBuckets(goal=case.both, stratify=tree).anonymize(others, rng=rng)
            except OvertError as refused:
                n_failed += 1
                print(f"refused. {refused}", flush=True)
        note = f"{min(n_strata)} to {max(n_strata)} strata"
        sheet.add(
            f"Adult, {case.sensitive}, {case.goal}: of {n_pilots} pilots, strata that the others refuse",
            n_failed,
            "",
            note=note,
        )


def table_of(frame: pl.DataFrame, names: Sequence[str], sensitive: Sequence[str]) -> Table:
    columns = [*names, *sensitive]
    return overt.read_frame(frame.select(columns), quasi_identifiers=list(names), sensitive=list(sensitive))


def error_of(release: Release, whole: Table, names: Sequence[str]) -> float:
    """The mean relative error of answers to queries about the whole table, of which the release may be a part."""
    return errors_of(release, whole, names)[0]


def errors_of(
    release: Release, whole: Table, names: Sequence[str], about: str | None = None, *, with_unbiased: bool = False
) -> tuple[float, float, float]:
    """The same if values are spread evenly inside buckets; for the unbiased estimate, of the queries that have one; and the share of these."""
    rng, pairs = np.random.default_rng(0), list(combinations(names, 2))
    scale, even, unbiased = whole.n_rows / release.table.n_rows, [], []
    is_blind = (
        with_unbiased and isinstance(release, CrossBucketRelease) and isinstance(release.method, overt.BlindBuckets)
    )
    for pair in pairs:
        asked = Workload.draw(whole, pair, -(-N_QUERIES // len(pairs)), rng, about=about)
        there = in_codes_of(asked, whole, release.table)
        actual = actual_counts(whole, asked)
        even.append(relative_errors(actual, even_in_cells(release, there) * scale, whole.n_rows))
        if is_blind:
            unbiased.append(relative_errors(actual, unbiased_in_box(release, there) * scale, whole.n_rows))
    plain = float(np.concatenate(even).mean())
    if not unbiased:
        return plain, np.nan, np.nan
    found = np.concatenate(unbiased)
    is_answered = ~np.isnan(found)
    return plain, float(found[is_answered].mean()) if is_answered.any() else np.nan, float(is_answered.mean())


def unbiased_in_box(release: CrossBucketRelease, asked: Workload) -> np.ndarray:
    """Answers without the bias of mixing: what `overt.estimate` computes, for many queries; nan where the release does not tell."""
    table, buckets = release.table, release.buckets
    values = the_sensitive(table)
    keys, counts = np.unique(buckets.group_of_row.astype(np.int64) * values.n_values + values.codes, return_counts=True)
    stratum_of_row = release.method.stratify.divide(table).group_of_row
    stratum_of_bucket = np.zeros(buckets.n_groups, np.int64)
    stratum_of_bucket[buckets.group_of_row] = stratum_of_row
    deal = BlindDeal(
        buckets.group_of_row,
        keys // values.n_values,
        keys % values.n_values,
        counts,
        values.n_values,
        stratum_of_bucket,
    )
    spreads = spreads_of(release)
    answers, box_of_row = np.empty(len(asked)), release.partition.group_of_row
    for q, share in enumerate(shares_of_groups([spreads[name] for name in asked.columns], asked)):
        answers[q] = deal.sums(share[box_of_row], asked.wanted[q : q + 1].astype(float)).value[0]
    return answers


def in_codes_of(asked: Workload, whole: Table, part: Table) -> Workload:
    """The same questions in the codes of a part of the table, which may lack values."""
    least, greatest = asked.least.copy(), asked.greatest.copy()
    for a, name in enumerate(asked.columns):
        known, here = whole.column(name).values, part.column(name).values
        place = np.searchsorted(known.to_numpy(), here.to_numpy()) if len(known) != len(here) else np.arange(len(here))
        least[:, a] = np.searchsorted(place, asked.least[:, a])
        greatest[:, a] = np.searchsorted(place, asked.greatest[:, a], side="right") - 1
    return Workload(asked.columns, least, greatest, asked.wanted, asked.about)


def time_plans(sheet: Sheet) -> None:
    """Planning 1,000 values, skewed as names and codes are."""
    codes = np.minimum(np.random.default_rng(0).zipf(1.2, 600_000) - 1, 999)
    frame = pl.DataFrame({"place": np.zeros(codes.size, np.int64), "code": codes})
    values = Values.of(overt.read_frame(frame, quasi_identifiers=["place"], sensitive=["code"]).sensitive)
    counts = np.bincount(values.value_of_row, minlength=values.n_values)
    for goal in (
        overt.FrequencyLDiversity(3),
        overt.EntropyLDiversity(4),
        overt.TCloseness("0.3"),
        overt.DeltaDisclosure(2),
        overt.BasicBetaLikeness(2),
        overt.EnhancedBetaLikeness(2),
        overt.RelativeRisk(2),
    ):
        deal = plan_stratum(values, counts, goal, 5, 12)
        assert deal is not None
        began = process_time()
        for _ in range(3):
            plan_stratum(values, counts, goal, 5, 12)
        seconds = (process_time() - began) / 3
        note = f"{codes.size / deal.n_buckets:,.1f} rows per bucket"
        what = f"Planning {values.n_values:,} values of 600,000 rows, {goal}"
        sheet.add(what, seconds, "s (CPU)", bar=0.1, note=note)


def time_methods(sheet: Sheet, *, quick: bool) -> None:
    """600 thousand rows as multiples of the yardstick, and ten times as many."""
    table, goal = census_table(60_000 if quick else 600_000, "Occupation"), overt.FrequencyLDiversity(8)
    method = overt.BlindBuckets(goal=goal, k=5)
    method.anonymize(table, rng=np.random.default_rng(0))  # warm
    seconds = sheet.time(
        f"BlindBuckets, l = 8, k = 5, {table.n_rows:,} rows",
        table.n_rows,
        lambda: method.anonymize(table, rng=np.random.default_rng(1)),
        bar=None if quick else 8,
    )
    halved = overt.BlindBuckets(goal=goal, k=5, stratify=overt.Halvings(4))
    sheet.time("  16 strata", table.n_rows, lambda: halved.anonymize(table, rng=np.random.default_rng(1)))
    mondrian = overt.Mondrian(goal=overt.KAnonymity(5), relaxed=True, choose="gain")
    sheet.time(
        "  of which Mondrian with k = 5 alone, relaxed, by gain", table.n_rows, lambda: mondrian.anonymize(table)
    )
    if not quick:
        large = copies(table, 10)
        taken = best_of(1, lambda: method.anonymize(large, rng=np.random.default_rng(1)))
        what = "  6,000,000 rows: seconds per row / those of 600,000"
        sheet.add(
            what, taken / seconds / 10, "x", note=f"{taken:.1f} s; {taken / yardstick(6_000_000):.1f} Y; 1 is linear"
        )
