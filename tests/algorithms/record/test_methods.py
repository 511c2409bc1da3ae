# SPDX-License-Identifier: Apache-2.0
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import overt
from overt.algorithms.record import CustomUtility, External, Objective, RecordLagrangian, RecordThreshold, chain_above
from overt.algorithms.record.methods import People
from overt.checks import Claim, check_release
from overt.errors import InvalidInput, TooLarge, Unreachable
from overt.hierarchy import Intervals, Nested
from overt.io.publication import owner_view, published_tables
from overt.privacy import KAnonymity

CITIES = Nested({"North": {"Lake": ["A", "B"]}, "South": ["C", "D", "E"]})
HIERARCHIES = {"age": Intervals(widths=(5, 20)), "city": CITIES}
PEOPLE = pl.DataFrame(
    {
        "age": [21, 22, 27, 33, 34, 61, 62, 62],
        "city": ["A", "B", "A", "C", "D", "E", "E", "A"],
        "care": [1.0, 2.0, 0.5, 0.0, 1.0, 4.0, 1.0, 3.0],
        "ill": list("xyzxyzxy"),
    }
)


def read(frame=PEOPLE, **keywords):
    return overt.read_frame(
        frame, quasi_identifiers=["age", "city"], sensitive=["ill"], hierarchies=HIERARCHIES, **keywords
    )


def attempt(method, table):
    """A release, or None where a row cannot reach the utility."""
    try:
        return method.anonymize(table)
    except Unreachable:
        return None


def objective_of(table, method, row):
    people = People.of(table, method)
    external = (people.codes if people.external is None else people.external).T
    own = None if people.personal is None else people.personal[row]
    return Objective.of(people.trees, people.codes[:, row], external, people.utility, people.risk, own)


@st.composite
def frames(draw):
    n = draw(st.integers(1, 12))
    rows = st.tuples(
        st.integers(20, 45), st.sampled_from("ABCDE"), st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.sampled_from("xyz")
    )
    return pl.DataFrame(
        draw(st.lists(rows, min_size=n, max_size=n)), schema=["age", "city", "care", "ill"], orient="row"
    )


@settings(max_examples=30)
@given(frame=frames(), others=frames(), data=st.data())
def test_all_records_at_once_are_chosen_as_each_by_itself(frame, others, data):
    table, external = read(frame), None
    if data.draw(st.booleans()):
        table, external = overt.read_external(table, others, hierarchies=HIERARCHIES)
    weights = data.draw(st.sampled_from([None, (2, 1), ("care", 1), ("care", "care")]))
    shared = {
        "external": external,
        "weights": weights,
        "utility": data.draw(st.sampled_from(["depth", "inverse-leaves", "log-leaves"])),
        "risk": data.draw(st.sampled_from(["I", "harmonic"])),
        "base": data.draw(st.sampled_from([0.5, 1])),
    }
    threshold = {"c": data.draw(st.sampled_from([0, 0.3, 1, 1.5])), **shared}
    balance = {"lam": data.draw(st.sampled_from([0, 0.2, 2])), "kappa": data.draw(st.integers(0, 2)), **shared}
    for kind, parameters in ((RecordThreshold, threshold), (RecordLagrangian, balance)):
        together, apart = (attempt(kind(solver=solver, **parameters), table) for solver in ("cube", "prefix sums"))
        assert (together is None) == (apart is None)
        if together is None:
            continue
        assert (together.solver, apart.solver) == ("cube", "prefix sums")
        assert np.array_equal(together.risk_of_row, apart.risk_of_row)
        assert np.array_equal(together.utility_of_row, apart.utility_of_row)
        assert np.array_equal(together.support_of_row, apart.support_of_row)
        of_row = [release.shown[:, release.partition.group_of_row] for release in (together, apart)]
        assert np.array_equal(*of_row)


