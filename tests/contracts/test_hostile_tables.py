# SPDX-License-Identifier: Apache-2.0
"""Tables that nobody expects, each with its answer: a release that holds its goal, or a refusal that says why."""

import numpy as np
import polars as pl
import pytest

import overt
from overt.cli import main
from overt.cli.console import Exit
from overt.errors import InvalidInput, Unreachable

K2, L2 = overt.KAnonymity(2), overt.FrequencyLDiversity(2)
RECIPE = """version = 1
input = { path = "data.csv" }
columns = { a = { role = "quasi-identifier" }, s = { role = "sensitive" } }
goal = [{ property = "k-anonymity", k = 2 }]
method = { name = "mondrian" }
output = { path = "release.csv" }
"""


def table(frame, quasi_identifiers=("a",), sensitive=("s",), **more):
    there = [name for name in sensitive if name in frame.columns]
    return overt.read_frame(frame, quasi_identifiers=list(quasi_identifiers), sensitive=there, **more)


def released(frame, method, **how):
    """A release that holds its goal and loses nobody."""
    read = table(frame, **how)
    release = method.anonymize(read, rng=np.random.default_rng(1))
    assert method.goal.holds(release.groups)
    published = overt.publish(release)
    for one in published if isinstance(published, tuple) else (published,):
        assert one.height == read.n_rows
    return published


def round_trip(folder, frame=None, content=None):
    """A run and its check on the command line; the release as text."""
    (folder / "data.csv").write_bytes(content) if content is not None else frame.write_csv(folder / "data.csv")
    (folder / "recipe.toml").write_text(RECIPE)
    assert main(["run", str(folder / "recipe.toml"), "--quiet", "--no-audit"]) == Exit.DONE
    assert main(["check", str(folder / "data.csv"), str(folder / "release.csv"), "--quiet"]) == Exit.DONE
    return pl.read_csv(folder / "release.csv", infer_schema=False)


def test_one_row():
    one = pl.DataFrame({"a": [1], "s": ["x"]})
    assert released(one, overt.Mondrian(goal=overt.KAnonymity(1))).rows() == [("1", "x")]
    for method in (
        overt.Mondrian(goal=K2),
        overt.BlindBuckets(goal=L2, k=2),
        overt.Anatomy(goal=overt.DistinctLDiversity(2)),
    ):
        with pytest.raises(Unreachable, match="1 rows"):
            method.anonymize(table(one), rng=np.random.default_rng(1))


def test_no_rows():
    with pytest.raises(InvalidInput, match="no rows"):
        overt.Mondrian(goal=K2).anonymize(table(pl.DataFrame({"a": [1], "s": ["x"]}).head(0)))


def test_one_column():
    shown = released(pl.DataFrame({"a": [1, 2, 3, 4]}), overt.Mondrian(goal=K2))
    assert sorted(shown.get_column("a").to_list()) == ["1..2", "1..2", "3..4", "3..4"]
    with pytest.raises(InvalidInput, match="No quasi-identifier is named"):
        table(pl.DataFrame({"s": ["x", "y"]}), quasi_identifiers=())


def test_all_equal():
    assert set(released(pl.DataFrame({"a": [7] * 50}), overt.Mondrian(goal=overt.KAnonymity(5))).rows()) == {("7",)}
    with pytest.raises(Unreachable, match="50 of 50 rows"):
        released(pl.DataFrame({"a": [7] * 50, "s": ["x"] * 50}), overt.BlindBuckets(goal=L2))


def test_all_distinct():
    frame = pl.DataFrame({"a": [f"v{i:03}" for i in range(100)], "s": [f"s{i}" for i in range(100)]})
    sets = released(frame, overt.Mondrian(goal=overt.KAnonymity(5)))
    assert sets.get_column("a").n_unique() == 16  # halves of halves: 100 rows in groups of 6 or 7
    assert set(released(frame.select("a"), overt.FullDomain(goal=K2)).rows()) == {("*",)}
    people, values = released(frame, overt.BlindBuckets(goal=overt.FrequencyLDiversity(4), k=4))
    assert people.height == values.height == 100


def test_ten_thousand_columns(tmp_path):
    draw, n = np.random.default_rng(1), 10_000
    wide = pl.DataFrame({f"c{i}": draw.integers(0, 4, 12) for i in range(n)})
    wide.write_csv(tmp_path / "wide.csv")
    read = overt.read_file(tmp_path / "wide.csv", quasi_identifiers=["c0", f"c{n - 1}"], sensitive=["c2"], others=[])
    assert read.n_rows == 12
    assert [column.name for column in read.quasi_identifiers] == ["c0", f"c{n - 1}"]
    everything = overt.read_frame(wide, quasi_identifiers=wide.columns, sensitive=(), others=[])
    release = overt.Mondrian(goal=overt.KAnonymity(3)).anonymize(everything)
    assert overt.KAnonymity(3).holds(release.groups) and len(release.table.quasi_identifiers) == n
    names = wide.columns[:500]  # a column takes a millisecond to publish
    shown = released(wide, overt.Mondrian(goal=overt.KAnonymity(3)), quasi_identifiers=names, sensitive=(), others=[])
    assert shown.columns == names
    assert shown.group_by(pl.all()).len().get_column("len").min() >= 3


