# SPDX-License-Identifier: Apache-2.0
"""Several releases of the same people: what somebody learns who has all of them."""
