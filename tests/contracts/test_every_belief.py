# SPDX-License-Identifier: Apache-2.0
"""Safe for every belief: all tables that fit a release lead to it with the same probability; by trying every table and every coin.

Then whatever somebody believed before is only restricted to the tables that fit: knowing the method adds nothing.
"""

from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, permutations, product

import numpy as np
import polars as pl
import pytest

import overt
from oracles.blind import laws, learnt, learnt_of, learnt_of_the_others, most_believed
from overt.algorithms import (
    RDA,
    RIA,
    Anatomy,
    BatchMatching,
    BlindBuckets,
    CrossBucket,
    Dealing,
    FullDomain,
    Mondrian,
)
from overt.algorithms.blind_buckets import grow_strata, halvings_for
from overt.algorithms.blind_buckets import method as blind_buckets
from overt.errors import Unreachable
from overt.hierarchy import Nested
from overt.io.publication import published_tables
from overt.privacy import (
    AlphaKAnonymity,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
    RelativeRisk,
    TCloseness,
)
from overt.release import CrossBucketRelease, ShuffledRelease
from overt.table import Kind, Role
from tables import table_of

LINE = (0, 1, 2, 3, 4, 5, 6)
TWINS = (0, 0, 1, 1, 1, 2, 2)
L2 = FrequencyLDiversity(2)


def as_seen(release, values):
    """Who is in which bucket with which values, who shares a box, and what stands in whose row."""
    buckets = release.buckets if isinstance(release, CrossBucketRelease) else release.partition
    people = [[] for _ in range(buckets.n_groups)]
    boxes = [[] for _ in range(release.n_groups)]
    for person, (bucket, box) in enumerate(zip(buckets.group_of_row, release.partition.group_of_row, strict=True)):
        people[bucket].append(person)
        boxes[box].append(person)
    groups = tuple(sorted((tuple(of), tuple(sorted(values[p] for p in of))) for of in people))
    rows = tuple(values[row] for row in release.shown_row) if isinstance(release, ShuffledRelease) else ()
    return (groups, tuple(sorted(map(tuple, boxes))), rows), groups


def replayed(method, *quasi_identifiers, kind=Kind.CATEGORY, hierarchy=None):
    """A method as a function from values and coins to what is seen. A value of two letters is two sensitive columns."""

    @cache  # of one table at a time: all its coins are gone through together
    def table_with(values):
        letters = list(zip(*values, strict=True))
        codes = [[sorted(set(column)).index(letter) for letter in column] for column in letters]
        columns = [codes[: len(values)] for codes in quasi_identifiers or (LINE,)]
        return as_read(table_of(columns, codes), kind, hierarchy), {}

    def make(values, coins):
        table, drawn_of_nothing = table_with(tuple(values))
        try:
            with nothing_twice(drawn_of_nothing, coins):
                return as_seen(method.anonymize(table, rng=coins), values)
        except Unreachable:
            return None

    return make


def as_read(table, kind, hierarchy):
    """The same table whose sensitive values are numbers, or have a hierarchy: the first two are one family, and the others another."""
    columns = list(table.columns)
    for i, column in enumerate(columns):
        if column.role is Role.SENSITIVE and kind is Kind.NUMBER:
            columns[i] = replace(column, kind=kind, values=pl.Series(list(range(column.n_values))))
        if column.role is Role.SENSITIVE and hierarchy is not None:
            texts = column.values.to_list()
            tree = hierarchy({"Any": {"first": texts[:2], "others": texts[2:]}} if texts[2:] else {"Any": texts})
            columns[i] = replace(column, hierarchy=tree.build(column.values, column.kind))
    return replace(table, columns=tuple(columns))


