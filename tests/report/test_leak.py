# SPDX-License-Identifier: Apache-2.0
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from overt.adversary.audit import audit_release
from overt.adversary.knowledge import Knowledge
from overt.adversary.l_sweep import Breach, LSweep, sweep_l
from overt.adversary.posterior import Posterior
from overt.adversary.summary import Audit, Worst
from overt.algorithms import RDA, Dealing, Mondrian
from overt.engine.audit import lines_of_leak
from overt.guarantee import STRONG, WEAK
from overt.privacy import DistinctLDiversity, FrequencyLDiversity
from overt.report import leak as told
from overt.report.html import page_of
from overt.report.json import json_of
from overt.report.leak import Leak
from overt.report.leak_section import page_of_leak
from overt.report.owner_report import make_report
from overt.report.svg import draw
from overt.report.text import text_of
from tables import table_of

FIVE = table_of([[0, 0, 1, 1, 1]], [0, 0, 1, 2, 3])


def posterior(beliefs):
    """Rows of whose first value so much is believed, and the rest of their second."""
    chance = np.column_stack([beliefs, 1 - np.array(beliefs)])
    return Posterior(np.arange(len(beliefs), dtype=np.int32), chance, np.zeros_like(chance), "enumeration", 7)


def audit_of(alone, replayed, bound=Fraction(1, 2)):
    worst = Worst(0, len(alone), 1, max(replayed), 0.0, 0.5, "it was seen")
    return Audit("made up", "s0", len(alone), 1, Knowledge(), bound, posterior(alone), posterior(replayed), worst)


def test_a_plot_of_beliefs_shows_means_over_enough_people():
    rng = np.random.default_rng(1)
    replayed = rng.uniform(0.5, 1, 95)
    spec = told.plot_beliefs(audit_of([0.5] * 95, replayed), least_rows=10).spec
    rows = spec["data"]["values"]
    with_method = [row["y"] for row in rows if row["series"] == "with the method"]
    assert len(with_method) == 9 and with_method == sorted(with_method)
    assert with_method[-1] == pytest.approx(np.sort(replayed)[-10:].mean())  # 95 people: five pieces of 11, four of 10
    assert with_method[0] == pytest.approx(np.sort(replayed)[:11].mean())
    assert {row["y"] for row in rows if row["series"] == "with the release alone"} == {0.5}
    (bound,) = spec["layer"][1]["data"]["values"]
    assert bound == {"name": "promised: 1/2", "y": 0.5}
    drawn = draw(spec)
    assert drawn.count("<polyline") == 2 and "promised: 1/2" in drawn


def test_of_people_who_are_not_known_a_plot_and_a_table_show_what_the_release_alone_says():
    """Runs that disagree found 0.9 for half of the people; one person is known by the release alone, whatever the method is."""
    found = audit_of([1.0] + [0.5] * 39, [1.0] + [0.5] * 19 + [0.9] * 20)
    is_known = np.repeat([False, True, False], [1, 19, 20])
    found = replace(
        found,
        replayed=replace(
            found.replayed, is_known=is_known, error=np.where(is_known, 0.01, 0.5)[:, None].repeat(2, axis=1)
        ),
    )
    spec = told.plot_beliefs(found, least_rows=10).spec
    assert {round(row["y"], 9) for row in spec["data"]["values"]} == {0.5, 0.55}
    assert "for 21 people the latter is not known yet" in draw(spec)
    assert ("people known for certain", "1", "at least 1") in list(told.belief_rows(found))


def test_where_it_is_certain_only_that_people_lack_a_rare_value_it_says_so():
    """Of ten people seven have the first value. Whoever is certain to have it is certain not to have the other."""
    mostly = [0.7] * 10
    [words] = told.words_of_certain(audit_of(mostly, [1.0] * 4 + [0.5] * 6))
    assert "that they do not have a rarer one" in words
    assert not told.words_of_certain(audit_of(mostly, [1.0] * 4 + [0.0] + [0.5] * 5))  # one of them has the other value
    assert not told.words_of_certain(audit_of(mostly, [0.9] * 10))  # nobody is certain
    assert not told.words_of_certain(audit_of([0.5] * 10, [1.0] * 4 + [0.5] * 6))  # neither value is rare
    found = Leak(audit_of(mostly, [1.0] * 4 + [0.5] * 6))
    assert f"  Certain   {words}" in list(lines_of_leak(found, None))


def test_few_people_are_one_mean_and_nobody_stands_alone():
    rows = told.plot_beliefs(audit_of([0.5] * 5, [0.5, 0.6, 0.7, 0.8, 0.9])).spec["data"]["values"]
    assert {(row["series"], round(row["y"], 9)) for row in rows} == {
        ("with the release alone", 0.5),
        ("with the method", 0.7),
    }


def test_the_leak_in_one_sentence():
    assert told.brief(Leak(None, "It cannot be.")) == "not audited: It cannot be"
    assert told.brief(Leak(None, proof=STRONG)).startswith("none, by proof: replaying this method adds nothing")
    assert "who does not know how values depend on quasi-identifiers" in told.brief(Leak(None, proof=WEAK))
    assert (
        told.brief(Leak(audit_of([0.5, 0.5], [0.5, 0.5])))
        == "nobody above the promised 1/2, also with the method (exact)"
    )
    leaky = told.brief(Leak(audit_of([0.5] * 4, [1, 0.5, 0.5, 0.5])))
    assert leaky == (
        "25\u00a0% of people above the promised 1/2 to someone who knows the method, 0\u00a0% to someone who does not, "
        "1 known for certain (exact)"
    )


