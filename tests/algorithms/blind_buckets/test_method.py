# SPDX-License-Identifier: Apache-2.0
"""BlindBuckets: its parameters, its forms, and releases of it that were broken on purpose."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import overt
from overt.algorithms.blind_buckets.boxes import cut_into_boxes
from overt.algorithms.blind_buckets.deal import hand_out
from overt.errors import InvalidInput, Unreachable
from overt.io.flat import flatten
from overt.io.publication import published_tables
from overt.partition import Partition
from overt.progress import silent
from tables import table_of, tables

RNG = np.random.default_rng
L2 = overt.FrequencyLDiversity(2)
HOSPITAL = overt.read_frame(
    overt.samples.hospital(),
    identifiers=["Name"],
    quasi_identifiers=["Birth date", "Postcode", "Sex"],
    sensitive=["Disease"],
)


def blind(**more):
    return overt.BlindBuckets(**{"goal": L2, "k": 2, "rows_per_bucket": 3} | more)


def as_texts(release, *, flat=False):
    published = published_tables(release)
    published = {"flat": flatten(release.table, published)} if flat else published
    return {name: frame.with_columns(pl.all().cast(pl.String)) for name, frame in published.items()}


@settings(max_examples=60, deadline=None)
@given(
    table=tables(min_rows=2, max_rows=30, max_value=4),
    form=st.sampled_from(["buckets", "flat", "shuffled", "generalized"]),
    cuts=st.sampled_from(["strict", "relaxed"]),
    halvings=st.integers(0, 2),
)
def test_every_release_passes_its_check(table, form, cuts, halvings):
    method = blind(form="buckets" if form == "flat" else form, cuts=cuts, stratify=overt.Halvings(halvings))
    try:
        release = method.anonymize(table, rng=RNG(table.n_rows))
    except Unreachable:
        return
    claim = overt.Claim(goal=method.goal, n_rows=table.n_rows, show=on_grid(table))
    for witness in (None, release.witness):
        published = as_texts(release, flat=form == "flat")
        assert overt.check_release(table, published, claim, witness=witness).failures == ()


@settings(max_examples=40, deadline=None)
@given(
    table=tables(min_rows=4, max_rows=40),
    k=st.integers(1, 5),
    halvings=st.integers(0, 2),
    cuts=st.sampled_from(["strict", "relaxed"]),
)
def test_boxes_have_k_rows_and_stay_in_their_stratum(table, k, halvings, cuts):
    strata = overt.Halvings(halvings).divide(table)
    if strata.sizes.min() < k:
        return
    boxes = cut_into_boxes(table.quasi_identifiers, strata, k, cuts, RNG(0), silent)
    assert boxes.sizes.min() >= k
    pairs = set(zip(boxes.group_of_row.tolist(), strata.group_of_row.tolist(), strict=True))
    assert len(pairs) == boxes.n_groups


@pytest.mark.parametrize("cuts", ["strict", "relaxed"])
def test_strata_are_as_they_were_after_boxes_are_cut(cuts):
    """Strict cuts moved the rows of the strata that they were given, and whoever cut twice got boxes without some rows."""
    table = table_of([[7, 3, 5, 1, 6, 2, 0, 4]], [0, 1] * 4)
    strata = Partition(np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32), 2)
    before = strata.rows.copy()
    for _ in range(2):
        boxes = cut_into_boxes(table.quasi_identifiers, strata, 2, cuts, RNG(0), silent)
        assert boxes.sizes.tolist() == [2] * 4
    assert strata.rows.tolist() == before.tolist()


def test_the_order_of_a_table_does_not_say_who_shares_a_box():
    """Sixty people of whom all but one look alike, the ill ones first: relaxed cuts part them as if they lay in any other order."""
    table = table_of([[0] * 59 + [1]], [0] * 30 + [1] * 30)
    strata = Partition(np.zeros(60, np.int32), 1)
    boxes = cut_into_boxes(table.quasi_identifiers, strata, 30, "relaxed", RNG(1), silent)
    n_ill = np.bincount(boxes.group_of_row[:30], minlength=2)
    assert n_ill.min() >= 5  # hypergeometric, 15 on average: fewer than 5 in fewer than 1 of 10 million


def test_handing_out_is_uniform_inside_buckets():
    """Each of the 6 orders of a bucket of 3 in 6,000 runs: 1,000 on average, 5 standard errors are 145."""
    buckets, seen, rng = Partition(np.array([0, 1, 0, 1, 0], np.int32), 2), Counter(), RNG(3)
    for _ in range(6000):
        shown = hand_out(buckets, rng).tolist()
        assert sorted(shown[1::2]) == [1, 3]
        seen[tuple(shown[::2])] += 1
    assert len(seen) == 6
    assert all(abs(n - 1000) < 145 for n in seen.values())


def test_shuffled_values_are_those_of_the_bucket_and_the_file_says_so():
    release = overt.BlindBuckets(goal=L2, form="shuffled").anonymize(HOSPITAL, rng=RNG(0))
    assert isinstance(release, overt.ShuffledRelease)
    shown = overt.publish(release)
    assert shown.columns == ["values shuffled in bucket", "Birth date", "Postcode", "Sex", "Disease"]
    assert sorted(shown["Disease"]) == sorted(overt.samples.hospital()["Disease"])
    own = HOSPITAL.sensitive[0].codes
    assert (own[release.shown_row] != own).any()
    again = overt.BlindBuckets(goal=L2, form="buckets").anonymize(HOSPITAL, rng=RNG(0))
    boxes, values = overt.publish(again)
    by_bucket = (
        shown.group_by("values shuffled in bucket")
        .agg(pl.col("Disease").cast(pl.String).sort())
        .sort("values shuffled in bucket")
    )
    assert by_bucket["Disease"].to_list() == [
        sorted(of["Disease"].cast(pl.String)) for _, of in sorted(values.group_by("bucket"), key=lambda pair: pair[0])
    ]
    assert shown.drop("Disease").rename({"values shuffled in bucket": "bucket"}).equals(boxes)


def on_grid(table):
    """The claim of a release whose cells are on a grid, as they are unless they are asked to be tight."""
    return dict.fromkeys((column.name for column in table.quasi_identifiers), "grid")


BROKEN = blind(form="shuffled", k=3).anonymize(HOSPITAL, rng=RNG(5))


def failures(frame):
    claim = overt.Claim(goal=L2 & overt.KAnonymity(3), n_rows=96, show=on_grid(HOSPITAL))
    return {finding.name for finding in overt.check_release(HOSPITAL, {"shuffled": frame}, claim).failures}


def test_a_broken_shuffled_release_fails():
    frame = as_texts(BROKEN)["shuffled"]
    number = "values shuffled in bucket"
    assert failures(frame) == set()
    assert failures(frame.rename({number: "bucket"})) == {"columns"}
    assert failures(frame.reverse()) >= {"order"}
    assert failures(frame.drop("Disease")) >= {"columns"}
    assert failures(frame.with_columns(pl.lit("flu").alias("Disease"))) >= {"goal", "truth"}
    assert failures(frame.with_columns(pl.lit("plague").alias("Disease"))) >= {"cells", "goal"}
    swapped = frame.with_columns(pl.col("Disease").reverse())
    assert failures(swapped) != set()
    assert failures(frame.head(90)) >= {"rows", "truth"}


def test_rows_that_look_alike_are_in_the_order_of_what_they_show():
    """Otherwise their order could tell whose value a row shows."""
    people = overt.read_frame(
        pl.DataFrame({"Sex": ["F"] * 6, "Disease": ["flu", "cold", "HIV"] * 2}),
        quasi_identifiers=["Sex"],
        sensitive=["Disease"],
    )
    method = blind(form="shuffled", rows_per_bucket=6)
    frame = as_texts(method.anonymize(people, rng=RNG(0)))["shuffled"]
    claim = overt.Claim(goal=L2, n_rows=6)
    assert overt.check_release(people, {"shuffled": frame}, claim).ok
    mixed = frame.with_columns(pl.Series("Disease", frame["Disease"].to_list()[::-1]))
    assert {f.name for f in overt.check_release(people, {"shuffled": mixed}, claim).failures} == {"ties"}


def test_a_report_says_that_values_were_shuffled():
    release = blind(form="shuffled").anonymize(HOSPITAL, rng=RNG(0))
    report = overt.make_report(release, goal=L2)
    fates = {fate.name: fate.became for fate in report.columns}
    assert fates["Disease"].startswith(
        "values unchanged but shuffled in their bucket: the value in a row need not be that person's; in the worst group one value has "
    )


def test_boxes_of_one_person_show_who_is_in_the_table():
    assert overt.BlindBuckets(goal=L2).guarantee.besides == ""
    assert "who is in the table is public" in overt.BlindBuckets(goal=L2, k=1).against
    assert overt.BlindBuckets(goal=L2, k=1, form="generalized").guarantee.besides == ""


def test_k_is_what_the_goal_asks_for_or_five():
    assert overt.BlindBuckets(goal=L2).box_size == 5
    assert overt.BlindBuckets(goal=L2 & overt.KAnonymity(3)).box_size == 3
    assert overt.BlindBuckets(goal=overt.AlphaKAnonymity("1/2", 4)).box_size == 4
    assert overt.BlindBuckets(goal=L2 & overt.KAnonymity(3), k=7).box_size == 7
    assert overt.BlindBuckets(goal=L2, form="generalized", rows_per_bucket=2, k=9).bucket_size == 9


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"goal": "l-diversity"}, "The goal of BlindBuckets is a text; give a property"),
        ({"goal": L2, "k": 0}, "k is 0"),
        ({"goal": L2 & overt.KAnonymity(5), "k": 3}, "k is 3 and the goal asks for 5"),
        ({"goal": L2, "rows_per_bucket": "12"}, "rows_per_bucket is '12'"),
        ({"goal": L2, "cuts": "loose"}, "cuts is 'loose'; choose one of 'strict', 'relaxed'"),
        ({"goal": L2, "form": "flat"}, "form is 'flat'; choose one of 'buckets', 'shuffled', 'generalized'"),
        ({"goal": L2, "stratify": 3}, "Strata are written as a table"),
    ],
)
def test_what_cannot_be_a_method_is_refused_in_words(given, words):
    with pytest.raises(InvalidInput, match=words):
        overt.BlindBuckets(**given)


def test_tables_that_cannot_be_dealt_are_refused_in_words():
    without = overt.read_frame(pl.DataFrame({"Age": [1, 2]}), quasi_identifiers=["Age"])
    with pytest.raises(InvalidInput, match="the table has none; give a column the role 'sensitive'"):
        blind().anonymize(without, rng=RNG(0))
    empty = table_of([[]], [[]])
    with pytest.raises(Unreachable, match="The table has 0"):
        blind().anonymize(empty, rng=RNG(0))
    with pytest.raises(InvalidInput, match="There is no column 'Illness'; the columns are 'Disease'"):
        overt.BlindBuckets(goal=overt.FrequencyLDiversity(2, column="Illness")).anonymize(HOSPITAL, rng=RNG(0))


def test_several_sensitive_columns_each_reach_their_goal():
    rng = RNG(2)
    frame = pl.DataFrame(
        {"Age": rng.integers(20, 80, 600), "HIV": rng.random(600) < 0.1, "Ward": rng.integers(0, 9, 600)}
    )
    frame = frame.with_columns(pl.col("HIV").cast(pl.String), pl.col("Ward").cast(pl.String))
    table = overt.read_frame(frame, quasi_identifiers=["Age"], sensitive=["HIV", "Ward"])
    goal = overt.TCloseness("0.1", column="HIV") & overt.FrequencyLDiversity(4, column="Ward") & overt.KAnonymity(5)
    release = overt.BlindBuckets(goal=goal).anonymize(table, rng=rng)
    assert goal.holds(release.groups)
    assert release.buckets.sizes.max() < 40


def test_a_quasi_identifier_that_is_the_same_for_everybody_is_read_from_memory_that_was_written():
    """Relaxed cuts by gain look at every column, also at one that cuts never move: it was read from memory that nobody had written."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        frame = pl.DataFrame(
            {"same": ["x"] * 60, "age": rng.integers(0, 40, 60), "ill": [f"d{i % 6}" for i in range(60)]}
        )
        held = overt.read_frame(frame, quasi_identifiers=["same", "age"], sensitive=["ill"])
        release = overt.BlindBuckets(goal=overt.FrequencyLDiversity(3), k=5, rows_per_bucket=6).anonymize(held, rng=rng)
        assert release.partition.sizes.min() >= 5 and release.boxes[0].max() == 0
