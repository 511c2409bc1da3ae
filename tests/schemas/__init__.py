# SPDX-License-Identifier: Apache-2.0
"""Schemas of public files, with the role that an expert would give every column. All data is invented."""
