# SPDX-License-Identifier: Apache-2.0
"""A report as a JSON document."""

import json

from overt.report.data import Report


def json_of(report: Report) -> str:
    """The report as it is written to `report.json`."""
    return json.dumps(report.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
