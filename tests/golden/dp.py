# SPDX-License-Identifier: Apache-2.0
"""Golden family: generalisation, risk and utility record by record, and differential privacy. Other kinds are left as they are."""

import dp_published
import dp_repaired
import numpy as np
from dp_published import risk_of

from overt.algorithms.record import (
    Harmonic,
    Objective,
    RingFamily,
    WholeTable,
    best_balance,
    best_difference,
    chain_above,
    extended_support,
    least_risk,
    nodes_of_labels,
    rounding_law,
    search_frontier,
    utility_named,
    walk,
)
from overt.errors import OvertError
from overt.hierarchy.parents import Parents

REFUSED = {"refused": True}


def recognises(document):
    cases = document.get("cases") if isinstance(document, dict) else None
    return bool(cases) and all(isinstance(case, dict) and {"kind", "input"} <= case.keys() for case in cases)


def answer(document):
    return {**document, "cases": [answer_case(case) for case in document["cases"]]}


def answer_case(case):
    if case["kind"] not in KINDS:
        return case
    try:
        return {**case, "expected": KINDS[case["kind"]](case["input"])}
    except OvertError:
        return {**case, "expected": REFUSED}


def trees_of(given):
    return [Parents(tree["parent"], tree["root"]).whole() for tree in given["hierarchies"]]


def objective_of(given):
    trees = trees_of(given)
    record = nodes_of_labels(trees, [given["record"]])[0]
    external = nodes_of_labels(trees, given.get("theta", [given["record"]]))
    utility = utility_named(given["utility"].replace("_", "-"))
    return trees, record, Objective.of(trees, record, external, utility, risk_of(given.get("risk", {"model": "II"})))


def labels_at(trees, record, levels):
    chains = [chain_above(tree, node) for tree, node in zip(trees, record, strict=True)]
    return [tree.labels[chain[level]] for tree, chain, level in zip(trees, chains, levels, strict=True)]


def hierarchy(given):
    trees = trees_of(given)
    record = nodes_of_labels(trees, [given["record"]])[0]
    chains = [chain_above(tree, node) for tree, node in zip(trees, record, strict=True)]
    return {
        "chain": [[tree.labels[node] for node in chain] for tree, chain in zip(trees, chains, strict=True)],
        "leaves": [dict(sorted(zip(tree.labels, tree.n_leaves_of_node.tolist(), strict=True))) for tree in trees],
        "depth": [dict(sorted(zip(tree.labels, tree.depth_of_node.tolist(), strict=True))) for tree in trees],
        "h": max(int(tree.depth_of_node.max()) for tree in trees) + 1,
        "size": int(np.prod([len(chain) for chain in chains])),
    }


def harmonic(given):
    trees = trees_of(given)
    weights = Harmonic(tuple(given["leaf_weights"])).of_nodes(trees)
    return {
        "weights": [dict(sorted(zip(t.labels, w.tolist(), strict=True))) for t, w in zip(trees, weights, strict=True)]
    }


def table(given):
    trees, record, objective = objective_of(given)
    whole = WholeTable.of(objective)
    rows = [
        {
            "element": labels_at(trees, record, levels),
            "rho": int(rho),
            "phi": float(phi),
            "utility": float(utility),
            "risk": None if np.isinf(risk) else float(risk),
        }
        for levels, rho, phi, utility, risk in zip(
            whole.levels, whole.support, whole.phi, whole.utility, whole.risk, strict=True
        )
    ]
    return {"rows": sorted(rows, key=lambda row: row["element"])}


def threshold(given):
    trees, record, objective = objective_of(given)
    found = least_risk(objective, given["c"])
    frontier, _ = search_frontier(objective, given["c"])
    return {
        "risk": None if np.isinf(found.risk) else found.risk,
        "argmin": [labels_at(trees, record, found.levels)],
        "feasible": int(WholeTable.of(objective).is_feasible(given["c"]).sum()),
        "frontier": sorted(labels_at(trees, record, levels) for levels in frontier),
    }


def path(given):
    trees, record, objective = objective_of(given)
    node, used, complete = walk(objective, given["c"], [gene - 1 for gene in given["path"]])
    return {"node": labels_at(trees, record, node), "used": [gene + 1 for gene in used], "complete": complete}


def lagrangian(given):
    trees, record, objective = objective_of(given)
    found = best_balance(objective, given["lambda"], given["kappa"])
    return {"value": found.value, "argmax": [labels_at(trees, record, found.levels)]}


def inner(given):
    trees, record, objective = objective_of(given)
    found = best_difference(objective, given["lambda"], given["kappa"], given["alpha"])
    return {"value": found.value, "argmax": [labels_at(trees, record, found.levels)]}


def ring(given):
    value = {tuple(levels): number for levels, number in given["g"]}
    family = RingFamily(tuple(given["heights"]), value.__getitem__)
    fines = family.fines()
    extended = [[[list(m) for m in sorted(subset)], family.extended(subset, fines)] for subset in family.subsets()]
    return {
        "c": [[list(member), fine] for member, fine in fines.items()],
        "gbar": extended,
        "supermodular": family.is_supermodular(),
    }


def rounding(given):
    point = [np.array(chain, np.float64) for chain in given["point"]]
    profiles = np.array([profile for profile, _ in given["profiles"]], np.int64)
    counts = np.array([count for _, count in given["profiles"]], np.int64)
    return {
        "law": [{"levels": list(levels), "p": p} for levels, p in rounding_law(point)],
        "T_hat": extended_support(point, profiles, counts),
    }


KINDS = (
    {kind.__name__: kind for kind in (hierarchy, harmonic, table, threshold, path, lagrangian, inner, ring, rounding)}
    | dp_repaired.KINDS
    | dp_published.KINDS
)
