# SPDX-License-Identifier: Apache-2.0
"""What is left of data after a differentially private release: rows, detail and answers, against epsilon.

All methods at the same epsilon and delta, on Adult (8 columns) and on generated people (4 columns). Rows that are left out
count as covering everything, so that granularity is of the whole table. ARX's own figures for SafePub on Adult are beside
ours; with its parameters (k = 62, every level halved) our code gives its granularity of 0.313.

`DpFullDomain` and `DpSampling` are SafePub's plan by other means; `DpCube` gives every row its own levels;
the published mechanism is not private and is drawn to show that nothing was gained by that.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import overt
from bench import adult
from bench.measure import RESULTS, Sheet
from overt.algorithms.dp.accounting import largest_s
from overt.algorithms.dp.as_published import Algorithm3
from overt.algorithms.dp.cube import DpCube, DpSampling
from overt.algorithms.dp.full_domain import DpFullDomain
from overt.algorithms.dp.parameter_proposal import propose
from overt.hierarchy import Levels, Nested
from overt.hierarchy.value_rules import public_tree
from overt.metrics.granularity import granularity_of_shares
from overt.metrics.query_workload import relative_errors
from overt.table import Table

DELTA = "0.00001"
EPSILONS = ("1/4", "1/2", "1", "2")
N_QUERIES = 1000
PUBLISHED_T = 100  # what the paper asks for is more than there are rows
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "dp-utility.png"

# ARX 3.9.2, one draw each, with 8 columns and its own hierarchies; rows kept, granularity
ARX = [
    (1.0, "ARX SafePub, 100 steps", 16_906, 0.185),
    (1.0, "ARX SafePub, 300 steps", 16_225, 0.239),
    (1.0, "ARX SafePub, 1000 steps", 15_003, 0.302),
    (1.0, "ARX SafePub, fixed levels", 16_340, 0.313),
    (2.0, "ARX SafePub, 300 steps", 23_480, 0.388),
]


@dataclass(frozen=True)
class Data:
    """A table with public hierarchies."""

    name: str
    table: Table
    hierarchies: Mapping[str, Any]

    @property
    def tops(self) -> list[int]:
        return [public_tree(builder, name).n_levels - 1 for name, builder in self.hierarchies.items()]

    @property
    def widths(self) -> list[Any]:
        """Of every column how many labels each level has."""
        trees = [public_tree(builder, name) for name, builder in self.hierarchies.items()]
        return [tree.n_labels or tree.n_levels - 1 for tree in trees]


def run(*, quick: bool = False) -> None:
    """Every method at every epsilon; `quick` at epsilon 1 only, on Adult."""
    sheet = Sheet(f"DP utility: rows kept and detail left, delta = {float(Fraction(DELTA)):g}")
    points: list[dict[str, Any]] = []
    sets = [adult_data()] if adult.is_there() else []
    if not sets:
        print("Adult is not there (../shared/data/adult); its comparison with ARX is left out.")
    for data in sets if quick and sets else [*sets, people_data()]:
        for epsilon in ("1",) if quick else EPSILONS:
            for name, method in methods(data, Fraction(epsilon)):
                points.append(measure(sheet, data, float(Fraction(epsilon)), name, method))
        if data.name == "Adult":
            points += compare_with_arx(sheet, data)
    sheet.save()
    if not quick:
        draw(points)


def methods(data: Data, epsilon: Fraction) -> list[tuple[str, Any]]:
    """What is compared, with parameters that look at nothing but the size and the hierarchies."""
    given = {"epsilon": epsilon, "delta": DELTA, "hierarchies": data.hierarchies}
    chosen: list[tuple[str, Any]] = [
        ("DpSampling, middle levels", DpSampling(**given, s=rate(epsilon), levels=[middle(data.tops)])),
        ("DpFullDomain", DpFullDomain(**given, s=rate(epsilon * Fraction(49, 50)))),
        ("DpFullDomain, for rows", DpFullDomain(**given, s=rate(epsilon * Fraction(49, 50)), rows="2/5")),
    ]
    size = 10 ** round(math.log10(data.table.n_rows))
    try:
        plan = propose(epsilon, DELTA, size, data.widths)
    except overt.InvalidInput:
        pass  # too few rows for this epsilon
    else:
        cube = DpCube(**given, s=plan.s, share=plan.share, levels=plan.levels)
        chosen.append(("DpCube, as proposed", cube))
    beta = Fraction(math.ceil(1020 * math.exp(-epsilon)), 1000)  # as few rows dropped as the paper allows, nearly
    published = Algorithm3(i_know_it_is_not_dp=True, epsilon=epsilon, delta=DELTA, t=PUBLISHED_T, beta=beta)
    return [*chosen, ("published, NOT private", published)]


def rate(epsilon: Fraction) -> Fraction:
    """As many rows as the budget allows, in thousandths."""
    return Fraction(math.floor(largest_s(epsilon) * 1000), 1000)


def middle(tops: list[int]) -> tuple[int, ...]:
    """Half of the levels of every column, rounded up: ARX's medium scheme."""
    return tuple(math.ceil(top / 2) for top in tops)


