# SPDX-License-Identifier: Apache-2.0
"""Trials that were made and failed: which parts of them can change their verdict, and which groups they divide.

Trial t has the parts from first_part[t] to first_part[t + 1]; part p has rows `starts[p]` to `starts[p + 1]` of a list.
"""

from math import log

import numpy as np

from overt.kernels.compiler import kernel
from overt.kernels.places_missing import CAP, COUNTS, goes_beyond, lack_of, sum_up

OPEN, ALWAYS, NEVER = 0, 1, 2


@kernel
def judge_parts(groups_of_rows, starts, in_group, size_of_group, is_free, cap, rules):
    """verdict[part]: whether it is broken however values lie inside the groups, never, or either (as far as bounds tell).

    in_group[g, v] is how often group g has value v; a group that is free can have any values.
    """
    n_groups, n_values = in_group.shape
    verdict = np.zeros(starts.size - 1, np.int8)
    n_here, touched = np.zeros(n_groups, np.int64), np.empty(n_groups, np.int64)
    tally = np.zeros((1, COUNTS + n_values), np.int32)
    beyond = goes_beyond(rules)
    for part in range(verdict.size):
        n_touched = 0
        for i in range(starts[part], starts[part + 1]):
            g = groups_of_rows[i]
            if n_here[g] == 0:
                touched[n_touched] = g
                n_touched += 1
            n_here[g] += 1
        n_possible, n_sure, room, highest = 0, 0, starts[part] - starts[part + 1], 0
        is_broken, is_fixed = False, True
        for g in touched[:n_touched]:
            is_fixed &= n_here[g] == size_of_group[g] and not is_free[g]
        for v in range(n_values):
            fewest, most = 0, 0
            for g in touched[:n_touched]:
                if is_free[g]:
                    most += n_here[g]
                else:
                    fewest += max(0, n_here[g] + in_group[g, v] - size_of_group[g])
                    most += min(n_here[g], in_group[g, v])
            is_broken |= fewest > cap[part]
            n_possible += most > 0
            n_sure += fewest > 0
            highest = max(highest, most)
            room += min(most, cap[part])
            tally[0, COUNTS + v] = fewest
        if is_fixed:
            tally[0, CAP] = cap[part]
            sum_up(tally, 0)
            verdict[part] = NEVER if lack_of(tally, 0, rules) > 0 else ALWAYS
        elif is_broken or n_possible < rules.least or room < 0:
            verdict[part] = ALWAYS
        elif highest <= cap[part] and max(1, n_sure) >= rules.least and not beyond:
            verdict[part] = NEVER
        for g in touched[:n_touched]:
            n_here[g] = 0
    return verdict


@kernel
def bound_chances(groups_of_rows, starts, top_share, cap, rules):
    """log_chance[part]: an upper bound on the chance that it is broken if values lie at random inside the groups.

    A part that is broken has a share s of its n rows, or more, with some m values (one, if a value has too many; least - 1,
    if too few values occur; l - 1 with s = c / (c + 1) by recursive diversity). `top_share[g, m]` is the share of the m most
    frequent values of group g. With p its mean over the rows of the part, the chance for one choice of m values is
    at most exp(-n KL(s, p)): W. Hoeffding, "Probability Inequalities for Sums of Bounded Random Variables", 1963.
    """
    n_values = top_share.shape[1] - 1
    log_chance = np.full(starts.size - 1, -np.inf)
    for part in range(log_chance.size):
        n = starts[part + 1] - starts[part]
        for rule in range(2 + rules.recursive.shape[0]):
            m, share = 1, (cap[part] + 1) / n
            if rule == 1:
                m, share = min(rules.least - 1, n_values), 1.0
            elif rule > 1:
                numerator, denominator, l = rules.recursive[rule - 2]
                m, share = min(l - 1, n_values), numerator / (numerator + denominator)
            if m < 1 or share > 1:
                continue
            p = 0.0
            for i in range(starts[part], starts[part + 1]):
                p += top_share[groups_of_rows[i], m]
            p /= n
            bound = 0.0
            if p < share:
                bound = -n * share * log(share / p)
                if share < 1:
                    bound -= n * (1 - share) * log((1 - share) / (1 - p))
                for i in range(m):  # how many choices of values there are
                    bound += log((n_values - i) / (i + 1))
            log_chance[part] = max(log_chance[part], min(0.0, bound))
        if rules.entropy.size + rules.viewed.rule.size:
            log_chance[part] = 0.0
    return log_chance


