# SPDX-License-Identifier: Apache-2.0
"""AllOf: several properties at once."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from overt.arguments import require_list
from overt.errors import InvalidInput
from overt.partition import Groups
from overt.privacy.base import Broken, Measure, Property, SensitiveProperty


@dataclass(frozen=True)
class AllOf(Property):
    """Every one of these properties holds: `AllOf((KAnonymity(5), TCloseness(0.2)))`, or with `&` between them.

    `measure` gives a tuple with the measure of each part, in their order. A group breaks the whole if it breaks a
    part.
    """

    properties: tuple[Property, ...]

    name: ClassVar[str] = "all-of"

    def __post_init__(self) -> None:
        require_list("AllOf", self.properties, "AllOf((KAnonymity(5), TCloseness(0.2)))")
        properties = tuple(self.properties)
        if not properties or not all(isinstance(part, Property) for part in properties):
            raise InvalidInput("AllOf needs one or more properties in a tuple, such as AllOf((KAnonymity(5),)).")
        object.__setattr__(self, "properties", tuple(part for whole in properties for part in whole.parts))

    @property
    def parts(self) -> tuple[Property, ...]:
        return self.properties

    @property
    def monotone(self) -> bool:
        return all(part.monotone for part in self.properties)

    def breaks(self, groups: Groups) -> Broken:
        broken = np.zeros(groups.n_groups, np.bool_)
        for part in self.properties:
            broken |= part.breaks(groups)
        return broken

    def measure(self, groups: Groups) -> tuple[Measure, ...]:
        measured = (part.measure(groups) for part in self.properties)
        return tuple(one for one in measured if not isinstance(one, tuple))  # parts are never combinations

    def describe_measure(self, groups: Groups) -> str:
        return ", ".join(part.describe_measure(groups) for part in self.properties)

    @property
    def looks_at_values(self) -> bool:
        return any(part.looks_at_values for part in self.parts)

    @property
    def takes_bundles(self) -> bool:
        return all(part.takes_bundles for part in self.parts)

    @property
    def least_rows(self) -> int:
        return max(part.least_rows for part in self.properties)

    def necessary(self, everyone: Groups) -> Property:
        return AllOf(tuple(part.necessary(everyone) for part in self.properties))

    @property
    def caution(self) -> str:
        """The cautions of parts whose column no other part looks after."""
        careful = [part for part in self.properties if isinstance(part, SensitiveProperty) and not part.caution]
        return " ".join(
            part.caution
            for part in self.properties
            if part.caution and not any(other.column is None or other.column == part.column for other in careful)
        )

    @property
    def in_words(self) -> str:
        return " ".join(part.in_words for part in self.properties)

    def __str__(self) -> str:
        return " and ".join(map(str, self.properties))
