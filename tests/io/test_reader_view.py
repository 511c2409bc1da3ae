# SPDX-License-Identifier: Apache-2.0
"""A release that is put together again from its published tables says what the owner's release says of the released rows."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings

from contracts.methods import EXAMPLES
from overt.errors import Caution, OvertError
from overt.io.publication import published_tables
from overt.io.reader_view import release_as_read
from overt.privacy import FrequencyLDiversity
from tables import tables


@pytest.mark.parametrize("method", [one for one in EXAMPLES if not one.is_dp], ids=repr)
@settings(max_examples=12)
@given(table=tables(min_rows=4, max_rows=24))
def test_a_reader_finds_the_groups_the_buckets_and_what_can_be_believed(method, table):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Caution)
            release = method.anonymize(table, rng=np.random.default_rng(0))
    except OvertError:
        return
    shown = published_tables(release)
    if not all(frame.height for frame in shown.values()):
        return
    read = release_as_read(
        shown,
        made_by=method,
        quasi_identifiers=[column.name for column in table.quasi_identifiers],
        sensitive=[column.name for column in table.sensitive],
    )
    assert read.kind == release.kind
    assert read.table.n_rows == table.n_rows - release.n_suppressed
    if release.is_crossed or release.shows_exactly:
        assert sorted(read.value_groups.sizes) == sorted(release.value_groups.sizes)
    if table.sensitive and read.n_groups == release.n_groups:  # else groups that show the same are one to a reader
        assert sorted(read.groups.sizes) == sorted(release.groups.sizes)
        assert FrequencyLDiversity(1).measure(read.groups) == FrequencyLDiversity(1).measure(release.groups)
