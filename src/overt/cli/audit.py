# SPDX-License-Identifier: Apache-2.0
"""`overt audit RECIPE`: what someone who has the method can still learn from the release that a recipe gives."""

from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts.types import NonNegativeInt, PositiveFloat

from overt.cli.console import Exit, Switch, say, say_json, say_rows, say_table

if TYPE_CHECKING:
    from overt.adversary.summary import Audit


def audit(
    recipe: Path,
    /,
    *,
    seconds: PositiveFloat = 10.0,
    rows: Path | None = None,
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
        How long to sample tables where not all of them can be tried.
    rows
        Write what is believed of every row, by its position, as a CSV file: for the owner alone.
    json
        Print one JSON document instead of the table.
    quiet
        Say nothing unless something goes wrong.
    seed
        Draw the same random numbers again.
    overwrite
        Replace a file of rows that is already there.

    """
    import numpy as np

    from overt.cli.progress import progress
    from overt.engine import auditing
    from overt.io.atomic import all_or_nothing
    from overt.io.recipe import read_recipe

    with progress(quiet=quiet) as on_progress:
        found = auditing.audit(
            read_recipe(recipe), rng=np.random.default_rng(seed), seconds=seconds, on_progress=on_progress
        )
        if rows is not None:
            with all_or_nothing(overwrite=overwrite) as stage:
                found.of_rows().write_csv(stage(rows))
    if json:
        say_json({**found.to_dict(), "rows_file": None if rows is None else str(rows)})
    elif not quiet:
        describe(found)
        if rows is not None:
            say_rows([("Rows", f"{rows} (for the owner alone)")])
    return Exit.DONE


def describe(found: "Audit") -> None:
    """What a person wants to know."""
    from overt.adversary.summary import FACTORS
    from overt.report.sentences import percent

    worst, (alone, replayed) = found.worst, found.guesses
    bound = "what the release alone says" if found.bound is None else f"the promised {found.bound}"
    say_rows(
        [
            (
                "Release",
                f"{found.n_rows:,} rows in {found.n_groups:,} groups, by {found.method}; {found.column} is sensitive",
            ),
            ("Adversary", "knows everyone's quasi-identifiers and the release; on the right also the method"),
        ]
    )
    say()
    table = [("", "release alone", "with the method")]
    for factor in FACTORS:
        times = "" if factor == 1 else f"{float(factor):g} times "
        before, after = (percent(found.share_above(factor, posterior=one)) for one in (found.alone, found.replayed))
        table.append((f"people above {times}{bound}", before, after))
    certain = int((found.alone.belief_of_row >= 1).sum())
    table += [
        ("people known for certain", f"{certain:,}", f"{found.n_certain:,}"),
        ("highest belief", f"{found.alone.belief_of_row.max():.3f}", f"{worst.belief:.3f}"),
        ("values guessed right, expected", f"{alone:,.0f}", f"{replayed:,.0f}"),
    ]
    say_table(table)
    say()
    say_rows(
        [
            (
                "Worst",
                f"{worst.n_alike:,} of {worst.group_size:,} people of a group: {worst.share:.3f} with the release alone, "
                f"{worst.belief:.3f} with the method. Why: {worst.why}.",
            ),
            ("Found by", how(found)),
        ]
    )


def how(found: "Audit") -> str:
    """How the figures came about, and how far they can be trusted."""
    sampled = found.replayed.sampled
    if found.replayed.how == "shares":
        return "proof: to whom replays this method every value has its share of the group, exactly (docs/safety.md)"
    if sampled is None:
        return f"trying every table, exactly; {found.replayed.n_tables:,} give this release"
    figures = sampled.to_dict(found.replayed)
    unmoved = f" {sampled.n_still:,} people never moved: known for certain, or not reached." if sampled.n_still else ""
    r_hat = figures["r_hat"]["99_percent"] or 1.0
    return (
        f"{sampled.n_chains} chains of {sampled.n_sweeps:,} sweeps ({sampled.n_proposed:,} proposed swaps, "
        f"{sampled.seconds:.0f} s). Standard error {figures['standard_error']['99_percent']:.3f} or less for 99% of people, "
        f"R-hat {r_hat:.2f} or less for 99% of cells; people count as above a bound if they are by three errors. Every table "
        f"counted gives this release; tables that the chains did not reach are missing.{unmoved}"
    )
