# SPDX-License-Identifier: Apache-2.0
"""`overt disclose CASE`: what an adversary who knows the method infers, step by step."""

from pathlib import Path

from cyclopts.types import NonNegativeInt

from overt.cli.console import Exit, Switch, rng_of, tell


def disclose(
    case: Path,
    /,
    *,
    only: str | None = None,
    tables: NonNegativeInt = 0,
    seed: NonNegativeInt | None = None,
    json: Switch = False,
) -> int:
    """Compute for a small table what a sequence of functions releases under several strategies, and what this reveals.

    Parameters
    ----------
    case
        A JSON file: one case, or several under "cases". docs/theory/sequences.md shows its shape.
    only
        Analyse the case with this id only.
    tables
        List a disclosure set, the tables that are still possible for somebody who knows the method, if it has at most this many.
    seed
        Estimate by sampling what is too large for an exact answer, with this seed.
    json
        Print the file with the answers filled in instead of tables.

    """
    import overt

    found = overt.disclose(case, only=only, tables=tables, rng=None if seed is None else rng_of(seed))
    tell(found, json=json)
    return Exit.DONE
