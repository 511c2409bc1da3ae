# SPDX-License-Identifier: Apache-2.0
"""Compiled loops: arrays in, arrays out. They import nothing of ours but each other."""

# A kernel without a test of its name is tested through its caller:
# anatomy: tested through tests/algorithms/test_anatomy.py
# ancestors: tested through tests/hierarchy/test_tree.py
# assignments: tested through tests/adversary/learner/test_restricted.py
# batches: tested through tests/algorithms/test_batches.py
# boxed_rows: tested through tests/adversary/downcoding/test_half_test.py
# boxes: tested through tests/algorithms/test_mondrian.py
# bundle_planning: tested through tests/algorithms/test_bundles.py
# cell_counts: tested through tests/adversary/replay/test_mode_mixture.py
# closeness: tested through tests/privacy/test_t_closeness.py
# component_listing: tested through tests/adversary/replay/test_engines.py
# compositions: tested through tests/algorithms/blind_buckets/test_plan.py
# count_listing: tested through tests/adversary/replay/test_mode_mixture.py
# counting: tested through tests/test_partition.py
# crossed_chain: tested through tests/adversary/learner/test_restricted.py
# crossed_division: tested through tests/algorithms/cross_bucket/test_symmetric.py
# crossed_groups: tested through tests/test_partition.py
# cut_routes: tested through tests/engine/scale/test_methods_at_scale.py
# diversity: tested through tests/privacy/test_l_diversity.py
# expected_counts: tested through tests/metrics/test_utility.py
# family_merging: tested through tests/algorithms/streamliner/test_methods.py
# frontier_sweep: tested through tests/algorithms/sequence/test_engines.py
# gda_nearest: tested through tests/algorithms/streamliner/test_methods.py
# group_shuffles: tested through tests/algorithms/sequence/engines/test_sampling.py
# logistic: tested through tests/metrics/test_utility.py
# log_linear: tested through tests/adversary/learner/test_log_linear.py
# lone_boxes: tested through tests/adversary/downcoding/test_tiers.py
# matching: tested through tests/checks/test_matching.py
# matching_chain: tested through tests/adversary/learner/test_replayed_matching.py
# mondrian: tested through tests/algorithms/test_mondrian.py
# nearness: tested through tests/algorithms/cross_bucket/test_nearness.py
# particles: tested through tests/adversary/replay/test_particles.py
# planning: tested through tests/algorithms/test_batches.py
# planning_heap: tested through tests/algorithms/test_batches.py
# query_workload: tested through tests/metrics/test_query_workload.py
# shown_cells: tested through tests/metrics/test_breach.py
# stand_ins: tested through tests/algorithms/streamliner/test_methods.py
# swapping: tested through tests/adversary/replay/test_particles.py
# table_halving: tested through tests/algorithms/cross_bucket/test_printed.py
# tilted_counts: tested through tests/adversary/replay/test_mode_mixture.py
# union_find: tested through tests/algorithms/streamliner/test_methods.py
# uniques: tested through tests/metrics/test_uniques.py
# viewed_rules: tested through tests/kernels/test_places_missing.py
# witness: tested through tests/checks/test_witness.py
