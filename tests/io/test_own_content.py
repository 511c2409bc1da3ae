# SPDX-License-Identifier: Apache-2.0
"""Tables that share a release are published as the same bytes, whoever else was in them."""

import io
import pickle
from datetime import UTC, datetime
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import overt
from overt.checks import check_release
from overt.checks.verdict import Claim
from overt.io.files import read_file, write_tables
from overt.io.flat import publish_flat
from overt.io.frames import read_frame
from overt.io.publication import publish, published_tables
from overt.partition import Partition
from overt.privacy import KAnonymity
from overt.release import BucketRelease, GeneralizedRelease

SECRET = "a rare disease that one person alone has"
ROLES = {"quasi_identifiers": ["job"], "sensitive": ["ill", "pay"], "others": ["note", "mark"], "missing": "drop"}

# Rows that are published; then somebody who is suppressed, in several versions.
KEPT = {
    "job": ["cook", "nurse", "cook", "nurse"],
    "ill": ["flu", "cold", "cold", "flu"],
    "pay": [30.0, 20.0, 20.0, 10.0],
    "note": ["some long text about one", "some long text about two", "three", "some long text of four"],
    "mark": ["x", "y", "y", "x"],
}
SUPPRESSED = [
    {"job": "judge", "ill": SECRET, "pay": 30.0, "note": SECRET, "mark": SECRET},
    {"job": "astronaut who lives alone", "ill": "HIVSECRET", "pay": 77.0, "note": "HIVSECRET" * 5, "mark": "a"},
    {"job": "nurse", "ill": "flu", "pay": 10.0, "note": "three", "mark": "x"},
]


def with_one_more(person, first):
    rows = {name: [person[name], *cells] if first else [*cells, person[name]] for name, cells in KEPT.items()}
    return rows, Partition(np.array([-1, 0, 0, 0, 0] if first else [0, 0, 0, 0, -1], np.int32), 1)


def polars_frame(rows):
    return pl.DataFrame(rows).with_columns(pl.col("ill", "mark").cast(pl.Categorical))


def polars_enums(rows):
    named = {name: sorted({*rows[name], "unused"}) for name in ("ill", "mark", "job")}
    return pl.DataFrame(rows).with_columns(pl.col(name).cast(pl.Enum(values)) for name, values in named.items())


def pandas_frame(rows):
    frame = pd.DataFrame(rows)
    for name in ("ill", "mark", "job"):  # as they come, and as often as they come
        frame[name] = pd.Categorical(frame[name], categories=[*frame[name].value_counts().index, "unused"])
    return frame


def pyarrow_table(rows):
    columns = {name: pa.array(cells) for name, cells in rows.items()}
    coded = {name: columns[name].dictionary_encode() for name in ("ill", "mark", "job")}
    return pa.table({**columns, **coded})


def in_all_formats(published, folder):
    """What could leave: the bytes of every format that a frame of this kind is written in."""
    if isinstance(published, pd.DataFrame):
        published.to_parquet(folder / "f.parquet")
        categories = {name: list(published[name].cat.categories) for name in published.select_dtypes("category")}
        yield repr((published.dtypes.to_dict(), categories)).encode()
        yield pickle.dumps(published)
        yield (folder / "f.parquet").read_bytes()
    elif isinstance(published, pa.Table):
        memory = io.BytesIO()
        with pa.ipc.new_file(memory, published.schema) as writer:
            writer.write_table(published)
        yield memory.getvalue()
        pq.write_table(published, folder / "f.parquet", compression="none")
        yield (folder / "f.parquet").read_bytes()
    else:
        for write in (published.write_ipc, published.write_ipc_stream, published.serialize):
            memory = io.BytesIO()
            write(memory)
            yield memory.getvalue()
        yield repr(published.schema).encode()
        yield pickle.dumps(published)
        published.write_parquet(folder / "f.parquet", compression="uncompressed")
        yield (folder / "f.parquet").read_bytes()


@pytest.mark.parametrize("frame_of", [polars_frame, polars_enums, pandas_frame, pyarrow_table])
def test_a_published_frame_is_the_same_whoever_was_suppressed(frame_of, tmp_path):
    seen = set()
    for person, first in product(SUPPRESSED, [True, False]):
        rows, partition = with_one_more(person, first)
        table = read_frame(frame_of(rows), **ROLES)
        release = GeneralizedRelease(table, partition, made_by=None)
        contents = tuple(in_all_formats(publish(release, others=["note", "mark"]), tmp_path))
        assert not any(SECRET.encode() in content or b"HIVSECRET" in content for content in contents)
        assert not any(b"unused" in content for content in contents)
        seen.add(contents)
    assert len(seen) == 1


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".arrow", ".jsonl", ".csv.gz"])
@pytest.mark.parametrize("frame_of", [polars_frame, polars_enums])
def test_a_published_file_is_the_same_whoever_was_suppressed(frame_of, suffix, tmp_path):
    seen = set()
    for person, first in product(SUPPRESSED, [True, False]):
        rows, partition = with_one_more(person, first)
        release = GeneralizedRelease(read_frame(frame_of(rows), **ROLES), partition, made_by=None)
        path = tmp_path / f"release{suffix}"
        write_tables({path: published_tables(release, others=["note", "mark"])["release"]}, overwrite=True)
        seen.add(path.read_bytes())
    assert len(seen) == 1


