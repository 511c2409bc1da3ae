# SPDX-License-Identifier: Apache-2.0
"""What holds for every command: help at once, one sentence for every error, and its exit code."""

import ast
import inspect
import json
import re
import signal
import subprocess
import sys
from importlib import import_module, metadata
from itertools import pairwise
from pathlib import Path

import pytest

import overt as overt_package
from overt.audience import PRINTED
from overt.cli import app
from overt.cli.console import Exit
from overt.errors import InvalidData, InvalidInput, InvalidRecipe, MissingExtra, TooLarge, Unreachable

SRC = Path(overt_package.__file__).parent
DOCS = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"
COMMANDS = sorted(set(app) - {"--help", "-h", "--version", "--install-completion"})


def in_new_process(*words):
    return subprocess.run([sys.executable, "-m", "overt", *words], capture_output=True, text=True, check=False)


def test_help_imports_nothing_heavy():
    probe = (
        "import sys, overt, overt.cli\n"
        "assert overt.cli.main(['--help']) == 0\n"
        "for command in ('run', 'check', 'demo', 'schema'):\n"
        "    assert overt.cli.main([command, '--help']) == 0\n"
        "heavy = {'numba', 'polars', 'numpy', 'scipy', 'pandas', 'pyarrow', 'pydantic', 'rich.progress'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_version(overt):
    assert overt("--version") == (0, metadata.version("overt") + "\n", "")


def test_a_password_in_place_of_a_file_is_not_repeated(overt):
    code, out, err = overt("budget", "postgresql://me:s3cr3t@db.example.org/clinic")
    assert code == Exit.DATA and "address with a password" in err and "s3cr3t" not in out + err


def test_a_panic_of_a_compiled_library_is_one_sentence_too(overt, monkeypatch):
    class Panic(BaseException):
        """As what Polars raises."""

    def panic(*_, **__):
        raise Panic("values of people")

    monkeypatch.setattr("overt.engine.budget.read_ledger", panic)
    code, out, err = overt("budget", "people.csv")
    assert (code, out) == (Exit.UNEXPECTED, "") and "because of a bug (Panic)" in err and "people" not in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["rum"], 'Unknown command "rum".'),
        (["run"], 'Command "run" parameter RECIPE requires an argument.'),
        (["run", "recipe.toml", "--jsn"], "Unknown option: --jsn. Did you mean --json?"),
        (["run", "recipe.toml", "--seed", "x"], 'Invalid value for --seed: unable to convert "x" into int.'),
        (["run", "recipe.toml", "--seed", "-1"], 'Invalid value "-1" for --seed.'),
        (["check", "data.csv"], 'Command "check" parameter RELEASE requires an argument.'),
        (["demo", "--rows", "0"], 'Invalid value "0" for --rows.'),
    ],
)
def test_usage_errors(overt, words, sentence):
    code, out, err = overt(*words)
    assert (code, out) == (2, "")
    assert err.startswith(sentence)
    assert err.endswith("See: overt --help\n")