@contextmanager
def nothing_twice(known, coins):
    """What the parts of `BlindBuckets` make of a table without a coin is kept in `known` for all coins of this table: it cannot differ."""

    def once(name, part):
        def made(*given, **how):
            key = (name, *(one.tobytes() for one in given if isinstance(one, np.ndarray)))
            if key not in known:
                used = coins.used
                found = part(*given, **how)
                if coins.used > used:
                    return found
                known[key] = found
            return known[key]

        return made

    with pytest.MonkeyPatch.context() as patch:
        for name in ("plan_strata", "cut_into_boxes"):
            patch.setattr(blind_buckets, name, once(name, getattr(blind_buckets, name)))
        yield


def blind(goal=L2, k=2, rows_per_bucket=2, cuts="strict", **more):
    return BlindBuckets(goal=goal, k=k, rows_per_bucket=rows_per_bucket, cuts=cuts, **more)


AMONG = {"column": "q0", "up_to": 2, "yes": {}, "no": {"column": "q0", "up_to": 3, "yes": {}, "no": {}}}
AT_ONCE = [
    (blind(), "aabc", LINE),
    (blind(k=1), "aabc", TWINS),
    (blind(cuts="relaxed", k=1, stratify={"halvings": 1}), "abab", LINE),
    (blind(form="generalized"), "aabc", LINE),
    (blind(form="generalized", stratify={"halvings": 1}), "aabb", TWINS),
    (blind(stratify={"halvings": 1}), "aabbc", LINE),
    (blind(TCloseness("1/2")), "aaab", LINE),
    (blind(FrequencyLDiversity(2, column="s0") & TCloseness("1/2", column="s1")), ("ax", "ay", "bx", "by"), LINE),
    (Anatomy(goal=L2), "aabc", LINE),
    (Dealing(goal=L2), "aabbc", LINE),
    (RDA(goal=L2), "aabc", LINE),
    (RIA(goal=L2), "abc", LINE),
]
SLOWLY = [
    (blind(form="shuffled", stratify={"halvings": 1}), "aabb", LINE),
    (blind(DistinctLDiversity(1), form="shuffled", stratify={"by": ["q0"]}), "aaab", TWINS),
    (Anatomy(goal=L2), "aabbc", LINE),
    (blind(), "aabbc", LINE),
    (blind(FrequencyLDiversity(1.5), stratify={"halvings": 1}), "aaabbb", LINE),
    (blind(cuts="relaxed"), "aabc", TWINS),
    (blind(rows_per_bucket=3), "aabbc", LINE),
    (blind(FrequencyLDiversity(3), rows_per_bucket=3), "abcde", LINE),
    (blind(form="generalized"), "aabbc", LINE),
    (blind(form="shuffled", k=1), "aabc", LINE),
    (blind(form="shuffled", k=1, stratify={"halvings": 1}), "aabb", TWINS),
    (blind(stratify={"by": ["q0"]}, k=1), "aabbc", (0, 0, 1, 1, 1)),
    (blind(DistinctLDiversity(1), stratify=AMONG, k=1, rows_per_bucket=1), "aabbc", (1, 2, 3, 4, 3)),
    (blind(TCloseness("1/5")), "aaabb", LINE),
    (blind(TCloseness("1/5", distance="ordered")), "aabbc", LINE),
    (blind(TCloseness("1/4"), stratify={"halvings": 1}), "aaabbb", TWINS),
    (blind(EntropyLDiversity("1.8")), "aaabb", LINE),
    (blind(BasicBetaLikeness("1/2") & KAnonymity(2)), "aaabb", LINE),
    (blind(AlphaKAnonymity("2/3", 2)), "aaabb", LINE),
    (blind(DistinctLDiversity(2), stratify={"halvings": 1}), "aaabb", LINE),
    (blind(DistinctLDiversity(2), rows_per_bucket=3), "aaaaabb", LINE),
    (blind(FrequencyLDiversity(2, column="s0") & TCloseness("1/2", column="s1")), ("ax", "ay", "bx", "by", "cx"), LINE),
    (blind(cuts="relaxed", form="shuffled", stratify={"by": ["q0"]}), "abab", (0, 0, 1, 1)),
    (
        blind(DistinctLDiversity(1), k=1, rows_per_bucket=1, cuts="relaxed", stratify={"by": ["q0"]}),
        "aabb",
        (0, 0, 0, 1),
    ),
    (blind(DistinctLDiversity(1), k=1, rows_per_bucket=1, stratify={"halvings": 2}), "aabc", LINE),
    (blind(RecursiveCLDiversity(2, 2)), "aabc", TWINS),
    (blind(DeltaDisclosure(2), k=1, rows_per_bucket=1), "aabb", LINE),
    (blind(EnhancedBetaLikeness(2), k=1, rows_per_bucket=1, stratify={"halvings": 1}), "aabb", LINE),
    (blind(RelativeRisk("3/2", ("a",))), "aaabb", LINE),
    (blind(TCloseness("1/4", column="s0"), form="shuffled", k=1), ("ax", "ay", "bx", "by"), TWINS),
    (blind(TCloseness("0.4"), k=1, rows_per_bucket=1, stratify={"halvings": 1}), "aaabc", TWINS),
    (RDA(goal=FrequencyLDiversity(3)), "aabbcc", LINE),
]
TRIED = [*AT_ONCE, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOWLY)]


