# SPDX-License-Identifier: Apache-2.0
"""What is public depends on the data through the release alone.

Somebody who has everything public lists the tables that fit it. For every method, tables with the same quasi-identifiers and other
sensitive values, and with other rows dropped or suppressed, are looked for that give the same release; then every public byte must be
the same too, dates and the random id of a private release aside.
"""

import hashlib
import json
import os
import re
import sqlite3
import stat
from contextlib import closing
from functools import partial
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import overt
from overt.algorithms import METHODS
from overt.algorithms.dp.accounting import Budget
from overt.audience import Audience, audience_of
from overt.cli import main
from overt.cli.console import Exit
from overt.engine.course import prepare
from overt.errors import OvertError
from overt.io.ledger import ledger_path, set_limit, spend
from overt.io.person_lines import lines_of_persons
from overt.io.publication import published_tables
from overt.io.recipe.recipe import read_recipe

K2 = '[[goal]]\nproperty = "k-anonymity"\nk = 2\n'
L2 = '[[goal]]\nproperty = "l-diversity"\nl = 2\n'
CLOSE = '[[goal]]\nproperty = "t-closeness"\nt = 0.6\n'
PRIVATE = "epsilon = 3\ndelta = 0.2\n"
CASES = {
    "mondrian": ('name = "mondrian"', K2 + L2, ""),
    "mondrian, relaxed, closeness": ('name = "mondrian"\nrelaxed = true', K2 + CLOSE, ""),
    "full-domain, suppressing": ('name = "full-domain"\nmax_suppressed = 0.4', K2 + L2, ""),
    "anatomy": ('name = "anatomy"', L2, ""),
    "anatomy, flat": ('name = "anatomy"', L2, "flat = true"),
    "batch-matching": ('name = "batch-matching"', L2, ""),
    "batch-matching, buckets": ('name = "batch-matching"\nform = "bucketized"', L2, ""),
    "dealing": ('name = "dealing"', L2, ""),
    "rda": ('name = "rda"', L2, ""),
    "ria": ('name = "ria"', L2, ""),
    "gda": ('name = "gda"\nmode = "paper"', L2, ""),
    "cross-bucket": ('name = "cross-bucket"', K2 + L2, ""),
    "cross-bucket, flat": ('name = "cross-bucket"', K2 + L2, "flat = true"),
    "cross-bucket, as printed": ('name = "cross-bucket"\nmode = "paper"', K2 + L2, ""),
    "blind-buckets": ('name = "blind-buckets"\nk = 2\nrows_per_bucket = 4', L2, ""),
    "blind-buckets, flat": ('name = "blind-buckets"\nk = 2\nrows_per_bucket = 4', L2, "flat = true"),
    "blind-buckets, shuffled": ('name = "blind-buckets"\nk = 2\nrows_per_bucket = 4\nform = "shuffled"', L2, ""),
    "blind-buckets, generalized": ('name = "blind-buckets"\nk = 2\nrows_per_bucket = 4\nform = "generalized"', L2, ""),
    "in-order": ('name = "in-order"\nlevels = 3\nsmallest = 2', L2, ""),
    "in-order, safe": ('name = "in-order"\nstrategy = "safe"\nlevels = 2\nsmallest = 2', L2, ""),
    "record-threshold": ('name = "record-threshold"\nc = 1', "", ""),
    "record-lagrangian": ('name = "record-lagrangian"\nlam = 0.1\nkappa = 2', "", ""),
    "algorithm-3": ('name = "algorithm-3-as-published-not-dp"\ni_know_it_is_not_dp = true\nt = 2', "", ""),
    "algorithm-3-threshold": (
        'name = "algorithm-3-threshold-as-published-not-dp"\ni_know_it_is_not_dp = true\nt = 2\nc = 0', "", "",
    ),
    "algorithm-4": ('name = "algorithm-4-as-published-not-dp"\ni_know_it_is_not_dp = true', "", ""),
    "dp-cube": (f'name = "dp-cube"\ns = 0.9\n{PRIVATE}', "", ""),
    "dp-full-domain": (f'name = "dp-full-domain"\ns = 0.9\nshare = 0.1\n{PRIVATE}', "", ""),
    "dp-sampling": ('name = "dp-sampling"\nepsilon = 4\ndelta = 0.9\ns = 0.9\nlevels = [[1, 1]]', "", ""),
}  # fmt: skip
RECIPE = """\
version = 1
[input]
path = "people.{data}"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi-identifier"
hierarchy = {{ {ages} }}
{kind}
[columns.sex]
role = "quasi-identifier"
hierarchy = {{ nested = {{ any = ["f", "m"] }} }}
{sensitive}
{goal}
[method]
{method}
[output]
{place}
{others}
{more}
"""
SENSITIVE = '[columns.ill]\nrole = "sensitive"\nmissing = "drop"\n'
ILL = ["cold", "cold", "flu", "flu", "gout", "gout", "cold", "flu"]
NAMES = ["Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ida", "Jo", "Kim"]


