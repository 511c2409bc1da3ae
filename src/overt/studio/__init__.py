# SPDX-License-Identifier: Apache-2.0
"""The studio: a page on this machine that shows the risk and helps to choose a release.

It has no logic of its own about privacy: every click writes the recipe, and the recipe is run by the same functions as on the
command line. `workspace` keeps the files, `guard` keeps strangers out, `session` is one table and its recipe, `jobs` is what
runs in the background, `routes` has one module per screen, `templates` and `static` are what the browser gets.
"""
