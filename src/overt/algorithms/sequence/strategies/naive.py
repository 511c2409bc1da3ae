# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_theorems.py
"""Naive: release the first generalization that looks private, as most algorithms do.

Paper       L. Zhang, S. Jajodia, A. Brodsky, CCS 2007; Table 6 of W. M. Liu, L. Wang, L. Zhang, S. Zhu, "k-Jump:
            a Strategy to Design Publicly-Known Algorithms for Privacy Preserving Micro-Data Disclosure".
Implements  a_naive.
Departs     nothing.
Guarantee   Exact against an adversary who sees the release only. None against one who knows the algorithm: that
            is what the other strategies are for.
"""

from dataclasses import dataclass
from typing import ClassVar

from overt.algorithms.sequence.strategies.base import RELEASE, LazyAnswer, Strategy


@dataclass(frozen=True)
class Naive(Strategy):
    """Ask about permutation sets only."""

    name: ClassVar[str] = "naive"
    safe: ClassVar[bool] = False

    def move(self, step: int, n_steps: int, permutation_holds: LazyAnswer, disclosure_holds: LazyAnswer) -> int:
        return RELEASE if permutation_holds() else step + 1

    def looks_back(self, step: int, n_steps: int) -> bool:
        return False

    def __str__(self) -> str:
        return "naive"
