# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_manifest.py
"""Closed models: parts of the JSON documents that Overt writes and reads again. A key that is not known is refused, and nothing in one changes."""

from pydantic import BaseModel, ConfigDict


class ClosedModel(BaseModel):
    """A part of a document."""

    model_config = ConfigDict(extra="forbid", frozen=True)
