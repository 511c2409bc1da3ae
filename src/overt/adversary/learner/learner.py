# SPDX-License-Identifier: Apache-2.0
"""A learner who knows how values depend on quasi-identifiers: how many people they guess right from a release.

Paper       D. Kifer, "Attacks on Privacy and deFinetti's Theorem", SIGMOD 2009.
Implements  Its adversary, who learns correlations and restricts them to what each group or bucket may hold.
Departs     They are given the true correlations, learned from other people's rows with a person's group held out, instead
            of those that can be read from the release; measured on Adult, the release alone taught no more. The model
            is log-linear with pairs of columns in place of naive Bayes, whose beliefs are far too high.
Guarantee   None: it measures one adversary. Another who knows more, or has a better model, may guess more; so may one who
            also replays a method whose guarantee is not strong. Beliefs are exact for the model and the release alone in
            groups of up to about 14 different values. What it finds uses the true values and is for the owner alone.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from overt.adversary.learner.findings import CERTAIN, AboveBound, Learned, Share, reliability_of
from overt.adversary.learner.held_out import learn_held_out
from overt.adversary.learner.replayed_matching import ReplayedMatching, replay_matching
from overt.adversary.learner.restricted import Guesses, guess_in_crossed, guess_in_groups
from overt.adversary.summary import promised
from overt.errors import InvalidInput
from overt.guarantee import Beliefs
from overt.kernels.failed_trials import join_groups
from overt.partition import Histogram, Partition
from overt.privacy.base import Property
from overt.progress import Progress, silent
from overt.release import Release
from overt.table import Codes, Column

MOST_JUDGED = 50_000  # people of groups or buckets that are looked at
SMALL = 10  # a group or bucket of so many rows or fewer is held out as a whole
MOST_TOGETHER = 100  # rows that are held out together because boxes and buckets tie them


def learn(
    release: Release,
    *,
    rng: Generator,
    column: str | None = None,
    n_people: int = MOST_JUDGED,
    goal: Property | None = None,
    method: str | None = None,
    on_progress: Progress = silent,
) -> Learned:
    """Measure how many people a learner guesses right, with and without the release, compared with what was promised.

    The learner knows who is in which group or bucket; if groups are crossed with buckets, only who is in which group. For
    larger tables, about `n_people` people are asked about, in groups chosen by `rng`. `goal` and `method` say what was promised, and by what, if
    the release itself does not.

    >>> import overt
    >>> table = overt.read_frame(overt.samples.hospital(), quasi_identifiers=["Postcode", "Sex"], sensitive=["Disease"])
    >>> rng = np.random.default_rng(1)
    >>> release = overt.Anatomy(goal=overt.FrequencyLDiversity(2)).anonymize(table, rng=rng)
    >>> found = learn(release, rng=rng)
    >>> found.n_people == table.n_rows
    True
    """
    if release.hides_table:
        raise InvalidInput(
            "A learner is asked about releases of groups and buckets; against one, differential privacy is the guarantee itself."
        )
    if not release.n_groups:
        raise InvalidInput("There is nobody in the release; there is nothing to learn about.")
    sensitive = release.table.the_sensitive("A learner") if column is None else _sensitive(release, column)
    is_crossed, parts = release.is_crossed, release.value_groups
    chosen = np.arange(parts.n_groups, dtype=np.int32) if is_crossed else _some_groups(parts, n_people, rng)
    is_judged = np.isin(parts.group_of_row, chosen) & (release.partition.group_of_row >= 0)
    judged = np.flatnonzero(is_judged)
    unit_of_row = units_of(parts, release.partition) if is_crossed else units_of(parts)
    learned = learn_held_out(release.table, sensitive, unit_of_row, judged, rng=rng, on_progress=on_progress)
    guessed: Guesses = (
        guess_in_crossed(learned, sensitive, release.crossed(), rng=rng, on_progress=on_progress)
        if is_crossed
        else guess_in_groups(learned, sensitive, parts, chosen)
    )
    made_by = release.made_by
    bound = promised(goal if made_by is None else made_by.goal, sensitive.name)
    name = made_by.name if made_by is not None else method or "an unknown method"
    found = _findings(release, name, sensitive, judged, parts.group_of_row[judged], learned.guess, guessed, bound)
    replayed = (
        replay_matching(release, sensitive, learned, rng=rng, on_progress=on_progress)
        if _asks_all(judged, parts)
        else None
    )
    return found if replayed is None else _with_replayed(found, replayed, sensitive, guessed, parts)


def _asks_all(judged: NDArray[np.int64], parts: Partition) -> bool:
    """Whether everybody was asked about: leanings of people who were not are not known."""
    return judged.size == parts.n_kept


def _with_replayed(
    found: Learned, replayed: ReplayedMatching, column: Column, guessed: Guesses, parts: Partition
) -> Learned:
    """Who is in a batch that can be replayed is guessed as well as those were that it was tried on; everybody else as before."""
    is_right = (replayed.value == column.codes[replayed.rows]).astype(np.float64)
    tried = Share.of(is_right, replayed.batch_of_row)
    others = np.ones(column.codes.size, np.bool_)
    others[np.concatenate([batch.ravel() for batch in replayed.batches])] = False
    rest, weight = np.flatnonzero(others), replayed.n_replayable / column.codes.size
    value, error = weight * tried.value, weight * tried.error
    if rest.size:
        other = Share.of((guessed.value[rest] == column.codes[rest]).astype(np.float64), parts.group_of_row[rest])
        value, error = value + (1 - weight) * other.value, float(np.hypot(error, (1 - weight) * other.error))
    return replace(found, replaying=Share(value, error), n_replayed=int(replayed.rows.size))


def learn_columns(
    release: Release, *, rng: Generator, n_people: int = MOST_JUDGED, on_progress: Progress = silent
) -> tuple[Learned, ...]:
    """The same of every sensitive column."""
    return tuple(
        learn(release, rng=rng, column=column.name, n_people=n_people, on_progress=on_progress)
        for column in release.table.sensitive
    )


def units_of(parts: Partition, boxes: Partition | None = None) -> Codes:
    """(row) -> who is held out together: the rows of a small group or bucket; every other row by itself.

    Where buckets are crossed with boxes, rows that small ones of either kind tie together, directly or through others. If that would be
    more than MOST_TOGETHER rows, as where buckets are dealt over the whole table, buckets alone decide.
    """
    names = [_own_or_of_group(one) for one in ((parts,) if boxes is None else (parts, boxes))]
    if len(names) == 1:
        return np.unique(names[0], return_inverse=True)[1].astype(np.int32)
    rows = np.arange(parts.group_of_row.size)
    ties = np.unique(np.concatenate([names[0], names[1] + names[0].max(initial=0) + 1]), return_inverse=True)[1]
    unit: Codes = join_groups(ties, np.tile(rows, 2), int(ties.max(initial=-1)) + 1, rows.size).astype(np.int32)
    return unit if np.bincount(unit).max(initial=0) <= MOST_TOGETHER else units_of(parts)


def _own_or_of_group(parts: Partition) -> NDArray[np.int64]:
    """(row) -> the number of its group if that is small; else one of its own."""
    size = np.append(parts.sizes, SMALL + 1)[parts.group_of_row]
    own: NDArray[np.int64] = np.where(size <= SMALL, parts.group_of_row, parts.n_groups + np.arange(size.size))
    return own


def _some_groups(parts: Partition, n_people: int, rng: Generator) -> Codes:
    """Random groups with about so many people together; all if there are no more."""
    if parts.n_kept <= n_people:
        return np.arange(parts.n_groups, dtype=np.int32)
    order = rng.permutation(parts.n_groups).astype(np.int32)
    last = int(np.searchsorted(np.cumsum(parts.sizes[order]), n_people))
    return np.sort(order[: last + 1])


def _sensitive(release: Release, name: str) -> Column:
    found = release.table.column(name)
    if found not in release.table.sensitive:
        raise InvalidInput(f"A learner is asked about {name!r}, which is no sensitive column.")
    return found


def _findings(
    release: Release,
    method: str,
    column: Column,
    judged: NDArray[np.int64],
    unit: Codes,
    without: Codes,
    guessed: Guesses,
    bound: Fraction | None,
) -> Learned:
    true = column.codes[judged]
    inside, outside = (guessed.value[judged] == true), (without[judged] == true)
    plain = _plain_beliefs(release.groups.histograms[column.name], release)[release.partition.group_of_row[judged]]
    belief = guessed.belief[judged]
    promise = plain if bound is None else np.full(judged.size, float(bound))

    def above(limit: NDArray[np.float64] | float) -> AboveBound:
        is_above = belief > limit
        return AboveBound(int(is_above.sum()), int(inside[is_above].sum()))

    return Learned(
        method=method,
        column=column.name,
        quasi_identifiers=tuple(one.name for one in release.table.quasi_identifiers),
        n_people=release.partition.n_kept,
        n_judged=int(judged.size),
        promised=bound,
        most_frequent=float(column.total_of_value.max() / column.codes.size),
        plain=float(plain.mean()),
        outside=Share.of(outside.astype(np.float64), unit),
        inside=Share.of(inside.astype(np.float64), unit),
        from_release=Share.of(inside.astype(np.float64) - outside, unit),
        from_learning=Share.of(inside - plain, unit),
        above_twice=above(2 * promise),
        above_certain=above(CERTAIN),
        reliability=reliability_of(belief, inside),
        exact=float(guessed.exact[judged].mean()),
        sampling_error=float(guessed.error[judged].mean()),
        is_strong=release.made_by is not None and release.made_by.guarantee.beliefs is Beliefs.EVERY,
    )


def _plain_beliefs(held: Histogram, release: Release) -> NDArray[np.float64]:
    """(group) -> what the release alone says of the likeliest value of its people."""
    out_of = release.groups.sizes if held.out_of is None else held.out_of
    most = np.maximum.reduceat(held.count, held.first[:-1])
    shares: NDArray[np.float64] = most / out_of
    return shares
