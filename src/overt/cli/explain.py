# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_explain.py
"""`overt explain TERM`: what a property, a method or a word is, and what it does not promise."""

from overt.cli.console import Exit, Switch, tell


def explain(term: str | None = None, /, *, json: Switch = False) -> int:
    """Explain a property, a method or a term: what it is, what it does not promise, and a tiny example.

    Parameters
    ----------
    term
        Such as l-diversity, blind-buckets or replay. Without one, everything that can be explained is listed.
    json
        Print one JSON document.

    """
    import overt

    tell(overt.explain(term), json=json)
    return Exit.DONE
