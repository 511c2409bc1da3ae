# SPDX-License-Identifier: Apache-2.0
import numpy as np
import polars as pl
import pytest

import overt
from overt.errors import InvalidInput
from overt.io.flat import flatten, publish_flat
from overt.io.publication import published_tables
from overt.io.recipe.recipe import parse_recipe

FRAME = pl.DataFrame(
    {
        "Age": [20, 30, 40, 50],
        "Sex": ["F", "M", "F", "M"],
        "Disease": ["flu", "gout, mild", None, "flu"],
        "n": [1, 2, 3, 4],
    }
)
TABLE = overt.read_frame(FRAME, quasi_identifiers=["Age", "Sex"], sensitive=["Disease"], missing="own value")
GROUPS, BUCKETS = overt.Partition.from_groups([[0, 2], [1, 3]]), overt.Partition.from_groups([[0, 1], [2, 3]])
RELEASE = overt.CrossBucketRelease(TABLE, GROUPS, None, BUCKETS)


def test_every_line_shows_all_values_of_its_bucket():
    assert publish_flat(RELEASE).rows() == [
        (1, "20..40", "F", '{flu, "gout, mild"}'),
        (1, "30..50", "M", '{flu, "gout, mild"}'),
        (2, "20..40", "F", "{flu, missing}"),
        (2, "30..50", "M", "{flu, missing}"),
    ]


def test_values_are_listed_as_often_as_they_occur_and_alone_without_braces():
    alone = overt.Partition.from_groups([[0, 3], [1], [2]])
    cells = publish_flat(overt.CrossBucketRelease(TABLE, GROUPS, None, alone))["Disease"].to_list()
    assert sorted(cells, key=str) == ['"gout, mild"', None, "{flu, flu}", "{flu, flu}"]


def test_other_columns_stand_beside_the_boxes():
    assert publish_flat(RELEASE, others=["n"]).columns == ["bucket", "Age", "Sex", "n", "Disease"]


def test_a_release_without_buckets_has_no_flat_form():
    release = overt.Mondrian(goal=overt.KAnonymity(2)).anonymize(TABLE)
    with pytest.raises(InvalidInput, match="a single table already"):
        flatten(TABLE, published_tables(release))


RECIPE = """version = 1
[input]
path = "data.csv"
[columns.Age]
role = "quasi-identifier"
[columns.Education]
role = "quasi-identifier"
[columns.Income]
role = "sensitive"
[[goal]]
property = "k-anonymity"
k = 2
[[goal]]
property = "l-diversity"
l = 4
[method]
name = "cross-bucket"
blocks = "apart"
bin_width = "1/2"
[output]
path = "release.csv"
flat = {flat}
"""


@pytest.mark.parametrize(
    ("flat", "files"), [("true", {"release.csv"}), ("false", {"release.csv", "release.sensitive.csv"})]
)
def test_a_recipe_runs_and_its_files_pass_the_check(tmp_path, flat, files):
    overt.samples.census(200).write_csv(tmp_path / "data.csv")
    recipe = parse_recipe(RECIPE.format(flat=flat), folder=tmp_path)
    outcome = overt.run(recipe, rng=np.random.default_rng(1))
    assert {path.name for path in outcome.files.values()} == files
    assert outcome.verdict.ok
    assert "group" not in (tmp_path / "release.csv").read_text().splitlines()[0]  # the owner's view is never written
    assert overt.check(tmp_path / "data.csv", tmp_path / "release.csv").ok
    (tmp_path / "recipe.toml").write_text(RECIPE.format(flat=flat))
    assert overt.check(tmp_path / "data.csv", tmp_path / "release.csv", recipe=tmp_path / "recipe.toml").ok


def test_the_owner_sees_groups_and_buckets_in_the_order_of_the_rows():
    view = overt.owner_view(RELEASE)
    assert view.columns[:2] == ["group", "bucket"]
    assert view["Disease"].to_list() == FRAME["Disease"].to_list()
    assert view["group"].to_list() == [1, 2, 1, 2]
    assert view["bucket"].to_list() == [1, 1, 2, 2]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_whole_numbers_that_came_as_fractions_stand_in_their_bucket(kind):
    """pandas has no whole numbers beside missing ones: what is released of floats that are all whole is 1, 2, 3."""
    frame = pl.DataFrame({"Age": [1, 2, 3, 4], "pay": [1.0, 2.0, 3.0, 1.0]})
    frame = frame.to_pandas() if kind == "pandas" else frame
    table = overt.read_frame(frame, quasi_identifiers=["Age"], sensitive=["pay"])
    release = overt.BucketRelease(table, overt.Partition.from_groups([[0, 1], [2, 3]]), None)
    assert list(publish_flat(release)["pay"]) == ["{1, 2}", "{1, 2}", "{1, 3}", "{1, 3}"]
