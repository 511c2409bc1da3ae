# SPDX-License-Identifier: Apache-2.0
"""`overt compare RECIPE...`: what several recipes give, side by side."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.types import NonNegativeFloat, NonNegativeInt

from overt.cli.console import Exit, Switch, rng_of, tell

FilesOfTools = Annotated[list[tuple[str, Path, Path]] | None, Parameter(negative="")]


def compare(
    *recipes: Path,
    page: Path | None = None,
    seconds: NonNegativeFloat = 5.0,
    learner: Switch = False,
    published: FilesOfTools = None,
    json: Switch = False,
    quiet: Switch = False,
    seed: NonNegativeInt | None = None,
    overwrite: Switch = False,
) -> int:
    """Compare several recipes side by side. No release is written.

    For a recipe with a [pilot], only the people in the pilot are looked at. They are not published; the first comparison draws them.

    A leak of "none" is proven for everyone who replays the method, whatever they believed before (strong); "none (weak)" only for someone
    who had no idea how values depend on quasi-identifiers.

    Parameters
    ----------
    recipes
        Recipes to run and measure.
    page
        Write the comparison, with a plot of risk against cost, as an HTML file.
    seconds
        Time limit in seconds for each estimate of what someone who knows the method learns; 0 skips estimates.
    learner
        Also measure how many values are guessed right by someone who knows how they depend on quasi-identifiers.
    published
        Also compare a file that another tool made. Give three words: the tool (arx, anjana or anonypy), a recipe that says what the tool was given, and the file. Repeat the option for more files.
    json
        Print one JSON document instead of the table.
    quiet
        Print nothing unless something goes wrong.
    seed
        Repeat methods that draw random numbers.
    overwrite
        Replace a page that is already there.

    """
    import overt
    from overt.cli.progress import progress

    with progress(quiet=quiet) as on_progress:
        comparison = overt.compare(
            recipes,
            rng=rng_of(seed),
            seconds=seconds,
            learner=learner,
            published=published or (),
            page=page,
            overwrite=overwrite,
            on_progress=on_progress,
        )
    tell(comparison, json=json, quiet=quiet)
    return Exit.DONE if comparison.ok else Exit.UNREACHABLE
