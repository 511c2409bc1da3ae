# SPDX-License-Identifier: Apache-2.0
"""How to get there, one published algorithm per module. `METHODS` finds them by their name in a recipe."""

from overt.algorithms.anatomy import Anatomy
from overt.algorithms.base import Algorithm
from overt.algorithms.cross_bucket import CrossBucket
from overt.algorithms.dp.full_domain import PrivateFullDomain
from overt.algorithms.dp.private import PrivateCube, PrivateSampling
from overt.algorithms.dp.published import Algorithm3, Algorithm3Threshold, Algorithm4
from overt.algorithms.full_domain import FullDomain
from overt.algorithms.mondrian import Mondrian
from overt.algorithms.record import RecordLagrangian, RecordThreshold
from overt.algorithms.sequence.in_order import InOrder
from overt.algorithms.streamliner import GDA, RDA, RIA, BatchMatching, Dealing

METHODS: dict[str, type[Algorithm]] = {
    method.name: method
    for method in (
        Algorithm3,
        Algorithm3Threshold,
        Algorithm4,
        Anatomy,
        BatchMatching,
        CrossBucket,
        Dealing,
        FullDomain,
        GDA,
        InOrder,
        Mondrian,
        PrivateCube,
        PrivateFullDomain,
        PrivateSampling,
        RDA,
        RIA,
        RecordLagrangian,
        RecordThreshold,
    )
}

__all__ = [
    "GDA",
    "METHODS",
    "RDA",
    "RIA",
    "Algorithm",
    "Algorithm3",
    "Algorithm3Threshold",
    "Algorithm4",
    "Anatomy",
    "BatchMatching",
    "CrossBucket",
    "Dealing",
    "FullDomain",
    "InOrder",
    "Mondrian",
    "PrivateCube",
    "PrivateFullDomain",
    "PrivateSampling",
    "RecordLagrangian",
    "RecordThreshold",
]
