# SPDX-License-Identifier: Apache-2.0
"""Algorithm: a value whose fields are its goal and parameters, and whose one verb is `anonymize`."""

from typing import Protocol

from numpy.random import Generator

from overt.privacy.base import Property
from overt.progress import Progress, silent
from overt.release import Release
from overt.table import Table


class Algorithm(Protocol):
    """Everything public about how a release is made. Its coins (`rng`) are the owner's secret."""

    @property
    def goal(self) -> Property:
        """What every release of this algorithm satisfies."""

    def anonymize(self, table: Table, *, rng: Generator, on_progress: Progress = silent) -> Release:
        """Make a release of a table, or raise `Unreachable`."""