@pytest.mark.parametrize(("method", "values", "people"), TRIED, ids=lambda case: str(case)[:120])
def test_all_tables_that_fit_a_release_are_equally_likely_to_lead_to_it(method, values, people):
    make = replayed(method, people)
    assert learnt(make, values) == ([], 0)


NESTED, NUMBERS = {"hierarchy": Nested}, {"kind": Kind.NUMBER}
GOALS = [  # and how the sensitive column is read
    (L2, {}),
    (FrequencyLDiversity("3/2"), {}),
    (DistinctLDiversity(2), {}),
    (DistinctLDiversity(1), {}),
    (EntropyLDiversity("1.8"), {}),
    (RecursiveCLDiversity(2, 2), {}),
    (AlphaKAnonymity("2/3", 1), {}),
    (TCloseness("1/2"), {}),
    (TCloseness("1/3", distance="ordered"), NUMBERS),
    (TCloseness("1/3", distance="hierarchical"), NESTED),
    (DeltaDisclosure(2), {}),
    (BasicBetaLikeness("1/2"), {}),
    (EnhancedBetaLikeness(2), {}),
    (RelativeRisk("3/2", ("v000",)), {}),
    (RelativeRisk(2) & TCloseness("2/3", distance="hierarchical"), NESTED),
]
STRATA = [
    ({"halvings": 0}, LINE),
    ({"halvings": 1}, LINE),
    ({"by": ["q0"]}, TWINS),
    ({"column": "q0", "up_to": 1}, LINE),
]
OPTIONS = list(product(GOALS, STRATA, ("buckets", "generalized")))
TWO = FrequencyLDiversity("3/2", column="s0") & TCloseness("1/2", column="s1")
OF_TWO = list(product([TWO], STRATA, ("buckets", "generalized")))


def multisets(n):
    """Values of n people, by how many have the first, how many the second, and so on: every way."""
    for starts in product((False, True), repeat=n - 1):
        yield "".join("abcdefg"[sum(starts[:i])] for i in range(n))


def pairs_of_values(n):
    """The same of two columns with two values each."""
    return combinations_with_replacement(("ax", "ay", "bx", "by"), n)


def tried(option, of_people):
    """How many of these values somebody can be given without a refusal; that a replay teaches nothing of any of them is asserted."""
    goal, (strata, people), form = option
    goal, read = goal if isinstance(goal, tuple) else (goal, {})
    method = blind(goal, k=1, rows_per_bucket=1, form=form, stratify=strata)
    n_released = 0
    for values in of_people:
        law = laws(replayed(method, people, **read), values)
        if law[0]:
            n_released += 1
            assert learnt_of(*law, values) == ([], 0), values
    return n_released


@pytest.mark.parametrize("option", OPTIONS, ids=lambda case: str(case)[:160])
def test_every_option_with_all_values_of_up_to_three_people(option):
    tried(option, (values for n in (1, 2, 3) for values in multisets(n)))


