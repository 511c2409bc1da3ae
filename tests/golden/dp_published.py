# SPDX-License-Identifier: Apache-2.0
"""Golden kinds of the published mechanism: its parameters, its exact law, what neighbours show, and Algorithm 4."""

import numpy as np

from overt.adversary.dp.neighbour_divergence import delta_between
from overt.adversary.dp.output_laws import multiset_law
from overt.algorithms.dp.conditions import LagrangianParameters, ThresholdParameters
from overt.algorithms.dp.exponential import ExponentialChoice, laws_of_records
from overt.algorithms.dp.sample_point import SamplePoint
from overt.algorithms.record import (
    CustomRisk,
    Harmonic,
    ModelI,
    ModelII,
    Objective,
    nodes_of_labels,
    utility_named,
)
from overt.algorithms.record.generalization_cube import LagrangianModel, ThresholdModel
from overt.algorithms.record.lagrangian import require_parameters
from overt.hierarchy.parents import Parents


def parameters(given):
    names = {"lambda": "lam"}
    found = LagrangianParameters(**{names.get(key, key): value for key, value in given.items()})
    return {
        "eta": found.eta,
        "epsilon_prime": found.epsilon_prime,
        "t_f": found.t_f,
        "t_first": found.t_first,
        "t_second": found.t_second,
        "t_min": found.least_t,
        "size_min": found.least_size,
    }


def parameters_threshold(given):
    found = ThresholdParameters(**given)
    return {"eta": found.eta, "epsilon_prime": found.epsilon_prime}


def risk_of(given):
    base = given.get("base", 0)
    match given["model"]:
        case "I":
            return ModelI(tuple(given["weights"]), base)
        case "II":
            return ModelII(base)
        case "harmonic":
            return Harmonic(tuple(given["leaf_weights"]), base)
        case "custom":
            return CustomRisk(tuple(given["weights"]), base)


def mechanism_of(given):
    """(indices of records) -> the law of the published multiset."""
    trees = [Parents(tree["parent"], tree["root"]).whole() for tree in given["hierarchies"]]
    records = nodes_of_labels(trees, given["data"])
    utility = utility_named(given["utility"].replace("_", "-"))
    if "c" in given:
        model = ThresholdModel(given["c"])
    else:
        require_parameters(given["lambda"], given["kappa"])
        model = LagrangianModel(given["lambda"], given["kappa"])
    choice = ExponentialChoice(model, given["t"], given["epsilon_prime"])
    shared = risk_of(given["risk"]) if "risk" in given else None
    risks = [shared if shared is not None else risk_of(one) for one in given.get("risks", given["data"])]

    def law(rows):
        chosen = [risks[i] for i in rows]
        return multiset_law(laws_of_records(choice, given["beta"], trees, records[list(rows)], utility, chosen))

    return law


def alg3(given):
    law = mechanism_of(given)(range(len(given["data"])))
    rows = [
        {"multiset": sorted([list(element), count] for element, count in output), "p": float(chance)}
        for output, chance in law.items()
    ]
    return {"distribution": sorted(rows, key=lambda row: row["multiset"])}


def alg3_neighbours(given):
    found = delta_between(mechanism_of(given), range(len(given["data"])), given["remove"], given["epsilon"])
    return {"delta_remove": float(found.remove), "delta_add": float(found.add), "delta": float(found.worst)}


def alg4_layer(given):
    profiles = np.array([profile for profile, _ in given["profiles"]], np.int32)
    counts = np.array([count for _, count in given["profiles"]], np.int64)
    chains = [tuple(np.array(numbers, np.float64) for numbers in given[key]) for key in ("U", "W")]
    objective = Objective(*chains, profiles, counts)
    sampler = SamplePoint(
        lam=given["lambda"],
        kappa=given["kappa"],
        size=given["size"],
        epsilon_prime=given["epsilon_prime"],
        epsilon_second=given["epsilon_second"],
        phi_l=given["phi_l"],
        t=given["t"],
        sigma=given["sigma"],
    )
    law = sampler.law(objective, given["layer"], rng=np.random.default_rng(0))
    return {"law": None if law is None else [{"levels": list(levels), "p": p} for levels, p in law]}


KINDS = {kind.__name__: kind for kind in (parameters, parameters_threshold, alg3, alg3_neighbours, alg4_layer)}
