# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_run.py
"""Cautions of reading: what was done to the data before any method saw it, and what that may tell."""

MISSING_LEFT_OUT = (
    "Rows without a sensitive value were left out. Somebody who knows who is in your data can see who is not in the release, and so knows that their value is "
    'missing. If this matters, treat missing as a value: missing = "own value".'
)
