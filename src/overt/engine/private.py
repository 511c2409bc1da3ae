# SPDX-License-Identifier: Apache-2.0
"""Runs and checks of private releases: what leaves is what was decided beforehand and what the release shows.

The owner's console, logs and files get no figure of the data either: no row count, no sample size, no number of rows left out.
Whether a run is refused depends on its parameters, the names of columns and the ledger, not on anybody's row.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.random import Generator

from overt.algorithms.dp.mechanism import PrivateMethod
from overt.algorithms.dp.private import PrivateCube
from overt.check import Finding, Verdict
from overt.check.private import PrivateClaim, check_private
from overt.engine.places import Place, places_of, read_places, read_table, refuse_taken, write_release
from overt.engine.reporting import recipe_text, report_paths
from overt.errors import InvalidInput
from overt.hierarchy.public import PublicTree
from overt.io.files import digest
from overt.io.intake import NoRows
from overt.io.ledger import Ledger, ledger_path, read_ledger, spend
from overt.io.manifest import EXTERNAL, SUFFIX, files_read, manifest_path, now, recorded_recipe, seen_from, versions
from overt.io.private import PrivateManifest, ReleasedFile, find_private_manifest
from overt.io.publication import published_tables
from overt.io.recipe import Recipe, read_recipe, understand
from overt.io.record import with_external
from overt.io.settings import QuasiIdentifier
from overt.privacy import exact
from overt.progress import Progress, silent
from overt.release import PrivateRelease
from overt.table import Column, Kind, Role, Table


@dataclass(frozen=True)
class PrivateOutcome:
    """What `overt run` reports of a private release: nothing that the release does not show."""

    method: str
    n_published: int
    n_different: int
    facts: Mapping[str, str]
    coins: str
    verdict: Verdict
    ledger: Ledger
    files: Mapping[str, Place]
    manifest_path: Path
    report_paths: tuple[Path, ...]
    input_path: str

    @property
    def _checked(self) -> Place:
        """What to name to a check: the file, or the manifest of a table in a database."""
        first = next(iter(self.files.values()))
        return first if isinstance(first, Path) else self.manifest_path

    def to_dict(self) -> dict[str, Any]:
        """The outcome as plain values, for programs."""
        findings = [{"name": f.name, "ok": f.ok, "sentence": f.sentence} for f in self.verdict.findings]
        return {
            "method": self.method,
            "rows_published": self.n_published,
            "rows_different": self.n_different,
            "facts": dict(self.facts),
            "coins": self.coins,
            "ok": self.verdict.ok,
            "findings": findings,
            "budget": self.ledger.to_dict(),
            "files": {name: str(place) for name, place in self.files.items()},
            "manifest": str(self.manifest_path) if self.files else None,
            "report": [str(path) for path in self.report_paths],
        }

    def summary(self, recipe: Path) -> list[tuple[str, str]]:
        """What a person wants to know about a private release that was just written."""
        limit = self.ledger.limit
        seeded = "Made with a seed, for tests: whoever has it can take the noise off. overt check refuses this release."
        return [
            ("Release", f"{self.n_published:,} rows, {self.n_different:,} of them different, by {self.method}"),
            *self.facts.items(),
            ("Against", PrivateMethod.against),
            *([("Caution", seeded)] if self.coins == "seeded" else []),
            ("Ledger", f"spent so far: {self.ledger.spent}; limit: {limit} ({self.ledger.path.name})"),
            *(("Files", str(place)) for place in (*self.files.values(), self.manifest_path, *self.report_paths)),
            ("Again", f"overt run {recipe} (which spends as much again)"),
            ("Check", f"overt check {self.input_path} {self._checked}"),
        ]


def is_private(recipe: Recipe) -> bool:
    """Whether a recipe makes private releases."""
    return isinstance(recipe.method, PrivateMethod)


def refuse_private(recipe: Recipe, doing: str) -> None:
    """Refuse what would show figures of the data that a private release hides."""
    if is_private(recipe):
        raise InvalidInput(
            f"{recipe.settings.method.name} makes private releases, and {doing} would tell what they hide; make the release with "
            "overt run, and measure that."
        )


def run_private(
    recipe: Recipe,
    *,
    rng: Generator | None = None,
    on_progress: Progress = silent,
    overwrite: bool = False,
    with_report: bool = False,
) -> PrivateOutcome:
    """Make a private release as a recipe says. Its budget is spent before a coin is drawn.

    With `rng` the release is one for tests, and says so.
    """
    method: Any = recipe.method
    source = recipe.source
    _require_independent(recipe)
    overwrite = overwrite or recipe.settings.output.overwrite
    places = places_of(recipe, ("release",))
    reports = report_paths(recipe.output_path) if with_report else ()
    refuse_taken(recipe, [*places.values(), manifest_path(recipe.output_path), *reports], overwrite=overwrite)

    def quiet(stage: str, done: int, total: int) -> None:
        on_progress(stage, 0, 0)  # how much there is to do tells how many rows there are

    table, method = read_private(recipe, quiet)
    facts = method.facts  # what cannot be computed is refused before anything is spent
    release_id = secrets.token_hex(16)
    ledger = spend(
        ledger_path(recipe.input_path),
        method.budget,
        release=next(iter(places.values())).name,
        release_id=release_id,
        method=method.name,
    )
    release = method.anonymize(table, rng=rng, on_progress=quiet)
    tables = published_tables(release)
    quiet("Checking", 0, 0)
    verdict = check_private(tables["release"], claim_of(method, release.coins))
    made_well = all(
        finding.ok for finding in verdict.findings if finding.name != "coins"
    )  # a seed is asked for by name
    if made_well:
        quiet("Writing", 0, 0)
        beside = _files_of_report(recipe, release, verdict) if with_report else {}
        _write(recipe, release, tables, release_id, beside, overwrite=overwrite)
    return PrivateOutcome(
        method=method.name,
        n_published=tables["release"].height,
        n_different=release.n_groups,
        facts=facts,
        coins=release.coins,
        verdict=verdict if not made_well else Verdict(tuple(f for f in verdict.findings if f.name != "coins")),
        ledger=ledger,
        files=places if made_well else {},
        manifest_path=manifest_path(recipe.output_path),
        report_paths=reports if made_well else (),
        input_path=str(source) if isinstance(source, Path) else source.database.said,
    )


def read_private(recipe: Recipe, on_progress: Progress = silent) -> tuple[Table, Any]:
    """The table of a private recipe, every cell as it is written, and the method with its external database.

    Neither kinds nor hierarchies are found out from the values, and nothing is refused for one.
    """
    method: Any = recipe.method
    names = list(method.trees)
    columns = {
        name: QuasiIdentifier(role="quasi-identifier", kind="category") if name in names else column
        for name, column in recipe.settings.columns.items()
    }
    settings = recipe.settings.model_copy(update={"columns": columns})
    plain = replace(recipe, settings=settings, hierarchies={})
    try:
        table = read_table(plain, plain.source, on_progress)
    except NoRows:
        table = _no_rows(names)
    return with_external(plain, table)


def find_private(release: str | Path, recipe_path: Path | None) -> tuple[Recipe, PrivateManifest | None] | None:
    """The recipe, and the manifest, of a release that says it is private; None for other releases."""
    if recipe_path is not None:
        recipe = read_recipe(recipe_path)
        return (recipe, None) if is_private(recipe) else None
    beside = Path(str(release).removesuffix(SUFFIX))
    manifest = find_private_manifest(beside)
    if manifest is None:
        return None
    path = manifest_path(beside)
    return understand(manifest.recipe, folder=path.parent, name=path.name), manifest


def check_private_release(
    recipe: Recipe, manifest: PrivateManifest | None, data: str | Path, release: str | Path
) -> Verdict:
    """Decide whether a private release holds what its manifest (or a recipe) claims. The data is not read."""
    findings = []
    places = places_of(recipe, ("release",))
    ((name, place),) = places.items()
    if isinstance(place, Path):
        place = Path(str(release).removesuffix(SUFFIX))
        if not place.is_file():
            raise InvalidInput(f"There is no file {place}; check the name and the folder.")
    tables, digests = read_places(recipe, {name: place})
    method: Any = recipe.method
    if manifest is not None:
        findings.append(_find_changes(recipe, manifest, place, digests.get(place)))
        findings.append(_find_contradictions(recipe, manifest, tables["release"].height))
        findings += _find_in_ledger(manifest, Path(data))
    claim = claim_of(method, None if manifest is None else manifest.coins)
    return Verdict((*findings, *check_private(tables["release"], claim).findings))


def claim_of(method: PrivateMethod, coins: str | None) -> PrivateClaim:
    """What a release of a private method claims."""
    cube = method if isinstance(method, PrivateCube) else None
    return PrivateClaim(
        epsilon=float(method.budget.epsilon),
        delta=float(method.budget.delta),
        s=float(exact(method.s)),
        k=method.least_copies,
        sampling_epsilon=float(method.sampling.epsilon),
        coins=coins,
        levels_of_label={name: _levels_of(tree) for name, tree in method.trees.items()},
        vectors=method.vectors,
        cube_epsilon=float(method.budget.epsilon - method.sampling.epsilon),
        tau=None if cube is None else cube.tau,
    )


def _require_independent(recipe: Recipe) -> None:
    """An external database that is the table itself is not public; that it differs in name only cannot be seen."""
    external = files_read(recipe).get(EXTERNAL)
    if external is not None and external.resolve() == recipe.input_path.resolve():
        raise InvalidInput(
            "The external database of a private release must be public and independent of the table, and here it is the table; "
            "use private-cube, which pays for looking at it."
        )


def _levels_of(tree: PublicTree) -> Any:
    def levels_of(label: str) -> set[int] | None:
        if label == tree.root:  # what the hierarchy does not know is that at every level
            return set(range(tree.n_levels))
        if not tree.knows(label):
            return None
        return {level for level, one in enumerate(tree.chain(tree.example_of(label))) if one == label}

    return levels_of


def _files_of_report(recipe: Recipe, release: PrivateRelease, verdict: Verdict) -> dict[Path, bytes]:
    from overt.report.private import PrivateReport, page_of_private

    method: Any = recipe.method
    sizes = release.partition.sizes
    rows_of_level = {}
    for name, tree in method.trees.items():
        levels_of = _levels_of(tree)
        lowest = [
            tree.n_levels - 1 if label == tree.root else min(levels_of(label))
            for label in release.labels_of_group[name]
        ]
        counts = np.bincount(np.array(lowest, np.int64), sizes, tree.n_levels).astype(np.int64)
        rows_of_level[name] = tuple(counts.tolist())
    report = PrivateReport(
        name=next(iter(places_of(recipe, ("release",)).values())).name,
        method=method.name,
        epsilon=float(method.budget.epsilon),
        delta=float(method.budget.delta),
        facts=release.facts,
        coins=release.coins,
        n_rows=int(sizes.sum()),
        n_different=release.n_groups,
        n_fewest=int(sizes.min()) if sizes.size else None,
        rows_of_level=rows_of_level,
        verdict=verdict,
        recipe=recipe_text(recipe),
        created=f"{now():%Y-%m-%d %H:%M} UTC",
    )
    page, document = report_paths(recipe.output_path)
    return {page: page_of_private(report).encode(), document: (json.dumps(report.to_dict(), indent=2) + "\n").encode()}


def _write(
    recipe: Recipe,
    release: PrivateRelease,
    tables: Mapping[str, pl.DataFrame],
    release_id: str,
    beside: Mapping[Path, bytes],
    *,
    overwrite: bool,
) -> None:
    folder, method = recipe.output_path.parent, recipe.method
    assert isinstance(method, PrivateMethod)

    def companions(digests: Mapping[str, str]) -> dict[Path, bytes]:
        ((name, place),) = places_of(recipe, tables).items()
        manifest = PrivateManifest(
            id=release_id,
            created=now(),
            versions=versions(),
            method=recipe.settings.method.name,
            epsilon=str(method.budget.epsilon),
            delta=str(method.budget.delta),
            facts=dict(release.facts),
            coins="secret" if release.coins == "secret" else "seeded",
            release=ReleasedFile(
                place=seen_from(folder, place) if isinstance(place, Path) else str(place),
                sha256=digests[name],
                rows=tables[name].height,
            ),
            hierarchy_files={column: digest(path) for column, path in files_read(recipe).items()},
            recipe=recorded_recipe(recipe, folder),
        )
        return {manifest_path(recipe.output_path): manifest.to_json().encode(), **beside}

    write_release(recipe, tables, overwrite=overwrite, companions=companions)


def _find_changes(recipe: Recipe, manifest: PrivateManifest, place: Place, found: str | None) -> Finding:
    recorded = {name: (path, manifest.hierarchy_files.get(name)) for name, path in files_read(recipe).items()}
    for path, _ in recorded.values():
        if not path.is_file():
            raise InvalidInput(f"There is no file {path}; check the name and the folder.")
    changed = [path.name for path, known in recorded.values() if digest(path) != known]
    if (found or digest(Path(str(place)))) != manifest.release.sha256:
        changed.insert(0, place.name)
    if changed:
        return Finding("digests", False, f"{' and '.join(changed)} changed since the manifest was written.")
    return Finding("digests", True, "The release and the hierarchies are those that the manifest was written for.")


def _find_contradictions(recipe: Recipe, manifest: PrivateManifest, n_rows: int) -> Finding:
    """Whether what the manifest says in words and figures is what its recipe and the release say."""
    method: Any = recipe.method
    told = {
        "method": (manifest.method, method.name),
        "epsilon": (manifest.epsilon, str(method.budget.epsilon)),
        "delta": (manifest.delta, str(method.budget.delta)),
        "facts": (manifest.facts, method.facts),
        "rows": (manifest.release.rows, n_rows),
    }
    wrong = [name for name, (said, true) in told.items() if said != true]
    if wrong:
        return Finding(
            "manifest", False, f"The manifest contradicts its own recipe, or the release, in: {', '.join(wrong)}."
        )
    return Finding("manifest", True, "What the manifest says is what its recipe and the release say.")


def _find_in_ledger(manifest: PrivateManifest, data: Path) -> list[Finding]:
    """Whether the owner's ledger, where it can be seen, knows of the release."""
    if not ledger_path(data).is_file():
        return []
    entries = [entry for entry in read_ledger(ledger_path(data)).releases if entry.id == manifest.id]
    if any((entry.epsilon, entry.delta) == (manifest.epsilon, manifest.delta) for entry in entries):
        return [Finding("ledger", True, "The ledger beside the data knows this release and what it cost.")]
    return [Finding("ledger", False, "The ledger beside the data does not know this release at this cost.")]


def _no_rows(names: list[str]) -> Table:
    nothing = np.empty(0, np.int32)
    columns = [
        Column(name, Role.QUASI_IDENTIFIER, Kind.CATEGORY, nothing.copy(), pl.Series(name, [], dtype=pl.String))
        for name in names
    ]
    return Table(tuple(columns), pl.DataFrame())
