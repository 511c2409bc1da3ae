# SPDX-License-Identifier: Apache-2.0
"""The dp promise: differential privacy and its budget, as the studio asks for them. The library keeps the account."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overt.algorithms.dp.parameter_proposal import left_for_rows, propose
from overt.engine.budget import Account, budget
from overt.io.recipe.recipe import read_recipe
from overt.studio.edits import Change, is_dp, set_dp, unset_dp
from overt.studio.history import Document
from overt.studio.session import Session


def proposed_edit(session: Session, epsilon: float, delta: float, n_rows: int) -> Change:
    """Ask for this budget, with the share of rows to keep that the library proposes for about so many rows."""
    columns = session.document["columns"].values()
    released = [column for column in columns if column["role"] in ("quasi-identifier", "sensitive")]
    found = propose(left_for_rows(epsilon, delta), delta, n_rows, [2] * len(released), with_cube=False)
    return dp_edit(session, epsilon, delta, float(found.s))


def dp_edit(session: Session, epsilon: float, delta: float, s: float) -> Change:
    """Ask for it, and keep of the recipe what a person gave."""
    profile = session.found.get("profile")
    order = () if profile is None else tuple(one.name for one in profile.columns)
    return set_dp(epsilon, delta, s, proposal=session.proposal, settled=session.settled, order=order)


@dataclass(frozen=True)
class StayingColumn:
    """A column as a dp recipe says it, for a person who is asked whether that is public."""

    name: str
    role: str
    how: str  # its steps and format, in the words of the recipe; empty: none


def kept_in_dp(session: Session) -> tuple[StayingColumn, ...]:
    """What would stay in the recipe of the columns that are released."""
    document = dp_edit(session, 1.0, 1e-6, 0.5)(session.document)
    return tuple(_kept(document))


def _kept(document: Document) -> Iterator[StayingColumn]:
    for name, settings in document["columns"].items():
        if settings["role"] in ("quasi-identifier", "sensitive"):
            said = [*(settings.get("hierarchy") or {}).items()]
            if "format" in settings:
                said.append(("format", settings["format"]))
            yield StayingColumn(name, settings["role"], "; ".join(f"{key} = {value}" for key, value in said))


def back_from_dp(session: Session) -> Change:
    """What `set_dp` replaced stands again; what was changed since stays."""
    documents = [tomllib.loads(edit.text) for edit in session.history.done]
    last = max((n for n, one in enumerate(documents) if not is_dp(one)), default=0)
    before, first = documents[last], documents[min(last + 1, len(documents) - 1)]
    return unset_dp(before, first, session.proposal)


def limits_of(account: Account | None) -> Mapping[str, Any]:
    """The limit as its form shows it; empty if there is none."""
    limit = None if account is None else account.ledger.limit
    return (
        {}
        if limit is None
        else {"limit_epsilon": f"{float(limit.epsilon):g}", "limit_delta": f"{float(limit.delta):g}"}
    )


def account_of(session: Session, *, epsilon: float | None = None, delta: float | None = None) -> Account:
    """What differentially private releases of this table have cost, and the limit; both given: a new limit."""
    given = session.document["input"]  # the recipe need not be complete yet
    name = given.get("path", given.get("table"))
    data = session.folder / name if name else Path(read_recipe(session.recipe_path).source.base)
    return budget(data, epsilon=epsilon, delta=delta)
