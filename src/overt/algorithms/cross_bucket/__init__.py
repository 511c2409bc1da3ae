# SPDX-License-Identifier: Apache-2.0
"""Cross-bucket generalization: who you are and what you have, hidden separately.

`CrossBucket` is the method. `division` has Algorithms 4 and 5, `printed` the paper's own plan and choice of rows,
`nearness` what (k, l)-anonymity does not say about numbers.
"""

from overt.algorithms.cross_bucket.method import CrossBucket

__all__ = ["CrossBucket"]
