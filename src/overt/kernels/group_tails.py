# SPDX-License-Identifier: Apache-2.0
"""Groups split in two: how likely a part fails by chance, and what that says about its rows when one is known to have failed.

A group of n rows has a values table (value) -> count; `first` of its rows are in one part, the others in the other. All ways
to choose them are equally likely. A part fails when a value occurs in it more often than the part's cap.
"""

import numpy as np

from overt.kernels.compiler import kernel

GOOD, BAD, UNCLEAR = 0, 1, 2
NEGLIGIBLE = 1e-24  # a chance so small that it changes nothing that is compared
NOTHING = 1e-60  # weights below are left out: all of them together are far below NEGLIGIBLE


@kernel
def surely_passes(count, n_rows, size, cap):
    """Whether a value exceeds the cap of a part with a negligible chance only (Hoeffding's bound, which holds here too)."""
    over = cap + 1 - size * count / n_rows
    return min(count, size) <= cap or (over > 0 and np.exp(-2.0 * over * over / size) < NEGLIGIBLE)


@kernel
def add_product(into, weights, first_x, last_x, source):
    """into[j + x] += weights[x] source[j], for x from the first to the last that has a weight."""
    for j in range(source.size):
        if source[j] > NOTHING:
            for x in range(first_x, min(last_x + 1, into.size - j)):
                into[j + x] += weights[x] * source[j]


@kernel
def examine_split(counts, n_rows, first, caps, log_factorial):
    """The chance that a part fails, and per value the mean rows in the first part, over tables that fail and that pass.

    Returns (chance to fail, chance to pass, values at risk, mean rows with each of them in the first part, if failed, if
    passed). Only values that can exceed a cap are looked at; the others can be above no bound in any table.
    """
    n_values = counts.size
    at_risk = np.zeros(n_values, np.int64)
    n_risk, quiet = 0, True
    sizes = (first, n_rows - first)
    for v in range(n_values):
        if min(counts[v], sizes[0]) > caps[0] or min(counts[v], sizes[1]) > caps[1]:
            at_risk[n_risk] = v
            n_risk += 1
            for part in range(2):
                quiet = quiet and surely_passes(counts[v], n_rows, sizes[part], caps[part])
    at_risk = at_risk[:n_risk]
    if quiet:
        return 0.0, 1.0, at_risk, np.zeros(n_risk), np.zeros(n_risk)
    # every count is weighted by a binomial, which leaves ratios as they are and keeps numbers near 1
    log_in, log_out = np.log(first / n_rows), np.log((n_rows - first) / n_rows)
    passing = np.zeros(
        (n_risk, first + 1)
    )  # (value at risk, rows in the first part) -> weight, if both parts are within caps
    failing = np.zeros((n_risk, first + 1))
    first_x, last_x = np.full(n_risk, first + 1), np.full(n_risk, -1)
    rest = n_rows
    for i in range(n_risk):
        count = counts[at_risk[i]]
        rest -= count
        for x in range(min(count, first) + 1):
            if count - x > sizes[1]:
                continue
            weight = np.exp(
                log_factorial[count] - log_factorial[x] - log_factorial[count - x] + x * log_in + (count - x) * log_out
            )
            if weight < NOTHING:
                continue
            first_x[i], last_x[i] = min(first_x[i], x), x
            if x <= caps[0] and count - x <= caps[1]:
                passing[i, x] = weight
            else:
                failing[i, x] = weight
    # after[i, j]: j rows of the first part are taken by values from i on and the rest; some of them failed, or none
    after_passed = np.zeros((n_risk + 1, first + 1))
    after_failed = np.zeros((n_risk + 1, first + 1))
    for j in range(min(rest, first) + 1):
        after_passed[n_risk, j] = np.exp(
            log_factorial[rest] - log_factorial[j] - log_factorial[rest - j] + j * log_in + (rest - j) * log_out
        )
    for i in range(n_risk - 1, -1, -1):
        add_product(after_passed[i], passing[i], first_x[i], last_x[i], after_passed[i + 1])
        add_product(after_failed[i], passing[i], first_x[i], last_x[i], after_failed[i + 1])
        add_product(after_failed[i], failing[i], first_x[i], last_x[i], after_passed[i + 1])
        add_product(after_failed[i], failing[i], first_x[i], last_x[i], after_failed[i + 1])
    passed, failed = after_passed[0, first], after_failed[0, first]
    rows_failed, rows_passed = np.zeros(n_risk), np.zeros(n_risk)
    before_passed, before_failed = np.zeros(first + 1), np.zeros(first + 1)
    before_passed[0] = 1.0
    for i in range(n_risk):
        for j in range(first + 1):
            if before_passed[j] + before_failed[j] < NOTHING:
                continue
            for x in range(max(first_x[i], 1), min(last_x[i], first - j) + 1):
                left = first - j - x
                p, f = passing[i, x], failing[i, x]
                if p + f > 0:
                    any_after = after_passed[i + 1, left] + after_failed[i + 1, left]
                    rows_passed[i] += x * before_passed[j] * p * after_passed[i + 1, left]
                    rows_failed[i] += x * (
                        before_passed[j] * (p * after_failed[i + 1, left] + f * any_after)
                        + before_failed[j] * (p + f) * any_after
                    )
        next_passed, next_failed = np.zeros(first + 1), np.zeros(first + 1)
        add_product(next_passed, passing[i], first_x[i], last_x[i], before_passed)
        add_product(next_failed, passing[i], first_x[i], last_x[i], before_failed)
        add_product(next_failed, failing[i], first_x[i], last_x[i], before_passed)
        add_product(next_failed, failing[i], first_x[i], last_x[i], before_failed)
        before_passed, before_failed = next_passed, next_failed
    if failed > 0:
        rows_failed /= failed
    if passed > 0:
        rows_passed /= passed
    return failed / (passed + failed), passed / (passed + failed), at_risk, rows_failed, rows_passed