@pytest.mark.parametrize("option", OF_TWO, ids=lambda case: str(case)[:160])
def test_two_columns_with_all_values_of_up_to_three_people(option):
    tried(option, (values for n in (1, 2, 3) for values in pairs_of_values(n)))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "option"), list(enumerate([*OPTIONS, *OF_TWO])), ids=lambda case: str(case)[:160])
def test_every_option_with_values_of_four_people(n, option):
    """Every other way to have values where all people can be told apart and are halved; else two ways, of which the second goes round."""
    if option in OF_TWO:
        of_people = [("ax", "ay", "bx", "by"), *list(pairs_of_values(4))[n % 4 :: 4]]
    elif option[1:] == (STRATA[1], "buckets"):
        of_people = list(multisets(4))[::2]
    else:
        of_people = ["aabb", list(multisets(4))[n % 8]]
    assert tried(option, of_people) > 0


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_five_people_with_all_values(part):
    """Each way to have values with an option of its own."""
    assert sum(tried(OPTIONS[37 * n % 120], [values]) for n, values in enumerate(multisets(5)) if n % 4 == part) > 0


def in_files(method):
    """What is seen, and with it every byte of the published files."""

    def make(values, coins):
        codes = ["abc".index(value) for value in values]
        release = method.anonymize(table_of([LINE[: len(values)], (3, 1, 2, 2)], codes), rng=coins)
        seen, groups = as_seen(release, values)
        frames = published_tables(release).values()
        return (seen, tuple(frame.write_csv() for frame in frames)), groups

    return make


@pytest.mark.parametrize(
    "form", ["buckets", *(pytest.param(form, marks=pytest.mark.slow) for form in ("generalized", "shuffled"))]
)
@pytest.mark.parametrize("cells", ["grid", "tight"])
def test_the_bytes_of_files_say_no_more(form, cells):
    """Order, spelling and rounding of what is published are functions of what is seen."""
    assert learnt(in_files(blind(form=form, cells=cells)), "aabc") == ([], 0)


def through_the_door(method, dtype, names):
    """A frame is read and its release published: which value a row has, and so which is met first, differs between tables."""

    def make(values, coins):
        frame = pl.DataFrame(
            {"q": [5, 3, 9, 1], "s": pl.Series([names[v] for v in values], dtype=pl.String).cast(dtype)}
        )
        table = overt.read_frame(frame, quasi_identifiers=["q"], sensitive=["s"], missing="own value")
        release = method.anonymize(table, rng=coins)
        seen, groups = as_seen(release, values)
        frames = published_tables(release).values()
        return (seen, tuple(shown.write_csv() + repr(shown.schema) for shown in frames)), groups

    return make


def from_a_sorted_file(method, people):
    """A method whose table stands in the order of its values: of two people who are alike, the place says who has which."""

    def make(values, coins):
        order = sorted(range(len(values)), key=lambda person: values[person])
        codes = [sorted(set(values)).index(values[person]) for person in order]
        release = method.anonymize(table_of([[people[person] for person in order]], codes), rng=coins)
        boxes, buckets = ([[] for _ in range(of.n_groups)] for of in (release.partition, release.value_groups))
        for row, person in enumerate(order):
            boxes[release.partition.group_of_row[row]].append(person)
            buckets[release.value_groups.group_of_row[row]].append(person)
        groups = tuple(sorted((tuple(sorted(of)), tuple(sorted(values[p] for p in of))) for of in buckets))
        return (groups, tuple(sorted(tuple(sorted(of)) for of in boxes))), groups

    return make


@pytest.mark.parametrize(
    ("dtype", "names"),
    [
        (pl.String, {"a": "z", "b": "a", "c": None}),
        (pl.Categorical, {"a": "z", "b": "a", "c": "m"}),
        (pl.Float64, {"a": "1.5", "b": "2", "c": "-3"}),
    ],
    ids=str,
)
def test_how_a_column_is_read_says_no_more(dtype, names):
    """Codes, categories and types are functions of which values there are, and not of who has them."""
    assert learnt(through_the_door(blind(), dtype, names), "aabc") == ([], 0)


