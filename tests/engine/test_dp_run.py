# SPDX-License-Identifier: Apache-2.0
"""Differentially private releases from file to file: what leaves, what is refused, and what a check says. Each trap has a test."""

import hashlib
import io
import json
import re
import shutil
from contextlib import redirect_stderr, redirect_stdout
from itertools import chain, product

import numpy as np
import polars as pl
import pytest

import overt
from overt.audience import PRINTED, Audience, audience_of
from overt.cli import main
from overt.cli.console import Exit
from overt.engine.course import prepare
from overt.engine.dp_run import DpOutcome
from overt.errors import InvalidInput, InvalidRecipe, Unreachable
from overt.hierarchy import Nested
from overt.io.dp_release import DpManifest
from overt.io.ledger import ledger_path, read_ledger, set_limit
from overt.io.publication import owner_view, publish
from overt.io.recipe.recipe import parse_recipe, read_recipe
from overt.report.owner_report import make_report

RECIPE = """
version = 1
[input]
path = "people.csv"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi-identifier"
hierarchy = { widths = [10, 20] }
[columns.sex]
role = "quasi-identifier"
hierarchy = { nested = { "*" = ["F", "M"] } }
[columns.illness]
role = "sensitive"
hierarchy = { nested = { mild = ["cold", "flu"], severe = ["cancer"] } }
[method]
name = "dp-sampling"
epsilon = 1
delta = 1e-3
s = 0.5
levels = [[1, 0, 1]]
[output]
path = "release.csv"
"""
CUBE = RECIPE.replace('"dp-sampling"', '"dp-cube"').replace("levels = [[1, 0, 1]]\n", 'share = "1/4"\n')
N_ROWS = 1357


def write_people(folder, n=N_ROWS, extra=()):
    rng = np.random.default_rng(11)
    people = [
        (
            f"Secret{i}",
            str(rng.integers(20, 60)),
            str(rng.choice(["F", "M"])),
            str(rng.choice(["cold", "flu", "cancer"])),
        )
        for i in range(n)
    ]
    frame = pl.DataFrame([*people, *extra], schema=["name", "age", "sex", "illness"], orient="row")
    frame.write_csv(folder / "people.csv")


@pytest.fixture
def folder(tmp_path):
    write_people(tmp_path)
    (tmp_path / "recipe.toml").write_text(RECIPE, "utf-8")
    (tmp_path / "cube.toml").write_text(CUBE, "utf-8")
    set_limit(ledger_path(tmp_path / "people.csv"), 1000, "0.5")
    return tmp_path


def command(*words):
    """(exit code, standard output, standard error) of a command."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main([str(word) for word in words])
    return code, out.getvalue(), err.getvalue()


def run(folder, recipe="recipe.toml", *words):
    return command("run", folder / recipe, *words)


def check(folder, *words):
    return command("check", folder / "people.csv", folder / "release.csv", *words)


def test_no_identifier_is_counted_whatever_its_name(folder):
    for name in ("Case ID", "Patient ID"):
        text = RECIPE.replace("[output]", f'[columns."{name}"]\nrole = "identifier"\n[output]')
        recipe = parse_recipe(text, folder=folder)
        assert name in recipe.settings.columns and recipe.persons == recipe.perhaps_persons == ()


@pytest.mark.parametrize("recipe", ["recipe.toml", "cube.toml"])
def test_a_dp_release_is_made_and_passes_its_check(folder, recipe):
    code, out, _ = run(folder, recipe)
    assert code == Exit.DONE and "epsilon 1, delta 0.001" in out
    released = pl.read_csv(folder / "release.csv", infer_schema=False)
    assert released.columns == ["age", "sex", "illness"]
    assert released.equals(released.sort(released.columns))
    code, out, _ = check(folder)
    assert code == Exit.DONE and "cannot be seen in a file" in " ".join(out.split())
    assert "ledger of the data contains this release" in " ".join(out.split())
    named = command("check", folder / "people.csv", folder / "release.csv.manifest.json")
    assert named[:2] == (code, out)  # the manifest names the release as well


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("has_data", [True, False])
def test_a_release_has_the_separator_of_its_data_and_another_one_is_found(folder, separator, has_data):
    """Which separator stands between cells is nobody's choice, so that it tells nothing; also where the data is not at hand."""
    people = pl.read_csv(folder / "people.csv", infer_schema=False)
    people.write_csv(folder / "people.csv", separator=separator)
    assert run(folder)[0] == Exit.DONE
    if not has_data:
        (folder / "people.csv").unlink()
    assert check(folder)[0] == Exit.DONE
    other = {",": ";", ";": ","}[separator]
    path, manifest = folder / "release.csv", folder / "release.csv.manifest.json"
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    pl.read_csv(path, separator=separator, infer_schema=False).write_csv(path, separator=other)
    after = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest.write_text(manifest.read_text("utf-8").replace(before, after), "utf-8")
    code, out, _ = check(folder)
    assert code == Exit.CHECK_FAILED and "the bytes are not what Overt writes" in " ".join(out.split())


