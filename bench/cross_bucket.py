# SPDX-License-Identifier: Apache-2.0
"""Cross-bucket generalization: speed, and the experiments of the paper (Figures 5 to 8) on generated data and on Adult.

The paper's census extract is not at hand; `paper_like` has its size and its columns' sizes (Table 1), with invented
people: older ones are more often married, occupation goes with education, salary with occupation, age and hours.
"""

import json
import time
import warnings
from typing import Any

import numpy as np
import polars as pl

import overt
from bench import adult
from bench.measure import RESULTS, Sheet, best_of, threads
from overt.metrics.breach import identity_disclosure, largest_breach, matched_breach
from overt.metrics.discernibility import discernibility
from overt.metrics.sum_queries import answer_sums, draw_sum_queries
from overt.table import Table

EIGHT = ["Age", "Gender", "Education", "Birthplace", "Marital status", "Race", "Work class", "Hours"]
PAPER_ROWS = 22_517
PAPER_SIZES = {
    "Sex": 2, "Age": 73, "Relationship": 13, "Marital": 6, "Race": 9, "Education": 11, "Hours": 90, "Occupation": 216,
}  # fmt: skip
N_SALARIES = 702
N_QUERIES = 1000
SHARES = (0.2, 0.1, 0.05, 0.02)  # Figure 5: the share of people whose own value has a higher probability than this


def run(*, quick: bool = False) -> None:
    """Everything; `quick` leaves out the million rows and every other l."""
    warnings.simplefilter("ignore", overt.Caution)
    sheet = Sheet("Cross-bucket: speed as multiples of Y(n), then the paper's figures")
    time_method(sheet, quick=quick)
    table = paper_like(PAPER_ROWS, np.random.default_rng(2018))
    diversities = (6, 12, 18) if quick else (6, 9, 12, 15, 18)
    points = follow_figures(sheet, table, "paper-sized", diversities)
    points += vary_k(sheet, table, diversities[0])
    if adult.is_there():
        points += follow_figures(sheet, adult_ages(), "Adult", diversities[:: 1 if quick else 2])
    else:
        print("Adult is not at hand (../shared/data/adult): its comparison is left out.")
    draw(points)
    sheet.save()


def time_method(sheet: Sheet, *, quick: bool) -> None:
    """The bars: 600 thousand rows with 50 values, a million with 702, and 1000 SUM queries."""
    frame = overt.samples.wide_census(600_000)
    table = overt.read_frame(frame, quasi_identifiers=EIGHT, sensitive=["Income"])
    method = overt.CrossBucket(3, 6)
    with threads(1):
        method.anonymize(table, rng=np.random.default_rng(0))  # compiled, and the cache warm
        seconds = sheet.time(
            "CrossBucket, k = 3, l = 6, 8 columns, 50 values, 600,000 rows",
            table.n_rows,
            lambda: method.anonymize(table, rng=np.random.default_rng(1)),
            bar=20,
            repeats=1,
        )
        for what, other in (
            ("Mondrian, 6-diversity", overt.Mondrian(goal=overt.FrequencyLDiversity(6))),
            ("Anatomy, l = 6", overt.Anatomy(goal=overt.FrequencyLDiversity(6))),
        ):
            sheet.time(f"  {what}", table.n_rows, lambda m=other: m.anonymize(table, rng=np.random.default_rng(1)))
        release = method.anonymize(table, rng=np.random.default_rng(1))
        queries = draw_sum_queries(table, N_QUERIES, np.random.default_rng(3))
        answering = best_of(1, lambda: answer_sums(release, queries))
        sheet.add(
            "  1000 SUM queries, times the anonymization", answering / seconds, "x", bar=10, note=f"{answering:.2f} s"
        )
        for n in (50_000, 200_000):
            part = overt.read_frame(frame.head(n), quasi_identifiers=EIGHT, sensitive=["Income"])
            taken = best_of(2, lambda part=part: method.anonymize(part, rng=np.random.default_rng(1)))
            sheet.add(
                f"  {n:,} rows: microseconds per row", taken / n * 1e6, "us", note=f"600,000: {seconds / 0.6:.2f} us"
            )
        if not quick:
            large = paper_like(1_000_000, np.random.default_rng(1))
            sheet.time(
                "CrossBucket, k = 3, l = 6, 8 columns, 702 values, 1,000,000 rows",
                large.n_rows,
                lambda: method.anonymize(large, rng=np.random.default_rng(1)),
                bar=20,
                repeats=1,
            )


