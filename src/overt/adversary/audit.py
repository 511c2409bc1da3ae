# SPDX-License-Identifier: Apache-2.0
"""Which way a release is audited: exact where that is possible, a chain of swaps where the method says what it tried."""

from numpy.random import Generator

from overt.adversary.engines import alone_of, replay
from overt.adversary.knowledge import Knowledge
from overt.adversary.summary import Audit, promised
from overt.adversary.worst import find_worst
from overt.errors import InvalidInput
from overt.metrics.risk import risk_of_release
from overt.progress import Progress, silent
from overt.release import BucketRelease, RecordRelease, Release


def audit_release(
    release: Release,
    *,
    rng: Generator,
    knowledge: Knowledge | None = None,
    seconds: float = 10.0,
    sweeps: int | None = None,
    on_progress: Progress = silent,
) -> Audit:
    """Ask of a release what someone who replays its method believes of everybody.

    Exact for methods that are proven to treat people or values alike, and where few tables agree with the release; for
    methods that hand over what they tried, estimated for so many seconds (or sweeps). Anything else is refused.
    """
    knowledge, method = knowledge or Knowledge(), release.made_by
    column = release.table.the_sensitive("An audit")
    if isinstance(release, RecordRelease):
        raise InvalidInput("Audits cover releases of groups and buckets, not rows that are generalized one by one.")
    if not release.n_groups:
        raise InvalidInput("There is nobody in the release; there is nothing to audit.")
    alone = alone_of(release)
    replayed = replay(release, knowledge, rng=rng, seconds=seconds, sweeps=sweeps, on_progress=on_progress)
    return Audit(
        method=getattr(method, "name", type(method).__name__),
        column=column.name,
        n_rows=release.table.n_rows,
        n_groups=release.n_groups,
        knowledge=knowledge,
        bound=promised(getattr(method, "goal", None), column.name),
        alone=alone,
        replayed=replayed.posterior,
        worst=find_worst(release, alone, replayed.posterior, replayed.trace, replayed.failed),
        found=risk_of_release(release).identification,
        shows_exactly=isinstance(release, BucketRelease),
    )
