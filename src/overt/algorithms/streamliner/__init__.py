# SPDX-License-Identifier: Apache-2.0
"""Privacy streamliner: decide on privacy first, on utility afterwards.

The methods, for any table: `BatchMatching` (the default choice), `Dealing`, `RDA`, `RIA`, and `GDA` as printed,
which is unsafe. The model of the paper, for small tables: eligibility, safe sets, candidates, self-contained
partitions, cover.
"""

from overt.algorithms.streamliner.batch_matching import BatchMatching
from overt.algorithms.streamliner.candidates import (
    are_candidates,
    are_l_candidate,
    is_candidate_of_colour,
    satisfies_theorem_2,
)
from overt.algorithms.streamliner.cover import are_l_covers, has_l_cover, is_cover
from overt.algorithms.streamliner.dealing import Dealing
from overt.algorithms.streamliner.eligibility import colours, is_eligible, require_eligible
from overt.algorithms.streamliner.gda import GDA
from overt.algorithms.streamliner.rda import RDA
from overt.algorithms.streamliner.ria import RIA
from overt.algorithms.streamliner.safe_sets import (
    after_release,
    arrangements,
    disclosure_set,
    is_globally_safe,
    is_locally_safe,
    is_strongly_globally_safe,
    locally_safe_set,
    partition_of,
    worst_share,
)
from overt.algorithms.streamliner.self_contained import (
    family_set,
    is_self_contained,
    is_self_contained_group,
    minimal_self_contained,
)

__all__ = [
    "GDA",
    "RDA",
    "RIA",
    "BatchMatching",
    "Dealing",
    "after_release",
    "are_candidates",
    "are_l_candidate",
    "are_l_covers",
    "arrangements",
    "colours",
    "disclosure_set",
    "family_set",
    "has_l_cover",
    "is_candidate_of_colour",
    "is_cover",
    "is_eligible",
    "is_globally_safe",
    "is_locally_safe",
    "is_self_contained",
    "is_self_contained_group",
    "is_strongly_globally_safe",
    "locally_safe_set",
    "minimal_self_contained",
    "partition_of",
    "require_eligible",
    "satisfies_theorem_2",
    "worst_share",
]
