# SPDX-License-Identifier: Apache-2.0
"""Which boxes no other class can have a row in: a predicate that holds for one row of its class holds for one row of all."""

from overt.kernels.compiler import kernel


@kernel
def find_lone_boxes(class_of_box, column_of_box, least_of_box, greatest_of_box, low, high, is_lone):
    """is_lone[b]: no other class overlaps the box of its class, narrowed in one column.

    `low` and `high` are (column, class): the ends of what the classes show.
    """
    n_columns, n_classes = low.shape
    for b in range(class_of_box.size):
        own, narrowed = class_of_box[b], column_of_box[b]
        is_lone[b] = True
        for other in range(n_classes):
            if other == own:
                continue
            if high[narrowed, other] < least_of_box[b] or low[narrowed, other] > greatest_of_box[b]:
                continue
            overlaps = True
            for j in range(n_columns):
                if j != narrowed and (high[j, other] < low[j, own] or low[j, other] > high[j, own]):
                    overlaps = False
                    break
            if overlaps:
                is_lone[b] = False
                break
