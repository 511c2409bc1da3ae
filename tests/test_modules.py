# SPDX-License-Identifier: Apache-2.0
"""Every module has a test of its name, or says in one line through which test it is tested; and one name means one thing."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import overt
from overt.cli import COMMANDS

TESTS = Path(__file__).parent
ROOT = Path(overt.__file__).parent
MODULES = sorted(path for path in ROOT.rglob("*.py") if path.name not in ("__init__.py", "__main__.py"))
THROUGH = re.compile(r"^# Tested through tests/(\S+\.py)$", re.MULTILINE)
KERNEL_THROUGH = re.compile(r"^# (\w+): tested through tests/(\S+\.py)$", re.MULTILINE)


def test_every_module_says_through_which_test_it_is_tested():
    for module in MODULES:
        place = module.relative_to(ROOT)
        own, said = TESTS / place.parent / f"test_{place.name}", named_by(module)
        if own.exists():
            assert said is None, f"{place} has a test of its name; take the line 'Tested through' out."
        else:
            assert said, (
                f"{place} has no {own.relative_to(TESTS)} and no line '# Tested through tests/...' under its licence."
            )
            assert (TESTS / said).exists(), f"{place} is tested through {said}, which is not there."
            assert name_of(module, ROOT, "overt.") in reached(TESTS / said), (
                f"{said} is far from {place}: name a nearer test."
            )


def named_by(module):
    if module.parent.name == "kernels":
        return dict(KERNEL_THROUGH.findall((module.parent / "__init__.py").read_text())).get(module.stem)
    found = THROUGH.search(module.read_text()[:300])
    return found and found[1]


def name_of(path, root, prefix=""):
    parts = path.relative_to(root).with_suffix("").parts
    return prefix + ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def files():
    ours = {name_of(path, ROOT, "overt.").rstrip("."): path for path in ROOT.rglob("*.py")}
    return ours | {name_of(path, TESTS): path for path in TESTS.rglob("*.py")}


@cache
def homes():
    """Where each public name is at home."""
    stub = ast.parse((ROOT / "__init__.pyi").read_text())
    return {name.name: line.module for line in stub.body if isinstance(line, ast.ImportFrom) for name in line.names}


@cache
def named_in(path):
    """The modules that a file imports, or names in a text, as the command line names its commands."""
    found, public = set(), set()
    if path == ROOT / "cli" / "__init__.py":  # commands are imported when they are called
        found |= {f"overt.cli.{command}" for command in COMMANDS}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
            public |= {name.name for name in node.names if node.module == "overt"}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "overt":
            public.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("overt."):
            found.add(node.value.partition(":")[0])
    return (found | {homes()[name] for name in public if name in homes()}) & files().keys() - {"overt"}


DOORS = ("cli", "studio")  # whose tests begin at a command or a page, and get to everything behind it


def reached(test):
    """The modules that a test imports, that these import, and so on for a few steps: in many steps everything gets to everything."""
    seen, waiting = set(), [test, *test.parent.glob("conftest.py")]
    for _ in range(5 if test.relative_to(TESTS).parts[0] in DOORS else 4):
        new = set().union(*map(named_in, waiting)) - seen
        seen |= new
        waiting = [files()[name] for name in new]
    return seen


@pytest.mark.parametrize("name", ["io/csv.py", "kernels/rolling.py", "kernels/mondrian.py", "errors.py"])
def test_the_test_of_a_module_is_found(name):
    module = ROOT / name
    assert bool(named_by(module)) != (TESTS / Path(name).parent / f"test_{module.name}").exists()


def test_what_a_test_does_not_get_to_is_known():
    assert "overt.adversary.learner.learner" not in reached(TESTS / "kernels" / "test_lattice.py")
    assert "overt.kernels.lattice" in reached(TESTS / "kernels" / "test_lattice.py")
    assert "overt.kernels.swapping" not in reached(TESTS / "cli" / "test_check.py")


SAME_THING = {
    "base": "the base class of a folder",
    "budget": "a command",
    "coarser": "a screen of the studio",
    "downcoding": "what it finds, and a report's words for it",
    "dp": "differential privacy: its check, its report",
    "findings": "what was found: by a check, a learner, downcoding",
    "flat": "one flat table of a release of two",
    "l_sweep": "audits at several l",
    "lattice": "the lattice of a table's hierarchies",
    "method": "the method of a folder",
    "persons": "persons with several rows",
    "plane": "risk against utility",
    "problems": "what is wrong with what was given, located",
    "progress": "how far work is",
    "promises": "what is promised of a release",
    "reading": "how a release, or a table of a database, is read",
    "release": "a release, and the screen that makes it",
    "table": "a table, and the screen that shows it",
}
FOLDERS_OF_COMMANDS = {"cli", "engine", "studio/routes", "adversary", "metrics", "checks"}


def test_a_module_name_stands_for_one_thing():
    """Modules of one name: a command and what it does, a loop and who calls it, or the same thing seen from two folders."""
    places = defaultdict(set)
    for module in MODULES:
        places[module.stem].add(module.parent.relative_to(ROOT).as_posix())
    for stem, folders in places.items():
        is_command = stem in COMMANDS and folders <= FOLDERS_OF_COMMANDS
        is_kernel = len(folders) == 2 and "kernels" in folders
        assert len(folders) == 1 or is_command or is_kernel or stem in SAME_THING, f"{stem} stands in {sorted(folders)}"


def test_a_class_or_type_name_stands_for_one_thing():
    meanings = defaultdict(lambda: defaultdict(list))
    for path in ROOT.rglob("*.py"):
        for name, meaning in named_things(path):
            meanings[name][meaning].append(path.relative_to(ROOT).as_posix())
    assert len(meanings) > 300
    for name, places in meanings.items():
        assert len(places) == 1, f"{name} is something else in {' and '.join(map(str, places.values()))}"


def named_things(path):
    """(name, what it is) of classes and of names of types; the same short name of one type may stand in several folders."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            name, meaning = node.name, f"class of {path}"
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, meaning = node.targets[0].id, ast.unparse(node.value)
        else:
            continue
        if name[0].isupper() and not name.isupper():
            yield name, meaning