def measure(sheet: Sheet, data: Data, epsilon: float, name: str, method: Any) -> dict[str, Any]:
    """Means over a few releases."""
    n_releases = 1 if isinstance(method, Algorithm3) else 3
    found = []
    for seed in range(n_releases):
        release = method.anonymize(replace(data.table, row_by_row=True), rng=np.random.default_rng(seed))
        lines = lines_of(data, release)
        found.append((lines.rows, lines.granularity, lines.depth, lines.error(kept_share(method), seed)))
    rows, granularity, depth, error = np.mean(found, axis=0)
    note = f"rows {rows:.1%}, depth of published {depth:.2f}, query error {error:.3f}"
    sheet.add(f"{data.name}, epsilon {epsilon:g}, {name}: granularity", granularity, "", note=note)
    return {
        "data": data.name,
        "epsilon": epsilon,
        "method": name,
        "rows": rows,
        "granularity": granularity,
        "depth": depth,
        "error": error,
    }


def kept_share(method: Any) -> float:
    """With which chance a row is sampled: what counts are divided by."""
    return 1 - method.drop if isinstance(method, Algorithm3) else float(Fraction(method.s))


@dataclass(frozen=True, eq=False)
class Lines:
    """What is published: for every column the label of each group, its values, and how many rows there are."""

    data: Data
    sizes: np.ndarray
    labels: Mapping[str, list[str]]

    @property
    def rows(self) -> float:
        return float(self.sizes.sum()) / self.data.table.n_rows

    @property
    def granularity(self) -> float:
        shares, n_values = [], []
        n_rows = self.data.table.n_rows
        for name, builder in self.data.hierarchies.items():
            leaves = public_tree(builder, name).n_leaves
            n_values.append(max(leaves.values()))
            share = np.array([leaves[label] for label in self.labels[name]]) / n_values[-1]
            shares.append(float(share @ self.sizes + n_rows - self.sizes.sum()) / n_rows)
        return granularity_of_shares(shares, n_values)

    @property
    def depth(self) -> float:
        """The mean share of its levels that a published cell keeps."""
        kept = []
        for name, builder in self.data.hierarchies.items():
            tree = public_tree(builder, name)
            level = {}
            for text in tree.n_leaves:
                for depth, label in enumerate(reversed(tree.chain(text))):
                    level[label] = max(level.get(label, 0), 0 if label == tree.root else depth)
            kept.append(np.array([level.get(label, 0) for label in self.labels[name]]) / (tree.n_levels - 1))
        return float(np.mean(kept, axis=0) @ self.sizes / max(1, self.sizes.sum())) if self.sizes.size else 0.0

    def error(self, share: float, seed: int) -> float:
        """The mean relative error of COUNT queries on two columns, rows spread evenly below their labels."""
        rng, table = np.random.default_rng(1000 + seed), self.data.table
        covers = {name: self._covers(name) for name in self.data.hierarchies}
        actual, estimate = np.zeros(N_QUERIES, np.int64), np.zeros(N_QUERIES)
        names = list(self.data.hierarchies)
        for q in range(N_QUERIES):
            inside, parts = np.ones(table.n_rows, np.bool_), np.ones(self.sizes.size)
            for j in rng.choice(len(names), 2, replace=False):
                column = table.column(names[j])
                low, high = np.sort(rng.integers(0, column.n_values, 2))
                inside &= (column.codes >= low) & (column.codes <= high)
                parts *= covers[names[j]][:, low : high + 1].sum(axis=1)
            actual[q] = inside.sum()
            estimate[q] = (parts @ self.sizes) / share
        return float(relative_errors(actual, estimate, table.n_rows).mean())

    def _covers(self, name: str) -> np.ndarray:
        """(group, code) -> the part of a group's rows that is taken to have this value."""
        tree, column = public_tree(self.data.hierarchies[name], name), self.data.table.column(name)
        chains = [tree.chain(str(value)) for value in column.values.cast(pl.String)]
        number = {label: i for i, label in enumerate(dict.fromkeys(self.labels[name]))}
        part = np.zeros((len(number) + 1, column.n_values))
        for code, chain in enumerate(chains):
            for label in set(chain) & number.keys():
                part[number[label], code] = 1 / tree.n_leaves[label]
        return part[[number[label] for label in self.labels[name]]]


