# SPDX-License-Identifier: Apache-2.0
"""Golden family: cross-bucket generalization. Fractions are text."""

import numpy as np
import polars as pl

import overt
from overt.algorithms.batches import plan_batches
from overt.algorithms.cross_bucket.division import bucket_positions, group_sizes, largest_share
from overt.algorithms.cross_bucket.printed import calculate_alpha
from overt.metrics.breach import identity_disclosure, largest_breach, matched_breach
from overt.metrics.discernibility import discernibility
from overt.metrics.sum_queries import Predicate, answer_sums

SECTIONS = ("alpha", "division", "releases", "must_succeed", "must_refuse", "sum_queries")


def recognises(document):
    if not isinstance(document, dict):
        return False
    cases = [case for name in SECTIONS for case in listed(document, name)]
    return any(known(case) for case in cases)


def listed(document, name):
    section = document.get(name)
    return [case for case in section if isinstance(case, dict)] if isinstance(section, list) else []


def known(case):
    """Shapes that no other family has."""
    shapes = ({"counts", "m", "beta"}, {"beta", "k"}, {"groups", "buckets"}, {"counts", "k", "l"})
    return any(shape <= case.keys() for shape in shapes)


def answer(document):
    answered = dict(document)
    for name in SECTIONS:
        if isinstance(document.get(name), list):
            answered[name] = [answer_case(name, case, document) for case in document[name]]
    return answered


def answer_case(section, case, document):
    try:
        return {**case, **ANSWERS[section](case, document)}
    except (KeyError, TypeError):  # a case of another shape
        return case


def text(fraction):
    return None if fraction is None else f"{fraction.numerator}/{fraction.denominator}"


def plain(fraction):
    """A whole number as such."""
    return int(fraction) if fraction.denominator == 1 else text(fraction)


def alpha_of(case, _):
    return {"alpha": calculate_alpha(sorted(case["counts"], reverse=True), case["beta"], case["m"])}


def division_of(case, _):
    beta, k = case["beta"], case["k"]
    sizes = group_sizes(beta, k)
    return {
        "group_sizes": sizes,
        "buckets": None if sizes is None else bucket_positions(beta, k),
        "max_breach": text(largest_share(beta, k)),
    }


class Microdata:
    """Rows of a golden file as a table, with their ids."""

    def __init__(self, rows, kinds):
        self.rows, self.kinds, self.ids = rows, kinds, [row["id"] for row in rows]
        names = [f"A{a}" for a in range(len(kinds))]
        frame = pl.DataFrame({name: [row["qi"][a] for row in rows] for a, name in enumerate(names)})
        frame = frame.with_columns(pl.Series("S", [row["s"] for row in rows]))
        words = {name: "number" if kind == "num" else "category" for name, kind in zip(names, kinds, strict=True)}
        self.table = overt.read_frame(frame, quasi_identifiers=names, sensitive=["S"], kinds=words)

    def release(self, case):
        groups, buckets = (
            overt.Partition.from_groups([[self.ids.index(row) for row in part] for part in case[name]])
            for name in ("groups", "buckets")
        )
        return overt.CrossBucketRelease(self.table, groups, None, buckets)


def microdata_of(case, document):
    table = case.get("table", "fig1b" if "fig1b" in document.get("tables", {}) else None)
    if isinstance(table, str):
        table = document["tables"][table]
    elif table is None:
        table = next(iter(document["tables"].values()))
    if isinstance(table, list):
        return Microdata(table, case["kinds"])
    return Microdata(table["rows"], table["kinds"])


def release_of(case, document):
    microdata = microdata_of(case, document)
    release = microdata.release(case)
    goal = overt.AllOf((overt.KAnonymity(case["k"]), overt.FrequencyLDiversity(case["l"])))
    breaches = matched_breach(release)
    return {
        "valid": bool(goal.holds(release.groups)),
        "max_breach": text(largest_breach(release)),
        "min_group": identity_disclosure(release).denominator,
        "c_dm": discernibility(release.partition),
        "published": {"buckets": published(microdata, release)},
        "own_value_breach": {str(row): text(breaches[i]) for i, row in enumerate(microdata.ids)},
    }


def published(microdata, release):
    """What `overt.publish` shows, in the file's own notation: ranges as pairs, sets as sorted lists, order by repr."""
    people, values = overt.publish(release, show={f"A{a}": "set" for a, k in enumerate(microdata.kinds) if k != "num"})
    domains = [column.values for column in microdata.table.quasi_identifiers]
    buckets = []
    for (number,), rows in people.group_by("bucket", maintain_order=True):
        boxes = [
            [cell_of(row[a + 1], kind, domains[a]) for a, kind in enumerate(microdata.kinds)] for row in rows.rows()
        ]
        held = values.filter(pl.col("bucket") == number)["S"].to_list()
        buckets.append({"qi": sorted(boxes, key=repr), "s": sorted(held, key=repr)})
    return sorted(buckets, key=repr)


def cell_of(cell, kind, domain):
    if kind == "num":
        low, _, high = str(cell).partition("..")
        numbers = {str(number): number for number in domain}
        return [numbers[low], numbers[high or low]]
    if cell == "*":
        return sorted(domain)
    return sorted(cell[1:-1].split(", ")) if cell.startswith("{") else [cell]


def plan_of(case, _):
    counts = case["counts"]
    names = list(counts) if isinstance(counts, dict) else list(range(len(counts)))
    how_many = list(counts.values()) if isinstance(counts, dict) else counts
    overt.CrossBucket(case["k"], case["l"]).anonymize(table_with(how_many), rng=np.random.default_rng())
    plan = plan_batches(how_many, max(case["k"], case["l"]), k=case["k"])
    return {"one_valid_plan": [[[names[v] for v in batch.values], batch.alpha] for batch in plan]}


def refusal_of(case, _):
    counts = case["counts"]
    how_many = list(counts.values()) if isinstance(counts, dict) else counts
    try:
        overt.CrossBucket(case["k"], case["l"]).anonymize(table_with(how_many), rng=np.random.default_rng())
    except overt.OvertError as refusal:
        return {"reason": str(refusal)}
    return {"reason": None}


def table_with(counts):
    values = [f"v{v:04}" for v, count in enumerate(counts) for _ in range(count)]
    frame = pl.DataFrame({"Q": list(range(len(values))), "S": values})
    return overt.read_frame(frame, quasi_identifiers=["Q"], sensitive=["S"])


def sums_of(case, document):
    microdata = microdata_of(case, document)
    release = microdata.release(case)
    queries = [tuple(predicate_of(predicate) for predicate in query["preds"]) for query in case["queries"]]
    answers = answer_sums(release, queries)
    filled = []
    for q, query in enumerate(case["queries"]):
        bounds = {name: plain(getattr(answers, name)(q)) for name in ("lower", "upper", "actual")}
        filled.append({**query, **bounds, "relative_error": text(answers.relative_error(q))})
    return {"queries": filled}


def predicate_of(predicate):
    value = tuple(predicate["values"]) if predicate["op"] == "in" else predicate["v"]
    return Predicate(f"A{predicate['attr']}", predicate["op"], value)


ANSWERS = {
    "alpha": alpha_of,
    "division": division_of,
    "releases": release_of,
    "must_succeed": plan_of,
    "must_refuse": refusal_of,
    "sum_queries": sums_of,
}
