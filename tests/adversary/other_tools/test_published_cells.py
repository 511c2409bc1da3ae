# SPDX-License-Identifier: Apache-2.0
import numpy as np
import polars as pl
import pytest

import overt
from evidence import ADULT
from overt.adversary.downcoding.guesses import count_guessed
from overt.adversary.other_tools.published_cells import downcode_other, without_earlier_classes
from overt.adversary.other_tools.published_classes import read_local_recoding, read_published
from overt.adversary.other_tools.searches import learn_other
from overt.errors import InvalidInput
from overt.hierarchy import Nested
from overt.report.leak import Leak, belief_rows, brief

TREE = Nested({"a": ["v0", "v1"], "b": ["v2", "v3"]})
GOAL = overt.KAnonymity(2)


def table_of(*columns):
    frame = pl.DataFrame({f"q{j}": [f"v{code}" for code in codes] for j, codes in enumerate(columns)})
    names = frame.columns
    return overt.read_frame(frame, quasi_identifiers=names, hierarchies=dict.fromkeys(names, TREE))


def rounds(codes, k, order):
    """Local recoding as its description has it: in every round one level, classes of k rows are out, the others go on."""
    left, shown = list(range(len(codes[0]))), [None] * len(codes[0])
    level = {0: lambda c: f"v{c}", 1: lambda c: "a" if c < 2 else "b", 2: lambda _: "*"}
    for node in order:
        cells = {row: tuple(level[up](column[row]) for up, column in zip(node, codes, strict=True)) for row in left}
        for row in list(left):
            if sum(cells[other] == cells[row] for other in cells) >= k:
                shown[row] = cells[row]
                left.remove(row)
    for row in left:
        shown[row] = ("*",) * len(codes)
    return shown


def test_a_full_domain_file_says_nothing_more():
    table = table_of([0, 1, 2, 3], [0, 0, 2, 2])
    found = downcode_other(
        table, pl.DataFrame({"q0": ["a", "a", "b", "b"], "q1": ["v0", "v0", "v2", "v2"]}), overt.LeastCost(goal=GOAL)
    )
    assert [tier.n_finer for tier in found.tiers] == [0, 0, 0] and found.n_generalized == 4


def test_what_is_left_after_earlier_rounds():
    """Two people had v0 and were published as that; those who are `a` with the same other value are then v1."""
    table = table_of([0, 0, 1, 1], [0, 0, 0, 0])
    shown = pl.DataFrame({"q0": ["v0", "v0", "a", "a"], "q1": ["v0", "v0", "v0", "v0"]})
    found = downcode_other(table, shown, overt.LeastCost(goal=GOAL))
    assert [tier.n_exact for tier in found.tiers] == [0, 0, 2]
    alone = pl.DataFrame({"q0": ["v0", "v0", "a", "a"]})  # one column: nothing else can differ
    assert downcode_other(table_of([0, 0, 1, 1]), alone, overt.LeastCost(goal=GOAL)).last.n_exact == 2


def test_nothing_is_concluded_from_rounds_that_cannot_have_been():
    """Cut in two by q1, and shown as labels: six people with v2 or v3 in q1 have v0, and one with v0 or v1 has it too, beside two with v1."""
    tree = Nested({"all": {"x": ["v0", "v1", "v2", "v3"], "y": ["v4", "v5"]}})
    codes = [[0, 1, 1, 0, 0, 0, 0, 0, 0], [0, 1, 1, 2, 2, 3, 3, 3, 3]]
    frame = pl.DataFrame({f"q{j}": [f"v{code}" for code in one] for j, one in enumerate(codes)})
    table = overt.read_frame(frame, quasi_identifiers=["q0", "q1"], hierarchies={"q0": TREE, "q1": tree})
    shown = pl.DataFrame({"q0": ["a"] * 3 + ["v0"] * 6, "q1": ["x"] * 9})
    published = read_published(table, shown)
    rounds_say = without_earlier_classes(published)
    assert any((one.lo > 0).any() and one.is_value.any() for one in rounds_say)  # that all three have v1
    found = downcode_other(table, shown, overt.LeastCost(goal=GOAL))
    assert [tier.n_exact for tier in found.tiers] == [0, 0, 0] and not found.method_used


