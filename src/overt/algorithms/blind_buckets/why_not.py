# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/blind_buckets/test_plan.py
"""Why not: which counts stand in the way of a goal that no plan reaches, and what could be reached instead.

Every part of the goal that fails is named, so that nobody has to try again to hear of the next. The words are for the owner: they
tell counts that have not been published. They never tell a value.
"""

import math
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

import numpy as np

from overt.hierarchy.texts import texts_of
from overt.partition import Counts, Groups, Histogram
from overt.privacy.alpha_k import AlphaKAnonymity
from overt.privacy.base import Property, SensitiveProperty, exact
from overt.privacy.beta_likeness import BetaLikeness
from overt.privacy.delta_disclosure import DeltaDisclosure
from overt.privacy.l_diversity import DistinctLDiversity, FrequencyLDiversity, RecursiveCLDiversity
from overt.privacy.relative_risk import RelativeRisk
from overt.privacy.t_closeness import TCloseness

LIMITS_EACH_VALUE = FrequencyLDiversity | AlphaKAnonymity | BetaLikeness | RelativeRisk
LOOKS_AT_TABLE = TCloseness | DeltaDisclosure | BetaLikeness | RelativeRisk


def why_not(goal: Property, strata: Groups, everyone: Groups) -> str:
    """What is in the way of a goal if each stratum is a single bucket, which is the coarsest plan; `everyone` is as few strata as there can be."""
    return " ".join(_why_not(part, strata, everyone) for part in goal.parts if not part.holds(strata))


def _why_not(part: Property, strata: Groups, everyone: Groups) -> str:
    breaks = part.breaks(strata)
    where = f" in {int(breaks.sum())} of {strata.n_groups} strata" if strata.n_groups > 1 else ""
    name, worst = _column_and_stratum(part, strata)
    said = _count_in_the_way(part, name, strata.histograms[name], worst)
    return f"{part} cannot be reached{where}, not even with all rows of a stratum in one bucket: {said}. {remedy(part, strata, everyone)}."


def _column_and_stratum(part: Property, strata: Groups) -> tuple[str, int]:
    """A sensitive column and a stratum in which the part fails."""
    named = part.column if isinstance(part, SensitiveProperty) else None
    for name, histogram in strata.histograms.items():
        if named in (None, name):
            breaks = part.breaks(Groups(strata.sizes, {name: histogram}))
            if breaks.any():
                return name, int(np.argmax(breaks))
    raise AssertionError("a part that fails fails for some column")


def _count_in_the_way(part: Property, name: str, histogram: Histogram, worst: int) -> str:
    """The count in words."""
    assert histogram.out_of is not None
    of_worst = slice(histogram.first[worst], histogram.first[worst + 1])
    count, total = np.zeros(histogram.n_values, np.int64), histogram.total_of_value
    count[histogram.value[of_worst]] = histogram.count[of_worst]
    n, n_table = int(histogram.out_of[worst]), int(total.sum())
    if isinstance(part, DistinctLDiversity):
        return f"{name!r} has {np.count_nonzero(count)} different values among {n} rows"
    code, allowed = _value_in_the_way(part, histogram, count, n)
    said = f"one value of {name!r} fills {count[code]} of {n} rows"
    if isinstance(part, LOOKS_AT_TABLE):
        said += f" and {total[code]} of {n_table} in the whole table"
    return said + allowed


def _value_in_the_way(part: Property, histogram: Histogram, count: Counts, n: int) -> tuple[int, str]:
    total = histogram.total_of_value
    if isinstance(part, LIMITS_EACH_VALUE):
        labels = [None] * total.size if histogram.labels is None else texts_of(histogram.labels).to_list()
        n_table = int(total.sum())
        limits = [
            part.share_bounds(Fraction(int(of), n_table), label)[1] for of, label in zip(total, labels, strict=True)
        ]
        code = max(range(total.size), key=lambda v: int(count[v]) - n * limits[v])
        return code, f"; {math.floor(n * limits[code])} are allowed"
    if isinstance(part, LOOKS_AT_TABLE):
        share, usual = count / n, total / total.sum()
        apart = np.abs(share - usual)
        if isinstance(part, DeltaDisclosure):
            with np.errstate(divide="ignore", invalid="ignore"):
                apart = np.where(total > 0, np.abs(np.log(share / usual)), 0.0)
        return int(np.argmax(apart)), ""
    return int(np.argmax(count)), ""


def remedy(part: Property, strata: Groups, everyone: Groups) -> str:
    """What could be reached: by this part in these strata, and in as few as there can be, which is `everyone`.

    To ask for less in the same strata tells nothing, since the release shows their counts, and these say what could not be reached. That other
    strata failed is not seen in a release, and tells of the people in it.
    """
    bounds, part = raise_own_bounds(part, strata)
    if bounds and part.holds(strata):
        return bounds
    with_these, with_one = (_reached(part, groups) for groups in (strata, everyone))
    bounds = f"{bounds}. " if bounds else ""
    smaller_l = " Ask for a smaller l" if isinstance(part, RecursiveCLDiversity) else ""
    if strata.n_groups == everyone.n_groups or with_one is None:
        return bounds + (
            f"Ask for less: {with_these} can be reached" if with_these else f"No {part.parameter} is enough.{smaller_l}"
        )
    less = (
        f"Ask for less: {with_these} can be reached with these"
        if with_these
        else f"With these no {part.parameter} is enough"
    )
    return (
        f"{bounds}{less}. Without strata {with_one} could be reached, but who knows that others were tried first can then learn more "
        "than the release shows"
    )


def raise_own_bounds(part: Property, groups: Groups) -> tuple[str, Property]:
    """In words, how high bounds that single values have would have to be, if they are too low; and the part with such bounds."""
    if not isinstance(part, FrequencyLDiversity) or not part.bounds:
        return "", part
    needed: dict[str, Fraction] = {}
    for name, histogram in groups.histograms.items():
        if part.column not in (None, name) or histogram.labels is None:
            continue
        sizes = groups.sizes if histogram.out_of is None else histogram.out_of
        size = np.repeat(sizes, np.diff(histogram.first))
        labels = texts_of(histogram.labels).to_list()
        for code, label in enumerate(labels):
            here = histogram.value == code
            if label in part.bounds and here.any():
                shares = map(Fraction, histogram.count[here].tolist(), size[here].tolist())
                needed[label] = max(needed.get(label, Fraction(0)), *shares)
    raised = {
        label: rounded_up(needed[label]) for label in part.bounds if needed.get(label, 0) > exact(part.bounds[label])
    }
    if not raised:
        return "", part
    least = " and ".join(raised.values())
    whose = "Its own bound" if len(raised) == 1 else f"The bounds that {len(raised)} values have of their own"
    return f"{whose} would have to be at least {least}", replace(part, bounds={**part.bounds, **raised})


def rounded_up(share: Fraction) -> str:
    """A share with four digits, as a bound that it keeps."""
    up = Context(prec=4, rounding=ROUND_CEILING)
    return f"{up.divide(Decimal(share.numerator), Decimal(share.denominator)).normalize():f}"


def _reached(part: Property, groups: Groups) -> str | None:
    measured = part.measure(groups)
    return None if not isinstance(measured, tuple) and math.isinf(measured) else part.describe_measure(groups)