def test_trap_nothing_tells_how_many_rows_there_were_or_were_left_out(folder):
    # the figures of the data, which nothing that leaves may hold
    for words in product(((), ("--seed", "4")), ((), ("--json",), ("--quiet",))):
        _, out, err = run(folder, "recipe.toml", "--overwrite", *chain(*words))
        released = pl.read_csv(folder / "release.csv", infer_schema=False)
        texts = [out, err, (folder / "release.csv.manifest.json").read_text("utf-8"), *check(folder)[1:]]
        texts = [
            re.sub(r"[0-9a-f]{32,}|\d{4}-\d\d-\d\dT[\d:.]+", "", text.replace(str(folder), "")) for text in texts
        ]  # without digests, ids and times
        found = {int(number.replace(",", "")) for text in texts for number in re.findall(r"\d[\d,]*", text)}
        assert released.height in found and not found & {N_ROWS, N_ROWS + 1, N_ROWS - released.height}
        manifest = json.loads((folder / "release.csv.manifest.json").read_text("utf-8"))
        assert set(manifest) == {
            "dp_manifest", "audience", "id", "created", "versions", "method", "epsilon", "delta", "facts", "coins", "release",
            "hierarchy_files", "recipe",
        }  # fmt: skip
    assert sorted(path.name for path in folder.iterdir()) == [
        ".people.csv.budget.json.lock", "cube.toml", "people.csv", "people.csv.budget.json", "recipe.toml",
        "release.csv", "release.csv.manifest.json",
    ]  # fmt: skip


def test_parameters_that_cannot_be_computed_with_spend_nothing(folder):
    (folder / "recipe.toml").write_text(RECIPE.replace("s = 0.5", "s = 0.5\nk = 10000000000"), "utf-8")
    assert run(folder)[0] == Exit.TOO_LARGE
    assert not read_ledger(ledger_path(folder / "people.csv")).releases
    assert not (folder / "release.csv").exists()


def test_trap_progress_does_not_say_how_much_there_is_to_do(folder):
    told = []
    overt.run(read_recipe(folder / "cube.toml"), on_progress=lambda *words: told.append(words))
    assert len(told) >= 4 and all(words[1:] == (0, 0) for words in told)


def test_trap_the_ledger_holds_no_figure_of_the_data(folder):
    run(folder)
    entry = json.loads(ledger_path(folder / "people.csv").read_text("utf-8"))["entries"][-1]
    assert set(entry) == {"kind", "time", "release", "id", "method", "epsilon", "delta", "before"}


def test_trap_order_says_nothing_of_the_order_of_the_rows(folder):
    def released(seed):
        overt.run(read_recipe(folder / "recipe.toml"), rng=np.random.default_rng(seed), overwrite=True)
        return pl.read_csv(folder / "release.csv", infer_schema=False)

    for seed in range(3):
        frame = released(seed)
        assert frame.equals(frame.sort(frame.columns))


def test_trap_suppressed_rows_are_not_pooled_as_root_rows(folder):
    # one person at 97 is alone in an element: neither shown, nor counted as a row of stars
    write_people(folder, n=400, extra=[("Alone", "97", "F", "cold")] * 2)
    for seed in range(5):
        overt.run(read_recipe(folder / "recipe.toml"), rng=np.random.default_rng(seed), overwrite=True)
        shown = pl.read_csv(folder / "release.csv", infer_schema=False)
        assert not shown.get_column("age").is_in(["[90, 100)", "*"]).any()


