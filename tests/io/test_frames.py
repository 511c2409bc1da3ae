# SPDX-License-Identifier: Apache-2.0
"""Frames of three kinds in, and out as they came: index, nulls, types and roles."""

from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from overt.errors import InvalidInput
from overt.hierarchy import Flat
from overt.io.frames import read_frame
from overt.io.publication import owner_view, publish
from overt.partition import Partition
from overt.release import GeneralizedRelease
from overt.table import Kind, Role

PEOPLE = {
    "name": ["Ann", "Bob", "Cid", "Dan"],
    "age": [31, None, 36, 40],
    "sex": ["f", "m", None, "m"],
    "note": [1.5, 2.5, 3.5, 4.5],
    "ill": ["flu", "cold", "flu", "hiv"],
}
ROLES = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"], "identifiers": ["name"]}
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_comes_in_and_goes_out_as_the_same_kind(kind):
    frame = KINDS[kind](PEOPLE)
    table = read_frame(frame, **ROLES)
    assert table.frame_kind == kind and table.identifiers == ("name",)
    assert [(column.name, column.role) for column in table.columns] == [
        ("age", Role.QUASI_IDENTIFIER),
        ("sex", Role.QUASI_IDENTIFIER),
        ("ill", Role.SENSITIVE),
    ]
    assert table.column("age").values.to_list() == [31, 36, 40, None]
    assert table.column("sex").codes.tolist() == [0, 1, 2, 1]
    release = GeneralizedRelease(table, Partition.from_groups([[0, 1], [2, 3]]), made_by=None)
    published = publish(release, others=["note"])
    assert isinstance(published, type(frame))
    assert pl.DataFrame(published).to_dict(as_series=False) == {
        "age": ["31 or missing", "31 or missing", "36..40", "36..40"],
        "sex": ["{f, m}", "{f, m}", "{m, missing}", "{m, missing}"],
        "note": [2.5, 1.5, 3.5, 4.5],
        "ill": ["cold", "flu", "flu", "hiv"],
    }
    assert isinstance(owner_view(release), type(frame))


@pytest.mark.parametrize("index", [[100, 101, 102, 103], [3, 1, 0, 2], [7, 7, 7, 7], ["d", "c", "b", "a"]])
def test_the_index_of_a_pandas_frame_plays_no_part(index):
    # peers.md: another tool mixes labels and positions, and reports l = 2 where l = 1 is true
    plain = read_frame(pd.DataFrame(PEOPLE), **ROLES)
    indexed = read_frame(pd.DataFrame(PEOPLE, index=index), **ROLES)
    for one, other in zip(plain.columns, indexed.columns, strict=True):
        assert one.codes.tolist() == other.codes.tolist() and one.values.to_list() == other.values.to_list()
    assert plain.others.equals(indexed.others)
    release = GeneralizedRelease(indexed, Partition.from_groups([[0, 1], [2, 3]]), made_by=None)
    assert publish(release).index.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_with_a_missing_quasi_identifier_are_counted(kind):
    # peers.md: another tool loses them and reports k = 5 for a row that stands alone
    frame = KINDS[kind]({"q": ["a"] * 5 + ["b"] * 5 + [None], "s": list("uvwxyuvwxyu")})
    table = read_frame(frame, quasi_identifiers=["q"], sensitive=["s"])
    assert table.n_rows == 11 and table.column("q").codes.tolist() == [0] * 5 + [1] * 5 + [2]
    assert table.column("q").missing_code == 2


def test_the_frame_is_not_changed():
    frame = pd.DataFrame(PEOPLE)
    before = frame.copy()
    read_frame(frame, **ROLES)
    pd.testing.assert_frame_equal(frame, before)


def test_types_of_pandas():
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(["mid", "lo", "hi"], categories=["lo", "mid", "hi"], ordered=True),
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "seen": pd.to_datetime(["2020-01-02", None, "2020-01-01"]),
            "flag": [True, False, True],
            "text": pd.array(["a", None, "b"], dtype="string"),
        }
    )
    table = read_frame(frame, quasi_identifiers=["size", "whole", "seen", "flag", "text"])
    assert table.column("size").values.to_list() == ["lo", "mid", "hi"]
    assert table.column("whole").values.to_list() == [1, 3, None]
    assert table.column("seen").kind is Kind.DATE
    assert table.column("seen").values.to_list()[:1] == [datetime(2020, 1, 1).date()]
    assert table.column("flag").values.to_list() == ["false", "true"]
    assert table.column("text").missing_code == 2


def test_ordered_categories_of_pyarrow_keep_their_order():
    order = pa.DictionaryArray.from_arrays(pa.array([1, 0, 2], pa.int8()), pa.array(["lo", "mid", "hi"]), ordered=True)
    table = read_frame(pa.table({"size": order}), quasi_identifiers=["size"])
    assert table.column("size").values.to_list() == ["lo", "mid", "hi"]


