# SPDX-License-Identifier: Apache-2.0
"""Check: decide from the published tables whether a release is what it claims to be.

It shares no code with the methods, nor with what writes a release: an auditor that does repeats their mistakes.
"""

from collections.abc import Mapping

import polars as pl

from overt.checks.buckets import check_buckets
from overt.checks.crossed import check_crossed
from overt.checks.findings import not_checked
from overt.checks.flat import unfold
from overt.checks.generalized import check_generalized
from overt.checks.person_lines_read import fold, without_lengths
from overt.checks.shuffled import check_shuffled
from overt.checks.verdict import Claim, Finding, Verdict
from overt.errors import InvalidInput
from overt.partition import Partition
from overt.table import Table, unknown_column

Witness = Partition | tuple[Partition, Partition]  # which rows went together; for a cross-bucket release twice

__all__ = ["Claim", "Finding", "Verdict", "check_release"]


def check_release(
    table: Table, tables: Mapping[str, pl.DataFrame], claim: Claim, *, witness: Witness | None = None
) -> Verdict:
    """Decide whether the published tables are a release of the table as claimed.

    `table` is the original, read with the roles and hierarchies of the recipe. `tables` is what was published: one
    table "release", or two, "quasi-identifiers" (or "boxes") and "sensitive"; or these two as one, "flat" or "shuffled". An owner who knows which
    rows went together can pass that as `witness`; it makes the check of truth quicker and is trusted in nothing.

    >>> import overt
    >>> table = overt.read_frame(overt.samples.hospital(), quasi_identifiers=["Sex"], sensitive=["Disease"])
    >>> goal = overt.KAnonymity(4)
    >>> shown = overt.publish(overt.Mondrian(goal=goal).anonymize(table))
    >>> check_release(table, {"release": shown}, Claim(goal=goal, n_rows=96)).ok
    True
    >>> check_release(table, {"release": shown[:-1]}, Claim(goal=goal, n_rows=96)).ok
    False
    """
    for name in claim.others:
        if name not in table.others.columns:
            raise unknown_column(name, table.others.columns)
    if table.has_bundles:
        folded = fold(table, tables)
        if not folded.tables:
            return Verdict(
                (
                    folded.finding,
                    *not_checked(
                        ("columns", "rows", "cells", "order", "goal", "truth"), "persons cannot be told apart"
                    ),
                )
            )
        verdict = _check(table, without_lengths(folded.tables), claim, witness)
        return Verdict((folded.finding, *verdict.findings))
    return _check(table, tables, claim, witness)


def _check(table: Table, tables: Mapping[str, pl.DataFrame], claim: Claim, witness: Witness | None) -> Verdict:
    groups = witness if isinstance(witness, Partition) else None
    both = witness if isinstance(witness, tuple) else None
    if set(tables) == {"release"}:
        return check_generalized(table, tables["release"], claim, groups)
    if set(tables) == {"quasi-identifiers", "sensitive"}:
        return check_buckets(table, tables["quasi-identifiers"], tables["sensitive"], claim, groups)
    if set(tables) == {"boxes", "sensitive"}:
        return check_crossed(table, tables["boxes"], tables["sensitive"], claim, both)
    if set(tables) == {"shuffled"}:
        return check_shuffled(table, tables["shuffled"], claim, both)
    if set(tables) == {"flat"}:
        people, values, lists = unfold(tables["flat"], table.sensitive)
        return Verdict((*check_crossed(table, people, values, claim, both).findings, lists))
    raise InvalidInput(
        f"The release has the tables {', '.join(map(repr, tables)) or 'none'}; expected is 'release', or "
        "'quasi-identifiers' (or 'boxes') and 'sensitive', or 'flat', or 'shuffled'."
    )
