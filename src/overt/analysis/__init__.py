# SPDX-License-Identifier: Apache-2.0
"""What analysts do with a release, from its public files alone: read it, and estimate counts, means and cross tables."""