def test_sensitive_columns_go_out_as_the_type_that_came_in():
    frame = pd.DataFrame(
        {
            "age": [1, 2],
            "size": pd.Categorical(["mid", "lo"], categories=["lo", "mid", "hi"], ordered=True),
            "group": pd.Categorical(["z", "b"]),
            "dose": np.array([3, 4], np.int8),
            "pay": [20.5, 30.0],
            "flag": [True, False],
            "seen": pd.to_datetime(["2020-01-02", "2020-01-01"]),
        }
    )
    table = read_frame(frame, quasi_identifiers=["age"], sensitive=["size", "dose", "pay", "flag", "seen"])
    published = publish(GeneralizedRelease(table, Partition.from_groups([[0, 1]]), made_by=None), others=["group"])
    assert published["size"].tolist() == ["lo", "mid"] and published["size"].cat.categories.tolist() == ["lo", "mid"]
    assert published["group"].tolist() == ["b", "z"] and published["group"].cat.categories.tolist() == ["b", "z"]
    assert published["dose"].dtype == np.int8 and published["pay"].dtype == np.float64
    assert published["flag"].tolist() == [False, True]
    assert str(published["seen"].dtype) == str(frame["seen"].dtype)


def test_lazy_frames_are_collected():
    assert read_frame(pl.LazyFrame(PEOPLE), **ROLES).n_rows == 4


def test_missing_sensitive_values_are_refused_with_the_count_and_the_options():
    frame = pl.DataFrame({"age": [1, 2, 3], "ill": ["flu", None, " "], "x": [1, 2, 3]})
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    with pytest.raises(InvalidInput, match=r"'ill' is missing in 2 of 3 rows.*'drop'.*'own value'"):
        read_frame(frame, **roles)
    dropped = read_frame(frame, **roles, missing="drop")
    assert (dropped.n_rows, dropped.n_dropped) == (1, 2)
    assert dropped.column("age").values.to_list() == [1] and dropped.others.to_dict(as_series=False) == {"x": [1]}
    kept = read_frame(frame, **roles, missing="own value")
    assert (kept.n_rows, kept.n_dropped) == (3, 0) and kept.column("ill").codes.tolist() == [0, 1, 1]


def test_missing_is_judged_in_every_sensitive_column():
    frame = pl.DataFrame({"age": [1, 2, 3], "a": ["x", None, "y"], "b": [None, 1, 2]})
    assert read_frame(frame, quasi_identifiers=["age"], sensitive=["a", "b"], missing="drop").n_dropped == 2


def test_only_the_other_columns_that_are_asked_for_are_kept():
    frame = pl.DataFrame({"age": [1], "x": [1], "y": [1]})
    assert read_frame(frame, quasi_identifiers=["age"]).others.columns == ["x", "y"]
    assert read_frame(frame, quasi_identifiers=["age"], others=["y"]).others.columns == ["y"]
    assert read_frame(frame, quasi_identifiers=["age"], others=[]).others.columns == []


def test_nested_types_may_be_other_columns_but_have_no_role():
    frame = pl.DataFrame({"age": [1, 2], "tags": [["b"], ["a"]]})
    table = read_frame(frame, quasi_identifiers=["age"])
    published = publish(GeneralizedRelease(table, Partition.from_groups([[0, 1]]), made_by=None), others=["tags"])
    assert published["tags"].to_list() == [["a"], ["b"]]
    with pytest.raises(InvalidInput, match="'tags' is of type List"):
        read_frame(frame, quasi_identifiers=["tags"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"quasi_identifiers": []}, "No quasi-identifier is named"),
        ({"quasi_identifiers": "age"}, r"write \['age'\] instead of 'age'"),
        ({"quasi_identifiers": ["agee"]}, "no column 'agee'; the columns are 'name', 'age'"),
        ({"quasi_identifiers": ["*"]}, r"called '\*'.*rename it"),
        (
            {"quasi_identifiers": ["age"], "sensitive": ["^.*$"]},
            "which stands for several columns elsewhere; rename it",
        ),
        ({"quasi_identifiers": ["age"], "sensitive": ["age"]}, "'age' is given more than one role"),
        ({"quasi_identifiers": ["age"], "others": ["age"]}, "'age' is given more than one role"),
        ({"quasi_identifiers": ["age"], "missing": "guess"}, "missing is 'refuse', 'drop' or 'own value'"),
        ({"quasi_identifiers": ["age"], "kinds": {"age": "money"}}, "number, date, category, not 'money'"),
        ({"quasi_identifiers": ["age"], "kinds": {"sex": "category"}}, "kinds names 'sex'"),
        ({"quasi_identifiers": ["age"], "hierarchies": {"sex": Flat()}}, "hierarchies names 'sex'"),
    ],
)
def test_mistakes_in_the_roles_are_named(settings, message):
    with pytest.raises(InvalidInput, match=message):
        read_frame(pl.DataFrame(PEOPLE), **settings)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"age": [1, "secret"]}), "Column 'age' mixes types"),
        (pd.DataFrame([[1, 2]], columns=["age", 5]), "name that is not a text"),
        (pd.DataFrame([[1, 2]], columns=["age", "age"]), "two of its columns have the same name"),
        ({"age": [1]}, "A dict is not a frame"),
        (pl.DataFrame({"age": pl.Series([], dtype=pl.Int64)}), "no rows"),
    ],
)
def test_frames_that_cannot_be_read(frame, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        read_frame(frame, quasi_identifiers=["age"])
    assert "secret" not in str(caught.value)
