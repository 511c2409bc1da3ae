# SPDX-License-Identifier: Apache-2.0
"""The hospital table is small, fixed and good for a demo."""

import polars as pl

from overt.samples import hospital, hospital_hierarchies
from overt.table import Kind


def test_has_the_columns_and_types_of_a_hospital():
    assert dict(hospital().schema) == {
        "Name": pl.String,
        "Birth date": pl.Date,
        "Postcode": pl.String,
        "Sex": pl.String,
        "Admission": pl.Date,
        "Disease": pl.String,
    }


def test_is_whole_and_names_are_unique():
    table = hospital()
    assert table.height == 96
    assert sum(table.null_count().row(0)) == 0
    assert table["Name"].n_unique() == 96


def test_everybody_is_born_before_being_admitted():
    table = hospital()
    assert (table["Birth date"] < table["Admission"]).all()
    assert set(table["Admission"].dt.year()) == {2025}


def test_six_diversity_can_be_asked_for():
    assert 6 * hospital()["Disease"].value_counts()["count"].max() <= 96


def test_nearly_everybody_is_unique_before_anonymization():
    table = hospital()
    n_alike = table.group_by("Birth date", "Postcode", "Sex").len()
    assert n_alike["len"].max() == 1


def test_the_hierarchies_cover_the_columns():
    table = hospital()
    for name, builder in hospital_hierarchies().items():
        values = table[name].unique().sort()
        kind = Kind.DATE if values.dtype == pl.Date else Kind.CATEGORY
        hierarchy = builder.build(values, kind)
        assert sorted(hierarchy.leaves.to_list()) == values.to_list()
        assert hierarchy.n_levels >= 3
