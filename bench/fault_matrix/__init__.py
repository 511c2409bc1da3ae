# SPDX-License-Identifier: Apache-2.0
"""The fault matrix: commands that are killed, starved, raced and fed with damaged files, and what must hold afterwards."""
