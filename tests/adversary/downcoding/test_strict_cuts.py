# SPDX-License-Identifier: Apache-2.0
from collections import Counter
from itertools import islice

import numpy as np
import pytest

from oracles.downcoding import Cell, count_between, made_by, originals
from oracles.mondrian import mondrian
from overt import KAnonymity, Mondrian
from overt.adversary.downcoding.published import Published
from overt.adversary.downcoding.strict_cuts import can_follow, follow_cuts
from overt.table import Kind
from tables import table_of

MOST_TABLES = 4_000


def shown_by(rows, groups, forms):
    """What a release shows: how many rows with which cells."""
    return Counter({cells_of([rows[row] for row in group], forms): len(group) for group in groups})


def cells_of(rows, forms):
    cells = []
    for form, column in zip(forms, zip(*rows, strict=True), strict=True):
        covered = set(column) if form == "set" else set(range(min(column), max(column) + 1))
        cells.append(Cell(form, frozenset(covered)))
    return tuple(cells)


def compare(rng, n_rows, n_codes, k):
    """A random table: whether T2 agrees with all originals, and how many values it adds to T1; None if there are too many."""
    codes = [rng.integers(0, n, n_rows) for n in n_codes]
    if rng.random() < 0.7:  # ties, as real data have them
        codes = [np.minimum(one, rng.integers(0, n, n_rows)) for one, n in zip(codes, n_codes, strict=True)]
    forms = rng.choice(["range", "set"], len(n_codes)).tolist()
    kinds = [Kind.NUMBER if form == "range" else Kind.CATEGORY for form in forms]
    table = table_of(codes, [0] * n_rows, n_codes=n_codes, kinds=kinds)
    method = Mondrian(goal=KAnonymity(k))
    release = method.anonymize(table)

    def run(rows):
        is_range = [form == "range" for form in forms]
        groups = mondrian(rows, n_codes, lambda _: True, relaxed=False, choose="widest", unit=k, is_range=is_range)
        return shown_by(rows, groups, forms)

    rows = list(zip(*(one.tolist() for one in codes), strict=True))
    published = Published.of(release)
    members = [np.flatnonzero(release.partition.group_of_row == g) for g in range(release.n_groups)]
    classes = [(0, ())] * published.n_classes
    for number, group in zip(published.class_of_group.tolist(), members, strict=True):
        classes[number] = (len(group), cells_of([rows[row] for row in group], forms))
    candidates = list(islice(originals(classes, tight=True), MOST_TABLES + 1))
    if len(candidates) > MOST_TABLES:
        return None
    possible = list(made_by(iter(candidates), run, run(rows)))
    assert possible, "the original itself is among them"
    assert can_follow(published)
    bounds, n_certain, n_best = follow_cuts(published, method.strict_cuts), 0, 0
    for j, of_column in enumerate(bounds):
        for position in range(published.n_classes):
            for i in range(of_column.first[position], of_column.first[position + 1]):
                least, most = count_between(possible, position, j, frozenset([int(of_column.least[i])]))
                assert of_column.lo[i] <= least and most <= of_column.hi[i], (rows, n_codes, k, forms)
                n_certain, n_best = n_certain + int(of_column.lo[i]), n_best + least
    n_tight = sum(int((b.lo * b.is_value).sum()) for b in published.tight())
    assert n_tight <= n_certain <= n_best
    return n_certain - n_tight, n_best - n_tight


@pytest.mark.parametrize(
    ("n_rows", "n_codes", "k"), [(7, [4], 2), (8, [5], 3), (10, [4], 3), (5, [3, 2], 2), (6, [2, 2], 2)]
)
def test_what_is_certain_with_the_method_is_true_of_every_original(n_rows, n_codes, k):
    rng = np.random.default_rng(n_rows)
    found = [compare(rng, n_rows, n_codes, k) for _ in range(40)]
    seen = [one for one in found if one is not None]
    assert len(seen) >= 20
    if len(n_codes) == 1:
        assert sum(added for added, _ in seen) > 0, "the method says something beyond tight cells"


def test_a_column_that_was_surely_wider_and_failed_has_one_value_for_nearly_all():
    """Sex was tried first (its share is larger) and could not be cut: only one row has the second value."""
    table = table_of([[0, 0, 0, 0, 0, 1], [0, 0, 0, 2, 2, 2]], [0] * 6, n_codes=[2, 3])
    method = Mondrian(goal=KAnonymity(2))
    published = Published.of(method.anonymize(table))
    tight, followed = published.tight()[0], follow_cuts(published, method.strict_cuts)[0]
    assert int((tight.lo * tight.is_value).sum()) == 3 + 2  # the group without the second value is shown exactly
    assert int((followed.lo * followed.is_value).sum()) == 3 + 3


def test_other_cuts_are_not_followed():
    assert Mondrian(goal=KAnonymity(2), relaxed=True).strict_cuts is None
    assert Mondrian(goal=KAnonymity(2), choose="gain").strict_cuts is None