@settings(max_examples=20)
@given(frame=frames(), c=st.sampled_from([0.5, 1, 1.9]))
def test_what_is_published_covers_its_rows_and_passes_the_check(frame, c):
    table = read(frame)
    release = attempt(RecordThreshold(c=c), table)
    assume(release is not None)
    for codes, shown in zip((q.codes for q in table.quasi_identifiers), release.shown, strict=True):
        of_row = shown[release.partition.group_of_row]
        assert ((of_row[:, 0] <= codes) & (codes <= of_row[:, 1])).all()
    assert (release.utility_of_row >= c - 1e-12).all()
    tables = published_tables(release)
    claim = Claim(goal=KAnonymity(1), n_rows=table.n_rows, others=(), show={})
    verdict = check_release(table, tables, claim, witness=release.witness)
    assert verdict.ok, verdict.findings
    assert np.array_equal(release.boxes, release.shown)


def test_the_owners_witness_spares_the_matching(monkeypatch):
    table = read()
    release = RecordThreshold(c=2, utility="depth").anonymize(table)
    claim = Claim(goal=KAnonymity(1), n_rows=table.n_rows, others=(), show={"age": "label"})
    tables = published_tables(release, show=claim.show)
    assert check_release(table, tables, claim).ok
    monkeypatch.setitem(check_release.__globals__["check_generalized"].__globals__, "match_rows", None)
    assert check_release(table, tables, claim, witness=release.witness).ok
    with pytest.raises(TypeError):  # what the witness cannot show is still looked for
        check_release(table, tables, claim, witness=release.partition)


def test_rows_show_the_labels_of_what_was_chosen():
    table = read()
    method = RecordThreshold(c=3, utility="depth")
    release = method.anonymize(table)
    shown = owner_view(release, show={"age": "label"})
    for row in range(table.n_rows):
        objective = objective_of(table, method, row)
        whole = overt.plane_of_record(objective)
        at = (whole.risk == release.risk_of_row[row]) & (whole.utility == release.utility_of_row[row])
        labels = set()
        for levels in whole.levels[at]:
            columns = table.quasi_identifiers
            labels.add(
                tuple(
                    c.hierarchy.labels[chain_above(c.hierarchy, int(c.codes[row]))[level]]
                    for c, level in zip(columns, levels, strict=True)
                )
            )
        assert shown.select("age", "city").row(row) in labels


def test_personal_weights_protect_who_asks_for_it():
    table = read()
    careless = RecordLagrangian(lam=0.5, utility="depth", weights=(1, "care"), base=0.1).anonymize(table)
    assert careless.utility_of_row[3] >= careless.utility_of_row[5]  # weight 0 for the city against weight 4
    assert RecordLagrangian(weights=(1, "care")).columns_read == ("care",)


def test_another_database_adds_its_values_to_the_dictionaries():
    table = read()
    register = pl.DataFrame({"age": [20, 21, 90], "city": ["A", "B", "C"]})
    wider, external = overt.read_external(table, register, hierarchies=HIERARCHIES)
    assert external.n_rows == 3
    assert wider.column("age").values.to_list() == [20, 21, 22, 27, 33, 34, 61, 62, 90]
    assert [wider.column("age").values[int(code)] for code in external.codes[0]] == [20, 21, 90]
    same, _ = overt.read_external(table, table)
    assert same.column("age").n_values == table.column("age").n_values
    release = RecordThreshold(c=1, external=external).anonymize(wider)
    assert release.support_of_row.max() <= 3
    with pytest.raises(
        InvalidInput, match="^The external database has values of 'age' that the table lacks, so its hier"
    ):
        overt.read_external(table, register)


def test_heuristics_are_seeded_and_reach_the_utility():
    table = read()
    genetic = RecordThreshold(c=2, utility="depth", solver="genetic")
    one, two = (genetic.anonymize(table, rng=np.random.default_rng(5)) for _ in range(2))
    best = RecordThreshold(c=2, utility="depth").anonymize(table)
    assert np.array_equal(one.partition.group_of_row, two.partition.group_of_row)
    assert (one.utility_of_row >= 2).all()
    assert (one.risk_of_row >= best.risk_of_row).all()
    rough = RecordThreshold(c=2, utility="depth", solver="approximation").anonymize(table, rng=np.random.default_rng(5))
    assert (rough.utility_of_row >= 0.9 * 2).all()


def test_progress_is_told():
    told = []
    RecordThreshold(c=1).anonymize(read(), on_progress=lambda *how: told.append(how))
    RecordLagrangian(solver="cuts").anonymize(read(), on_progress=lambda *how: told.append(how))
    assert told[-1] == ("Weighing risk and utility", 8, 8)
    assert ("Weighing risk and utility", 16, 16) in told


