# SPDX-License-Identifier: Apache-2.0
"""Settings for all tests: kernels compile on their first call, so a property test has no deadline."""

from hypothesis import settings

from servers import postgresql

__all__ = ["postgresql"]

settings.register_profile("overt", deadline=None, max_examples=60)
settings.load_profile("overt")
