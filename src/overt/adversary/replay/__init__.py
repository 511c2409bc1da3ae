# SPDX-License-Identifier: Apache-2.0
"""Replay: what is believed by someone who runs the method on every table that could be, exactly or by sampling."""
