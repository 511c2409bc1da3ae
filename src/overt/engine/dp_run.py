# SPDX-License-Identifier: Apache-2.0
"""Runs and checks of differentially private releases: what leaves is what was decided beforehand and what the release shows.

The owner's console, logs and files get no figure of the data either: no row count, no sample size, no number of rows left out.
Whether a run is refused depends on its parameters, the names of columns and the ledger, not on anybody's row.
"""

import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.random import Generator

from overt.algorithms.dp.mechanism import DpMethod, ShownElements
from overt.audience import Audience
from overt.checks import Finding, Verdict
from overt.checks.dp import DpClaim, check_dp
from overt.checks.spelling import rewrite_labels
from overt.engine.byte_check import find_bytes
from overt.engine.companions import companions_of, refuse_taken
from overt.engine.contradictions import find_dp_contradictions
from overt.engine.course import prepare
from overt.engine.outcome import again, as_typed, findings_of, sentence_of_cleared
from overt.engine.report_files import recipe_text, report_paths
from overt.engine.result import RunResult
from overt.errors import InvalidInput
from overt.hierarchy.value_rules import PublicTree
from overt.io.dp_release import DpManifest, ReleasedFile, find_dp_manifest
from overt.io.files import digest
from overt.io.formats import format_of_name
from overt.io.ledger import Ledger, ledger_path, read_ledger, spend
from overt.io.manifest import EXTERNAL, SUFFIX, files_read, manifest_path, now, recorded_recipe, versions
from overt.io.publication import published_tables
from overt.io.recipe.recipe import Recipe, understand
from overt.io.targets import Replaced
from overt.io.unfinished import clear_unfinished
from overt.privacy import exact
from overt.progress import Progress, silent
from overt.release import DpRelease

SEEDED = "Made with a seed, for tests: anyone who has it can remove the noise. overt check refuses this release."


@dataclass(frozen=True)
class DpOutcome(RunResult):
    """What `overt.run` gives of a differentially private release: nothing that the release does not show."""

    audience: ClassVar[Audience | None] = Audience.PUBLIC

    recipe_path: Path
    method: str
    against: str  # whom it holds against, if the coins are secret
    n_published: int
    n_different: int
    facts: Mapping[str, str]
    coins: str
    verdict: Verdict
    ledger: Ledger
    files: Mapping[str, Any]  # of a release in a database, the name of its table
    checked: str  # what to name to a check
    manifest_path: Path
    report_paths: tuple[Path, ...]
    input_path: str
    cleared: tuple[str, ...] = ()  # files that a run which was killed had begun
    engine: str | None = None  # that made it in parts

    def content(self) -> dict[str, Any]:
        """The outcome as plain values."""
        return {
            "method": self.method,
            "rows_published": self.n_published,
            "rows_different": self.n_different,
            "facts": dict(self.facts),
            "coins": self.coins,
            **findings_of(self.verdict),
            "files": {name: str(place) for name, place in self.files.items()},
            "manifest": str(self.manifest_path) if self.files else None,
            "report": [str(path) for path in self.report_paths],
        }

    def rows(self) -> Iterator[tuple[str, str]]:
        """What a person wants to know about a differentially private release that was just written, as labels and texts."""
        yield "Release", f"{self.n_published:,} rows, {self.n_different:,} of them different, by {self.method}"
        yield from self.facts.items()
        is_seeded = self.coins == "seeded"
        yield "Against", "nobody: it is for tests" if is_seeded else self.against
        if is_seeded:
            yield "Caution", SEEDED
        yield from (("Files", str(place)) for place in (*self.files.values(), self.manifest_path, *self.report_paths))

    def rows_for_the_owner(self) -> Iterator[tuple[str, str]]:
        """What was made before this release, and what the data and the recipe are called: no reader of it need know."""
        on = f" --engine {self.engine}" if self.engine else ""
        yield "Again", f"{again(self.recipe_path)}{on} (which spends as much again)"
        yield "Check", f"overt check {as_typed(self.input_path)} {as_typed(self.checked)}"
        yield "Ledger", f"spent so far: {self.ledger.spent}; limit: {self.ledger.limit} ({self.ledger.path.name})"
        if self.cleared:
            yield "Cleared", sentence_of_cleared(self.cleared)


def refuse_dp(recipe: Recipe, doing: str) -> None:
    """Refuse what would show figures of the data that a differentially private release hides."""
    if recipe.is_dp:
        raise InvalidInput(
            f"{recipe.settings.method.name} makes differentially private releases, and {doing} would reveal what they hide. Make the release with "
            "overt run, and measure that release."
        )


