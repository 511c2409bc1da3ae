# SPDX-License-Identifier: Apache-2.0
"""A learner: someone who knows how sensitive values depend on quasi-identifiers, and how much better they guess from a release."""
