# SPDX-License-Identifier: Apache-2.0
"""The public names stand once, in `__init__.pyi`: what is loaded when it is first used, and what type checkers see."""

import inspect
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import overt

STUB = Path(overt.__file__).with_suffix(".pyi").read_text().splitlines()


def test_every_name_of_the_stub_is_there_and_says_where_it_is_at_home():
    for line in (line for line in STUB if line.startswith("from ")):
        _, module, _, name, _, again = line.split()
        assert name == again, "a type checker takes a name for public only if it is imported as itself"
        home = __import__(module, fromlist=[name])
        found = getattr(overt, name)
        assert getattr(found, "__wrapped__", found) is getattr(home, name)
        assert getattr(overt, name) is found  # and it can be pickled by its name
        assert name in overt.__all__


def test_the_names_are_listed_once():
    imported = [line.rpartition(" ")[2] for line in STUB if line.startswith("from ")]
    assert sorted(imported) == overt.__all__
    assert dir(overt) == sorted([*overt.__all__, "__version__"])


def test_the_version_is_that_of_the_package():
    assert overt.__version__ == metadata.version("overt")


@pytest.mark.parametrize("name", ["nothing", "_module", "checks_", "ast"])
def test_other_names_are_not_there(name):
    assert not hasattr(overt, name)


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, overt; print([name for name in ('numpy', 'polars', 'numba', 'pydantic', 'ast') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_no_public_name_is_hidden_by_a_module():
    names = " ".join(overt.__all__)
    code = (
        "import pkgutil, importlib, overt\n"
        "for found in pkgutil.walk_packages(overt.__path__, 'overt.'):\n"
        "    if not found.name.startswith(('overt.kernels', 'overt.__main__')): importlib.import_module(found.name)\n"
        f"print([name for name in {names!r}.split() if name != 'samples' and type(getattr(overt, name)).__name__ == 'module'])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.slow
def test_a_type_checker_sees_the_names(tmp_path):
    user = tmp_path / "user.py"
    user.write_text(
        "import overt\n"
        "outcome = overt.run('recipe.toml', report=True)\n"
        "goal: overt.KAnonymity = overt.KAnonymity(3)\n"
        "wrong: int = overt.check('data.csv', 'release.csv').ok.nothing\n"
        "overt.nothing\n"
    )
    words = ["--strict", "--python-executable", sys.executable, str(user)]
    found = subprocess.run([sys.executable, "-m", "mypy", *words], capture_output=True, text=True, check=False).stdout
    errors = [line.partition(" error: ")[2] for line in found.splitlines() if "user.py" in line]
    assert errors == [
        '"bool" has no attribute "nothing"  [attr-defined]',
        'Module has no attribute "nothing"  [attr-defined]',
    ]


def test_every_public_function_has_an_example_that_runs():
    """Doctests run with the other tests."""
    functions = {name: inspect.unwrap(getattr(overt, name)) for name in overt.__all__}
    without = [name for name, one in functions.items() if inspect.isfunction(one) and ">>>" not in (one.__doc__ or "")]
    assert without == []