def test_categories_of_published_tables_are_those_of_their_rows():
    rows, partition = with_one_more(SUPPRESSED[1], first=True)
    release = GeneralizedRelease(read_frame(polars_enums(rows), **ROLES), partition, made_by=None)
    assert publish(release)["ill"].dtype == pl.Enum(["cold", "flu"])
    assert {str(dtype) for dtype in published_tables(release)["release"].schema.values()} == {
        "Enum(categories=['*'])",
        "Enum(categories=['cold', 'flu'])",
        "Float64",
    }


def test_a_set_of_all_published_values_is_everything_whoever_was_suppressed():
    """That a suppressed judge was a third value must not show in the set of the others; and a check reads the same."""
    for person in SUPPRESSED:
        rows, partition = with_one_more(person, first=False)
        table = read_frame(pl.DataFrame(rows), **ROLES)
        tables = published_tables(GeneralizedRelease(table, partition, made_by=None))
        assert set(tables["release"]["job"].cast(pl.String)) == {"*"}
        claim = Claim(goal=KAnonymity(4), n_rows=4)
        for witness in (None, partition):
            assert check_release(table, tables, claim, witness=witness).ok


def test_sets_have_one_order_however_many_values_the_suppressed_add():
    """With up to 64 values sets are compared as bits, with more as lists; the rows must stand in one order."""
    kept = [["a", "b"], ["a", "b", "c"], ["a"], ["b"], ["a", "c"], ["d", "e"]]
    orders = set()
    for n_more in (1, 80):
        cells = [cell for group in kept for cell in group] + [f"more {i}" for i in range(n_more)]
        group_of_row = [i for i, group in enumerate(kept) for _ in group] + [-1] * n_more
        table = read_frame(pl.DataFrame({"job": cells}), quasi_identifiers=["job"])
        partition = Partition(np.array(group_of_row, np.int32), len(kept))
        tables = published_tables(GeneralizedRelease(table, partition, made_by=None))
        orders.add(tuple(tables["release"]["job"].cast(pl.String)))
        assert check_release(table, tables, Claim(goal=KAnonymity(1), n_rows=len(cells) - n_more), witness=partition).ok
    assert len(orders) == 1
    assert list(dict.fromkeys(orders.pop())) == ["{a, b, c}", "{a, b}", "{a, c}", "a", "b", "{d, e}"]


@pytest.mark.parametrize("pay", ["41.5", "40", "4e+1"])
def test_numbers_of_a_text_file_are_written_alike_whoever_was_suppressed(pay, tmp_path):
    (tmp_path / "t.csv").write_text(f"job,pay\ncook,30\ncook,20\njudge,{pay}\n")
    table = read_file(tmp_path / "t.csv", quasi_identifiers=["job"], sensitive=["pay"], kinds={"pay": "number"})
    release = GeneralizedRelease(table, Partition(np.array([0, 0, -1], np.int32), 1), made_by=None)
    published = publish(release)
    assert published.schema["pay"] == pl.Int64 and published["pay"].to_list() == [20, 30]


@pytest.mark.parametrize("dropped", [[], [None]])
def test_numbers_of_pandas_are_whole_whoever_was_dropped(dropped):
    """Somebody without a value makes all of a pandas column floats; left out, they must not show in its type."""
    frame = pd.DataFrame({"job": ["a", "b", *dropped], "pay": [1, 2, *dropped], "mark": [5, 6, *dropped]})
    table = read_frame(frame, quasi_identifiers=["job"], sensitive=["pay"], missing="drop")
    partition = Partition(np.zeros(2, np.int32), 1)
    for release in (GeneralizedRelease(table, partition, None), BucketRelease(table, partition, None)):
        frames = publish(release, others=["mark"])
        frames = frames if isinstance(frames, tuple) else (frames,)
        types = {name: str(dtype) for one in frames for name, dtype in one.dtypes.items()}
        assert (types["pay"], types["mark"]) == ("int64", "int64")


