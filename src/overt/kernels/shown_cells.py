# SPDX-License-Identifier: Apache-2.0
"""What groups show, against people and against predicates.

Column a of group g shows the codes from `least[a, g]` to `greatest[a, g]` (none if `least` is the greater), missing
too if `or_missing[a, g]`, and of a set of codes only those whose bit is on in `words[first_word[a]:first_word[a + 1], g]`.
"""

import numpy as np

from overt.kernels.compiler import kernel

NOTHING_ASKED, RANGE, OTHER_THAN, ONE_OF = 0, 1, 2, 3  # kinds of predicates
IMPOSSIBLE, POSSIBLE, CERTAIN = 0, 1, 2
NEIGHBOURS = 32  # groups that are passed over together; methods number groups that lie near each other in a row
GROUPS_AT_ONCE, QUERIES_AT_ONCE = 2048, 32  # what stays in the cache while many queries pass over it


@kernel
def bits_of_sets(codes, rows, starts, n_words):
    """(word, group): the codes of each group as bits of 64-bit words."""
    words = np.zeros((n_words, starts.size - 1), np.uint64)
    for g in range(starts.size - 1):
        for i in range(starts[g], starts[g + 1]):
            code = codes[rows[i]]
            words[code >> 6, g] |= np.uint64(1) << np.uint64(code & 63)
    return words


@kernel
def bits_of_ranges(least, greatest, n_words):
    """(word, group): all codes from the least to the greatest as bits."""
    words = np.zeros((n_words, least.size), np.uint64)
    for g in range(least.size):
        for code in range(least[g], greatest[g] + 1):
            words[code >> 6, g] |= np.uint64(1) << np.uint64(code & 63)
    return words


@kernel
def is_shown(person, g, shown):
    """Whether group g shows every code of a person."""
    least, greatest, or_missing, missing, first_word, words = shown
    for a in range(person.size):
        code = person[a]
        if first_word[a + 1] > first_word[a]:
            if not (words[first_word[a] + (code >> 6), g] >> np.uint64(code & 63)) & np.uint64(1):
                return False
        elif code == missing[a]:
            if not or_missing[a, g]:
                return False
        elif code < least[a, g] or code > greatest[a, g]:
            return False
    return True


@kernel
def hulls_of_blocks(shown, size):
    """What blocks of so many neighbouring groups show together, at least: who is not shown by a block is in none of it."""
    least, greatest, or_missing, missing, first_word, words = shown
    n_columns, n_groups = least.shape
    n_blocks = (n_groups + size - 1) // size
    hull_least = np.full((n_columns, n_blocks), np.iinfo(np.int32).max, np.int32)
    hull_greatest = np.full((n_columns, n_blocks), -1, np.int32)
    hull_missing = np.zeros((n_columns, n_blocks), np.bool_)
    hull_words = np.zeros((words.shape[0], n_blocks), np.uint64)
    for g in range(n_groups):
        b = g // size
        for a in range(n_columns):
            hull_least[a, b] = min(hull_least[a, b], least[a, g])
            hull_greatest[a, b] = max(hull_greatest[a, b], greatest[a, g])
            hull_missing[a, b] |= or_missing[a, g]
        for w in range(words.shape[0]):
            hull_words[w, b] |= words[w, g]
    return hull_least, hull_greatest, hull_missing, missing, first_word, hull_words


