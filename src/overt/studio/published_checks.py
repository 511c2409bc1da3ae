# SPDX-License-Identifier: Apache-2.0
"""Checks of what is already out: the original, what was published, and how it was made, held against each other by the library."""

import secrets
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overt.checks import Finding
from overt.engine.audit import Audited, audit
from overt.engine.check import Checked, check
from overt.engine.init import init
from overt.errors import InvalidInput, OvertError
from overt.guarantee import Guarantee
from overt.io.manifest import SUFFIX, read_manifest, recipe_of
from overt.io.recipe.recipe import read_recipe
from overt.io.recipe.toml_lines import document_of
from overt.io.recipe.toml_text import toml_of
from overt.progress import Progress
from overt.report.leak_verdict import LeakVerdict
from overt.studio.history import Document
from overt.studio.jobs import Job, Jobs
from overt.studio.other_notations import as_written_here
from overt.studio.workspace import Workspace

SECONDS = 20.0
MOST_KEPT = 10  # checks that are over, with the files they are about
OF_CONTENT = ("separator", "encoding", "missing_values", "person", "keep", "which", "order", "known")  # keys of [input]
TOOLS = {
    "overt": "Overt",
    "arx": "ARX",
    "anjana": "anjana",
    "anonypy": "anonypy (Mondrian)",
    "other": "another tool, a spreadsheet, or I do not know",
}
METHOD_OF_TOOL: Mapping[str, Document] = {
    "arx": {"name": "full-domain", "optimise": "discernibility"},
    "anjana": {"name": "full-domain"},
    "anonypy": {"name": "mondrian"},
    "other": {"name": "mondrian"},
}


@dataclass(frozen=True)
class Claims:
    """What somebody says of a file that has no manifest."""

    k: int
    l: int | None
    column: str  # the sensitive one; empty: as proposed
    suppressed: float = 0.0  # the share of rows that the tool might suppress


@dataclass(frozen=True, eq=False)
class CheckAnswer:
    """What came of a check. What could not be done is said by the library."""

    checked: Checked | None
    why_not_checked: str
    audited: Audited | None
    why_not_audited: str
    promised: str  # the goal, in the library's words
    guarantee: Guarantee | None = None  # of the method that the manifest names, whatever made the files


@dataclass(frozen=True, eq=False)
class PublishedCheck:
    """A check that runs, or has run."""

    id: str
    folder: Path
    original: str  # the names of files as they came
    published: str
    tool: str
    job: Job


class PublishedChecks:
    """The checks of this studio. They need no session."""

    def __init__(self, workspace: Workspace, jobs: Jobs) -> None:
        self.workspace, self.jobs = workspace, jobs
        self._all: dict[str, PublishedCheck] = {}

    def make_folder(self) -> Path:
        """A private folder for the files of a check."""
        return self.workspace.make_folder(secrets.token_hex(8))

    def begin(
        self,
        folder: Path,
        original: Path,
        published: Path,
        recipe: Path | None,
        tool: str,
        claims: Claims,
        names: tuple[str, str],
    ) -> PublishedCheck:
        """Check files that lie in a folder."""
        self._make_room()
        work = lambda say: find(original, published, recipe, tool, claims, say)  # noqa: E731
        job = self.jobs.add(folder.name, f"Checking {names[1]}", work)
        made = PublishedCheck(folder.name, folder, *names, tool, job)
        self._all[made.id] = made
        return made

    def _make_room(self) -> None:
        """Forget the oldest checks, with their files, that nobody can be waiting for."""
        over = [one for one in self._all.values() if one.job.is_over]
        for one in over[: max(0, len(over) - MOST_KEPT + 1)]:
            del self._all[one.id]
            self.jobs.drop(one.job)
            shutil.rmtree(one.folder, ignore_errors=True)

    def get(self, check_id: str) -> PublishedCheck | None:
        """A check by its id."""
        return self._all.get(check_id)


def find(
    original: Path, published: Path, recipe: Path | None, tool: str, claims: Claims, on_progress: Progress
) -> CheckAnswer:
    """Check the file, and replay the search of its tool."""
    if tool == "overt" and recipe is None and published.with_name(published.name + SUFFIX).is_file():
        verdict, why_not = attempt_check(original, published, None, on_progress)
        promised, guarantee = claim_named(published)
        return CheckAnswer(verdict, why_not, None, "", promised, None if verdict is None else guarantee)
    recipe = guessed_recipe(original, tool, claims, on_progress) if recipe is None else about(original, recipe)
    read = read_recipe(recipe)
    promised = str(read.goal)
    if tool in ("anonypy", "other"):
        names = read.columns_of("quasi-identifier")
        published = as_written_here(original, published, names, published.with_name("as-written-here.csv"))
    checked = attempt_check(original, published, recipe, on_progress)
    if tool not in ("arx", "anjana", "anonypy"):
        why = "Without knowing the tool, its search cannot be replayed. What someone who knows it learns is not known."
        return CheckAnswer(*checked, None, why, promised)
    try:
        audited = audit(recipe, made_by=tool, release=published, seconds=SECONDS, on_progress=on_progress)
        return CheckAnswer(*checked, audited, "", promised)
    except OvertError as error:
        return CheckAnswer(*checked, None, str(error), promised)


