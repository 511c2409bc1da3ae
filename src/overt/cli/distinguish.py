# SPDX-License-Identifier: Apache-2.0
"""`overt distinguish RECIPE`: whether a claim of differential privacy survives many runs with and without one row."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.types import NonNegativeInt, PositiveInt

from overt.cli.console import Exit, Switch, say, say_json, say_rows

if TYPE_CHECKING:
    from overt.engine.distinguishing import Distinguished


def distinguish(
    recipe: Path,
    /,
    *,
    runs: PositiveInt = 400,
    tried: PositiveInt = 40,
    confidence: Annotated[float, Parameter(show_default=True)] = 0.999,
    json: Switch = False,
    quiet: Switch = False,
    seed: NonNegativeInt | None = None,
) -> int:
    """Run the method of a recipe with and without one row, and say whether its differential privacy is refuted.

    Parameters
    ----------
    recipe
        A recipe whose method has an epsilon and a delta. Nothing is written.
    runs
        How often to run on the table, and how often without the row; half of the runs choose what to look for.
    tried
        Rows to look at first; the one that seems to give most away is tested.
    confidence
        A claim that is true is refuted with a chance of at most 1 minus this.
    json
        Print one JSON document instead of the sentences.
    quiet
        Say nothing: the exit code is the answer.
    seed
        Draw the same random numbers again.

    """
    import numpy as np

    from overt.cli.progress import progress
    from overt.engine.distinguishing import distinguish_recipe
    from overt.io.recipe import read_recipe

    with progress(quiet=quiet) as on_progress:
        found = distinguish_recipe(
            read_recipe(recipe),
            rng=np.random.default_rng(seed),
            n_runs=runs,
            n_tried=tried,
            confidence=confidence,
            on_progress=on_progress,
        )
    if json:
        say_json(found.to_dict())
    elif not quiet:
        describe(found)
    return Exit.CHECK_FAILED if found.refuted else Exit.DONE


def describe(found: "Distinguished") -> None:
    """What a person wants to know."""
    evidence = found.evidence
    with_row, without = evidence.n_hits, evidence.n_other_hits
    if evidence.likelier == "without":
        with_row, without = without, with_row
    delta, epsilon = evidence.delta_at(found.epsilon), evidence.epsilon_at(found.delta)
    say_rows(
        [
            ("Claim", f"epsilon {found.epsilon:g} and delta {found.delta:g}, by {found.method}"),
            ("Runs", f"on the data, and on the same without one row; {found.n_tried:,} rows were tried for that"),
            (
                "Seen",
                f"{evidence.event}: in {with_row:,} of {evidence.n_runs:,} runs with the row, in {without:,} of "
                f"{evidence.n_runs:,} without it (in runs that had no part in choosing what to look for)",
            ),
            (
                "So",
                f"delta at this epsilon is at least {delta:.3g}, or epsilon at this delta at least {epsilon:.3g}, "
                f"but for a chance of {1 - evidence.confidence:.3g}",
            ),
        ]
    )
    say()
    if found.refuted:
        say("The claim is refuted: the method is not as private as it says.")
    else:
        say("The claim is not refuted. That proves nothing: other rows, or other things to look for, may tell more.")
