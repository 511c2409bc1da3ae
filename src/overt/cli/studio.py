# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_main.py
"""`overt studio`: a page on this machine, in the browser, that shows the risk and helps to choose a release."""

import os
import threading

from cyclopts.types import NonNegativeInt

from overt.cli.console import Exit, Switch, say
from overt.errors import MissingExtra


def studio(*, port: NonNegativeInt = 0, no_browser: Switch = False) -> int:
    """Open the studio in a browser. Nothing leaves this machine; Ctrl-C ends it and removes its working copies.

    Parameters
    ----------
    port
        The port to listen on. Only this machine can reach it. 0 takes any free port.
    no_browser
        Do not open a browser; the address to open is printed.

    """
    try:
        from overt.studio.server import serve
    except ImportError:
        raise MissingExtra("The studio needs more packages; install them with `pip install 'overt[studio]'`.") from None
    say(
        "The studio is at the address below. Do not share it: anybody who has it can see your data. Ctrl-C stops the studio."
    )
    serve(port=port, open_browser=not no_browser, say=say)
    if any(not one.daemon for one in threading.enumerate() if one is not threading.main_thread()):
        os._exit(
            Exit.DONE
        )  # everything is removed; work that has not noticed yet that it was cancelled is not waited for
    return Exit.DONE