def about(original: Path, given: Path) -> Path:
    """The recipe that was given, of the original that was given: where its own data lie is not looked at."""
    try:
        document = document_of(given.read_text("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise InvalidInput("The recipe is no TOML file; give one that `overt run` would take.") from None
    section = document.get("input")
    kept = {key: value for key, value in section.items() if key in OF_CONTENT} if isinstance(section, dict) else {}
    path = given.with_name("given-here.toml")
    path.write_text(toml_of({**document, "input": {"path": original.name, **kept}}), encoding="utf-8")
    return path


def sentence_of(found: CheckAnswer) -> tuple[str, str]:
    """(state, sentence): what all findings together allow to be said of the file."""
    checked, leak = found.checked, None if found.audited is None else found.audited.leak
    if checked is None:
        return "none", "Whether the file holds what it claims is not known."
    failed = {one.name for one in checked.verdict.failures}
    if found.guarantee is not None or "goal" not in {one.name for one in checked.verdict.findings}:
        if not checked.ok:
            return ("none" if checked.conclusion.startswith("Whether") else "bad"), checked.conclusion
        if found.guarantee is not None and found.guarantee.strength == "strong":
            return "good", "The file holds what it claims, also against someone who knows the method it names."
        return "warn", "The file holds what it claims, to someone who only reads it."
    if "goal" in failed:
        return "bad", "The file does not keep its claim."
    if leak is not None and leak.verdict == LeakVerdict.SOME:
        return (
            "bad",
            "The file keeps its claim on paper, but someone who runs the same tool guesses better than claimed.",
        )
    if "cells" in failed:
        return (
            "none",
            "What is written keeps the claim, but not all of it can be read. Whether it is true is not known.",
        )
    if failed & {"rows", "truth"}:
        return "bad", "What is written keeps the claim, but it cannot come from this original."
    if failed & {"columns", "order"}:
        return "warn", "The file keeps its claim, but shows more than the claim is about."
    if leak is not None and leak.verdict == LeakVerdict.NOBODY:
        return "good", "The file keeps its claim, also against someone who runs the same tool."
    return "warn", "The file keeps its claim, to someone who only reads it."


OF_OURS = ("method", "spelling")  # findings that ask whether the library would have written a file in this way


def findings_of(found: CheckAnswer, tool: str) -> tuple[Finding, ...]:
    """The findings that are about such a file."""
    findings = () if found.checked is None else found.checked.verdict.findings
    return tuple(one for one in findings if tool == "overt" or one.name not in OF_OURS)


def claim_named(published: Path) -> tuple[str, Guarantee | None]:
    """What a manifest claims, and against whom the method holds that it names."""
    path = published.with_name(published.name + SUFFIX)
    try:
        recipe = recipe_of(read_manifest(path), path)
    except OvertError:
        return "", None
    return str(recipe.goal), recipe.method.guarantee


def attempt_check(
    original: Path, published: Path, recipe: Path | None, on_progress: Progress
) -> tuple[Checked | None, str]:
    """The verdict, or why there is none."""
    try:
        return check(original, published, recipe=recipe, on_progress=on_progress), ""
    except OvertError as error:
        return None, str(error)


def guessed_recipe(original: Path, tool: str, claims: Claims, on_progress: Progress) -> Path:
    """A recipe that says what the tool was given: roles as proposed, the goals that are claimed, the tool's kind of method."""
    path = original.with_name("claimed.toml")
    init(original, into=path, overwrite=True, on_progress=on_progress)
    document: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    document.pop("pilot", None)
    if claims.column and claims.column not in document["columns"]:
        names = ", ".join(map(repr, document["columns"]))
        raise InvalidInput(f"The original has no column {claims.column!r}; it has {names}. Name one of them.")
    if claims.column:
        for name, column in document["columns"].items():
            if column["role"] == "sensitive" and name != claims.column:
                document["columns"][name] = {"role": "other"}
        document["columns"][claims.column] = {"role": "sensitive", "missing": "own value"}
    sensitive = [name for name, column in document["columns"].items() if column["role"] == "sensitive"]
    document["goal"] = [{"property": "k-anonymity", "k": claims.k}]
    if claims.l is not None and sensitive:
        document["goal"].append({"property": "l-diversity", "l": claims.l, "column": sensitive[0]})
    document["method"] = dict(METHOD_OF_TOOL[tool if tool in METHOD_OF_TOOL else "other"])
    if tool == "arx" and claims.suppressed:
        document["method"]["max_suppressed"] = claims.suppressed
    path.write_text(toml_of(document), encoding="utf-8")
    return path
