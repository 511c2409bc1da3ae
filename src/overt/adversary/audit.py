# SPDX-License-Identifier: Apache-2.0
"""Which way a release is audited: exact where that is possible, a chain of swaps where the method says what it tried."""

from numpy.random import Generator

from overt.adversary.knowledge import Knowledge
from overt.adversary.most_exposed import find_worst
from overt.adversary.replay.engines import alone_of, replay
from overt.adversary.summary import Audit, promised
from overt.errors import InvalidInput
from overt.metrics.risk import risk_of_release
from overt.progress import Progress, silent
from overt.release import Release


def audit_release(
    release: Release,
    *,
    rng: Generator,
    knowledge: Knowledge | None = None,
    seconds: float = 10.0,
    sweeps: int | None = None,
    on_progress: Progress = silent,
) -> Audit:
    """Measure what somebody who replays the method of a release can conclude about everybody.

    The table has one sensitive column; for several, see `audit_columns`. Exact for methods that are proven to treat people or values alike, and where few tables agree with the release; for
    methods that hand over what they tried, estimated for so many seconds (or sweeps). Anything else is refused.

    >>> import numpy as np
    >>> import overt
    >>> frame = overt.samples.hospital()
    >>> table = overt.read_frame(frame, quasi_identifiers=["Sex"], sensitive=["Disease"])
    >>> release = overt.Anatomy(goal=overt.FrequencyLDiversity(3)).anonymize(table, rng=overt.secret_generator())
    >>> audit_release(release, rng=np.random.default_rng(1)).n_certain
    0
    """
    release.table.the_sensitive("An audit of one column")
    return audit_columns(
        release, rng=rng, knowledge=knowledge, seconds=seconds, sweeps=sweeps, on_progress=on_progress
    )[0]


def audit_columns(
    release: Release,
    *,
    rng: Generator,
    knowledge: Knowledge | None = None,
    seconds: float = 10.0,
    sweeps: int | None = None,
    on_progress: Progress = silent,
) -> tuple[Audit, ...]:
    """The same for every sensitive column, in the order of the table; rows show their values together, and tables are sampled once.

    >>> import numpy as np
    >>> import overt
    >>> frame = overt.samples.hospital()
    >>> table = overt.read_frame(frame, quasi_identifiers=["Postcode"], sensitive=["Disease", "Sex"])
    >>> release = overt.Mondrian(goal=overt.DistinctLDiversity(2)).anonymize(table)
    >>> [audit.column for audit in audit_columns(release, rng=np.random.default_rng(1), seconds=1)]
    ['Sex', 'Disease']
    """
    knowledge, method = knowledge or Knowledge(), release.method
    if not release.table.sensitive:
        release.table.the_sensitive("An audit")
    if release.is_row_by_row:
        raise InvalidInput("Audits cover releases of groups and buckets, not rows that are generalized one by one.")
    if not release.n_groups:
        raise InvalidInput("There is nobody in the release; there is nothing to audit.")
    replayed = replay(release, knowledge, rng=rng, seconds=seconds, sweeps=sweeps, on_progress=on_progress)
    found = risk_of_release(release).identification
    audits = []
    for column, posterior in zip(release.table.judged, replayed.posteriors, strict=True):
        alone = alone_of(release, column)
        audits.append(
            Audit(
                method=method.name,
                column=column.name,
                n_rows=release.table.n_rows,
                n_groups=release.n_groups,
                knowledge=knowledge,
                bound=promised(method.goal, column.name),
                alone=alone,
                replayed=posterior,
                worst=find_worst(release, alone, posterior, replayed.trace, replayed.failed),
                found=found,
                shows_exactly=release.shows_exactly,
            )
        )
    return tuple(audits)