def published(method, people):
    """The bytes of the files alone, for somebody who does not know who is in which group or bucket."""

    def make(values, coins):
        codes = ["abc".index(value) for value in values]
        frames = published_tables(method.anonymize(table_of([people], codes), rng=coins)).values()
        return tuple(frame.write_csv() for frame in frames), ()

    return make


@pytest.mark.parametrize("people", [(0, 0, 5, 5), (0, 1, 5, 6)])
def test_the_files_of_two_tables_weigh_a_table_by_the_ways_to_put_people_and_values_in_their_lines(people):
    """Whoever takes all ways to be equally likely knows all that a replay tells: people in lines of their box, values in lines of their bucket."""
    law, _ = laws(published(blind(cells="tight"), people), "aabc")
    for (boxes, values), of_table in law.items():
        lines = [line.split(",") for line in boxes.split()[1:]]
        shown = Counter(tuple(line.split(",")) for line in values.split()[1:])
        box_of_person = [sorted(cell for _, cell in lines)[person] for person in range(4)]  # boxes of two, in order
        ways = Counter()
        for order in permutations(range(4)):
            if all(lines[line][1] == box_of_person[person] for person, line in enumerate(order)):
                for table in set(permutations("aabc")):
                    held = Counter((lines[line][0], f"v00{'abc'.index(table[p])}") for p, line in enumerate(order))
                    ways[table] += held == shown
        assert len({Fraction(of_table.get(t, 0)) / n for t, n in ways.items() if n}) == 1
        assert set(of_table) == {t for t, n in ways.items() if n}


def test_generalized_groups_that_show_the_same_cells_are_not_one_group_to_who_replays():
    """Three people of 1 and two of 5, buckets of three and two. If both show 1..5, one of the 5 is in each, as a reader of one group does not see."""
    method = blind(goal=FrequencyLDiversity("3/2"), form="generalized", cells="tight")
    law, _ = laws(published(method, (1, 1, 1, 5, 5)), "aaabc")
    [of_table] = [of for (text,), of in law.items() if text.count("1..5") == 5]
    assert len(set(of_table.values())) > 1
    has_b = sum(chance for table, chance in of_table.items() if table[4] == "b")
    assert Fraction(has_b, sum(of_table.values())) == Fraction(
        1, 4
    )  # 1/5 of the five lines, and 1/2 of one group of two


SORTED = [
    (blind(cuts="relaxed"), "aabc", (0, 0, 0, 1)),
    (blind(cuts="relaxed", k=1), "abab", TWINS),
    (blind(form="generalized"), "aabc", TWINS),
    (Dealing(goal=L2), "aabc", TWINS),
    (RDA(goal=L2), "aabc", TWINS),
    (Anatomy(goal=L2), "abc", TWINS),
    (RIA(goal=L2), "abc", TWINS),
    (Mondrian(goal=KAnonymity(2)), "aabbcc", TWINS),
    (FullDomain(goal=KAnonymity(2)), "aabbcc", TWINS),
]


@pytest.mark.parametrize(("method", "values", "people"), SORTED, ids=lambda case: str(case)[:120])
def test_a_file_that_is_sorted_by_its_values_gives_nobody_away(method, values, people):
    assert learnt(from_a_sorted_file(method, people[: len(values)]), values) == ([], 0)


def test_the_order_of_people_who_are_alike_would_give_them_away(monkeypatch):
    """Boxes that cut them as they stand in a sorted file: the first box has the values that come first."""
    monkeypatch.setattr("overt.algorithms.blind_buckets.boxes._as_met", lambda rows, cuts, rng: rows.copy())
    uneven, gain = learnt(from_a_sorted_file(blind(cuts="relaxed"), (0, 0, 0, 1)), "aabc")
    assert uneven
    assert gain > 0


