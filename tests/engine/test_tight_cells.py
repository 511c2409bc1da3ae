# SPDX-License-Identifier: Apache-2.0
"""The owner is cautioned of cells that name values which somebody has."""

from pathlib import Path

import numpy as np
import pytest

import overt
from overt.engine.tight_cells import find_tight_cells

RECIPE = """version = 1
[input]
path = "people.csv"
[columns]
Age = {{ role = "quasi-identifier"{age} }}
Gender = {{ role = "quasi-identifier"{gender} }}
Occupation = {{ role = "sensitive" }}
[[goal]]
property = "l-diversity"
l = 3
[method]
name = "{method}"
{more}
[output]
path = "release.csv"
"""


def cautions(folder: Path, *, method="blind-buckets", age="", gender="", more=""):
    overt.samples.census(300).select("Age", "Gender", "Occupation").write_csv(folder / "people.csv")
    (folder / "recipe.toml").write_text(RECIPE.format(method=method, age=age, gender=gender, more=more))
    outcome = overt.run(folder / "recipe.toml", audit=False, rng=np.random.default_rng(0))
    assert outcome.ok
    return [words for words in outcome.cautions if "overt audit" in words]


LABELS = ", hierarchy = { flat = true }"


@pytest.mark.parametrize("method", ["blind-buckets", "batch-matching", "cross-bucket"])
def test_safe_methods_show_ranges_on_a_grid_and_caution_of_sets(tmp_path, method):
    (words,) = cautions(tmp_path, method=method)
    assert "'Gender' as sets" in words
    assert "'Age'" not in words


def test_a_method_that_shows_tight_ranges_names_the_way_out(tmp_path):
    (words,) = cautions(tmp_path, method="mondrian")
    assert "'Age' as ranges that end at somebody's values and 'Gender' as sets" in words
    assert 'Use cells = "grid"' in words


def test_a_column_may_be_shown_otherwise(tmp_path):
    (words,) = cautions(tmp_path, age=', show = "range"')
    assert "'Age' as ranges" in words


def test_with_a_hierarchy_and_a_grid_there_is_nothing_to_say(tmp_path):
    assert cautions(tmp_path, gender=LABELS) == []


def test_one_level_for_all_is_no_tight_cell(tmp_path):
    assert cautions(tmp_path, method="full-domain", age=", hierarchy = { widths = [5, 20] }", gender=LABELS) == []


@pytest.mark.parametrize("keep", [1, 2])
def test_the_number_of_rows_is_no_range_where_groups_do_not_mix_it(keep):
    stays = overt.samples.discharges(1_000)
    table = overt.read_frame(
        stays,
        person="Patient ID",
        keep=keep,
        quasi_identifiers=["Sex", "ZIP", "Ward"],
        varies=["Ward"],
        sensitive=["HIV"],
        missing="own value",
        key=1,
    )
    method = overt.BlindBuckets(goal=overt.RelativeRisk(4))
    release = method.anonymize(table, rng=np.random.default_rng(0))
    (words,) = find_tight_cells(release, {})
    assert "'Sex'" in words and "Ward" in words and "number of rows" not in words
