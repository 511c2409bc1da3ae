# SPDX-License-Identifier: Apache-2.0
"""Settings for all tests: kernels compile on their first call, so a property test has no deadline."""

from collections import Counter

from hypothesis import settings

import evidence
from browsers import browser, driver
from servers import postgresql
from sparks import spark

__all__ = ["browser", "driver", "postgresql", "spark"]

settings.register_profile("overt", deadline=None, max_examples=60)
settings.load_profile("overt")


def pytest_runtest_setup(item):
    for mark in item.iter_markers("evidence"):
        evidence.require(*mark.args)


def pytest_terminal_summary(terminalreporter):
    kinds = ("passed", "failed", "error", "skipped", "xfailed")
    words = evidence.summary([report for kind in kinds for report in terminalreporter.stats.get(kind, ())])
    if words:
        terminalreporter.write_line(words)
    canaries = Counter()
    for report in (one for kind in kinds for one in terminalreporter.stats.get(kind, ())):
        for name, counted in getattr(report, "user_properties", ()):
            if name == "counted":  # how much was tried, where that is the point of a test
                terminalreporter.write_line(counted)
            elif name == "canaries":
                canaries.update(dict(zip(("commands", "texts"), counted, strict=True)))
    if canaries:
        terminalreporter.write_line(
            f"canaries: {canaries['commands']} commands, and {canaries['texts']} texts and files of theirs searched for names and sensitive values"
        )