@kernel
def judge_if_failed(histograms, first_of_group, caps, numerator, denominator, log_factorial, unclear):
    """Whether nobody's value is more likely than numerator / denominator, known that some part of some group fails.

    histograms[g, v] are the groups, all within the bound; first_of_group[g] the rows of the first part (all: not split),
    caps[g] those of the parts. Returns GOOD, BAD, or UNCLEAR if a ratio comes nearer to the bound than floats can tell.
    """
    n_groups, n_values = histograms.shape
    chance = np.zeros(n_groups)
    log_pass, always = 0.0, False
    n_rows_of = histograms.sum(axis=1)
    shift = np.zeros((n_groups, n_values))  # (group, value) -> rows in the first part, if failed minus if passed
    for g in range(n_groups):
        first, n_rows = first_of_group[g], n_rows_of[g]
        if first == n_rows:
            continue
        chance[g], passes, values, rows_failed, rows_passed = examine_split(
            histograms[g], n_rows, first, caps[g], log_factorial
        )
        always = always or passes == 0
        if not always:
            log_pass += np.log1p(-chance[g]) if chance[g] < 0.5 else np.log(passes)
        for i in range(values.size):
            shift[g, values[i]] = rows_failed[i] - rows_passed[i]
    if always:
        return GOOD  # a group that fails on every table: that one fails says nothing
    some_failed = -np.expm1(log_pass)
    if 2 * n_groups * n_values * NEGLIGIBLE > unclear * some_failed:
        return UNCLEAR  # failing is so rare that what was left out may matter
    bound, verdict = numerator / denominator, GOOD
    for g in range(n_groups):
        # f + beta u (f'' - f') / (1 - beta): nothing nearly equal is subtracted
        weight = np.exp(log_pass) * chance[g] / some_failed
        for v in range(n_values):
            # On the bound, both parts pass only if each has exactly its share of the value: then passing says nothing
            # about it, nor does failing. Where no group of the value can fail, the ratio is that of the group.
            if shift[g, v] == 0 or histograms[g, v] * denominator == n_rows_of[g] * numerator:
                continue
            for part in range(2):
                size = first_of_group[g] if part == 0 else n_rows_of[g] - first_of_group[g]
                by = (shift[g, v] if part == 0 else -shift[g, v]) / size
                over = histograms[g, v] / n_rows_of[g] + weight * by - bound
                if over > unclear:
                    return BAD
                if over > -unclear:
                    verdict = UNCLEAR
    return verdict
