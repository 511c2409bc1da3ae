# SPDX-License-Identifier: Apache-2.0
# Tested through tests/papers/test_exclusive.py
"""Exclusive: give up as soon as a generalization looks private and is not.

Paper       L. Zhang, L. Wang, S. Jajodia, A. Brodsky, "Exclusive Strategy for Generalization Algorithms in
            Micro-Data Disclosure", Table 5.
Implements  The algorithms Ge and DSe. They equal a_jump((n, n - 1, ..., 1)) of the k-jump paper.
Departs     Disclosure sets are counted without being listed.
Guarantee   Exact, against an adversary who sees the release and knows the algorithm.
"""

from dataclasses import dataclass
from typing import ClassVar

from overt.algorithms.sequence.strategies.base import RELEASE, LazyAnswer, Strategy


@dataclass(frozen=True)
class Exclusive(Strategy):
    """Ask about permutation sets, and about the disclosure set of the first that holds."""

    name: ClassVar[str] = "exclusive"
    safe: ClassVar[bool] = True

    def move(self, step: int, n_steps: int, permutation_holds: LazyAnswer, disclosure_holds: LazyAnswer) -> int:
        if not permutation_holds():
            return step + 1
        return RELEASE if disclosure_holds() else n_steps + 1

    def looks_back(self, step: int, n_steps: int) -> bool:
        return False  # only tables whose earlier permutation sets all fail come here

    def __str__(self) -> str:
        return "exclusive"
