# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_report.py
"""Reports of runs: what goes into those beside the release, the public one and the owner's, and where their files lie."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from overt.audience import Audience
from overt.checks import Verdict
from overt.io.database.address import is_path, is_variable, path_of
from overt.io.manifest import now, versions
from overt.io.paths import input_name
from overt.io.reader_view import release_as_read
from overt.io.recipe.recipe import Recipe
from overt.io.recipe.toml_text import toml_of
from overt.privacy import exact
from overt.release import Release
from overt.table import Table

if TYPE_CHECKING:
    from overt.report.leak import Leak
    from overt.report.owner_report import PublishedFile


def report_paths(output: Path) -> tuple[Path, Path]:
    """Where the public report of a release lies: beside it, for people and for programs."""
    return _beside(output, "report")


def owner_report_paths(output: Path) -> tuple[Path, Path]:
    """Where the owner's report of a release lies."""
    return _beside(output, "owner-report")


def _beside(output: Path, what: str) -> tuple[Path, Path]:
    stem = Path(output.name.removesuffix(".gz")).stem
    return output.with_name(f"{stem}.{what}.html"), output.with_name(f"{stem}.{what}.json")


def files_of_owner_report(
    recipe: Recipe,
    release: Release,
    verdict: Verdict,
    cautions: Sequence[str],
    leak: "Leak | None",
    files: Sequence["PublishedFile"],
) -> dict[Path, bytes]:
    """The owner's report of a release that was made by a recipe, for people and for programs."""
    from overt.adversary.downcoding.downcoding import downcode
    from overt.report.html import page_of
    from overt.report.json import json_of
    from overt.report.owner_report import make_report

    report = make_report(
        release,
        goal=recipe.goal,
        verdict=verdict,
        cautions=cautions,
        name=files[0].name,
        source=recipe.source.base.name,
        recipe=recipe_text(recipe, Audience.OWNER),
        created=_created(),
        versions=versions(),
        leak=leak,
        downcoded=downcode(release, show=recipe.choices("show")) if release.n_groups else None,
        files=files,
    )
    page, document = owner_report_paths(recipe.output_path)
    return {page: page_of(report).encode(), document: json_of(report).encode()}


def files_of_public_report(
    recipe: Recipe, tables: Mapping[str, pl.DataFrame], files: Sequence["PublishedFile"], table: Table
) -> dict[Path, bytes]:
    """The public report of the published tables (of a flat release, of the two tables it is made of).

    Of `table` it takes what the tables show: which columns there are and, where persons have several rows, what their bundles hold.
    """
    from overt.report.json import json_of
    from overt.report.public import make_public_report
    from overt.report.public_html import page_of_public

    sensitive = recipe.columns_of("sensitive")
    read = release_as_read(
        tables,
        made_by=recipe.method,
        quasi_identifiers=tuple(column.name for column in table.quasi_identifiers)
        if table.has_bundles
        else recipe.columns_of("quasi-identifier"),
        sensitive=tuple(column.name for column in table.sensitive) if table.has_bundles else sensitive,
        bundles={column.name: column for column in table.sensitive if column.bundles is not None},
        persons=table.persons,
        kinds={name: kind for name, kind in recipe.choices("kind").items() if name in sensitive},
        hierarchies={name: builder for name, builder in recipe.hierarchies.items() if name in sensitive},
    )
    report = make_public_report(
        read,
        goal=recipe.goal,
        is_pooled=recipe.settings.output.rows == "pooled",
        name=files[0].name,
        others=recipe.settings.output.others,
        identifiers=recipe.columns_of("identifier"),
        left_out=left_out_by(recipe),
        files=files,
        recipe=recipe_text(recipe, Audience.PUBLIC),
        created=_created(),
        versions=versions(),
    )
    page, document = report_paths(recipe.output_path)
    return {page: page_of_public(report).encode(), document: json_of(report).encode()}


def left_out_by(recipe: Recipe) -> list[str]:
    """Which rows a recipe allows to be left out; whether there were any is not for the public."""
    words = []
    if recipe.settings.input.keep not in (None, "all"):
        words.append(
            "At most 1 row per person is kept. The number of dropped rows is not published."
            if recipe.settings.input.keep == 1
            else f"At most {recipe.settings.input.keep} rows per person are kept. The number of dropped rows is not published."
        )
    things = "rows" if recipe.settings.input.person is None else "persons"
    if recipe.missing == "drop":
        words.append(f"{things.capitalize()} without a sensitive value are left out. Their number is not published.")
    most = float(exact(recipe.method.max_suppressed))
    if most:
        words.append(f"Up to {most:.3g} of the {things} may be suppressed. Their number is not published.")
    return words


def _created() -> str:
    return f"{now():%Y-%m-%d %H:%M} UTC"


def recipe_text(recipe: Recipe, audience: Audience) -> str:
    """The recipe as it can be shown: without folders, servers, and values that a nested hierarchy or a query writes out.

    For the public also without the name of the data.
    """
    content = recipe.settings.model_dump(mode="json", exclude_unset=True)
    for section, path in (("input", recipe.source.base), ("output", recipe.output_path)):
        place = content[section]
        is_data = section == "input" and audience is Audience.PUBLIC
        if "path" in place:
            place["path"] = input_name(path) if is_data else path.name
        elif not is_variable(place["database"]):
            file = Path(path_of(place["database"]))
            called = input_name(file) if is_data else file.name
            place["database"] = called if is_path(place["database"]) else "postgresql"
        if "query" in place:
            place["query"] = "..."
    if "external" in content["method"]:
        content["method"]["external"] = Path(content["method"]["external"]).name
    shortened = ""
    for column in content["columns"].values():
        if "file" in column.get("hierarchy", {}):
            column["hierarchy"]["file"] = Path(column["hierarchy"]["file"]).name
        if "nested" in column.get("hierarchy", {}):
            column["hierarchy"] = {"nested": {}}
            shortened = "# Values of nested hierarchies are left out here; the recipe itself has them.\n"
    return shortened + toml_of(content)
