# SPDX-License-Identifier: Apache-2.0
"""Sequences of generalization functions: disclosure sets, and the strategies that respect them.

An algorithm that tries functions in order and releases the first that is private tells, by releasing this one,
that the earlier ones were not. An adversary who knows the algorithm removes every table for which it would have
stopped earlier; what remains is the disclosure set, and privacy is judged on that.
"""

from overt.algorithms.sequence.equal_tables import BoundedNumber, BoundedRowPosterior, EqualTables, RowPosterior
from overt.algorithms.sequence.functions import Function, Sequence
from overt.algorithms.sequence.inference import Inference
from overt.algorithms.sequence.properties import (
    DistinctL,
    EntropyL,
    MaxRatio,
    PersonalRatio,
    PossibleValues,
    PosteriorPredicate,
    RecursiveCL,
    RowsAtRisk,
)
from overt.algorithms.sequence.sets import DisclosureSet, PermutationSet
from overt.algorithms.sequence.strategies.base import Strategy, StrategyRun, Visit
from overt.algorithms.sequence.strategies.exclusive import Exclusive
from overt.algorithms.sequence.strategies.k_jump import KJump
from overt.algorithms.sequence.strategies.naive import Naive
from overt.algorithms.sequence.strategies.safe import Safe
from overt.algorithms.sequence.subset_choice import SecretChoices, SubsetChoice

__all__ = [
    "BoundedNumber",
    "BoundedRowPosterior",
    "DisclosureSet",
    "DistinctL",
    "EntropyL",
    "EqualTables",
    "Exclusive",
    "Function",
    "Inference",
    "KJump",
    "MaxRatio",
    "Naive",
    "PermutationSet",
    "PersonalRatio",
    "PossibleValues",
    "PosteriorPredicate",
    "RecursiveCL",
    "RowPosterior",
    "RowsAtRisk",
    "Safe",
    "SecretChoices",
    "Sequence",
    "Strategy",
    "StrategyRun",
    "SubsetChoice",
    "Visit",
]
