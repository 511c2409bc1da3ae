# SPDX-License-Identifier: Apache-2.0
"""Differential privacy, judged from outside: how far outputs tell two neighbouring tables apart."""
