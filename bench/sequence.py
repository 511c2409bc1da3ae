# SPDX-License-Identifier: Apache-2.0
"""Disclosure sets: every engine at its size, beside the enumerating oracle and a forward pass in plain Python."""

import resource
import sys
import time
from collections import Counter
from itertools import permutations, product
from pathlib import Path

import numpy as np

import overt
from bench import adult
from bench.measure import Sheet, best_of
from overt.algorithms.sequence import Exclusive, Function, Inference, KJump, MaxRatio, Safe, Sequence
from overt.algorithms.sequence.engines.by_value import ByValue
from overt.algorithms.sequence.engines.cell_histograms import CellHistograms
from overt.algorithms.sequence.engines.forward_pass import ForwardPass
from overt.algorithms.sequence.engines.frontier_sweep import FrontierSweep
from overt.algorithms.sequence.engines.table_samplers import Rejection
from overt.algorithms.sequence.engines.table_tests import TableTests
from overt.algorithms.sequence.engines.three_nested import ThreeNested
from overt.algorithms.sequence.in_order import InOrder
from overt.algorithms.sequence.levels_tried import in_words

HALF = MaxRatio("1/2")
LETTERS = "ABCDEFGHIJKLMNO"
TABLE_10 = np.array([0, 1, 2, 3, 4, 5, 6, 6, 6, 7, 7, 8, 8, 9, 9], np.int32)
TABLE_10_GROUPS = ("AB CD EFGHI JKLM NO", "ABC DEFG HIJKLM NO", "AB CD EFGH IJKLMNO")
PROTOTYPE_SWEEP = (
    2.3  # seconds of the pure-Python sweep on 6,144 rows, groups 3-4-5, 4 values (project note, section 5)
)


def run(quick: bool = False) -> None:
    sheet = Sheet("sequence: disclosure sets")
    baselines(sheet, quick)
    sweeps(sheet)
    nested(sheet)
    by_value(sheet)
    sampling(sheet)
    real_tables(sheet, quick)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    sheet.add("peak memory of everything here", peak, "GiB", bar=2)
    sheet.save()


