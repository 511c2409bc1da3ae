# SPDX-License-Identifier: Apache-2.0
"""Reports of runs: what goes into one beside the release, and where its files lie."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from overt.check import Verdict
from overt.io.database.address import is_path, is_variable, path_of
from overt.io.manifest import now, versions
from overt.io.recipe import Recipe
from overt.io.toml_text import toml_of
from overt.release import Release

if TYPE_CHECKING:
    from overt.report.data import Report
    from overt.report.leak import Leak


def report_paths(output: Path) -> tuple[Path, Path]:
    """Where the report of a release lies: beside it, for people and for programs."""
    name = output.name.removesuffix(".gz")
    stem = Path(name).stem
    return output.with_name(f"{stem}.report.html"), output.with_name(f"{stem}.report.json")


def report_of(
    recipe: Recipe, release: Release, verdict: Verdict, cautions: Sequence[str], leak: "Leak | None" = None
) -> "Report":
    """The report of a release that was made by a recipe."""
    from overt.report.data import make_report

    return make_report(
        release,
        goal=recipe.goal,
        verdict=verdict,
        cautions=cautions,
        source=recipe.input_path.name,
        recipe=recipe_text(recipe),
        created=f"{now():%Y-%m-%d %H:%M} UTC",
        versions=versions(),
        leak=leak,
    )


def files_of_report(report: "Report", output: Path) -> dict[Path, bytes]:
    """The files of a report."""
    from overt.report.html import page_of
    from overt.report.json import json_of

    page, document = report_paths(output)
    return {page: page_of(report).encode(), document: json_of(report).encode()}


def recipe_text(recipe: Recipe) -> str:
    """The recipe as it can be shown: without folders, servers, and values that a nested hierarchy or a query writes out."""
    content = recipe.settings.model_dump(mode="json", exclude_unset=True)
    for section, path in (("input", recipe.input_path), ("output", recipe.output_path)):
        place = content[section]
        if "path" in place:
            place["path"] = path.name
        elif not is_variable(place["database"]):
            place["database"] = Path(path_of(place["database"])).name if is_path(place["database"]) else "postgresql"
        if "query" in place:
            place["query"] = re.sub(r"'(?:[^']|'')*'", "'...'", place["query"])
    shortened = ""
    for column in content["columns"].values():
        if "nested" in column.get("hierarchy", {}):
            column["hierarchy"] = {"nested": {}}
            shortened = "# Values of nested hierarchies are left out here; the recipe itself has them.\n"
    return shortened + toml_of(content)
