# SPDX-License-Identifier: Apache-2.0
# Tested through tests/studio/test_bring.py
"""The dp promise: differential privacy and its budget, as the studio asks for them. The library keeps the account."""

from pathlib import Path

from overt.algorithms.dp.parameter_proposal import left_for_rows, propose
from overt.engine.budget import Account, budget
from overt.io.recipe.recipe import read_recipe
from overt.studio.edits import Change, set_dp
from overt.studio.session import Session


def proposed_edit(session: Session, epsilon: float, delta: float, n_rows: int) -> Change:
    """Ask for this budget, with the share of rows to keep that the library proposes for about so many rows."""
    columns = session.document["columns"].values()
    released = [column for column in columns if column["role"] in ("quasi-identifier", "sensitive")]
    found = propose(left_for_rows(epsilon, delta), delta, n_rows, [2] * len(released), with_cube=False)
    return set_dp(epsilon, delta, float(found.s))


def account_of(session: Session, *, epsilon: float | None = None, delta: float | None = None) -> Account:
    """What differentially private releases of this table have cost, and the limit; both given: a new limit."""
    source = read_recipe(session.recipe_path).source
    data = Path(source.base)
    return budget(data, epsilon=epsilon, delta=delta)
