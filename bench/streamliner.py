# SPDX-License-Identifier: Apache-2.0
"""The privacy streamliner: speed, memory, and the experiments of the paper (Figures 1 to 7) on generated data.

The paper's OCC and SAL are census extracts of 600 thousand rows that we do not have; `samples.census` has the same
columns and domain sizes, with Occupation (OCC) or Income (SAL) sensitive.
"""

import json
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

import overt
from bench.measure import RESULTS, Sheet, best_of, threads, yardstick
from overt.algorithms.streamliner import GDA, RDA, BatchMatching, Dealing
from overt.metrics.discernibility import discernibility, optimal_discernibility
from overt.metrics.query_workload import Workload, actual_counts, relative_errors, uniform_in_box
from overt.metrics.unbiased import unbiased_counts
from overt.table import Column, Table

QUASI_IDENTIFIERS = ["Age", "Gender", "Education", "Birthplace"]
SENSITIVE = {"OCC": "Occupation", "SAL": "Income"}
PREDICATES = {
    "Age": ("Age",),
    "Gender": ("Gender",),
    "Age and Gender": ("Age", "Gender"),
    "all four": tuple(QUASI_IDENTIFIERS),
}
PAPER_WEIGHTS = {"Gender": 10_000}  # Age, Education and Birthplace have 1
PAPER_FACTS = {("SAL", "RDA"): 0.64, ("OCC", "RDA"): 0.69, ("SAL", "GDA"): 0.10, ("OCC", "GDA"): 0.18}
N_QUERIES = 1000


def run(*, quick: bool = False) -> None:
    """Everything; `quick` leaves out tables above 600 thousand rows and every other l."""
    sheet = Sheet("Streamliner: speed as multiples of Y(n), then the paper's figures")
    tables = {name: census_table(600_000, sensitive) for name, sensitive in SENSITIVE.items()}
    time_methods(sheet, tables["OCC"])
    time_growth(sheet, tables["OCC"], (1, 2) if quick else (1, 2, 4, 8, 16))
    measure_memory(sheet)
    ls = (6, 8, 10) if quick else (6, 7, 8, 9, 10)
    reproduce_discernibility(sheet, tables, ls)
    errors = reproduce_query_errors(sheet, tables, ls)
    compare_with_paper(sheet, errors)
    compare_estimators(sheet, tables["OCC"])
    sheet.save()


def census_table(n_rows: int, sensitive: str) -> Table:
    """The census with four quasi-identifiers and one sensitive column."""
    frame = overt.samples.census(n_rows).select(*QUASI_IDENTIFIERS, sensitive)
    return overt.read_frame(frame, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=[sensitive])


def copies(table: Table, n: int) -> Table:
    """Every row n times, as the paper scales its data."""
    columns = [Column(c.name, c.role, c.kind, np.tile(c.codes, n), c.values, c.hierarchy) for c in table.columns]
    return Table(tuple(columns), pl.DataFrame())


def methods(l: int) -> dict[str, Any]:
    """The methods that the figures compare."""
    goal = overt.FrequencyLDiversity(l)
    return {
        "RDA": RDA(goal=goal, cells="tight"),  # as in the paper
        "GDA": GDA(goal=goal, mode="paper", weights=PAPER_WEIGHTS, cells="tight"),
        "BatchMatching": BatchMatching(goal=goal),
        "BatchMatching, Gender strata": BatchMatching(goal=goal, strata=("Gender",)),
    }


def time_methods(sheet: Sheet, table: Table) -> None:
    n, goal = table.n_rows, overt.FrequencyLDiversity(8)
    timed = [
        ("Dealing", Dealing(goal=goal), 2),
        ("RDA", RDA(goal=goal), 2),
        ("BatchMatching by rank", BatchMatching(goal=goal, matching="rank"), 8),
        (
            "BatchMatching by rank, the paper's weights",
            BatchMatching(goal=goal, matching="rank", weights=PAPER_WEIGHTS),
            8,
        ),
        ("BatchMatching by kd split", BatchMatching(goal=goal), 20),
        ("  most frequent value sets", BatchMatching(goal=goal, value_sets="most frequent"), 20),
        ("  Gender strata", BatchMatching(goal=goal, strata=("Gender",)), 20),
        ("  two rounds of swaps", BatchMatching(goal=goal, swaps=2), None),
        ("GDA as printed", GDA(goal=goal, mode="paper", weights=PAPER_WEIGHTS), None),
    ]
    seconds = {}
    with threads(1):
        for what, method, bar in timed:
            method.anonymize(table, rng=np.random.default_rng(0))  # warm
            repeats = 1 if isinstance(method, GDA) else 7
            seconds[what] = sheet.time(
                f"{what}, l = 8, {n:,} rows, 50 values",
                n,
                lambda method=method: method.anonymize(table, rng=np.random.default_rng(1)),
                bar=bar,
                repeats=repeats,
            )
        for peer in (overt.Mondrian(goal=goal), overt.Anatomy(goal=goal)):
            taken = best_of(3, lambda peer=peer: peer.anonymize(table, rng=np.random.default_rng(1)))
            for what in ("Dealing", "RDA", "BatchMatching by rank", "BatchMatching by kd split"):
                sheet.add(f"  {what} / {type(peer).__name__}, same table and goal", seconds[what] / taken, "x")


