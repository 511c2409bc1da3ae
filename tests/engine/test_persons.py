# SPDX-License-Identifier: Apache-2.0
"""Persons with several rows from a recipe to checked files: all forms, and releases that somebody altered."""

import numpy as np
import polars as pl
import pytest

import overt
from overt.errors import InvalidInput
from overt.metrics.known_counts import find_known_counts
from persons import table_of_persons

RECIPE = """
version = 1
[input]
path = "visits.csv"
person = "ID"
{input}
[columns]
ID = {{ role = "identifier" }}
Born = {{ role = "quasi-identifier" }}
Sex = {{ role = "quasi-identifier" }}
Admitted = {{ role = "quasi-identifier", varies = true }}
Dx = {{ role = "sensitive" }}
Drug = {{ role = "sensitive" }}
[[goal]]
property = "k-anonymity"
k = 4
[[goal]]
property = "l-diversity"
l = 2
[method]
name = "blind-buckets"
rows_per_bucket = 6
{method}
[output]
path = "release.csv"
{output}
"""


@pytest.fixture(scope="module")
def visits():
    """120 persons with one to three visits."""
    rng = np.random.default_rng(5)
    rows = []
    for person in range(120):
        born, sex = int(rng.integers(1940, 2000)), str(rng.choice(["f", "m"]))
        for _ in range(int(rng.integers(1, 4))):
            day = f"2022-{rng.integers(1, 13):02}-{rng.integers(1, 28):02}"
            rows.append(
                (f"P{person}", born, sex, day, str(rng.choice(list("ABCDEFGHIJ"))), str(rng.choice(list("rstuvwxyz"))))
            )
    order = rng.permutation(len(rows))
    return pl.DataFrame([rows[i] for i in order], orient="row", schema=["ID", "Born", "Sex", "Admitted", "Dx", "Drug"])


@pytest.fixture
def made(visits, tmp_path):
    """Run a recipe on the visits."""
    visits.write_csv(tmp_path / "visits.csv")

    def make(input="", method="", output=""):  # noqa: A002
        text = RECIPE.format(input=input, method=method, output=output)
        (tmp_path / "recipe.toml").write_text(text)
        return overt.run(tmp_path / "recipe.toml", rng=np.random.default_rng(3), audit=False, overwrite=True)

    return make, tmp_path


FORMS = [(f'form = "{form}"', "") for form in ("buckets", "shuffled", "generalized")] + [("", "flat = true")]


@pytest.mark.parametrize("known", ["visits", "static"])
@pytest.mark.parametrize("keep", ["", "keep = 2", 'keep = 2\norder = "Admitted"\nwhich = "latest"', "keep = 1"])
@pytest.mark.parametrize(("method", "output"), FORMS, ids=str)
def test_every_form_holds_what_it_claims_and_is_checked_from_its_files(made, known, keep, method, output):
    make, folder = made
    outcome = make(f'known = "{known}"\n{keep}', method, output)
    assert outcome.ok, [finding.sentence for finding in outcome.verdict.failures]
    checked = overt.check(folder / "visits.csv", folder / "release.csv")
    assert checked.ok, [finding.sentence for finding in checked.verdict.failures]
    assert outcome.n_rows == 120


def alter(folder, name, change):
    """Change a published table and write it as it was written."""
    path = folder / name
    change(pl.read_csv(path, infer_schema=False)).write_csv(path)


def failures(folder):
    found = overt.check(folder / "visits.csv", folder / "release.csv")
    return {finding.name for finding in found.verdict.failures} - {"digests"}


def swapped(frame, name, one, other):
    cells = frame.get_column(name).to_list()
    cells[one], cells[other] = cells[other], cells[one]
    return frame.with_columns(pl.Series(name, cells))


def test_a_bundle_that_lost_a_row_is_nobodys(made):
    make, folder = made
    assert make('known = "static"').ok and not failures(folder)

    lengths = pl.read_csv(folder / "release.sensitive.csv").group_by("person", maintain_order=True).len()
    longest = int(lengths.filter(pl.col("len") == 3).get_column("person")[0])
    alter(
        folder,
        "release.sensitive.csv",
        lambda f: f.filter(~((pl.col("person") == str(longest)) & pl.int_range(pl.len()).over("person").eq(2))),
    )
    assert "truth" in failures(folder)


def test_persons_who_are_cut_in_two_are_found(made):
    """Two lines of one person, numbered as two persons."""
    make, folder = made
    assert make(method='form = "generalized"').ok

    def split(frame):
        person = [int(n) for n in frame.get_column("person")]
        at = next(i for i in range(1, len(person)) if person[i] == person[i - 1])
        return frame.with_columns(pl.Series("person", [n + (i >= at) for i, n in enumerate(person)]))

    alter(folder, "release.csv", split)
    assert {"rows", "truth"} & failures(folder)


