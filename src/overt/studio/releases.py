# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_choices.py
"""Releases: what was made of a session's recipe, which of its files are for readers and which for the owner, and who signed it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from overt.engine.dp_run import DpOutcome
from overt.engine.outcome import Outcome
from overt.engine.run import run
from overt.progress import Progress
from overt.studio.jobs import Job, Jobs
from overt.studio.session import Session

SIGNATURE = "release.signature.json"
STATEMENTS = (
    "I have read what is not promised.",
    "The columns that others may know are complete, as far as I can tell.",
    "Nothing from this table was released before, or I have considered it.",
)


@dataclass(frozen=True)
class Signature:
    """Who stands for a release: a name and a role, bound to the digests of its files."""

    name: str
    role: str
    when: datetime
    digests: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "signature": 1,
            "audience": "public",
            "name": self.name,
            "role": self.role,
            "when": self.when.isoformat(timespec="seconds"),
            "statements": list(STATEMENTS),
            "sha256": dict(self.digests),
        }


@dataclass(eq=False)
class Making:
    """A release that is being made, or was, from the recipe as it stood then."""

    recipe: str
    job: Job
    before: "Making | None" = None  # what stands again if this is cancelled; its files stay until this is made
    signature: Signature | None = None
    when: datetime = field(default_factory=datetime.now)

    @property
    def outcome(self) -> Outcome | DpOutcome | None:
        """What came of it, if it was made."""
        found = self.job.result
        return found if isinstance(found, Outcome | DpOutcome) and found.ok else None

    @property
    def why_not(self) -> str:
        """Why there is no release, if nothing more comes of it."""
        if self.job.state == "done" and self.outcome is None:
            return "The release did not pass the check of its own files, so none was written. Please report it."
        return self.job.error

    def is_older(self, other: "Making") -> bool:
        """Whether its files are as they were when another began: one that is cancelled at the very end has written its own."""
        path = None if self.outcome is None else self.outcome.manifest_path
        return path is not None and path.is_file() and path.stat().st_mtime < other.when.timestamp()


class Releases:
    """The releases of all sessions: each has one at most, and another takes its place."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs

    def of(self, session: Session) -> Making | None:
        """The release of a session: the one that is being made, or that was made last."""
        with session.lock:
            found: Making | None = session.found.get("made")
            if found is not None and found.job.state == "cancelled":
                before = found.before
                found = session.found["made"] = before if before is not None and before.is_older(found) else None
        return found

    def make(self, session: Session) -> Making:
        """Make the release of the recipe as it stands, unless that is under way: whoever clicks twice wants one release."""
        with session.lock:
            before, text = self.of(session), session.history.text
            if before is not None and not before.job.is_over:
                if before.recipe == text:
                    return before
                self.jobs.cancel(before.job)
                before = self.of(session)
            path = session.folder / "release.toml"
            path.write_text(text, encoding="utf-8")
            work = lambda say: make_release(path, say)  # noqa: E731
            made = Making(text, self.jobs.add(session.id, "Making the release", work, is_run=False), before)
            session.found["made"] = made
        return made

    def sign(self, session: Session, made: Making, name: str, role: str) -> None:
        """Bind a name to the files as they are now."""
        digests = {path.name: digest_of(path) for path in public_files(session, made)}
        made.signature = Signature(name, role, datetime.now(UTC), digests)
        content = json.dumps(made.signature.to_dict(), indent=2, ensure_ascii=False)
        (session.folder / SIGNATURE).write_text(content + "\n", encoding="utf-8")


def make_release(path: Path, on_progress: Progress) -> Outcome | DpOutcome:
    """Run the recipe, with both reports. A signature of the release before does not stay beside it."""
    made = run(path, report=True, overwrite=True, on_progress=on_progress)
    if made.ok:
        (path.parent / SIGNATURE).unlink(missing_ok=True)
    return made


def public_files(session: Session, made: Making) -> list[Path]:
    """What is for readers: tables, manifest, public reports, the signature. The studio writes into files of its folder alone."""
    outcome = made.outcome
    if outcome is None:
        return []
    signature = [session.folder / SIGNATURE] if made.signature is not None else []
    return [
        path
        for path in (*outcome.files.values(), outcome.manifest_path, *outcome.report_paths, *signature)
        if path.is_file()
    ]


def owner_files(made: Making) -> list[Path]:
    """What must not leave: the record that ties the release to its data, and the owner's reports."""
    outcome = made.outcome
    if not isinstance(outcome, Outcome):
        return []
    return [path for path in (outcome.owner_record_path, *outcome.owner_report_paths) if path.is_file()]


def verdict_in(paths: list[Path]) -> dict[str, Any]:
    """The verdict that the report for programs opens with."""
    document = next((path for path in paths if path.name.endswith("report.json")), None)
    if document is None:
        return {}
    found: dict[str, Any] = json.loads(document.read_text("utf-8")).get("verdict", {})
    return found


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as content:
        return file_digest(content, "sha256").hexdigest()


def zipped(folder: Path, paths: list[Path], more: Mapping[str, str]) -> Path:
    """Files and texts as one archive, in a file of that folder that is to be removed after it was sent."""
    with NamedTemporaryFile(dir=folder, prefix=".download-", suffix=".zip", delete=False) as content:
        with ZipFile(content, "w", ZIP_DEFLATED) as archive:
            for path in paths:
                archive.write(path, path.name)
            for name, text in more.items():
                archive.writestr(name, text)
        return Path(content.name)
