# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: `python -m bench` runs them all and prints ratios."""
