# SPDX-License-Identifier: Apache-2.0
"""`overt budget DATA`: what private releases of a file have cost, and how much they may."""

from pathlib import Path

from overt.cli.console import Exit, Switch, say_json, say_rows


def budget(
    data: Path, /, *, epsilon: str | None = None, delta: str | None = None, json: Switch = False, quiet: Switch = False
) -> int:
    """Say what private releases of a file have cost so far; with --epsilon and --delta, set how much they may altogether.

    Parameters
    ----------
    data
        The file with the data. Its ledger lies beside it. Of a table in a database, the name of the table, where the recipe is.
    epsilon
        The most that all releases together may spend of epsilon.
    delta
        The most that all releases together may spend of delta.
    json
        Print one JSON document instead of the summary.
    quiet
        Say nothing unless something goes wrong.

    """
    from overt.errors import InvalidInput
    from overt.io.database.address import find_address, holds_password
    from overt.io.ledger import ledger_path, read_ledger, set_limit

    if holds_password(str(data).replace(":/", "://", 1)):  # a path has lost one of the slashes
        find_address(str(data).replace(":/", "://", 1))  # refuses it without repeating it
    if (epsilon is None) != (delta is None):
        raise InvalidInput("A limit has an epsilon and a delta; give both, or neither to see what was spent.")
    path = ledger_path(data)
    ledger = read_ledger(path) if epsilon is None or delta is None else set_limit(path, epsilon, delta)
    if json:
        say_json(ledger.to_dict())
    elif not quiet:
        no_limit = "none yet: set one with --epsilon and --delta before the first private release"
        rows = [
            ("Limit", str(ledger.limit or no_limit)),
            ("Spent", f"{ledger.spent} by {len(ledger.releases)} releases"),
            *(
                (
                    "Release",
                    f"{entry.time:%Y-%m-%d %H:%M} UTC, {entry.release}, {entry.method}: {ledger.cost_of(entry)}",
                )
                for entry in ledger.releases
            ),
            ("Ledger", str(path)),
        ]
        say_rows(rows)
    return Exit.DONE
