# SPDX-License-Identifier: Apache-2.0
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overt.kernels.coarsening import keep_better, merge_groups


@given(
    rows=st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=40),
    axis=st.integers(0, 2),
    parent=st.lists(st.integers(6, 8), min_size=6, max_size=6),
)
def test_groups_merge_as_a_dictionary_would(rows, axis, parent):
    rows = sorted(rows)
    counts = np.arange(len(rows), dtype=np.int64)
    step = np.array([*parent, 6, 7, 8], np.int32)
    merged, total, became = merge_groups(np.array(rows, np.int32), counts, axis, step)
    risen = [tuple(int(step[x]) if j == axis else x for j, x in enumerate(row)) for row in rows]
    expected = Counter()
    for row, count in zip(risen, counts.tolist(), strict=True):
        expected[row] += count
    assert [tuple(row) for row in merged.tolist()] == list(dict.fromkeys(risen))
    assert dict(zip(map(tuple, merged.tolist()), total.tolist(), strict=True)) == dict(expected)
    assert [tuple(merged[g].tolist()) for g in became] == risen


@given(data=st.data(), n=st.integers(1, 6))
def test_the_better_is_kept_and_ties_stay(data, n):
    small = st.integers(0, 2)
    scores = st.lists(st.tuples(small, small, st.sampled_from([-1, 3])), min_size=n, max_size=n)
    known, new = data.draw(scores), data.draw(scores)
    group = np.array(data.draw(st.permutations(range(n))), np.int32)
    arrays = [
        np.array(column, kind) for column, kind in zip(zip(*known, strict=True), (float, float, np.int64), strict=True)
    ]
    others = [
        np.array(column, kind) for column, kind in zip(zip(*new, strict=True), (float, float, np.int64), strict=True)
    ]
    support = np.full(n, 10), np.full(n, 20)
    keep_better(*arrays, support[0], *others, support[1], group)
    for i in range(n):
        one, other = known[i], new[group[i]]
        takes = other[2] >= 0 and (one[2] < 0 or other[:2] < one[:2])
        assert (arrays[0][i], arrays[1][i], arrays[2][i]) == (other if takes else one)
        assert support[0][i] == (20 if takes else 10)
