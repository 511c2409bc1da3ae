# SPDX-License-Identifier: Apache-2.0
import numpy as np
import polars as pl
import pytest

from oracles.downcoding import Cell, always_one, count_between, originals, rows_known
from overt import GeneralizedRelease, Partition, downcode
from overt.adversary.downcoding.published import Published
from overt.adversary.downcoding.tiers import find_alone
from overt.adversary.downcoding.tiers import rows_known as found_known
from overt.hierarchy import Intervals, Nested
from overt.table import Column, Kind, Role, Table

FORMS = ("range", "label", "set", "grid")
NESTED = Nested({"a": ["v0", "v1"], "b": {"c": ["v2"], "d": ["v3", "v4"]}})
PARTS = [{0, 1}, {2}, {3, 4}, {2, 3, 4}, {0, 1, 2, 3, 4}]  # of NESTED, by their leaves
BLOCKS = [{0, 1}, {2, 3}, {4}]  # of Intervals(widths=(2, 4))


def column_of(j, codes, form):
    if form in ("range", "grid"):
        values = pl.Series(range(5))
        tree = Intervals(widths=(2, 4)).build(values, Kind.NUMBER)
        return Column(f"q{j}", Role.QUASI_IDENTIFIER, Kind.NUMBER, codes, values, tree)
    values = pl.Series([f"v{i}" for i in range(5)])
    return Column(f"q{j}", Role.QUASI_IDENTIFIER, Kind.CATEGORY, codes, values, NESTED.build(values, Kind.CATEGORY))


def release_of(codes, forms, groups):
    columns = [
        column_of(j, np.array(one, np.int32), form) for j, (one, form) in enumerate(zip(codes, forms, strict=True))
    ]
    sensitive = Column("s", Role.SENSITIVE, Kind.CATEGORY, np.zeros(len(codes[0]), np.int32), pl.Series(["x"]))
    table = Table((*columns, sensitive), pl.DataFrame())
    return GeneralizedRelease(table, Partition.from_groups(groups), None), {
        c.name: f for c, f in zip(columns, forms, strict=True)
    }


def cell_of(codes, form):
    """What a group with these codes shows."""
    found = frozenset(codes)
    match form:
        case "set":
            return Cell(form, found)
        case "range":
            return Cell(form, frozenset(range(min(found), max(found) + 1)))
        case "grid":
            blocks = [frozenset(b) for b in BLOCKS if max(b) >= min(found) and min(b) <= max(found)]
            return Cell(form, frozenset().union(*blocks), tuple(blocks))
    if len(found) == 1:
        return Cell(form, found)
    node = min((part for part in PARTS if found <= part), key=len)
    below = [part for part in PARTS if part < node and not any(part < other < node for other in PARTS)]
    below += [{leaf} for leaf in node if not any(leaf in part for part in below)]
    return Cell(form, frozenset(node), tuple(frozenset(part) for part in below))


def random_release(rng, n_rows, n_columns):
    forms = rng.choice(FORMS, n_columns).tolist()
    codes = rng.integers(0, 5, (n_columns, n_rows))
    cuts = np.sort(rng.choice(np.arange(2, n_rows - 1), int(rng.integers(0, 2)), replace=False)) if n_rows > 3 else []
    groups = [part.tolist() for part in np.split(np.arange(n_rows), cuts)]
    release, show = release_of(codes, forms, groups)
    return release, show, forms, codes, groups


def oracle_classes(published, codes, groups, forms):
    """What is shown, in the order of the classes."""
    of_class = {}
    for number, rows in zip(published.class_of_group.tolist(), groups, strict=True):
        cells = tuple(cell_of(codes[j][rows].tolist(), form) for j, form in enumerate(forms))
        size, known = of_class.get(number, (0, cells))
        assert known == cells, "groups that show the same are one class, others are not"
        of_class[number] = (size + len(rows), cells)
    return [of_class[number] for number in range(published.n_classes)]


