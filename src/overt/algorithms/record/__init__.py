# SPDX-License-Identifier: Apache-2.0
"""Risk against utility, record by record: each person's record as general as that person's risk asks, and no further.

`objective` says what every generalization of one record risks and is worth. `threshold` and `lagrangian` choose the best
one; `cuts`, `minimum_norm`, `prefix_sums` and `ring` are ways to find it; `approx` and `genetic` are for records with so
many generalizations that nobody can find the least risk. `cube` does all records of a table at once.
"""

from overt.algorithms.record.approx import Approximation, extended_support, rounding_law
from overt.algorithms.record.genetic import Genetic, walk
from overt.algorithms.record.lagrangian import best_balance, best_difference
from overt.algorithms.record.methods import External, RecordLagrangian, RecordThreshold
from overt.algorithms.record.nodes import chain_above, needed_levels, nodes_of_labels, tree_of
from overt.algorithms.record.objective import Objective, Optimum
from overt.algorithms.record.plane import Plane, plane_of_record, plane_of_table
from overt.algorithms.record.prefix_sums import WholeTable
from overt.algorithms.record.ring import RingFamily, bisect
from overt.algorithms.record.risks import CustomRisk, Harmonic, ModelI, ModelII, RiskModel, harmonic_weights, risk_named
from overt.algorithms.record.threshold import least_risk, search_frontier
from overt.algorithms.record.utilities import CustomUtility, Depth, InverseLeaves, LogLeaves, NodeUtility, utility_named

__all__ = [
    "Approximation",
    "CustomRisk",
    "CustomUtility",
    "Depth",
    "External",
    "Genetic",
    "Harmonic",
    "InverseLeaves",
    "LogLeaves",
    "ModelI",
    "ModelII",
    "NodeUtility",
    "Objective",
    "Optimum",
    "Plane",
    "RecordLagrangian",
    "RecordThreshold",
    "RingFamily",
    "RiskModel",
    "WholeTable",
    "best_balance",
    "best_difference",
    "bisect",
    "chain_above",
    "extended_support",
    "harmonic_weights",
    "least_risk",
    "needed_levels",
    "nodes_of_labels",
    "plane_of_record",
    "plane_of_table",
    "risk_named",
    "rounding_law",
    "search_frontier",
    "tree_of",
    "utility_named",
    "walk",
]
