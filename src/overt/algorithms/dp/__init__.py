# SPDX-License-Identifier: Apache-2.0
"""Differential privacy for microdata: the published mechanism, which is not private, and the repaired one, which is."""