def people(ill, *, extra=()):
    """Eight people of fixed age and sex with these illnesses; and rows that are dropped, since nobody knows their illness."""
    ages, sexes = [20, 20, 22, 22, 41, 41, 43, 43], ["f", "f", "m", "m", "f", "f", "m", "m"]
    rows = [*zip(ages, sexes, ill, strict=True), *((age, sex, None) for age, sex in extra)]
    return pl.DataFrame(
        {
            "name": NAMES[: len(rows)],
            "age": [row[0] for row in rows],
            "sex": [row[1] for row in rows],
            "ill": [row[2] for row in rows],
            "note": ["x"] * len(rows),
        }
    )


def variants(*, n=60):
    """Tables with the same quasi-identifiers, as far as a release can show: other assignments, other rows dropped."""
    rng = np.random.default_rng(7)
    for i in range(n):
        extra = [(20, "f"), (43, "m"), (41, "f")][: rng.integers(0, 3)] if i else []
        yield people([str(one) for one in rng.permutation(ILL)], extra=extra)


def write_recipe(folder, case, *, ending="csv", data="csv"):
    method, goal, more = CASES[case]
    is_dp, is_bare = case.startswith("dp-"), case.startswith(("dp-", "algorithm"))
    private = "prefixes = [1]\n".strip()
    (folder / "recipe.toml").write_text(
        RECIPE.format(
            method=method, goal=goal, more=more, data=data,
            place='database = "release.db"\ntable = "release"' if ending == "db" else f'path = "release.{ending}"',
            ages=private if is_dp else "widths = [10, 100]", kind="",
            sensitive="" if is_bare else SENSITIVE, others="" if is_bare else 'others = ["note"]',
        )
    )  # fmt: skip


def write_people(folder, table, data="csv"):
    """The table in a file of this ending; illnesses as they are, as categories in the order in which they occur, as numbers or days."""
    as_what, _, ending = data.rpartition(" ")
    numbers = pl.col("ill").replace_strict({"cold": 10, "flu": 20, "gout": 40}, return_dtype=pl.Int64)
    kinds = {"categories": pl.col("ill").cast(pl.Categorical), "numbers": numbers, "days": numbers.cast(pl.Date)}
    table = table.with_columns(kinds[as_what]) if as_what else table
    path = folder / f"people.{ending}"
    {"csv": table.write_csv, "parquet": table.write_parquet, "arrow": table.write_ipc}[ending](path)


def released(folder, table, seed, data="csv"):
    """What a run would publish, without writing it; None if it would be refused."""
    write_people(folder, table, data)
    recipe = read_recipe(folder / "recipe.toml")
    try:
        if case_is_dp(recipe):
            with_budget(folder)
            overt.run(recipe, rng=np.random.default_rng(seed), overwrite=True)
            return (folder / "release.csv").read_bytes()
        prepared = prepare(recipe)
        release = prepared.method.anonymize(prepared.table, rng=np.random.default_rng(seed))
    except OvertError:
        return None
    tables = published_tables(release, others=recipe.settings.output.others)
    return tuple(frame.write_csv() for frame in tables.values()) if all(f.height for f in tables.values()) else None


def same_release(folder, *, seeds=3, enough=4, data="csv"):
    """Different tables, each with the seed, that give one release; some of another height if there are such."""
    by_release = {}
    for seed in range(seeds):
        for table in variants():
            shown = released(folder, table, seed, data)
            if shown is None:
                continue
            alike = by_release.setdefault(shown, {})
            alike.setdefault(str(table.rows()), (table, seed))
            if len(alike) >= enough and len({one.height for one, _ in alike.values()}) > 1:
                return list(alike.values())
    return list(max(by_release.values(), key=len, default={}).values())


def case_is_dp(recipe):
    return recipe.settings.method.name.startswith("dp-")


