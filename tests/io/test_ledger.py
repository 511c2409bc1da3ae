# SPDX-License-Identifier: Apache-2.0
import json
import multiprocessing
import stat
from fractions import Fraction
from pathlib import Path

import pytest

from overt.algorithms.dp.accounting import Budget
from overt.audience import Audience, audience_of
from overt.errors import InvalidInput, Unreachable
from overt.io import ledger as module
from overt.io.ledger import ledger_path, read_ledger, set_limit, spend

ONE = Budget.of("0.1", "1e-7")


@pytest.fixture
def path(tmp_path):
    return ledger_path(tmp_path / "people.csv")


def spend_one(path, name="r.csv"):
    return spend(path, ONE, release=name, release_id="x", method="dp-cube")


def test_budgets_add_up_exactly_and_the_limit_is_met_to_the_last_digit(path):
    set_limit(path, 1, "1e-6")
    for _ in range(10):  # ten times a tenth is one, which floats would miss
        spend_one(path)
    ledger = read_ledger(path)
    assert ledger.spent == ledger.limit == Budget(Fraction(1), Fraction(1, 10**6))
    with pytest.raises(Unreachable, match="costs epsilon 0.1, delta 1e-07, and of the owner's limit .* is spent"):
        spend_one(path)
    assert len(read_ledger(path).releases) == 10
    set_limit(path, 2, "1e-5")
    assert len(spend_one(path).releases) == 11


def test_delta_is_limited_too(path):
    set_limit(path, 100, "1.5e-7")
    spend_one(path)
    with pytest.raises(Unreachable):
        spend_one(path)


def test_nothing_is_spent_before_an_owner_has_set_a_limit(path):
    with pytest.raises(InvalidInput, match="overt budget people.csv --epsilon 0.1 --delta 1e-07"):
        spend_one(path)
    assert not path.exists()


@pytest.mark.parametrize(
    "tamper",
    [
        lambda entries: entries.pop(),
        lambda entries: entries.pop(1),
        lambda entries: entries[1].update(epsilon="1/100"),
        lambda entries: entries[0].update(epsilon="50"),
        lambda entries: entries.append(entries[-1]),
        lambda entries: entries.reverse(),
    ],
)
def test_a_ledger_that_was_changed_by_hand_is_refused(path, tamper):
    set_limit(path, 1, "1e-6")
    spend_one(path)
    spend_one(path)
    document = json.loads(path.read_text("utf-8"))
    tamper(document["entries"])
    path.write_text(json.dumps(document), "utf-8")
    before = path.read_bytes()
    for action in (lambda: spend_one(path), lambda: set_limit(path, 9, "0.1"), lambda: read_ledger(path)):
        with pytest.raises(InvalidInput, match="changed by hand"):
            action()
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"ledger": 2, "entries": []}', "\x00"])
def test_what_is_no_ledger_is_refused(path, text):
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidInput, match="not a ledger that this Overt can read"):
        read_ledger(path)


def test_a_crash_while_writing_leaves_the_ledger_as_it_was(path, monkeypatch):
    set_limit(path, 1, "1e-6")
    before = path.read_bytes()

    def crash(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr(module, "all_or_nothing", crash)
    with pytest.raises(OSError, match="no space left"):
        spend_one(path)
    assert path.read_bytes() == before


def spend_often(path, n):
    for _ in range(n):
        spend(path, Budget.of("0.01", "1e-9"), release="r", release_id="x", method="m")


def test_two_runs_at_once_do_not_lose_an_entry(path):
    set_limit(path, 1, "1e-6")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=spend_often, args=(path, 15)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert read_ledger(path).spent.epsilon == Fraction(30, 100)


def test_a_link_leads_to_the_ledger_of_the_file(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "people.csv").write_text("age\n1\n", "utf-8")
    (tmp_path / "link.csv").symlink_to(tmp_path / "data" / "people.csv")
    assert ledger_path(tmp_path / "link.csv") == ledger_path((tmp_path / "data" / "people.csv").resolve())


def test_only_its_owner_can_read_a_ledger(path, monkeypatch):
    set_limit(path, 1, "1e-6")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    spend_one(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and audience_of(path) is Audience.OWNER

    def refuse(_):
        raise PermissionError

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(InvalidInput, match="can be read by its owner only"):
        read_ledger(path)


def test_other_refusals(tmp_path):
    with pytest.raises(InvalidInput, match="There is no folder"):
        set_limit(ledger_path(tmp_path / "nowhere" / "people.csv"), 1, "0.1")
    with pytest.raises(InvalidInput, match="is a folder; name the file"):
        ledger_path(Path())
    for epsilon, delta in ((0, "0.1"), (1, 0), (1, 1), ("x", "0.1"), ("1e400", "0.1"), (1, "1e-400")):
        with pytest.raises(InvalidInput):
            set_limit(ledger_path(tmp_path / "people.csv"), epsilon, delta)
    assert not ledger_path(tmp_path / "people.csv").exists()