def test_rows_of_two_persons_exchanged_are_found(made):
    """The groups stay as diverse as they were, and two persons have rows of each other."""
    make, folder = made
    assert make('known = "static"', method='form = "generalized"').ok
    frame = pl.read_csv(folder / "release.csv", infer_schema=False)
    person, ill = frame.get_column("person").to_list(), frame.get_column("Dx").to_list()
    i, j = next(
        (i, j) for i in range(len(person)) for j in range(i + 1, len(person))
        if person[i] != person[j] and ill[i] != ill[j] and person.count(person[i]) > 1
    )  # fmt: skip
    alter(folder, "release.csv", lambda f: swapped(f, "Dx", i, j))
    assert failures(folder)


def test_lines_of_one_person_in_two_groups_are_found(made):
    make, folder = made
    assert make(method='form = "generalized"').ok
    frame = pl.read_csv(folder / "release.csv", infer_schema=False)
    person, born = frame.get_column("person").to_list(), frame.get_column("Born").to_list()
    other = next(b for b in born if b != born[0])
    at = next(i for i in range(1, len(person)) if person[i] == person[i - 1] and born[i] != other)
    alter(
        folder,
        "release.csv",
        lambda f: f.with_columns(pl.Series("Born", [other if i == at else b for i, b in enumerate(born)])),
    )
    assert "persons" in failures(folder)


def test_numbers_of_persons_that_carry_a_message_are_found(made):
    make, folder = made
    assert make().ok
    alter(folder, "release.sensitive.csv", lambda f: f.with_columns(pl.col("person").str.zfill(6)))
    assert "persons" in failures(folder)


def test_rows_that_were_drawn_are_checked_with_the_owners_record_only(made):
    make, folder = made
    assert make("keep = 2").ok
    (folder / "release.csv.owner.json").unlink()
    with pytest.raises(InvalidInput, match="only the owner's record says which"):
        overt.check(folder / "visits.csv", folder / "release.csv")


def test_public_files_name_no_person_and_do_not_tell_what_was_cut(made, visits):
    make, folder = made
    assert make("keep = 2").ok
    manifest = (folder / "release.csv.manifest.json").read_text()
    assert '"persons": 120' in manifest and str(visits.height) not in manifest and "key" not in manifest
    for path in folder.glob("release*.csv"):
        assert "P1" not in path.read_text()


def test_who_knows_counts_is_measured_where_they_count_as_unknown(made):
    """By counting persons of a bucket with as many rows, from the definition."""
    make, _ = made
    alone = [words for words in make('known = "static"').cautions if "alone with their number" in words]
    assert len(alone) == 2 and all("likelier than the release says of anybody" in words for words in alone)
    assert not [words for words in make().cautions if "alone with their number" in words]
    bundles = ["a", "bcd", "ab", "cd"]
    table = table_of_persons([[0, 0, 0, 0]], bundles, known="static")
    release = overt.BlindBuckets(goal=overt.FrequencyLDiversity(2), k=1, rows_per_bucket=4).anonymize(
        table, rng=np.random.default_rng(1)
    )
    [found] = find_known_counts(release)
    assert (found.n_alone, found.n_above, found.highest) == (
        2,
        2,
        1,
    )  # one row and three rows; of ab and cd each value has a half


REFUSED = [
    ({"method": 'name = "mondrian"'}, "could intersect their groups"),
    ({"goal": 'property = "distinct-l-diversity"\nl = 2'}, "distinct 2-diversity is defined for one value per person"),
    ({"goal": 'property = "entropy-l-diversity"\nl = 2'}, "entropy 2-diversity is defined for one value per person"),
    (
        {"goal": 'property = "recursive-c-l-diversity"\nc = 2\nl = 2'},
        r"recursive \(2, 2\)-diversity is defined for one value",
    ),
    ({"goal": 'property = "delta-disclosure"\ndelta = 1'}, "1-disclosure privacy is defined for one value per person"),
    (
        {"goal": 'property = "t-closeness"\nt = 0.5\ndistance = "ordered"'},
        r"0.5-closeness \(ordered distance\) is defined for one value",
    ),
    (
        {"goal": 'property = "t-closeness"\nt = 0.5\ndistance = "hierarchical"'},
        r"0.5-closeness \(hierarchical distance\) is defined for one",
    ),
    ({"input": 'person = "ID"\nwhich = "latest"\nkeep = 2'}, "needs order"),
    ({"input": 'person = "ID"\nwhich = "random"'}, "'which' says which rows are kept, but all rows are kept"),
    ({"input": 'person = "Born"'}, "give it the role 'identifier', not 'quasi-identifier'"),
    ({"input": 'person = ["ID", "Household"]'}, "the groups of both together tell more than either"),
    ({"input": 'person = "ID"\norder = "Dx"\nkeep = 1\nwhich = "first"'}, "is sensitive and cannot be the order"),
    ({"input": "keep = 2"}, "also say which column identifies the person"),
    ({"output": 'others = ["Note"]'}, "columns without a role cannot be released of persons"),
]


