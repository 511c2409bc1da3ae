# SPDX-License-Identifier: Apache-2.0
"""What a release at scale cost in single columns: each figure is that of `measure_utility` in memory, of the same groups."""

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import overt
from overt.engine.scale import scaled_utility
from overt.engine.scale.boxes_and_buckets import make_boxes_and_buckets
from overt.engine.scale.buckets_by_plan import make_buckets_by_plan
from overt.engine.scale.fragment_lines import ShownLines
from overt.engine.scale.groups_by_cuts import make_groups_by_cuts
from overt.engine.scale.groups_by_draw import make_batch_matching, make_dealing, make_rda
from overt.engine.scale.groups_by_levels import make_groups_by_levels
from overt.engine.scale.scaled_utility import measure_utility_of_parts
from overt.metrics.granularity import granularity
from overt.metrics.utility import measure_utility
from overt.partition import Partition
from overt.progress import silent
from overt.release import GeneralizedRelease
from overt.table import Role
from scales import LOCAL, METHODS, RECIPE, as_written, collected, engine_named, staged_with_coins, write_people

SUMMED = ("certainty_penalty", "non_uniform_entropy", "precision", "marginal_divergence")
OF_COLUMN = ("certainty_penalty", "non_uniform_entropy", "precision", "divergence")
SEEDS = {"memory": 0, "out-of-core": 1}