def run_dp(
    recipe: Recipe,
    *,
    rng: Generator | None = None,
    on_progress: Progress = silent,
    overwrite: bool = False,
    with_report: bool = False,
) -> DpOutcome:
    """Make a differentially private release as a recipe says. Its budget is spent before a coin is drawn.

    With `rng` the release is one for tests, and says so.
    """
    method = recipe.dp_method
    source, target = recipe.source, recipe.target
    source.require()
    _require_independent(recipe)
    overwrite = overwrite or recipe.settings.output.overwrite
    places = target.places(("release",))
    reports = report_paths(recipe.output_path) if with_report else ()
    cleared = clear_unfinished(recipe.output_path.parent)
    replaced = companions_of(recipe)
    records = [manifest_path(target.base), *reports, *replaced.files]
    refuse_taken(recipe, places, records, overwrite=overwrite)

    def quiet(stage: str, done: int, total: int) -> None:
        on_progress(stage, 0, 0)  # how much there is to do tells how many rows there are

    prepared = prepare(recipe, quiet)
    facts = method.facts  # what cannot be computed is refused before anything is spent
    release_id = secrets.token_hex(16)
    ledger = spend(
        ledger_path(source.base),
        method.budget,
        release=target.name_of(places["release"]),
        release_id=release_id,
        method=method.name,
    )
    release: Any = prepared.make(rng, quiet).release
    tables = published_tables(release)
    quiet("Checking", 0, 0)
    verdict = check_dp(tables["release"], claim_of(method, release.coins))
    made_well = all(
        finding.ok for finding in verdict.findings if finding.name != "coins"
    )  # a seed is asked for by name
    if made_well:
        quiet("Writing", 0, 0)
        beside: dict[Path, bytes] = {}
        if with_report:
            shown = ShownElements(release.labels_of_group, release.partition.sizes, release.facts, release.coins)
            beside = dict(
                zip(reports, report_of_dp(recipe, shown, verdict, target.name_of(places["release"])), strict=True)
            )
        _write(recipe, release, tables, release_id, beside, overwrite=overwrite, replaced=replaced)
    return DpOutcome(
        recipe_path=recipe.path,
        method=method.name,
        against=method.against,
        n_published=tables["release"].height,
        n_different=release.n_groups,
        facts=facts,
        coins=release.coins,
        verdict=verdict if not made_well else Verdict(tuple(f for f in verdict.findings if f.name != "coins")),
        ledger=ledger,
        files=places if made_well else {},
        manifest_path=manifest_path(recipe.output_path),
        report_paths=reports if made_well else (),
        checked=target.checked(places if made_well else {}, manifest_path(target.base)),
        input_path=source.said,
        cleared=cleared,
    )


def find_dp(release: str | Path, recipe: Recipe | None) -> tuple[Recipe, DpManifest | None] | None:
    """The recipe, and the manifest, of a release that says it is differentially private; None for other releases."""
    if recipe is not None:
        return (recipe, None) if recipe.is_dp else None
    beside = Path(str(release).removesuffix(SUFFIX))
    manifest = find_dp_manifest(beside)
    if manifest is None:
        return None
    path = manifest_path(beside)
    return understand(manifest.recipe, folder=path.parent, name=path.name), manifest


def check_dp_release(recipe: Recipe, manifest: DpManifest | None, data: str | Path, release: str | Path) -> Verdict:
    """Decide whether a differentially private release holds what its manifest (or a recipe) claims. The data is not read."""
    findings = []
    target = recipe.target
    named = {name: target.name_of(place) for name, place in target.places(("release",)).items()}
    places = target.recorded(named, Path(str(release).removesuffix(SUFFIX)))
    known = target.digests(places)
    tables, digests = target.read(places)
    method = recipe.dp_method
    if manifest is not None:
        place = places["release"]
        findings.append(find_dp_changes(recipe, manifest, {**known, **digests}[place], target.name_of(place)))
        beside = manifest_path(Path(str(release).removesuffix(SUFFIX)))
        n_rows, is_recorded = tables["release"].height, names_separator(recipe)
        findings.append(find_dp_contradictions(recipe, manifest, beside, n_rows, is_recorded=is_recorded))
        findings += find_in_ledger(manifest, Path(data))
    claim = claim_of(method, None if manifest is None else manifest.coins)
    verdict = check_dp(tables["release"], claim)
    separator = recipe.source_at(data).separator(row_by_row=True)
    spelt = rewrite_labels(tables["release"], list(method.trees))
    written_by = None if manifest is None else manifest.versions
    spelling = find_bytes(spelt, target, places, separator=separator, written_by=written_by)
    return Verdict((*findings, *verdict.findings, spelling))


def naming_separator(recipe: Recipe) -> Recipe:
    """The recipe with the separator of its data, so that a check without the data knows how the release must be written."""
    separator = recipe.source.separator(row_by_row=True)
    if separator is None:
        return recipe
    named = recipe.settings.input.model_copy(update={"separator": separator})
    return replace(recipe, settings=recipe.settings.model_copy(update={"input": named}))


def names_separator(recipe: Recipe) -> bool:
    """Whether a recorded recipe says the separator of its data if these are a CSV file, as `naming_separator` makes it say."""
    file = recipe.source.file
    return file is None or format_of_name(file.path, file.format) != "csv" or file.named_separator is not None


