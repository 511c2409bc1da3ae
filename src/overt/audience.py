# SPDX-License-Identifier: Apache-2.0
# Tested through tests/contracts/test_canary.py
"""Audience: who a file is for, by its name.

A public file is a function of the release and of what is public. Any other is for the owner, and only they can read it.
"""

from enum import StrEnum
from pathlib import Path


class Audience(StrEnum):
    """Who may see something."""

    PUBLIC = "public"
    OWNER = "owner"


NOTICE = "For the owner of the data only: do not pass this on. It reveals more about people than the release does."
PRINTED = "For the owner of the data only: do not publish what is printed here."
OWNERS_MODE = 0o600
OWNER_ENDINGS = (".owner.json", ".owner-report.html", ".owner-report.json", ".budget.json")


def audience_of(path: Path) -> Audience:
    """Who a file that Overt writes is for.

    >>> str(audience_of(Path("release.csv.manifest.json"))), str(audience_of(Path("release.csv.owner.json")))
    ('public', 'owner')
    """
    return Audience.OWNER if path.name.endswith(OWNER_ENDINGS) else Audience.PUBLIC


def mode_of(path: Path) -> int:
    """The rights that a new file gets, less what the user's umask takes away."""
    return OWNERS_MODE if audience_of(path) is Audience.OWNER else 0o666