def people(seed, *, levels=False):
    """Numbers, also with missing ones, texts, a tree of texts, and a column with one value alone."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(300, 700))
    age = rng.integers(0, 40, n_rows)
    frame = pl.DataFrame(
        {
            "Age": age,
            "Weight": pl.Series(rng.integers(40, 50, n_rows)).set(pl.Series(rng.random(n_rows) < 0.1), None),
            "Ward": rng.choice(["a", "b", "c", "dd"], n_rows, p=[0.7, 0.1, 0.1, 0.1]),
            "Place": rng.choice(["110", "111", "120", "121", "200", "210", "300"], n_rows),
            "Land": ["x"] * n_rows,
            "Ill": rng.choice(["flu", "cold", "gout", "asthma", "mumps"], n_rows),
        }
    )
    trees = {"Place": overt.Prefixes(lengths=(2, 1))}
    if levels:
        trees |= {"Age": overt.Intervals(widths=(5, 10, 20)), "Ward": overt.Prefixes(lengths=(1,))}
    quasi = ["Age", *([] if levels else ["Weight"]), "Ward", "Place", "Land"]
    return overt.read_frame(
        frame, quasi_identifiers=quasi, sensitive=["Ill"], hierarchies=trees, missing="own value", others=[]
    )


@dataclass(frozen=True, eq=False)
class Collect:
    """The codes and the group of every row."""

    find: Any
    made_by: Any

    def __call__(self, fragment, rows):
        release = self.find(fragment, rows, self.made_by)
        codes = {f"q{i}": column.codes for i, column in enumerate(release.table.quasi_identifiers)}
        return pl.DataFrame({**codes, "fragment": fragment, "group": release.partition.group_of_row}, schema=self.like)

    @property
    def like(self):
        return dict.fromkeys((*(f"q{i}" for i in range(5)), "fragment", "group"), pl.Int32)


def in_memory(engine, made, method, table):
    """The same groups as a release of one machine."""
    collect = Collect(made.groups.find, method)
    like = pl.DataFrame(schema=collect.like)
    rows = collected(engine, engine.apply(made.groups.data, made.groups.number, collect, like), like)
    group = rows.select(pl.struct("fragment", "group").rank("dense").cast(pl.Int32) - 1).to_series()
    of_role = iter(range(5))
    columns = tuple(
        replace(column, codes=rows[f"q{next(of_role)}"].to_numpy()) if column.role is Role.QUASI_IDENTIFIER else column
        for column in table.columns
    )
    return GeneralizedRelease(
        replace(table, columns=columns), Partition(group.to_numpy(), int(group.max()) + 1), method
    )


def make(staged, method, rng):
    shows = dict.fromkeys(staged.order, method.shows) if method.shows else {}
    lines = ShownLines(("bucket", *staged.order), staged.quasi_identifiers, staged.sensitive, shows)
    match method.name:
        case "mondrian":
            return make_groups_by_cuts(staged, method, lines, silent)
        case "full-domain":
            return make_groups_by_levels(staged, method, lines, silent)
        case "blind-buckets":
            return make_boxes_and_buckets(staged, method, lines, silent)
    draw = {"anatomy": make_buckets_by_plan, "dealing": make_dealing, "rda": make_rda}
    return draw.get(method.name, make_batch_matching)(staged, method, lines, silent, rng)


def assert_same(found, release):
    known = measure_utility(release)
    assert {n: getattr(found, n) for n in SUMMED} == pytest.approx({n: getattr(known, n) for n in SUMMED}, abs=1e-12)
    assert found.granularity == pytest.approx(granularity(release), abs=1e-12)
    of_known = [column for column in known.columns if column.role is Role.QUASI_IDENTIFIER]
    assert [column.name for column in found.columns] == [column.name for column in of_known]
    for mine, its in zip(found.columns, of_known, strict=True):
        for name in OF_COLUMN:
            assert getattr(mine, name) == pytest.approx(getattr(its, name), abs=1e-12), (mine.name, name)


def measured(engine, method, table, folder, seed):
    coins = np.random.default_rng(seed).integers(0, 2**64, table.n_rows, np.uint64)
    staged = staged_with_coins(engine, table, coins, folder)
    made = make(staged, method, np.random.default_rng(seed))
    assert made.n_fragments > 1
    return measure_utility_of_parts(staged, made, method), made


DIVERSE = overt.FrequencyLDiversity(2)
BY_GROUPS = {
    "mondrian": overt.Mondrian(goal=overt.KAnonymity(4)),
    "diverse": overt.Mondrian(goal=overt.KAnonymity(4) & DIVERSE),
    "boxes": overt.BlindBuckets(goal=DIVERSE, k=6, cuts="strict"),
    "relaxed boxes": overt.BlindBuckets(goal=DIVERSE, k=6),
    "dealing": overt.Dealing(goal=DIVERSE),
    "rda": overt.RDA(goal=DIVERSE),
    "batch-matching": overt.BatchMatching(goal=DIVERSE),
}
BY_LEVELS = {
    "full-domain": overt.FullDomain(goal=overt.KAnonymity(3)),
    "suppressed": overt.FullDomain(goal=overt.KAnonymity(5), max_suppressed="0.1"),
    "suppressed for values": overt.FullDomain(goal=overt.KAnonymity(2) & DIVERSE, max_suppressed="0.2"),
}


@pytest.fixture(params=LOCAL)
def engine(request, tmp_path):
    made = engine_named(request.param, request, tmp_path, 100)
    yield made
    made.close()


@pytest.mark.parametrize("name", BY_GROUPS)
def test_of_groups_every_figure_is_that_of_memory(engine, name, tmp_path):
    seed = SEEDS[engine.name]
    table, method = people(seed), BY_GROUPS[name]
    found, made = measured(engine, method, table, tmp_path, seed)
    release = in_memory(engine, made, method, table)
    (lines, data) = next(iter(made.tables.items()))
    names = [column.name for column in table.quasi_identifiers]
    shown = engine.only(data, names)
    published = collected(engine, shown, pl.DataFrame(schema=dict.fromkeys(names, pl.String)))
    assert lines in ("release", "boxes")
    assert as_written(published).equals(as_written(overt.owner_view(release).select(names)))
    assert 0 < found.certainty_penalty < 1
    assert found.marginal_divergence > 0
    assert_same(found, release)
    if method.name == "mondrian":  # nothing is drawn: the groups are those of one machine
        assert_same(found, method.anonymize(table))


@pytest.mark.parametrize("name", BY_LEVELS)
def test_of_levels_suppressed_rows_lose_everything_as_in_memory(engine, name, tmp_path):
    seed = SEEDS[engine.name]
    table, method = people(seed, levels=True), BY_LEVELS[name]
    found, made = measured(engine, method, table, tmp_path, seed)
    assert (made.n_suppressed > 0) == name.startswith("suppressed")
    assert_same(found, method.anonymize(table))


def test_of_columns_that_are_shown_as_they_are_nothing_is_lost(engine, tmp_path):
    table, method = people(0), overt.Anatomy(goal=DIVERSE)
    found, _ = measured(engine, method, table, tmp_path, 0)
    assert (found.certainty_penalty, found.precision, found.granularity, found.marginal_divergence) == (0, 1, 1, 0)
    assert_same(found, method.anonymize(table, rng=np.random.default_rng(0)))


def test_columns_with_too_many_values_have_no_divergence_and_all_else(engine, tmp_path, monkeypatch):
    table, method = people(0), BY_GROUPS["mondrian"]
    whole, _ = measured(engine, method, table, tmp_path, 0)
    n_age = table.column("Age").n_values
    monkeypatch.setattr(scaled_utility, "MOST_COUNTED", 20 + n_age)  # four sums of five columns, and the values of Age
    found, _ = measured(engine, method, table, tmp_path, 0)
    assert [column.divergence is None for column in found.columns] == [False, True, True, True, True]
    assert found.columns[0] == whole.columns[0]
    assert found.marginal_divergence is None
    assert (found.certainty_penalty, found.granularity) == (whole.certainty_penalty, whole.granularity)
    assert "divergence" in str(whole)
    assert "divergence" not in str(found)


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("name", ["diverse", "relaxed boxes", "batch-matching", "suppressed"])
def test_spark_finds_the_same(name, request, tmp_path):
    engine, method = engine_named("spark", request, tmp_path, 100), {**BY_GROUPS, **BY_LEVELS}[name]
    table = people(0, levels=name in BY_LEVELS)
    try:
        found, made = measured(engine, method, table, tmp_path, 0)
        assert_same(found, method.anonymize(table) if name in BY_LEVELS else in_memory(engine, made, method, table))
    finally:
        engine.close()


def test_the_owner_of_a_run_with_a_report_is_told_and_nobody_else(tmp_path):
    write_people(tmp_path)
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE.format(input="parquet", method=METHODS["mondrian"], output="parquet", more=""))
    without = overt.run(path, engine="out-of-core")
    assert without.content()["utility"] is None
    assert "entropy" not in str(without)
    outcome = overt.run(path, engine="out-of-core", report=True, overwrite=True)
    utility = outcome.content()["utility"]
    assert f"certainty penalty {utility['certainty_penalty']:.3f}" in str(outcome)
    path.write_text(path.read_text().replace("release.", "alone."))
    alone = overt.run(path, audit=False, report=True)
    assert alone.ok
    known = json.loads((tmp_path / "alone.owner-report.json").read_text())["utility"]
    assert {n: utility[n] for n in SUMMED} == pytest.approx({n: known[n] for n in SUMMED}, abs=1e-12)
    for file in (tmp_path / "release.parquet").rglob("*"):
        assert file.is_dir() or b"enalty" not in file.read_bytes()
