# SPDX-License-Identifier: Apache-2.0
"""Numbers for texts, compared with a dictionary; records, compared with plain splitting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overt.kernels.csv_fields import FINE, number_texts, place_texts, scatter, split_records

texts = st.one_of(
    st.binary(max_size=40),
    st.builds(
        lambda stem, end: b"a long beginning that many share " * stem + end, st.integers(0, 3), st.binary(max_size=2)
    ),
)


COLLISIONS = [(0x7FC85EC2553CD395, 0x6A04FC4B5DDCD395), (0x4ACF0730633E3CAC, 0x6143ED433FDE3CAC)]


@pytest.mark.parametrize(("one", "other"), COLLISIONS)
def test_two_keys_that_scatter_alike_are_two_texts(one, other):
    """`scatter` is no bijection, and who looks finds collisions in seconds: a mark alone says nothing."""
    assert scatter(np.uint64(one)) == scatter(np.uint64(other))
    cells = [b"8 bytes:" + key.to_bytes(8, "little") + end for end in (b"!", b" and more") for key in (one, other)]
    assert numbers_of(cells, 1) == [0, 1, 2, 3]


@given(st.lists(texts, min_size=1, max_size=40), st.integers(1, 3))
def test_numbers_of_texts_are_those_of_a_dictionary(cells, n_batches):
    assert numbers_of(cells, n_batches) == [list(dict.fromkeys(cells)).index(cell) for cell in cells]


def numbers_of(cells, n_batches):
    n = len(cells) * n_batches
    slots, entries = np.full(1 << (2 * n).bit_length(), -1, np.int32), np.empty((n, 4), np.uint64)
    arena = np.empty(n_batches * sum(len(cell) + 1 for cell in cells), np.uint8)
    stops = np.cumsum([len(cell) for cell in cells]).astype(np.int32)
    starts = stops - np.array([len(cell) for cell in cells], np.int32)
    data = b"".join(cells)
    block = np.frombuffer(data + bytes(16 + -len(data) % 8), np.uint8).copy()
    n_texts = n_arena = 0
    for batch in range(n_batches):
        codes = np.empty(len(cells), np.int32)
        if batch:  # as after growing
            slots = np.full(2 * slots.size, -1, np.int32)
            place_texts(slots, entries, n_texts)
        n_texts, n_arena = number_texts(block, starts, stops, slots, entries, arena, n_texts, n_arena, codes)
        number = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
    assert bytes(arena[:n_arena]) == b"".join(cell + b"\x1f" for cell in number)
    assert [bytes(arena[int(e[2]) : int(e[2] + e[3])]) for e in entries[:n_texts]] == list(number)
    return codes.tolist()


def test_similar_keys_are_spread():
    keys = [int.from_bytes(str(number).encode(), "little") for number in range(10_000, 20_000)]
    places = {int(scatter(np.uint64(key))) & 0x3FFF for key in keys}
    assert len(places) > 6_000  # of 16,384; random ones fill 7,480


@given(st.lists(st.lists(st.sampled_from(["", "a", "bc"]), min_size=2, max_size=2), max_size=9), st.integers(0, 60))
def test_only_whole_records_are_taken(rows, cut):
    data = "".join(f"{a},{b}\n" for a, b in rows).encode()[:cut]
    block = np.frombuffer(data + bytes(8), np.uint8).copy()
    starts, stops = np.empty((2, 1, len(data) + 2), np.int32)
    fields = np.array([-1, 0], np.int32)
    n_records, n_bytes, n_lines, problem, _ = split_records(
        block, len(data), False, False, False, 44, 10, fields, starts, stops
    )
    whole = data.count(b"\n")
    assert (n_records, n_lines, problem) == (whole, whole, FINE) and n_bytes == data.rfind(b"\n") + 1
    seconds = [bytes(block[a:b]).decode() for a, b in zip(starts[0, :whole], stops[0, :whole], strict=True)]
    assert seconds == [row[1] for row in rows[:whole]]


def test_a_field_of_nothing_can_be_told_from_an_empty_text():
    data = b'x,\n"",y\n"a""b",""\n,\n'
    block = np.frombuffer(data + bytes(8), np.uint8).copy()
    for tells_empty in (False, True):
        starts, stops = np.empty((2, 2, len(data)), np.int32)
        n_records, *_ = split_records(
            block.copy(), len(data), True, False, tells_empty, 44, 10, np.array([0, 1], np.int32), starts, stops
        )  # fmt: skip
        is_nothing = (starts[:, :n_records] < 0).T.tolist()
        assert is_nothing == [[False, tells_empty], [False, False], [False, False], [tells_empty, tells_empty]]
        assert (stops[0, 2] - starts[0, 2], stops[1, 2] - starts[1, 2]) == (
            3,
            0,
        )  # a"b, which is the shorter by a quote
