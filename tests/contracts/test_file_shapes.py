# SPDX-License-Identifier: Apache-2.0
"""What a method promises of files: it says so itself, its releases keep it, and what it does not say is not asked for."""

from dataclasses import dataclass, field, fields, replace
from typing import ClassVar

import numpy as np
import pytest

from contracts.methods import EXAMPLES
from overt.checks import Claim
from overt.checks.shapes import find_shape
from overt.errors import Unreachable
from overt.group_shape import GroupShape
from overt.guarantee import RELEASE_ONLY, Guarantee
from overt.io.publication import published_tables
from overt.method import Method
from overt.partition import Partition
from overt.privacy import FrequencyLDiversity, KAnonymity
from overt.release import GeneralizedRelease
from tables import table_of

CELLS = {"tight"}
VALUES = {"l", "differ"}
PROMISED = {  # name -> what one of its examples promises beyond its tables and strata
    "anatomy": {*VALUES, "sizes"},
    "batch-matching": {*VALUES, *CELLS},
    "blind-buckets": {"boxes", "least_box", "least_bucket", *CELLS},
    "cross-bucket": {*VALUES, "boxes", "crossed", *CELLS},
    "dealing": {*VALUES, "sizes", *CELLS},
    "full-domain": {"one_level"},
    "gda": {*VALUES, *CELLS},
    "in-order": {"cuts", "levels", *CELLS},
    "mondrian": {"cuts", *CELLS},
    "rda": {*VALUES, "sizes", *CELLS},
    "ria": {"l", *CELLS},
}
SILENT = {  # rows that are shown each as its own record decides; and what a file shows of dp is in checks/dp.py
    *("record-threshold", "record-lagrangian", "dp-cube", "dp-full-domain", "dp-sampling"),
    *(method.name for method in EXAMPLES if method.name.startswith("algorithm-")),
}
USUAL = GroupShape(method="")


def promised(method):
    shape = method.file_shape
    names = {one.name for one in fields(shape)} - {"method", "tables", "strata"}
    return {name for name in names if getattr(shape, name) != getattr(USUAL, name)}


def test_what_methods_promise_of_files_is_written_here_too():
    """A promise that a method forgets would weaken every check of its releases, and nobody would notice."""
    said = {name: set() for name in (*PROMISED, *SILENT)}
    for method in EXAMPLES:
        said[method.name] |= promised(method)
        assert method.file_shape.method == method.name
        assert method.file_shape.tables == set(method.table_names) and method.file_shape.strata == method.strata
    assert said == PROMISED | {name: set() for name in SILENT}


def table(n=72, seed=0):
    draw = np.random.default_rng(seed)
    quasi = [draw.integers(0, 4, n), draw.integers(0, 4, n)]
    return table_of(quasi, draw.permutation(np.arange(n) % 4), n_codes=[5, 5])


def shape_found(table, release, shape, method):
    show = dict.fromkeys((column.name for column in table.quasi_identifiers), method.shows) if method.shows else {}
    claim = Claim(goal=method.goal, n_rows=table.n_rows - release.n_suppressed, show=show)
    return find_shape(table, published_tables(release), claim, shape)


@pytest.mark.parametrize("method", [method for method in EXAMPLES if not method.is_dp], ids=repr)
def test_every_release_has_the_shape_that_its_method_promises(method):
    n_seen = 0
    for seed in range(20):  # in-order seldom finds a level that it may release
        people = table(seed=seed)
        if method.generalizes_every_column:
            people = replace(people, columns=people.quasi_identifiers)
        try:
            release = method.anonymize(people, rng=np.random.default_rng(seed))
        except Unreachable:
            continue
        found = shape_found(people, release, method.file_shape, method)
        assert found.ok and "Not checked" not in found.sentence, found
        n_seen += 1
        if n_seen == 2:
            break
    assert n_seen == 2


@dataclass(frozen=True, kw_only=True)
class Wide(Method):
    """A method that shows wider boxes than it must, and says nothing of files."""

    name: ClassVar[str] = "wide"
    guarantee: ClassVar[Guarantee] = RELEASE_ONLY
    goal: KAnonymity = field(default_factory=lambda: KAnonymity(2))

    def anonymize(self, table, *, rng=None, on_progress=None):
        raise NotImplementedError


def test_a_method_that_promises_nothing_is_asked_for_nothing():
    people = table_of([[0, 1, 3, 4]], [0, 1, 0, 1], n_codes=[5])
    wide = {
        "release": published_tables(GeneralizedRelease(people, Partition(np.zeros(4, np.int32), 1), Wide()))["release"]
    }
    people = table_of([[0, 1, 3, 3]], [0, 1, 0, 1], n_codes=[5])
    claim = Claim(goal=KAnonymity(2), n_rows=4)
    assert find_shape(people, wide, claim, Wide().file_shape).ok
    tight = find_shape(people, wide, claim, replace(Wide().file_shape, tight=True))
    assert not tight.ok and "its boxes end where their rows do" in tight.sentence


def test_merged_groups_are_not_promised_to_differ():
    from overt.algorithms import RDA
    from overt.privacy import AllOf

    assert RDA(goal=FrequencyLDiversity(3)).file_shape.differ
    assert not RDA(goal=AllOf((FrequencyLDiversity(3), KAnonymity(4)))).file_shape.differ