def claim_of(method: DpMethod, coins: str | None) -> DpClaim:
    """What a release of a differentially private method claims."""
    return DpClaim(
        epsilon=float(method.budget.epsilon),
        delta=float(method.budget.delta),
        s=float(exact(method.s)),
        k=method.least_copies,
        sampling_epsilon=float(method.sampling.epsilon),
        coins=coins,
        levels_of_label={name: _levels_of(tree) for name, tree in method.trees.items()},
        vectors=method.vectors,
        cube_epsilon=float(method.budget.epsilon - method.sampling.epsilon),
        tau=method.tau,
    )


def _require_independent(recipe: Recipe) -> None:
    """An external database that is the table itself is not public; that it differs in name only cannot be seen."""
    external = files_read(recipe).get(EXTERNAL)
    if external is not None and external.resolve() in [path.resolve() for path in recipe.source.files]:
        raise InvalidInput(
            "The external database of a differentially private release must be public and independent of the table, but here it is the table "
            "itself. Use dp-cube, which pays for looking at the table."
        )


def _levels_of(tree: PublicTree) -> Any:
    def levels_of(label: str) -> set[int] | None:
        if label == tree.root:  # what the hierarchy does not know is that at every level
            return set(range(tree.n_levels))
        return tree.levels_of(label) or None

    return levels_of


def report_of_dp(recipe: Recipe, shown: ShownElements, verdict: Verdict, name: str) -> tuple[bytes, bytes]:
    """The public report of a release of this name, for people and for programs."""
    from overt.report.dp import DpReport, page_of_dp

    method = recipe.dp_method
    rows_of_level = {}
    for column, tree in method.trees.items():
        levels_of = _levels_of(tree)
        lowest = [tree.n_levels - 1 if label == tree.root else min(levels_of(label)) for label in shown.labels[column]]
        counts = np.bincount(np.array(lowest, np.int64), shown.copies, tree.n_levels).astype(np.int64)
        rows_of_level[column] = tuple(counts.tolist())
    report = DpReport(
        name=name,
        method=method.name,
        epsilon=float(method.budget.epsilon),
        delta=float(method.budget.delta),
        facts=shown.facts,
        coins=shown.coins,
        n_rows=shown.n_rows,
        n_different=shown.copies.size,
        n_fewest=int(shown.copies.min()) if shown.copies.size else None,
        rows_of_level=rows_of_level,
        verdict=verdict,
        recipe=recipe_text(recipe, Audience.PUBLIC),
        created=f"{now():%Y-%m-%d %H:%M} UTC",
    )
    return page_of_dp(report).encode(), (json.dumps(report.to_dict(), indent=2) + "\n").encode()


def _write(
    recipe: Recipe,
    release: DpRelease,
    tables: Mapping[str, pl.DataFrame],
    release_id: str,
    beside: Mapping[Path, bytes],
    *,
    overwrite: bool,
    replaced: Replaced,
) -> None:
    target, method = recipe.target, recipe.dp_method
    folder = target.base.parent

    def companions(digests: Mapping[str, str]) -> dict[Path, bytes]:
        ((name, place),) = target.places(tables).items()
        manifest = DpManifest(
            id=release_id,
            created=now(),
            versions=versions(),
            method=recipe.settings.method.name,
            epsilon=str(method.budget.epsilon),
            delta=str(method.budget.delta),
            facts=dict(release.facts),
            coins="secret" if release.coins == "secret" else "seeded",
            release=ReleasedFile(
                place=target.seen_from(folder, place),
                sha256=digests[name],
                rows=tables[name].height,
            ),
            hierarchy_files={column: digest(path) for column, path in files_read(recipe).items()},
            recipe=recorded_recipe(naming_separator(recipe), folder)[0],
        )
        return {manifest_path(target.base): manifest.to_json().encode(), **beside}

    with target.writing(tables, source=recipe.source, row_by_row=True, overwrite=overwrite, going=replaced) as finish:
        finish(companions)


def find_dp_changes(recipe: Recipe, manifest: DpManifest, found: str, called: str) -> Finding:
    """Whether the release, whose digest was found, and the hierarchies are those of the manifest."""
    recorded = {name: (path, manifest.hierarchy_files.get(name)) for name, path in files_read(recipe).items()}
    for path, _ in recorded.values():
        if not path.is_file():
            raise InvalidInput(f"There is no file {path}; check the name and the folder.")
    changed = [path.name for path, known in recorded.values() if digest(path) != known]
    if found != manifest.release.sha256:
        changed.insert(0, called)
    if changed:
        return Finding("digests", False, f"{' and '.join(changed)} changed since the manifest was written.")
    return Finding("digests", True, "The release and the hierarchies are those that the manifest was written for.")


def find_in_ledger(manifest: DpManifest, data: Path) -> list[Finding]:
    """Whether the owner's ledger, where it can be seen, knows of the release."""
    if not ledger_path(data).is_file():
        return []
    entries = [entry for entry in read_ledger(ledger_path(data)).releases if entry.id == manifest.id]
    if any((entry.epsilon, entry.delta) == (manifest.epsilon, manifest.delta) for entry in entries):
        return [Finding("ledger", True, "The ledger of the data contains this release and its cost.")]
    return [Finding("ledger", False, "The ledger of the data does not contain this release at this cost.")]
