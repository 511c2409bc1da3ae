# SPDX-License-Identifier: Apache-2.0
"""Fuzzers: every reader is fed with what nobody would write, and must read it or refuse it in words of ours."""
