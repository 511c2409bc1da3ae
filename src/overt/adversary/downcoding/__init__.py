# SPDX-License-Identifier: Apache-2.0
"""Downcoding: what a release gives away about quasi-identifiers to someone who knows nobody's."""
