# SPDX-License-Identifier: Apache-2.0
import warnings

import numpy as np
import polars as pl
import pytest

import overt
from overt.errors import Caution, InvalidInput, Unreachable


def table_with(numbers):
    frame = pl.DataFrame({"Age": list(range(len(numbers))), "Salary": numbers})
    return overt.read_frame(frame, quasi_identifiers=["Age"], sensitive=["Salary"])


NEAR = table_with([50_000, 50_001, 50_002, 50_003, 10_000, 90_000])
FAR = table_with([10_000, 20_000, 30_000, 40_000, 50_000, 90_000])


def anonymize(table, **options):
    return overt.CrossBucket(2, 3, **options).anonymize(table, rng=np.random.default_rng(2))


def test_numbers_that_are_nearly_equal_are_warned_of_without_naming_them():
    with pytest.warns(Caution, match=r"'Salary' is known to within 1 % of its range with probability \d/\d") as caught:
        anonymize(NEAR)
    assert "50" not in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        anonymize(FAR)


def test_the_printed_algorithm_warns_too():
    with pytest.warns(Caution, match="nearly equal"):
        overt.CrossBucket(2, 2, mode="paper").anonymize(NEAR, rng=np.random.default_rng(2))


def test_bins_keep_near_numbers_apart():
    table = table_with([50_000, 50_001, 10_000, 10_001, 90_000, 90_001])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = overt.CrossBucket(1, 3, bin_width=1000).anonymize(table, rng=np.random.default_rng(1))
    values = table.sensitive[0].values.to_numpy()[table.sensitive[0].codes]
    for rows in np.split(release.buckets.rows, release.buckets.starts[1:-1]):
        assert len({int(value) // 1000 for value in values[rows]}) == len(rows) == 3
    with pytest.raises(Unreachable, match=r"one interval of width 1000 of 'Salary' fills 4 of 6 rows"):
        anonymize(NEAR, bin_width=1000)
    names = overt.read_frame(pl.DataFrame({"a": [1, 2], "s": ["x", "y"]}), quasi_identifiers=["a"], sensitive=["s"])
    with pytest.raises(InvalidInput, match="is no number"):
        overt.CrossBucket(1, 2, bin_width=5).anonymize(names, rng=np.random.default_rng())


def test_a_spread_is_kept_in_every_bucket_or_refused():
    release = overt.CrossBucket(2, 4, blocks="apart", spread=20_000).anonymize(
        table_with([10_000, 20_000, 30_000, 40_000]), rng=np.random.default_rng(1)
    )
    assert release.buckets.n_groups == 2
    with pytest.raises(Unreachable, match=r"range over less than 20000"):
        overt.CrossBucket(2, 4, blocks="near", spread=20_000).anonymize(
            table_with([10_000, 20_000, 30_000, 40_000]), rng=np.random.default_rng(1)
        )
