# SPDX-License-Identifier: Apache-2.0
"""Invented data for demos, tests, docs and benchmarks: a census of any size and a small hospital."""

from overt.samples.census import census, census_hierarchies, wide_census
from overt.samples.hospital import hospital, hospital_hierarchies

__all__ = ["census", "census_hierarchies", "hospital", "hospital_hierarchies", "wide_census"]