def time_growth(sheet: Sheet, table: Table, factors: Iterable[int]) -> None:
    """Figure 1: time against the number of rows."""
    goal, points, per_row = overt.FrequencyLDiversity(8), [], {}
    for factor in factors:
        larger = copies(table, factor)
        for what, method in {
            "Dealing": Dealing(goal=goal),
            "RDA": RDA(goal=goal),
            "BatchMatching by rank": BatchMatching(goal=goal, matching="rank"),
            "BatchMatching by kd split": BatchMatching(goal=goal),
        }.items():
            taken = best_of(3, lambda m=method, t=larger: m.anonymize(t, rng=np.random.default_rng(1)))
            points.append({"rows": larger.n_rows, "seconds": taken, "method": what})
            per_row.setdefault(what, []).append(taken / larger.n_rows)
            sheet.add(
                f"Figure 1: {what}, {larger.n_rows:,} rows",
                taken,
                "s",
                note=f"{taken / yardstick(larger.n_rows):.2f} Y",
            )
    for what, rates in per_row.items():
        sheet.add(f"  {what}: seconds per row, largest table / smallest", rates[-1] / rates[0], "x", note="1 is linear")
    plot(points, "figure_1_time", x="rows:Q", y="seconds:Q", color="method:N", mark="line")


def measure_memory(sheet: Sheet) -> None:
    """Peak memory above what the process had before the table, in a process of its own, over the encoded table."""
    for what in (
        "Dealing(goal=goal)",
        "RDA(goal=goal)",
        "BatchMatching(goal=goal, matching='rank')",
        "BatchMatching(goal=goal)",
    ):
        done = subprocess.run([sys.executable, "-c", MEMORY, what], capture_output=True, text=True, check=True)
        sheet.add(f"Peak memory of {what}, 6,000,000 rows / encoded table", float(done.stdout), "x", bar=6)


MEMORY = """
import sys
import numpy as np
import overt
from bench.streamliner import census_table, copies
from overt.algorithms.streamliner import RDA, BatchMatching, Dealing

goal = overt.FrequencyLDiversity(8)
method = eval(sys.argv[1])
small = census_table(60_000, "Occupation")
method.anonymize(small, rng=np.random.default_rng(0))  # compiled, loaded

def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

before = status("VmRSS")
table = copies(small, 100)
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
release = method.anonymize(table, rng=np.random.default_rng(1))
print((status("VmHWM") - before) / sum(column.codes.nbytes for column in table.columns))
"""


def reproduce_discernibility(sheet: Sheet, tables: dict[str, Table], ls: Iterable[int]) -> None:
    """Figure 2: discernibility against l, with the optimum."""
    points = []
    for data, table in tables.items():
        for l in ls:
            best = optimal_discernibility(table.n_rows, l)
            points.append({"data": data, "l": l, "DM": best, "method": "optimum"})
            for what, method in methods(l).items():
                cost = discernibility(method.anonymize(table, rng=np.random.default_rng(l)).partition)
                points.append({"data": data, "l": l, "DM": cost, "method": what})
                if l == 8:
                    sheet.add(f"Figure 2: {data}, l = 8, {what}: DM / optimum", cost / best, "x")
    plot(points, "figure_2_discernibility", x="l:O", y="DM:Q", color="method:N", column="data:N", mark="line")


