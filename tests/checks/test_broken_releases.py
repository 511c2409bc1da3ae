# SPDX-License-Identifier: Apache-2.0
"""Releases that are broken on purpose: every one is caught, and by the finding that names the fault."""

import pytest

from checks.tiny import GROUPS, PEOPLE, frame, hospital, publish, publish_buckets
from overt.checks import Claim, check_release
from overt.partition import Partition
from overt.privacy import AllOf, DistinctLDiversity, KAnonymity

GOAL = AllOf((KAnonymity(3), DistinctLDiversity(2)))
WITNESS = Partition.from_groups(GROUPS)
BUCKETS = [[0, 1, 3], [2, 5, 7], [6, 8, 9], [4, 11, 10]]


def lines_of(groups=GROUPS, others=("ward",)):
    return publish(hospital(), groups, others=others)


def where(lines, **shown):
    """The first line that shows this."""
    return next(line for line in lines if all(line[name] == text for name, text in shown.items()))


def drop_row(lines):
    del lines[4]


def repeat_row(lines):
    lines.insert(4, dict(lines[4]))


def replace_row(lines):
    lines[4] = dict(lines[5])


def swap_diseases_across_groups(lines):
    one, other = where(lines, age="23..29", disease="cold"), where(lines, age="31..38", disease="gout")
    one["disease"], other["disease"] = "gout", "cold"
    one["ward"], other["ward"] = "c", "b"
    lines.sort(key=lambda line: (line["age"], line["disease"]))


def swap_wards_across_groups(lines):
    one, other = where(lines, age="23..29", ward="b"), where(lines, age="31..38", ward="c")
    one["ward"], other["ward"] = "c", "b"


def shrink_box(lines):
    for line in lines:
        line["age"] = line["age"].replace("23..29", "25..29")


def take_box_of_another_group(lines):
    for line in lines:
        if line["age"] == "31..38":
            line["age"] = "41..47"


def leave_group_with_two(lines):
    where(lines, age="23..29", disease="cold")["district"] = "Upper"


def make_group_uniform(lines):
    where(lines, age="23..29", disease="cold")["disease"] = "flu"


def show_identifier(lines):
    for line, person in zip(lines, PEOPLE, strict=True):
        line["name"] = person[0]


def show_unasked(lines):
    for line in lines:
        line["hobby"] = "chess"


def repeat_header(lines):
    for line in lines:
        line["disease_duplicated_0"] = line["disease"]


def lose_column(lines):
    for line in lines:
        del line["district"]


def keep_original_order(lines):
    lines[:] = [lines[i] for i in (0, 2, 1, 5, 4, 3, 6, 8, 7, 11, 10, 9)]


def swap_two_lines(lines):
    lines[2], lines[3] = lines[3], lines[2]


def write_range_otherwise(lines):
    for line in lines:
        line["age"] = line["age"].replace("23..29", "23-29")


def reverse_range(lines):
    for line in lines:
        line["age"] = line["age"].replace("23..29", "29..23")


def use_bound_of_nobody(lines):
    for line in lines:
        line["age"] = line["age"].replace("23..29", "22..29")


def use_label_of_no_node(lines):
    for line in lines:
        line["district"] = line["district"].replace("North", "Northern")


def empty_a_cell(lines):
    where(lines, age="23..29")["sex"] = None


def reorder_set(lines):
    for line in lines:
        line["sex"] = line["sex"].replace("{f, m}", "{m, f}")


def add_unknown_to_set(lines):
    for line in lines:
        line["sex"] = line["sex"].replace("{f, m}", "{f, m, z}")


def use_set_of_one(lines):
    for line in lines:
        line["sex"] = "{f}" if line["sex"] == "f" else line["sex"]


def show_range_for_label(lines):
    for line in lines:
        line["district"] = line["district"].replace("North", "N1..N3")


def forget_missing(lines):
    for line in lines:
        line["age"] = line["age"].removesuffix(" or missing")


def turn_missing_into_value(lines):
    for line in lines:
        line["age"] = line["age"].replace("52..58 or missing", "47..58")


