# SPDX-License-Identifier: Apache-2.0
"""Ledger: what differentially private releases of a file have cost so far, in a JSON file beside it, and how much its owner allows.

Budgets of releases of the same people add up, so somebody has to count. The owner sets a limit once (`overt budget`); every
run with differential privacy writes what it costs before it draws a coin, and is refused if that would pass the limit. A run that fails later
has spent its budget all the same: what is lost is utility, never privacy.

The file is replaced whole, under a lock that keeps two runs apart. Every entry holds the digest of all before it, and the
file the digest of everything, so that an entry that is changed, removed or inserted by hand is found. Whoever can write the
file can also write a new one; it protects from mistakes, not from its owner.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, ValidationError

from overt.errors import InvalidInput, Unreachable
from overt.io.atomic import all_or_nothing
from overt.io.closed_model import ClosedModel
from overt.privacy.base import Number

if TYPE_CHECKING:
    from overt.algorithms.dp.accounting import Budget

SUFFIX = ".budget.json"

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Exactly = Annotated[str, Field(pattern=r"^\d+(/\d+)?$")]  # a fraction


class Limit(ClosedModel):
    """How much the owner allows, since when."""

    kind: Literal["limit"] = "limit"
    time: datetime
    epsilon: Exactly
    delta: Exactly
    before: Digest  # of everything before this entry


class Spent(ClosedModel):
    """What one release cost. Its id stands in the release's manifest too."""

    kind: Literal["spent"] = "spent"
    time: datetime
    release: str
    id: str
    method: str
    epsilon: Exactly
    delta: Exactly
    before: Digest


Entry = Annotated[Limit | Spent, Field(discriminator="kind")]


class _File(ClosedModel):
    ledger: Literal[1] = 1  # the version of this format
    entries: tuple[Entry, ...]
    digest: Digest


@dataclass(frozen=True)
class Ledger:
    """The entries of a ledger, oldest first."""

    path: Path
    entries: tuple[Limit | Spent, ...] = ()

    @property
    def limit(self) -> "Budget | None":
        """What the owner allows, as last set."""
        limits = [entry for entry in self.entries if isinstance(entry, Limit)]
        return _budget(limits[-1]) if limits else None

    @property
    def releases(self) -> tuple[Spent, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, Spent))

    @property
    def spent(self) -> "Budget":
        """What all releases have cost."""
        from overt.algorithms.dp.accounting import Budget

        return sum(map(_budget, self.releases), Budget(Fraction(0), Fraction(0)))

    @staticmethod
    def cost_of(entry: Limit | Spent) -> "Budget":
        """The budget that an entry is about."""
        return _budget(entry)

    def _with(self, kind: type[Limit] | type[Spent], budget: "Budget", **more: str) -> "Ledger":
        entry = kind(
            time=datetime.now(UTC).replace(microsecond=0),
            epsilon=str(budget.epsilon),
            delta=str(budget.delta),
            before=_digest_of(self.entries),
            **more,  # type: ignore[arg-type]
        )
        return Ledger(self.path, (*self.entries, entry))

    def to_dict(self) -> dict[str, Any]:
        """The ledger as plain values, for programs."""
        limit, spent = self.limit, self.spent
        return {
            "ledger": str(self.path),
            "limit": None if limit is None else {"epsilon": float(limit.epsilon), "delta": float(limit.delta)},
            "spent": {"epsilon": float(spent.epsilon), "delta": float(spent.delta)},
            "releases": [
                {
                    "time": entry.time.isoformat(),
                    "release": entry.release,
                    "method": entry.method,
                    "epsilon": float(Fraction(entry.epsilon)),
                    "delta": float(Fraction(entry.delta)),
                }
                for entry in self.releases
            ],
        }


def ledger_path(data: Path) -> Path:
    """Where the ledger of a file lies: beside it, whatever links lead there."""
    data = data.resolve() if data.is_symlink() else data
    if not data.name:
        raise InvalidInput(f"{data} is a folder; name the file with the data, beside which its ledger lies.")
    return data.with_name(data.name + SUFFIX)


def read_ledger(path: Path) -> Ledger:
    """Read a ledger, an empty one if there is none; refuse one that was changed by hand."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return Ledger(path)
    except PermissionError:
        raise InvalidInput(f"{path.name} can be read by its owner only; ask them to run this.") from None
    try:
        file = _File.model_validate_json(text)
    except ValidationError:
        raise InvalidInput(
            f"{path} is not a ledger that this Overt can read; restore it from a copy. Until then no differentially private release is made."
        ) from None
    ledger = Ledger(path, file.entries)
    chain = [_digest_of(file.entries[:i]) for i in range(len(file.entries) + 1)]
    if [entry.before for entry in file.entries] != chain[:-1] or file.digest != chain[-1]:
        raise InvalidInput(
            f"{path} was changed by hand: its digests do not fit. Restore it from a copy; until then no differentially private release is made."
        )
    return ledger


def set_limit(path: Path, epsilon: Number, delta: Number) -> Ledger:
    """Allow releases of the data beside this ledger to cost so much altogether."""
    from overt.algorithms.dp.accounting import Budget

    limit = Budget.of(epsilon, delta)
    with _locked(path):
        ledger = read_ledger(path)._with(Limit, limit)
        _write(ledger)
    return ledger


def spend(path: Path, budget: "Budget", *, release: str, release_id: str, method: str) -> Ledger:
    """Write down what a release costs, or refuse it. From here on the budget is spent, whatever becomes of the release."""
    with _locked(path):
        ledger = read_ledger(path)
        limit = ledger.limit
        if limit is None:
            raise InvalidInput(
                f"Nobody has said what differentially private releases of {path.name.removesuffix(SUFFIX)} may cost altogether; its owner "
                f"does, once: overt budget {path.name.removesuffix(SUFFIX)} --epsilon {float(budget.epsilon):g} --delta "
                f"{float(budget.delta):g}"
            )
        if not ledger.spent + budget <= limit:
            raise Unreachable(
                f"This release costs {budget}, and of the owner's limit ({limit}) {ledger.spent} is spent: nothing was "
                "released. Spend less, or raise the limit with overt budget, if more may be known of these people."
            )
        ledger = ledger._with(Spent, budget, release=release, id=release_id, method=method)
        _write(ledger)
    return ledger


def _budget(entry: Limit | Spent) -> "Budget":
    from overt.algorithms.dp.accounting import Budget

    return Budget(Fraction(entry.epsilon), Fraction(entry.delta))


def _digest_of(entries: tuple[Limit | Spent, ...]) -> str:
    content = json.dumps([entry.model_dump(mode="json") for entry in entries], sort_keys=True)
    return hashlib.sha256(f"overt ledger 1 {content}".encode()).hexdigest()


def _write(ledger: Ledger) -> None:
    file = _File(entries=ledger.entries, digest=_digest_of(ledger.entries))
    with all_or_nothing(overwrite=True) as stage:  # on the disk, whole, when this returns
        stage(ledger.path).write_text(file.model_dump_json(indent=2) + "\n", "utf-8")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes out. The system lets go of the lock if this one dies."""
    if not path.parent.is_dir():
        raise InvalidInput(f"There is no folder {path.parent} to keep the ledger {path.name} in; check the path.")
    handle = os.open(path.with_name(f".{path.name}.lock"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        _lock(handle)
        yield
    finally:
        os.close(handle)


if os.name == "nt":  # pragma: no cover

    def _lock(handle: int) -> None:
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]

else:

    def _lock(handle: int) -> None:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)
