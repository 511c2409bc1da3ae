# SPDX-License-Identifier: Apache-2.0
"""Full-domain releases as people see them: labels of one level, suppressed rows left out; and the check agrees."""

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.full_domain.worlds import GOALS, shares, worlds
from overt.algorithms.full_domain import FullDomain
from overt.checks import Claim, check_release
from overt.errors import InvalidInput, Unreachable
from overt.hierarchy import Dates, Flat, Intervals, Nested
from overt.io.frames import read_frame
from overt.io.publication import owner_view, published_tables
from overt.privacy import KAnonymity, TCloseness

PEOPLE = pl.DataFrame(
    {
        "age": [21, 24, 27, 33, 34, None, 36, 52],
        "job": ["nurse", "nurse", "*", "nurse", "cook", "cook", "cook", "judge, retired"],
        "ill": ["flu", "cold", "flu", "cold", "flu", "cold", "flu", "cold"],
    }
)
ANYTHING = KAnonymity(1)
AGE = Intervals(widths=(5, 10))
JOB = Nested({"works": ["nurse", "cook"], "other": ["*", "judge, retired"]})


def people(**hierarchies):
    return read_frame(PEOPLE, quasi_identifiers=["age", "job"], sensitive=["ill"], hierarchies=hierarchies)


def claim_of(release, goal):
    shown = {column.name: "label" for column in release.table.quasi_identifiers}
    return Claim(goal=goal, n_rows=release.partition.n_kept, show=shown)


def release_at(table, node, goal=ANYTHING):
    """The release of one node, whatever it costs."""
    from overt.algorithms.full_domain.checking import Checker
    from overt.algorithms.full_domain.costs import cost_of
    from overt.algorithms.full_domain.method import keep_good_groups
    from overt.algorithms.full_domain.rolling import RolledRows
    from overt.lattice import Search
    from overt.release import FullDomainRelease

    rows = RolledRows(table)
    check = Checker(rows, goal, table.n_rows, cost_of("loss", rows, goal.least_rows)).check(node)
    search = Search(rows.lattice, "loss", node, 0.0, 0.0, 1, 0, None)
    method = FullDomain(goal=goal, max_suppressed=1)
    return FullDomainRelease(table, keep_good_groups(rows, check), made_by=method, node=node, search=search)


def test_every_cell_is_the_label_of_its_level():
    table = people(age=AGE, job=JOB)
    shown = published_tables(release_at(table, (1, 1)))["release"]
    assert shown.get_column("age").cast(str).to_list() == [
        "20..24",
        "20..24",
        "25..29",
        "30..34",
        "30..34",
        "35..39",
        "50..54",
        None,
    ]
    shown = published_tables(release_at(table, (2, 0)))["release"].get_column("job").cast(str)
    assert set(shown) == {"nurse", "cook", '"*"', '"judge, retired"'}  # a value's own text, unmistakably


def test_a_label_of_a_level_is_shown_even_where_one_value_is_below_it():
    alone = published_tables(release_at(people(age=AGE, job=JOB), (2, 1)))["release"]
    assert "50..59" in alone.get_column("age").cast(str).to_list()  # not 52, which is all that the group has


def test_without_a_hierarchy_a_column_is_exact_or_a_star():
    table = people()
    assert published_tables(release_at(table, (1, 1)))["release"].get_column("age").cast(str).unique().to_list() == [
        "*"
    ]
    exact = published_tables(release_at(table, (0, 1)))["release"].get_column("age").cast(str).to_list()
    assert exact == ["21", "24", "27", "33", "34", "36", "52", None]


def test_another_form_can_be_asked_for_by_column():
    release = release_at(people(age=AGE, job=JOB), (2, 2))
    shown = published_tables(release, show={"age": "range", "job": "level"})["release"]
    assert set(shown.get_column("age").cast(str)) == {"21..27", "33..36", "52", None}
    assert set(shown.get_column("job").cast(str)) == {"*"}
    with pytest.raises(InvalidInput, match=r"^Column 'age' is to be shown as 'picture'; choose one of"):
        published_tables(release, show={"age": "picture"})


def test_suppressed_rows_are_not_published_and_the_owner_sees_stars():
    release = release_at(people(age=AGE, job=JOB), (2, 2), KAnonymity(2))
    shown = published_tables(release)["release"]
    assert (release.n_suppressed, release.n_groups, shown.height) == (2, 2, 6)
    assert shown.get_column("age").cast(str).to_list() == ["20..29"] * 3 + ["30..39"] * 3
    view = owner_view(release)
    assert view.get_column("group").to_list() == [1, 1, 1, 2, 2, None, 2, None]
    assert view.filter(pl.col("group").is_null()).get_column("age").to_list() == ["*", "*"]
    assert view.get_column("ill").to_list() == PEOPLE.get_column("ill").to_list()


def test_dates_and_flat_columns():
    frame = pl.DataFrame(
        {"born": pl.Series(["1990-01-03", "1990-05-01", "1991-02-02"]).str.to_date(), "sex": ["f", "m", "f"]}
    )
    table = read_frame(
        frame, quasi_identifiers=["born", "sex"], hierarchies={"born": Dates(units=("month", "year")), "sex": Flat()}
    )
    shown = published_tables(release_at(table, (2, 1)))["release"]
    assert shown.rows() == [("1990", "*"), ("1990", "*"), ("1991", "*")]


@settings(max_examples=60, deadline=None)
@given(world=worlds(), share=shares, name=st.sampled_from(sorted(GOALS)), data=st.data())
def test_the_check_accepts_every_release(world, share, name, data):
    goal = data.draw(GOALS[name])
    try:
        release = FullDomain(goal=goal, max_suppressed=share).anonymize(world.table)
    except Unreachable:
        return
    tables = published_tables(release)
    verdict = check_release(world.table, tables, claim_of(release, goal))
    assert verdict.ok, verdict.failures
    assert check_release(world.table, tables, claim_of(release, goal), witness=release.partition).ok


def test_the_check_compares_with_the_whole_original():
    # Without its suppressed rows the table would be half and half, and the groups would mirror it exactly.
    frame = pl.DataFrame({"q": [0] * 4 + [1] * 4 + [2] * 2, "s": ["a", "b"] * 4 + ["b", "b"]})
    table = read_frame(frame, quasi_identifiers=["q"], sensitive=["s"])
    release = FullDomain(goal=TCloseness("1/10"), max_suppressed="2/10").anonymize(table)
    assert release.n_suppressed == 2
    tables = published_tables(release)
    assert check_release(table, tables, claim_of(release, TCloseness("1/10"))).ok
    verdict = check_release(table, tables, claim_of(release, TCloseness(Fraction(9, 100))))
    assert [finding.name for finding in verdict.failures] == ["goal"]


@pytest.mark.parametrize("lost", [1, 2])
def test_the_check_misses_no_row_that_was_not_claimed_suppressed(lost):
    release = release_at(people(age=AGE, job=JOB), (2, 2), KAnonymity(2))
    shown = published_tables(release)["release"]
    verdict = check_release(
        release.table, {"release": shown.head(shown.height - lost)}, claim_of(release, KAnonymity(1))
    )
    assert "rows" in [finding.name for finding in verdict.failures]
