# SPDX-License-Identifier: Apache-2.0
"""Reports: what was asked, what holds and against whom, what it cost and what remains, for people and for programs."""