@pytest.mark.parametrize(
    ("method", "keywords", "sentence"),
    [
        (RecordThreshold, {"c": "much"}, "c is 'much'; a finite number is expected"),
        (RecordThreshold, {"c": 1, "utility": "none"}, "There is no utility 'none'; choose one of inverse-leaves"),
        (RecordThreshold, {"c": 1, "risk": "III"}, "There is no risk model 'III'; choose one of I, II, harmonic"),
        (RecordThreshold, {"c": 1, "weights": (1, -1)}, "A weight is negative or not finite"),
        (RecordThreshold, {"c": 1, "risk": "II", "weights": (1, 1)}, "Risk model II has no weights; leave them out"),
        (RecordThreshold, {"c": 1, "base": -1}, "A weight is negative or not finite"),
        (RecordThreshold, {"c": 1, "solver": "magic"}, "There is no solver 'magic'"),
        (RecordLagrangian, {"lam": -1}, "lambda is -1.0; a finite number of at least 0 is expected"),
        (RecordLagrangian, {"kappa": -1}, "kappa is -1.0; a finite number of at least 0 is expected"),
        (RecordLagrangian, {"solver": "magic"}, "There is no solver 'magic'"),
    ],
)
def test_parameters_are_checked_before_any_data(method, keywords, sentence):
    with pytest.raises(InvalidInput, match=f"^{sentence}"):
        method(**keywords)


@pytest.mark.parametrize(
    ("method", "error", "sentence"),
    [
        (
            RecordThreshold(c=99),
            Unreachable,
            "A utility of 99 is out of reach for 8 rows, even as they are; ask for less",
        ),
        (RecordLagrangian(weights=(0, 0)), Unreachable, "Every generalization of the record has weight 0"),
        (RecordThreshold(c=1, weights=(1,)), InvalidInput, "There are 1 weights for 2 attributes; give one for each"),
        (
            RecordThreshold(c=1, weights=(1, "cares")),
            InvalidInput,
            "There is no column 'cares'; the columns are 'care'",
        ),
        (
            RecordThreshold(c=1, external="r.csv"),
            InvalidInput,
            "The external database 'r.csv' is only named; read it with",
        ),
        (
            RecordThreshold(c=1, goal=KAnonymity(9)),
            Unreachable,
            "9-anonymity does not hold of the rows that look alike",
        ),
        (
            RecordThreshold(c=1, utility=CustomUtility(({"x": 1.0},) * 2)),
            InvalidInput,
            "A utility table lacks .* nodes; give a number for each",
        ),
        (
            RecordThreshold(c=1, external=External(np.array([[99], [0]], np.int32))),
            InvalidInput,
            "The external database has codes of 'age' that the table does not know",
        ),
    ],
)
def test_what_the_data_rule_out_is_refused(method, error, sentence):
    with pytest.raises(error, match=f"^{sentence}"):
        method.anonymize(read())


@pytest.mark.parametrize(("care", "sentence"), [(None, "has no weight in 1 rows"), (-1.0, "has negative weights")])
def test_weights_of_people_are_checked_without_telling_whose(care, sentence):
    frame = PEOPLE.with_columns(care=pl.Series([care, *PEOPLE["care"][1:]]))
    with pytest.raises(InvalidInput, match=f"^Column 'care' {sentence}"):
        RecordThreshold(c=1, weights=(1, "care")).anonymize(read(frame))


def test_too_many_vectors_for_all_records_at_once(monkeypatch):
    monkeypatch.setitem(RecordThreshold._release.__globals__, "MOST_VECTORS", 3)
    with pytest.raises(
        TooLarge, match="^The records have 16 vectors of levels, .* at most 3; use solver 'auto', 'genetic'"
    ):
        RecordThreshold(c=1, solver="cube").anonymize(read())
    assert RecordThreshold(c=1).anonymize(read()).solver == "prefix sums"


def test_an_empty_external_database_is_refused():
    with pytest.raises(InvalidInput, match="^The external database is empty, so there is no risk to speak of"):
        External(np.empty((2, 0), np.int32))