@pytest.mark.parametrize("matching", ["kd", "rank"])
def test_a_sorted_file_leaves_matched_people_with_their_shares(matching):
    method = BatchMatching(goal=L2, value_sets="most frequent", matching=matching)
    assert learnt(from_a_sorted_file(method, TWINS[:4]), "aabb")[1] == 0


WEAK = [
    (BatchMatching(goal=L2, value_sets="most frequent"), "aabb", LINE),
    (BatchMatching(goal=L2, value_sets="most frequent", matching="rank"), "aabb", LINE),
    (CrossBucket(1, 2), "aabb", LINE),
]


@pytest.mark.parametrize(("method", "values", "people"), WEAK, ids=lambda case: str(case)[:120])
def test_matching_by_quasi_identifiers_is_safe_for_a_flat_belief_only(method, values, people):
    make = replayed(method, people)
    uneven, gain = learnt(make, values)
    assert uneven
    assert gain == 0


@pytest.mark.slow
def test_strata_that_were_chosen_by_looking_at_everybody_give_people_away():
    """The finest that can be planned: when the finer ones cannot, that is known."""
    fine = {"column": "q0", "up_to": 1, "yes": {}, "no": {}}

    def make(values, coins):
        for strata in (fine, {"halvings": 0}):
            made = replayed(blind(k=1, stratify=strata))(values, coins)
            if made is not None:
                return made
        return None

    uneven, gain = learnt(make, "hhfca")
    assert uneven
    assert gain >= Fraction(1, 6)  # 2/3 where the release says 1/2


def test_asking_for_less_in_the_same_strata_after_a_refusal_tells_nothing_more():
    """Their counts say what was refused, and the release shows them. What is asked for in the end is known to everybody."""
    fine = {"column": "q0", "up_to": 1, "yes": {}, "no": {}}

    def make(values, coins):
        for l in (2, "3/2", 1):
            made = replayed(blind(k=1, goal=FrequencyLDiversity(l), stratify=fine))(values, coins)
            if made is not None:
                return (l, made[0]), made[1]
        raise AssertionError("1-diversity always holds")

    law, _ = laws(make, "hhfca")
    assert {l for l, _ in law} == {2, "3/2", 1}
    assert learnt(make, "hhfca") == ([], 0)


def test_choosing_by_a_pilot_is_safe_for_the_others_and_not_if_the_pilot_is_published():
    """The first two people are the pilot: if they differ, the others are cut in two."""

    def choose(values):
        return {"halvings": 1 if values[0] != values[1] else 0}

    def published_with_the_others(values, coins):
        return replayed(blind(k=1, goal=DistinctLDiversity(1), stratify=choose(values)))(values, coins)

    def set_aside(pilot):
        def make(values, coins):
            return replayed(blind(k=1, goal=DistinctLDiversity(1), stratify=choose(pilot)), LINE[2:])(values, coins)

        return make

    uneven, gain = learnt(published_with_the_others, "abbb")
    assert uneven
    assert gain > 0
    for pilot, others in (("ab", "abbb"), ("aa", "abbb")):
        assert learnt(set_aside(pilot), others) == ([], 0)


def chosen_by(choose, goal):
    """Strata as the pilot's people lead to them, with the coins of the resamples fixed: these are public here."""

    @cache
    def strata(people, values):
        codes = ["ab".index(value) for value in values]
        return choose(table_of([people], codes, n_codes=[7]), goal, rng=np.random.default_rng(0), least_rows=2)

    return strata


def with_pilot(strata, goal, pilot):
    """Seven people of whom four are looked at; of the other three there is a release."""
    others = [person for person in range(7) if person not in pilot]
    method_with = cache(
        lambda tree: replayed(
            blind(goal, k=1, rows_per_bucket=1, stratify=tree), tuple(LINE[person] for person in others)
        )
    )

    def make(values, coins):
        tree = strata(tuple(LINE[person] for person in pilot), tuple(values[person] for person in pilot))
        made = method_with(tree)(tuple(values[person] for person in others), coins)
        if made is None:
            return None
        seen, groups = made
        return (tree, seen), tuple((tuple(others[p] for p in people), shown) for people, shown in groups)

    return make


