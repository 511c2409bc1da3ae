# SPDX-License-Identifier: Apache-2.0
"""Trace: what a method tried on the way to a release, and how each trial ended.

A method that cuts groups in two hands it over as plain arrays, so that an adversary can see which verdicts a release
rests on without knowing the method's code.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overt.table import Codes


@dataclass(frozen=True, eq=False)
class Trace:
    """The cuts that were tried. Cut c would have made the parts 2c and 2c + 1.

    Part p is `rows[starts[p]:starts[p + 1]]`. A cut is made if both parts satisfy the goal, and not otherwise; nothing
    else that the method did depends on sensitive values.
    """

    rows: Codes
    starts: NDArray[np.int64]  # (part + 1)
    column_of_cut: Codes  # the quasi-identifier that was cut
    is_made: NDArray[np.bool_]  # (cut)

    @classmethod
    def empty(cls) -> "Trace":
        """Nothing was tried."""
        return cls(np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.bool_))

    @property
    def n_cuts(self) -> int:
        return int(self.is_made.size)
