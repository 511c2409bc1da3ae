# SPDX-License-Identifier: Apache-2.0
"""Coins: what a guarantee rests on is drawn from the operating system, or from a generator that has its key from there, and from nothing else.

Fed with the same bytes, two runs are the same run, so nothing is drawn from elsewhere; fed with others, they differ, so something is drawn.
In the code, whoever makes a generator that could be predicted is on a list, with the reason why nobody is protected by its draws.
"""

import ast
import hashlib
import json
from itertools import count
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import overt
from overt import randomness
from overt.io.ledger import ledger_path, set_limit
from overt.randomness import SystemCoins, secret_generator

SOURCE = Path(overt.__file__).parent
MAKERS = {
    "default_rng",
    "RandomState",
    "SeedSequence",
    "PCG64",
    "PCG64DXSM",
    "MT19937",
    "Philox",
    "SFC64",
    "seed",
    "Random",
    "uuid1",
}
REASONS = {
    "randomness.py": "the secret generator",
    "cli/console.py": "a seed that somebody asked for",
    "samples": "made-up people",
    "cli/demo.py": "made-up people",
    "io/person_rows.py": "a key that the run drew in secret, and that the owner's record keeps",
    "metrics": "what is measured for the owner",
    "checks": "names for sets, which are compared in a check",
    "adversary": "draws of an attacker's",
    "engine/compare.py": "releases that are thrown away",
    "engine/audit.py": "draws of an attacker's",
    "engine/distinguish.py": "releases that are thrown away",
    "algorithms/dp/as_published.py": "methods that are as they were published, and say that they protect nobody",
    "studio/closer_look.py": "questions that are asked for the owner",
    "studio/runs.py": "draws of an attacker's",
    "studio/routes/promise.py": "a release that is thrown away",
}
RECIPE = """
version = 1
[input]
path = "people.csv"
[columns.age]
role = "quasi-identifier"
hierarchy = {{ widths = [10, 100] }}
[columns.sex]
role = "quasi-identifier"
hierarchy = {{ nested = {{ any = ["f", "m"] }} }}
[columns.ill]
role = "{role}"
{goal}
[method]
{method}
[output]
path = "release.csv"
overwrite = true
"""
L2 = '[[goal]]\nproperty = "l-diversity"\nl = 2\n'
PREFIXES = "hierarchy = { prefixes = [1] }\n"
PRIVATE = "epsilon = 3\ndelta = 0.01\ns = 0.5"
CASES = {
    "blind-buckets": ('name = "blind-buckets"', L2, "sensitive"),
    "anatomy": ('name = "anatomy"', L2, "sensitive"),
    "dealing": ('name = "dealing"', L2, "sensitive"),
    "rda": ('name = "rda"', L2, "sensitive"),
    "batch-matching": ('name = "batch-matching"', L2, "sensitive"),
    "cross-bucket": ('name = "cross-bucket"', L2 + '[[goal]]\nproperty = "k-anonymity"\nk = 3\n', "sensitive"),
    "dp-cube": (f'name = "dp-cube"\n{PRIVATE}', PREFIXES, "quasi-identifier"),
    "dp-sampling": (f'name = "dp-sampling"\n{PRIVATE}\nlevels = [[1, 1, 0]]', PREFIXES, "quasi-identifier"),
    "dp-full-domain": (f'name = "dp-full-domain"\n{PRIVATE}', PREFIXES, "quasi-identifier"),
}  # fmt: skip


def stream(name):
    """Bytes that the name decides, in place of the operating system's."""
    number = count()
    return lambda n: hashlib.shake_256(f"{name} {next(number)}".encode()).digest(n)


