# SPDX-License-Identifier: Apache-2.0
"""What an engine makes is what one machine makes of the same coins: the same groups, boxes and buckets.

Tests of cut_tree, groups_by_cuts, boxes_and_buckets, rank_intervals, groups_by_draw, lines, strata, seam and made.
"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import overt
from overt.algorithms.batches import BatchPlan
from overt.algorithms.blind_buckets.boxes import cut_into_boxes
from overt.algorithms.blind_buckets.strata import ByColumns
from overt.algorithms.counted_strata import CountedStrata
from overt.engine.scale.boxes_and_buckets import bits_of_parts, deal_at_scale, make_boxes_and_buckets
from overt.engine.scale.buckets_by_plan import exact_like, make_buckets_by_plan
from overt.engine.scale.cut_tree import CutRule, grow_cut_tree
from overt.engine.scale.fragment_lines import ShownLines
from overt.engine.scale.groups_by_cuts import CutFragment, NumberGroups, like_of, make_groups_by_cuts
from overt.engine.scale.groups_by_draw import divide_plan, make_batch_matching, make_dealing, make_rda
from overt.engine.scale.groups_by_levels import PackedKeys, count_combinations, make_groups_by_levels
from overt.engine.scale.local import LocalEngine
from overt.engine.scale.row_strata import divide_into_strata
from overt.engine.scale.seam import require_countable
from overt.errors import TooLarge
from overt.io.publication import published_tables
from overt.kernels.counting import starts_of
from overt.metrics.equal_rows import rows_alike
from overt.partition import Groups, Partition
from overt.progress import silent
from overt.release import CrossBucketRelease, GeneralizedRelease
from scales import LOCAL, Keep, as_written, box_coins, collected, engine_named, staged_with_coins

N = 4_000


def people(n_rows=N, *, sensitive=("Occupation",), seed=0):
    frame = overt.samples.census(n_rows, seed=seed)
    hierarchies = overt.samples.census_hierarchies()
    quasi = ["Age", "Gender", "Education", "Birthplace"]
    named = {name: hierarchies[name] for name in quasi if name in hierarchies}
    return overt.read_frame(frame, quasi_identifiers=quasi, sensitive=list(sensitive), hierarchies=named)


def coins_for(table, seed=1):
    return np.random.default_rng(seed).integers(0, 2**64, table.n_rows, np.uint64)


class OrderOfCoins:
    """Draws as the one machine asks for them, in the order of coins that are known."""

    def __init__(self, coins):
        self.coins = coins

    def permutation(self, asked):
        rows = np.arange(asked) if isinstance(asked, int) else asked
        return rows[np.argsort(self.coins[rows], kind="stable")]


def lines_for(staged, method=None):
    shows = {} if method is None or not method.shows else dict.fromkeys(staged.order, method.shows)
    return ShownLines(("bucket", *staged.order), staged.quasi_identifiers, staged.sensitive, shows)


@pytest.fixture(params=LOCAL)
def engine(request, tmp_path):
    made = engine_named(request.param, request, tmp_path)
    yield made
    made.close()


GOALS = {
    "k-anonymity": overt.KAnonymity(5),
    "l-diversity": overt.FrequencyLDiversity(3),
    "t-closeness": overt.TCloseness("0.4"),
    "beta-likeness": overt.EnhancedBetaLikeness("2"),
    "both": overt.KAnonymity(4) & overt.EntropyLDiversity(3),
}


@pytest.mark.parametrize("goal", GOALS.values(), ids=GOALS)
def test_mondrian_makes_the_identical_partition_with_the_same_numbers(engine, goal, tmp_path):
    table = people()
    method = overt.Mondrian(goal=goal)
    staged = staged_with_coins(engine, table, coins_for(table), tmp_path)
    looks = goal if goal.looks_at_values else None
    rule = CutRule(goal.least_rows, "widest", looks)
    tree = grow_cut_tree(engine, staged.data, staged.quasi_identifiers, staged.sensitive, rule)
    cut = CutFragment(staged.quasi_identifiers, staged.sensitive, goal.least_rows, "widest", looks)
    like = pl.DataFrame(schema={"second_coin": pl.Int64, "fragment": pl.Int32, "group": pl.Int32})
    found = collected(engine, engine.apply(staged.data, tree, NumberGroups(cut), like), like)
    assert tree.n_fragments == found.get_column("fragment").n_unique()
    assert tree.n_fragments > 1
    of_fragment = found.group_by("fragment").agg(pl.col("group").max() + 1).sort("fragment")
    first = dict(zip(of_fragment["fragment"], np.append(0, np.cumsum(of_fragment["group"])), strict=False))
    found = found.sort("second_coin")
    numbered = np.array([first[f] for f in found["fragment"]]) + found["group"].to_numpy()
    assert (numbered == method.anonymize(table).partition.group_of_row).all()


@pytest.mark.parametrize("choose", ["widest", "gain"])
def test_mondrian_publishes_the_same_lines(engine, choose, tmp_path):
    table = people()
    method = overt.Mondrian(goal=overt.KAnonymity(7), choose=choose)
    staged = staged_with_coins(engine, table, coins_for(table), tmp_path)
    made = make_groups_by_cuts(staged, method, lines_for(staged), silent)
    assert made.n_fragments > 1
    found = collected(engine, made.tables["release"], like_of(lines_for(staged)))
    assert as_written(found).equals(as_written(published_tables(method.anonymize(table))["release"]))


@pytest.mark.parametrize("choose", ["widest", "gain"])
@pytest.mark.parametrize("goal", [GOALS["k-anonymity"], GOALS["both"]], ids=str)
def test_wide_columns_are_counted_a_few_at_a_time_for_the_identical_tree(goal, choose, tmp_path, monkeypatch):
    table, found, passes = people(), [], []
    staged = staged_with_coins(engine_named("memory", None, tmp_path), table, coins_for(table), tmp_path)
    strata = divide_into_strata(staged.engine, staged.data, staged.quasi_identifiers, ByColumns(by=("Gender",)))
    rule = CutRule(goal.least_rows, choose, goal if goal.looks_at_values else None)
    monkeypatch.setattr(
        staged.engine, "histogram", lambda *of: passes.append(1) or LocalEngine.histogram(staged.engine, *of)
    )
    widest = max(column.n_values for column in table.columns)
    for most in (None, widest):  # a column alone fits, two columns or two candidates do not
        if most:
            monkeypatch.setattr("overt.engine.scale.cut_tree.MOST_AT_ONCE", most)
            monkeypatch.setattr("overt.engine.scale.cut_tree.MOST_COUNTED", most)
            monkeypatch.setattr("overt.engine.scale.seam.MOST_COUNTED", most)
        passes.clear()
        of = staged.data, staged.quasi_identifiers, staged.sensitive
        found.append((grow_cut_tree(staged.engine, *of, rule, strata), len(passes)))
    (alone, n_alone), (apart, n_apart) = found
    assert n_apart > 2 * n_alone
    assert alone.n_fragments > 4
    for name in ("column", "bar", "left", "right", "fragment"):
        assert (getattr(alone, name) == getattr(apart, name)).all(), name
    monkeypatch.setattr("overt.engine.scale.cut_tree.MOST_KEPT", widest)
    with pytest.raises(TooLarge, match="Use fewer strata"):
        grow_cut_tree(staged.engine, *of, rule, strata)


def test_buckets_of_many_values_are_dealt_in_fewer_parts(tmp_path, monkeypatch):
    table, found = people(), []
    staged = staged_with_coins(engine_named("memory", None, tmp_path), table, coins_for(table), tmp_path)
    method = overt.BlindBuckets(goal=overt.FrequencyLDiversity(3), k=6, cuts="strict")
    n_values = table.sensitive[0].n_values
    like = pl.DataFrame(schema={**dict.fromkeys(staged.quasi_names, pl.Int32), "bucket": pl.Int64})
    for most in (8_000_000, 2 * n_values, n_values):
        monkeypatch.setattr("overt.engine.scale.boxes_and_buckets.MOST_COUNTED", most)
        bits = bits_of_parts(staged, n_values)
        found.append((bits, collected(staged.engine, deal_at_scale(staged, method)[0], like).sort(pl.all())))
    assert [bits for bits, _ in found] == [4, 1, 0]
    assert found[0][1].equals(found[1][1])
    assert found[0][1].equals(found[2][1])
    monkeypatch.setattr("overt.engine.scale.boxes_and_buckets.MOST_ALIKE", N // 2 - 1)
    with pytest.raises(TooLarge, match="Use fewer strata"):
        bits_of_parts(staged, n_values)


STRATA = {
    "one": {"halvings": 0},
    "halvings": {"halvings": 2},
    "columns": {"by": ["Gender"]},
    "tree": {
        "column": "Age",
        "up_to": 40,
        "yes": {"column": "Gender", "among": ["female"], "yes": {}, "no": {}},
        "no": {},
    },
}


@pytest.mark.parametrize("strata", STRATA.values(), ids=STRATA)
@pytest.mark.parametrize("sensitive", [("Occupation",), ("Occupation", "Income")], ids=["one value", "pairs"])
def test_boxes_and_buckets_are_those_of_one_machine_for_the_same_coins(engine, strata, sensitive, tmp_path):
    table, method = (
        people(sensitive=sensitive),
        overt.BlindBuckets(goal=overt.FrequencyLDiversity(3), k=6, cuts="strict", stratify=strata),
    )
    coins = coins_for(table)
    alone = method.anonymize(table, rng=OrderOfStrata(coins, method.stratify.divide(table)))
    staged = staged_with_coins(engine, table, coins, tmp_path)
    lines = lines_for(staged, method)
    made = make_boxes_and_buckets(staged, method, lines, silent)
    assert made.n_fragments > 1
    of_people, of_values = replace(lines, sensitive=()), replace(lines, quasi=())
    boxes = collected(engine, made.tables["boxes"], like_of(of_people, has_buckets=True))
    values = collected(engine, made.tables["sensitive"], like_of(of_values, has_buckets=True))
    number = pl.Series("bucket", alone.buckets.group_of_row + 1)
    shown = overt.owner_view(alone).select(column.name for column in table.quasi_identifiers)
    assert as_written(boxes).equals(as_written(shown.insert_column(0, number)))
    cells = {column.name: column.values.gather(column.codes) for column in table.sensitive}
    assert as_written(values).equals(as_written(pl.DataFrame({"bucket": number, **cells})))


@pytest.mark.parametrize("strata", STRATA.values(), ids=STRATA)
@pytest.mark.parametrize("fragment_rows", [300, 10_000])
def test_relaxed_boxes_part_the_alike_by_a_coin_of_their_own(strata, fragment_rows, tmp_path, monkeypatch):
    table, coins, alike = people(), coins_for(people()), box_coins(N)
    method = overt.BlindBuckets(goal=overt.FrequencyLDiversity(3), k=6, stratify=strata)
    found, lying = [], np.random.default_rng(3).permutation(N)
    for name, order in (("memory", np.arange(N)), ("out-of-core", lying)):  # how rows come together says nothing
        engine = engine_named(name, None, tmp_path, fragment_rows)
        staged = staged_with_coins(engine, table, coins, tmp_path)
        (rows,) = [pl.concat(list(staged.data))]
        staged = replace(staged, data=engine.stage([rows[order]], Keep(), rows.clear()))
        lines = lines_for(staged, method)
        made = make_boxes_and_buckets(staged, method, lines, silent)
        like = like_of(replace(lines, sensitive=()), has_buckets=True)
        found.append(as_written(collected(engine, made.tables["boxes"], like)))
        of_strata = divide_into_strata(engine, staged.data, staged.quasi_identifiers, method.stratify)
        tree = grow_cut_tree(engine, staged.data, staged.quasi_identifiers, (), CutRule(6, "gain"), of_strata)
        fragment = tree(rows)
        engine.close()
    assert found[0].equals(found[1])
    monkeypatch.setattr(
        "overt.algorithms.blind_buckets.boxes._as_met", lambda rows, *_: rows[np.argsort(alike[rows], kind="stable")]
    )
    parts = Partition(fragment, tree.n_fragments)
    boxes = cut_into_boxes(table.quasi_identifiers, parts, 6, "relaxed", np.random.default_rng(0), silent)
    alone = method.anonymize(table, rng=OrderOfStrata(coins, method.stratify.divide(table)))
    if fragment_rows == N + 6_000:  # one fragment for each stratum
        assert (boxes.sizes == alone.partition.sizes).all()
        assert (boxes.group_of_row == alone.partition.group_of_row).all()
    else:
        assert tree.n_fragments > 4
    release = CrossBucketRelease(table, boxes, method, alone.buckets)
    shown = overt.owner_view(release).select(column.name for column in table.quasi_identifiers)
    number = pl.Series("bucket", alone.buckets.group_of_row + 1)
    assert found[0].equals(as_written(shown.insert_column(0, number)))


class OrderOfStrata(OrderOfCoins):
    """The one machine permutes the places of rows that lie stratum by stratum."""

    def __init__(self, coins, strata):
        super().__init__(coins[strata.rows])


def released(table, groups, *, cells="tight"):
    made_by = overt.Dealing(goal=overt.FrequencyLDiversity(2), cells=cells)
    return published_tables(GeneralizedRelease(table, groups, made_by))["release"]


def test_dealing_is_that_of_one_machine_for_the_same_coins(engine, tmp_path):
    table, method = people(), overt.Dealing(goal=overt.FrequencyLDiversity(4))
    coins = coins_for(table)
    staged = staged_with_coins(engine, table, coins, tmp_path)
    made = make_dealing(staged, method, lines_for(staged, method), silent, np.random.default_rng(0))
    assert made.n_fragments > 1
    found = collected(engine, made.tables["release"], like_of(lines_for(staged, method)))
    values = table.sensitive[0].codes
    order = np.lexsort((coins, values))
    group = np.empty(table.n_rows, np.int32)
    group[order] = np.arange(table.n_rows) % (table.n_rows // 4)
    assert as_written(found).equals(as_written(released(table, Partition(group, table.n_rows // 4), cells="grid")))


def test_rda_is_that_of_one_machine_for_the_same_coins(engine, tmp_path, monkeypatch):
    table, method = people(N + 1), overt.RDA(goal=overt.FrequencyLDiversity(3))
    coins = coins_for(table)
    staged = staged_with_coins(engine, table, coins, tmp_path)
    made = make_rda(staged, method, lines_for(staged, method), silent, np.random.default_rng(0))
    assert made.n_fragments > 1
    found = collected(engine, made.tables["release"], like_of(lines_for(staged, method)))

    def by_coins(value_of_row, n_values, rng):
        first = np.append(0, np.cumsum(np.bincount(value_of_row, minlength=n_values)))
        return np.lexsort((coins, value_of_row)).astype(np.int32), first

    monkeypatch.setattr("overt.algorithms.streamliner.rda.shuffle_by_value", by_coins)
    alone = method.anonymize(table, rng=np.random.default_rng(0))
    assert alone.partition.sizes.max() > 3  # a row was left over
    assert as_written(found).equals(as_written(published_tables(alone)["release"]))


@pytest.mark.parametrize(
    "settings", [{}, {"value_sets": "most frequent"}, {"strata": ("Gender",), "swaps": 1}], ids=str
)
def test_batch_matching_is_that_of_one_machine_for_the_same_coins_and_plan(engine, settings, tmp_path):
    table, method = people(), overt.BatchMatching(goal=overt.FrequencyLDiversity(3), **settings)
    column, coins = table.sensitive[0], coins_for(table)
    staged = staged_with_coins(engine, table, coins, tmp_path)
    made = make_batch_matching(staged, method, lines_for(staged), silent, np.random.default_rng(3))
    assert made.n_fragments > 1
    found = collected(engine, made.tables["release"], like_of(lines_for(staged)))
    strata = CountedStrata.of(table, method.strata, column.codes, column.n_values)
    plan = method.plan_strata(strata, column.name, np.random.default_rng(3))
    _, plans = divide_plan(plan, strata.counts.size, 300)
    whole = BatchPlan(
        starts_of(np.concatenate([np.diff(part.first) for part in plans])),
        np.concatenate([part.value for part in plans]),
        np.concatenate([part.alpha for part in plans]),
    )
    assert whole.n_rows == plan.n_rows == table.n_rows
    rows = np.lexsort((coins, strata.value_of_row)).astype(np.int32)
    first = starts_of(np.bincount(strata.value_of_row, minlength=strata.counts.size))
    group = method.match_drawn(table.quasi_identifiers, whole, whole.draw(rows, first))
    assert as_written(found).equals(as_written(released(table, Partition(group, whole.n_groups))))


def with_levels(n_rows=N, *, sensitive=("Occupation",)):
    frame = overt.samples.census(n_rows, seed=5)
    hierarchies = {
        "Age": overt.Intervals(widths=(5, 10, 20, 40)),
        "Education": overt.Prefixes(lengths=(5, 1)),
        "Gender": overt.Prefixes(lengths=(1,)),
    }
    return overt.read_frame(
        frame, quasi_identifiers=["Age", "Gender", "Education"], sensitive=list(sensitive), hierarchies=hierarchies
    )


@pytest.mark.parametrize("n_rows", [N - 1, N])
def test_anatomy_is_that_of_one_machine_for_the_same_coins(engine, n_rows, tmp_path, monkeypatch):
    table, method = people(n_rows), overt.Anatomy(goal=overt.FrequencyLDiversity(3))
    coins = coins_for(table)
    staged = staged_with_coins(engine, table, coins, tmp_path)
    lines = lines_for(staged)
    made = make_buckets_by_plan(staged, method, lines, silent, np.random.default_rng(4))
    assert made.n_fragments > 1
    monkeypatch.setattr(
        "overt.algorithms.anatomy.shuffle_by_value",
        lambda column, rng: np.lexsort((coins, column.codes)).astype(np.int32),
    )
    buckets = method.anonymize(table, rng=np.random.default_rng(4)).partition
    assert (buckets.sizes.max() > 3) == (n_rows % 3 > 0)  # a row was left over
    for name, columns in (("quasi-identifiers", table.quasi_identifiers), ("sensitive", table.sensitive)):
        found = collected(engine, made.tables[name], exact_like(lines, columns))
        cells = {column.name: column.values.gather(column.codes) for column in columns}
        expected = pl.DataFrame({"bucket": pl.Series(buckets.group_of_row + 1), **cells})
        assert as_written(found).equals(as_written(expected))


LEVELS = {
    "k": overt.FullDomain(goal=overt.KAnonymity(5)),
    "suppressed": overt.FullDomain(goal=overt.KAnonymity(9), max_suppressed="0.02", optimise="discernibility"),
    "l": overt.FullDomain(goal=overt.FrequencyLDiversity(3), max_suppressed="0.05"),
    "both": overt.FullDomain(
        goal=overt.KAnonymity(4) & overt.TCloseness("0.5"), max_suppressed="0.1", optimise="precision"
    ),
    "average": overt.FullDomain(goal=overt.KAnonymity(6), max_suppressed="0.01", optimise="average group size"),
}


@pytest.mark.parametrize("name", LEVELS)
def test_full_domain_finds_the_node_of_one_machine_and_suppresses_the_same_rows(engine, name, tmp_path):
    method = LEVELS[name]
    table = with_levels(sensitive=("Occupation", "Income") if name == "k" else ("Occupation",))
    staged = staged_with_coins(engine, table, coins_for(table), tmp_path)
    lines = lines_for(staged, method)
    made = make_groups_by_levels(staged, method, lines, silent)
    assert made.n_fragments > 1
    found = collected(engine, made.tables["release"], like_of(lines))
    alone = method.anonymize(table)
    assert made.levels == alone.level_of_column
    assert made.n_suppressed == alone.n_suppressed
    assert (made.n_suppressed > 0) == (float(method.max_suppressed) > 0)
    assert as_written(found).equals(as_written(published_tables(alone)["release"]))


def test_combinations_that_need_more_than_one_key_are_counted(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "overt.engine.scale.groups_by_levels.LARGEST_KEY", 100
    )  # so that every column has a key of its own
    table, method = with_levels(900), LEVELS["suppressed"]
    staged = staged_with_coins(engine, table, coins_for(table), tmp_path)
    assert len(PackedKeys(("a", "b"), (60, 60)).parts) == 2
    found = count_combinations(staged, with_values=True)
    alone = Groups.of(table, rows_alike(table))
    assert sorted(found.groups.sizes) == sorted(alone.sizes)
    assert found.groups.histograms["Occupation"].count.sum() == 900
    monkeypatch.setattr("overt.engine.scale.seam.MOST_COUNTED", 50)
    monkeypatch.setattr("overt.engine.scale.local.require_countable", require_countable)
    with pytest.raises(TooLarge, match="full-domain counts the combinations"):
        make_groups_by_levels(staged, method, lines_for(staged, method), silent)


ON_SPARK = {
    "anatomy": lambda e, f, patch: test_anatomy_is_that_of_one_machine_for_the_same_coins(e, N, f, patch),
    "full-domain": lambda e, f, _: test_full_domain_finds_the_node_of_one_machine_and_suppresses_the_same_rows(
        e, "l", f
    ),
    "l-diversity": lambda e, f, _: test_mondrian_makes_the_identical_partition_with_the_same_numbers(
        e, GOALS["both"], f
    ),
    "t-closeness": lambda e, f, _: test_mondrian_makes_the_identical_partition_with_the_same_numbers(
        e, GOALS["t-closeness"], f
    ),
    "gain": lambda e, f, _: test_mondrian_publishes_the_same_lines(e, "gain", f),
    "tree": lambda e, f, _: test_boxes_and_buckets_are_those_of_one_machine_for_the_same_coins(
        e, STRATA["tree"], ("Occupation", "Income"), f
    ),
    "halvings": lambda e, f, _: test_boxes_and_buckets_are_those_of_one_machine_for_the_same_coins(
        e, STRATA["halvings"], ("Occupation",), f
    ),
    "dealing": lambda e, f, _: test_dealing_is_that_of_one_machine_for_the_same_coins(e, f),
    "rda": lambda e, f, patch: test_rda_is_that_of_one_machine_for_the_same_coins(e, f, patch),
    "batch-matching": lambda e, f, _: test_batch_matching_is_that_of_one_machine_for_the_same_coins_and_plan(
        e, {"strata": ("Gender",), "swaps": 1}, f
    ),
}


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("case", ON_SPARK.values(), ids=ON_SPARK)
def test_spark_makes_the_same(case, request, tmp_path, monkeypatch):
    engine = engine_named("spark", request, tmp_path)
    try:
        case(engine, tmp_path, monkeypatch)
    finally:
        engine.close()
