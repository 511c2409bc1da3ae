# SPDX-License-Identifier: Apache-2.0
"""Sequences of generalization functions: disclosure sets, and the strategies that respect them.

An algorithm that tries functions in order and releases the first that is private tells, by releasing this one,
that the earlier ones were not. An adversary who knows the algorithm removes every table for which it would have
stopped earlier; what remains is the disclosure set, and privacy is judged on that.
"""

from overt.algorithms.sequence.exclusive import Exclusive
from overt.algorithms.sequence.functions import Function, Sequence
from overt.algorithms.sequence.inference import Inference
from overt.algorithms.sequence.k_jump import KJump
from overt.algorithms.sequence.naive import Naive
from overt.algorithms.sequence.posterior import BoundedPosterior, Bounds, Knowledge, Posterior
from overt.algorithms.sequence.properties import (
    DistinctL,
    EntropyL,
    MaxRatio,
    PersonalRatio,
    PossibleValues,
    Predicate,
    RecursiveCL,
    RowsAtRisk,
)
from overt.algorithms.sequence.safe import Safe
from overt.algorithms.sequence.sets import DisclosureSet, PermutationSet
from overt.algorithms.sequence.strategy import Outcome, Strategy, Visit
from overt.algorithms.sequence.subset_choice import SecretChoices, SubsetChoice

__all__ = [
    "BoundedPosterior",
    "Bounds",
    "DisclosureSet",
    "DistinctL",
    "EntropyL",
    "Exclusive",
    "Function",
    "Inference",
    "KJump",
    "Knowledge",
    "MaxRatio",
    "Naive",
    "Outcome",
    "PermutationSet",
    "PersonalRatio",
    "PossibleValues",
    "Posterior",
    "Predicate",
    "RecursiveCL",
    "RowsAtRisk",
    "Safe",
    "SecretChoices",
    "Sequence",
    "Strategy",
    "SubsetChoice",
    "Visit",
]
