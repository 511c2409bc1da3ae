# SPDX-License-Identifier: Apache-2.0
"""Invented data for demos, tests, docs and benchmarks: a census of any size, a small hospital, and the messy export of a large one."""

from overt.samples.census import census, census_hierarchies, wide_census
from overt.samples.discharges import discharges
from overt.samples.hospital import hospital, hospital_hierarchies

__all__ = ["census", "census_hierarchies", "discharges", "hospital", "hospital_hierarchies", "wide_census"]
