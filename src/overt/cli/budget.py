# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_dp_run.py
"""`overt budget DATA`: what differentially private releases of a file have cost, and how much they may."""

from pathlib import Path

from overt.cli.console import Exit, Switch, tell


def budget(
    data: Path, /, *, epsilon: str | None = None, delta: str | None = None, json: Switch = False, quiet: Switch = False
) -> int:
    """Show what differentially private releases of a file have cost so far; with --epsilon and --delta, limit their total.

    Parameters
    ----------
    data
        The file with the data; its ledger is next to it. For a table in a database, the name of the table, in the folder of the recipe.
    epsilon
        The most that all releases together may spend of epsilon.
    delta
        The most that all releases together may spend of delta.
    json
        Print one JSON document instead of the summary.
    quiet
        Print nothing unless something goes wrong.

    """
    import overt

    tell(overt.budget(data, epsilon=epsilon, delta=delta), json=json, quiet=quiet)
    return Exit.DONE