@pytest.mark.parametrize("seed", range(40))
def test_rounds_on_random_tables_never_give_a_wrong_value(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (2, 14))
    order = [(0, 0), *[tuple(node) for node in rng.permutation([(1, 0), (0, 1), (1, 1), (2, 0), (2, 1)])[:3]]]
    table, shown = table_of(*codes.tolist()), rounds(codes, 2, order)
    published = read_published(table, pl.DataFrame(shown, schema=["q0", "q1"], orient="row"))
    bounds = without_earlier_classes(published)
    number = {row: c for c, row in enumerate(dict.fromkeys(shown))}
    classes = published.class_of_group[[number[row] for row in shown]]
    count_guessed(
        published, bounds, classes, [column.codes for column in table.quasi_identifiers]
    )  # raises if one is wrong


def test_texts_that_no_hierarchy_explains_are_refused():
    with pytest.raises(InvalidInput, match="1 of the published texts of 'q0' are no value"):
        read_published(table_of([0, 1], [0, 0]), pl.DataFrame({"q0": ["v0..v1", "v0"], "q1": ["v0", "v0"]}))


@pytest.mark.evidence("adult")
def test_the_local_recoding_of_arx_is_refined_and_nothing_is_wrong():
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
    hierarchies = {name: overt.Levels.read(ADULT / f"adult_hierarchy_{name}.csv") for name in names}
    table = overt.read_file(ADULT / "adult.csv.gz", quasi_identifiers=names, hierarchies=hierarchies)
    shown = pl.read_csv(ADULT / "releases" / "arx_local_distinct5_loss.csv.gz", separator=";", infer_schema=False)
    published = read_published(table, shown)
    classes = shown.select(names).unique(maintain_order=True).with_row_index("class")
    lines = shown.join(classes, on=names, maintain_order="left")
    people = lines.get_column("id").cast(pl.Int64).to_numpy()
    of_class = published.class_of_group[lines.get_column("class").to_numpy()]
    codes = [column.codes[people] for column in table.quasi_identifiers]
    guessed = [
        count_guessed(published, b, of_class, codes) for b in (published.cover(), without_earlier_classes(published))
    ]
    assert guessed[1] > guessed[0]  # more is guessed right, and no bound excludes what is true


@pytest.mark.parametrize("seed", range(40))
def test_who_is_in_which_class_of_a_local_recoding_follows_or_the_file_is_not_read(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 30))
    codes = rng.integers(0, 4, (2, n))
    order = [(0, 0), *[tuple(node) for node in rng.permutation([(1, 0), (0, 1), (1, 1), (2, 0), (2, 1)])[:3]]]
    shown = rounds(codes, 2, order)
    values = [f"s{value}" for value in rng.integers(0, 3, n)]
    frame = pl.DataFrame({**{f"q{j}": [f"v{code}" for code in codes[j]] for j in range(2)}, "s": values})
    table = overt.read_frame(
        frame, quasi_identifiers=["q0", "q1"], sensitive=["s"], hierarchies={"q0": TREE, "q1": TREE}
    )
    lines = pl.DataFrame(shown, schema=["q0", "q1"], orient="row").with_columns(s=pl.Series(values))
    try:
        _, partition, knows_truth, labels = read_local_recoding(
            table, lines.sample(fraction=1, shuffle=True, seed=seed), "s"
        )
    except InvalidInput as error:
        assert "does not follow" in str(error)
        return
    assert knows_truth
    hulls = {
        "*": (0, 3),
        "a": (0, 1),
        "b": (2, 3),
        **{f"v{i}": (i, i) for i in range(4)},
    }  # `v0` alone is no label twice
    together = {}
    for row, cells in enumerate(shown):
        key = None if set(cells) == {"*"} else tuple(hulls[cell] for cell in cells)
        together.setdefault(key, set()).add(row)
    left_out = together.pop(None, set())
    assert set(np.flatnonzero(partition.group_of_row < 0)) == left_out
    found = {frozenset(np.flatnonzero(partition.group_of_row == g)) for g in range(partition.n_groups)}
    assert found == {frozenset(rows) for rows in together.values()}
    of_rows = {frozenset(rows): key for key, rows in together.items()}
    for g in range(partition.n_groups):
        key = of_rows[frozenset(np.flatnonzero(partition.group_of_row == g))]
        for column, (least, greatest), hull in zip(table.quasi_identifiers, labels[:, g].tolist(), key, strict=True):
            values = [int(text[1:]) for text in column.values.to_list()]  # a value that nobody has is no code
            assert values[least : greatest + 1] == [value for value in values if hull[0] <= value <= hull[1]]