@kernel
def matching_weights(people, first_row, value_of_row, shown, crossing, values, class_of_bucket, n_classes, n_values):
    """(row, class of bucket size): shared rows times count of the row's value, over matching groups; and all matches.

    Rows lie person by person: person p (a distinct combination of codes) has the rows `first_row[p]:first_row[p + 1]`.
    """
    group_first, bucket_at, n_shared = crossing
    value_first, value, count = values
    n_groups = group_first.size - 1
    hulls = hulls_of_blocks(shown, NEIGHBOURS)
    weights = np.zeros((value_of_row.size, n_classes), np.int64)
    matches = np.zeros(value_of_row.size, np.int64)
    sums = np.zeros((n_values, n_classes), np.int64)
    for p in range(people.shape[0]):
        total, g = 0, 0
        while g < n_groups:
            if g % NEIGHBOURS == 0 and not is_shown(people[p], g // NEIGHBOURS, hulls):
                g += NEIGHBOURS
                continue
            if is_shown(people[p], g, shown):
                for i in range(group_first[g], group_first[g + 1]):
                    b = bucket_at[i]
                    total += n_shared[i]
                    for j in range(value_first[b], value_first[b + 1]):
                        sums[value[j], class_of_bucket[b]] += n_shared[i] * count[j]
            g += 1
        for row in range(first_row[p], first_row[p + 1]):
            matches[row] = total
            weights[row] = sums[value_of_row[row]]
        sums[:] = 0
    return weights, matches


@kernel
def judge_groups(kind, low, high, wanted, a, begin, shown, state):
    """Lower `state` to what one predicate on column a makes of the groups from `begin` on: impossible, possible, certain.

    `low` and `high` are twice a code, odd between two codes. A missing value satisfies no predicate on numbers.
    """
    least, greatest, or_missing, _, first_word, words = shown
    if kind == ONE_OF and first_word[a + 1] - first_word[a] == 1:  # the usual case, in a loop without branches
        line, asked = words[first_word[a], begin : begin + state.size], wanted[0]
        for i in range(state.size):
            verdict = np.int8((line[i] & asked) != 0) + np.int8((line[i] & ~asked) == 0)
            state[i] = min(state[i], verdict)
        return
    if kind == ONE_OF:
        for i in range(state.size):
            some, beyond = np.uint64(0), np.uint64(0)
            for w in range(first_word[a], first_word[a + 1]):
                here, asked = words[w, begin + i], wanted[w - first_word[a]]
                some |= here & asked
                beyond |= here & ~asked
            verdict = np.int8(some != 0) + np.int8(beyond == 0)
            state[i] = min(state[i], verdict)
        return
    lows, highs = least[a, begin : begin + state.size], greatest[a, begin : begin + state.size]
    lacks = or_missing[a, begin : begin + state.size]
    for i in range(state.size):
        lo, hi = 2 * lows[i], 2 * highs[i]
        if kind == RANGE:
            possible = (lo <= high) & (hi >= low) & (lo <= hi)
            certain = (lo >= low) & (hi <= high)
        else:
            possible = ((lo != low) | (hi != low)) & (lo <= hi)
            certain = (low < lo) | (low > hi)
        verdict = np.int8(possible) + np.int8(possible & certain & ~lacks[i])
        state[i] = min(state[i], verdict)


@kernel
def judge_queries(asked, first_query, shown, state):
    """state[g, q]: what the queries from `first_query` on make of every group, as many as `state` has room for."""
    kinds, low, high, wanted = asked
    n_groups, n_columns = state.shape[0], kinds.shape[1]
    block = np.empty(GROUPS_AT_ONCE, np.int8)
    for begin in range(0, n_groups, GROUPS_AT_ONCE):
        end = min(begin + GROUPS_AT_ONCE, n_groups)
        for q in range(min(state.shape[1], kinds.shape[0] - first_query)):
            here = block[: end - begin]
            here[:] = CERTAIN
            for a in range(n_columns):
                if kinds[first_query + q, a] != NOTHING_ASKED:
                    judge_groups(
                        kinds[first_query + q, a], low[first_query + q, a], high[first_query + q, a],
                        wanted[first_query + q, a], a, begin, shown, here,
                    )  # fmt: skip
            for g in range(begin, end):
                state[g, q] = here[g - begin]


@kernel
def sum_bounds(asked, shown, crossing, numbers):
    """(query): least and greatest sum of the numbers of rows that satisfy a query, over all that boxes allow.

    Bucket b holds `n_shared[i]` rows of group `group_at[i]` for i in `bucket_first[b]:bucket_first[b + 1]`, and has
    sums of its least numbers in `prefix[starts[b] + b:]`, from none of them to all.
    """
    bucket_first, group_at, n_shared = crossing
    prefix, starts, n_negative, n_positive = numbers
    n_queries = asked[0].shape[0]
    lower, upper = np.zeros(n_queries, np.int64), np.zeros(n_queries, np.int64)
    state = np.zeros((shown[0].shape[1], QUERIES_AT_ONCE), np.int8)
    certain, possible = np.empty(QUERIES_AT_ONCE, np.int32), np.empty(QUERIES_AT_ONCE, np.int32)
    for first_query in range(0, n_queries, QUERIES_AT_ONCE):
        judge_queries(asked, first_query, shown, state)
        n_here = min(QUERIES_AT_ONCE, n_queries - first_query)
        for b in range(bucket_first.size - 1):
            certain[:] = 0
            possible[:] = 0
            for i in range(bucket_first[b], bucket_first[b + 1]):
                verdicts, n = state[group_at[i]], np.int32(n_shared[i])
                for q in range(QUERIES_AT_ONCE):
                    possible[q] += n * (verdicts[q] > 0)
                    certain[q] += n * (verdicts[q] > 1)
            base, size = starts[b] + b, starts[b + 1] - starts[b]
            for q in range(n_here):
                if possible[q] > 0:
                    n_low = min(max(n_negative[b], certain[q]), possible[q])
                    n_high = min(max(n_positive[b], certain[q]), possible[q])
                    lower[first_query + q] += prefix[base + n_low]
                    upper[first_query + q] += prefix[base + size] - prefix[base + size - n_high]
    return lower, upper


@kernel
def sums_of_rows(asked, codes, missing, number_of_row):
    """(query): the sum of the numbers of the rows that satisfy it."""
    kinds, low, high, wanted = asked
    n_queries, n_columns = kinds.shape
    n_rows = number_of_row.size
    sums = np.zeros(n_queries, np.int64)
    chosen = np.empty(GROUPS_AT_ONCE, np.int64)  # the rows of a block that satisfy the predicates so far
    for begin in range(0, n_rows, GROUPS_AT_ONCE):
        end = min(begin + GROUPS_AT_ONCE, n_rows)
        for q in range(n_queries):
            n_chosen = end - begin
            for i in range(n_chosen):
                chosen[i] = begin + i
            for a in range(n_columns):
                kind, lowest, highest, lost = kinds[q, a], low[q, a], high[q, a], missing[a]
                if kind == NOTHING_ASKED:
                    continue
                here, asked_codes, kept = codes[a], wanted[q, a], 0
                for i in range(n_chosen):
                    row = chosen[i]
                    code = here[row]
                    if kind == ONE_OF:
                        hit = (asked_codes[code >> 6] >> np.uint64(code & 63)) & np.uint64(1) != np.uint64(0)
                    elif kind == RANGE:
                        hit = (2 * code >= lowest) & (2 * code <= highest) & (code != lost)
                    else:
                        hit = (2 * code != lowest) & (code != lost)
                    chosen[kept] = row
                    kept += hit
                n_chosen = kept
            total = 0
            for i in range(n_chosen):
                total += number_of_row[chosen[i]]
            sums[q] += total
    return sums


@kernel
def prefix_sums(numbers, starts):
    """Sums of the first numbers of every bucket, from none to all: size + 1 of them, one bucket after the other."""
    prefix = np.zeros(numbers.size + starts.size - 1, np.int64)
    for b in range(starts.size - 1):
        total = 0
        for i in range(starts[b], starts[b + 1]):
            total += numbers[i]
            prefix[i + b + 1] = total
    return prefix
