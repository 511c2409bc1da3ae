# SPDX-License-Identifier: Apache-2.0
"""A hierarchy as a dictionary from child to parent, and what it means for numbers, quantiles and prefixes."""

from fractions import Fraction
from itertools import pairwise


class ParentPointers:
    """A tree of texts, from chains (value, label, ..., root); nothing is numbered or vectorised."""

    def __init__(self, chains):
        self.parent = {}
        for chain in chains:
            for child, parent in pairwise(chain):
                if child != parent:
                    self.parent[child] = parent
        self.values = [chain[0] for chain in chains]
        self.root = chains[0][-1]

    def chain(self, text):
        found = [text]
        while found[-1] != self.root:
            found.append(self.parent[found[-1]])
        return found

    def common_ancestor(self, *texts):
        chains = [self.chain(text) for text in texts]
        return next(label for label in chains[0] if all(label in chain for chain in chains))

    def leaves(self, label):
        return {value for value in self.values if label in self.chain(value)}

    def depth(self, text):
        return len(self.chain(text)) - 1

    def labels(self):
        return {label for value in self.values for label in self.chain(value)}


def decimal(number):
    """The number as a person writes it."""
    return Fraction(str(number))


def interval(number, width, origin):
    """The bounds of the interval of this width that holds the number, by walking to it from the origin."""
    lower = decimal(origin)
    while decimal(number) < lower:
        lower -= decimal(width)
    while decimal(number) >= lower + decimal(width):
        lower += decimal(width)
    return lower, lower + decimal(width)


def between(number, points):
    """How many of the cut points are at or below the number."""
    return sum(decimal(point) <= decimal(number) for point in points)


def quantile_cuts(n_rows_of_value, counts):
    """For each count, the values that begin an interval, by trying every possible place of every bound."""
    total, levels = sum(n_rows_of_value), []
    places = list(range(1, len(n_rows_of_value)))
    for count in counts:
        chosen = set()
        for part in range(1, count):
            if places:
                chosen.add(min(places, key=lambda c: (abs(count * sum(n_rows_of_value[:c]) - part * total), c)))
        places = sorted(chosen)
        levels.append(places)
    return levels
