import numpy as np
import polars as pl
import pytest

import overt
from oracles import learner as oracle
from overt.adversary.learner.findings import ERRORS, Share
from overt.adversary.learner.learner import learn, units_of
from overt.algorithms.streamliner import RDA
from overt.errors import InvalidInput
from overt.release import BucketRelease, GeneralizedRelease
from overt.table import Kind, Role, Table
from tables import column_of, table_of

F = overt.FrequencyLDiversity


def groups_of(table, size, rng):
    """A release in random groups of a size."""
    group = (rng.permutation(table.n_rows) // size).astype(np.int32)
    return BucketRelease(table, overt.Partition(group, int(group.max()) + 1), None)


def simulated(rng, n, chance):
    """People whose value depends on one of three levels with known chances; another column says nothing."""
    level = rng.integers(0, len(chance), n)
    value = (rng.random(n)[:, None] > np.cumsum(chance[level], axis=1)).sum(axis=1)
    return table_of([level, rng.integers(0, 4, n)], np.minimum(value, chance.shape[1] - 1)), chance[level]


CHANCE = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]])


@pytest.mark.slow
def test_guesses_as_much_as_can_be_guessed_where_the_truth_is_known():
    """3,000 people: within three standard errors of what the true chances guess (fails by chance once in 300)."""
    rng = np.random.default_rng(1)
    table, lean = simulated(rng, 3000, CHANCE)
    release = groups_of(table, 3, rng)
    found = learn(release, rng=rng)
    values, rows, expected = table.sensitive[0].codes, release.partition.rows.reshape(-1, 3), 0
    for group in rows:
        best = oracle.chances_in_group(lean[group], values[group]).argmax(axis=1)
        expected += (best == values[group]).sum()
    assert abs(found.inside.value - expected / 3000) < ERRORS * found.inside.error
    assert abs(found.outside.value - (lean.argmax(axis=1) == values).mean()) < ERRORS * found.outside.error
    assert found.from_release.is_beyond_error
    assert found.from_learning.is_beyond_error
    assert found.exact == 1
    assert found.is_reliable
    for one in found.reliability:
        error = (one.belief * (1 - one.belief) / one.n_people) ** 0.5
        assert abs(one.belief - one.right) < 0.03 + ERRORS * error


