# SPDX-License-Identifier: Apache-2.0
"""Risk and utility of one record from the definitions alone: parent pointers, lists and fractions."""

import itertools
import math
from fractions import Fraction


def chain(parent, node):
    """The node and everything above it."""
    nodes = [node]
    while nodes[-1] in parent:
        nodes.append(parent[nodes[-1]])
    return nodes


def leaves_below(parent, node):
    everyone = set(parent) | set(parent.values())
    leaves = everyone - set(parent.values())
    return [leaf for leaf in leaves if node in chain(parent, leaf)]


def utility_of_node(parent, node, kind):
    root = chain(parent, node)[-1]
    if kind == "inverse-leaves":
        return Fraction(1, len(leaves_below(parent, node)))
    if kind == "log-leaves":
        return math.log(len(leaves_below(parent, root)) / len(leaves_below(parent, node)))
    return Fraction(len(chain(parent, node)) - 1)


def harmonic(parent, node, leaf_weights):
    """One over the sum of one over the children's weights; nothing at the root or above nothing."""
    if node not in parent:
        return Fraction(0)
    children = [child for child in parent if parent[child] == node]
    if not children:
        return Fraction(leaf_weights[node])
    weights = [harmonic(parent, child, leaf_weights) for child in children]
    return Fraction(0) if 0 in weights else 1 / sum(1 / weight for weight in weights)


class World:
    """Hierarchies as parent pointers, a record, external records, and how they are valued."""

    def __init__(self, parents, record, theta, utility, risk, base=0):
        self.parents, self.record, self.theta = parents, record, theta
        self.utility_kind, self.risk_kind, self.base = utility, risk, Fraction(base)

    @property
    def elements(self):
        """Every generalization with its levels, the last attribute fastest."""
        chains = [chain(parent, value) for parent, value in zip(self.parents, self.record, strict=True)]
        for levels in itertools.product(*(range(len(nodes)) for nodes in chains)):
            yield levels, tuple(nodes[level] for nodes, level in zip(chains, levels, strict=True))

    def support(self, element):
        return sum(
            all(x in chain(parent, t) for parent, x, t in zip(self.parents, element, row, strict=True))
            for row in self.theta
        )

    def utility(self, element):
        return sum(utility_of_node(p, x, self.utility_kind) for p, x in zip(self.parents, element, strict=True))

    def phi(self, element):
        return self.base + sum(self.weight(i, node) for i, node in enumerate(element))

    def weight(self, i, node):
        model, numbers = self.risk_kind
        if model == "II":
            return Fraction(1, len(self.parents))
        if model == "I":
            return Fraction(numbers[i]) if node in self.parents[i] else Fraction(0)
        return harmonic(self.parents[i], node, numbers[i])

    def risk(self, element):
        phi, support = self.phi(element), self.support(element)
        if phi == 0:
            return Fraction(0)
        return phi / support if support else math.inf

    def feasible(self, c):
        return {levels: x for levels, x in self.elements if self.utility(x) >= c - 1e-12}

    def frontier(self, c):
        """Feasible, and one step up in some attribute is not; or the feasible top."""
        feasible = self.feasible(c)
        everything = dict(self.elements)
        found = set()
        for levels in feasible:
            ups = [(*levels[:i], level + 1, *levels[i + 1 :]) for i, level in enumerate(levels)]
            ups = [up for up in ups if up in everything]
            if not ups or any(up not in feasible for up in ups):
                found.add(levels)
        return found

    def least_risk(self, c):
        """The least risk, and the levels of all elements that have it."""
        risks = {levels: self.risk(x) for levels, x in self.feasible(c).items()}
        least = min(risks.values())
        return least, {levels for levels, risk in risks.items() if close(risk, least)}

    def balance(self, element, lam, kappa):
        return lam * self.support(element) / self.phi(element) + self.utility(element) ** kappa

    def difference(self, element, lam, kappa, alpha):
        phi = self.phi(element)
        return lam * self.support(element) + phi * self.utility(element) ** kappa - alpha * phi

    def best(self, value):
        """The greatest value among elements that have a weight, and the levels of all that reach it; None if none has."""
        values = {levels: value(x) for levels, x in self.elements if self.phi(x) > 0}
        if not values:
            return None
        greatest = max(values.values())
        return greatest, {levels for levels, one in values.items() if close(one, greatest)}


def close(one, other):
    return one == other or math.isclose(float(one), float(other), rel_tol=1e-9, abs_tol=1e-12)
