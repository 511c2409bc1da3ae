# SPDX-License-Identifier: Apache-2.0
"""Engines: ways to compute what an adversary infers from a sequence, exactly or between bounds."""