def lines_of(data: Data, release: overt.Release) -> Lines:
    """The groups of a release in the labels of the public hierarchies."""
    sizes = release.partition.sizes
    if hasattr(release, "labels_of_group"):
        return Lines(data, sizes, release.labels_of_group)
    labels = {}
    for j, (name, builder) in enumerate(data.hierarchies.items()):
        column, tree = release.table.column(name), public_tree(builder, name)
        chains = [tree.chain(str(value)) for value in column.values.cast(pl.String)]
        low, high = release.boxes[j].T
        # what a box of codes shows is the lowest label that its ends share
        labels[name] = [
            next(a for a, b in zip(chains[i], chains[j], strict=True) if a == b) for i, j in zip(low, high, strict=True)
        ]
    return Lines(data, sizes, labels)


def compare_with_arx(sheet: Sheet, data: Data) -> list[dict[str, Any]]:
    """ARX's figures, and its fixed scheme with its own k in our code, which must give the same."""
    points = []
    for epsilon, name, rows, granularity in ARX:
        share = rows / data.table.n_rows
        sheet.add(
            f"Adult, epsilon {epsilon:g}, {name} (its figures): granularity", granularity, "", note=f"rows {share:.1%}"
        )
        points.append(
            {"data": "Adult", "epsilon": epsilon, "method": "ARX SafePub", "rows": share, "granularity": granularity}
        )
    given = {"epsilon": 1, "delta": DELTA, "hierarchies": data.hierarchies}
    twin = DpSampling(**given, s="0.632", k=62, levels=[middle(data.tops)])
    measure(sheet, data, 1.0, "ARX's fixed levels and k = 62 in our code (ARX says 54 % and 0.313)", twin)
    return points


def draw(points: list[dict[str, Any]]) -> None:
    """The numbers, and a picture of them if Altair is installed."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "dp_utility_points.json").write_text(json.dumps(points, indent=1))
    try:
        import altair as alt
    except ImportError:
        return
    measures = {"rows": "rows published", "granularity": "granularity of all rows", "error": "query error"}
    values = [
        {**point, "measure": title, "value": point[key]}
        for point in points
        for key, title in measures.items()
        if point.get(key) is not None
    ]
    colours = {
        "DpFullDomain": "#c2410c",
        "DpFullDomain, for rows": "#f59e0b",
        "DpCube, as proposed": "#1d4ed8",
        "DpSampling, middle levels": "#0e9384",
        "ARX SafePub": "#111827",
        "published, NOT private": "#9ca3af",
    }
    base = alt.Chart(alt.Data(values=values), width=250, height=210).encode(
        x=alt.X(
            "epsilon:Q", scale=alt.Scale(type="log", base=2), axis=alt.Axis(values=[0.25, 0.5, 1, 2], title="epsilon")
        ),
        y=alt.Y("value:Q", title=None),
        color=alt.Color(
            "method:N",
            scale=alt.Scale(domain=list(colours), range=list(colours.values())),
            legend=alt.Legend(orient="bottom", columns=3, labelLimit=300, title=None),
        ),
        shape=alt.Shape(
            "method:N", scale=alt.Scale(domain=list(colours), range=["circle"] * 4 + ["diamond", "circle"])
        ),
    )
    private = "datum.method != 'ARX SafePub' && datum.method != 'published, NOT private'"
    layers = [
        base.transform_filter("datum.method == 'published, NOT private'").mark_line(strokeDash=[4, 4]),
        base.transform_filter(private).mark_line(),
        base.transform_filter("datum.method != 'ARX SafePub'").mark_point(filled=True, size=35, opacity=1),
        base.transform_filter("datum.method == 'ARX SafePub'").mark_point(filled=True, size=80, opacity=1),
    ]
    chart = alt.layer(*layers).facet(
        row=alt.Row("data:N", title=None),
        column=alt.Column("measure:N", title=None, sort=list(measures.values())),
    )
    chart.resolve_scale(y="independent").configure_axis(gridColor="#e5e7eb").save(str(PICTURE), scale_factor=2)


def adult_data() -> Data:
    hierarchies = {n: Levels.read(adult.FOLDER / f"adult_hierarchy_{n}.csv") for n in adult.EIGHT}
    return Data("Adult", adult.read(quasi_identifiers=adult.EIGHT), hierarchies)


def people_data(n_rows: int = 100_000) -> Data:
    """Generated people with age, gender, education and birthplace."""
    known = overt.samples.census_hierarchies()
    ages = [
        [str(age), *(f"{age // w * w} to {age // w * w + w - 1}" for w in (5, 10, 20, 40)), "*"] for age in range(120)
    ]
    frame = overt.samples.census(n_rows).select("Age", "Gender", "Education", "Birthplace")
    genders = sorted(frame["Gender"].unique().cast(pl.String).to_list())
    hierarchies = {
        "Age": Levels(ages),
        "Gender": Nested({"*": genders}),
        "Education": known["Education"],
        "Birthplace": known["Birthplace"],
    }
    table = overt.read_frame(frame, quasi_identifiers=list(hierarchies), hierarchies=hierarchies)
    return Data("generated people", table, hierarchies)
