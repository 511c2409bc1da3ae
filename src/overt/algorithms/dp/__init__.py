# SPDX-License-Identifier: Apache-2.0
"""Differential privacy for microdata: the published mechanism, which does not have it, and the repaired one, which does."""