def test_a_section_says_what_was_found_and_names_nobody():
    found = audit_release(Mondrian(goal=DistinctLDiversity(2)).anonymize(FIVE), rng=np.random.default_rng(0))
    page = page_of_leak(Leak(found), title="five.csv")
    assert "2 of 5 people of a group: 0.400 with the release alone, 1.000 with the method" in page
    assert "singling out" in page and "WP216" in page and 'class="alarm"' in page
    assert "v000" not in page and "<script src" not in page
    safe = audit_release(Dealing(goal=DistinctLDiversity(2)).anonymize(FIVE, rng=np.random.default_rng(0)), rng=np.random.default_rng(0))  # fmt: skip
    assert 'class="alarm"' not in page_of_leak(Leak(safe), title="five.csv")
    assert "Leak: not audited: no." in page_of_leak(Leak(None, "no."), title="five.csv")


def test_a_sweep_in_a_plot_and_in_rows():
    swept = sweep_l(
        FIVE,
        {
            "mondrian": lambda l: Mondrian(goal=DistinctLDiversity(l)),
            "rda": lambda l: RDA(goal=FrequencyLDiversity(l)),
            "dealing": lambda l: Dealing(goal=FrequencyLDiversity(l)),
        },
        [2, 3],
        rng=np.random.default_rng(0),
    )
    assert [(one.method, one.l, one.alone, one.above) for one in swept.points] == [
        ("mondrian", 2, 0, 0.4),
        ("mondrian", 3, 1, 1),
        ("rda", 2, 0, 0),
        ("dealing", 2, 0, 0),
    ]
    assert [(one.method, one.l) for one in swept.failures] == [("rda", 3), ("dealing", 3)]
    spec = told.plot_sweep(swept).spec
    assert spec["layer"][0]["encoding"]["color"]["scale"]["domain"] == [
        "mondrian",
        "rda, dealing",
    ]  # one line hides none
    drawn = draw(spec)
    assert drawn.count("<circle") == 3 and "rda, dealing, 2: 0.0%" in drawn
    header, first, *_ = told.sweep_rows(swept)
    assert dict(zip(header, first, strict=True))["error"] == "exact"
    assert len(list(told.sweep_failures(swept))) == 2
    document = Leak(None, sweep=swept).to_dict()
    assert document["sweep"]["points"][0]["above"] == 0.4 and set(document["plots"]) == {"breaches"}


def test_a_report_has_the_leak_in_all_its_forms():
    method = Mondrian(goal=DistinctLDiversity(2))
    release = method.anonymize(FIVE)
    found = audit_release(release, rng=np.random.default_rng(0))
    report = make_report(release, goal=method.goal, leak=Leak(found))
    page = page_of(report)
    assert "What someone who knows the method learns" in page and "In the words of regulators" in page
    assert json.loads(json_of(report))["leak"]["audit"]["certain"] == 2
    assert "singling out: 1 in 5 with the release alone, 1 in 2 with the method" in text_of(report, width=200)
    plain = make_report(release, goal=method.goal)
    assert "What someone who knows the method learns" not in page_of(plain) and plain.to_dict()["leak"] is None


def test_a_report_says_what_could_not_be_swept():
    swept = sweep_l(FIVE, {"rda": lambda l: RDA(goal=FrequencyLDiversity(l))}, [3], rng=np.random.default_rng(0))
    page = page_of_leak(Leak(None, "It was not asked.", sweep=swept), title="five.csv")
    assert "rda, l = 3: 3-diversity cannot be reached" in page and "<svg" not in page


def test_what_is_not_known_well_enough_is_not_drawn():
    point = Breach("mondrian", 3, 9, 0.0, 0.2, 0.5, 0.3, 0.4, 0.2, "chain")
    vague, sure = LSweep((point,), ()), LSweep((point, replace(point, l=2, error=0.01, said=0.2)), ())
    assert "breaches" not in Leak(None, sweep=vague).plots
    assert [row["x"] for row in told.plot_sweep(sure).spec["data"]["values"]] == [2]
    assert [row[3] for row in told.sweep_rows(sure)][1:] == ["not known yet", "at least 20\u00a0%"]
    assert "not known" in page_of_leak(Leak(None, "no.", sweep=vague), title="t")


def test_a_sweep_says_at_least_where_some_people_are_not_known_and_draws_no_point():
    point = Breach("mondrian", 3, 9, 0.0, 0.2, 0.5, 0.3, 0.4, 0.01, "sampling", said=0.2)
    sweep = LSweep((point, replace(point, l=5, unknown=0.5), replace(point, l=6, unknown=0.5, said=None)), ())
    assert [row["x"] for row in told.plot_sweep(sweep).spec["data"]["values"]] == [3]
    assert [row[3] for row in told.sweep_rows(sweep)][1:] == ["at least 20\u00a0%"] * 2 + ["not known yet"]


def test_a_share_that_was_sampled_is_never_rounded_up():
    assert told.words_of_share(0.1099, is_exact=False) == "at least 10\u00a0%"
    assert told.words_of_share(0.1099, is_exact=True) == "11\u00a0%"
    assert told.words_of_share(0.0099, is_exact=False) == "at least 0.9\u00a0%"
    assert told.words_of_share(0.29, is_exact=False) == "at least 29\u00a0%"
    assert told.words_of_share(1.0, is_exact=False) == "at least 100.0\u00a0%"