@pytest.mark.slow
def test_groups_and_boxes_crossed_with_buckets_are_calibrated_where_the_truth_is_known():
    rng = np.random.default_rng(2)
    table, _ = simulated(rng, 3000, CHANCE)
    boxes = overt.Partition((rng.permutation(3000) // 5).astype(np.int32), 600)
    buckets = overt.Partition((rng.permutation(3000) // 3).astype(np.int32), 1000)
    found = learn(overt.CrossBucketRelease(table, boxes, None, buckets), rng=rng)
    alone = learn(BucketRelease(table, buckets, None), rng=rng)
    assert found.is_reliable
    assert found.outside.value < found.inside.value < alone.inside.value  # not knowing the bucket protects
    assert found.sampling_error < 0.03


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [2, 3, 5])
def test_no_gain_is_claimed_where_nothing_goes_with_anything(seed, size):
    """Values are drawn without looking at quasi-identifiers: learning adds nothing (18 tests at three errors: fails 1 in 40)."""
    rng = np.random.default_rng(seed)
    table = table_of([rng.integers(0, 6, 400), rng.integers(0, 5, 400)], rng.integers(0, 4, 400))
    found = learn(groups_of(table, size, rng), rng=rng)
    assert not found.from_learning.is_beyond_error
    assert any("adds nothing" in sentence for sentence in found.sentences())


def test_no_gain_is_hidden_by_holding_out_a_person_without_their_group():
    """Many groups of two without correlations: the mean gain is 0, neither above nor below."""
    gains = []
    for seed in range(20):
        rng = np.random.default_rng(100 + seed)
        table = table_of([rng.integers(0, 30, 200), rng.integers(0, 30, 200)], np.arange(200) % 2)
        group = (np.lexsort((rng.random(200), np.arange(200) % 2)).argsort() % 100).astype(np.int32)
        found = learn(BucketRelease(table, overt.Partition(group, 100), None), rng=rng)
        assert found.plain == 0.5
        gains.append(found.from_learning.value)
    assert abs(np.mean(gains)) < 4 * np.std(gains) / 20**0.5


def test_permuted_quasi_identifiers_take_the_gain_away():
    rng = np.random.default_rng(3)
    table, _ = simulated(rng, 1500, CHANCE)
    quasi, value = table.quasi_identifiers[0].codes, table.sensitive[0].codes
    true = learn(groups_of(table, 3, np.random.default_rng(4)), rng=rng)
    mixed = table_of([rng.permutation(quasi)], value)
    permuted = learn(groups_of(mixed, 3, np.random.default_rng(4)), rng=rng)
    assert true.from_learning.is_beyond_error
    assert not permuted.from_learning.is_beyond_error


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_tiny_tables(n):
    table = table_of([list(range(n))], [i % 2 for i in range(n)])
    everybody = overt.Partition(np.zeros(n, np.int32), 1)
    for release in (
        GeneralizedRelease(table, everybody, None),
        BucketRelease(table, everybody, None),
        overt.CrossBucketRelease(table, everybody, None, everybody),
    ):
        found = learn(release, rng=np.random.default_rng(0))
        assert found.n_judged == n
        assert not found.from_release.is_beyond_error or n > 2
        assert list(found.sentences())


def test_one_value_only():
    table = table_of([list(range(20))], [0] * 20)
    found = learn(groups_of(table, 4, np.random.default_rng(0)), rng=np.random.default_rng(0))
    assert found.inside.value == found.outside.value == found.plain == 1
    assert not found.from_release.is_beyond_error
    assert not found.from_learning.is_beyond_error


def test_a_thousand_values():
    rng = np.random.default_rng(0)
    values = np.arange(3000) % 1000
    quasi = column_of("age", Role.QUASI_IDENTIFIER, Kind.NUMBER, values // 250 + rng.integers(0, 2, 3000))
    table = Table((quasi, column_of("salary", Role.SENSITIVE, Kind.NUMBER, values)), pl.DataFrame())
    found = learn(groups_of(table, 10, rng), rng=rng)
    assert found.outside.value < 0.02
    assert found.inside.value > 0.1
    assert found.from_learning.is_beyond_error  # levels go with ranges of values


def test_suppressed_people_are_not_in_the_release():
    rng = np.random.default_rng(0)
    table, _ = simulated(rng, 300, CHANCE)
    group = np.where(np.arange(300) < 30, -1, np.arange(300) % 27).astype(np.int32)
    found = learn(GeneralizedRelease(table, overt.Partition(group, 27), None), rng=rng)
    assert found.n_people == found.n_judged == 270


def test_of_large_tables_some_groups_are_looked_at():
    rng = np.random.default_rng(0)
    table, _ = simulated(rng, 2000, CHANCE)
    release = groups_of(table, 4, rng)
    found, all_found = learn(release, rng=rng, n_people=400), learn(release, rng=rng)
    assert found.n_judged == 400
    assert abs(found.inside.value - all_found.inside.value) < 4 * found.inside.error


def test_several_sensitive_columns_are_asked_one_by_one():
    rng = np.random.default_rng(0)
    table = table_of([rng.integers(0, 3, 90)], [rng.integers(0, 3, 90), rng.integers(0, 2, 90)])
    release = groups_of(table, 3, rng)
    with pytest.raises(InvalidInput, match="exactly one sensitive column"):
        learn(release, rng=rng)
    assert learn(release, rng=rng, column="s1").column == "s1"
    with pytest.raises(InvalidInput, match="no sensitive column"):
        learn(release, rng=rng, column="q0")


def test_the_same_seed_finds_the_same():
    table, _ = simulated(np.random.default_rng(0), 400, CHANCE)
    release = RDA(goal=F(2)).anonymize(table, rng=np.random.default_rng(1))
    one, other = (learn(release, rng=np.random.default_rng(2)) for _ in range(2))
    assert one.to_dict() == other.to_dict()


def test_small_groups_are_held_out_together():
    parts = overt.Partition(np.array([0, 0, 1] + [2] * 11 + [-1], np.int32), 3)
    unit = units_of(parts)
    assert unit[0] == unit[1]
    assert np.unique(unit).size == 2 + 11 + 1


@pytest.mark.parametrize(
    "method",
    [overt.CrossBucket(k=3, l=3), overt.CrossBucket(k=2, l=5), overt.BlindBuckets(goal=F(3), k=4, rows_per_bucket=12)],
)
def test_who_shares_a_small_box_or_a_small_bucket_is_held_out_together(method):
    rng = np.random.default_rng(1)
    table = table_of([rng.integers(0, 9, 240), rng.integers(0, 5, 240)], np.arange(240) % 6)
    release = method.anonymize(table, rng=rng)
    unit = units_of(release.value_groups, release.partition)
    for parts in (release.partition, release.value_groups):
        for group in np.flatnonzero(parts.sizes <= 10):
            assert np.unique(unit[parts.group_of_row == group]).size == 1


def test_buckets_that_tie_the_whole_table_together_decide_alone():
    rng = np.random.default_rng(2)
    boxes, buckets = (overt.Partition((rng.permutation(600) // n).astype(np.int32), 600 // n) for n in (5, 6))
    assert np.array_equal(units_of(buckets, boxes), units_of(buckets))


def test_nothing_is_guessed_better_or_worse_than_by_chance_where_nothing_is_correlated():
    """Cross-buckets put three people with three values into a box. A model that had seen two of them would lean away from the third value."""
    found = []
    for seed in range(10, 14):
        rng = np.random.default_rng(seed)
        table = table_of([rng.integers(0, 8, 600), rng.integers(0, 5, 600)], rng.permutation(np.arange(600) % 6))
        release = overt.CrossBucket(k=3, l=3).anonymize(table, rng=rng)
        found.append(learn(release, rng=rng))
    assert found[0].plain == pytest.approx(1 / 3)
    error = (1 / 3 * 2 / 3 / 2400) ** 0.5  # four of these are passed by chance once in 16,000 times
    assert abs(np.mean([one.inside.value for one in found]) - 1 / 3) < 4 * error


def test_errors_are_over_groups():
    """People who are guessed right or wrong together count as one."""
    right = np.repeat([1.0, 0.0, 1.0, 1.0], 25)
    together, apart = Share.of(right, np.repeat(np.arange(4), 25)), Share.of(right, np.arange(100))
    assert together.value == apart.value == 0.75
    assert together.error == pytest.approx(0.25, rel=0.01)
    assert apart.error == pytest.approx(0.0435, rel=0.01)


def test_words_name_the_columns_and_no_value():
    frame = pl.DataFrame({"age": [30, 40] * 60, "illness": ["secret-a", "secret-b", "secret-c"] * 40})
    table = overt.read_frame(frame, quasi_identifiers=["age"], sensitive=["illness"])
    found = learn(groups_of(table, 3, np.random.default_rng(0)), rng=np.random.default_rng(0))
    words = " ".join([*found.sentences(), *(" ".join(row) for row in found.rows())])
    assert "knows how illness depends on age would guess" in words
    assert "secret" not in words


def test_the_error_of_a_share_has_a_floor():
    right = np.tile([1.0, 0.0], 50)
    assert Share.of(right, np.zeros(100, int)).error == pytest.approx(0.05)  # one group cannot differ from another
    assert Share.of(np.ones(5), np.arange(5)).error == pytest.approx(0.2)  # all right, of few
    assert not Share.of(np.full(3, 0.5), np.arange(3)).is_beyond_error
