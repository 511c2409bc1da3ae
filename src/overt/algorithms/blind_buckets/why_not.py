# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/blind_buckets/test_plan.py
"""Why not: which counts stand in the way of a goal that no plan reaches, and what could be reached instead.

Every part of the goal that fails is named, so that nobody has to try again to hear of the next. The words are for the owner: they
tell counts that have not been published. They never tell a value.
"""

import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

import numpy as np

from overt.hierarchy.texts import texts_of
from overt.partition import Counts, Groups, Histogram
from overt.privacy.alpha_k import AlphaKAnonymity
from overt.privacy.base import Property, SensitiveProperty
from overt.privacy.beta_likeness import BetaLikeness
from overt.privacy.delta_disclosure import DeltaDisclosure
from overt.privacy.l_diversity import DistinctLDiversity, FrequencyLDiversity, RecursiveCLDiversity
from overt.privacy.relative_risk import RelativeRisk
from overt.privacy.t_closeness import TCloseness

LIMITS_EACH_VALUE = FrequencyLDiversity | AlphaKAnonymity | BetaLikeness | RelativeRisk
LOOKS_AT_TABLE = TCloseness | DeltaDisclosure | BetaLikeness | RelativeRisk


def why_not(goal: Property, strata: Groups, everyone: Groups) -> str:
    """What is in the way of a goal if each stratum is a single bucket, which is the coarsest plan; `everyone` is one stratum of all."""
    return " ".join(_why_not(part, strata, everyone) for part in goal.parts if not part.holds(strata))


def _why_not(part: Property, strata: Groups, everyone: Groups) -> str:
    breaks = part.breaks(strata)
    where = f" in {int(breaks.sum())} of {strata.n_groups} strata" if strata.n_groups > 1 else ""
    name, worst = _column_and_stratum(part, strata)
    said, own_bound = _count_in_the_way(part, name, strata.histograms[name], worst)
    remedy = _remedy(part, strata, everyone)
    if own_bound is not None:
        remedy = f"Its own bound would have to be at least {own_bound}"
        remedy += ", or fewer strata may help" if strata.n_groups > 1 else ""
    return f"{part} cannot be reached{where}, not even with all rows of a stratum in one bucket: {said}. {remedy}."


def _column_and_stratum(part: Property, strata: Groups) -> tuple[str, int]:
    """A sensitive column and a stratum in which the part fails."""
    named = part.column if isinstance(part, SensitiveProperty) else None
    for name, histogram in strata.histograms.items():
        if named in (None, name):
            breaks = part.breaks(Groups(strata.sizes, {name: histogram}))
            if breaks.any():
                return name, int(np.argmax(breaks))
    raise AssertionError("a part that fails fails for some column")


def _count_in_the_way(part: Property, name: str, histogram: Histogram, worst: int) -> tuple[str, str | None]:
    """The count in words; and the bound that its value would need, if it has one of its own."""
    assert histogram.out_of is not None
    of_worst = slice(histogram.first[worst], histogram.first[worst + 1])
    count, total = np.zeros(histogram.n_values, np.int64), histogram.total_of_value
    count[histogram.value[of_worst]] = histogram.count[of_worst]
    n, n_table = int(histogram.out_of[worst]), int(total.sum())
    if isinstance(part, DistinctLDiversity):
        return f"{name!r} has {np.count_nonzero(count)} different values among {n} rows", None
    code, allowed, own_bound = _value_in_the_way(part, histogram, count, n)
    said = f"one value of {name!r} fills {count[code]} of {n} rows"
    if isinstance(part, LOOKS_AT_TABLE):
        said += f" and {total[code]} of {n_table} in the whole table"
    return said + allowed, own_bound


def _value_in_the_way(part: Property, histogram: Histogram, count: Counts, n: int) -> tuple[int, str, str | None]:
    total = histogram.total_of_value
    if isinstance(part, LIMITS_EACH_VALUE):
        labels = [None] * total.size if histogram.labels is None else texts_of(histogram.labels).to_list()
        n_table = int(total.sum())
        limits = [
            part.share_bounds(Fraction(int(of), n_table), label)[1] for of, label in zip(total, labels, strict=True)
        ]
        code = max(range(total.size), key=lambda v: int(count[v]) - n * limits[v])
        own_bound = None
        if isinstance(part, FrequencyLDiversity) and labels[code] in part.bounds:
            own_bound = _greatest_share(histogram, code)
        return code, f"; {math.floor(n * limits[code])} are allowed", own_bound
    if isinstance(part, LOOKS_AT_TABLE):
        share, usual = count / n, total / total.sum()
        apart = np.abs(share - usual)
        if isinstance(part, DeltaDisclosure):
            with np.errstate(divide="ignore", invalid="ignore"):
                apart = np.where(total > 0, np.abs(np.log(share / usual)), 0.0)
        return int(np.argmax(apart)), "", None
    return int(np.argmax(count)), "", None


def _greatest_share(histogram: Histogram, code: int) -> str:
    """Of a value, over all strata, rounded up."""
    assert histogram.out_of is not None
    size = np.repeat(histogram.out_of, np.diff(histogram.first))[histogram.value == code].tolist()
    greatest = max(Fraction(c, n) for c, n in zip(histogram.count[histogram.value == code].tolist(), size, strict=True))
    up = Context(prec=4, rounding=ROUND_CEILING)
    return f"{up.divide(Decimal(greatest.numerator), Decimal(greatest.denominator)).normalize():f}"


def _remedy(part: Property, strata: Groups, everyone: Groups) -> str:
    """What could be reached: by this part in these strata, and in one."""
    with_these, with_one = (_reached(part, groups) for groups in (strata, everyone))
    smaller_l = " Ask for a smaller l" if isinstance(part, RecursiveCLDiversity) else ""
    if strata.n_groups == 1 or with_one is None:
        return (
            f"Ask for less: {with_these} can be reached" if with_these else f"No {part.parameter} is enough.{smaller_l}"
        )
    if with_these is None:
        return f"Use fewer strata: with one, {with_one} can be reached, and with these no {part.parameter} is enough"
    return f"Use fewer strata (with one, {with_one} can be reached), or ask for less: {with_these} can be reached with these"


def _reached(part: Property, groups: Groups) -> str | None:
    measured = part.measure(groups)
    return None if not isinstance(measured, tuple) and math.isinf(measured) else part.describe_measure(groups)
