# SPDX-License-Identifier: Apache-2.0
"""What is packed small and large in memory is refused before it is read, and nothing else is."""

import gzip
import zipfile

import polars as pl
import pytest

from overt.errors import InvalidInput
from overt.studio import unpacked_size
from overt.studio.unpacked_size import is_larger, memory_left, require_room

MB = 1_000_000


def packed(folder, ending):
    """A file that is small on the disk and some megabytes when it is read."""
    path = folder / f"table{ending}"
    lines = b"Age,City\n" + b"0,a\n" * (MB // 2)
    if ending == ".csv.gz":
        path.write_bytes(gzip.compress(lines))
    elif ending in (".csv.zip", ".xlsx"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/workbook.xml", "x")
            archive.writestr("table.csv", lines)
    else:
        frame = pl.DataFrame({"Age": pl.zeros(MB // 2, eager=True), "City": ["a"] * (MB // 2)})
        frame.write_parquet(path) if ending == ".parquet" else frame.write_ipc(path, compression="zstd")
    return path


@pytest.mark.parametrize("ending", [".csv.gz", ".csv.zip", ".xlsx", ".parquet", ".arrow"])
def test_what_becomes_larger_than_memory_is_refused(tmp_path, monkeypatch, ending):
    path = packed(tmp_path, ending)
    assert path.stat().st_size < MB // 10
    assert is_larger(path, MB)
    assert not is_larger(path, 10 * MB)
    monkeypatch.setattr(unpacked_size, "memory_left", lambda: MB)
    with pytest.raises(InvalidInput, match="people.csv.gz becomes larger than"):
        require_room(path, "people.csv.gz")


@pytest.mark.parametrize(
    "content", [b"Age,City\n1,a\n", b"\x1f\x8bno gzip", b"PK\x03\x04no zip", b"PAR1 no parquet", b""]
)
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".zip", ".parquet", ".arrow"])
def test_what_is_damaged_is_left_to_its_reader(tmp_path, content, ending):
    path = tmp_path / f"table{ending}"
    path.write_bytes(content)
    assert not is_larger(path, 1)


def test_the_memory_of_this_machine_is_known():
    assert 1 << 20 < memory_left() < 1 << 50
