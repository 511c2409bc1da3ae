# SPDX-License-Identifier: Apache-2.0
"""Full-domain generalization: one level per column, for all rows alike. The search, its bounds, and what it counts."""

from overt.algorithms.full_domain.method import FullDomain
from overt.algorithms.full_domain.minimal import MinimalNodes, find_minimal_nodes

__all__ = ["FullDomain", "MinimalNodes", "find_minimal_nodes"]
