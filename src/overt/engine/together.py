# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_audit.py
"""`overt audit RECIPE --together OTHER...`: what the releases of several recipes give away together. Nothing is written."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from numpy.random import Generator

from overt.adversary.together.audit_together import Together, audit_together
from overt.engine.course import prepare
from overt.engine.dp_run import refuse_dp
from overt.io.pilot_record import pilot_for_run
from overt.io.recipe.recipe import Recipe, as_recipe
from overt.progress import Progress, silent
from overt.report.lines import aligned, labelled
from overt.report.sentences import percent


def lines_of_together(found: Together, width: int | None) -> Iterator[str]:
    """Sentences, and a table."""
    told = found.to_dict()
    yield from labelled(
        [
            ("Together", f"{len(found.methods)} of the same {found.n_rows:,} people, by {', '.join(found.methods)}"),
            ("Adversary", "knows everyone's quasi-identifiers and all releases"),
        ],
        width,
    )
    yield ""
    least = "at least " if found.n_unknown else ""
    highest = told["highest_belief"]["together"]
    yield from aligned(
        [
            ("", "the best of them", "all together"),
            (
                "people known for certain",
                f"{told['certain']['one_release']:,}",
                f"{least}{told['certain']['together']:,}",
            ),
            (
                "highest belief",
                f"{told['highest_belief']['one_release']:.3f}",
                "not known yet" if highest is None else f"{least}{highest:.3f}",
            ),
            *(
                (
                    words,
                    percent(told["guessed_right"][one] / found.n_rows),
                    f"{least}{percent(told['guessed_right'][other] / found.n_rows)}",
                )
                for words, one, other in (("values guessed right, expected", "one_release", "together"),)
            ),
            ("people for whom this is not known yet", "0", f"{found.n_unknown:,}"),
        ]
    )
    yield ""
    yield from labelled((("", sentence) for sentence in found.sentences()), width)


def audit_recipes_together(
    recipes: Sequence[Recipe | str | Path], *, rng: Generator, on_progress: Progress = silent
) -> Together:
    """Make the release of every recipe, and ask what somebody believes who has all of them."""
    releases = []
    for one in recipes:
        recipe = as_recipe(one)
        refuse_dp(recipe, "an audit of what became of its rows")
        pilot = pilot_for_run(recipe)
        prepared = prepare(recipe, on_progress, left_out=None if pilot is None else pilot.rows)
        releases.append(prepared.make(rng, on_progress).warn())
    return audit_together(releases, on_progress=on_progress)