@pytest.mark.parametrize(("said", "words"), REFUSED, ids=lambda said: str(said)[:50])
def test_what_does_not_protect_persons_is_refused_by_name(tmp_path, said, words):
    parts = {
        "input": 'person = "ID"', "goal": 'property = "l-diversity"\nl = 2', "method": 'name = "blind-buckets"', "output": "",
    } | said  # fmt: skip
    (tmp_path / "recipe.toml").write_text(
        f'version = 1\n[input]\npath = "v.csv"\n{parts["input"]}\n[columns]\nID = {{ role = "identifier" }}\n'
        'Born = { role = "quasi-identifier" }\nDx = { role = "sensitive" }\n'
        f'[[goal]]\n{parts["goal"]}\n[method]\n{parts["method"]}\n[output]\npath = "r.csv"\n{parts["output"]}\n'
    )
    with pytest.raises(InvalidInput, match=words) as refused:
        overt.run(tmp_path / "recipe.toml")
    assert "leave out 'person'" not in str(refused.value) and "leave 'person' out" not in str(refused.value)


@pytest.mark.parametrize("known", ["visits", "static"])
def test_pooled_rows_carry_no_number_and_are_checked_with_the_owners_record(made, visits, known):
    make, folder = made
    outcome = make(f'known = "{known}"\nkeep = 2', output='rows = "pooled"')
    assert outcome.ok, [finding.sentence for finding in outcome.verdict.failures]
    pooled = pl.read_csv(folder / "release.sensitive.csv", infer_schema=False)
    assert "person" not in pooled.columns and pooled.height == outcome.n_rows_of_persons
    kept = visits.group_by("ID").agg(pl.len().clip(upper_bound=2)).get_column("len").sum()
    assert pooled.height == kept
    shown = ["bucket", "Dx", "Drug"] if known == "visits" else ["bucket", "Admitted", "Dx", "Drug"]
    assert pooled.columns == shown
    lines = [(int(line[0]), *line[1:]) for line in pooled.rows()]
    assert lines == sorted(lines)  # nothing of their order is a person's
    checked = overt.check(folder / "visits.csv", folder / "release.csv")
    assert checked.ok, [finding.sentence for finding in checked.verdict.failures]
    for public in ("release.csv", "release.csv.manifest.json"):
        assert "rows_of_person" not in (folder / public).read_text()


def test_altered_pooled_rows_are_found(made):
    make, folder = made
    assert make('known = "static"', output='rows = "pooled"').ok
    path = folder / "release.sensitive.csv"
    as_made = path.read_bytes()
    alter(folder, path.name, lambda f: f[[1, 0, *range(2, f.height)]])
    assert "lines" in failures(folder)
    path.write_bytes(as_made)
    alter(folder, path.name, lambda f: f[:-1])
    assert {"lines", "persons"} <= failures(folder)
    path.write_bytes(as_made)
    alter(folder, path.name, lambda f: f.with_columns(person=pl.int_range(1, pl.len() + 1).cast(pl.String)))
    assert "lines" in failures(folder)
    path.write_bytes(as_made)
    last = pl.read_csv(path, infer_schema=False).get_column("bucket")[-1]
    alter(
        folder, path.name,
        lambda f: f.with_columns(Drug=pl.when(pl.col("bucket") == last).then(pl.lit("z")).otherwise("Drug")),
    )  # fmt: skip
    assert failures(folder)
    path.write_bytes(as_made)
    assert not failures(folder)


def test_pooled_rows_are_not_judged_without_the_owners_record(made):
    make, folder = made
    assert make('known = "static"', output='rows = "pooled"').ok
    with pytest.raises(InvalidInput, match="without --recipe"):
        overt.check(folder / "visits.csv", folder / "release.csv", recipe=folder / "recipe.toml")
    (folder / "release.csv.owner.json").unlink()
    with pytest.raises(InvalidInput, match="only the owner's record says which lines of a bucket belong to one person"):
        overt.check(folder / "visits.csv", folder / "release.csv")


@pytest.mark.parametrize(
    ("input", "method", "output", "words"),
    [
        ("keep = 1", "", "", "is for persons with several rows"),
        ("", 'form = "generalized"', "", "line [0-9]+: .*sensitive values in a table of their own"),
        ("", "", "flat = true", "line [0-9]+: .*sensitive values in a table of their own"),
    ],
)
def test_pooling_that_does_not_fit_is_refused(made, input, method, output, words):  # noqa: A002
    make, _ = made
    with pytest.raises(InvalidInput, match=words):
        make(input, method, f'rows = "pooled"\n{output}')


def test_what_a_console_shows_of_a_table_and_of_a_release_counts_persons():
    table = table_of_persons([[0, 0, 1, 1]], ["ab", "cd", "ab", "cd"])
    assert repr(table).startswith("Table of 4 persons\n") and "Table of 4 persons" in table._repr_html_()
    release = overt.BlindBuckets(goal=overt.RelativeRisk(4), k=2, rows_per_bucket=2).anonymize(
        table, rng=np.random.default_rng(0)
    )
    for text in (repr(release), release._repr_html_()):
        assert "persons in the smallest and the largest group" in text and "suppressed persons" in text
        assert "rows in the smallest" not in text