def windows(n_rows, *sizes):
    """Consecutive groups of one size per function, the last taking the rest."""
    found = []
    for size in sizes:
        groups = [size] * (n_rows // size)
        groups[-1] += n_rows % size
        found.append(Function.from_ranges(f"groups of {size}", groups))
    return tuple(found)


def groups_of(text):
    return [[LETTERS.index(row) for row in group] for group in text.split()]


def shuffled(n_rows, n_values, seed=0):
    return np.random.default_rng(seed).permutation(np.arange(n_rows) % n_values).astype(np.int32)


def baselines(sheet, quick):
    """The same small question to everybody, then the 15 rows of the k-jump paper."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from oracles.sequence import World

    functions, values = windows(9, 3, 4, 5), shuffled(9, 3)
    lists = [
        [np.flatnonzero(f.partition.group_of_row == g).tolist() for g in range(f.partition.n_groups)] for f in functions
    ]
    prop, strategy = ("max_ratio", HALF.bound, False), ("jump", (1, 1, 1))
    table = tuple(values.tolist())
    sequence = Sequence(functions, HALF)
    oracle = best_of(1, lambda: World(lists, prop, strategy).ds(table, 3))
    sheet.add("9 rows, jump 1, ds_3: enumerating oracle", oracle * 1000, "ms")
    plain = best_of(1, lambda: plain_forward_pass(lists, table))
    sheet.add("9 rows, jump 1: forward pass in plain Python, all tables", plain * 1000, "ms")
    ours = best_of(3, lambda: ForwardPass(sequence, KJump(1), values, 3))
    sheet.add(
        "9 rows, jump 1: our forward pass, all tables", ours * 1000, "ms", note=f"{plain / ours:.0f} times faster"
    )
    cells = best_of(5, lambda: CellHistograms(sequence, KJump(1)).disclosure(values, 3, 3))
    sheet.add(
        "9 rows, jump 1, ds_3: cells", cells * 1000, "ms", note=f"{oracle / cells:.0f} times faster than the oracle"
    )

    functions = tuple(Function.from_groups(f"g{i}", groups_of(text)) for i, text in enumerate(TABLE_10_GROUPS))
    sequence = Sequence(functions, HALF)
    seconds = best_of(60, lambda: CellHistograms(sequence, KJump(1)).disclosure(TABLE_10, 10, 3))
    if quick:
        sheet.add("Table 10 of the k-jump paper, 15 rows, ds_3 by cells", seconds * 1000, "ms")
    else:
        begin = time.process_time()  # one long run: what others do on the machine must not count
        count = enumerate_third([groups_of(text) for text in TABLE_10_GROUPS], tuple(TABLE_10.tolist()))
        enumerating = time.process_time() - begin
        assert count == 7776
        sheet.add(
            "Table 10 of the k-jump paper, 15 rows, ds_3 by cells, of enumerating it",
            seconds / enumerating,
            "",
            bar=1e-4,
            note=f"{seconds * 1000:.2f} ms instead of {enumerating:.0f} s: {enumerating / seconds:,.0f} times faster",
        )
    for n_rows in (22, 28):
        for strategy in (Exclusive(), KJump(1), Safe()):
            sequence, values = Sequence(windows(n_rows, 3, 4, 5), HALF), shuffled(n_rows, 4)
            seconds = best_of(1, lambda: CellHistograms(sequence, strategy).disclosure(values, 4, 3))  # noqa: B023
            sheet.add(f"{n_rows} rows (3-4-5, 4 values), {strategy}, ds_3 by cells", seconds, "s")


def enumerate_third(functions, table):
    """How many tables ds_3 has under jump 1 and a bound of 1/2: all are listed, verdicts on g_2(t) are remembered."""

    def arrangements(left):
        if not left:
            yield ()
        for value in sorted(set(left)):
            rest = list(left)
            rest.remove(value)
            for tail in arrangements(rest):
                yield (value, *tail)

    def permutation_set(groups, one):
        for parts in product(*(list(arrangements([one[row] for row in group])) for group in groups)):
            found = [0] * len(one)
            for group, values in zip(groups, parts, strict=True):
                for row, value in zip(group, values, strict=True):
                    found[row] = value
            yield tuple(found)

    def looks_private(groups, one):
        return all(2 * max(Counter(one[row] for row in group).values()) <= len(group) for group in groups)

    first, second, third = functions
    stops = {}
    count = 0
    for one in permutation_set(third, table):
        if looks_private(first, one):
            continue
        if looks_private(second, one):
            key = tuple(tuple(sorted(one[row] for row in group)) for group in second)
            if key not in stops:
                reaching = [other for other in permutation_set(second, one) if not looks_private(first, other)]
                columns = zip(*reaching, strict=True)
                stops[key] = all(2 * max(Counter(column).values()) <= len(reaching) for column in columns)
            if stops[key]:
                continue
        count += 1
    return count


def plain_forward_pass(functions, table):
    """Jump 1 on every table with these values, as a prototype would: dictionaries and tuples."""
    tables = sorted(set(permutations(table)))
    at = dict.fromkeys(tables, 1)

    def private(rows_of_tables):
        n = len(rows_of_tables)
        return all(2 * max(column.count(v) for v in set(column)) <= n for column in zip(*rows_of_tables, strict=True))

    for step, groups in enumerate(functions, start=1):
        everyone, here = {}, {}
        for one in tables:
            key = tuple(tuple(sorted(one[row] for row in group)) for group in groups)
            everyone.setdefault(key, []).append(one)
            if at[one] == step:
                here.setdefault(key, []).append(one)
        for key, reached in here.items():
            stops = private(everyone[key]) and private(reached)
            for one in reached:
                at[one] = 0 if stops else step + 1
    return at


def sweeps(sheet):
    cases = [
        (6144, 4, (3, 4, 5), PROTOTYPE_SWEEP / 20),
        (6144, 8, (3, 4, 5), None),
        (6144, 4, (4, 6, 8), None),
        (6144, 4, (4, 6, 9), None),
        (6144, 4, (3, 6, 12), None),
        (50_000, 4, (3, 4, 5), 60),
    ]
    for n_rows, n_values, sizes, bar in cases:
        for kind, values in (
            ("shuffled", shuffled(n_rows, n_values)),
            ("even", (np.arange(n_rows) % n_values).astype(np.int32)),
        ):
            sequence = Sequence(windows(n_rows, *sizes), HALF)
            known = FrontierSweep(sequence, Exclusive()).disclosure(values, n_values, 3)
            seconds = best_of(3, lambda: FrontierSweep(sequence, Exclusive()).disclosure(values, n_values, 3))  # noqa: B023
            name = f"{n_rows:,} rows ({'-'.join(map(str, sizes))}, {n_values} values, {kind}), exclusive, sweep"
            note = f"count exact, posteriors {known.accuracy}"
            if bar == PROTOTYPE_SWEEP / 20:
                note = f"{PROTOTYPE_SWEEP / seconds:.0f} times the prototype's speed; " + note
            sheet.add(name, seconds, "s", bar=bar, note=note)


def nested(sheet):
    for inner, n_middle, n_values, bar in (((2, 3, 4), 2, 4, 5), ((3, 5), 3, 4, 5), ((2, 3, 4), 2, 6, None)):
        middle = sum(inner)
        n_groups = 6000 // (middle * n_middle)
        n_rows = n_groups * n_middle * middle
        functions = (
            Function.from_ranges("g1", list(inner) * (n_groups * n_middle)),
            Function.from_ranges("g2", [middle] * (n_groups * n_middle)),
            Function.from_ranges("g3", [middle * n_middle] * n_groups),
        )
        sequence, values = Sequence(functions, HALF), shuffled(n_rows, n_values)
        seconds = best_of(1, lambda: ThreeNested(sequence, Safe()).disclosure(values, n_values, 3))  # noqa: B023
        name = f"{n_rows:,} rows ({'-'.join(map(str, inner))} in {middle} in {middle * n_middle}, {n_values} values), safe, nested"
        sheet.add(name, seconds, "s", bar=bar, note="exact")


def by_value(sheet):
    for n_rows, n_values in ((1000, 8), (2000, 14)):
        rng = np.random.default_rng(0)
        values = rng.choice(n_values, n_rows, p=rng.dirichlet(np.full(n_values, 2.0))).astype(np.int32)
        cut = n_rows * 9 // 20
        functions = (Function.from_ranges("g1", [cut, n_rows - cut]), Function.from_ranges("g2", [n_rows]))
        most = int(np.bincount(values).max())
        sequence = Sequence(functions, MaxRatio(f"{most + n_rows // 200}/{n_rows}"))
        seconds = best_of(1, lambda: ByValue(sequence, Exclusive()).disclosure(values, n_values, 2))  # noqa: B023
        sheet.add(
            f"one group of {n_rows:,} rows in two parts, {n_values} values, value by value", seconds, "s", note="exact"
        )


def sampling(sheet):
    n_rows, n_values = 30_000, 14
    values = np.random.default_rng(0).integers(0, n_values, n_rows).astype(np.int32)
    trials = TableTests.of(Sequence(windows(n_rows, 7, 25, 120), HALF), 3, values, n_values)
    sampler, rng, n_tables = Rejection(trials), np.random.default_rng(0), 2_000
    sampler.sample(64, rng)
    seconds = best_of(3, lambda: sampler.sample(n_tables, rng))
    rate = n_tables / seconds
    sheet.add(
        f"30,000 rows, 14 values, sampling: microseconds a table ({trials.rows.size:,} rows live)",
        1e6 / rate,
        "us",
        bar=200,
        note=f"{rate:,.0f} tables a second, on as many threads as cores",
    )
    small = Sequence(windows(96, 3, 4, 5), HALF)
    inference = Inference(small, KJump(1), 4)
    begin, n = time.perf_counter(), 0
    permutation = inference.permutation(shuffled(96, 4), 3)
    while time.perf_counter() - begin < 2:
        inference.reaches(permutation.sample(rng), 3)
        n += 1
    sheet.add("96 rows, jump 1: tables a second drawn outside and decided exactly inside", n / 2, "1/s")


def real_tables(sheet, quick):
    """The example of docs/theory/sequences.md: every strategy on the same levels of the same table."""
    census = overt.read_frame(
        overt.samples.census(10_000), quasi_identifiers=["Age", "Gender", "Education"], sensitive=["Occupation"]
    )
    compare_strategies(sheet, "census, 10,000 rows", census, l=4, depth=5)
    if adult.is_there() and not quick:
        columns = ["age", "sex", "race", "marital-status", "education"]
        table = overt.read_file(adult.FOLDER / "adult.csv.gz", quasi_identifiers=columns, sensitive=["occupation"])
        compare_strategies(sheet, "Adult, 30,162 rows", table, l=2, depth=7)


def compare_strategies(sheet, name, table, *, l, depth):
    for strategy, k in (("naive", 1), ("exclusive", 1), ("safe", 1), ("k-jump", 1), ("k-jump", 2), ("k-jump", 3)):
        goal = overt.FrequencyLDiversity(l)
        method = InOrder(goal=goal, strategy=strategy, k=k, levels=20, smallest=25, cut="1/3", depth=depth)
        begin = time.perf_counter()
        levels = method.compare(table, rng=np.random.default_rng(0))
        seconds = time.perf_counter() - begin
        last = levels.tried[-1]
        verb = "stops at" if levels.outcome.released is None else "releases"
        groups = last.function.partition.n_groups
        note = f"{verb} {last.function.name} ({groups} groups): {last.highest:.4f}, knowing the method {in_words(last.knowing.posterior)}"
        sheet.add(f"{name}, no ratio above 1/{l}, {method.rule}", seconds, "s", note=note)