@pytest.mark.parametrize(("n_rows", "n_columns", "n_tables"), [(6, 1, 120), (4, 2, 60)])
def test_bounds_are_those_of_all_originals(n_rows, n_columns, n_tables):
    """T1 of one column is not only sound but the best there is; T0 says nothing but which values are possible."""
    rng = np.random.default_rng(n_columns)
    for _ in range(n_tables):
        release, show, forms, codes, groups = random_release(rng, n_rows, n_columns)
        published = Published.of(release, show)
        classes = oracle_classes(published, codes, groups, forms)
        n_possible = {}
        for tight, bounds in ((False, published.cover()), (True, published.tight())):
            possible = [list(originals([one], tight=tight)) for one in classes]  # classes do not limit each other
            n_possible[tight] = [len(of_class) for of_class in possible]
            for j, of_column in enumerate(bounds):
                for position in range(published.n_classes):
                    for i in range(of_column.first[position], of_column.first[position + 1]):
                        item = frozenset(range(of_column.least[i], of_column.greatest[i] + 1))
                        best = count_between(possible[position], 0, j, item)
                        assert (of_column.lo[i], of_column.hi[i]) == best, (forms, codes, groups, j, position)
            known = found_known(bounds, published.n_rows)
            best_known = [rows_known(of_class, 0) for of_class in possible]
            assert (known <= best_known).all()
        assert all(t1 <= t0 for t0, t1 in zip(n_possible[False], n_possible[True], strict=True))


def test_rows_called_alone_are_alone_in_every_original():
    rng = np.random.default_rng(5)
    n_seen = 0
    for _ in range(150):
        release, show, forms, codes, groups = random_release(rng, 4, 2)
        published = Published.of(release, show)
        bounds = published.tight()
        counts = [np.bincount(one, minlength=5) for one in codes]
        alone = find_alone(published, bounds, counts)
        if not alone.n_in_table:
            continue
        n_seen += 1
        classes = oracle_classes(published, codes, groups, forms)
        possible = list(originals(classes, tight=True))
        lone = 0
        for position, (_, cells) in enumerate(classes):
            by_column = []
            for j in range(2):
                inside = [
                    {*range(bounds[j].least[i], bounds[j].greatest[i] + 1)}
                    for i in range(bounds[j].first[position], bounds[j].first[position + 1])
                ]
                boxes = [[item if i == j else cell.codes for i, cell in enumerate(cells)] for item in inside]
                by_column.append(
                    sum(
                        always_one(possible, box)
                        for item, box in zip(inside, boxes, strict=True)
                        if item < cells[j].codes
                    )
                )
            lone += max(by_column)
        assert alone.n_in_table <= lone
    assert n_seen > 10


def test_what_a_small_table_gives_away():
    """Five people from 20 to 40 and one sex: the ends of the range are certain, for two of the five."""
    release, show = release_of([[0, 2, 2, 3, 4]], ["range"], [[0, 1, 2, 3, 4]])
    found = downcode(release, show=show)
    cover, tight, method = found.tiers
    assert (cover.n_finer, cover.n_exact, cover.n_rows_below) == (0, 0, 0)
    assert (tight.n_finer, tight.n_exact, tight.n_rows_below) == (2, 2, 5)  # two classes of one row, one of three
    assert method.n_finer == 2 and not found.method_used
    assert found.k == 5
    assert cover.guessed == pytest.approx(1.0)  # five rows, a fifth each
    assert tight.guessed == pytest.approx(2 / 5 + 3 * (3 / 3) / 5)  # one of each end, the rest spread over three values


def test_cells_that_do_not_depend_on_rows_say_nothing_more():
    release, show = release_of([[0, 1, 1, 0]], ["grid"], [[0, 1, 2, 3]])
    assert [tier.n_finer for tier in downcode(release, show=show).tiers] == [0, 0, 0]
    release, show = release_of([[0, 1, 3, 4]], ["grid"], [[0, 1, 2, 3]])
    last = downcode(release, show=show).last
    assert (last.n_finer, last.n_exact) == (2, 1)  # one row in each end block; the last block has one value
