# SPDX-License-Identifier: Apache-2.0
"""Laws that the report of every method's releases keeps."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings

from contracts.methods import EXAMPLES
from overt.errors import Caution, OvertError
from overt.privacy import KAnonymity
from overt.report.html import page_of
from overt.report.json import json_of
from overt.report.owner_report import make_report
from overt.report.text import text_of
from tables import tables


@pytest.mark.parametrize("method", EXAMPLES, ids=repr)
@settings(max_examples=12)
@given(table=tables(min_rows=2, max_rows=30))
def test_every_release_has_a_report_that_adds_up(method, table):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Caution)
            release = method.anonymize(table, rng=np.random.default_rng(0))
    except OvertError:
        return
    report = make_report(release, goal=method.goal)
    assert report.holds and "satisfies" in text_of(report)
    assert report.after.identification.n_rows in (table.n_rows, table.n_rows - release.n_suppressed)
    for one in report.distributions:
        assert sum(one.before) == table.n_rows and sum(one.after) == pytest.approx(table.n_rows)
    for column in report.utility.columns:
        losses = (column.certainty_penalty or 0, column.non_uniform_entropy or 0, 1 - (column.precision or 0))
        assert all(-1e-9 <= loss <= 1 + 1e-9 for loss in losses)
    document = json.loads(json_of(report))
    assert document["resists_replay"] == ('class="alarm"' not in page_of(report))
    out_of_reach = make_report(release, goal=KAnonymity(table.n_rows + 1))
    assert not out_of_reach.holds and "does NOT satisfy" in page_of(out_of_reach)