def test_a_million_different_sensitive_values():
    n = 1_000_000
    frame = pl.DataFrame({"a": np.arange(n) % 100, "s": np.arange(n)})
    people, values = released(frame, overt.BlindBuckets(goal=overt.FrequencyLDiversity(5), k=5))
    assert values.get_column("s").n_unique() == n
    assert people.get_column("bucket").n_unique() == values.get_column("bucket").n_unique()


def test_zero_bytes(tmp_path):
    frame = pl.DataFrame({"a": ["x\0y", "x", "x\0y", "x", "\0", "\0"], "s": ["p\0", "q", "q", "p\0", "p\0", "q"]})
    shown = released(frame, overt.Mondrian(goal=K2))
    assert set(shown.get_column("a").to_list()) == {"x\0y", "x", "\0"}  # in a frame they are characters like others
    frame.write_csv(tmp_path / "data.csv")
    with pytest.raises(InvalidInput, match="zero bytes"):  # in a file they say that it is none of text
        overt.read_file(tmp_path / "data.csv", quasi_identifiers=["a"], sensitive=["s"])


def test_every_plane_of_unicode(tmp_path):
    values = [f"{chr((plane << 16) + 0x1F0)}v" for plane in range(17)]
    frame = pl.DataFrame({"a": values * 2, "s": values[::-1] * 2})
    shown = round_trip(tmp_path, frame)
    assert set(shown.get_column("a").to_list()) == set(values)
    assert sorted(shown.get_column("s").to_list()) == sorted(values * 2)


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
def test_infinities_are_the_ends_of_ranges(dtype):
    frame = pl.DataFrame({"a": pl.Series([1.0, float("inf"), 2.0, float("-inf")], dtype=dtype), "s": list("xyxy")})
    assert set(released(frame, overt.Mondrian(goal=K2)).get_column("a").to_list()) == {"-inf..1", "2..inf"}


def test_what_is_no_number_is_missing():
    frame = pl.DataFrame({"a": [1.0, float("nan"), 2.0, float("nan")], "s": list("xyxy")})
    assert set(released(frame, overt.Mondrian(goal=K2)).get_column("a").to_list()) == {None, "1..2"}
    with pytest.raises(InvalidInput, match="missing in 2 of 4 rows"):
        overt.read_frame(frame, quasi_identifiers=["s"], sensitive=["a"])


def test_the_ends_of_what_numbers_can_be():
    signed = pl.DataFrame({"a": [2**63 - 1, -(2**63), 0, 1], "s": list("xyxy")})
    assert set(released(signed, overt.Mondrian(goal=K2)).get_column("a").to_list()) == {
        f"{-(2**63)}..0",
        f"1..{2**63 - 1}",
    }
    unsigned = pl.DataFrame({"a": pl.Series([2**64 - 1, 0, 5, 6], dtype=pl.UInt64), "s": list("xyxy")})
    assert set(released(unsigned, overt.Mondrian(goal=K2)).get_column("a").to_list()) == {"0..5", f"6..{2**64 - 1}"}
    tiny = pl.DataFrame({"a": [5e-324, 1.7e308, -1.7e308, 0.0], "s": list("xyxy")})
    assert set(released(tiny, overt.Mondrian(goal=K2)).get_column("a").to_list()) == {
        "-1.7e+308..0",
        "5e-324..1.7e+308",
    }


def test_mixed_types_of_a_file_are_texts(tmp_path):
    content = 'a,s\n1,p\nx,p\n2024-01-01,q\n1e3,q\n"1,5",p\n٣,q\n'.encode()
    cells = set(round_trip(tmp_path, content=content).get_column("a").to_list())
    assert cells and all(cell.startswith("{") for cell in cells)  # a category: sets, and no range


@pytest.mark.parametrize("cells", [[{"k": 1}, {"k": 2}], [[1], [2]], [b"1", b"2"]], ids=["struct", "list", "bytes"])
def test_cells_that_are_no_single_value_are_refused(cells):
    with pytest.raises(InvalidInput, match="no order to generalize by"):
        table(pl.DataFrame({"a": cells, "s": ["x", "y"]}))
