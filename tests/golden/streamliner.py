# SPDX-License-Identifier: Apache-2.0
"""Golden family: the privacy streamliner's model, its algorithms on small tables, and query workload error."""

from fractions import Fraction

import numpy as np
import polars as pl

from overt.algorithms.streamliner import (
    after_release,
    are_candidates,
    disclosure_set,
    has_l_cover,
    is_eligible,
    is_globally_safe,
    is_locally_safe,
    is_self_contained,
    is_strongly_globally_safe,
    locally_safe_set,
    minimal_self_contained,
    partition_of,
    worst_share,
)
from overt.algorithms.streamliner.gda import group_by_distance
from overt.algorithms.streamliner.ranks import weighted_rank
from overt.algorithms.streamliner.rda import plan_groups
from overt.errors import OvertError, Stuck
from overt.metrics.discernibility import discernibility, optimal_discernibility
from overt.metrics.query_workload import (
    CountQuery,
    Workload,
    actual_counts,
    relative_error,
    uniform_in_box_exactly,
)
from overt.partition import Partition
from overt.release import GeneralizedRelease
from overt.table import Column, Kind, Role, Table


def recognises(document):
    return isinstance(document, dict) and any(name in document for name in SECTIONS)


def answer(document):
    return {name: answer_section(name, content) for name, content in document.items()}


def answer_section(name, content):
    if name not in SECTIONS:
        return content
    if isinstance(content, list):
        return [answer_case(SECTIONS[name], case) for case in content]
    return answer_case(SECTIONS[name], content)


def answer_case(solve, case):
    """The case with its answers; a case that is not understood stays as it is."""
    try:
        return {**case, **solve(case)}
    except (OvertError, LookupError, TypeError, AttributeError):
        return case


def text(fraction):
    return f"{fraction.numerator}/{fraction.denominator}"


def groups_of(partition):
    """Lists of rows, ascending, by their first row."""
    groups = [np.flatnonzero(partition.group_of_row == g).tolist() for g in range(partition.n_groups)]
    return sorted(groups)


def coded(values):
    names = sorted(set(values))
    return np.array([names.index(value) for value in values], np.int32), names


def optimal_dm(case):
    n, eligible = sum(case["counts"]), is_eligible(case["counts"], case["l"])
    return {"n": n, "eligible": eligible, "optimal_dm": optimal_discernibility(n, case["l"]) if eligible else None}


def rda(case):
    sets, left_over = plan_groups(np.array(case["counts"]), case["l"])
    return {"groups_by_colour_index": sets.tolist(), "leftover": left_over.tolist(), "n_groups": len(sets)}


def gda(case):
    values, names = coded(case["values"])
    try:
        partition = group_by_distance(values, len(names), np.array(case["weighted_rank"]), case["l"])
    except Stuck as stuck:
        return {"stuck": f"no compatible group for id {stuck.row}"}
    return {"partition": groups_of(partition), "dm": discernibility(partition)}


def lss(case):
    return {"n_lss": len(locally_safe_set(case["values"], Fraction(1, case["l"])))}


def merge(case):
    chosen = {int(row): others for row, others in case["cans"].items()}
    return {"partition": sorted(sorted(group) for group in minimal_self_contained(chosen))}


def candidates(case):
    return {"candidates": are_candidates(case["a"], case["b"], case["values"])}


def l_cover(case):
    values, l = case["values"], case["l"]
    partitions = [partition_of(groups) for groups in case["partitions"]]
    threshold = Fraction(1, l)
    return {
        "in_lss": all(is_locally_safe(partition, values, threshold) for partition in partitions),
        "l_cover": has_l_cover(partitions, values, l),
        "sgss": is_strongly_globally_safe(partitions, values, threshold),
    }


def qwe(case):
    table = table_of(case["rows"], case["sensitive"], case.get("weights"))
    partition = Partition.from_groups(case["partition"])
    release = GeneralizedRelease(table, partition, None)
    answers = {
        "boxes": release.boxes.transpose(1, 0, 2).tolist(),
        "dm": discernibility(partition),
        "queries": [answer_query(release, query) for query in case["queries"]],
    }
    if "weights" in case:
        weights = {column.name: weight for column, weight in zip(table.quasi_identifiers, case["weights"], strict=True)}
        answers["weighted_rank"] = weighted_rank(table.quasi_identifiers, weights).tolist()
    return answers


