from dataclasses import replace

import numpy as np

from overt.adversary.learner.held_out import drawn_towards, learn_held_out
from overt.progress import silent
from tables import table_of


def learn(table, unit):
    return learn_held_out(
        table, table.sensitive[0], unit, np.arange(table.n_rows), rng=np.random.default_rng(5), on_progress=silent
    )


def test_nobody_is_learned_from_their_own_value_nor_from_their_group():
    """Whatever value a row has, what is believed of it and of its group before the release is looked at stays the same."""
    rng = np.random.default_rng(0)
    table = table_of([rng.integers(0, 5, 60), rng.integers(0, 3, 60)], rng.integers(0, 3, 60))
    unit = (np.arange(60) // 3).astype(np.int32)
    before, column = learn(table, unit), table.sensitive[0]
    others_change = 0
    for row in (0, 17, 59):
        codes = column.codes.copy()
        codes[row] = (codes[row] + 1) % 3
        changed = replace(table, columns=(*table.quasi_identifiers, replace(column, codes=codes)))
        after = learn(changed, unit)
        together = unit == unit[row]
        assert np.array_equal(after.chance[together], before.chance[together])
        assert np.array_equal(after.guess[together], before.guess[together])
        others_change += (after.chance[~together] != before.chance[~together]).any()
    assert others_change == 3


def test_what_only_the_person_shows_is_not_guessed():
    """One person has a quasi-identifier and a value that nobody else has."""
    quasi, value = [0] * 50 + [1] * 50 + [2], [0] * 50 + [1] * 50 + [2]
    found = learn(table_of([quasi], value), np.arange(101, dtype=np.int32))
    assert (found.guess[:100] == value[:100]).all()
    assert found.guess[100] != 2
    assert found.chance[100, 2] < 0.1


def test_many_values_are_learned_in_classes():
    rng = np.random.default_rng(1)
    quasi = rng.integers(0, 2, 3000)
    table = table_of([quasi], np.concatenate([rng.integers(0, 1000, 2999), [999]]))
    found = learn(table, np.arange(3000, dtype=np.int32))
    assert found.chance.shape[1] == 32
    assert np.allclose(found.chance.sum(axis=1), 1)


def test_a_model_of_nothing_says_the_shares():
    """63 features, no correlation: undrawn, chances of 1/4 come out off by 0.05 on the average, drawn by 0.007 to 0.017."""
    rng = np.random.default_rng(2)
    table = table_of([rng.integers(0, 8, 600), rng.integers(0, 6, 600)], rng.permutation(np.arange(600) % 4))
    found = learn(table, np.arange(600, dtype=np.int32))
    assert np.abs(found.chance - 0.25).mean() < 0.025


def test_drawn_half_way():
    share, chance = np.array([0.5, 0.5]), np.array([[0.9, 0.1]])
    assert np.allclose(drawn_towards(share, chance, 0.0), [[0.5, 0.5]])
    assert np.allclose(drawn_towards(share, chance, 1.0), chance)
    assert np.allclose(drawn_towards(share, chance, 0.5), [[0.75, 0.25]])
