# SPDX-License-Identifier: Apache-2.0
"""The section about levels tried in order: its numbers are those of the sets, listed; and it says what was decided."""

import json
import re
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import overt
from overt.algorithms.sequence.in_order import InOrder
from overt.errors import NothingReleased, TooLarge
from overt.privacy import FrequencyLDiversity
from overt.report.html import page_of
from overt.report.json import json_of
from overt.report.owner_report import make_report
from overt.report.svg import draw
from overt.report.text import text_of

# two towns, each of two streets with 2 and 6 people; the first two share a disease, everyone else has one of his own
STREETS = ["a"] * 2 + ["b"] * 6 + ["c"] * 2 + ["d"] * 6
TOWNS = overt.Levels([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")])
TWINS = ["flu", "flu", *(f"v{i}" for i in range(14))]


def table_of(diseases):
    streets = STREETS if len(diseases) == 16 else ["a"] * 2 + ["b"] * 3 + ["c"] * 2
    frame = pl.DataFrame({"street": streets, "disease": diseases})
    return overt.read_frame(frame, quasi_identifiers=["street"], sensitive=["disease"], hierarchies={"street": TOWNS})


def release_of(strategy, diseases=TWINS):
    method = InOrder(goal=FrequencyLDiversity(2), strategy=strategy, k=1, functions="hierarchy levels")
    return method.anonymize(table_of(diseases), rng=np.random.default_rng(0))


def report_of(release):
    return make_report(release, goal=release.made_by.goal)


def shares_over(tables):
    """(row) -> the highest share of a value, over listed tables."""
    columns = list(zip(*tables, strict=True))
    return [Fraction(max(map(column.count, column)), len(column)) for column in columns]


@pytest.mark.parametrize("strategy", ["naive", "exclusive", "safe", "k-jump"])
def test_numbers_are_those_of_the_listed_tables(strategy):
    release = release_of(strategy, list("dbebcaa"))
    section = report_of(release).levels_tried
    visits = release.levels.outcome.visits
    assert [level.step for level in section.levels] == [visit.step for visit in visits]
    for level, visit in zip(section.levels, visits, strict=True):
        alone, knowing = shares_over(visit.permutation.tables()), shares_over(visit.disclosure.tables())
        assert level.highest == pytest.approx(float(max(alone)))
        assert level.best_guess == pytest.approx(float(sum(alone) / len(alone)))
        assert level.highest_knowing == pytest.approx([float(max(knowing))] * 2)
        assert level.best_guess_knowing == pytest.approx([float(sum(knowing) / len(knowing))] * 2)
        assert (level.accuracy, level.confidence) == ("exact", None)
        assert level.smallest == visit.permutation.function.partition.sizes.min()


def test_the_naive_strategy_is_shown_to_tell_more_than_it_seems():
    report = report_of(release_of("naive"))
    section = report.levels_tried
    last = section.levels[-1]
    assert last.highest <= section.bound == 0.5 < last.highest_knowing[0]
    assert not section.is_safe and not report.resists_replay
    assert "it does not follow that the goal holds for what remains likely" in " ".join(text_of(report).split())


def test_the_distance_from_the_naive_release_is_measured():
    release = release_of("safe")
    section = report_of(release).levels_tried
    assert section.distance == release.levels.distance() > 0
    naive = release_of("naive")
    assert section.naive.level == naive.levels.released.name
    assert section.naive.n_groups == naive.n_groups > section.released.n_groups == release.n_groups
    assert section.naive.discernibility == int((naive.partition.sizes**2).sum()) < section.released.discernibility
    assert section.naive.non_uniform_entropy == report_of(naive).utility.non_uniform_entropy
    assert f"{section.distance} level" in text_of(report_of(release))


def test_every_form_of_the_report_has_the_section():
    report = report_of(release_of("safe"))
    page, document = page_of(report), json.loads(json_of(report))
    assert (
        report.resists_replay
        and "Levels tried in order" in page
        and "LEVELS TRIED IN ORDER" in " ".join(text_of(report).split())
    )
    written = document["levels_tried"]
    assert [level["name"] for level in written["levels"]] == [level.name for level in report.levels_tried.levels]
    assert all(level["decision"] in page for level in written["levels"])
    assert written["plot"]["layer"][-1]["data"]["values"] == [{"bound": 0.5}]


def test_the_plot_has_both_numbers_of_every_level_and_the_bound():
    section = report_of(release_of("safe")).levels_tried
    drawn = str(draw(section.plot.spec))
    titles = re.findall(r"<title>(.*?)</title>", drawn)
    for level in section.levels:
        assert f"{level.name}, by the release alone: {level.highest:.2%}" in titles
        assert f"{level.name}, knowing the method: {level.highest_knowing[0]:.2%}" in titles
    assert drawn.count('class="bound"') == 1 and "bound 50%" in drawn


def test_a_goal_that_bounds_no_ratio_has_no_rule_in_its_plot():
    method = InOrder(goal=overt.DistinctLDiversity(2), strategy="safe", functions="hierarchy levels")
    section = report_of(method.anonymize(table_of(TWINS), rng=np.random.default_rng(0))).levels_tried
    assert section.bound is None and 'class="bound"' not in str(draw(section.plot.spec))


def test_other_methods_have_no_such_section():
    from overt import KAnonymity, Mondrian

    table = table_of(TWINS)
    report = make_report(Mondrian(goal=KAnonymity(2)).anonymize(table), goal=KAnonymity(2))
    assert report.levels_tried is None and "Levels tried" not in page_of(report)
    assert json.loads(json_of(report))["levels_tried"] is None


def test_a_level_that_was_passed_by_may_be_out_of_reach(monkeypatch):
    release = release_of("exclusive", list("dbebcaa"))
    visits = release.levels.outcome.visits
    for visit in visits:
        if 1 in visit.looked_at:
            visit.disclosure.knowledge  # noqa: B018 remembered from here on

    def refuse(values, step):
        raise TooLarge("too many tables")

    monkeypatch.setattr(visits[0].disclosure.inference, "disclosure", refuse)
    report = report_of(release)
    out = [level.step for level in report.levels_tried.levels if level.highest_knowing is None]
    assert out == [visit.step for visit in visits if 1 not in visit.looked_at] == [1, 2]
    assert "out of reach, and not needed" in page_of(report)


def test_the_terminal_says_the_short_form():
    remarks = release_of("safe").remarks
    assert remarks["Levels"] == "3 tried of 3; released: levels 2, 1 group, the smallest of 16 rows"
    assert remarks["Inferred"] == "highest ratio 0.1250 by the release alone, 0.5000 knowing the method (exact)"
    assert remarks["Naive"] == "would have released levels 1 (2 groups), 1 level finer; that is not safe"
    assert "Inferred" not in release_of("naive").remarks  # it has not looked
    same = release_of("exclusive", list("adabbce")).remarks
    assert same["Naive"] == "would have released the same level"


def test_nothing_released_names_what_the_naive_strategy_would_have_released():
    with pytest.raises(NothingReleased, match="naive strategy would have released 'levels 1', which is not safe"):
        release_of("exclusive")
