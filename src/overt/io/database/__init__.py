# SPDX-License-Identifier: Apache-2.0
"""Databases in and out, over ADBC: a table or a query of PostgreSQL or SQLite is read, a release is written to tables."""
