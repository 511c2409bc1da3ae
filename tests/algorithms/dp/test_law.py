# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.sampling_law import delta_between, law_of_laws
from overt.algorithms.dp import law
from overt.algorithms.dp.law import delta_of_neighbours, law_of_sampling
from overt.errors import InvalidInput, TooLarge

LAWS = st.lists(
    st.dictionaries(st.sampled_from("uvw"), st.sampled_from([0.125, 0.25, 1 / 3]), max_size=3), min_size=1, max_size=4
)


@given(laws=LAWS, s=st.sampled_from([0.2, 0.5]), k=st.integers(1, 3))
@settings(deadline=None)
def test_the_law_is_that_of_every_subset(laws, s, k):
    known = law_of_laws(laws, s, k)
    found = {frozenset(multiset): float(p) for multiset, p in law_of_sampling(laws, s, k).items()}
    assert found.keys() == known.keys()
    assert all(found[output] == pytest.approx(p, abs=1e-12) for output, p in known.items())
    assert sum(law_of_sampling(laws, s, k).values()) == 1
    rest = law_of_laws(laws[:-1], s, k)
    expected = max(delta_between(known, rest, 0.75), delta_between(rest, known, 0.75))
    assert delta_of_neighbours(laws, s, k, 0.75) == pytest.approx(expected, abs=1e-12)


def test_refusals(monkeypatch):
    with pytest.raises(InvalidInput, match="add up to at most 1"):
        law_of_sampling([{"u": 0.7, "v": 0.4}], 0.5, 1)
    with pytest.raises(InvalidInput, match="at least 0"):
        law_of_sampling([{"u": -0.1}], 0.5, 1)
    with pytest.raises(InvalidInput, match="There are no records"):
        delta_of_neighbours([], 0.5, 1, 1)
    monkeypatch.setattr(law, "MOST_OUTPUTS", 2)
    with pytest.raises(TooLarge, match="more than 2 ways"):
        law_of_sampling([{"u": 1}, {"v": 1}], 0.5, 1)
