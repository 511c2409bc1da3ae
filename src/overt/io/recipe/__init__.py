# SPDX-License-Identifier: Apache-2.0
"""Recipes in: the TOML file that holds every decision about a release, its shape, and what can be wrong with it."""