@kernel
def find_divided(groups_of_rows, first_part, starts, size_of_group, is_free):
    """For each pair of a trial and a group that it divides: the trial, the group, and whether it takes the whole group.

    A group is divided if its rows are not all in the same part, or not all in none. If it is free, what a part holds of
    it changes even if that is all of it.
    """
    n_groups = size_of_group.size
    trials, groups, wholly = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)], [True for _ in range(0)]
    n_here, part_here = np.zeros(n_groups, np.int64), np.full(n_groups, -1, np.int64)
    several, touched = np.zeros(n_groups, np.bool_), np.empty(n_groups, np.int64)
    for trial in range(first_part.size - 1):
        n_touched = 0
        for part in range(first_part[trial], first_part[trial + 1]):
            for i in range(starts[part], starts[part + 1]):
                g = groups_of_rows[i]
                if n_here[g] == 0:
                    touched[n_touched] = g
                    n_touched += 1
                    part_here[g] = part
                several[g] |= part_here[g] != part
                n_here[g] += 1
        for g in touched[:n_touched]:
            if several[g] or n_here[g] < size_of_group[g] or is_free[g]:
                trials.append(np.int64(trial))
                groups.append(g)
                wholly.append(n_here[g] == size_of_group[g] and not is_free[g])
            n_here[g], several[g] = 0, False
    return np.array(trials, np.int64), np.array(groups, np.int64), np.array(wholly, np.bool_)


@kernel
def join_groups(trials, groups, n_trials, n_groups):
    """component_of_group, numbered in the order of their first groups: groups that a trial divides are together."""
    parent, of_trial = np.arange(n_groups), np.full(n_trials, -1, np.int64)
    for i in range(trials.size):
        g, t = groups[i], trials[i]
        if of_trial[t] < 0:
            of_trial[t] = g
        a, b = g, of_trial[t]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        parent[max(a, b)] = min(a, b)
    component, n_components = np.empty(n_groups, np.int64), 0
    for g in range(n_groups):
        root = g
        while parent[root] != root:
            root = parent[root]
        if root == g:
            component[g] = n_components
            n_components += 1
        else:
            component[g] = component[root]
    return component


@kernel
def fill_parts(
    places, starts, first_part, group_of_place, first_place, first_in_trials, trials, first_in_parts, part_of
):
    """Fill `part_of` (see `swapping.Layout`); `places[i]` is where the i-th row of the parts lies, -1 if nowhere.

    Trials of a group ascend, so that a place finds a trial by the number of those before it.
    """
    for trial in range(first_part.size - 1):
        for part in range(first_part[trial], first_part[trial + 1]):
            for i in range(starts[part], starts[part + 1]):
                place = places[i]
                if place < 0:
                    continue
                g = group_of_place[place]
                begin, end = first_in_trials[g], first_in_trials[g + 1]
                at = begin + np.searchsorted(trials[begin:end], trial)
                if at < end and trials[at] == trial:
                    part_of[first_in_parts[g] + (place - first_place[g]) * (end - begin) + at - begin] = part


@kernel
def name_places(group_of_place, first_place, first_in_trials, first_in_parts, part_of, fact_of_place):
    """(place, 2): two numbers that places of a group have in common if they are in the same parts of all trials."""
    names = np.empty((group_of_place.size, 2), np.uint64)
    for place in range(group_of_place.size):
        g = group_of_place[place]
        n = first_in_trials[g + 1] - first_in_trials[g]
        at = first_in_parts[g] + (place - first_place[g]) * n
        one, other = np.uint64(fact_of_place[place] + 1), np.uint64(fact_of_place[place] + 7)
        for i in range(at, at + n):
            part = np.uint64(part_of[i] + 2)
            one = (one ^ part) * np.uint64(0x9E3779B97F4A7C15)
            one ^= one >> np.uint64(29)
            other = (other + part) * np.uint64(0xC2B2AE3D27D4EB4F)
            other ^= other >> np.uint64(31)
        names[place, 0], names[place, 1] = one, other
    return names


@kernel
def weigh_broken(values, rows, first_part, starts, cap, rules, weight, n_values):
    """(table, trial, 3): how many parts are broken in each of some tables, and their weights; `values` is (table, row)."""
    n_tables, n_trials = values.shape[0], first_part.size - 1
    amount = np.zeros((n_tables, n_trials, 3), np.int64)
    tally = np.zeros((1, COUNTS + n_values), np.int32)
    for trial in range(n_trials):
        for part in range(first_part[trial], first_part[trial + 1]):
            tally[0, CAP] = cap[part]
            for table in range(n_tables):
                tally[0, COUNTS:] = 0
                for i in range(starts[part], starts[part + 1]):
                    tally[0, COUNTS + values[table, rows[i]]] += 1
                sum_up(tally, 0)
                if lack_of(tally, 0, rules) == 0:
                    amount[table, trial, 0] += 1
                    amount[table, trial, 1] += weight[part, 0]
                    amount[table, trial, 2] += weight[part, 1]
    return amount