def test_trap_a_dictionary_of_a_file_holds_no_value_that_is_not_shown(folder):
    recipe = read_recipe(folder / "recipe.toml")
    prepared = prepare(recipe)
    table, method = prepared.table, prepared.method
    release = method.anonymize(table, rng=np.random.default_rng(0))
    shown = publish(release)
    for name in shown.columns:
        assert shown.get_column(name).dtype == pl.String
    overt.run(parse_recipe(RECIPE.replace("release.csv", "release.parquet"), folder=folder))
    raw = (folder / "release.parquet").read_bytes()
    assert b"Secret" not in raw and b"cold" not in raw and b"[20, 30)" in raw


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('path = "release.csv"', 'path = "release.csv"\nothers = ["name2"]', "released as it is would break"),
        ('path = "release.csv"', 'path = "release.csv"\nflat = true', "one table already; take 'flat' out"),
        ('role = "identifier"', 'role = "identifier"\nrepeats = "refuse"', "refusal that depends on the data"),
        ("{ widths = [10, 20] }", '{ widths = [10, 20] }\nshow = "range"', "take 'show' out"),
        ("{ widths = [10, 20] }", "{ quantiles = [4] }", "'age', Quantiles, is made from the data"),
        ("{ widths = [10, 20] }", "{ flat = true }", "'age', Flat, is made from the data"),
        ("hierarchy = { widths = [10, 20] }\n", "", "'age' has no hierarchy"),
        ('role = "sensitive"\n', 'role = "sensitive"\nmissing = "drop"\n', "take 'missing' out"),
        ("s = 0.5", "s = 0.9", "use s of at most 0.6321"),
        ("s = 0.5", "s = 0.5\nk = 2", "leave k out"),
        ("levels = [[1, 0, 1]]", "levels = [[1, 0]]", "levels holds"),
        ("[output]", '[[goal]]\nproperty = "k-anonymity"\nk = 2\n[output]', "has no goal.*take .* out"),
    ],
)
def test_trap_what_would_break_the_guarantee_is_refused_in_the_recipe(folder, before, after, words):
    with pytest.raises(InvalidRecipe, match=words):
        parse_recipe(RECIPE.replace(before, after, 1), folder=folder)


@pytest.mark.parametrize("recipe", ["recipe.toml", "cube.toml"])
@pytest.mark.parametrize(
    "extra",
    [
        [("x", "", "", "")],
        [("x", "not a number", "divers", "unknown")],
        [("x", "1e308", "F", "cold"), ("y", "-0", "*", '"')],
        [("Secret0", "20", "F", "cold")] * 2,
    ],
    ids=["missing", "strange", "extreme", "repeated"],
)
def test_trap_no_row_makes_a_run_fail(folder, recipe, extra):
    write_people(folder, extra=extra)
    assert run(folder, recipe)[0] == Exit.DONE
    assert check(folder)[0] == Exit.DONE


@pytest.mark.parametrize("recipe", ["recipe.toml", "cube.toml"])
@pytest.mark.parametrize("n", [0, 1])
def test_trap_an_empty_table_is_released_like_one_row(folder, recipe, n):
    write_people(folder, n=n)
    code, out, _ = run(folder, recipe)
    assert code == Exit.DONE and "0 rows, 0 of them different" in out
    assert (folder / "release.csv").read_text("utf-8") == "age,sex,illness\n"
    assert check(folder)[0] == Exit.DONE


