# SPDX-License-Identifier: Apache-2.0
"""The check of real releases: made by the methods, published by the doors, read back from files."""

import numpy as np
import polars as pl
import pytest

from checks.tiny import GROUPS, frame, hospital, publish
from overt.algorithms import Anatomy, Mondrian
from overt.checks import Claim, check_release
from overt.errors import InvalidInput
from overt.io.files import read_release, write_tables
from overt.io.frames import read_frame
from overt.io.publication import published_tables
from overt.partition import Partition
from overt.privacy import DistinctLDiversity, FrequencyLDiversity, KAnonymity, TCloseness
from overt.release import BucketRelease, GeneralizedRelease
from overt.samples import census, census_hierarchies

NAMES = ["Age", "Gender", "Education", "Birthplace"]


def people(n_rows=600):
    frame = census(n_rows).with_columns(note=pl.Series([f"n{i % 7}" for i in range(n_rows)]))
    some_age = pl.when(pl.int_range(n_rows) % 50 != 0).then("Age")
    return frame.with_columns(Age=some_age, Income=pl.col("Income").cast(pl.Float64))


def table_of(frame, hierarchies=()):
    builders = {name: census_hierarchies()[name] for name in hierarchies}
    return read_frame(
        frame, quasi_identifiers=NAMES, sensitive=["Occupation"], hierarchies=builders, missing="own value"
    )


METHODS = [
    (Mondrian(goal=KAnonymity(5)), (), {}),
    (Mondrian(goal=KAnonymity(5), relaxed=True), (), {"Age": "set"}),
    (Mondrian(goal=FrequencyLDiversity(3)), ("Education", "Birthplace"), {}),
    (Mondrian(goal=TCloseness("0.4")), ("Age", "Education"), {"Age": "label", "Gender": "range"}),
    (Anatomy(goal=DistinctLDiversity(3)), (), {}),
]


@pytest.mark.parametrize(("method", "hierarchies", "show"), METHODS)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_the_methods_make_passes_from_files(method, hierarchies, show, suffix, tmp_path):
    table = table_of(people(), hierarchies)
    release = method.anonymize(table, rng=np.random.default_rng(1))
    others = ("note", "Income")
    tables = published_tables(release, show=show, others=others)
    files = {name: tmp_path / f"{name}{suffix}" for name in tables}
    write_tables({files[name]: tables[name] for name in tables})
    claim = Claim(goal=method.goal, n_rows=table.n_rows, others=others, show=show)
    for witness in (None, release.partition):
        for shown in (tables, {name: read_release(path) for name, path in files.items()}):
            verdict = check_release(table, shown, claim, witness=witness)
            assert verdict.ok, verdict.failures
            assert verdict.finding("truth").sentence.count("the owner's") == (witness is not None)


def test_release_of_another_table_is_caught():
    method = Mondrian(goal=KAnonymity(5))
    release = method.anonymize(table_of(people()), rng=np.random.default_rng(1))
    other = people().with_columns(pl.col("Occupation").shuffle(seed=1))
    claim = Claim(goal=method.goal, n_rows=600)
    verdict = check_release(table_of(other), published_tables(release), claim, witness=release.partition)
    assert [finding.name for finding in verdict.failures] == ["truth"]


@pytest.mark.parametrize("n_values", [30, 90])
def test_sets_are_in_the_order_of_the_doors_however_many_values_there_are(n_values):
    rng = np.random.default_rng(3)
    names = [f"v{code:02}" for code in range(n_values)]
    frame = pl.DataFrame({"c": names + rng.choice(names[:6], 210).tolist(), "s": ["x"] * (n_values + 210)})
    table = read_frame(frame, quasi_identifiers=["c"], sensitive=["s"])
    groups = np.concatenate([np.arange(40), rng.integers(0, 40, table.n_rows - 40)]).astype(np.int32)
    release = GeneralizedRelease(table, Partition(groups, 40), made_by=None)
    verdict = check_release(table, published_tables(release), Claim(goal=KAnonymity(1), n_rows=table.n_rows))
    assert verdict.ok, verdict.failures


def test_buckets_of_people_who_look_alike_pass():
    frame = people().with_columns(Age=pl.col("Age") // 30 * 30, Birthplace=pl.lit("x"))
    table = table_of(frame)
    partition = Partition(np.repeat(np.arange(200, dtype=np.int32), 3), 200)
    release = BucketRelease(table, partition, made_by=None)
    claim = Claim(goal=KAnonymity(3), n_rows=600)
    tables = published_tables(release)
    assert check_release(table, tables, claim).ok
    assert check_release(table, tables, claim, witness=partition).ok


def test_a_table_without_sensitive_values_or_rows():
    table = read_frame(pl.DataFrame({"a": [1, 1, 2, 2]}), quasi_identifiers=["a"])
    shown = {"release": pl.DataFrame({"a": ["1", "1", "2", "2"]})}
    assert check_release(table, shown, Claim(goal=KAnonymity(2), n_rows=4)).ok
    nothing = {"release": pl.DataFrame({"a": []}, schema={"a": pl.String})}
    assert not check_release(table, nothing, Claim(goal=KAnonymity(2), n_rows=4)).ok
    verdict = check_release(table, nothing, Claim(goal=KAnonymity(2), n_rows=0))
    assert verdict.ok and "no rows" in verdict.finding("goal").sentence


def test_other_tables_than_a_release_has_are_refused():
    lines = frame(publish(hospital(), GROUPS))
    with pytest.raises(InvalidInput, match="The release has the tables 'lines'; expected is 'release', or 'quasi-"):
        check_release(hospital(), {"lines": lines}, Claim(goal=KAnonymity(3), n_rows=12))
    with pytest.raises(InvalidInput, match="There is no column 'wards'; the columns are 'ward', 'hobby'"):
        check_release(hospital(), {"release": lines}, Claim(goal=KAnonymity(3), n_rows=12, others=("wards",)))
    with pytest.raises(InvalidInput, match="cannot claim -1 rows"):
        Claim(goal=KAnonymity(3), n_rows=-1)
    verdict = check_release(hospital(), {"release": lines}, Claim(goal=KAnonymity(3), n_rows=12))
    with pytest.raises(InvalidInput, match="Nothing named 'size' was checked; there is columns, rows"):
        verdict.finding("size")