def invent_disease(lines):
    where(lines, age="23..29", disease="cold")["disease"] = "colt"


def empty_disease(lines):
    where(lines, age="23..29", disease="cold")["disease"] = None


def invent_ward(lines):
    where(lines, age="23..29", ward="b")["ward"] = "z"


BROKEN = [
    (drop_row, "rows"),
    (drop_row, "truth"),
    (repeat_row, "rows"),
    (repeat_row, "truth"),
    (replace_row, "truth"),
    (swap_diseases_across_groups, "truth"),
    (swap_wards_across_groups, "truth"),
    (shrink_box, "truth"),
    (take_box_of_another_group, "truth"),
    (leave_group_with_two, "goal"),
    (make_group_uniform, "goal"),
    (make_group_uniform, "truth"),
    (show_identifier, "columns"),
    (show_unasked, "columns"),
    (repeat_header, "columns"),
    (lose_column, "columns"),
    (keep_original_order, "order"),
    (swap_two_lines, "order"),
    (write_range_otherwise, "cells"),
    (reverse_range, "cells"),
    (use_bound_of_nobody, "cells"),
    (use_label_of_no_node, "cells"),
    (empty_a_cell, "cells"),
    (reorder_set, "cells"),
    (add_unknown_to_set, "cells"),
    (use_set_of_one, "cells"),
    (show_range_for_label, "cells"),
    (forget_missing, "truth"),
    (turn_missing_into_value, "truth"),
    (invent_disease, "cells"),
    (empty_disease, "cells"),
    (invent_ward, "cells"),
    (invent_ward, "truth"),
]


def check(lines, witness=None, n_rows=12):
    names = list(dict.fromkeys(name for line in lines for name in line))
    claim = Claim(goal=GOAL, n_rows=n_rows, others=("ward",))
    return check_release(hospital(), {"release": frame(lines, names)}, claim, witness=witness)


@pytest.mark.parametrize("witness", [None, WITNESS], ids=["files", "witness"])
def test_correct_release_passes(witness):
    verdict = check(lines_of(), witness)
    assert verdict.ok and not verdict.failures, verdict.failures
    assert [finding.name for finding in verdict.findings] == ["columns", "rows", "cells", "order", "goal", "truth"]


@pytest.mark.parametrize("witness", [None, WITNESS], ids=["files", "witness"])
@pytest.mark.parametrize(("damage", "name"), BROKEN, ids=[f"{damage.__name__}-{name}" for damage, name in BROKEN])
def test_broken_release_is_caught(damage, name, witness):
    lines = lines_of()
    damage(lines)
    assert lines != lines_of()
    verdict = check(lines, witness)
    assert not verdict.ok
    assert not verdict.finding(name).ok
    refuse_values(verdict)


def test_added_row_is_caught_even_if_it_is_claimed():
    lines = lines_of()
    repeat_row(lines)
    assert not check(lines, n_rows=13).finding("rows").ok


def test_left_out_row_is_told_if_it_is_claimed():
    lines = lines_of()
    del lines[0:3]
    verdict = check(lines, n_rows=9)
    assert verdict.ok
    assert "3 suppressed" in verdict.finding("rows").sentence


def test_truth_says_how_many():
    lines = lines_of()
    shrink_box(lines)
    sentence = check(lines).finding("truth").sentence
    assert sentence.startswith("1 line of the release can be no row of the original, and 1 row of the original")


def test_goal_says_what_is_measured():
    lines = lines_of()
    leave_group_with_two(lines)
    assert "broken by 2 of 5 groups (measured: k = 1, l = 1)" in check(lines).finding("goal").sentence


def bucket_tables():
    return publish_buckets(hospital(), BUCKETS, others=("ward",))


def check_two(people, values, witness=None):
    claim = Claim(goal=GOAL, n_rows=len(PEOPLE), others=("ward",))
    tables = {"quasi-identifiers": frame(people), "sensitive": frame(values)}
    return check_release(hospital(), tables, claim, witness=witness)


