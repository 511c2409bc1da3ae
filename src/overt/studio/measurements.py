# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_waiting.py
"""Measurements: what the library finds in a table, kept with the session for as long as the recipe asks the same question.

Short ones are answered at once; long ones become jobs, and the page asks again when they are over.
"""

import json
from collections.abc import Callable
from typing import Any

from overt.io.recipe.recipe import Recipe, parse_recipe
from overt.progress import Progress
from overt.studio.jobs import Job, Jobs, JobState
from overt.studio.session import Session

OF_TABLE = ("input", "columns")  # the parts of a recipe that say what the table is
PATIENCE = 0.3  # seconds that a page waits for an answer before it says that it is counting


def key_of(session: Session, name: str, parts: tuple[str, ...]) -> str:
    """Under what a session keeps a measurement of its recipe as it stands."""
    document = session.document
    return f"{name} {json.dumps([document.get(part) for part in parts], sort_keys=True, default=str)}"


def measured(session: Session, name: str, parts: tuple[str, ...]) -> Any:
    """What was measured of the recipe as it stands; None if it is not known, or not yet."""
    job = session.found.get(key_of(session, name, parts))
    return job.result if isinstance(job, Job) and job.state == "done" else None


class Measurements:
    """What was measured of the tables that are open."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs

    def forget(self, session: Session, *states: JobState) -> None:
        """Let what ended so be measured again when it is next asked for.

        A page that is opened anew tries again what failed. One that only asks whether something is over does not: it would never end.
        """
        with session.lock:
            for key, job in list(session.found.items()):
                if isinstance(job, Job) and job.state in states:
                    del session.found[key]

    def ask(
        self, session: Session, name: str, parts: tuple[str, ...], title: str, work: Callable[[Recipe, Progress], Any]
    ) -> Job:
        """The job that measures `name`, begun now unless it was for the same `parts` of the recipe.

        It works on the recipe as it is now, however long it waits. What was measured for other parts is forgotten, and stopped if it still
        runs: the recipe has changed, and no page asks for it. What a person cancelled stays so until they ask again.
        """
        with session.lock:
            text, key = session.history.text, key_of(session, name, parts)
            job: Job | None = session.found.get(key)
            if job is None:
                folder = session.folder
                job = self.jobs.add(
                    session.id,
                    title,
                    lambda say: work(parse_recipe(text, folder=folder, name="recipe.toml"), say),
                    before_others=True,
                )
                for other in [one for one in session.found if one.startswith(f"{name} ")]:
                    self.jobs.drop(session.found.pop(other))
                session.found[key] = job
        job.wait(PATIENCE)
        return job