def follow_figures(sheet: Sheet, table: Table, data: str, diversities: tuple[int, ...]) -> list[dict[str, Any]]:
    """Figures 5 to 7: breach, discernibility and the error of SUM queries against l, for k = 3."""
    queries = draw_sum_queries(table, N_QUERIES, np.random.default_rng(7))
    points = []
    for l in diversities:
        for what, method in methods(3, l):
            points += measure(sheet, table, queries, data, what, method, k=3, l=l)
    say_what_holds(points, data)
    return points


def methods(k: int, l: int) -> list[tuple[str, Any]]:
    return [
        ("cross-bucket", overt.CrossBucket(k, l)),
        ("cross-bucket, near blocks", overt.CrossBucket(k, l, blocks="near")),
        ("as printed", overt.CrossBucket(k, l, mode="paper")),
        ("Mondrian", overt.Mondrian(goal=overt.FrequencyLDiversity(l))),
        ("Anatomy", overt.Anatomy(goal=overt.FrequencyLDiversity(l))),
    ]


def vary_k(sheet: Sheet, table: Table, l: int) -> list[dict[str, Any]]:
    """Figure 8: the effect of k, both modes."""
    queries = draw_sum_queries(table, N_QUERIES, np.random.default_rng(7))
    points = []
    for k in (5, 10, 15, 20):
        for what, method in methods(k, max(k, l))[:3:2]:
            points += measure(sheet, table, queries, "paper-sized, k varied", what, method, k=k, l=max(k, l))
    return points


def measure(
    sheet: Sheet, table: Table, queries: list[Any], data: str, what: str, method: Any, *, k: int, l: int
) -> list[dict[str, Any]]:
    """One point of every figure; none where the method gives no release."""
    name = f"{data}, k = {k}, l = {l}, {what}"
    begin = time.perf_counter()
    try:
        release = method.anonymize(table, rng=np.random.default_rng(l))
    except overt.Unreachable as refusal:
        print(f"{name}: no release. {refusal}")
        return []
    seconds = time.perf_counter() - begin
    answers = answer_sums(release, queries)
    assert (answers.lower_sums <= answers.actual_sums).all()
    assert (answers.actual_sums <= answers.upper_sums).all()
    error, dm = answers.mean_relative_error(), discernibility(release.partition)
    own = matched_breach(release).floats()
    above = {f"above {share}": float((own > share).mean()) for share in SHARES}
    sheet.add(
        f"{name}: mean relative error",
        error,
        "",
        note=f"C_DM {dm:,}; own value {own.mean():.4f} on average, {above['above 0.1']:.0%} above 0.1; "
        f"worst {largest_breach(release)}, identity {identity_disclosure(release)}; {seconds:.2f} s",
    )
    measured = {"data": data, "method": what, "k": k, "l": l, "error": error, "C_DM": dm, "breach": float(own.mean())}
    return [measured | above]


def say_what_holds(points: list[dict[str, Any]], data: str) -> None:
    """The paper's claims beside what was measured, whichever way it went."""
    of = {(point["method"], point["l"]): point for point in points if point["data"] == data}
    both = sorted({l for _, l in of if ("Mondrian", l) in of})
    for mode in ("cross-bucket", "as printed"):
        here = [l for l in both if (mode, l) in of]
        if not here:
            print(f"{data}, {mode}: no release to compare.")
            continue
        better = [l for l in here if of[mode, l]["error"] < of["Mondrian", l]["error"]]
        fewer = [l for l in here if of[mode, l]["C_DM"] < of["Mondrian", l]["C_DM"]]
        safer = [
            l
            for l in here
            if of[mode, l]["breach"] < min(of[m, l]["breach"] for m in ("Mondrian", "Anatomy") if (m, l) in of)
        ]
        dms = sorted({of[mode, l]["C_DM"] for l in here})
        growth, mondrian = (of[m, here[-1]]["error"] / of[m, here[0]]["error"] for m in (mode, "Mondrian"))
        print(f"{data}, {mode}, measured at l = {here}:")
        print(f"  Figure 5, own values are less probable than by Mondrian and Anatomy: at l = {safer or 'none'}.")
        print(f"  Figure 6, C_DM below Mondrian's: at l = {fewer or 'none'}; it goes from {dms[0]:,} to {dms[-1]:,}.")
        print(f"  Figure 7, SUM error below Mondrian's: at l = {better or 'none'}; from the least l to the greatest")
        print(f"  it grows {growth:.2f} times, Mondrian's {mondrian:.2f} times.")
    if ("Anatomy", both[0]) in of:
        print(
            f"  Anatomy's SUM error is {of['Anatomy', both[0]]['error']:.2f} at l = {both[0]}: exact people, and no identity protection."
        )