SPLITS = list(combinations(range(7), 4))
REALLY = pytest.mark.parametrize(
    ("choose", "goal"), [(grow_strata, TCloseness("1/2")), (halvings_for, TCloseness("1/3"))], ids=["tree", "halvings"]
)


@REALLY
@pytest.mark.parametrize(
    "pilots", [SPLITS[::7], pytest.param([s for i, s in enumerate(SPLITS) if i % 7], marks=pytest.mark.slow)], ids=len
)
def test_strata_that_a_pilot_really_grows_are_safe_for_the_others(choose, goal, pilots, monkeypatch):
    """Every way to draw four of seven people, all that they can have, and a goal that the others refuse in some of the strata.

    Without the resamples, which are there so that a refusal is rare: four people would never pass them.
    """
    monkeypatch.setattr("overt.algorithms.blind_buckets.pilot.N_RESAMPLES", 0)
    values, trees, n_refused = "aaaabbb", set(), 0
    for pilot in pilots:
        make = with_pilot(chosen_by(choose, goal), goal, pilot)
        assert learnt_of_the_others(make, values, pilot) == ([], 0), pilot
        law = laws(make, values)[0]
        trees |= {tree for tree, _ in law}
        n_refused += sum(sum(of.get(table, 0) for of in law.values()) < 1 for table in set(permutations(values)))
    assert len(trees) > 1
    assert n_refused > 0


@REALLY
def test_strata_that_are_really_grown_by_those_who_are_published_are_not_safe_for_every_belief(
    choose, goal, monkeypatch
):
    monkeypatch.setattr("overt.algorithms.blind_buckets.pilot.N_RESAMPLES", 0)
    line, strata = LINE[:4], chosen_by(choose, goal)

    def make(values, coins):
        tree = strata(tuple(line), tuple(values))
        made = replayed(blind(goal, k=1, rows_per_bucket=2, stratify=tree), line)(values, coins)
        return made and ((tree, made[0]), made[1])

    assert learnt(make, "aabb")[0]


def test_leaving_out_surplus_values_gives_away_who_was_left_out():
    """Three of four have "a", and l = 2: with two of them left out the others can be planned. Who is in no bucket has "a" for certain."""

    def without_surplus(values, coins):
        surplus = [person for person in range(len(values)) if values[person] == "a"]
        left_out = coins.permutation(surplus)[: 2 * len(surplus) - len(values)].tolist()
        kept = [person for person in range(len(values)) if person not in left_out]
        made = replayed(blind(k=1), tuple(LINE[p] for p in kept))(tuple(values[p] for p in kept), coins)
        if made is None:
            return None
        seen, groups = made
        return (seen, tuple(sorted(left_out))), tuple((tuple(kept[p] for p in people), of) for people, of in groups)

    assert most_believed(without_surplus, "aaab") == 1
    assert most_believed(replayed(blind(k=1)), "aabb") == Fraction(1, 2)
    as_a_bucket = blind(FrequencyLDiversity("4/3"), k=1)  # what everybody together satisfies
    assert most_believed(replayed(as_a_bucket), "aaab") == Fraction(3, 4)


def test_a_box_that_crossed_strata_would_be_two_smaller_ones():
    """A bucket tells its stratum, so boxes are cut inside strata: everybody who knows the strata finds k rows, not fewer."""
    method = blind(
        k=3, rows_per_bucket=1, goal=DistinctLDiversity(1), stratify={"column": "q0", "up_to": 2, "yes": {}, "no": {}}
    )
    table = table_of([LINE], [0, 1, 0, 1, 0, 1, 0])
    release = method.anonymize(table, rng=np.random.default_rng(0))
    assert sorted(map(tuple, np.sort(release.boxes[0], axis=1))) == [(0, 2), (3, 6)]