def test_a_local_recoding_is_audited_by_what_it_shows_and_its_replay_is_not_known():
    levels = overt.Levels([["A", "x", "*"], ["B", "x", "*"], ["C", "y", "*"]])
    frame = pl.DataFrame({"street": list("AAABBBCC"), "disease": ["f", "f", "g", "f", "g", "h", "g", "h"]})
    table = overt.read_frame(frame, quasi_identifiers=["street"], sensitive=["disease"], hierarchies={"street": levels})
    shown = pl.DataFrame({"street": ["A"] * 3 + ["x"] * 3 + ["y"] * 2, "disease": frame["disease"]})
    search, rng = overt.LeastCost(goal=overt.DistinctLDiversity(2)), np.random.default_rng(1)
    found = overt.audit_other(table, shown, search, rng=rng)
    assert found.alone.belief_of_row == pytest.approx([2 / 3] * 3 + [1 / 3] * 3 + [1 / 2] * 2)
    assert found.n_unknown == 8 and found.n_certain == 0 and found.share_above() == 0 and found.n_groups == 3
    assert "local recoding" in found.replayed.sampled.why and found.replayed.sampled.needed is None
    assert found.to_dict()["highest_belief"]["with_method"] is None
    assert learn_other(table, shown, search, rng=rng).n_people == 8
    told = "\n".join(" ".join(row) for row in belief_rows(found))
    assert "highest belief 0.667 not known" in told and brief(Leak(found)).startswith("not known: The file shows")
    no_names = overt.read_frame(frame.select("street"), quasi_identifiers=["street"], hierarchies={"street": levels})
    blind = overt.audit_other(no_names, shown, search, rng=rng, sensitive="disease")
    assert blind.alone.belief_of_row == pytest.approx(found.alone.belief_of_row)


@pytest.mark.evidence("adult")
def test_everybodys_class_follows_from_the_local_recoding_of_arx():
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
    hierarchies = {name: overt.Levels.read(ADULT / f"adult_hierarchy_{name}.csv") for name in names}
    table = overt.read_file(
        ADULT / "adult.csv.gz", quasi_identifiers=names, sensitive=["occupation"], hierarchies=hierarchies
    )
    shown = pl.read_csv(ADULT / "releases" / "arx_local_distinct5_loss.csv.gz", separator=";", infer_schema=False)
    _, partition, knows_truth, _ = read_local_recoding(table, shown.drop("id").reverse(), "occupation")
    classes = shown.select(names).unique(maintain_order=True).with_row_index("class")
    lines = shown.join(classes, on=names, maintain_order="left")
    true = np.empty(table.n_rows, np.int64)
    true[lines["id"].cast(pl.Int64).to_numpy()] = lines["class"].to_numpy()
    pairs = np.unique(np.column_stack([true, partition.group_of_row]), axis=0)
    assert knows_truth and len(pairs) == partition.n_groups == classes.height == 1879