def run(folder, table, seed, *, data="csv", called="people"):
    """A whole run with reports: the public and the owner's bytes, by name, dates and random ids aside."""
    write_people(folder, table, data)
    with_budget(folder, called)
    rename_people(folder, called)
    outcome = overt.run(
        read_recipe(folder / "recipe.toml"), rng=np.random.default_rng(seed), overwrite=True, report=True
    )
    assert outcome.verdict.ok
    found = {Audience.PUBLIC: {}, Audience.OWNER: {}}
    for path in folder.iterdir():
        if path.name.startswith("release"):
            found[audience_of(path)][path.name] = undated(path)
    return found


def undated(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix not in (".json", ".html"):
        return content
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?( UTC|Z)", "DATE", content.decode())
    return re.sub(r'"id": "[0-9a-f]{32}"', '"id": "ID"', text).encode()


def rename_people(folder, called):
    """Another name for the file with the data, which somebody chose who knows what is in it."""
    recipe = folder / "recipe.toml"
    name = re.search(r'\[input\]\npath = "([^"]*?)(\.[^"]*)"', recipe.read_text())
    if name is None or name[1] == called:
        return
    recipe.write_text(recipe.read_text().replace(f'path = "{name[1]}{name[2]}"', f'path = "{called}{name[2]}"'))
    (folder / f"people{name[2]}").rename(folder / f"{called}{name[2]}")


def with_budget(folder, called="people"):
    path = ledger_path(folder / f"{called}.csv")
    path.unlink(missing_ok=True)
    set_limit(path, 1000, "0.99")


def fresh(path):
    path.mkdir()
    with_budget(path)
    return path


@pytest.mark.filterwarnings("ignore::overt.errors.Caution")
@pytest.mark.parametrize("case", CASES)
def test_two_tables_with_the_same_release_have_the_same_public_bytes(case, tmp_path):
    folder = fresh(tmp_path / "a")
    write_recipe(folder, case)
    tables = same_release(folder)
    assert len(tables) > 1, "no two tables with the same release were found: the test says nothing"
    by_height = sorted(tables, key=lambda one: one[0].height)  # one without dropped rows, one with them
    chosen = [by_height[0], by_height[len(by_height) // 2], by_height[-1]]
    names = (
        "people",
        "HIV clinic",
        "of Dr Meyer",
    )  # what the file with the data is called is no more public than the data
    found = [run(folder, table, seed, called=name) for (table, seed), name in zip(chosen, names, strict=True)]
    first, *others = found
    for other in others:
        assert other[Audience.PUBLIC] == first[Audience.PUBLIC]
    assert not any(
        b"clinic" in content or b"Meyer" in content for one in found for content in one[Audience.PUBLIC].values()
    )
    if not case.startswith("dp-"):
        assert {name.partition(".")[2] for name in first[Audience.OWNER]} >= {"owner-report.html", "owner-report.json"}
        assert any(other[Audience.OWNER] != first[Audience.OWNER] for other in others)  # the owner's do tell them apart


@pytest.mark.filterwarnings("ignore::overt.errors.Caution")
@pytest.mark.parametrize("words", [[], ["--json"]], ids=["words", "json"])
@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("dp-")])
def test_what_a_dp_run_prints_for_the_public_says_nothing_of_earlier_releases(
    case, words, tmp_path, monkeypatch, capsys
):
    """Releases that were made before are in the ledger, which is for the owner: the same release under other ledgers."""
    folder = fresh(tmp_path / "a")
    write_recipe(folder, case)
    write_people(folder, people(ILL))
    monkeypatch.chdir(folder)
    printed, beside = [], []
    for epsilon in (1, 5):
        with_budget(folder)
        spend(
            ledger_path(folder / "people.csv"),
            Budget.of(epsilon, "1e-9"),
            release="a",
            release_id="b",
            method="dp-cube",
        )
        assert main(["run", "recipe.toml", "--seed", "1", "--overwrite", *words]) == Exit.DONE
        out, err = capsys.readouterr()
        printed.append(out)
        beside.append(err.partition("For the owner")[2])
    assert printed[0] == printed[1] and "owner" not in printed[0]
    assert beside[0] != beside[1] and "spent so far: " in beside[0]


def test_every_method_is_looked_at():
    names = {re.search(r'name = "([\w-]+)"', method)[1] for method, _, _ in CASES.values()}
    assert names == set(METHODS)


def test_sixteen_tables_of_eight_people_have_one_public_report_and_many_for_the_owner(tmp_path):
    """Two people of each age and sex, one ill with each of two things: 16 tables show the same release."""
    folder = fresh(tmp_path / "a")
    write_recipe(folder, "mondrian")
    public, owner = set(), set()
    for turned in range(16):
        ill = []
        for pair in range(4):
            one, other = ("cold", "flu") if turned >> pair & 1 else ("flu", "cold")
            ill += [one, other]
        table = people(ill).with_columns(age=pl.Series([20, 21, 24, 29, 60, 71, 83, 97]))
        found = run(folder, table, 1)
        public.add(str(sorted(found[Audience.PUBLIC].items())))
        measured = json.loads(found[Audience.OWNER]["release.owner-report.json"])["utility"]
        owner.add(json.dumps([measured["pairs"], measured["predictions"]]))
    assert len(public) == 1
    assert len(owner) >= 8  # 12: what the owner's reports measure tells most tables apart


def test_no_public_digest_tells_which_of_ninety_candidates_the_table_is(tmp_path):
    """Six people and three illnesses that two of them have: whoever writes all 90 tables finds none confirmed by what is public."""
    folder = fresh(tmp_path / "a")
    write_recipe(folder, "anatomy")
    table = people(ILL).head(6)
    candidates = sorted(set(permutations(["cold", "cold", "flu", "flu", "gout", "gout"])))
    digests = set()
    for ill in candidates:
        write_people(folder, table.with_columns(ill=pl.Series(ill)))
        digests.add(hashlib.sha256((folder / "people.csv").read_bytes()).hexdigest())
    found = run(folder, table.with_columns(ill=pl.Series(candidates[37])), 1)
    told = {who: set(re.findall(r"[0-9a-f]{64}", str(files))) for who, files in found.items()}
    assert len(digests) == 90 and told[Audience.PUBLIC]
    assert not told[Audience.PUBLIC] & digests
    assert len(told[Audience.OWNER] & digests) == 1


def test_rows_that_are_suppressed_or_dropped_leave_no_trace(tmp_path):
    """Other suppressed people, with values and illnesses that nobody else has, and other dropped ones."""
    folder = fresh(tmp_path / "a")
    write_recipe(folder, "full-domain, suppressing")
    kept = people(["cold", "flu", "cold", "flu", "gout", "flu", "cold", "gout"])
    found = []
    for n_lonely, secret, kind in ((1, "HIVSECRET", "f"), (2, "17", "m"), (3, "Zz", "m")):
        lonely = pl.DataFrame({"name": NAMES[:n_lonely], "age": [61, 72, 83][:n_lonely], "sex": [kind] * n_lonely, "ill": [secret] * n_lonely, "note": ["x"] * n_lonely})  # fmt: skip
        dropped = lonely.with_columns(ill=pl.lit(None, pl.String), age=pl.lit(20, pl.Int64))
        found.append(run(folder, pl.concat([kept, lonely, *[dropped] * (n_lonely - 1)]), 1))
    texts = {name: content for one in found for name, content in one[Audience.PUBLIC].items()}
    assert not any(b"HIVSECRET" in content or b"Zz" in content for content in texts.values())
    assert found[0][Audience.PUBLIC] == found[1][Audience.PUBLIC] == found[2][Audience.PUBLIC]


@pytest.mark.parametrize("ending", ["csv.gz", "tsv", "parquet", "arrow", "jsonl"])
@pytest.mark.parametrize("case", ["mondrian", "anatomy, flat", "cross-bucket", "full-domain, suppressing"])
def test_in_every_format(case, ending, tmp_path):
    folder = fresh(tmp_path / "a")
    write_recipe(folder, case, ending=ending)
    chosen = same_release(folder, enough=2)
    assert len(chosen) > 1
    first, other = (run(folder, table, seed) for table, seed in (chosen[0], chosen[-1]))
    assert first[Audience.PUBLIC] == other[Audience.PUBLIC]


@pytest.mark.parametrize("data", ["categories parquet", "categories arrow", "numbers parquet", "days arrow"])
@pytest.mark.parametrize("case", ["mondrian", "anatomy", "blind-buckets", "blind-buckets, flat", "blind-buckets, shuffled", "blind-buckets, generalized"])  # fmt: skip
def test_of_every_type(case, data, tmp_path):
    """Typed columns keep their types in the release, which must tell no more than its cells: no order of categories either."""
    folder, ending = fresh(tmp_path / "a"), data.split()[1]
    write_recipe(folder, case, ending=ending, data=ending)
    chosen = same_release(folder, seeds=1, enough=2, data=data)
    assert len(chosen) > 1
    first, other = (run(folder, table, seed, data=data) for table, seed in (chosen[0], chosen[-1]))
    assert first[Audience.PUBLIC] == other[Audience.PUBLIC]


@pytest.mark.parametrize("case", ["mondrian", "anatomy", "blind-buckets", "blind-buckets, shuffled"])
def test_in_a_database(case, tmp_path):
    """The whole file of SQLite, with whatever else is in it than rows."""
    pytest.importorskip("adbc_driver_sqlite")
    folder = fresh(tmp_path / "a")
    write_recipe(folder, case)
    chosen = same_release(folder, seeds=1, enough=2)
    assert len(chosen) > 1
    found = []
    for name, (table, seed) in zip("bc", (chosen[0], chosen[-1]), strict=True):
        write_recipe(fresh(tmp_path / name), case, ending="db")
        found.append(run(tmp_path / name, table, seed)[Audience.PUBLIC])
    assert set(found[0]) >= {"release.db", "release.manifest.json"} and found[0] == found[1]


VISITS = """\
version = 1
[input]
path = "people.csv"
person = "name"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi-identifier"
[columns.sex]
role = "quasi-identifier"
[columns.ill]
role = "sensitive"
[[goal]]
property = "l-diversity"
l = 2
[method]
name = "blind-buckets"
k = 2
rows_per_bucket = 4
[output]
path = "release.csv"
rows = "{rows}"
"""


def visits(n=200):
    """Eight people with twelve visits; their illnesses in every order."""
    draw, who = np.random.default_rng(5), [0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7]
    ages, sexes = np.array([20, 20, 22, 22, 41, 41, 43, 43]), np.array(list("ffmmffmm"))
    for _ in range(n):
        ill = draw.permutation(list("aabbccabcbac"))
        yield pl.DataFrame({"name": np.array(NAMES)[who], "age": ages[who], "sex": sexes[who], "ill": ill})


@pytest.mark.parametrize("rows", ["linked", "pooled"])
def test_of_persons_with_several_rows(rows, tmp_path):
    """Pooled rows do not say which are one person's: no more may the report, which counts persons."""
    (tmp_path / "recipe.toml").write_text(VISITS.format(rows=rows))
    recipe, alike = read_recipe(tmp_path / "recipe.toml"), {}
    for table in visits():
        table.write_csv(tmp_path / "people.csv")
        prepared = prepare(recipe)
        try:
            release = prepared.method.anonymize(prepared.table, rng=np.random.default_rng(1))
        except OvertError:
            continue
        tables = published_tables(release)
        shown, links = (
            str([f.rows() for f in lines_of_persons(release.table, tables, how).values()]) for how in (rows, "linked")
        )
        alike.setdefault(shown, {}).setdefault(links if rows == "pooled" else str(table.rows()), table)
        if len(alike[shown]) == 3:
            break
    chosen = list(max(alike.values(), key=len).values())
    assert len(chosen) > 1
    first, *others = (run(tmp_path, table, 1)[Audience.PUBLIC] for table in chosen)
    assert len(first) > 3 and all(other == first for other in others)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_in_parts(ending, tmp_path, monkeypatch, request):
    """A release that was made out of core: a folder of parts, with their rights. Values change places in their box, rows in the file, and others are dropped."""
    monkeypatch.chdir(tmp_path)
    request.addfinalizer(partial(os.umask, os.umask(0o027)))
    ages, values = np.repeat(np.arange(20, 60), 6), np.array(list("aabbcd"))
    (tmp_path / "recipe.toml").write_text(
        'version = 1\n[input]\npath = "people.csv"\n[columns.age]\nrole = "quasi-identifier"\n[columns.sex]\nrole = "quasi-identifier"\n'
        f'[columns.ill]\nrole = "sensitive"\nmissing = "drop"\n{K2}[method]\nname = "mondrian"\n[output]\npath = "release"\nformat = "{ending}"\n'
    )
    found = []
    for seed, n_dropped in ((1, 0), (2, 3), (3, 8)):
        draw = np.random.default_rng(seed)
        ill = [str(value) for _ in range(40) for value in draw.permutation(values)] + [""] * n_dropped
        table = pl.DataFrame({"age": [*ages, *[25] * n_dropped], "sex": "f", "ill": ill})
        table[draw.permutation(table.height)].write_csv("people.csv")
        overt.run("recipe.toml", engine="out-of-core", overwrite=True, report=True)
        files = sorted(Path("release").rglob("*"))
        found.append(
            {
                str(p): (undated(p) if p.is_file() else b"", stat.S_IMODE(p.stat().st_mode))
                for p in [Path("release"), *files]
            }
        )
    assert found[0] == found[1] == found[2] and len(found[0]) > 5
    assert not any(mode & 0o027 for _, mode in found[0].values())


LONELY = """\
version = 1
[input]
{source}
[columns.age]
role = "quasi-identifier"
hierarchy = {{ widths = [10, 100] }}
[columns.pay]
role = "sensitive"
missing = "own value"
[[goal]]
property = "k-anonymity"
k = 4
[method]
name = "full-domain"
max_suppressed = 0.4
[output]
path = "{place}"
{more}
"""
PAY = [1, 2, None, 3, 1, 2]  # of those who are published


def write_pay(folder, kind, pay, request):
    """People of twenty, and one of seventy who is suppressed, with what they earn and a note of it; and what a recipe says of it."""
    rows = [(20 + i % 4, one) for i, one in enumerate(pay[:-1])] + [(71, pay[-1])]
    if kind == "postgresql":
        server = request.getfixturevalue("postgresql")
        cells = ", ".join(f"({age}, {one or 'NULL'}, {one or 'NULL'})" for age, one in rows)
        server.run(
            "DROP TABLE IF EXISTS lonely_pay",
            "CREATE TABLE lonely_pay (age int, pay numeric, note numeric)",
            f"INSERT INTO lonely_pay VALUES {cells}",
        )
        request.getfixturevalue("monkeypatch").setenv("OVERT_TEST_LONELY", server.address())
        return 'database = "OVERT_TEST_LONELY"\ntable = "lonely_pay"'
    if kind == "db":
        (folder / "people.db").unlink(missing_ok=True)
        with closing(sqlite3.connect(folder / "people.db")) as connection:
            connection.execute("CREATE TABLE people (age, pay, note)")
            connection.executemany("INSERT INTO people VALUES (?, ?, ?)", [(age, one, one) for age, one in rows])
            connection.commit()
        return 'database = "people.db"\ntable = "people"'
    lines = [json.dumps({"age": age, "pay": one, "note": one}) for age, one in rows]
    if kind == "csv":
        cells = ("" if one is None else str(one) for _, one in rows)
        lines = ["age,pay,note", *(f"{age},{one},{one}" for (age, _), one in zip(rows, cells, strict=True))]
    (folder / f"people.{kind}").write_text("\n".join(lines) + "\n")
    return f'path = "people.{kind}"'


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "db", "postgresql"])
def test_a_type_that_no_source_declares_says_nothing_of_who_was_suppressed(kind, ending, tmp_path, request):
    """One fraction makes all numbers of the source fractions, and one with two digits after the point gives all exact numbers two: 1 or 1.0 tells of it."""
    found = []
    for lonely in (5, 1.5, 2.75):
        source = write_pay(tmp_path, kind, [*PAY, lonely], request)
        recipe = LONELY.format(source=source, place=f"release.{ending}", more='others = ["note"]')
        (tmp_path / "recipe.toml").write_text(recipe)
        rng = np.random.default_rng(1)
        outcome = overt.run(read_recipe(tmp_path / "recipe.toml"), rng=rng, overwrite=True, report=True, audit=False)
        assert outcome.ok and outcome.n_suppressed == 1
        found.append({p.name: undated(p) for p in tmp_path.glob("release*") if audience_of(p) is Audience.PUBLIC})
        data = "people." + kind if kind != "postgresql" else "OVERT_TEST_LONELY"
        checked = overt.check(data if kind == "postgresql" else tmp_path / data, tmp_path / f"release.{ending}")
        assert checked.ok, checked
    assert found[0] == found[1] == found[2] and len(found[0]) == 4


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_type_that_no_source_declares_says_nothing_of_who_was_suppressed_out_of_core(
    ending, tmp_path, monkeypatch, request
):
    monkeypatch.chdir(tmp_path)
    found = []
    for lonely in (5, 1.5):
        source = write_pay(tmp_path, "csv", [*PAY, lonely], request)
        recipe = LONELY.format(source=source, place="release", more=f'format = "{ending}"')
        (tmp_path / "recipe.toml").write_text(recipe)
        outcome = overt.run("recipe.toml", overwrite=True, report=True, engine="out-of-core")
        assert outcome.ok and outcome.n_suppressed == 1
        found.append({str(p): undated(p) for p in Path("release").rglob("*") if p.is_file()})
        assert overt.check("people.csv", "release").ok
    assert found[0] == found[1] and len(found[0]) == 4
