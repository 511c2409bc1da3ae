# SPDX-License-Identifier: Apache-2.0
"""Releases that other tools made: their searches, replayed from their descriptions, and the same audit."""
