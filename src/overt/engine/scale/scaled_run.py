# SPDX-License-Identifier: Apache-2.0
"""`overt.run` with an engine: a release in parts from a recipe, checked before it appears, whole or not at all."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from overt.algorithms.blind_buckets import method_for_counts
from overt.algorithms.blind_buckets.deal import Values
from overt.checks import Finding, Verdict
from overt.checks.findings import not_checked
from overt.engine.alternative import alternative_to
from overt.engine.cautions_of_reading import MISSING_LEFT_OUT
from overt.engine.contradictions import find_contradictions_of_parts
from overt.engine.dp_run import DpOutcome
from overt.engine.identifiers_released import find_identifiers_released
from overt.engine.outcome import cautions_of_values
from overt.engine.promises import claim_of, claimed_rows, shape_of
from overt.engine.records import of_known_data, telling_other_data
from overt.engine.scale.boxes_and_buckets import find_values, make_boxes_and_buckets
from overt.engine.scale.buckets_by_plan import make_buckets_by_plan
from overt.engine.scale.catalog_release import TablesDraft, copy_tables, prepare_tables, release_tables
from overt.engine.scale.cut_tree import everyone
from overt.engine.scale.engine_choice import engine_of
from overt.engine.scale.fragment_lines import ShownLines
from overt.engine.scale.groups_by_cuts import make_groups_by_cuts
from overt.engine.scale.groups_by_draw import make_batch_matching, make_dealing, make_rda
from overt.engine.scale.groups_by_levels import make_groups_by_levels
from overt.engine.scale.made_tables import MadeTables
from overt.engine.scale.one_row_each import refuse_repeated_persons
from overt.engine.scale.parts import (
    MANIFEST,
    Draft,
    digest_of_parts,
    owner_record_of,
    parts_of,
    put_back,
    refuse_taken,
    release_folder,
)
from overt.engine.scale.parts_check import MeasuredParts, PublishedParts, check_parts
from overt.engine.scale.parts_report import kind_of_tables, report_of_parts, write_report
from overt.engine.scale.parts_shape import find_shape_of_parts
from overt.engine.scale.parts_written import find_files, find_written
from overt.engine.scale.scaled_outcome import ScaledOutcome
from overt.engine.scale.scaled_utility import ScaledUtility, measure_utility_of_parts
from overt.engine.scale.seam import CatalogPlace, Place, ScaleEngine, TablePlace
from overt.engine.scale.spark_session import staging_folder
from overt.engine.scale.staging import BOX_COIN, TWO_COINS, DrawCoins, Staged, stage_table, system_coins
from overt.engine.tight_cells import tight_cells_of
from overt.errors import InvalidInput, TooLarge, Unreachable
from overt.io.dp_release import dp_manifest_at
from overt.io.files import dialect_of, digest
from overt.io.formats import find_format
from overt.io.manifest import (
    SUFFIX,
    Manifest,
    files_read,
    manifest_path,
    now,
    read_manifest,
    recipe_of,
    recorded_recipe,
    versions,
)
from overt.io.owner_record import OwnerRecord, find_owner_record, owner_record_path
from overt.io.pilot_record import (
    Pilot,
    decide,
    pilot_for_run,
    pilot_of_release,
    refused_after,
    remember_place,
    sentence_of_pilot,
)
from overt.io.private_folder import PREFIX, PrivateFolder, clear_abandoned
from overt.io.recipe.recipe import Recipe
from overt.io.repeated_persons import allowed_words
from overt.io.targets import FileTarget, digests_of_files
from overt.method import Method, Searching
from overt.progress import Progress, silent
from overt.randomness import secret_generator
from overt.release import BucketRelease
from overt.table import Column, Role

DP_METHODS = ("dp-sampling", "dp-cube", "dp-full-domain")  # by `dp_at_scale`, from counts

MakeRelease = Callable[[Staged, Any, ShownLines, Progress, Generator], MadeTables]

METHODS: dict[str, MakeRelease] = {
    "blind-buckets": lambda staged, method, lines, told, rng: make_boxes_and_buckets(staged, method, lines, told),
    "mondrian": lambda staged, method, lines, told, rng: make_groups_by_cuts(staged, method, lines, told),
    "batch-matching": make_batch_matching,
    "dealing": make_dealing,
    "rda": make_rda,
    "anatomy": make_buckets_by_plan,
    "full-domain": lambda staged, method, lines, told, rng: make_groups_by_levels(staged, method, lines, told),
}
WITHOUT_COINS = ("mondrian", "full-domain")  # where nothing is drawn: coins would only be carried about


def run_at_scale(
    recipe: Recipe,
    engine: Any,
    *,
    master: str | None = None,
    staging: str | None = None,
    rng: Generator | None = None,
    overwrite: bool = False,
    with_report: bool = False,
    coins: DrawCoins = system_coins,
    on_progress: Progress = silent,
) -> ScaledOutcome | DpOutcome:
    """Do what a recipe says, on an engine."""
    if recipe.is_dp:
        from overt.engine.scale.dp_at_scale import run_dp_at_scale

        where: dict[str, Any] = {"master": master, "staging": staging, "on_progress": on_progress}
        return run_dp_at_scale(recipe, engine, rng=rng, overwrite=overwrite, with_report=with_report, **where)
    refuse_unsupported(recipe)
    place, source = output_of(recipe), input_of(recipe)
    overwrite = overwrite or recipe.settings.output.overwrite
    table = recipe.target.catalog_table
    clear_abandoned(Path(tempfile.gettempdir() if staging is None else staging), f"{PREFIX}*", PREFIX)
    if table is None:
        put_back(place)
        refuse_taken(place, overwrite=overwrite)
    pilot = None if source.file is None else pilot_for_run(recipe)
    with engine_of(engine, master=master, staging=staging) as run_on:
        if table is not None:
            prepare_tables(run_on.catalog, recipe, table, overwrite=overwrite, with_report=with_report)
        on_progress(f"Reading {recipe.source.name}", 0, 0)
        refuse_repeated_persons(run_on, source, recipe.persons, recipe.source.name)
        intake = recipe.intake(None if pilot is None else pilot.rows)
        staged = stage_table(run_on, source, intake, coins, coin_names_of(recipe.method))
        how = {"overwrite": overwrite, "with_report": with_report}
        if pilot is None:
            return _release(recipe, run_on, staged, source, place, rng, pilot, on_progress, **how)
        decide(pilot, recipe)
        try:
            return _release(recipe, run_on, staged, source, place, rng, pilot, on_progress, **how)
        except Unreachable as error:
            raise refused_after(pilot, recipe, error) from None


def _draft(
    recipe: Recipe, engine: ScaleEngine, place: Path, *, overwrite: bool
) -> AbstractContextManager[Draft | TablesDraft]:
    """Where the parts of the release are written, and what they become."""
    table = recipe.target.catalog_table
    if table is None:
        return release_folder(place, overwrite=overwrite)
    return release_tables(engine, recipe, table, overwrite=overwrite)


def coin_names_of(method: Method) -> tuple[str, ...]:
    """The coins that a method needs of every row."""
    if method.name in WITHOUT_COINS:
        return ()
    return (*TWO_COINS, BOX_COIN) if method.parts_the_alike else TWO_COINS


def _release(
    recipe: Recipe,
    engine: ScaleEngine,
    staged: Staged,
    source: Place,
    place: Path,
    rng: Generator | None,
    pilot: Pilot | None,
    on_progress: Progress,
    *,
    overwrite: bool,
    with_report: bool,
) -> ScaledOutcome:
    method = recipe.method
    claim = claim_of(recipe, staged.n_rows, staged.table())
    file_format = format_of(recipe)
    neutralise = is_neutralised(recipe)
    order = ("bucket", *staged.order)
    lines = ShownLines(order, staged.quasi_identifiers, staged.sensitive, dict(claim.show), neutralise)
    made = METHODS[method.name](staged, method, lines, on_progress, rng or secret_generator())
    n_published = staged.n_rows - made.n_suppressed
    claim = replace(claim, n_rows=n_published)
    utility: ScaledUtility | None = None
    with _draft(recipe, engine, place, overwrite=overwrite) as draft:
        on_progress("Writing", 0, 0)
        for name, data in made.tables.items():
            engine.write(data, draft.folder / name, file_format, source.separator)
        on_progress("Checking", 0, 0)
        published = published_at(draft.folder, staged.columns, recipe, source.separator)
        verdict, seen = check_parts(engine, published, claim, staged)
        if verdict.ok:
            content, left_out = recorded_recipe(recipe, place.parent)
            manifest = Manifest(
                created=now(),
                versions=versions(),
                method=method.name,
                goal=tuple(map(str, recipe.goal.parts)),
                groups=0 if seen is None else seen.people.n_groups,
                release=draft.records(dict.fromkeys(made.tables, n_published)),
                recipe=content,
                left_out=tuple(part.path for part in left_out),
            )
            (draft.folder / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
            if with_report:
                on_progress("Measuring", 0, 0)
                write_report(draft.folder, report_of_parts(engine, recipe, published, manifest.release))
                utility = measure_utility_of_parts(staged, made, method)
            looked_at = () if pilot is None else tuple(pilot.rows.tolist())
            draft.owner_record = owner_record_of(
                manifest,
                recipe,
                digest_of_input(source),
                staged.n_rows,
                staged.n_dropped,
                made.n_suppressed,
                left_out,
                looked_at,
            )
            if pilot is not None:
                remember_place(recipe)
            draft.is_kept = True
    checked = manifest_path(place) if recipe.target.catalog_table is not None else place
    tables = () if recipe.target.catalog_table is None else recipe.target.places(made.tables).values()
    places = (*map(str, tables), str(checked), str(owner_record_path(place))) if verdict.ok else ()
    return ScaledOutcome(
        recipe_path=recipe.path,
        method=method.name,
        engine=engine.name,
        n_rows=staged.n_rows,
        n_dropped=staged.n_dropped,
        n_groups=0 if seen is None else seen.people.n_groups,
        n_fragments=made.n_fragments,
        n_suppressed=made.n_suppressed,
        remarks=made.remarks,
        goal=str(recipe.goal),
        reached="" if seen is None else seen.values.described,
        least_group=0 if seen is None else seen.people.least,
        discernibility=0 if seen is None else seen.people.squares + made.n_suppressed * staged.n_rows,
        utility=utility,
        guarantee=method.guarantee,
        cautions=tuple(cautions_of(recipe, staged, pilot, seen)),
        instead=_find_alternative(recipe, staged),
        verdict=verdict,
        is_of_catalog=recipe.source.catalog_table is not None or recipe.target.catalog_table is not None,
        input=recipe.source.said,
        checked=str(checked),
        places=places,
    )


def cautions_of(recipe: Recipe, staged: Staged, pilot: Pilot | None, seen: MeasuredParts | None) -> Iterator[str]:
    """What the owner could overlook, as far as dictionaries, counts and the measures of groups tell."""
    table = staged.table()
    yield from find_identifiers_released(table)
    yield from map(allowed_words, recipe.may_repeat)
    if recipe.method.table_names != BucketRelease.table_names:
        is_on_grid = recipe.method.shows == "grid"
        levels = [column.name for column in table.quasi_identifiers] if isinstance(recipe.method, Searching) else []
        yield from tight_cells_of(table.quasi_identifiers, recipe.choices("show"), levels=levels, is_on_grid=is_on_grid)
    if staged.n_dropped:
        yield MISSING_LEFT_OUT
    if pilot is not None:
        yield sentence_of_pilot(pilot)
    if seen is None:
        return
    kind = kind_of_tables(recipe.method.table_names)
    yield from kind.cautions_of_kind(recipe.method, seen.people.n_alone)
    of_values = {name: (n_alike, worst) for name, (_, n_alike, worst, _) in seen.values.learnt.items()}
    some, n_groups = everyone(staged.sensitive), seen.values.n_groups
    has_pilot = pilot is not None
    yield from cautions_of_values(recipe.goal, table, of_values, n_groups, seen.values.rare, some, has_pilot=has_pilot)


def _find_alternative(recipe: Recipe, staged: Staged) -> str:
    """A sentence for the owner: that the method leaks, and the one that reaches the same goal and does not."""
    if not staged.sensitive:
        return ""

    def find_other() -> Method | None:
        value_of, counts = find_values(staged)
        values = Values(staged.sensitive, np.empty(0, np.int32), value_of.code_of_value)
        return method_for_counts(recipe.goal, values, counts[None])

    try:
        return alternative_to(recipe.method, find_other)
    except TooLarge:  # nor could the other one be planned
        return ""


def check_at_scale(
    data: str | Path,
    release: Path,
    given: Recipe | None = None,
    engine: Any = "out-of-core",
    *,
    master: str | None = None,
    staging: str | None = None,
    on_progress: Progress = silent,
) -> Verdict:
    """Decide from the data and a release in parts whether it holds what its manifest claims, on an engine.

    Of a release in tables of a catalog, `release` is the manifest. The tables are copied into parts in a private folder, and these are checked.
    """
    of_tables = release.name.endswith(SUFFIX)
    path = release if of_tables else release / MANIFEST
    release = release.with_name(release.name.removesuffix(SUFFIX))
    private = dp_manifest_at(path)
    if private is not None or (given is not None and given.is_dp):
        from overt.engine.scale.dp_at_scale import check_dp_parts

        return check_dp_parts(private, given, data, release, on_progress)
    manifest = read_manifest(path)
    record = find_owner_record(owner_record_path(release))
    recipe = recipe_of(manifest, path, record, folder=release.parent) if given is None else given
    if of_tables and recipe.target.catalog_table is None:
        raise InvalidInput(
            "The release is in tables of a catalog, and the recipe writes files; give the recipe of this release."
        )
    source = input_of(recipe, data)
    beside = {name: (file.name, digests_of_files([file])[file]) for name, file in files_read(recipe).items()}
    input_digest = digest_of_input(source)
    called = recipe.source_at(data).name
    origin = _find_origin(record, path, release, called, input_digest, beside)
    with ExitStack() as ends:
        run_on = ends.enter_context(engine_of(engine, master=master, staging=staging))
        if of_tables:
            folder = ends.enter_context(PrivateFolder(staging_folder(staging))).new_folder()
            digests = _find_content(copy_tables(run_on, manifest, folder))
        else:
            folder, digests = release, _find_bytes(release, manifest)
        if set(manifest.release) != set(recipe.method.table_names) or any(
            not (folder / name).is_dir() for name in manifest.release
        ):
            missing = Finding(
                "tables", False, f"The release should have the tables {', '.join(recipe.method.table_names)}."
            )
            return Verdict((digests, missing, origin))
        on_progress(f"Reading {called}", 0, 0)
        pilot = pilot_of_release(recipe, record, has_manifest=True)
        with telling_other_data(record, called, lambda: input_digest):
            staged = stage_table(run_on, source, recipe.intake(pilot))
        on_progress("Checking", 0, 0)
        published = published_at(folder, staged.columns, recipe, source.separator)
        files = () if of_tables else (find_files(folder, published),)
        claim = claim_of(
            recipe, claimed_rows(recipe, staged.n_rows, next(iter(manifest.release.values())).rows), staged.table()
        )
        verdict, seen = check_parts(run_on, published, claim, staged)
        written = not_checked(("method", "order", "spelling"), "the parts cannot be read")
        if seen is not None:
            shape = find_shape_of_parts(folder, published, claim, shape_of(recipe), seen)
            levels = [c.name for c in staged.quasi_identifiers] if isinstance(recipe.method, Searching) else []
            written = (shape, *find_written(folder, published, staged.table(), claim, levels))
    groups = None if seen is None else seen.people.n_groups
    words = find_contradictions_of_parts(manifest, path, recipe, claim.n_rows, groups) if given is None else ()
    found = (digests, *words, *files, *verdict.findings, *written, origin)
    knows_data = record if record is not None and None not in (record.input.sha256, input_digest) else None
    return Verdict(tuple(of_known_data(finding, origin, knows_data) for finding in found))


def _find_bytes(release: Path, manifest: Manifest) -> Finding:
    changed = [
        name
        for name, part in manifest.release.items()
        if not (release / name).is_dir() or digest_of_parts(release / name) != part.sha256
    ]
    if changed:
        return Finding("digests", False, f"{' and '.join(changed)} changed since the manifest was written.")
    return Finding("digests", True, "The parts of the release are, byte for byte, those of the manifest.")


def _find_content(changed: Sequence[str]) -> Finding:
    if changed:
        return Finding("digests", False, f"{' and '.join(changed)} changed since the manifest was written.")
    return Finding("digests", True, "The content of the tables is what it was when the manifest was written.")


def _find_origin(
    record: OwnerRecord | None,
    path: Path,
    release: Path,
    called: str,
    input_digest: str | None,
    beside: Mapping[str, tuple[str, str]],
) -> Finding:
    """Whether the data, and the files that were read beside it, are what the release was made from; `path` is that of the manifest."""
    told = "that every line shows what its own row holds was compared when the lines were written, and cannot be told from the parts."
    unknown = f"Not confirmed: whether the release was made from {called}."
    if record is None:
        return Finding(
            "origin",
            True,
            f"{unknown} The owner's record, which would say it, is not beside the release. Nor is confirmed {told}",
        )
    if record.manifest_sha256 != digest(path):
        return Finding("origin", False, f"The owner's record beside {release.name} belongs to another manifest.")
    changed = [name for column, (name, found) in beside.items() if record.files_read.get(column) != found]
    if changed:
        return Finding(
            "origin", False, f"{' and '.join(changed)} is not what the release was made from, or has changed since."
        )
    if record.input.sha256 is None or input_digest is None:
        return Finding(
            "origin",
            True,
            f"{unknown} It was made from a table of a catalog, of whose content there is no digest. Nor is confirmed {told}",
        )
    if record.input.sha256 != input_digest:
        return Finding("origin", False, "The data is not what the release was made from, or has changed since.")
    return Finding("origin", True, f"The data is what the release was made from. Not confirmed: {told}")


def published_at(folder: Path, columns: Sequence[Column], recipe: Recipe, separator: str) -> list[PublishedParts]:
    """The tables of a release in parts, as a check looks at them."""
    file_format = format_of(recipe)
    neutralised = is_neutralised(recipe)
    quasi = tuple(column for column in columns if column.role is Role.QUASI_IDENTIFIER)
    sensitive = tuple(column for column in columns if column.role is Role.SENSITIVE)
    names = recipe.method.table_names
    held = [(quasi, sensitive)] if len(names) == 1 else [(quasi, ()), ((), sensitive)]
    return [
        PublishedParts(
            name, TablePlace(str(folder / name), file_format, separator, neutralised), *of_table, len(names) > 1
        )
        for name, of_table in zip(names, held, strict=True)
    ]


def refuse_unsupported(recipe: Recipe) -> None:
    """Refuse by name what works on one machine in memory only."""
    output, method = recipe.settings.output, recipe.method
    alone = "on one machine in memory only; choose no engine"
    if method.name not in METHODS:
        raise InvalidInput(f"{method.name} works {alone}, or one of {', '.join((*METHODS, *DP_METHODS))}.")
    if recipe.settings.input.person is not None:
        raise InvalidInput(
            f"Persons with several rows are put together {alone}, or make a table with one row per person."
        )
    if output.others:
        raise InvalidInput(f"Columns in 'others' are released {alone}, or leave them out.")
    if output.flat:
        raise InvalidInput(f"A flat file is made {alone}, or leave 'flat' out.")
    if recipe.settings.pilot is not None and input_of(recipe).file is None:
        raise InvalidInput(
            "The people of a pilot are left out of one file, by their position, and of no folder of parts and no table of a catalog: there they would be "
            "published. Name the file that the pilot was drawn from; or leave [pilot] out, if nothing in the recipe was chosen because of somebody's values."
        )
    format_of(recipe)


def input_of(recipe: Recipe, data: str | Path | None = None) -> Place:
    """Where the data is, or the same data at another place."""
    source = recipe.source_at(data)
    if source.catalog_table is not None:
        return CatalogPlace(source.catalog_table)
    file = source.file
    if file is None:
        raise InvalidInput(
            "An engine reads files and tables of a catalog, and no database; export the table to Parquet."
        )
    return place_of_path(file.path, file.format, file.named_separator, file.encoding)


def place_of_path(
    path: Path, file_format: str | None = None, separator: str | None = None, encoding: str | None = None
) -> TablePlace:
    """A file, or a folder of parts, as it is to be read."""
    if not path.exists():
        raise InvalidInput(f"There is no file {path}; check the name and the folder.")
    first = path
    if path.is_dir():
        found = next((part for part in parts_of(path)), None)
        if found is None:
            raise InvalidInput(
                f"{path} is a folder without parts (part-...); name a file, or a folder that Spark wrote."
            )
        first = found
    file_format = find_format(first, file_format)
    if path.is_dir():
        _refuse_beside(path, file_format)
    if file_format not in ("csv", "parquet"):
        raise InvalidInput(
            f"An engine reads CSV and Parquet, and {path.name} is {file_format}; convert it, or choose no engine."
        )
    if file_format == "parquet":
        return TablePlace(str(path), "parquet")
    dialect = dialect_of(first, separator=separator, encoding=encoding)
    if dialect.is_packed or dialect.encoding not in (None, "utf-8") or dialect.n_lines_before != 1:
        raise InvalidInput(
            f"An engine reads CSV in UTF-8, not compressed, with the names of the columns on the first line, and {path.name} is otherwise; "
            "convert it to Parquet, or choose no engine."
        )
    return TablePlace(str(path), "csv", dialect.separator)


def _refuse_beside(folder: Path, file_format: str) -> None:
    """Refuse a folder with more in it than its parts: some readers would read that too."""
    for path in folder.iterdir():
        is_part = path.name.startswith("part-") and path.name.endswith(f".{file_format}") and path.is_file()
        if not is_part and not path.name.startswith((".", "_")):
            raise InvalidInput(
                f"{folder} holds {path.name} beside its parts (part-....{file_format}); take it out, so that nobody is read who is not meant, or left out."
            )


def format_of(recipe: Recipe) -> str:
    """How the parts of the release are written; those that become tables of a catalog as Parquet."""
    if recipe.target.catalog_table is not None:
        return "parquet"
    file_format = find_format(files_written(recipe).base, files_written(recipe).format)
    if file_format not in ("csv", "parquet"):
        raise InvalidInput(
            f"An engine writes CSV and Parquet, not {file_format}; name another output, or choose no engine."
        )
    return file_format


def is_neutralised(recipe: Recipe) -> bool:
    """Whether apostrophes go before what a spreadsheet would run."""
    return format_of(recipe) == "csv" and files_written(recipe).neutralise_formulas


def files_written(recipe: Recipe) -> FileTarget:
    """Where the release goes: to files."""
    file = recipe.target.file
    if file is None:
        raise InvalidInput(
            "An engine writes files, and no database; and a table of a catalog only of a release that is not differentially private. Give [output] the path "
            "and format of a file."
        )
    return file


def output_of(recipe: Recipe) -> Path:
    """The folder that the release is to be."""
    return recipe.output_path


def digest_of_input(source: Place) -> str | None:
    """The digest of a file or of the parts of a folder; None of a table of a catalog, whose bytes nobody here reads."""
    if source.file is not None:
        return digest(source.file)
    return None if source.folder is None else digest_of_parts(source.folder)
