# SPDX-License-Identifier: Apache-2.0
"""`overt compare RECIPE...`: what several recipes give, side by side."""

from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts.types import NonNegativeFloat, NonNegativeInt

from overt.cli.console import Exit, Switch, say, say_json, say_rows, say_table

if TYPE_CHECKING:
    from overt.engine.comparison import Candidate


def compare(
    *recipes: Path,
    page: Path | None = None,
    seconds: NonNegativeFloat = 5.0,
    json: Switch = False,
    quiet: Switch = False,
    seed: NonNegativeInt | None = None,
    overwrite: Switch = False,
) -> int:
    """Put what several recipes give side by side. No release is written.

    Parameters
    ----------
    recipes
        Recipes to run and measure.
    page
        Write the comparison, with a plot of risk against cost, as an HTML file.
    seconds
        How long to ask of each release what someone who has the method learns, where that is not exact; 0: do not ask.
    json
        Print one JSON document instead of the table.
    quiet
        Say nothing unless something goes wrong.
    seed
        Repeat methods that draw random numbers.
    overwrite
        Replace a page that is already there.

    """
    import numpy as np

    from overt.cli.progress import progress
    from overt.engine import comparison
    from overt.errors import InvalidInput
    from overt.io.atomic import all_or_nothing
    from overt.io.recipe import read_recipe
    from overt.report.comparison import page_of_comparison

    if not recipes:
        raise InvalidInput("Name the recipes to compare: overt compare one.toml other.toml")
    read = [read_recipe(path) for path in recipes]
    with progress(quiet=quiet) as on_progress:
        candidates, failures = comparison.compare(
            read, rng=np.random.default_rng(seed), seconds=seconds, on_progress=on_progress
        )
        plot = comparison.plot_candidates(candidates)
        caution = comparison.find_difference(candidates)
        if page is not None:
            rows = [*table_of(candidates)]
            with all_or_nothing(overwrite=overwrite) as stage:
                text = page_of_comparison(
                    rows, plot, [(one.name, one.why) for one in failures], caution, notes_of_leaks(candidates)
                )
                stage(page).write_text(text, encoding="utf-8")
    if json:
        results = [*(one.to_dict() for one in candidates), *(one.to_dict() for one in failures)]
        say_json(
            {
                "results": results,
                "caution": caution,
                "plot": dict(plot.spec),
                "page": None if page is None else str(page),
            }
        )
    elif not quiet:
        if candidates:
            say_table(table_of(candidates))
        if caution:
            say_rows([("Caution", caution)])
        say_rows(("Leak", why) for why in notes_of_leaks(candidates))
        say_table((one.name, one.why) for one in failures)
        if page is not None:
            say(f"\n  Page      {page}")
    return Exit.UNREACHABLE if failures else Exit.DONE


def table_of(candidates: "tuple[Candidate, ...]") -> list[list[str]]:
    """A header, and a row for every recipe."""
    from overt.report.sentences import one_in, percent

    header = ["recipe", "method", "goal", "rows", "groups", "found at worst", "found on average", "guessed", "leak", "entropy lost", "pairs lost", "model keeps", "time"]  # fmt: skip
    rows = [
        [
            one.name,
            one.method,
            one.goal,
            f"{one.n_rows - one.n_suppressed:,}",
            f"{one.risk.identification.n_groups:,}",
            one_in(float(one.risk.identification.prosecutor)),
            percent(float(one.risk.identification.marketer)),
            "" if one.best_guess is None else percent(one.best_guess),
            leak_of(one),
            percent(one.utility.non_uniform_entropy),
            f"{one.utility.pair_divergence:.4f} bit",
            "" if one.kept is None else percent(one.kept),
            f"{one.seconds:.2f} s",
        ]
        for one in candidates
    ]
    return [header, *rows]


def leak_of(one: "Candidate") -> str:
    """The share of people of whom more is believed than promised, in as many words as a cell has room for."""
    from overt.report.sentences import percent

    if one.people_above is None:
        return "" if one.leak is None else "not known"
    if one.leak is not None and one.leak.is_proven:
        return "none"
    found = one.leak and one.leak.audit
    if not found or found.replayed.sampled is None:
        return percent(one.people_above)
    return f"at least {percent(one.people_above)}" if one.people_above else "none seen"


def notes_of_leaks(candidates: "tuple[Candidate, ...]") -> list[str]:
    """What the column of leaks says, and why some are not known."""
    leaks = [(one.name, one.leak) for one in candidates if one.leak is not None]
    if not leaks:
        return []
    unknown = [
        f"{name}: not audited. {leak.why_not}" for name, leak in leaks if leak.audit is None and not leak.is_proven
    ]
    errors = [leak.audit.replayed.error_of_row for _, leak in leaks if leak.audit is not None]
    largest = max((float(sorted(error)[int(len(error) * 0.99)]) for error in errors), default=0.0)
    sampled = (
        f" Sampled where it is not exact, with a standard error of {largest:.3f} or less for 99% of people."
        if largest
        else ""
    )
    return [
        "people of whom someone who has the method believes more than promised (or, where nothing is, more than the release "
        f"alone says); none: by proof.{sampled}",
        *unknown,
    ]
