# SPDX-License-Identifier: Apache-2.0
"""k-anonymity: nobody stands out from a crowd of k."""

from dataclasses import dataclass
from typing import ClassVar

from overt.partition import Groups
from overt.privacy.base import Broken, Property, require_groups, require_whole


@dataclass(frozen=True)
class KAnonymity(Property):
    """Every group has at least k rows.

    P. Samarati, L. Sweeney, "Protecting Privacy when Disclosing Information: k-Anonymity and Its Enforcement
    through Generalization and Suppression", 1998. It hides who is who; if everyone in a group has the same
    sensitive value, it hides nothing about that.
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

    @property
    def least_rows(self) -> int:
        return int(self.k)

    def necessary(self, everyone: Groups) -> Property:
        return self

    def __str__(self) -> str:
        return f"{self.k}-anonymity"
