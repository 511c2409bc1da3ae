# SPDX-License-Identifier: Apache-2.0
"""What "safe" means, one property per module."""

from overt.privacy.all_of import AllOf
from overt.privacy.alpha_k import AlphaKAnonymity
from overt.privacy.base import Measure, Number, Property, SensitiveProperty, exact
from overt.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from overt.privacy.delta_disclosure import DeltaDisclosure
from overt.privacy.entropy_l_diversity import EntropyLDiversity
from overt.privacy.k_anonymity import KAnonymity
from overt.privacy.l_diversity import DistinctLDiversity, FrequencyLDiversity, RecursiveCLDiversity
from overt.privacy.relative_risk import RelativeRisk
from overt.privacy.t_closeness import TCloseness

_ALL: tuple[type[Property], ...] = (
    KAnonymity,
    AlphaKAnonymity,
    FrequencyLDiversity,
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveCLDiversity,
    TCloseness,
    DeltaDisclosure,
    BasicBetaLikeness,
    EnhancedBetaLikeness,
    RelativeRisk,
)
PROPERTIES: dict[str, type[Property]] = {kind.name: kind for kind in _ALL}  # by their names in a recipe

__all__ = [
    "PROPERTIES",
    "AllOf",
    "AlphaKAnonymity",
    "BasicBetaLikeness",
    "DeltaDisclosure",
    "DistinctLDiversity",
    "EnhancedBetaLikeness",
    "EntropyLDiversity",
    "FrequencyLDiversity",
    "KAnonymity",
    "Measure",
    "Number",
    "Property",
    "RecursiveCLDiversity",
    "RelativeRisk",
    "SensitiveProperty",
    "TCloseness",
    "exact",
]
