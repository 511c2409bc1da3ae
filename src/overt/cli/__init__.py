# SPDX-License-Identifier: Apache-2.0
"""The command line: settings in, one library call, result out.

Commands are registered by name and imported when they are called, and they import what is heavy when they
run: `overt --help` must answer at once.
"""

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from types import FrameType

from cyclopts import App, CycloptsError

from overt.cli.console import Exit, complain, say_json

app = App(
    name="overt",
    help="Releases of microdata that give nobody away, even to someone who has the source code.",
    help_epilogue="Every command takes --debug: show where an unexpected error came from.",
    help_format="plaintext",
    version=lambda: metadata.version("overt"),
    suppress_keyboard_interrupt=False,
)
app.command("overt.cli.run:run", name="run", help="Make a release as a recipe says, check it and write it.")
app.command(
    "overt.cli.check:check", name="check", help="Decide from files and tables whether a release holds its claims."
)
app.command(
    "overt.cli.init:init", name="init", help="Look at a file or a table of a database, and write a first recipe for it."
)
app.command(
    "overt.cli.risk:risk", name="risk", help="Say who can be found in a file or a table before anything is done to it."
)
app.command("overt.cli.compare:compare", name="compare", help="Put what several recipes give side by side.")
app.command("overt.cli.audit:audit", name="audit", help="Say what someone who has the method learns from a release.")
app.command(
    "overt.cli.distinguish:distinguish",
    name="distinguish",
    help="Say whether a claim of differential privacy survives many runs with and without one row.",
)
app.command("overt.cli.budget:budget", name="budget", help="Say what private releases have cost, and set a limit.")
app.command("overt.cli.demo:demo", name="demo", help="Make and check a release of made-up people, and look at it.")
app.command("overt.cli.disclose:disclose", name="disclose", help="Say what someone who knows the method infers.")
app.command("overt.cli.schema:schema", name="schema", help="Print the JSON Schema of a recipe, for editors.")


def main(tokens: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; errors become one sentence on standard error."""
    tokens = list(sys.argv[1:] if tokens is None else tokens)
    debug = "--debug" in tokens
    tokens = [token for token in tokens if token != "--debug"]
    try:
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
            raise
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
