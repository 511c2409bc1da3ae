# SPDX-License-Identifier: Apache-2.0
"""`overt audit RECIPE`: what someone who knows the method can still learn from the release that a recipe gives."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.types import NonNegativeInt, PositiveFloat

from overt.cli.console import Exit, Switch, rng_of, tell

WholeNumbers = Annotated[list[int] | None, Parameter(consume_multiple=True, negative="")]
Paths = Annotated[list[Path] | None, Parameter(consume_multiple=True, negative="")]
Names = Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")]


def audit(
    recipe: Path,
    /,
    *,
    seconds: PositiveFloat | None = None,
    sweep: WholeNumbers = None,
    methods: Names = None,
    learner: Switch = False,
    together: Paths = None,
    made_by: str | None = None,
    release: Path | None = None,
    rows: Path | None = None,
    page: Path | None = None,
    json: Switch = False,
    quiet: Switch = False,
    seed: NonNegativeInt | None = None,
    overwrite: Switch = False,
) -> int:
    """Measure what an attacker who knows the method can learn from the release that a recipe makes.

    Parameters
    ----------
    recipe
        A recipe. Its release is made again, but not written.
    seconds
        Time limit in seconds for sampling, where not all tables can be tried; 10 if neither this nor the recipe sets it.
    sweep
        Also make and audit releases at other l, such as --sweep 2 3 5, and report the share of people above 1/l at each.
    methods
        The methods to use for --sweep; if left out, the one in the recipe.
    learner
        Also measure how many values are guessed right by someone who knows how they depend on quasi-identifiers.
    together
        Other recipes for releases of the same people, row by row: also measure what somebody who has all of these releases learns.
    made_by
        Audit a release that another tool made, by replaying its search: arx, anjana or anonypy. The recipe says what the tool was given.
    release
        With --made-by, the file that the tool published. Its rows may be in any order.
    rows
        Write to a CSV file, for every row by its position, how sure a reader can be of its value. For the owner only.
    page
        Write the audit, with its plots, as an HTML file.
    json
        Print one JSON document instead of the table.
    quiet
        Print nothing unless something goes wrong.
    seed
        Use the same random numbers again.
    overwrite
        Replace files that are already there.

    """
    import overt
    from overt.cli.progress import progress

    with progress(quiet=quiet) as on_progress:
        audited = overt.audit(
            recipe,
            rng=rng_of(seed),
            seconds=seconds,
            sweep=sweep or (),
            methods=methods or (),
            learner=learner,
            together=together or (),
            made_by=made_by,
            release=release,
            rows=rows,
            page=page,
            overwrite=overwrite,
            on_progress=on_progress,
        )
    tell(audited, json=json, quiet=quiet)
    return Exit.DONE