def test_trap_a_report_holds_no_figure_of_the_data(folder):
    assert run(folder, "recipe.toml", "--report")[0] == Exit.DONE
    page, document = (folder / f"release.report.{ending}" for ending in ("html", "json"))
    report = json.loads(document.read_text("utf-8"))
    released = pl.read_csv(folder / "release.csv", infer_schema=False)
    assert report["differentially_private"] and report["rows_published"] == released.height
    assert report["rows_of_level"]["age"] == [0, released.height, 0, 0]
    assert report["fewest_copies"] == released.group_by(pl.all()).len()["len"].min()
    text = page.read_text("utf-8").partition("</style>")[2] + document.read_text("utf-8")
    found = {int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", text)}
    assert not found & {N_ROWS, N_ROWS - released.height} and "differentially private: epsilon 1, delta 0.001" in text
    assert "Secret" not in text and str(folder) not in text
    run(folder, "recipe.toml", "--report", "--overwrite", "--seed", "1")
    assert (
        "It is NOT differentially private" in page.read_text("utf-8")
        and not json.loads(document.read_text("utf-8"))["differentially_private"]
    )
    write_people(folder, n=1)
    assert run(folder, "recipe.toml", "--report", "--overwrite")[0] == Exit.DONE
    assert "Nothing: no combination had enough copies" in page.read_text("utf-8")


def test_trap_nothing_public_names_the_file_with_the_data(folder):
    """What a file is called says what somebody knew of it: "HIV patients of ward 7"."""
    (folder / "people.csv").rename(folder / "ward of the Kanarienvogel.csv")
    set_limit(ledger_path(folder / "ward of the Kanarienvogel.csv"), 1000, "0.5")
    for name in ("recipe.toml", "cube.toml"):
        text = (folder / name).read_text("utf-8").replace("people.csv", "ward of the Kanarienvogel.csv")
        (folder / name).write_text(text, "utf-8")
        for words in ((), ("--json",)):
            code, out, err = run(folder, name, "--report", "--overwrite", *words)
            assert code == Exit.DONE and "Kanarienvogel" not in out
            assert "overt check" in err and "Kanarienvogel" in err.partition(PRINTED)[2]
        result = overt.run(read_recipe(folder / name), report=True, overwrite=True)
        assert result.for_whom() is Audience.PUBLIC
        assert "Kanarienvogel" not in str(result) + repr(result) + result._repr_html_() + json.dumps(result.to_dict())
        for path in folder.glob("release*"):
            assert audience_of(path) is Audience.PUBLIC and "Kanarienvogel" not in path.read_text("utf-8"), path.name
    page = (folder / "release.report.html").read_text("utf-8")
    assert "input.csv" in page  # the public name of the data


def test_trap_comparisons_audits_and_owner_views_are_refused(folder):
    for words in (
        ("audit", folder / "recipe.toml"),
        ("compare", folder / "recipe.toml", folder / "cube.toml"),
    ):
        _, out, err = command(*words)
        assert "would reveal what they hide" in " ".join((out + err).split()), words
    assert read_ledger(ledger_path(folder / "people.csv")).releases == ()
    recipe = read_recipe(folder / "recipe.toml")
    prepared = prepare(recipe)
    table, method = prepared.table, prepared.method
    release = method.anonymize(table)
    with pytest.raises(InvalidInput, match="shown to nobody"):
        owner_view(release)
    with pytest.raises(InvalidInput, match="would reveal what a differentially private release hides"):
        make_report(release, goal=method.goal)
    with pytest.raises(InvalidInput, match="leave `others` out"):
        publish(release, others=["name"])
    with pytest.raises(InvalidInput, match="leave `show` out"):
        publish(release, show={"age": "range"})
    assert str(N_ROWS) not in release._repr_html_().replace(",", "")
    assert release.for_owner["rows of the table"] == N_ROWS


def test_a_release_with_a_seed_says_so_and_is_refused_by_check(folder):
    code, out, _ = run(folder, "recipe.toml", "--seed", "7")
    assert "Against   nobody" in out and "whatever they know" not in out
    assert code == Exit.DONE and "Made with a seed" in out
    first = (folder / "release.csv").read_bytes()
    assert json.loads((folder / "release.csv.manifest.json").read_text("utf-8"))["coins"] == "seeded"
    code, out, _ = check(folder)
    assert code == Exit.CHECK_FAILED and "made with a seed" in out
    run(folder, "recipe.toml", "--seed", "7", "--overwrite")
    assert (folder / "release.csv").read_bytes() == first
    run(folder, "recipe.toml", "--overwrite")
    assert check(folder)[0] == Exit.DONE
    assert (folder / "release.csv").read_bytes() != first  # the same with a probability far below 1e-50


def test_the_budget_is_spent_before_the_release_and_refused_when_it_is_used_up(folder):
    path = ledger_path(folder / "people.csv")
    set_limit(path, "2.5", "0.1")
    assert run(folder)[0] == Exit.DONE
    assert run(folder, "recipe.toml", "--overwrite")[0] == Exit.DONE
    kept = (folder / "release.csv").read_bytes()
    code, _, err = run(folder, "recipe.toml", "--overwrite")
    assert code == Exit.UNREACHABLE and "epsilon 2, delta 0.002 is spent" in err
    assert (folder / "release.csv").read_bytes() == kept
    with pytest.raises(Unreachable):
        overt.run(read_recipe(folder / "recipe.toml"), overwrite=True)


def test_a_run_that_fails_after_spending_has_spent(folder, monkeypatch):
    from overt.io.targets import FileTarget

    def crash(*_, **__):
        raise OSError("the disk is full")

    monkeypatch.setattr(FileTarget, "writing", crash)
    with pytest.raises(OSError, match="the disk is full"):
        overt.run(read_recipe(folder / "recipe.toml"))
    assert not (folder / "release.csv").exists()
    assert len(read_ledger(ledger_path(folder / "people.csv")).releases) == 1


@pytest.mark.parametrize(
    ("path", "words"), [("nowhere/release.csv", "There is no folder"), ("release", "does not say a format")]
)
def test_a_release_that_has_no_place_to_go_costs_nothing(folder, path, words):
    recipe = folder / "recipe.toml"
    recipe.write_text(recipe.read_text("utf-8").replace('"release.csv"', f'"{path}"'), "utf-8")
    code, _, err = run(folder)
    assert code == Exit.DATA and words in err
    assert not read_ledger(ledger_path(folder / "people.csv")).releases


def test_without_a_limit_nothing_is_released(folder):
    ledger_path(folder / "people.csv").unlink()
    code, _, err = run(folder)
    assert code == Exit.DATA and "overt budget people.csv --epsilon 1 --delta 0.001" in err
    assert not (folder / "release.csv").exists()
    assert command("budget", folder / "people.csv", "--epsilon", "3", "--delta", "1e-2")[0] == Exit.DONE
    assert run(folder)[0] == Exit.DONE
    code, out, _ = command("budget", folder / "people.csv")
    assert code == Exit.DONE and "epsilon 3, delta 0.01" in out and "epsilon 1, delta 0.001 by 1 release" in out
    spent = json.loads(command("budget", folder / "people.csv", "--json")[1])
    assert spent["spent"] == {"epsilon": 1.0, "delta": 0.001} and len(spent["releases"]) == 1
    assert command("budget", folder / "people.csv", "--epsilon", "3")[0] == Exit.DATA
    assert command("budget", folder / "people.csv", "--quiet")[1] == ""


def test_a_check_does_not_look_at_the_data(folder):
    run(folder)
    (folder / "people.csv").write_text("nothing\n", "utf-8")
    assert check(folder)[0] == Exit.DONE
    (folder / "people.csv").unlink()
    ledger_path(folder / "people.csv").unlink()
    code, out, _ = check(folder)
    assert code == Exit.DONE and "ledger" not in out


def tamper_with(folder, change):
    path = folder / "release.csv"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(change(lines)) + "\n", "utf-8")


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (lambda lines: lines[:-1], "digests"),
        (lambda lines: [*lines, '"[90, 100)",M,severe'], "copies"),
        (lambda lines: [*lines, *['"[91, 101)",M,severe'] * 200], "labels"),
        (lambda lines: [*lines, *['"[80, 100)",M,severe'] * 200], "labels"),
        (lambda lines: [lines[0], *reversed(lines[1:])], "order"),
        (lambda lines: [line + ",x" for line in lines], "columns"),
        (lambda lines: [line.rpartition(",")[0] for line in lines], "columns"),
    ],
)
def test_a_release_that_was_changed_is_found(folder, change, finding):
    run(folder)
    tamper_with(folder, change)
    code, out, _ = check(folder, "--json")
    assert code == Exit.CHECK_FAILED
    assert finding in {one["name"] for one in json.loads(out)["findings"] if not one["ok"]}


