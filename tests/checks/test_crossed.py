# SPDX-License-Identifier: Apache-2.0
"""Cross-bucket releases, good and deliberately broken, as two tables and as one flat file."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import overt
from overt.errors import Unreachable
from overt.io.flat import flatten
from overt.io.publication import published_tables
from tables import tables

FRAME = pl.DataFrame(
    {
        "Age": [16, 22, 24, 26, 29, 31, 34, 35],
        "Sex": ["F", "M", "F", "M", "M", "F", "F", "M"],
        "Disease": ["flu", "a, b", "{c}", "missing", "missing", "e", "f", "a, b"],
    }
)
TABLE = overt.read_frame(FRAME, quasi_identifiers=["Age", "Sex"], sensitive=["Disease"])
METHOD = overt.CrossBucket(2, 4)
RELEASE = METHOD.anonymize(TABLE, rng=np.random.default_rng(4))
PUBLISHED = {name: frame.with_columns(pl.all().cast(pl.String)) for name, frame in published_tables(RELEASE).items()}
GRID = {"Age": "grid", "Sex": "grid"}
CLAIM = overt.Claim(goal=METHOD.goal, n_rows=8, show=GRID)


def failures(published, claim=CLAIM, witness=None):
    return {finding.name for finding in overt.check_release(TABLE, published, claim, witness=witness).failures}


@settings(max_examples=60)
@given(table=tables(min_rows=2, max_rows=30, max_value=6), k=st.integers(1, 4), l=st.integers(2, 4), flat=st.booleans())
def test_every_release_of_the_default_mode_passes(table, k, l, flat):
    method = overt.CrossBucket(k, l)
    try:
        release = method.anonymize(table, rng=np.random.default_rng(table.n_rows))
    except Unreachable:
        return
    published = published_tables(release)
    published = {"flat": flatten(table, published)} if flat else published
    published = {name: frame.with_columns(pl.all().cast(pl.String)) for name, frame in published.items()}
    claim = overt.Claim(goal=method.goal, n_rows=table.n_rows)
    for witness in (None, release.witness):
        assert overt.check_release(table, published, claim, witness=witness).failures == ()


def test_texts_that_look_like_lists_survive_the_flat_file():
    flat = {"flat": flatten(TABLE, published_tables(RELEASE)).with_columns(pl.all().cast(pl.String))}
    assert failures(flat) == set()
    assert any('"' in cell for cell in flat["flat"]["Disease"])


def change(table, name, line, text):
    frame = PUBLISHED[table]
    cells = frame[name].to_list()
    cells[line] = text
    return PUBLISHED | {table: frame.with_columns(pl.Series(name, cells))}


@pytest.mark.parametrize(
    ("published", "found"),
    [
        (PUBLISHED | {"boxes": PUBLISHED["boxes"].reverse()}, "order"),
        (PUBLISHED | {"boxes": PUBLISHED["boxes"].drop("Sex")}, "columns"),
        (PUBLISHED | {"boxes": PUBLISHED["boxes"].head(7)}, "rows"),
        (change("boxes", "Age", 0, "15..99"), "cells"),
        (change("boxes", "Age", 0, "35"), "truth"),
        (change("sensitive", "Disease", 0, "plague"), "cells"),
        (change("sensitive", "Disease", 0, "e"), "truth"),
        (change("boxes", "bucket", 0, "2"), "buckets"),
    ],
    ids=["order", "column", "row", "no such age", "wrong box", "no such value", "wrong value", "bucket"],
)
def test_a_broken_release_is_caught(published, found):
    assert found in failures(published)
    assert found in failures(published, witness=RELEASE.witness)


def test_a_claim_beyond_the_release_is_caught():
    for goal in (overt.KAnonymity(3), overt.FrequencyLDiversity(5)):
        assert failures(PUBLISHED, overt.Claim(goal=goal, n_rows=8, show=GRID)) == {"goal"}


def test_values_beside_their_own_people_are_caught_by_belief():
    alone = overt.CrossBucketRelease(TABLE, RELEASE.partition, METHOD, RELEASE.partition)
    published = {name: f.with_columns(pl.all().cast(pl.String)) for name, f in published_tables(alone).items()}
    assert failures(published) == {"goal"}


def test_a_flat_file_whose_lines_disagree_is_caught():
    flat = flatten(TABLE, published_tables(RELEASE)).with_columns(pl.all().cast(pl.String))
    cells = flat["Disease"].to_list()
    cells[0] = cells[-1]
    assert "lists" in failures({"flat": flat.with_columns(pl.Series("Disease", cells))})
