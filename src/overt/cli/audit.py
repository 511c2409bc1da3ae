# SPDX-License-Identifier: Apache-2.0
"""`overt audit RECIPE`: what someone who has the method can still learn from the release that a recipe gives."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.types import NonNegativeInt, PositiveFloat

from overt.cli.console import Exit, Switch, say, say_json, say_rows, say_table

if TYPE_CHECKING:
    from overt.adversary.summary import Audit
    from overt.report.leak import Leak

Numbers = Annotated[list[int] | None, Parameter(consume_multiple=True)]
Names = Annotated[list[str] | None, Parameter(consume_multiple=True)]


def audit(
    recipe: Path,
    /,
    *,
    seconds: PositiveFloat | None = None,
    sweep: Numbers = None,
    methods: Names = None,
    made_by: str | None = None,
    release: Path | None = None,
    rows: Path | None = None,
    page: Path | None = None,
    json: Switch = False,
    quiet: Switch = False,
    seed: NonNegativeInt | None = None,
    overwrite: Switch = False,
) -> int:
    """Say what someone who replays the method can learn from the release that a recipe gives.

    Parameters
    ----------
    recipe
        A recipe. Its release is made again and not written.
    seconds
        How long to sample tables where not all of them can be tried; 10 if neither this nor the recipe says it.
    sweep
        Other l to make and audit releases at, such as --sweep 2 3 5: the share of people above 1/l at each.
    methods
        The methods to do that with; the recipe's own if left out.
    made_by
        Audit a release that another tool made, by replaying its search: arx, anjana or anonypy. The recipe says what the
        tool was given.
    release
        The file that it published, rows in any order.
    rows
        Write what is believed of every row, by its position, as a CSV file: for the owner alone.
    page
        Write the audit, with its plots, as an HTML file.
    json
        Print one JSON document instead of the table.
    quiet
        Say nothing unless something goes wrong.
    seed
        Draw the same random numbers again.
    overwrite
        Replace files that are already there.

    """
    import numpy as np

    from overt.cli.progress import progress
    from overt.engine import auditing
    from overt.errors import InvalidInput
    from overt.io.atomic import all_or_nothing
    from overt.io.recipe import read_recipe
    from overt.report.leak import page_of_leak

    if any(l < 2 for l in sweep or ()):
        raise InvalidInput(f"--sweep is given l = {min(sweep or ())}; give whole numbers of at least 2.")
    if made_by is None and release is not None:
        raise InvalidInput("--release is a file of another tool; say which with --made-by arx, anjana or anonypy.")
    if made_by is not None and (sweep or methods):
        raise InvalidInput("--sweep and --methods make releases by Overt; leave them out with --made-by.")
    read, rng = read_recipe(recipe), np.random.default_rng(seed)
    with progress(quiet=quiet) as on_progress:
        if made_by is not None:
            leak = auditing.audit_file(read, release, made_by, rng=rng, seconds=seconds, on_progress=on_progress)
        else:
            leak = auditing.audit(
                read, rng=rng, seconds=seconds, ls=sweep or (), methods=methods or (), on_progress=on_progress
            )
        assert leak.audit is not None
        with all_or_nothing(overwrite=overwrite) as stage:
            if rows is not None:
                leak.audit.of_rows().write_csv(stage(rows))
            if page is not None:
                stage(page).write_text(page_of_leak(leak, title=read.input_path.name), encoding="utf-8")
    if json:
        files = {"rows_file": None if rows is None else str(rows), "page": None if page is None else str(page)}
        swept = None if leak.sweep is None else leak.sweep.to_dict()
        plots = {name: dict(plot.spec) for name, plot in leak.plots.items()}
        say_json({**leak.audit.to_dict(), "sweep": swept, "plots": plots, **files})
    elif not quiet:
        describe(leak)
        say_rows([("Rows", f"{rows} (for the owner alone)")] if rows is not None else [])
        say_rows([("Page", str(page))] if page is not None else [])
    return Exit.DONE


def describe(leak: "Leak") -> None:
    """What a person wants to know."""
    from overt.report.leak import belief_rows, how_found, risk_rows, sentence_of_worst, sweep_failures, sweep_rows

    found = leak.audit
    assert found is not None
    say_rows(opening(found))
    say()
    say_table([("", "release alone", "with the method"), *belief_rows(found)])
    say()
    say_rows([("Worst", sentence_of_worst(found)), ("Found by", how_found(found))])
    say("\n  In the words of regulators (Opinion 05/2014 of the Article 29 Working Party):\n")
    say_table([("", "release alone", "with the method", ""), *((a, c, d, b) for a, b, c, d in risk_rows(found))])
    if leak.sweep is not None:
        say("\n  People above 1/l to someone who has the method:\n")
        if leak.sweep.points:
            say_table(sweep_rows(leak.sweep))
        say_rows(("", why) for why in sweep_failures(leak.sweep))


def opening(found: "Audit") -> list[tuple[str, str]]:
    """What was looked at, and who looks."""
    groups = f"{found.n_groups:,} group{'s' if found.n_groups != 1 else ''}"
    return [
        ("Release", f"{found.n_rows:,} rows in {groups}, by {found.method}; {found.column} is sensitive"),
        ("Adversary", "knows everyone's quasi-identifiers and the release; on the right also the method"),
    ]
