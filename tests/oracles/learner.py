"""What a learner believes, by full enumeration from the definition; shares no code with src."""

from itertools import permutations, product

import numpy as np


def chances_in_group(lean, values):
    """(row, value) -> chance, over all orders in which a group's values can be handed to its rows.

    lean[i][v] is how much row i leans to value v.
    """
    n_rows, n_values = len(lean), len(lean[0])
    weight_of = np.zeros((n_rows, n_values))
    for order in permutations(values):
        weight = np.prod([lean[i][v] for i, v in enumerate(order)])
        for i, v in enumerate(order):
            weight_of[i, v] += weight
    return weight_of / weight_of.sum(axis=1, keepdims=True)


def chances_in_crossed(lean, group_of_row, bucket_of_row, values):
    """(person, value) -> chance, over everybody's place among the rows of their group, and every row's value in its bucket."""
    n = len(group_of_row)
    weight_of = np.zeros((n, len(lean[0])))
    for row_of_person in orders_within(group_of_row, range(n)):
        for value_of_row in orders_within(bucket_of_row, values):
            held = [value_of_row[row_of_person[i]] for i in range(n)]
            weight = np.prod([lean[i][v] for i, v in enumerate(held)])
            for i, v in enumerate(held):
                weight_of[i, v] += weight
    return weight_of / weight_of.sum(axis=1, keepdims=True)


def orders_within(part_of_place, content):
    """All ways to reorder a content within the parts that places belong to."""
    parts = [[i for i, p in enumerate(part_of_place) if p == part] for part in sorted(set(part_of_place))]
    content = list(content)
    for orders in product(*(permutations([content[i] for i in part]) for part in parts)):
        filled = [None] * len(content)
        for part, order in zip(parts, orders, strict=True):
            for place, item in zip(part, order, strict=True):
                filled[place] = item
        yield filled
