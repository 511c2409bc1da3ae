# SPDX-License-Identifier: Apache-2.0
"""Steps: the rail at the left, with what has been decided in each step so far."""

from dataclasses import dataclass
from typing import Literal

from overt.studio.doubts import is_doubtful
from overt.studio.jobs import Jobs
from overt.studio.measurements import OF_TABLE, measured
from overt.studio.releases import standing
from overt.studio.session import Session


@dataclass(frozen=True)
class Step:
    """One step of the way from a table to a release."""

    name: str  # as in its address
    title: str
    state: Literal["", "done", "look"]
    said: str


def steps_of(session: Session, jobs: Jobs) -> tuple[Step, ...]:
    """The five steps of a session with a live summary each."""
    document = session.document
    columns, goals = document.get("columns", {}), document.get("goal", [])
    profile = session.found.get("profile")
    doubts = 0 if profile is None else sum(is_doubtful(one, document, session.settled) for one in profile.columns)
    risk = measured(session, "risk", OF_TABLE)
    runs = [job for job in jobs.of(session.id) if job.is_run and job.state != "cancelled"]
    release = said_of_release(session)
    under_way = sum(not job.is_over for job in runs)
    table = (
        f"{doubts} columns need a look"
        if doubts > 1
        else "1 column needs a look"
        if doubts
        else f"{len(columns)} columns"
    )
    return (
        Step("table", "Table", "look" if doubts else "done", table),
        Step(
            "risk",
            "Risk now",
            "done" if risk is not None else "",
            "not looked at yet" if risk is None else risk.said,
        ),
        Step(
            "promise", "Promise", "done" if goals else "", " · ".join(map(short_goal, goals)) or "nothing promised yet"
        ),
        Step(
            "compare",
            "Compare",
            "done" if runs and not under_way else "",
            f"{len(runs)} run{'s' if len(runs) > 1 else ''}, {under_way} under way"
            if under_way
            else f"{len(runs)} run{'s' if len(runs) > 1 else ''}"
            if runs
            else "no runs yet",
        ),
        Step(
            "release",
            "Release",
            "done" if release else "",
            release or "nothing to release yet",
        ),
    )


def said_of_release(session: Session) -> str:
    """Where the release stands, in a word; empty if there is none."""
    made = standing(session)
    if made is None:
        return ""
    if made.recipe != session.history.text:
        return "the recipe has changed since"
    return "signed" if made.signature is not None else "made, not signed"


def short_goal(goal: dict[str, object]) -> str:
    """A goal of a recipe in two words.

    >>> short_goal({"property": "k-anonymity", "k": 5}), short_goal({"property": "relative-risk", "times": 2, "column": "HIV"})
    ('5 alike', 'HIV ×2')
    """
    name, of = str(goal.get("property", "")), f"{goal['column']} " if goal.get("column") else ""
    if name == "k-anonymity":
        return f"{goal.get('k')} alike"
    if name == "l-diversity":
        return f"{of}1 in {goal.get('l')}"
    if name == "relative-risk":
        return f"{of}×{goal.get('times')}"
    if name == "t-closeness":
        return f"{of}within {goal.get('t')}"
    parameters = [f"{key} = {value}" for key, value in goal.items() if key not in ("property", "column")]
    return f"{name}, {', '.join(parameters)}" if parameters else name