ERRORS = [
    (InvalidRecipe("The recipe is odd."), 2, "The recipe is odd.\n"),
    (InvalidInput("The data is odd."), 3, "The data is odd.\n"),
    (MissingExtra("Install overt[arrow]."), 3, "Install overt[arrow].\n"),
    (InvalidData("It is missing in 3 of 9 rows."), 3, "It is missing in 3 of 9 rows.\n"),
    (Unreachable("Not with this data."), 4, "Not with this data.\n"),
    (TooLarge("2**90 worlds."), 5, "2**90 worlds.\n"),
    (MemoryError(), 5, "This machine does not have enough memory for this; use fewer rows or columns.\n"),
    (
        PermissionError(13, "Permission denied", "release.csv"),
        3,
        "release.csv cannot be opened or written: you do not have permission. Ask for it, or name another file or folder.\n",
    ),
    (
        OSError(28, "No space left on device", "release.csv"),
        3,
        "There is no space left on the disk for release.csv; nothing was written. Free some space, or name another folder.\n",
    ),
    (
        OSError(30, "Read-only file system", "out/release.csv"),
        3,
        "out/release.csv cannot be written: its disk is read-only. Name another folder; nothing was written.\n",
    ),
    (
        OSError(30, "Read-only file system", "out/.overt-01234567.unfinished"),
        3,
        "The folder out cannot be written: its disk is read-only. Name another folder; nothing was written.\n",
    ),
    (
        PermissionError(13, "Permission denied", ".people.csv.budget.json.lock"),
        3,
        "This folder cannot be opened or written: you do not have permission. Ask for it, or name another file or folder.\n",
    ),
    (OSError(5, "Input/output error", "x.csv"), 3, "x.csv: Input/output error.\n"),
    (KeyboardInterrupt(), 130, "Interrupted. What was being written is whole in its place, or not there at all.\n"),
    (
        RuntimeError("Alice has the flu"),
        70,
        "Overt stopped because of a bug (RuntimeError); no release was written. "
        "Run the command again with --debug to see where, and please report it.\n",
    ),
]


@pytest.fixture
def failing(folder, monkeypatch):
    """Let `overt run recipe.toml` fail with an error."""

    def fail_with(error):
        def run(*_, **__):
            raise error

        monkeypatch.setattr("overt.engine.run.run", run)

    return fail_with


@pytest.mark.parametrize(("error", "code", "sentence"), ERRORS, ids=lambda value: type(value).__name__)
def test_an_error_is_one_sentence_and_its_exit_code(overt, failing, error, code, sentence):
    """What says figures of the data says first that it is for the owner."""
    failing(error)
    is_counted = isinstance(error, InvalidData) or code in (Exit.UNREACHABLE, Exit.TOO_LARGE, Exit.NOTHING_RELEASED)
    notice = f"{PRINTED}\n" if is_counted else ""
    assert overt("run", "recipe.toml") == (code, "", notice + sentence)


@pytest.mark.parametrize(("error", "code", "sentence"), ERRORS, ids=lambda value: type(value).__name__)
def test_debug_shows_where_an_error_came_from_and_ends_as_without(overt, failing, error, code, sentence):
    failing(error)
    ended, out, err = overt("run", "recipe.toml", "--debug")
    assert (ended, out) == (code, "") and err.endswith(f"\n{sentence}")
    assert "in fail_with" not in err and ", in run\n" in err and "Alice" not in err


def test_debug_repeats_no_words_of_an_error_that_was_caught_on_the_way(overt, failing):
    """They may be somebody's value; a bug report is sent to others."""

    class Odd(ValueError):
        def __str__(self):
            return "Alice has the flu"

    try:
        try:
            int("Alice")
        except ValueError as inner:
            inner.add_note("Alice")
            raise Odd("Alice") from inner
    except Odd as odd:
        failing(odd)
    code, out, err = overt("run", "recipe.toml", "--debug", "--json")
    assert code == json.loads(out)["exit_code"] == Exit.UNEXPECTED
    assert "ValueError" in err and "Odd" in err and err.count("test_main.py") > 2
    assert not [line for line in err.splitlines() if "Alice" in line and not line.startswith("    ")]


def test_sentences_that_count_in_the_data_are_of_the_kind_that_is_for_the_owner():
    """A number of what was read is no number of what was asked for: it is raised as InvalidData."""
    wrong = []
    for path in [path for room in ("io", "engine") for path in (SRC / room).rglob("*.py")]:
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "InvalidInput":
                shown = [part for part in ast.walk(call) if isinstance(part, ast.FormattedValue)]
                if any(re.search(r"\bn_|sum\(|:,", ast.unparse(ast.JoinedStr([part]))) for part in shown):
                    wrong.append(f"{path.name}:{call.lineno}")
    assert not wrong


