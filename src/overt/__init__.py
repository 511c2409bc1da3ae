# SPDX-License-Identifier: Apache-2.0
"""Releases of microdata that give nobody away, even to someone who has the source code.

The public names are loaded when they are first used, so that `import overt` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overt import samples
    from overt.adversary.audit import audit_release
    from overt.adversary.knowledge import Knowledge
    from overt.adversary.others import FirstOnPath, LeastCost, MedianCuts, audit_other
    from overt.adversary.summary import Audit
    from overt.algorithms.anatomy import Anatomy
    from overt.algorithms.cross_bucket import CrossBucket
    from overt.algorithms.dp.full_domain import PrivateFullDomain
    from overt.algorithms.dp.private import PrivateCube, PrivateSampling
    from overt.algorithms.full_domain import FullDomain, find_minimal_nodes
    from overt.algorithms.mondrian import Mondrian
    from overt.algorithms.record import External, RecordLagrangian, RecordThreshold, plane_of_record, plane_of_table
    from overt.algorithms.sequence.in_order import InOrder
    from overt.algorithms.streamliner import GDA, RDA, RIA, BatchMatching, Dealing
    from overt.check import Claim, Finding, Verdict, check_release
    from overt.errors import (
        Caution,
        InvalidInput,
        MissingExtra,
        NothingReleased,
        OvertError,
        Stuck,
        TooLarge,
        Unreachable,
    )
    from overt.hierarchy import (
        CutPoints,
        Dates,
        Flat,
        Hierarchy,
        Intervals,
        Levels,
        Nested,
        Prefixes,
        Quantiles,
    )
    from overt.io.database.reading import read_database
    from overt.io.database.writing import write_database
    from overt.io.files import read_file
    from overt.io.frames import read_frame
    from overt.io.publication import BucketTables, owner_view, publish
    from overt.io.record import read_external
    from overt.metrics.certainty_penalty import certainty_penalty
    from overt.metrics.discernibility import discernibility, optimal_discernibility
    from overt.metrics.risk import risk_of_release, risk_of_table
    from overt.metrics.uniques import find_uniques
    from overt.metrics.utility import measure_utility
    from overt.partition import Groups, Partition
    from overt.privacy import (
        AllOf,
        AlphaKAnonymity,
        BasicBetaLikeness,
        DeltaDisclosure,
        DistinctLDiversity,
        EnhancedBetaLikeness,
        EntropyLDiversity,
        FrequencyLDiversity,
        KAnonymity,
        RecursiveCLDiversity,
        TCloseness,
    )
    from overt.release import (
        BucketRelease,
        CrossBucketRelease,
        FullDomainRelease,
        GeneralizedRelease,
        PrivateRelease,
        RecordRelease,
        Release,
    )
    from overt.report.data import make_report
    from overt.table import Column, Kind, Role, Table

__version__ = "0.1.0"

_HOME = {
    "overt.adversary.audit": ["audit_release"],
    "overt.adversary.knowledge": ["Knowledge"],
    "overt.adversary.others": ["FirstOnPath", "LeastCost", "MedianCuts", "audit_other"],
    "overt.adversary.summary": ["Audit"],
    "overt.algorithms.anatomy": ["Anatomy"],
    "overt.algorithms.cross_bucket": ["CrossBucket"],
    "overt.algorithms.dp.full_domain": ["PrivateFullDomain"],
    "overt.algorithms.dp.private": ["PrivateCube", "PrivateSampling"],
    "overt.algorithms.full_domain": ["FullDomain", "find_minimal_nodes"],
    "overt.algorithms.mondrian": ["Mondrian"],
    "overt.algorithms.record": [
        "External",
        "RecordLagrangian",
        "RecordThreshold",
        "plane_of_record",
        "plane_of_table",
    ],
    "overt.algorithms.sequence.in_order": ["InOrder"],
    "overt.algorithms.streamliner": ["GDA", "RDA", "RIA", "BatchMatching", "Dealing"],
    "overt.check": ["Claim", "Finding", "Verdict", "check_release"],
    "overt.errors": [
        "Caution",
        "InvalidInput",
        "MissingExtra",
        "NothingReleased",
        "OvertError",
        "Stuck",
        "TooLarge",
        "Unreachable",
    ],
    "overt.hierarchy": [
        "CutPoints",
        "Dates",
        "Flat",
        "Hierarchy",
        "Intervals",
        "Levels",
        "Nested",
        "Prefixes",
        "Quantiles",
    ],
    "overt.io.database.reading": ["read_database"],
    "overt.io.database.writing": ["write_database"],
    "overt.io.files": ["read_file"],
    "overt.io.frames": ["read_frame"],
    "overt.io.publication": ["BucketTables", "owner_view", "publish"],
    "overt.io.record": ["read_external"],
    "overt.metrics.certainty_penalty": ["certainty_penalty"],
    "overt.metrics.discernibility": ["discernibility", "optimal_discernibility"],
    "overt.metrics.risk": ["risk_of_release", "risk_of_table"],
    "overt.metrics.uniques": ["find_uniques"],
    "overt.metrics.utility": ["measure_utility"],
    "overt.partition": ["Groups", "Partition"],
    "overt.privacy": [
        "AllOf",
        "AlphaKAnonymity",
        "BasicBetaLikeness",
        "DeltaDisclosure",
        "DistinctLDiversity",
        "EnhancedBetaLikeness",
        "EntropyLDiversity",
        "FrequencyLDiversity",
        "KAnonymity",
        "RecursiveCLDiversity",
        "TCloseness",
    ],
    "overt.release": [
        "BucketRelease",
        "CrossBucketRelease",
        "FullDomainRelease",
        "GeneralizedRelease",
        "PrivateRelease",
        "RecordRelease",
        "Release",
    ],
    "overt.report.data": ["make_report"],
    "overt.table": ["Column", "Kind", "Role", "Table"],
}
_MODULE_OF_NAME = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "GDA",
    "RDA",
    "RIA",
    "AllOf",
    "AlphaKAnonymity",
    "Anatomy",
    "Audit",
    "BasicBetaLikeness",
    "BatchMatching",
    "BucketRelease",
    "BucketTables",
    "Caution",
    "Claim",
    "Column",
    "CrossBucket",
    "CrossBucketRelease",
    "CutPoints",
    "Dates",
    "Dealing",
    "DeltaDisclosure",
    "DistinctLDiversity",
    "EnhancedBetaLikeness",
    "EntropyLDiversity",
    "External",
    "Finding",
    "FirstOnPath",
    "Flat",
    "FrequencyLDiversity",
    "FullDomain",
    "FullDomainRelease",
    "GeneralizedRelease",
    "Groups",
    "Hierarchy",
    "InOrder",
    "Intervals",
    "InvalidInput",
    "KAnonymity",
    "Kind",
    "Knowledge",
    "LeastCost",
    "Levels",
    "MedianCuts",
    "MissingExtra",
    "Mondrian",
    "Nested",
    "NothingReleased",
    "OvertError",
    "Partition",
    "Prefixes",
    "PrivateCube",
    "PrivateFullDomain",
    "PrivateRelease",
    "PrivateSampling",
    "Quantiles",
    "RecordLagrangian",
    "RecordRelease",
    "RecordThreshold",
    "RecursiveCLDiversity",
    "Release",
    "Role",
    "Stuck",
    "TCloseness",
    "Table",
    "TooLarge",
    "Unreachable",
    "Verdict",
    "audit_other",
    "audit_release",
    "certainty_penalty",
    "check_release",
    "discernibility",
    "find_minimal_nodes",
    "find_uniques",
    "make_report",
    "measure_utility",
    "optimal_discernibility",
    "owner_view",
    "plane_of_record",
    "plane_of_table",
    "publish",
    "read_database",
    "read_external",
    "read_file",
    "read_frame",
    "risk_of_release",
    "risk_of_table",
    "samples",
    "write_database",
]


def __getattr__(name: str) -> object:
    if name == "samples":
        return import_module("overt.samples")
    if name in _MODULE_OF_NAME:
        return getattr(import_module(_MODULE_OF_NAME[name]), name)
    raise AttributeError(f"module 'overt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
