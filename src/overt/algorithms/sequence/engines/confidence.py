# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/engines/test_sampling.py
"""Confidence bounds of means in [0, 1], after H. Chernoff: as wide as relative entropy allows."""

from math import log

import numpy as np
from numpy.typing import NDArray


def chernoff_bounds(share: NDArray[np.float64], n: int, risk: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of a mean in [0, 1] from n independent samples, each side wrong with a chance of at most `risk`.

    The bound p solves n KL(share, p) = log(1 / risk).
    """
    allowed = log(1 / risk) / n
    low, inner = np.zeros_like(share), share.copy()
    for _ in range(60):
        middle = (low + inner) / 2
        inside = relative_entropy(share, middle) <= allowed
        inner = np.where(inside, middle, inner)
        low = np.where(inside, low, middle)
    lower = low
    inner, high = share.copy(), np.ones_like(share)
    for _ in range(60):
        middle = (inner + high) / 2
        inside = relative_entropy(share, middle) <= allowed
        inner = np.where(inside, middle, inner)
        high = np.where(inside, high, middle)
    return lower, high


def relative_entropy(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """KL divergence of coins with these chances."""
    q = np.clip(q, 1e-300, 1 - 1e-16)
    first = np.where(p > 0, p * np.log(np.where(p > 0, p, 1) / q), 0)
    second = np.where(p < 1, (1 - p) * np.log(np.where(p < 1, 1 - p, 1) / (1 - q)), 0)
    return first + second
