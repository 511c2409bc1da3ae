# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_choices.py
"""Releases: what was made of a session's recipe, which of its files are for readers and which for the owner, and who signed it."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Literal
from zipfile import ZIP_DEFLATED, ZipFile

from overt.engine.dp_run import DpOutcome
from overt.engine.outcome import Outcome
from overt.engine.run import run
from overt.io.pilot_record import SUFFIX as PILOT
from overt.io.recipe.toml_text import toml_of
from overt.progress import Progress
from overt.studio.history import Document
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


@dataclass(frozen=True)
class KeptRelease:
    """A release that was made: its files by name, all of them in the session's folder, and how it is shown."""

    public: tuple[str, ...]  # tables, manifest, public reports
    owners: tuple[str, ...]  # the record that ties it to its data, and the owner's reports
    manifest: str
    state: Literal["good", "warn"]  # whether it holds against everybody who has the method
    cautions: tuple[str, ...] = ()

    @classmethod
    def of(cls, outcome: Outcome | DpOutcome) -> "KeptRelease":
        """What came of a run."""
        public = (*outcome.files.values(), outcome.manifest_path, *outcome.report_paths)
        names = tuple(path.name for path in public)
        if isinstance(outcome, DpOutcome):  # it holds against everybody, by its proof, unless it was made for tests
            return cls(names, (), outcome.manifest_path.name, "good" if outcome.coins == "secret" else "warn")
        owners = tuple(path.name for path in (outcome.owner_record_path, *outcome.owner_report_paths))
        state: Literal["good", "warn"] = "good" if outcome.guarantee.strength == "strong" else "warn"
        return cls(names, owners, outcome.manifest_path.name, state, outcome.cautions)


@dataclass(eq=False)
class Making:
    """A release that is being made, or was, from the recipe as it stood then."""

    recipe: str
    job: Job | None  # None: it was made in a session that was saved
    before: "Making | None" = None  # what stands if nothing comes of this; its files stay until this is made
    signature: Signature | None = None
    when: datetime = field(default_factory=datetime.now)
    kept: KeptRelease | None = None  # what was made in a session that was saved

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.job is None or self.job.is_over

    @property
    def written(self) -> KeptRelease | None:
        """What came of it, if it was made."""
        found = None if self.job is None else self.job.result
        return KeptRelease.of(found) if isinstance(found, Outcome | DpOutcome) and found.ok else self.kept

    @property
    def why_not(self) -> str:
        """Why there is no release, if nothing more comes of it."""
        if self.job is None or self.written is not None:
            return ""
        if self.job.state == "done":
            return "The release did not pass the check of its own files, so none was written. Please report it."
        return self.job.error

    def is_older(self, other: "Making", folder: Path) -> bool:
        """Whether its files are as they were when another began: one that is cancelled at the very end has written its own."""
        path = None if self.written is None else folder / self.written.manifest
        return path is not None and path.is_file() and path.stat().st_mtime < other.when.timestamp()


def standing(session: Session) -> Making | None:
    """The release whose files lie in the session's folder: the last one, or if that was refused the one before; None while one is made."""
    with session.lock:
        made: Making | None = session.found.get("made")
        if made is None or not made.is_over or made.written is not None:
            return made if made is not None and made.written is not None else None
        before = made.before
        return before if before is not None and before.is_older(made, session.folder) else None


class Releases:
    """The releases of all sessions: each has one at most, and another takes its place."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs

    def of(self, session: Session) -> Making | None:
        """The release of a session: the one that is being made, or that was made last."""
        with session.lock:
            found: Making | None = session.found.get("made")
            if found is not None and found.job is not None and found.job.state == "cancelled":
                found = session.found["made"] = standing(session)
        return found

    def make(self, session: Session) -> Making:
        """Make the release of the recipe as it stands, unless that is under way: whoever clicks twice wants one release."""
        with session.lock:
            under_way, text = self.of(session), session.history.text
            if under_way is not None and under_way.job is not None and not under_way.is_over:
                if under_way.recipe == text:
                    return under_way
                self.jobs.cancel(under_way.job)
                self.of(session)
            before = standing(session)
            if before is not None:
                before.before = None  # no file of that is left
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
    if made.written is None:
        return []
    names = [*made.written.public, *([SIGNATURE] if made.signature is not None else [])]
    return [path for path in (session.folder / name for name in names) if path.is_file()]


def owner_files(session: Session, made: Making) -> list[Path]:
    """What must not leave: the record that ties the release to its data, and the owner's reports."""
    if made.written is None:
        return []
    return [path for path in (session.folder / name for name in made.written.owners) if path.is_file()]


def files_to_replay(session: Session, made: Making) -> dict[str, Path]:
    """Beside the data, what the recipe of a release reads, by name: hierarchies, and who is in the pilot. For the owner alone."""
    document = tomllib.loads(made.recipe)
    hierarchies = (column.get("hierarchy", {}) for column in document["columns"].values())
    found = {one["file"]: session.folder / one["file"] for one in hierarchies if "file" in one}
    path = str(document["input"].get("path", ""))
    if "pilot" in document and path:
        found[f"{named(session, document)['input']['path']}{PILOT}"] = session.folder / f"{path}{PILOT}"
    return {name: path for name, path in found.items() if path.is_file()}


def named(session: Session, document: Document) -> Document:
    """A recipe for elsewhere: there the table is called what it was called when it was brought."""
    given = document["input"]
    if not session.file or "path" not in given or session.file == document["output"].get("path"):
        return document
    return {**document, "input": {**given, "path": session.file}}


def recipe_for_elsewhere(session: Session, text: str) -> str:
    """A recipe as it is saved, to be run beside the table."""
    return toml_of(named(session, tomllib.loads(text)))


def verdict_in(paths: list[Path]) -> dict[str, Any]:
    """The verdict that the report for programs opens with."""
    document = next((path for path in paths if path.name.endswith("report.json")), None)
    if document is None:
        return {}
    content: dict[str, Any] = json.loads(document.read_text("utf-8"))
    if "differentially_private" in content:
        return verdict_of_dp(content)
    found: dict[str, Any] = content.get("verdict", {})
    return found


def verdict_of_dp(content: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a differentially private release, whose report holds facts."""
    numbers = f"epsilon {content['epsilon']:g}, delta {content['delta']:g}"
    sentence = (
        f"This release is differentially private: {numbers}. That holds against everybody, whatever they know."
        if content["differentially_private"]
        else "This release was made for tests, and is not differentially private."
    )
    return {
        "sentence": sentence,
        "decided_beforehand": [f"{name}: {said}" for name, said in content["facts"].items()],
        "checked": [one["sentence"] for one in content["findings"]],
    }


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as content:
        return file_digest(content, "sha256").hexdigest()


def zipped(folder: Path, paths: Mapping[str, Path], more: Mapping[str, str]) -> Path:
    """Files and texts by name as one archive, in a file of that folder that is to be removed after it was sent."""
    with NamedTemporaryFile(dir=folder, prefix=".download-", suffix=".zip", delete=False) as content:
        with ZipFile(content, "w", ZIP_DEFLATED) as archive:
            for name, path in paths.items():
                archive.write(path, name)
            for name, text in more.items():
                archive.writestr(name, text)
        return Path(content.name)
