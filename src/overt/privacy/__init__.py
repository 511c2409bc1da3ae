# SPDX-License-Identifier: Apache-2.0
"""What "safe" means, one property per module."""
