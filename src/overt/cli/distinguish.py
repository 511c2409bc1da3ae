# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_distinguish.py
"""`overt distinguish RECIPE`: whether a claim of differential privacy survives many runs with and without one row."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.types import NonNegativeInt, PositiveInt

from overt.cli.console import Exit, Switch, rng_of, tell


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
    """Run the method of a recipe with and without one row, and test whether its differential privacy is refuted.

    Parameters
    ----------
    recipe
        A recipe whose method has an epsilon and a delta. Nothing is written.
    runs
        How many runs with the row, and how many without it. Half of them are used to choose what to look for.
    tried
        How many rows to look at first; the one that seems to reveal most is tested.
    confidence
        The confidence of the test: a true claim is refuted with probability at most 1 minus this number.
    json
        Print one JSON document instead of the sentences.
    quiet
        Print nothing; the exit code is the answer.
    seed
        Use the same random numbers again.

    """
    import overt
    from overt.cli.progress import progress

    with progress(quiet=quiet) as on_progress:
        found = overt.distinguish(
            recipe, rng=rng_of(seed), runs=runs, tried=tried, confidence=confidence, on_progress=on_progress
        )
    tell(found, json=json, quiet=quiet)
    return Exit.CHECK_FAILED if found.refuted else Exit.DONE
