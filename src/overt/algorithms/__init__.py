# SPDX-License-Identifier: Apache-2.0
"""How to get there, one published algorithm per module."""