def test_a_release_that_the_ledger_does_not_know_is_found(folder):
    run(folder)
    ledger_path(folder / "people.csv").unlink()
    set_limit(ledger_path(folder / "people.csv"), 5, "0.1")
    code, out, _ = check(folder, "--json")
    assert code == Exit.CHECK_FAILED
    assert [one["name"] for one in json.loads(out)["findings"] if not one["ok"]] == ["ledger"]


def test_without_its_manifest_nothing_says_which_coins_were_used(folder):
    run(folder)
    _, out, _ = check(folder, "--recipe", folder / "recipe.toml", "--json")
    assert [one["name"] for one in json.loads(out)["findings"] if not one["ok"]] == ["coins"]


@pytest.mark.parametrize("with_ledger", [True, False])
@pytest.mark.parametrize("where", ["method", "epsilon", "delta", "facts", "rows", "recipe", "hierarchies"])
def test_a_manifest_that_contradicts_its_recipe_is_found(folder, where, with_ledger):
    run(folder)
    path = folder / "release.csv.manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    changed = {"method": "dp-cube", "epsilon": "1/100", "delta": "1/1000000000"}
    manifest |= {where: changed[where]} if where in changed else {}
    manifest["facts"] |= {"Budget": "epsilon 0.01"} if where == "facts" else {}
    manifest["release"] |= {"rows": 7} if where == "rows" else {}
    manifest["hierarchy_files"] |= {"Goldammer": "0" * 64} if where == "hierarchies" else {}
    manifest["recipe"]["method"] |= {"epsilon": 3} if where == "recipe" else {}
    path.write_text(DpManifest.model_validate_json(json.dumps(manifest)).to_json(), "utf-8")  # as Overt writes it
    if not with_ledger:
        ledger_path(folder / "people.csv").unlink()
    code, out, _ = check(folder, "--json")
    assert code == Exit.CHECK_FAILED
    [said] = [one["sentence"] for one in json.loads(out)["findings"] if one["name"] == "manifest" and not one["ok"]]
    named = {"recipe": "epsilon"}.get(
        where, where
    )  # another epsilon in the recipe is not the one that the manifest claims
    assert named in said.partition(" in: ")[2].rstrip(".").split(", ")