def test_an_error_with_json_is_a_document(folder, overt):
    code, out, err = overt("run", "nowhere.toml", "--json")
    assert code == 2
    assert json.loads(out) == {"audience": "owner", "error": err.rstrip("\n"), "exit_code": 2}
    code, out, _ = overt("run", "--json")
    assert (code, json.loads(out)["exit_code"]) == (2, 2)


def test_every_command_and_option_is_documented_in_the_section_of_the_command():
    """The synopsis above them names options of all commands."""
    text = DOCS.read_text()
    for name in COMMANDS:
        section = text[text.index(f"## `overt {name}`") :].partition("\n## ")[0]
        for option in inspect.signature(getattr(import_module(f"overt.cli.{name}"), name)).parameters.values():
            written = (
                f"--{option.name.replace('_', '-')}" if option.kind is option.KEYWORD_ONLY else option.name.upper()
            )
            assert re.search(rf"(?<![\w-]){written}(?![\w-])", section), f"{written} of overt {name}"


def test_every_exit_code_is_documented():
    listed = re.findall(r"^\| (\d+) \|", DOCS.read_text(), re.MULTILINE)
    assert [int(code) for code in listed] == list(Exit)


SIGNALLED = """
import os, sys, time
from overt.cli import main
from overt.engine import run

def check_release(*_, **__):
    os.kill(os.getpid(), int(sys.argv[1]))
    time.sleep(30)

run.check_release = check_release
sys.exit(main(["run", "recipe.toml"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_with_nothing_left_behind(folder, number):
    before = sorted(folder.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", SIGNALLED, str(int(number))], capture_output=True, text=True, check=False
    )
    assert done.returncode == 130
    assert done.stderr.endswith(
        "Checking\nInterrupted. What was being written is whole in its place, or not there at all.\n"
    )
    assert sorted(folder.iterdir()) == before


def test_the_installed_command_ends_with_its_code_and_prints_only_json(folder):
    done = in_new_process("run", "recipe.toml", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["ok"]
    assert in_new_process("run", "recipe.toml", "--quiet").returncode == 3  # it is there already
    assert in_new_process("run").returncode == 2
    release = folder / "release.csv"
    release.write_text(release.read_text().replace("Influenza", "Asthma", 1))
    assert in_new_process("check", "hospital.csv", "release.csv", "--quiet").returncode == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_what_help_says_of_a_word_is_not_broken_into_lines(name):
    """Help wraps a text itself, and keeps the ends of lines that stand in it."""
    words = inspect.getdoc(getattr(import_module(f"overt.cli.{name}"), name)).partition("Parameters\n")[2].splitlines()
    assert not [line for line, following in pairwise(words) if line.startswith("  ") and following.startswith("  ")]


def test_a_run_of_one_method_imports_that_one_and_nothing_that_it_does_not_need(tmp_path):
    overt_package.samples.hospital().write_csv(tmp_path / "hospital.csv")
    overt_package.init(tmp_path / "hospital.csv", into=tmp_path / "recipe.toml")
    probe = (
        "import sys\nfrom overt.cli import main\n"
        f"assert main(['run', {str(tmp_path / 'recipe.toml')!r}, '--no-audit', '--quiet']) == 0\n"
        "found = {name for name in sys.modules if name.startswith(('overt.algorithms.', 'overt.adversary', 'overt.engine.scale'))}\n"
        "print(*sorted({'.'.join(name.split('.')[:3]) for name in found}))\n"
        "print(*({'narwhals', 'scipy', 'pandas', 'pyarrow', 'fastexcel', 'adbc_driver_manager', 'pyspark'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    ours, others = done.stdout.splitlines()
    assert ours.split() == [
        *("overt.algorithms.batches", "overt.algorithms.blind_buckets", "overt.algorithms.counted_strata"),
        "overt.algorithms.repeated_cuts",  # which make the boxes
    ]
    assert not others
