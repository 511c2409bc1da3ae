# SPDX-License-Identifier: Apache-2.0
# Tested through tests/adversary/downcoding/test_tiers.py
"""Downcoding: which finer values follow for certain from the generalized cells of a release.

Paper       A. Cohen, "Attacks on Deidentification's Defenses", USENIX Security 2022.
Implements  Its definition: the release Y was made from X, Z is as fine as Y or finer, X as fine as Z or finer, and Z follows from Y.
            Three tiers of what a reader knows: the cells (T0), that cells are as small as their rows allow (T1), the method (T2).
Departs     The paper shows that every minimal method can be downcoded on some data. This measures one release, by bounds on how many rows
            of a class have which value. Bounds are never wrong and not always the best: what cannot be inferred is left possible.
Guarantee   At least so much is certain to someone who has the release, the hierarchies, and the values that occur in each column
            at all, but nobody's quasi-identifiers. No upper limit: a better reader may find more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from overt.adversary.downcoding.bounds import CountBounds, Counts
from overt.adversary.downcoding.findings import Downcoding
from overt.adversary.downcoding.guesses import count_guessed
from overt.adversary.downcoding.half_test import HalfTest, try_halves
from overt.adversary.downcoding.published import Published, shown_groups
from overt.adversary.downcoding.strict_cuts import can_follow, follow_cuts
from overt.adversary.downcoding.tiers import measure_tier
from overt.errors import InvalidInput
from overt.progress import Progress, silent
from overt.release import Release
from overt.table import Codes


def downcode(
    release: Release,
    *,
    show: Mapping[str, str] | None = None,
    k: int | None = None,
    rng: Generator | None = None,
    on_progress: Progress = silent,
) -> Downcoding:
    """Find which quasi-identifiers can be recovered from a release by a reader who knows nobody's.

    Parameters
    ----------
    release
        The release. Its tiers use what is published alone; what is guessed right is counted with the original, for the owner.
    show
        How quasi-identifiers are shown, as in `publish`; as usual if left out.
    k
        Classes below this size are counted; the size of the smallest group if left out.
    rng
        If given, the method is also run on a random half, to test how often its cells single out one person (for the owner).
    on_progress
        Is told how far it is.

    >>> import overt
    >>> table = overt.read_frame(overt.samples.hospital(), quasi_identifiers=["Postcode", "Sex"])
    >>> found = downcode(overt.Mondrian(goal=overt.KAnonymity(5)).anonymize(table))
    >>> [tier.name for tier in found.tiers]
    ['cover', 'tight', 'method']
    >>> found.tiers[0].n_finer, found.tiers[1].n_finer > 0
    (0, True)

    """
    if release.hides_table:
        raise InvalidInput(
            "A differentially private release has its own guarantee about quasi-identifiers; there is nothing to recover from its cells."
        )
    if not release.n_groups:
        raise InvalidInput("There is nobody in the release; there is nothing to recover.")
    on_progress("Refining cells", 0, 1)
    published = Published.of(release, show)
    cuts = release.made_by.strict_cuts if release.made_by is not None else None
    method = follow_cuts(published, cuts) if cuts is not None and can_follow(published) else None
    k = k if k is not None else int(release.partition.sizes.min())
    group_of_row = shown_groups(release).group_of_row
    kept = np.flatnonzero(group_of_row >= 0)
    columns = [column.codes[kept] for column in release.table.quasi_identifiers]
    class_of_row = published.class_of_group[group_of_row[kept]]
    halves = None
    if rng is not None and release.made_by is not None and not release.shows_exactly:
        on_progress("Testing on halves", 0, 1)
        halves = try_halves(release.table, release.made_by, rng=rng, show=show)
    counts = [
        np.bincount(codes, minlength=one.column.n_values) for codes, one in zip(columns, published.columns, strict=True)
    ]
    return describe(published, k, counts, method=method, truth=(class_of_row, columns), halves=halves)


def describe(
    published: Published,
    k: int,
    n_rows_of_value: Sequence[Counts],
    *,
    method: tuple[CountBounds, ...] | None = None,
    truth: tuple[Codes, Sequence[Codes]] | None = None,
    halves: HalfTest | None = None,
) -> Downcoding:
    """The three tiers of what is published. `truth` is the class and the codes of every row, if they are known."""
    tight = published.tight()
    tiers = []
    for name, bounds in (("cover", published.cover()), ("tight", tight), ("method", method or tight)):
        tier = measure_tier(name, published, bounds, k, n_rows_of_value)
        if truth is not None:
            tier = replace(tier, guessed=count_guessed(published, bounds, *truth))
        tiers.append(tier)
    generalized = tuple(int(published.n_rows[one.is_generalized].sum()) for one in published.columns)
    n_rows = int(published.n_rows.sum())
    return Downcoding(
        k=k,
        n_rows=n_rows,
        n_classes=published.n_classes,
        columns=tuple(one.column.name for one in published.columns),
        forms=tuple(one.form for one in published.columns),
        n_cells=n_rows * len(published.columns),
        n_generalized=sum(generalized),
        generalized_of_column=generalized,
        tiers=tuple(tiers),
        method_used=method is not None,
        halves=halves,
    )
