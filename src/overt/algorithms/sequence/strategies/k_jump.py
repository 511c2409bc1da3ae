# SPDX-License-Identifier: Apache-2.0
# Tested through tests/papers/test_k_jump.py
"""KJump: a family of safe algorithms, one for every vector of jump distances.

Paper       W. M. Liu, L. Wang, L. Zhang, S. Zhu, "k-Jump: a Strategy to Design Publicly-Known Algorithms for
            Privacy Preserving Micro-Data Disclosure".
Implements  a_jump(k) of Tables 9 and 13, with reuse of functions.
Departs     Line 10 of ds in Table 13 prints j + k[i]; Table 9 and Definition 3 need j + k[j]. A disclosure set
            holds the tables that reach the step, also where its permutation set fails and no algorithm looks.
Guarantee   Exact, against an adversary who sees the release and knows the algorithm, the distances included.
"""

from dataclasses import dataclass
from typing import ClassVar

from overt.algorithms.sequence.strategies.base import RELEASE, LazyAnswer, Strategy
from overt.errors import InvalidInput


@dataclass(frozen=True)
class KJump(Strategy):
    """If the permutation set is private and the disclosure set is not, skip the next k - 1 functions.

    `k` is one distance for all steps, or one per step. The distance of step 1 never matters.
    """

    k: int | tuple[int, ...]
    name: ClassVar[str] = "k-jump"
    safe: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.k, int):
            object.__setattr__(self, "k", tuple(self.k))
        if min(self.k if isinstance(self.k, tuple) else (self.k,), default=0) < 1:
            raise InvalidInput(f"The jump distances are {self.k}; each must be at least 1.")

    def distance(self, step: int, n_steps: int) -> int:
        """How far a table jumps from a step."""
        if isinstance(self.k, int):
            return self.k
        if len(self.k) != n_steps:
            raise InvalidInput(f"There are {len(self.k)} jump distances for {n_steps} steps; give one per step.")
        return self.k[step - 1]

    def move(self, step: int, n_steps: int, permutation_holds: LazyAnswer, disclosure_holds: LazyAnswer) -> int:
        if not permutation_holds():
            return step + 1
        return RELEASE if disclosure_holds() else step + self.distance(step, n_steps)

    def looks_back(self, step: int, n_steps: int) -> bool:
        # a table that may jump at an earlier step cannot land here if every such jump leads past this step
        return any(earlier + self.distance(earlier, n_steps) <= step for earlier in range(2, step))

    def __str__(self) -> str:
        return f"{self.k}-jump" if isinstance(self.k, int) else f"jump({', '.join(map(str, self.k))})"
