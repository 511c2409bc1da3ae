import numpy as np

from overt.adversary.learner.indicators import Indicators, levels_of
from overt.adversary.learner.log_linear import RIDGE, LogLinear
from overt.kernels.log_linear import loss_and_slope
from tables import table_of


def test_finds_the_minimum():
    """At the minimum the slope of the loss and the ridge vanishes."""
    rng = np.random.default_rng(0)
    table = table_of([rng.integers(0, 4, 300), rng.integers(0, 3, 300)], rng.integers(0, 3, 300))
    indicators, column = Indicators.of(table.quasi_identifiers), table.sensitive[0]
    model = LogLinear.fit(indicators, column.codes, 3, np.arange(300))
    _, slope = loss_and_slope(indicators.active, column.codes, np.arange(300), model.weights)
    ridge = np.array([RIDGE[int(kind)] for kind in indicators.kind])[:, None]
    assert np.abs(slope + ridge * model.weights).max() < 0.5  # of 300 rows

    def loss(weights):
        return (
            loss_and_slope(indicators.active, column.codes, np.arange(300), weights)[0] + (ridge * weights**2).sum() / 2
        )

    for _ in range(20):
        assert loss(model.weights + 0.05 * rng.normal(size=model.weights.shape)) > loss(model.weights)


def test_slope_is_that_of_the_loss():
    rng = np.random.default_rng(1)
    table = table_of([rng.integers(0, 3, 40)], rng.integers(0, 3, 40))
    active, codes, rows = Indicators.of(table.quasi_identifiers).active, table.sensitive[0].codes, np.arange(40)
    weights = rng.normal(size=(active.max() + 1, 3))
    _, slope = loss_and_slope(active, codes, rows, weights)
    for f in range(weights.shape[0]):
        for c in range(3):
            up, down = weights.copy(), weights.copy()
            up[f, c] += 1e-5
            down[f, c] -= 1e-5
            by_difference = (
                loss_and_slope(active, codes, rows, up)[0] - loss_and_slope(active, codes, rows, down)[0]
            ) / 2e-5
            assert abs(by_difference - slope[f, c]) < 1e-5


def test_learns_a_pair_of_columns():
    """Exclusive or: neither column alone says anything."""
    rng = np.random.default_rng(2)
    one, other = rng.integers(0, 2, 2000), rng.integers(0, 2, 2000)
    table = table_of([one, other], one ^ other)
    indicators = Indicators.of(table.quasi_identifiers)
    model = LogLinear.fit(indicators, table.sensitive[0].codes, 2, np.arange(1000))
    chances = model.chances(indicators, np.arange(1000, 2000))
    assert (chances.argmax(axis=1) == (one ^ other)[1000:]).all()


def test_levels_are_few():
    rng = np.random.default_rng(3)
    table = table_of([rng.integers(0, 500, 4000)], [0] * 4000)
    level, n_levels = levels_of(table.quasi_identifiers[0])
    assert n_levels == 16
    assert np.bincount(level).min() > 150
    assert (np.diff(level[np.argsort(table.quasi_identifiers[0].codes)]) >= 0).all()
