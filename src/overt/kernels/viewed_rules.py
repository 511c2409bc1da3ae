# SPDX-License-Identifier: Apache-2.0
"""How far a part is from breaking a goal that looks at its values in another way: as one column of several, or beside the whole table.

A view says which code a value shows: of tuples of several columns, the value of one. A rule is about the counts of the codes of
a view, and its lack is 0 if and only if they break it; otherwise it is the more the farther they are from it.
"""

from typing import Any, NamedTuple

import numpy as np

from overt.kernels.compiler import kernel

TIE = 1e-9  # of an entropy: no two that differ are so close
NEVER = 1 << 30
RANGE, DISTINCT, RECURSIVE, ENTROPY, TREE, ORDER = 0, 1, 2, 3, 4, 5


class Viewed(NamedTuple):
    """Rules about views; (rule, 6) -> view, what it asks, and four numbers for that.

    RANGE: where its codes begin in `most` and `fewest`. DISTINCT: how many codes must occur. RECURSIVE: numerator, denominator, l.
    ENTROPY: which of the logarithms. TREE and ORDER: its first level, how many levels, and numerator and denominator of t.
    """

    rule: Any
    code: Any  # (view, value) -> its code
    n_codes: Any  # (view)
    row_of_size: Any  # (size of a part) -> row of `most` and `fewest`
    most: Any  # (row, code of a rule) -> with more places a part is broken
    fewest: Any  # with fewer it is broken too
    entropy: Any  # logarithms of l
    node: Any  # (level, code) -> its node there; of ORDER its rank
    total: Any  # (level, node) -> rows of the whole table; of ORDER those up to the rank
    n_rows: int  # of the whole table


@kernel
def lack_of_views(count_of_value, size, viewed, times_log):
    """The least lack of all rules, of a part with so many places of each value."""
    lack, view = np.int64(NEVER), np.int64(-1)
    counts = np.zeros(viewed.n_codes.max(), np.int64)
    for r in range(viewed.rule.shape[0]):
        rule = viewed.rule[r]
        if rule[0] != view:  # rules of one view come together
            view = rule[0]
            counts[: viewed.n_codes[view]] = 0
            for v in range(count_of_value.size):
                if count_of_value[v]:
                    counts[viewed.code[view, v]] += count_of_value[v]
        of_code = counts[: viewed.n_codes[view]]
        if rule[1] == RANGE:
            found = lack_of_range(of_code, viewed.row_of_size[size], rule[2], viewed.most, viewed.fewest)
        elif rule[1] == TREE:
            found = lack_of_tree(of_code, size, rule, viewed)
        elif rule[1] == ORDER:
            found = lack_of_order(of_code, size, rule, viewed)
        elif rule[1] == ENTROPY:
            found = np.int64(lack_of_entropy(np.sort(of_code), size, viewed.entropy[rule[2]], times_log))
        elif rule[1] == DISTINCT:
            found = max(0, size - np.sort(of_code)[max(0, of_code.size - rule[2] + 1) :].sum())
        else:
            ordered = np.sort(of_code)[::-1]
            spare = rule[2] * ordered[rule[4] - 1 :].sum() - rule[3] * ordered[0]
            found = max(0, -(-spare // (rule[2] + rule[3])))
        lack = min(lack, found)
        if lack == 0:
            break
    return lack


@kernel
def lack_of_range(counts, row, begin, most, fewest):
    """How many places must take, or give up, one code until there are too many or too few of it."""
    lack = np.int64(NEVER)
    for code in range(counts.size):
        lack = min(lack, most[row, begin + code] + 1 - counts[code], counts[code] + 1 - fewest[row, begin + code])
    return max(0, lack)


@kernel
def lack_of_tree(counts, size, rule, viewed):
    """By how many places, each of which moves a share from one branch to another, the work stays within t of the whole table."""
    work, n_rows = np.int64(0), np.int64(viewed.n_rows)
    of_node = np.zeros(viewed.total.shape[1], np.int64)
    for level in range(rule[2], rule[2] + rule[3]):
        of_node[:] = 0
        for code in range(counts.size):
            of_node[viewed.node[level, code]] += counts[code]
        for node in range(of_node.size):
            work += max(0, of_node[node] * n_rows - viewed.total[level, node] * size)
    spare = rule[4] * size * n_rows * rule[3] - rule[5] * work
    return np.int64(0) if spare < 0 else 1 + spare // (rule[5] * n_rows)


@kernel
def lack_of_order(counts, size, rule, viewed):
    """The same where moving a share from one rank to the next costs as much everywhere."""
    work, n_rows, level, n_ranks = np.int64(0), np.int64(viewed.n_rows), rule[2], rule[3]
    of_rank = np.zeros(n_ranks, np.int64)
    for code in range(counts.size):
        if viewed.node[level, code] >= 0:
            of_rank[viewed.node[level, code]] += counts[code]
    here = np.int64(0)
    for rank in range(n_ranks - 1):
        here += of_rank[rank]
        work += abs(here * n_rows - viewed.total[level, rank] * size)
    spare = rule[4] * size * n_rows * (n_ranks - 1) - rule[5] * work
    return np.int64(0) if spare < 0 else 1 + spare // (rule[5] * n_rows)


@kernel
def lack_of_entropy(counts, size, log_l, times_log):
    """How many places of the rarest values must take the most frequent one until the entropy is below log(l).

    `counts` ascend.
    """
    top = counts[counts.size - 1]
    total = 0.0
    for n in counts:
        total += times_log[n]
    low, high = np.int64(-1), size - top + 1  # broken after `high`, but not after `low`
    step, moved = np.int64(1), np.int64(0)
    while high - low > 1:
        changed, left, i = total + times_log[top + moved] - times_log[top], moved, 0
        while left > 0:
            gone = min(left, np.int64(counts[i]))
            changed += times_log[counts[i] - gone] - times_log[counts[i]]
            left -= gone
            i += 1
        if (times_log[size] - changed) / size - log_l < -TIE:
            high = moved
        else:
            low = moved
        if high > size - top:  # not found yet: go farther and farther
            moved = min(low + step, size - top)
            step *= 2
        else:
            moved = (low + high) // 2
    return high if high <= size - top else np.int64(NEVER)
