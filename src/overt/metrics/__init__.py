# SPDX-License-Identifier: Apache-2.0
"""What a release costs: how far it is from the table, and what can still be counted in it."""