def paper_like(n: int, rng: np.random.Generator) -> Table:
    """Invented people in the shape of the paper's Table 1."""
    age = np.minimum(17 + rng.gamma(2.6, 11, n).astype(int), 89)
    grown = np.clip((age - 17) / 40, 0, 1)
    skill = np.clip(rng.normal(0.45 + 0.12 * grown, 0.2, n), 0, 0.999)
    education = (skill * 11).astype(int)
    marital = np.where(rng.random(n) < grown, rng.choice([0, 0, 0, 1, 2, 3], n), rng.choice([4, 4, 5], n))
    relationship = np.where(marital == 0, rng.choice([0, 1], n), 2 + rng.geometric(0.35, n) % 11)
    occupation = np.clip((0.7 * skill + 0.3 * rng.random(n)) * 216, 0, 215).astype(int)
    hours = np.clip(np.where(rng.random(n) < 0.5, 40, rng.normal(40, 14, n)), 1, 90).astype(int)
    pay = 0.5 * skill + 0.2 * grown + 0.2 * hours / 90 + rng.normal(0, 0.08, n)
    salary = np.clip(pay * N_SALARIES * 0.9, 0, N_SALARIES - 1).astype(int)
    columns = {
        "Sex": rng.integers(0, 2, n),
        "Age": age,
        "Relationship": relationship,
        "Marital": marital,
        "Race": np.minimum(rng.geometric(0.6, n) - 1, 8),
        "Education": education,
        "Hours": hours,
        "Occupation": occupation,
    }
    salary[: 10 * N_SALARIES] = np.arange(10 * N_SALARIES) % N_SALARIES  # every salary occurs, none too often
    for name, size in PAPER_SIZES.items():  # and so does every value of the other columns
        columns[name][:size] = np.arange(size) + columns[name].min()
    numbers = {"Age", "Hours"}
    frame = pl.DataFrame(columns).with_columns(Salary=pl.Series(1000 + 150 * salary))
    kinds = {name: "number" if name in numbers else "category" for name in columns}
    texts = frame.with_columns(pl.col([name for name in columns if name not in numbers]).cast(pl.String))
    return overt.read_frame(texts, quasi_identifiers=list(columns), sensitive=["Salary"], kinds=kinds)


def adult_ages() -> Table:
    """Adult with age as the sensitive number: the only one it has with many values."""
    columns = [name for name in adult.EIGHT if name != "age"]
    frame = adult.frame().select(*columns, "age")
    return overt.read_frame(frame, quasi_identifiers=columns, sensitive=["age"])


def draw(points: list[dict[str, Any]]) -> None:
    """The numbers, and pictures of them if Altair is installed, under bench/results."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "cross_bucket_figures.json").write_text(json.dumps(points, indent=1))
    try:
        import altair as alt
    except ImportError:
        return
    against_l = [point for point in points if "varied" not in point["data"]]
    against_k = [point for point in points if "varied" in point["data"]]
    distribution = [
        {**point, "share": share, "people": point[f"above {share}"]}
        for point in against_l
        for share in SHARES
        if point["l"] == against_l[0]["l"]
    ]
    for name, values, x, y in (
        ("figure_5_breach", distribution, "share:O", "people:Q"),
        ("figure_6_discernibility", against_l, "l:O", "C_DM:Q"),
        ("figure_7_sum_error", against_l, "l:O", "error:Q"),
        ("figure_8_effect_of_k", against_k, "k:O", "error:Q"),
    ):
        chart = alt.Chart(alt.Data(values=values), width=300, height=220).mark_line(point=True)
        chart = chart.encode(x=alt.X(x), y=alt.Y(y), color=alt.Color("method:N"), column=alt.Column("data:N"))
        chart.save(str(RESULTS / f"cross_bucket_{name}.png"), scale_factor=2)