def test_dropped_people_leave_no_category_in_buckets_and_flat():
    rows = {name: [*cells, "HIVSECRET"] if name != "pay" else [*cells, None] for name, cells in KEPT.items()}
    table = read_frame(polars_enums(rows), **ROLES)
    release = BucketRelease(table, Partition.from_groups([[0, 1], [2, 3]]), made_by=None)
    people, sensitive = publish(release, others=["note", "mark"])
    flat = publish_flat(release, others=["note", "mark"])
    for frame in (people, sensitive, flat, *published_tables(release, others=["note", "mark"]).values()):
        assert b"HIVSECRET" not in pickle.dumps(frame) and "HIVSECRET" not in repr(frame.schema)


@pytest.mark.parametrize("form", ["range", "set"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_quasi_identifiers_are_written_alike_whoever_was_suppressed(form, suffix, tmp_path):
    """A fraction, or an hour, that only somebody who is suppressed has must not show in how others are written."""
    kept = {"age": [20.0, 35.0, 20.0], "seen": [datetime(2024, 3, 31), datetime(2024, 4, 1), datetime(2024, 3, 31)]}
    others = [(36.0, datetime(2024, 5, 1)), (20.5, datetime(2024, 5, 1, 7, 30)), (20.5, datetime(2024, 5, 1))]
    seen = set()
    for age, moment in others:
        frame = pl.DataFrame({"age": [*kept["age"], age], "seen": [*kept["seen"], moment]})
        {".csv": frame.write_csv, ".jsonl": frame.write_ndjson, ".parquet": frame.write_parquet}[suffix](
            tmp_path / f"t{suffix}"
        )
        roles = ["age"] if suffix == ".csv" else ["age", "seen"]
        table = read_file(tmp_path / f"t{suffix}", quasi_identifiers=roles)
        partition = Partition(np.array([0, 0, 1, -1], np.int32), 2)
        show = dict.fromkeys(roles, form)
        tables = published_tables(GeneralizedRelease(table, partition, made_by=None), show=show)
        assert check_release(table, tables, Claim(goal=KAnonymity(1), n_rows=3, show=show), witness=partition).ok
        seen.add(tuple(tables["release"].cast(pl.String).rows()))
    assert len(seen) == 1
    assert {row[0] for row in seen.pop()} == {"20", "20..35" if form == "range" else "*"}


@pytest.mark.parametrize(
    "of", [lambda c: pl.concat_list(c), lambda c: pl.struct(x=c), lambda c: pl.struct(x=pl.concat_list(c))]
)
@pytest.mark.parametrize("categories", [pl.Enum([SECRET, "x", "y"]), pl.Categorical])
def test_categories_inside_lists_and_structs_are_texts(of, categories, tmp_path):
    """A type that names its categories would name those of the suppressed too."""
    frame = pl.DataFrame(KEPT).vstack(pl.DataFrame([{**SUPPRESSED[0], "job": "judge"}]).select(list(KEPT)))
    frame = frame.with_columns(mark=of(pl.col("mark").cast(categories)))
    table = read_frame(frame, **ROLES)
    release = GeneralizedRelease(table, Partition(np.array([0, 0, 0, 0, -1], np.int32), 1), made_by=None)
    published = publish(release, others=["mark"])
    assert published.height == 4 and SECRET not in str(published.schema)
    write_tables({tmp_path / "release.parquet": published_tables(release, others=["mark"])["release"]})
    assert SECRET.encode() not in (tmp_path / "release.parquet").read_bytes()
    assert SECRET.encode() not in pickle.dumps(published)


def test_lists_and_structs_are_released_to_parquet_and_checked(tmp_path):
    n = 12
    mark = pl.Series([SECRET, *["x", "y"] * 6][:n])
    people = pl.DataFrame({"age": [99, *[20] * 6, *[30] * 5], "ill": ["zz", *["a", "b"] * 6][:n]})
    lists = pl.DataFrame({"mark": mark}).select(
        pl.concat_list(pl.col("mark").cast(pl.Enum([SECRET, "x", "y"]))).alias("list"),
        pl.struct("mark").alias("struct"),
    )
    people.hstack(lists).write_parquet(tmp_path / "people.parquet")
    (tmp_path / "recipe.toml").write_text(
        'version = 1\n[input]\npath = "people.parquet"\n[columns.age]\nrole = "quasi-identifier"\n[columns.ill]\nrole = "sensitive"\n'
        '[[goal]]\nproperty = "k-anonymity"\nk = 3\n[method]\nname = "full-domain"\nmax_suppressed = 0.2\n'
        '[output]\npath = "release.parquet"\nothers = ["list", "struct"]\n'
    )
    assert overt.run(tmp_path / "recipe.toml", audit=False).ok
    path = tmp_path / "release.parquet"
    assert SECRET.encode() not in path.read_bytes()
    assert overt.check(tmp_path / "people.parquet", path).ok
    released = pl.read_parquet(path)
    released.with_columns(pl.col("list").shift(1, fill_value=pl.lit(["z"]))).write_parquet(path, compression="zstd")
    failed = {finding.name for finding in overt.check(tmp_path / "people.parquet", path).verdict.failures}
    assert failed > {"digests"}


def beneath(kind):
    """A column of PyArrow of four cells, the second and the last missing, with something in their place; and that something as it is stored."""
    arrow = pytest.importorskip("pyarrow")
    known = arrow.py_buffer(bytes([0b0101]))
    texts = [known, *map(arrow.py_buffer, (np.array([0, 1, 7, 8, 14]).tobytes(), b"aSECRETbSECRET"))]
    numbers = [known, arrow.py_buffer(np.array([1, 987_654_321_987, 3, 987_654_321_987]).tobytes())]
    if kind in ("list", "struct"):
        inner = arrow.Array.from_buffers(arrow.large_string(), 4, texts)
        outer = {"list": lambda: arrow.LargeListArray.from_arrays(arrow.array(range(5), arrow.int64()), inner), "struct": lambda: arrow.StructArray.from_arrays([inner], ["x"])}  # fmt: skip
        return outer[kind](), b"SECRET"
    dtype = {"text": arrow.large_string(), "bytes": arrow.large_binary(), "number": arrow.int64(), "moment": arrow.timestamp("us")}[kind]  # fmt: skip
    is_text = kind in ("text", "bytes")
    column = arrow.Array.from_buffers(dtype, 4, texts if is_text else numbers)
    return column, b"SECRET" if is_text else np.int64(987_654_321_987).tobytes()


@pytest.mark.parametrize("kind", ["text", "bytes", "number", "moment", "list", "struct"])
def test_nothing_stands_in_the_place_of_a_missing_cell(kind):
    """What a reader or a program left there could be anybody's: Polars leaves texts of other rows."""
    hidden, secret = beneath(kind)
    frame = pl.DataFrame({"job": ["a"] * 4, "mark": pl.Series(hidden)})
    table = read_frame(frame, quasi_identifiers=["job"])
    release = GeneralizedRelease(table, Partition(np.zeros(4, np.int32), 1), None)
    assert secret in content_of(frame)
    published = publish(release, others=["mark"])
    assert secret not in content_of(published)
    assert sorted(map(str, published["mark"])) == sorted(map(str, frame["mark"]))


def content_of(frame):
    """What an Arrow file of a frame holds."""
    memory = io.BytesIO()
    frame.write_ipc(memory, compat_level=pl.CompatLevel.oldest())
    return memory.getvalue()


def test_a_text_of_somebody_who_was_suppressed_is_not_in_an_arrow_file_in_the_place_of_a_missing_one(tmp_path):
    """Reading Parquet leaves texts of the column in the place of its missing cells."""
    for place in range(9):
        ages, notes = [20 + i % 4 for i in range(9)], ["a", None, None] * 3
        ages[place], notes[place] = 71, "SECRETSECRETSECRET"
        frame = pl.DataFrame({"age": ages, "ill": ["flu", "cold", "gout"] * 3, "note": notes})
        frame.write_parquet(tmp_path / "people.parquet")
        (tmp_path / "recipe.toml").write_text(
            'version = 1\n[input]\npath = "people.parquet"\n[columns.age]\nrole = "quasi-identifier"\nhierarchy = { widths = [10, 100] }\n'
            '[columns.ill]\nrole = "sensitive"\n[[goal]]\nproperty = "k-anonymity"\nk = 4\n[method]\nname = "full-domain"\nmax_suppressed = 0.4\n'
            '[output]\npath = "release.arrow"\nothers = ["note"]\n'
        )
        outcome = overt.run(tmp_path / "recipe.toml", overwrite=True, audit=False)
        assert outcome.ok and outcome.n_suppressed == 1
        assert b"SECRET" not in (tmp_path / "release.arrow").read_bytes()
        assert overt.check(tmp_path / "people.parquet", tmp_path / "release.arrow").ok


@pytest.mark.parametrize("shown", [True, datetime(2024, 3, 31, tzinfo=UTC), 1.5])
def test_a_published_frame_is_not_marked_as_sorted_because_of_who_was_suppressed(shown):
    found = set()
    for lonely in (shown, None):
        frame = pl.DataFrame(
            {"job": ["a"] * 3, "mark": [shown, shown, lonely]}, schema_overrides={"mark": pl.Series([shown]).dtype}
        )
        table = read_frame(frame, quasi_identifiers=["job"], sensitive=["mark"], missing="own value")
        release = GeneralizedRelease(table, Partition(np.array([0, 0, -1], np.int32), 1), None)
        found.add(pickle.dumps(publish(release)))
    assert len(found) == 1
