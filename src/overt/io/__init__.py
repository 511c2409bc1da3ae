# SPDX-License-Identifier: Apache-2.0
"""The doors: frames and files in, releases out. Inside are codes; texts and types exist only here."""
