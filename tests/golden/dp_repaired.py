# SPDX-License-Identifier: Apache-2.0
"""Golden kinds of the private mechanism: what it costs, and its exact law on tiny tables."""

from overt.algorithms.dp.accounting import exact_delta, gamma_of, least_k, least_tau, li_bound
from overt.algorithms.dp.law import delta_of_neighbours, law_of_sampling


def delta(given):
    k, s, epsilon = given["suppress"], given["s"], given["epsilon"]
    return {"tight": exact_delta(k, s, epsilon), "li": li_bound(k, s, epsilon), "gamma": gamma_of(s, epsilon)}


def min_k(given):
    epsilon, allowed, s = given["epsilon"], given["delta"], given["s"]
    return {"tight": least_k(epsilon, allowed, s), "li": least_k(epsilon, allowed, s, bound="li")}


def geometric_threshold(given):
    return {"tau": least_tau(given["epsilon"], given["delta"], given["levels"])}


def m1(given):
    s, k, epsilon = given["s"], given["suppress"], given["epsilon"]
    bound = exact_delta(k, s, epsilon)
    laws = [law_of_record(law) for law in given["laws"]]
    law = law_of_sampling(laws, s, k)
    return {
        "distribution": sorted(
            (
                {"multiset": sorted([list(element), n] for element, n in multiset), "p": float(p)}
                for multiset, p in law.items()
            ),
            key=lambda line: line["multiset"],
        ),
        "delta": delta_of_neighbours(laws, s, k, epsilon),
        "bound": bound,
    }


def law_of_record(pairs):
    """An element that is written twice has the probabilities of both."""
    law = {}
    for element, p in pairs:
        law[tuple(element)] = law.get(tuple(element), 0) + p
    return law


KINDS = {kind.__name__: kind for kind in (delta, min_k, geometric_threshold, m1)}
