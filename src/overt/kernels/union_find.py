# SPDX-License-Identifier: Apache-2.0
"""Groups of rows that are linked, directly or through others: union-find."""

import numpy as np

from overt.kernels.compiler import kernel


@kernel
def root_of(parent, row):
    """The representative of a row's group; the path to it is halved."""
    while parent[row] != row:
        parent[row] = parent[parent[row]]
        row = parent[row]
    return row


@kernel
def link_rows(parent, rows, links):
    """Merge the group of `rows[i]` with those of all `links[i]`; the lesser representative stays."""
    for i in range(rows.size):
        root = root_of(parent, rows[i])
        for j in range(links.shape[1]):
            other = root_of(parent, links[i, j])
            if other < root:
                parent[root] = other
                root = other
            else:
                parent[other] = root


@kernel
def number_groups(parent):
    """group_of_row with groups numbered by their first row, and how many there are."""
    group_of_row = np.empty(parent.size, np.int32)
    n_groups = 0
    for row in range(parent.size):
        root = root_of(parent, row)
        if root == row:
            group_of_row[row] = n_groups
            n_groups += 1
        else:
            group_of_row[row] = group_of_row[root]
    return group_of_row, n_groups


@kernel
def groups_of_links(rows, links, n_rows):
    """group_of_row when `rows[i]` and all `links[i]` must be together, and the number of groups."""
    parent = np.arange(n_rows).astype(np.int32)
    link_rows(parent, rows, links)
    return number_groups(parent)