@pytest.fixture
def released(tmp_path, monkeypatch):
    """What a run without a seed releases, whose system draws the bytes of this name."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(5)
    ages, sexes, ill = draw.integers(20, 80, 400), draw.choice(["f", "m"], 400), draw.choice(list("abcde"), 400)
    pl.DataFrame({"age": ages, "sex": sexes, "ill": ill}).write_csv("people.csv")
    set_limit(ledger_path(tmp_path / "people.csv"), 1000, "0.9")

    def run(case, name):
        method, goal, role = CASES[case]
        Path("recipe.toml").write_text(RECIPE.format(method=method, goal=goal, role=role), "utf-8")
        with monkeypatch.context() as patched:
            patched.setattr(randomness.os, "urandom", stream(name))
            overt.run("recipe.toml", audit=False)
        return [path.read_bytes() for path in sorted(tmp_path.glob("release*.csv"))]

    return run


@pytest.mark.filterwarnings("ignore::overt.errors.Caution")
@pytest.mark.parametrize("case", CASES)
def test_all_coins_of_a_run_without_a_seed_are_the_systems(released, case):
    assert released(case, "one") == released(case, "one"), "something was drawn from elsewhere"
    assert released(case, "one") != released(case, "two"), "nothing was drawn from the system"


def test_coins_of_levels_in_order_decide_estimates_and_nothing_that_is_published(released, monkeypatch):
    monkeypatch.setitem(CASES, "in-order", ('name = "in-order"\nlevels = 3\nsmallest = 20', L2, "sensitive"))
    assert released("in-order", "one") == released("in-order", "one") == released("in-order", "two")


@pytest.mark.filterwarnings("ignore::overt.errors.Caution")
def test_all_coins_of_ria_are_the_systems(released, tmp_path, monkeypatch):
    """On few people: of many it makes one group, whatever is drawn."""
    monkeypatch.setitem(CASES, "ria", ('name = "ria"', L2, "sensitive"))
    pl.read_csv(tmp_path / "people.csv").head(14).write_csv(tmp_path / "people.csv")
    assert released("ria", "one") == released("ria", "one")
    assert len({str(released("ria", name)) for name in ("one", "two", "three", "four", "five", "six")}) > 1


def test_rows_that_a_person_keeps_are_drawn_with_the_systems_coins(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw, n = np.random.default_rng(5), 600
    ages, sexes = draw.integers(20, 80, 200), draw.choice(["f", "m"], 200)
    people = {"who": np.arange(n) % 200, "age": np.tile(ages, 3), "sex": np.tile(sexes, 3)}
    pl.DataFrame({**people, "ill": np.arange(n)}).write_csv("people.csv")
    goal = '[[goal]]\nproperty = "k-anonymity"\nk = 2\n'
    recipe = RECIPE.format(method='name = "mondrian"', goal=goal, role="sensitive")
    person = 'path = "people.csv"\nperson = "who"\nkeep = 1\nwhich = "random"'
    Path("recipe.toml").write_text(recipe.replace('path = "people.csv"', person), "utf-8")
    found = []
    for name in ("one", "one", "two"):
        with monkeypatch.context() as patched:
            patched.setattr(randomness.os, "urandom", stream(name))
            overt.run("recipe.toml", audit=False)
        found.append(set(pl.read_csv("release.csv").get_column("ill").to_list()))
    assert found[0] == found[1] != found[2] and len(found[0]) == 200


def test_the_people_of_a_pilot_are_drawn_with_the_systems_coins(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(5)
    people = {"age": draw.integers(20, 80, 400), "sex": draw.choice(["f", "m"], 400)}
    pl.DataFrame({**people, "diagnosis": draw.choice(["flu", "cold", "HIV"], 400)}).write_csv("people.csv")
    found = []
    for name in ("one", "one", "two"):
        with monkeypatch.context() as patched:
            patched.setattr(randomness.os, "urandom", stream(name))
            overt.init("people.csv", into="first.toml", overwrite=True)
        (pilot,) = tmp_path.glob("*.pilot.owner.json")
        found.append(json.loads(pilot.read_text("utf-8"))["rows"])
        pilot.unlink()
    assert found[0] == found[1] != found[2] and len(found[0]) == 50


@pytest.mark.parametrize("case", ["blind-buckets", "dealing"])
def test_all_coins_of_a_run_in_parts_are_the_systems(tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(5)
    ill = draw.choice(list("abcde"), 400)
    pl.DataFrame({"age": draw.integers(20, 80, 400), "sex": draw.choice(["f", "m"], 400), "ill": ill}).write_csv(
        "people.csv"
    )
    method, goal, role = CASES[case]
    method += '\ncuts = "strict"' if case == "blind-buckets" else ""
    recipe = RECIPE.format(method=method, goal=goal, role=role).replace('"release.csv"', '"release"\nformat = "csv"')
    Path("recipe.toml").write_text(recipe, "utf-8")
    found = []
    for name in ("one", "one", "two"):
        with monkeypatch.context() as patched:
            patched.setattr(randomness.os, "urandom", stream(name))
            overt.run("recipe.toml", engine="out-of-core", audit=False)
        found.append([path.read_bytes() for path in sorted(Path("release").rglob("part-*"))])
    assert found[0] == found[1] and found[0] != found[2]


def can_be_predicted(text):
    """Whether some code makes a generator that could be predicted, or draws from one that NumPy or Python keep for everybody."""
    for node in ast.walk(ast.parse(text)):
        called = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
        imports = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        imports += [node.module] if isinstance(node, ast.ImportFrom) else []
        is_of_all = isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("np.random", "numpy.random")
        if called in MAKERS or "random" in imports or (is_of_all and node.attr not in ("Generator", "BitGenerator")):
            return True
    return False


@pytest.mark.parametrize(
    "text",
    ["np.random.shuffle(rows)", "x = numpy.random.rand()", "import random", "from random import choice", "np.random.default_rng(7)",
     "from numpy.random import MT19937\nMT19937(3)", "draw = np.random.permutation"],
)  # fmt: skip
def test_what_can_be_predicted_is_found(text):
    assert can_be_predicted(text) and not can_be_predicted(
        "from numpy.random import Generator\nrng.shuffle(np.arange(3))"
    )


def test_whoever_makes_a_generator_that_can_be_predicted_is_known():
    found = set()
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if can_be_predicted(path.read_text("utf-8")):
            found.add(next((known for known in REASONS if name == known or name.startswith(f"{known}/")), name))
    assert found <= set(REASONS), (
        "what is protected by its draws? If somebody is, use overt.randomness.secret_generator"
    )
    assert found >= {"randomness.py", "cli/console.py", "checks"}, "the search finds nothing"


def test_the_secret_generator_has_its_key_from_the_system_and_never_twice(monkeypatch):
    one, other = secret_generator(), secret_generator()
    assert type(one.bit_generator) is np.random.Philox
    assert one.bytes(32) != other.bytes(32)
    monkeypatch.setattr(randomness.os, "urandom", stream("a"))
    first = secret_generator().bytes(32)
    monkeypatch.setattr(randomness.os, "urandom", stream("b"))
    assert secret_generator().bytes(32) != first
    monkeypatch.setattr(randomness.os, "urandom", stream("a"))
    assert secret_generator().bytes(32) == first and len(secret_generator().spawn(2)) == 2


def test_coins_of_dp_releases_are_the_systems_bytes_and_nothing_else(monkeypatch):
    monkeypatch.setattr(randomness.os, "urandom", lambda n: bytes(range(8)) * (n // 8))
    assert set(SystemCoins().words(5).tolist()) == {int.from_bytes(bytes(range(8)), "little")}
