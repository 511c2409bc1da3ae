# SPDX-License-Identifier: Apache-2.0
"""The command line: settings in, one library call, result out.

Commands are registered by name and imported when they are called, and they import what is heavy when they
run: `overt --help` must answer at once.
"""

import gc
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from types import FrameType

from cyclopts import App, CycloptsError

from overt.cli.console import Exit, complain, say_json, show_places

DEBUG = "Every command takes --debug: show where in the code an error came from."
COLLECT_SELDOM = (
    50_000,
    20,
    20,
)  # imports make objects that stay: to look for garbage among them took a tenth of a short run
app = App(
    name="overt",
    help="Publish microdata and protect the people in it, even from readers who know how the release was made.",
    help_epilogue=DEBUG,
    help_format="plaintext",
    version=lambda: metadata.version("overt"),
    suppress_keyboard_interrupt=False,
)
COMMANDS = {  # name -> (what it does, examples)
    "run": (
        "Make the release that a recipe describes, check it, and write it.",
        ("overt run recipe.toml", "overt run recipe.toml --report --overwrite"),
    ),
    "check": (
        "Check from its files or tables whether a release keeps its promises.",
        ("overt check patients.csv release.csv", "overt check patients.csv release.csv --recipe recipe.toml"),
    ),
    "init": (
        "Inspect a file or a database table, and write a first recipe for it.",
        ("overt init patients.csv", "overt init CLINIC_DB --table visits --into visits.toml"),
    ),
    "risk": (
        "Show who can be re-identified in a file or a table before anything is done to it.",
        ("overt risk patients.csv", "overt risk patients.csv --known Age Sex Postcode --sensitive Diagnosis"),
    ),
    "compare": (
        "Compare several recipes side by side.",
        ("overt compare finer.toml coarser.toml --page compared.html",),
    ),
    "audit": (
        "Measure what an attacker who knows the method can learn from a release.",
        ("overt audit recipe.toml --seconds 60", "overt audit recipe.toml --sweep 2 3 5 --methods mondrian dealing"),
    ),
    "distinguish": (
        "Test a claim of differential privacy by many runs with and without one row.",
        ("overt distinguish dp.toml --runs 20000",),
    ),
    "budget": (
        "Show what differentially private releases have cost, and set a limit.",
        ("overt budget patients.csv", "overt budget patients.csv --epsilon 3 --delta 1e-5"),
    ),
    "explain": (
        "Explain a property, a method or a term: what it is, what it does not promise, and a tiny example.",
        ("overt explain l-diversity", "overt explain blind-buckets"),
    ),
    "demo": ("Make and check a release of invented people.", ("overt demo --into tour",)),
    "disclose": (
        "Show what someone who knows the method can infer in a small case.",
        ("overt disclose case.json",),
    ),
    "studio": (
        "Open a page on this machine to see the risk and choose a release.",
        ("overt studio", "overt studio --no-browser"),
    ),
    "schema": ("Print the JSON Schema of a recipe, for editors.", ("overt schema > recipe.schema.json",)),
}
for _name, (_help, _examples) in COMMANDS.items():
    app.command(
        f"overt.cli.{_name}:{_name}",
        name=_name,
        help=_help,
        help_epilogue="\n".join(["Examples:", *(f"  {example}" for example in _examples), "", DEBUG]),
    )
app.register_install_completion_command(help="Let the shell complete commands and options of overt.")


def main(tokens: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; errors become one sentence on standard error."""
    tokens = list(sys.argv[1:] if tokens is None else tokens)
    gc.set_threshold(*COLLECT_SELDOM)
    debug = "--debug" in tokens
    tokens = [token for token in tokens if token != "--debug"]
    try:
        if not tokens:
            from overt.cli.next_step import next_step

            return next_step()
        with _termination_as_interrupt():
            code = app(tokens, result_action="return_value", exit_on_error=False, print_error=False)
        return int(code or Exit.DONE)
    except CycloptsError as error:
        sys.stderr.write(f"{error} See: overt --help\n")
        if "--json" in tokens:
            say_json({"error": str(error), "exit_code": Exit.USAGE})
        return Exit.USAGE
    except SystemExit:
        raise
    except BaseException as error:  # a panic of a compiled library is no Exception
        if debug:
            show_places(error)
        return complain(error, as_json="--json" in tokens)


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Stop on a polite kill as on Ctrl-C, so that what is half-written is taken away."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
