# SPDX-License-Identifier: Apache-2.0
"""B. Li, Y. Liu, X. Han, J. Zhang, "Cross-Bucket Generalization", TKDE 2018: its printed tables."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import overt
from overt.algorithms.cross_bucket.printed import cal_diversity, printed_plan
from overt.metrics.breach import breach_of_group, identity_disclosure, largest_breach, matched_breach
from overt.metrics.discernibility import discernibility

FIGURE_1B = pl.DataFrame(
    {
        "Age": [16, 22, 24, 26, 29, 31, 34, 35],
        "Sex": ["Female", "Male", "Female", "Male", "Male", "Female", "Female", "Male"],
        "Zip code": [43307, 43302, 43306, 43307, 43309, 43312, 43312, 43309],
        "Disease": ["Flu", "Dyspepsia", "Hepatitis", "Bronchitis", "Bronchitis", "Pneumonia", "Gastritis", "Dyspepsia"],
    }
)
TABLE = overt.read_frame(FIGURE_1B, quasi_identifiers=["Age", "Sex", "Zip code"], sensitive=["Disease"])


def release_of(groups, buckets):
    """Groups and buckets as the last digits of the printed ids, from 1."""
    both = [
        overt.Partition.from_groups([[int(row) - 1 for row in part] for part in p.split()]) for p in (groups, buckets)
    ]
    return overt.CrossBucketRelease(TABLE, both[0], None, both[1])


FIGURE_4 = release_of("13 24 58 67", "12 34 56 78")


def test_figure_2a_gives_bronchitis_away():
    release = release_of("123 45 678", "123 45 678")
    assert largest_breach(release) == 1
    assert identity_disclosure(release) == Fraction(1, 2)


def test_figure_3_over_protects_identity():
    release = release_of("1234 5678", "1234 5678")
    assert (largest_breach(release), identity_disclosure(release)) == (Fraction(1, 4), Fraction(1, 4))
    assert discernibility(release.partition) == 32
    mondrian = overt.Mondrian(goal=overt.FrequencyLDiversity(4)).anonymize(TABLE)
    assert sorted(
        sorted(part.tolist()) for part in np.split(mondrian.partition.rows, mondrian.partition.starts[1:-1])
    ) == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
    ]


def test_figure_4_is_2_anonymous_and_4_diverse():
    assert (largest_breach(FIGURE_4), identity_disclosure(FIGURE_4)) == (Fraction(1, 4), Fraction(1, 2))
    assert discernibility(FIGURE_4.partition) == 16
    assert {matched_breach(FIGURE_4)[row] for row in range(8)} == {Fraction(1, 4)}
    values = TABLE.sensitive[0].values
    helen = {values[value]: share for value, share in breach_of_group(FIGURE_4, 3).items()}  # rows 106 and 107
    assert helen == dict.fromkeys(["Bronchitis", "Pneumonia", "Gastritis", "Dyspepsia"], Fraction(1, 4))


def test_figure_4_as_it_is_published():
    boxes, diseases = overt.publish(FIGURE_4)
    assert boxes.rows() == [
        (1, "16..24", "Female", "43306..43307"),
        (1, "22..26", "Male", "43302..43307"),
        (2, "16..24", "Female", "43306..43307"),
        (2, "22..26", "Male", "43302..43307"),
        (3, "29..35", "Male", "43309"),
        (3, "31..34", "Female", "43312"),
        (4, "29..35", "Male", "43309"),
        (4, "31..34", "Female", "43312"),
    ]
    assert diseases.group_by("bucket", maintain_order=True).agg("Disease").get_column("Disease").to_list() == [
        ["Bronchitis", "Hepatitis"],
        ["Dyspepsia", "Flu"],
        ["Bronchitis", "Pneumonia"],
        ["Dyspepsia", "Gastritis"],
    ]


def test_the_printed_algorithm_cannot_make_figure_4():
    assert cal_diversity(2, 4) == 4
    counts = TABLE.sensitive[0].total_of_value
    assert [(len(batch.values), batch.alpha) for batch in printed_plan(counts, 2, 4)] == [(6, 1), (2, 1)]
    with pytest.raises(overt.Unreachable, match="reaches l = 2"):
        overt.CrossBucket(2, 4, mode="paper").anonymize(TABLE, rng=np.random.default_rng(0))


def test_the_default_mode_makes_its_like():
    release = overt.CrossBucket(2, 4).anonymize(TABLE, rng=np.random.default_rng(0))
    assert (largest_breach(release), identity_disclosure(release)) == (Fraction(1, 4), Fraction(1, 2))
    assert discernibility(release.partition) == 16
