# SPDX-License-Identifier: Apache-2.0
"""Compiled loops: arrays in, arrays out. They import nothing of ours but each other."""
