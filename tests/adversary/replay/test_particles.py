# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from overt.adversary.replay.particles import pieces
from overt.kernels.particles import draw_sources, raise_prices


@pytest.mark.parametrize("seed", range(20))
def test_particles_are_drawn_again_by_their_weights(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    weight, source = rng.random(n) ** 4, np.arange(n)
    draw_sources(0, n, weight, weight.sum(), rng.random(), source)
    copies, expected = np.bincount(source, minlength=n), n * weight / weight.sum()
    assert (copies[np.unique(source)] > 0).all() and (source[source] == source).all()  # whoever is copied keeps itself
    assert (np.abs(copies - expected) < 1 + 1e-9).all()  # systematic: one more or less than expected, at most


def raised(energies, **others):
    running, log_z, price = np.ones(1, np.bool_), np.zeros(1), np.zeros(1)
    source, energy = np.arange(len(energies)), np.array(energies)
    options = {"enough": 0.4, "effective": 0.6, "highest": 10.0} | others
    raise_prices(running, np.array([0, energy.size]), energy, price, log_z, np.array([0.5]), source, *options.values())
    return running[0], log_z[0], price[0], source


def test_the_price_rises_until_the_effective_number_of_particles_is_the_share_asked_for():
    energies = np.random.default_rng(1).integers(5, 40, 200)
    running, log_z, price, source = raised(energies)
    weight = np.exp(-price * energies)
    assert running and weight.sum() ** 2 / (weight**2).sum() == pytest.approx(0.6 * 200, rel=1e-6)
    assert log_z == pytest.approx(np.log(weight.mean()))
    assert energies[source].mean() < energies.mean()


def test_a_component_stops_where_enough_particles_give_the_release_or_none_can():
    running, log_z, price, source = raised([0, 0, 3, 5])
    assert not running and price == 0 and log_z == pytest.approx(np.log(1 / 2)) and source.tolist() == [0, 1, 2, 3]
    running, log_z, price, _ = raised([4, 4, 4, 4])
    assert running and price == 10 and log_z == pytest.approx(-40)  # all alike: as high as it goes
    running, log_z, *_ = raised([4, 4, 4, 4], highest=0.0)
    assert not running and log_z == -np.inf


def test_pieces_hold_everybody_once():
    cost = np.random.default_rng(2).integers(0, 1 << 17, 100)
    ranges = pieces(cost)
    assert [i for begin, end in ranges for i in range(begin, end)] == list(range(100)) and len(ranges) > 10
    assert pieces(np.zeros(0, np.int64)) == []
