# SPDX-License-Identifier: Apache-2.0
# Tested through tests/report/test_report.py
"""A report as a JSON document."""

import json
from typing import Any, Protocol


class HasPlainValues(Protocol):
    """A report: the public one or the owner's."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""


def json_of(report: HasPlainValues) -> str:
    """The report as it is written to a file."""
    return json.dumps(report.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