def answer_query(release, query):
    names = release.table.sensitive[0].values.to_list()
    wanted = query.get("sensitive")
    asked = CountQuery(
        ranges={attribute: tuple(bounds) for attribute, bounds in query["ranges"].items()},
        sensitive=None if wanted is None else frozenset(names.index(value) for value in wanted if value in names),
    )
    actual = int(actual_counts(release.table, Workload.of(release.table, [asked]))[0])
    estimate = uniform_in_box_exactly(release, asked)
    error = relative_error(actual, estimate, release.table.n_rows)
    return {**query, "actual": actual, "estimate": text(estimate), "error": text(error)}


def table_of(rows, sensitive, weights):
    codes = np.array(rows, np.int32).reshape(len(rows), -1)
    columns = [
        Column(str(a), Role.QUASI_IDENTIFIER, Kind.NUMBER, codes[:, a].copy(), pl.Series(range(codes[:, a].max() + 1)))
        for a in range(codes.shape[1])
    ]
    values, names = coded(sensitive)
    columns.append(Column("sensitive", Role.SENSITIVE, Kind.CATEGORY, values, pl.Series(names)))
    return Table(tuple(columns), pl.DataFrame())


def motivating(case):
    """Ids have names, and tables and partitions are given by name."""
    ids, values, threshold = case["ids"], tuple(case["values"]), Fraction(case["threshold"])
    partitions = named_partitions(case["partitions"], ids)
    tables = {tuple(table): name for name, table in case["tables"].items()}

    def names(found):
        return sorted(tables[table] for table in found)

    def answer_subset(subset):
        chosen = {name: partitions[name] for name in subset["partitions"]}
        left = disclosure_set(chosen.values(), values, threshold)
        after = {name: after_release(left, partition, values) for name, partition in chosen.items()}
        return {
            **subset,
            "disclosure_set": names(left),
            "worst_share": text(worst_share(left)),
            "gss": is_globally_safe(chosen.values(), values, threshold),
            "sgss": is_strongly_globally_safe(chosen.values(), values, threshold),
            "after_release": {
                name: {"tables": names(found), "worst_share": text(worst_share(found))} for name, found in after.items()
            },
        }

    safe = locally_safe_set(values, threshold)
    return {
        "lss": [name for name, partition in partitions.items() if partition in safe],
        "subsets": [answer_subset(subset) for subset in case["subsets"]],
    }


def example_table3(case):
    ids, values, l = case["ids"], tuple(case["values"]), case["l"]
    threshold, partitions = Fraction(1, l), named_partitions(case["partitions"], ids)
    safe = [name for name, partition in partitions.items() if is_locally_safe(partition, values, threshold)]

    def answer_set(chosen):
        members = [partitions[name] for name in chosen["partitions"]]
        return {
            **chosen,
            "gss": is_globally_safe(members, values, threshold),
            "sgss": is_strongly_globally_safe(members, values, threshold),
            "l_cover": has_l_cover(members, values, l),
        }

    def answer_bijection(given):
        chosen = {ids.index(int(row)): [ids.index(other) for other in others] for row, others in given["f"].items()}
        minimal = minimal_self_contained(chosen)
        return {
            **given,
            "minimal": next(name for name, partition in partitions.items() if partition == minimal),
            "self_contained": [name for name in safe if is_self_contained(partitions[name], chosen)],
        }

    return {
        "lss": safe,
        "sets": [answer_set(chosen) for chosen in case["sets"]],
        "bijections": [answer_bijection(given) for given in case["bijections"]],
    }


def named_partitions(partitions, ids):
    return {
        name: partition_of([ids.index(member) for member in group] for group in groups)
        for name, groups in partitions.items()
    }


SECTIONS = {
    "motivating": motivating,
    "example_table3": example_table3,
    "optimal_dm": optimal_dm,
    "rda": rda,
    "gda": gda,
    "lss": lss,
    "merge": merge,
    "candidates": candidates,
    "l_cover": l_cover,
    "qwe": qwe,
}
