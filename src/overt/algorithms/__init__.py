# SPDX-License-Identifier: Apache-2.0
"""How to get there, one published algorithm per module. `METHODS` finds them by their name in a recipe.

A method is imported when it is asked for: a run loads the one that its recipe names, and not the eighteen others.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overt.algorithms.anatomy import Anatomy
    from overt.algorithms.blind_buckets import BlindBuckets
    from overt.algorithms.cross_bucket import CrossBucket
    from overt.algorithms.dp.as_published import Algorithm3, Algorithm3Threshold, Algorithm4
    from overt.algorithms.dp.cube import DpCube, DpSampling
    from overt.algorithms.dp.full_domain import DpFullDomain
    from overt.algorithms.full_domain import FullDomain
    from overt.algorithms.mondrian import Mondrian
    from overt.algorithms.record import RecordLagrangian, RecordThreshold
    from overt.algorithms.sequence.in_order import InOrder
    from overt.algorithms.streamliner import GDA, RDA, RIA, BatchMatching, Dealing
    from overt.method import Method

HOMES = {  # name in a recipe -> module, class
    "algorithm-3-as-published-not-dp": ("dp.as_published", "Algorithm3"),
    "algorithm-3-threshold-as-published-not-dp": ("dp.as_published", "Algorithm3Threshold"),
    "algorithm-4-as-published-not-dp": ("dp.as_published", "Algorithm4"),
    "anatomy": ("anatomy", "Anatomy"),
    "batch-matching": ("streamliner", "BatchMatching"),
    "blind-buckets": ("blind_buckets", "BlindBuckets"),
    "cross-bucket": ("cross_bucket", "CrossBucket"),
    "dealing": ("streamliner", "Dealing"),
    "full-domain": ("full_domain", "FullDomain"),
    "gda": ("streamliner", "GDA"),
    "in-order": ("sequence.in_order", "InOrder"),
    "mondrian": ("mondrian", "Mondrian"),
    "dp-cube": ("dp.cube", "DpCube"),
    "dp-full-domain": ("dp.full_domain", "DpFullDomain"),
    "dp-sampling": ("dp.cube", "DpSampling"),
    "rda": ("streamliner", "RDA"),
    "ria": ("streamliner", "RIA"),
    "record-lagrangian": ("record", "RecordLagrangian"),
    "record-threshold": ("record", "RecordThreshold"),
}


class _Methods(Mapping[str, "type[Method]"]):
    """(name in a recipe) -> method."""

    def __getitem__(self, name: str) -> "type[Method]":
        module, class_name = HOMES[name]
        found: type[Method] = vars(import_module(f"overt.algorithms.{module}"))[class_name]
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)


METHODS: Mapping[str, "type[Method]"] = _Methods()


def __getattr__(name: str) -> Any:
    for method, (_, class_name) in HOMES.items():
        if class_name == name:
            return METHODS[method]
    raise AttributeError(f"module 'overt.algorithms' has no attribute {name!r}")


__all__ = [
    "GDA",
    "METHODS",
    "RDA",
    "RIA",
    "Algorithm3",
    "Algorithm3Threshold",
    "Algorithm4",
    "Anatomy",
    "BatchMatching",
    "BlindBuckets",
    "CrossBucket",
    "Dealing",
    "DpCube",
    "DpFullDomain",
    "DpSampling",
    "FullDomain",
    "InOrder",
    "Mondrian",
    "RecordLagrangian",
    "RecordThreshold",
]
