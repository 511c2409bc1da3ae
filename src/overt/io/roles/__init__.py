# SPDX-License-Identifier: Apache-2.0
"""Roles: what a column seems to be, by the words of its header and the shape of its cells, with the reason."""
