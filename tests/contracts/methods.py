# SPDX-License-Identifier: Apache-2.0
"""One or more examples of every method, for the contracts that all of them keep. Add yours here."""

from overt.algorithms import (
    GDA,
    METHODS,
    RDA,
    RIA,
    Algorithm3,
    Algorithm3Threshold,
    Algorithm4,
    Anatomy,
    BatchMatching,
    BlindBuckets,
    CrossBucket,
    Dealing,
    DpCube,
    DpFullDomain,
    DpSampling,
    FullDomain,
    InOrder,
    Mondrian,
)
from overt.algorithms.record import RecordLagrangian, RecordThreshold
from overt.hierarchy import Nested
from overt.privacy import (
    AllOf,
    AlphaKAnonymity,
    BasicBetaLikeness,
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    TCloseness,
)

PUBLIC = {"q0": Nested({"low": ["0", "1", "2", "v000", "v001", "v002"], "high": ["3", "v003"]})}  # 4 is not in it

EXAMPLES = [
    Algorithm3(i_know_it_is_not_dp=True, t=2),
    Algorithm3Threshold(i_know_it_is_not_dp=True, t=2, c=0),
    Algorithm4(i_know_it_is_not_dp=True),
    Anatomy(goal=DistinctLDiversity(2)),
    Anatomy(goal=FrequencyLDiversity(3)),
    BatchMatching(goal=FrequencyLDiversity(2)),
    BatchMatching(goal=FrequencyLDiversity(2), matching="rank", value_sets="most frequent", swaps=2),
    BatchMatching(goal=AllOf((KAnonymity(5), FrequencyLDiversity(3))), form="bucketized"),
    BlindBuckets(goal=FrequencyLDiversity(2), k=2, rows_per_bucket=2),
    BlindBuckets(goal=FrequencyLDiversity(3), k=1, rows_per_bucket=1, cuts="strict", stratify={"halvings": 1}),
    BlindBuckets(goal=AllOf((KAnonymity(3), TCloseness("0.3"))), rows_per_bucket=2, form="shuffled"),
    BlindBuckets(goal=EntropyLDiversity("1.8"), k=2, rows_per_bucket=3, form="generalized"),
    BlindBuckets(
        goal=AllOf((AlphaKAnonymity("0.7", 2), BasicBetaLikeness(2))),
        rows_per_bucket=1,
        stratify={"by": ["q0"]},
    ),
    Dealing(goal=FrequencyLDiversity(3)),
    GDA(goal=DistinctLDiversity(2), mode="paper"),
    RDA(goal=FrequencyLDiversity(3)),
    RIA(goal=FrequencyLDiversity(2)),
    CrossBucket(2, 3),
    CrossBucket(3, 2, blocks="apart"),
    CrossBucket(2, 2, mode="paper"),
    FullDomain(goal=KAnonymity(3)),
    FullDomain(goal=FrequencyLDiversity(2), max_suppressed="1/4", optimise="discernibility"),
    FullDomain(goal=AllOf((KAnonymity(2), TCloseness("0.4"))), max_suppressed="1/2"),
    InOrder(goal=FrequencyLDiversity(2), levels=3, smallest=2),
    InOrder(goal=AllOf((KAnonymity(3), DistinctLDiversity(2))), strategy="k-jump", k=2, functions="hierarchy levels"),
    InOrder(goal=FrequencyLDiversity(2), strategy="safe", levels=3, smallest=2, cut="1/3"),
    Mondrian(goal=KAnonymity(3)),
    Mondrian(goal=KAnonymity(3), choose="gain"),
    Mondrian(goal=KAnonymity(3), relaxed=True),
    Mondrian(goal=FrequencyLDiversity(2)),
    Mondrian(goal=AllOf((KAnonymity(2), DistinctLDiversity(2))), relaxed=True),
    Mondrian(goal=TCloseness("0.4"), choose="gain"),
    DpCube(epsilon=2, delta="0.2", s="0.4", hierarchies=PUBLIC),
    DpFullDomain(epsilon=2, delta="0.2", s="0.4", share="1/4", hierarchies=PUBLIC),
    DpSampling(epsilon=1, delta="0.2", s="0.5", hierarchies=PUBLIC, levels=((1,),)),
    RecordThreshold(c="1/2"),
    RecordThreshold(c=1, utility="depth", risk="II", solver="frontier search"),
    RecordLagrangian(lam=0.1, kappa=2),
]

assert {type(example) for example in EXAMPLES} == set(METHODS.values()), "a method has no example here"