def reproduce_query_errors(
    sheet: Sheet, tables: dict[str, Table], ls: Iterable[int]
) -> dict[tuple[str, int, str, str], float]:
    """Figures 3 to 7: query workload error against predicate type; queries also ask for sensitive values."""
    errors, points = {}, []
    for data, table in tables.items():
        rng = np.random.default_rng(11)
        workloads = {name: Workload.draw(table, columns, N_QUERIES, rng) for name, columns in PREDICATES.items()}
        plain = {
            name: Workload.draw(table, columns, N_QUERIES, rng, sensitive=False) for name, columns in PREDICATES.items()
        }
        actual = {name: actual_counts(table, workload) for name, workload in workloads.items()}
        for l in ls:
            for what, method in methods(l).items():
                release = method.anonymize(table, rng=np.random.default_rng(l))
                for name, workload in workloads.items():
                    error = relative_errors(actual[name], uniform_in_box(release, workload), table.n_rows).mean()
                    errors[data, l, what, name] = error
                    points.append({"data": data, "l": l, "method": what, "predicate": name, "error": error})
                if l == 8:
                    without = [
                        relative_errors(actual_counts(table, w), uniform_in_box(release, w), table.n_rows).mean()
                        for w in plain.values()
                    ]
                    shown = " ".join(f"{errors[data, l, what, name]:.3f}" for name in PREDICATES)
                    sheet.add(
                        f"Figure 5: {data}, l = 8, {what}: mean error, all predicates",
                        np.mean([errors[data, l, what, name] for name in PREDICATES]),
                        "",
                        note=f"Age/Gender/both/all {shown}; no sensitive predicate {' '.join(f'{e:.3f}' for e in without)}",
                    )
    for l in ls:
        chosen = [point for point in points if point["l"] == l]
        number = l - 3
        plot(
            chosen,
            f"figure_{number}_errors_l_{l}",
            x="predicate:N",
            y="error:Q",
            color="method:N",
            column="data:N",
            mark="bar",
        )
    return errors


def compare_with_paper(sheet: Sheet, errors: dict[tuple[str, int, str, str], float]) -> None:
    """The four figures that the paper prints in its text."""
    for (data, what), printed in PAPER_FACTS.items():
        sheet.add(
            f"Gender alone, l = 8, {data}, {what}",
            errors[data, 8, what, "Gender"],
            "",
            note=f"the paper prints {printed:.2f}",
        )
    print(
        "  Ours are much lower for RDA. Likely reasons: Gender goes less with Occupation, and hardly with Income, in the\n"
        "  generated census; and the paper does not say how its queries were drawn. The order is the same, GDA below RDA.\n"
        "  BatchMatching without strata does not lower the error on Gender alone where GDA does, because its rows are\n"
        "  drawn blind; Gender strata remove it."
    )


def compare_estimators(sheet: Sheet, table: Table) -> None:
    """Uniform in the box against the unbiased estimate, on boxes and on exact quasi-identifiers."""
    rng = np.random.default_rng(12)
    for form in ("generalized", "bucketized"):
        for what, kind in (("RDA", RDA), ("Dealing", Dealing), ("BatchMatching", BatchMatching)):
            release = kind(goal=overt.FrequencyLDiversity(8), form=form).anonymize(table, rng=rng)
            for name, columns in PREDICATES.items():
                workload = Workload.draw(table, columns, N_QUERIES, rng)
                actual = actual_counts(table, workload)
                plain = relative_errors(actual, uniform_in_box(release, workload), table.n_rows).mean()
                found = unbiased_counts(release, workload)
                error = relative_errors(actual, found.value, table.n_rows).mean()
                sheet.add(f"Estimates, {form}, {what}, {name}: unbiased", error, "", note=f"uniform {plain:.4f}")


def plot(
    points: list[dict[str, Any]], name: str, *, mark: str, x: str, y: str, color: str, column: str | None = None
) -> None:
    """A picture and its numbers under bench/results; the picture only if Altair is installed."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"streamliner_{name}.json"
    path.write_text(json.dumps(points, indent=1))
    try:
        import altair as alt
    except ImportError:
        return
    chart = alt.Chart(alt.Data(values=points), width=300, height=220)
    drawn = chart.mark_line(point=True) if mark == "line" else chart.mark_bar()
    channels = {
        "x": alt.X(x, axis=alt.Axis(labelAngle=0)) if x.endswith(":O") else alt.X(x),
        "y": alt.Y(y),
        "color": alt.Color(color),
    }
    if mark == "bar":
        channels["xOffset"] = alt.XOffset(color)
        channels["x"] = alt.X(x, sort=list(PREDICATES))
    if column:
        channels["column"] = alt.Column(column)
    drawn.encode(**channels).save(str(path.with_suffix(".png")), scale_factor=2)
