# SPDX-License-Identifier: Apache-2.0
# Tested through tests/algorithms/test_bundles.py
"""Deal of bundles: who of a bundle goes to which of its places in the plan is uniform.

Strata by public columns are divided further by how many rows a person has, if that is known: a box or bucket of persons with one and with
three rows would show who is who.
"""

import numpy as np
from numpy.random import Generator

from overt.algorithms.blind_buckets.bundle_plan import BundlePlan, Held, ItemLimits, plan_bundles, why_not
from overt.algorithms.blind_buckets.deal import Values
from overt.errors import Unreachable
from overt.kernels.counting import order_by_code
from overt.partition import Groups, Partition
from overt.privacy.base import Property, SensitiveProperty
from overt.table import Codes, Table


def divide_by_count(table: Table, strata: Partition) -> Partition:
    """The same strata, none of which has persons with different numbers of rows."""
    count = count_strata(table)
    combined = strata.group_of_row.astype(np.int64) * (int(count.max(initial=0)) + 1) + count
    present, numbered = np.unique(combined, return_inverse=True)
    return Partition(numbered.astype(np.int32), present.size)


def count_strata(table: Table) -> Codes:
    """(person) -> the count stratum."""
    bundles = table.sensitive[0].bundles
    assert bundles is not None
    return bundles.stratum_of_bundle[table.sensitive[0].codes]


def require_defined(goal: Property, everyone: Groups) -> None:
    """Refuse by name a property that is defined for one value per person only."""
    for part in goal.parts:
        if isinstance(part, SensitiveProperty):
            part.measure(everyone)


def deal_bundles(
    table: Table, values: Values, strata: Partition, goal: Property, bucket_size: int, rng: Generator
) -> Partition:
    """The bucket of every person, or `Unreachable`."""
    everyone = Groups.of(table, divide_by_count(table, Partition(np.zeros(table.n_rows, np.int32), 1)))
    require_defined(goal, everyone)
    limits, held = ItemLimits.of(goal, everyone), Held.of(table, values.code_of_value)
    count_of_person = count_strata(table)
    stratum_of_stratum = count_of_person[strata.rows[strata.starts[:-1]]].tolist()
    bucket_of_person = np.full(table.n_rows, -1, np.int32)
    plans: list[BundlePlan | None] = []
    bundles = [
        values.value_of_row[strata.rows[strata.starts[s] : strata.starts[s + 1]]] for s in range(strata.n_groups)
    ]
    for s, of_persons in enumerate(bundles):
        plans.append(plan_bundles(held, np.sort(of_persons), limits, stratum_of_stratum[s], bucket_size))
    planned = [plan for plan in plans if plan is not None]
    if len(planned) < len(plans):
        raise why_not(table, goal, held, strata, values.value_of_row, stratum_of_stratum, limits, everyone)
    order = rng.permutation(table.n_rows).astype(
        np.int32
    )  # the one secret shuffle: equal bundles are told apart by it alone
    order = order_by_code(values.value_of_row, values.n_values, order)
    order = order_by_code(strata.group_of_row, strata.n_groups, order)
    n_buckets = 0
    for s, plan in enumerate(planned):
        persons = order[strata.starts[s] : strata.starts[s + 1]]
        bucket_of_person[persons] = plan.bucket_of_slot + np.int32(n_buckets)
        n_buckets += plan.n_buckets
    return Partition(bucket_of_person, n_buckets)


def require_persons(table: Table, strata: Partition, least: int) -> None:
    """Every stratum must have the persons of a box and of a bucket; else say what would do."""
    sizes, bundles = strata.sizes, table.sensitive[0].bundles
    assert bundles is not None
    if sizes.min() >= least:
        return
    n_rows = bundles.lengths[table.sensitive[0].codes[strata.rows[strata.starts[:-1]]]]
    n_small, smallest = int((sizes < least).sum()), int(sizes.min())
    if not bundles.by_length:
        raise Unreachable(
            f"{n_small} of {strata.n_groups} strata have fewer persons than the {least} of a box and a bucket, the smallest {smallest}. "
            "Use fewer strata, or smaller boxes or buckets."
        )
    keep = next((m for m in sorted(set(n_rows.tolist()), reverse=True) if sizes[n_rows >= m].sum() >= least), 0)
    most = int(n_rows.max())
    remedy = (
        f"Keep at most {'one row' if keep == 1 else f'{keep} rows'} per person (keep = {keep}): those with more are then one stratum with them. Or use"
        if 0 < keep < most
        else "Use"
    )
    raise Unreachable(
        f"{n_small} of {strata.n_groups} strata have fewer persons than the {least} of a box and a bucket, the smallest {smallest}: how many rows "
        f"somebody has counts as known, and persons with different numbers of rows are never mixed. {remedy} fewer strata, smaller boxes or "
        'buckets, or known = "static" if nobody can know how many rows somebody has.'
    )
