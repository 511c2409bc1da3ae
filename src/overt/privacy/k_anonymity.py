# SPDX-License-Identifier: Apache-2.0
"""k-anonymity: nobody stands out from a crowd of k."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from overt.partition import Groups, Histogram
from overt.privacy.base import Broken, Limits, Property, require_groups, require_whole


@dataclass(frozen=True)
class KAnonymity(Property):
    """Every group has at least k rows.

    P. Samarati, L. Sweeney, "Protecting Privacy when Disclosing Information: k-Anonymity and Its Enforcement
    through Generalization and Suppression", 1998. It hides which row belongs to whom. If everybody in a group has the same
    sensitive value, it does not hide that value.
    """

    k: int

    name: ClassVar[str] = "k-anonymity"
    parameter: ClassVar[str] = "k"
    best: ClassVar[str] = "largest"
    monotone: ClassVar[bool] = True  # a union is larger than its parts

    def __post_init__(self) -> None:
        require_whole("k", self.k)

    def breaks(self, groups: Groups) -> Broken:
        return groups.sizes < self.k

    def measure(self, groups: Groups) -> int:
        require_groups(groups)
        return int(groups.sizes.min())

    def limits(self, sizes: NDArray[np.int64], of_table: Histogram | None = None) -> Limits:
        return Limits(np.where(sizes < self.k, -1, sizes))

    @property
    def looks_at_values(self) -> bool:
        return False

    @property
    def least_rows(self) -> int:
        return int(self.k)

    def necessary(self, everyone: Groups) -> Property:
        return self

    @property
    def in_words(self) -> str:
        return f"Everybody is one of at least {self.k} people who look alike in the release."

    def __str__(self) -> str:
        return f"{self.k}-anonymity"
