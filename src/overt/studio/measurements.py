# SPDX-License-Identifier: Apache-2.0
"""Measurements: what the library finds in a table, kept with the session for as long as the recipe asks the same question.

Short ones are answered at once; long ones become jobs, and the page asks again when they are over.
"""

import json
from collections.abc import Callable
from typing import Any

from overt.progress import Progress
from overt.studio.jobs import Job, Jobs
from overt.studio.session import Session

PATIENCE = 0.3  # seconds that a page waits for an answer before it says that it is counting


class Measurements:
    """What was measured of the tables that are open."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs

    def forget_failures(self, session: Session) -> None:
        """A page that is opened anew tries again what failed. One that only asks whether something is over does not: it would never end."""
        with session.lock:
            for key, job in list(session.found.items()):
                if isinstance(job, Job) and job.state == "failed":
                    del session.found[key]

    def ask(self, session: Session, name: str, about: Any, title: str, work: Callable[[Progress], Any]) -> Job:
        """The job that measures `name`, begun now unless it was for the same parts of the recipe, `about`."""
        key = f"{name} {json.dumps(about, sort_keys=True, default=str)}"
        with session.lock:
            job: Job | None = session.found.get(key)
            if job is None or job.state == "cancelled":
                job = self.jobs.add(session.id, title, work)
                session.found[key] = job
        job.wait(PATIENCE)
        return job
