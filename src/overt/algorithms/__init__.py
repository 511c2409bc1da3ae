# SPDX-License-Identifier: Apache-2.0
"""How to get there, one published algorithm per module. `METHODS` finds them by their name in a recipe."""

from overt.algorithms.anatomy import Anatomy
from overt.algorithms.base import Algorithm
from overt.algorithms.mondrian import Mondrian

METHODS: dict[str, type[Algorithm]] = {method.name: method for method in (Anatomy, Mondrian)}

__all__ = ["METHODS", "Algorithm", "Anatomy", "Mondrian"]
