# SPDX-License-Identifier: Apache-2.0
"""Strategies: which of the functions tried is released, one published strategy per module."""
