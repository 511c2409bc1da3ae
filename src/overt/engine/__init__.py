# SPDX-License-Identifier: Apache-2.0
"""Where a recipe runs, the same function names in each module. So far: on this machine (`local`)."""
