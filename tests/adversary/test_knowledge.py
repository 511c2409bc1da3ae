# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from overt.adversary.knowledge import Knowledge
from overt.errors import InvalidInput
from tables import table_of

COLUMN = table_of([[0, 1, 2]], [0, 1, 2]).sensitive[0]


def test_facts_rule_values_out():
    knowledge = Knowledge(known=(1,), excluded=((0, 2), (0, 2)))
    assert knowledge.forbidden(COLUMN).tolist() == [[False, False, True], [True, False, True], [False, False, False]]
    assert knowledge.n_facts == 2
    assert not Knowledge().forbidden(COLUMN).any()


@pytest.mark.parametrize(
    ("knowledge", "sentence"),
    [
        (Knowledge(known=(3,)), "about rows 0 to 2"),
        (Knowledge(excluded=((-1, 0),)), "about rows 0 to 2"),
        (Knowledge(excluded=((0, 3),)), "codes 0 to 2 of 's0'"),
        (Knowledge(excluded=((2, 2),)), "excludes the value that its row has"),
    ],
)
def test_what_cannot_be_known_is_refused(knowledge, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        knowledge.forbidden(COLUMN)
    assert np.array_equal(COLUMN.codes, [0, 1, 2])