def test_a_manifest_that_claims_less_than_its_parameters_cost_is_refused(folder):
    run(folder)
    path = folder / "release.csv.manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    manifest["recipe"]["method"]["k"] = 2
    path.write_text(json.dumps(manifest), "utf-8")
    code, _, err = check(folder)
    assert code != Exit.DONE and "leave k out" in err
    path.write_text(json.dumps({**manifest, "coins": "magic"}), "utf-8")
    code, _, err = check(folder)
    assert code == Exit.DATA and "not a manifest that this Overt can read (coins" in err


def test_an_external_database_is_read_and_recorded(folder):
    write_people(folder)
    shutil.copy(folder / "people.csv", folder / "census.csv")
    text = RECIPE.replace("levels = [[1, 0, 1]]", 'external = "census.csv"\nsupport = 100')
    outcome = overt.run(parse_recipe(text, folder=folder))
    assert isinstance(outcome, DpOutcome) and outcome.n_published > 0
    manifest = json.loads((folder / "release.csv.manifest.json").read_text("utf-8"))
    assert set(manifest["hierarchy_files"]) == {"external database"}
    assumed = "if the external database is public and was not made from the table"
    assert assumed in manifest["facts"]["Holds"] and assumed in dict(outcome.rows())["Against"]
    assert check(folder)[0] == Exit.DONE
    (folder / "census.csv").write_text("age,sex,illness\n20,F,flu\n", "utf-8")
    assert "census.csv changed" in check(folder)[1]


def test_trap_the_table_is_no_external_database(folder):
    text = RECIPE.replace("levels = [[1, 0, 1]]", f'external = "../{folder.name}/people.csv"')
    with pytest.raises(InvalidInput, match="here it is the table itself. Use dp-cube"):
        overt.run(parse_recipe(text, folder=folder))
    assert read_ledger(ledger_path(folder / "people.csv")).releases == ()


def test_a_method_with_its_own_goal_needs_none_and_others_do():
    with pytest.raises(InvalidRecipe, match=r"the recipe has no 'goal'; add \[\[goal\]\]"):
        parse_recipe(
            RECIPE.partition("[method]")[0] + '[method]\nname = "mondrian"\n[output]\npath = "r.csv"\n', folder=None
        )


def test_public_hierarchies_are_those_of_the_recipe(folder):
    recipe = read_recipe(folder / "recipe.toml")
    assert list(recipe.method.hierarchies) == ["age", "sex", "illness"]
    assert recipe.method.hierarchies["sex"] == Nested({"*": ["F", "M"]})
    assert recipe.goal == recipe.method.goal


def test_a_dp_release_goes_from_table_to_table_of_a_database(folder):
    import sqlite3

    people = pl.read_csv(folder / "people.csv", infer_schema=False)
    with sqlite3.connect(folder / "clinic.sqlite") as connection:
        connection.execute("create table people (name text, age integer, sex text, illness text)")
        connection.executemany("insert into people values (?, ?, ?, ?)", people.rows())
    connection.close()
    text = RECIPE.replace('path = "people.csv"', 'database = "clinic.sqlite"\ntable = "people"')
    text = text.replace('path = "release.csv"', 'database = "clinic.sqlite"\ntable = "shown"')
    (folder / "database.toml").write_text(text, "utf-8")
    assert run(folder, "database.toml")[0] == Exit.DATA  # the ledger of a table lies beside the recipe
    set_limit(ledger_path(folder / "people"), 1, "0.1")
    code, out, _ = run(folder, "database.toml")
    assert code == Exit.DONE and "shown.manifest.json" in out
    assert command("check", folder / "clinic.sqlite", folder / "shown.manifest.json")[0] == Exit.DONE
