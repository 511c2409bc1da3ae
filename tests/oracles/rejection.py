# SPDX-License-Identifier: Apache-2.0
"""What someone who replays Mondrian believes, by rejection: values are dealt out at random, and what would not give the release goes.

Written from the definition alone. Groups that a failed cut divides belong together; parts of the table that have nothing to do
with each other are dealt out apart from each other.
"""

import numpy as np


def breaks_frequency(l):
    return lambda counts: counts.max(axis=1) * l > counts.sum(axis=1)


def breaks_distinct(l):
    return lambda counts: (counts > 0).sum(axis=1) < l


def breaks_recursive(c, l):
    def breaks(counts):
        ordered = -np.sort(-counts, axis=1)
        return ordered[:, 0] >= c * ordered[:, l - 1 :].sum(axis=1)

    return breaks


def breaks_entropy(l):
    def breaks(counts):
        shares = counts / counts.sum(axis=1, keepdims=True)
        entropy = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1)
        return entropy < np.log(l) - 1e-9

    return breaks


def accepted_tables(groups, values, n_values, cuts, breaks, rng, *, enough=6000, fewest=1500, most=400_000):
    """For each connected part: its rows, and (table, row) -> values of tables that give the release; nothing where these are rare.

    `groups` are the rows of each released group, `cuts` pairs of rows (left, right) whose cut failed.
    """
    group_of = np.empty(values.size, int)
    for g, rows in enumerate(groups):
        group_of[rows] = g
    together, divided_by = list(range(len(groups))), []
    for left, right in cuts:
        divided = np.intersect1d(group_of[left], group_of[right])
        divided_by.append(divided)
        for g in divided[1:]:
            old, new = together[g], together[divided[0]]
            together = [new if one == old else one for one in together]
    for name in sorted(set(together)):
        inside = [i for i, divided in enumerate(divided_by) if divided.size and together[divided[0]] == name]
        if not inside:
            continue
        members = [g for g in range(len(groups)) if together[g] == name]
        rows = np.concatenate([groups[g] for g in members])
        place = np.full(values.size, -1)
        place[rows] = np.arange(rows.size)
        kept, n_kept, n_tried = [], 0, 0
        while n_kept < enough and n_tried < most:
            n, n_tried = 20_000, n_tried + 20_000
            tables = np.concatenate(
                [values[groups[g]][np.argsort(rng.random((n, groups[g].size)), axis=1)] for g in members], axis=1
            )
            for i in inside:
                failed = np.zeros(len(tables), bool)
                for part in cuts[i]:
                    moving, resting = part[place[part] >= 0], part[place[part] < 0]
                    here = tables[:, place[moving]]
                    counts = np.stack([(here == v).sum(axis=1) for v in range(n_values)], axis=1)
                    failed |= breaks(counts + np.bincount(values[resting], minlength=n_values))
                tables = tables[failed]
            kept.append(tables)
            n_kept += len(tables)
            if n_tried >= 60_000 and n_kept < fewest * n_tried / most:
                break
        if n_kept >= fewest:
            yield rows, np.concatenate(kept)