def change_bucket_number(people, values):
    people[0]["bucket"] = "2"


def move_value_to_next_bucket(people, values):
    values[2]["bucket"] = "2"


def number_from_zero(people, values):
    for line in people + values:
        line["bucket"] = str(int(line["bucket"]) + 1)


def name_bucket(people, values):
    people[0]["bucket"] = "one"


def swap_values_across_buckets(people, values):
    one = next(line for line in values if (line["bucket"], line["disease"]) == ("1", "gout"))
    other = next(line for line in values if (line["bucket"], line["disease"]) == ("4", "flu"))
    one["disease"], other["disease"] = "flu", "gout"
    values.sort(key=lambda line: (line["bucket"], line["disease"]))


def swap_people_across_buckets(people, values):
    people[0]["bucket"], people[4]["bucket"] = "2", "1"  # flu for cold


def change_age(people, values):
    people[0]["age"] = "25"


def invent_age(people, values):
    people[0]["age"] = "24"


def fill_missing_age(people, values):
    next(line for line in people if line["age"] is None)["age"] = "58"


def generalize_a_cell(people, values):
    people[0]["district"] = "North"


def make_bucket_uniform(people, values):
    for line in values[:3]:
        line["disease"] = "flu"


def show_disease_beside_people(people, values):
    for line, value in zip(people, values, strict=True):
        line["disease"] = value["disease"]


def show_names(people, values):
    for line, person in zip(people, PEOPLE, strict=True):
        line["name"] = person[0]


def lose_bucket(people, values):
    for line in values:
        del line["bucket"]


def lose_value(people, values):
    del values[0]


def keep_order_of_people(people, values):
    people[0], people[1] = people[1], people[0]


def keep_order_of_values(people, values):
    values[0], values[1] = values[1], values[0]


def renumber_buckets(people, values):
    for lines in (people, values):
        for line in lines:
            line["bucket"] = {"1": "2", "2": "1"}.get(line["bucket"], line["bucket"])
        lines.sort(key=lambda line: line["bucket"])


BROKEN_BUCKETS = [
    (change_bucket_number, "buckets"),
    (move_value_to_next_bucket, "buckets"),
    (number_from_zero, "buckets"),
    (name_bucket, "cells"),
    (swap_values_across_buckets, "truth"),
    (swap_people_across_buckets, "truth"),
    (change_age, "truth"),
    (invent_age, "cells"),
    (invent_age, "truth"),
    (fill_missing_age, "truth"),
    (generalize_a_cell, "cells"),
    (make_bucket_uniform, "goal"),
    (show_disease_beside_people, "columns"),
    (show_names, "columns"),
    (lose_bucket, "columns"),
    (lose_value, "rows"),
    (lose_value, "buckets"),
    (keep_order_of_people, "order"),
    (keep_order_of_values, "order"),
    (renumber_buckets, "order"),
]


@pytest.mark.parametrize("witness", [None, Partition.from_groups(BUCKETS)], ids=["files", "witness"])
def test_correct_buckets_pass(witness):
    verdict = check_two(*bucket_tables(), witness)
    assert verdict.ok, verdict.failures


@pytest.mark.parametrize("witness", [None, Partition.from_groups(BUCKETS)], ids=["files", "witness"])
@pytest.mark.parametrize(
    ("damage", "name"), BROKEN_BUCKETS, ids=[f"{damage.__name__}-{name}" for damage, name in BROKEN_BUCKETS]
)
def test_broken_buckets_are_caught(damage, name, witness):
    people, values = bucket_tables()
    damage(people, values)
    assert (people, values) != bucket_tables()
    verdict = check_two(people, values, witness)
    assert not verdict.finding(name).ok
    refuse_values(verdict)


def refuse_values(verdict):
    """No finding speaks of anybody: neither names nor diseases nor wards."""
    said = " ".join(finding.sentence for finding in verdict.findings)
    for word in ("Ann", "Bob", "Lee", "flu", "cold", "gout", "colt", "chess", "N1", "23", "24", "58"):
        assert word not in said
