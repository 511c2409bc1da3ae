# SPDX-License-Identifier: Apache-2.0
"""Rows through a tree of cuts: where each one ends, and what would go left at cuts that are being considered.

Node v is a leaf if column[v] < 0; else rows with codes[column[v]] < bar[v] go to left[v], the others to right[v].
"""

from overt.kernels.compiler import kernel


@kernel
def route_rows(codes, column, bar, left, right, node_of_row):
    """Move every row from the node it is at down to a leaf."""
    for row in range(node_of_row.size):
        node = node_of_row[row]
        while column[node] >= 0:
            node = left[node] if codes[column[node], row] < bar[node] else right[node]
        node_of_row[row] = node


@kernel
def count_left(codes, node_of_row, first, column, bar, counted, offset, counts):
    """counts[c, offset[m] + codes[counted[m], row]]: the rows that candidate c would send left, by every column that is counted.

    Node v considers the candidates `first[v]:first[v + 1]`.
    """
    for row in range(node_of_row.size):
        node = node_of_row[row]
        for c in range(first[node], first[node + 1]):
            if codes[column[c], row] < bar[c]:
                for m in range(counted.size):
                    counts[c, offset[m] + codes[counted[m], row]] += 1
