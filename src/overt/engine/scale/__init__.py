# SPDX-License-Identifier: Apache-2.0
"""Where a table that is larger than memory, or may not leave a cluster, becomes a release. See docs/guides/scale.md.

`seam` has the four operations that an engine offers; `local` and `spark` offer them. Everything else is written once, in terms of
these four: `staging` (dictionaries, codes and coins), `cut_tree` (Mondrian from counts), `rank_intervals` (who of a value goes where),
`groups_by_cuts`, `boxes_and_buckets` and `groups_by_draw` (the methods), `fragment_lines` (what is published),
`parts_check` (the check) and `scaled_run`.
"""
