# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/sequence/test_theorems.py
"""Safe: release the first generalization whose disclosure set is private (the inclusive strategy).

Paper       L. Zhang, L. Wang, S. Jajodia, A. Brodsky, "Exclusive Strategy for Generalization Algorithms in
            Micro-Data Disclosure", Table 3; a_safe in Tables 7 and 8 of the k-jump paper.
Implements  The algorithms G and DS of the first, a_safe of the second: they are the same.
Departs     Disclosure sets are remembered by generalization, and counted without being listed.
Guarantee   Exact, against an adversary who sees the release and knows the algorithm. When nothing is released, an
            adversary who already knows how often each value occurs in the table may still learn something.
"""

from dataclasses import dataclass
from typing import ClassVar

from overt.algorithms.sequence.strategies.base import RELEASE, LazyAnswer, Strategy


@dataclass(frozen=True)
class Safe(Strategy):
    """Ask about disclosure sets only."""

    name: ClassVar[str] = "safe"
    safe: ClassVar[bool] = True

    def move(self, step: int, n_steps: int, permutation_holds: LazyAnswer, disclosure_holds: LazyAnswer) -> int:
        return RELEASE if disclosure_holds() else step + 1

    def looks_back(self, step: int, n_steps: int) -> bool:
        return step > 2  # the disclosure set of step 1 is its permutation set

    def __str__(self) -> str:
        return "safe"
