# SPDX-License-Identifier: Apache-2.0
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar, Literal

import pytest

from overt.algorithms import HOMES, METHODS
from overt.algorithms.anatomy import Anatomy
from overt.algorithms.mondrian import Mondrian
from overt.errors import InvalidRecipe
from overt.guarantee import RELEASE_ONLY, Guarantee
from overt.hierarchy import CutPoints, Dates, Flat, Intervals, Levels, Nested, Prefixes, Quantiles
from overt.io.recipe.recipe import parse_recipe, read_recipe
from overt.io.recipe.settings import HIERARCHIES, ROLES, Auditing, Input, Output, settings_model
from overt.method import Method
from overt.privacy import PROPERTIES, AllOf, FrequencyLDiversity, KAnonymity, TCloseness
from overt.progress import silent

DOCS = Path(__file__).parents[3] / "docs" / "reference" / "recipe.md"
RECIPE = """\
version = 1

[input]
path = "patients.csv"

[columns.Name]
role = "identifier"

[columns.Age]
role = "quasi-identifier"
hierarchy = { widths = [5, 10] }

[columns."Birth date"]
role = "quasi-identifier"
kind = "date"

[columns.Disease]
role = "sensitive"

[[goal]]
property = "k-anonymity"
k = 5

[[goal]]
property = "l-diversity"
l = 3
column = "Disease"

[method]
name = "mondrian"
relaxed = true

[output]
path = "release.csv"
"""


def parse(text):
    return parse_recipe(text, folder=Path(), name="recipe.toml")


def refusal(text):
    with pytest.raises(InvalidRecipe) as refused:
        parse(text)
    return str(refused.value)


def test_a_recipe_becomes_values():
    recipe = parse(RECIPE)
    assert recipe.goal == AllOf((KAnonymity(5), FrequencyLDiversity(3, column="Disease")))
    assert recipe.method == Mondrian(goal=recipe.goal, relaxed=True)
    assert recipe.hierarchies == {"Age": Intervals(widths=(5, 10))}
    assert recipe.columns_of("quasi-identifier") == ("Age", "Birth date")
    assert recipe.columns_of("identifier") == ("Name",)
    assert recipe.choices("kind") == {"Birth date": "date"}
    assert recipe.missing == "refuse"


def test_paths_are_relative_to_the_recipe(tmp_path):
    (tmp_path / "recipe.toml").write_text(RECIPE)
    recipe = read_recipe(tmp_path / "recipe.toml")
    assert recipe.source.base == tmp_path / "patients.csv"
    assert recipe.output_path == tmp_path / "release.csv"


def test_one_goal_needs_no_all_of():
    text = RECIPE.replace('[[goal]]\nproperty = "l-diversity"\nl = 3\ncolumn = "Disease"\n', "")
    assert parse(text).goal == KAnonymity(5)


def test_fractions_are_what_a_person_wrote():
    text = RECIPE.replace('"l-diversity"\nl = 3', '"t-closeness"\nt = 0.2\ndistance = "ordered"')
    assert parse(text).goal.properties[1] == TCloseness(0.2, distance="ordered", column="Disease")
    text = RECIPE.replace("l = 3", 'l = "7/3"')
    assert "frequency" in str(parse(text).goal.properties[1])


def test_anatomy_takes_its_goal():
    text = RECIPE.replace('[[goal]]\nproperty = "k-anonymity"\nk = 5\n', "")
    text = text.replace('name = "mondrian"\nrelaxed = true', 'name = "anatomy"')
    assert parse(text).method == Anatomy(goal=FrequencyLDiversity(3, column="Disease"))


@pytest.mark.parametrize(
    ("written", "built"),
    [
        ("{ widths = [0.5, 1], origin = 3 }", Intervals(widths=(0.5, 1), origin=3)),
        ("{ cut_points = [18, 65] }", CutPoints(levels=((18, 65),))),
        ("{ cut_points = [[18, 40, 65], [18, 65]] }", CutPoints(levels=((18, 40, 65), (18, 65)))),
        ("{ quantiles = [10, 5] }", Quantiles(counts=(10, 5))),
        ("{ prefixes = [4, 2] }", Prefixes(lengths=(4, 2))),
        ('{ dates = ["month", "year"] }', Dates(units=("month", "year"))),
        ('{ nested = { North = ["a", "b"], South = "c" } }', Nested({"North": ["a", "b"], "South": "c"})),
        ("{ flat = true }", Flat()),
    ],
)
def test_every_hierarchy(written, built):
    assert parse(RECIPE.replace("{ widths = [5, 10] }", written)).hierarchies["Age"] == built


def test_a_hierarchy_file_lies_beside_the_recipe(tmp_path):
    (tmp_path / "age.csv").write_text("1;young;*\n2;old;*\n")
    text = RECIPE.replace("{ widths = [5, 10] }", '{ file = "age.csv", separator = ";" }')
    recipe = parse_recipe(text, folder=tmp_path)
    assert recipe.hierarchies["Age"] == Levels([("1", "young", "*"), ("2", "old", "*")])


PROBLEMS = {
    "an audit": (
        "[output]",
        '[audit]\nseconds = -1\nsweep = [3, 1]\nmethods = ["mondrain"]\n[output]',
        "recipe.toml, line 34: 'seconds' of [audit] needs a number of at least 0; 0 skips the audit.\n"
        "recipe.toml, line 35: 'sweep' of [audit] has l = 1; give whole numbers of at least 2.\n"
        "recipe.toml, line 36: 'mondrain' is not a method; did you mean 'mondrian'?",
    ),
    "a key of an audit": (
        "[output]",
        "[audit]\nsecond = 3\n[output]",
        "recipe.toml, line 34: 'second' is not a key of [audit]; did you mean 'seconds'?",
    ),
    "unknown key": (
        'path = "patients.csv"',
        'pth = "patients.csv"',
        "recipe.toml, line 3: [input] has no 'path'; add it.\n"
        "recipe.toml, line 4: 'pth' is not a key of [input]; did you mean 'path'?",
    ),
    "unknown section": (
        "[output]",
        "[outptu]",
        "recipe.toml: the recipe has no 'output'; add [output].\n"
        "recipe.toml, line 33: 'outptu' is not a key of a recipe; did you mean 'output'?",
    ),
    "nothing near": (
        "k = 5",
        "k = 5\nseed = 7",
        "recipe.toml, line 23: 'seed' is not a key of [[goal]]; use one of 'property', 'k'.",
    ),
    "another role's key": (
        '[columns.Disease]\nrole = "sensitive"',
        '[columns.Disease]\nrole = "sensitive"\nshow = "set"',
        "recipe.toml, line 19: 'show' is not a key of [columns.Disease]; "
        "use one of 'role', 'kind', 'format', 'unreadable', 'hierarchy', 'missing'.",
    ),
    "role": (
        '"identifier"',
        '"identifer"',
        "recipe.toml, line 7: role = 'identifer' is unknown in [columns.Name]; did you mean 'identifier'?",
    ),
    "no role": (
        'role = "identifier"\n',
        "",
        "recipe.toml, line 6: [columns.Name] has no 'role'; "
        "add one of 'identifier', 'quasi-identifier', 'sensitive', 'other'.",
    ),
    "kind in a quoted section": (
        'kind = "date"',
        'kind = "dates"',
        "recipe.toml, line 15: kind = 'dates' is unknown in [columns.\"Birth date\"]; did you mean 'date'?",
    ),
    "property": (
        '"k-anonymity"',
        '"k-anonimity"',
        "recipe.toml, line 21: property = 'k-anonimity' is unknown in [[goal]]; did you mean 'k-anonymity'?",
    ),
    "no property": (
        'property = "k-anonymity"\n',
        "",
        "recipe.toml, line 20: [[goal]] has no 'property'; add one of ",
    ),
    "no parameter": (
        "k = 5\n",
        "",
        "recipe.toml, line 20: [[goal]] 'k-anonymity' has no 'k'; add it.",
    ),
    "parameter of the wrong type": (
        "k = 5",
        'k = "five"',
        "recipe.toml, line 22: 'k' in [[goal]] needs a whole number.",
    ),
    "true is not a number": ("k = 5", "k = true", "recipe.toml, line 22: 'k' in [[goal]] needs a whole number."),
    "parameter refused by its property": ("k = 5", "k = 0", "recipe.toml, line 20: [[goal]]: "),
    "text that is no number": ("l = 3", 'l = "many"', "recipe.toml, line 24: [[goal]]"),
    "goal without second brackets": (
        RECIPE[RECIPE.index("[[goal]]") : RECIPE.index("[method]")],
        '[goal]\nproperty = "k-anonymity"\nk = 5\n',
        "recipe.toml, line 20: a goal is written [[goal]], with two brackets, and there may be several; all must hold.",
    ),
    "goal's column": (
        'column = "Disease"',
        'column = "Diseases"',
        "recipe.toml, line 27: 'Diseases' is not a sensitive column of this recipe; did you mean 'Disease'?",
    ),
    "goal without a sensitive column": (
        '"sensitive"',
        '"other"',
        "recipe.toml, line 24: l-diversity needs a column with the role 'sensitive' and there is none; add one.",
    ),
    "no quasi-identifier": (
        'role = "quasi-identifier"',
        'role = "sensitive"',
        "recipe.toml, line 6: no column has the role 'quasi-identifier'; give it to those that an adversary may know.",
    ),
    "method": (
        '"mondrian"',
        '"mondrain"',
        "recipe.toml, line 30: name = 'mondrain' is unknown in [method]; did you mean 'mondrian'?",
    ),
    "method's key": (
        "relaxed = true",
        "relax = true",
        "recipe.toml, line 31: 'relax' is not a key of [method]; did you mean 'relaxed'?",
    ),
    "method's type": (
        "relaxed = true",
        'relaxed = "yes"',
        "recipe.toml, line 31: 'relaxed' in [method] needs true or false.",
    ),
    "method refuses the goal": (
        'name = "mondrian"\nrelaxed = true',
        'name = "anatomy"',
        "recipe.toml, line 29: [method]: Anatomy was asked for ",
    ),
    "hierarchy": (
        "widths",
        "width",
        "recipe.toml, line 11: 'width' is not a key of the hierarchy of [columns.Age]; did you mean 'widths'?",
    ),
    "two hierarchies": (
        "{ widths = [5, 10] }",
        "{ widths = [5, 10], flat = true }",
        "recipe.toml, line 11: 'flat' is not a key of the hierarchy of [columns.Age]; use one of 'widths', 'origin'.",
    ),
    "empty hierarchy": (
        "{ widths = [5, 10] }",
        "{}",
        "recipe.toml, line 11: the hierarchy of [columns.Age] is empty; ",
    ),
    "hierarchy is no table": (
        "{ widths = [5, 10] }",
        '"age.csv"',
        "recipe.toml, line 11: the hierarchy of [columns.Age] needs a table.",
    ),
    "hierarchy's numbers": (
        "{ widths = [5, 10] }",
        "{ widths = [\n5,\n'ten'] }",
        "recipe.toml, line 13: 'widths' in the hierarchy of [columns.Age] needs a number.",
    ),
    "hierarchy does not nest": (
        "[5, 10]",
        "[5, 12]",
        "recipe.toml, line 11: the hierarchy of [columns.Age]: Intervals of ",
    ),
    "hierarchy file": (
        "{ widths = [5, 10] }",
        '{ file = "nowhere.csv" }',
        "recipe.toml, line 11: the hierarchy of [columns.Age]: ",
    ),
    "others": (
        'path = "release.csv"',
        'path = "release.csv"\nothers = [\n  "Notes",\n  "Name",\n]',
        "recipe.toml, line 37: 'Name' has the role 'identifier' and cannot be released as it is; "
        "take it out of 'others', or give it the role 'other'.",
    ),
    "release over input": (
        "release.csv",
        "./patients.csv",
        "recipe.toml, line 34: the release would overwrite the input; give [output] another path.",
    ),
    "version": (
        "version = 1",
        "version = 2",
        "recipe.toml, line 1: this Overt reads recipes of version 1; write version = 1.",
    ),
    "no version": ("version = 1\n", "", "recipe.toml: the recipe has no 'version'; add version = 1."),
    "section is no table": (
        '[input]\npath = "patients.csv"',
        "input = 3",
        "recipe.toml, line 3: [input] needs a table.",
    ),
    "an output without a name": (
        '"release.csv"',
        '"."',
        "recipe.toml, line 34: 'path' in [output] needs the path of a file, such as release.csv.",
    ),
    "an output with a zero byte": (
        '"release.csv"',
        '"a\\u0000b.csv"',
        "recipe.toml, line 34: 'path' in [output] needs the path of a file, such as release.csv.",
    ),
    "syntax": ("k = 5", "k = = 5", "recipe.toml, line 22, column 5: this is not TOML: invalid value."),
    "syntax at the end": ('"release.csv"', '"release.csv', "recipe.toml, line 34, column 20: this is not TOML: "),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_problem_is_named_with_its_line_and_its_fix(problem):
    good, bad, message = PROBLEMS[problem]
    assert good in RECIPE
    found = refusal(RECIPE.replace(good, bad))
    if message.endswith((".", "?")):
        assert found == message
    else:
        assert found.startswith(message)


def test_a_pilot_without_its_people_is_a_problem_and_no_bug():
    for written in ("[pilot]\nrows = 10\n", '[pilot]\npeople = "ten"\n', "[pilot]\n"):
        assert "people" in refusal(RECIPE + written)


def test_all_problems_are_named_at_once():
    text = RECIPE.replace("k = 5", "k = 'x'").replace("relaxed", "relaxd").replace("[5, 10]", "[]")
    assert [line.split(":")[0] for line in refusal(text).splitlines()] == [
        "recipe.toml, line 11",
        "recipe.toml, line 22",
        "recipe.toml, line 31",
    ]


def test_sensitive_columns_must_agree_about_missing_values():
    text = RECIPE.replace('role = "sensitive"', 'role = "sensitive"\nmissing = "drop"')
    assert parse(text).missing == "drop"
    found = refusal(
        text.replace('[columns."Birth date"]\nrole = "quasi-identifier"', '[columns.B]\nrole = "sensitive"')
    )
    assert found == "recipe.toml, line 17: the sensitive columns differ under 'missing'; give all of them the same."


def test_a_recipe_that_is_not_there(tmp_path):
    with pytest.raises(InvalidRecipe, match=r"There is no recipe '.*nowhere\.toml'; give the path of a TOML file\."):
        read_recipe(tmp_path / "nowhere.toml")
    with pytest.raises(InvalidRecipe, match=r"is a folder; give the path of a recipe in it\."):
        read_recipe(tmp_path)
    (tmp_path / "latin.toml").write_bytes(RECIPE.replace("Age", "Größe").encode("latin-1"))
    with pytest.raises(InvalidRecipe, match=r"latin\.toml is not UTF-8 text; save it as UTF-8\."):
        read_recipe(tmp_path / "latin.toml")


def test_a_byte_order_mark_is_no_key(tmp_path):
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8-sig")
    assert read_recipe(tmp_path / "recipe.toml").goal == parse(RECIPE).goal


@pytest.mark.parametrize("registered", [PROPERTIES, METHODS], ids=["properties", "methods"])
def test_every_registered_class_can_be_named(registered):
    assert all(name in str(settings_model().model_json_schema()) for name in registered)


@pytest.mark.parametrize("name", PROPERTIES)
def test_every_property_and_its_parameters_are_in_the_docs(name):
    row = re.search(rf'^\| `"{name}"` \| (.*) \|$', DOCS.read_text(), re.MULTILINE)
    assert row is not None
    parameters = set(settings_model().tags["goal"][name].model_fields) - {"property", "column"}
    assert parameters == set(re.findall(r"`(\w+)`", row[1]))


def test_every_key_is_in_the_docs():
    text = DOCS.read_text()
    sections = [Input, Output, Auditing, *ROLES.values(), *HIERARCHIES.values()]
    keys = {key for section in sections for key in section.model_fields}
    assert [key for key in sorted(keys) if not re.search(rf"[`{{ ]{key}\b", text)] == []


@pytest.mark.parametrize("name", METHODS)
def test_every_key_of_a_method_is_on_a_page_that_names_the_method(name):
    pages = [path.read_text("utf-8") for path in DOCS.parents[1].rglob("*.md")]
    named = re.compile(rf"[`\"]{name}[`\"]|\b{METHODS[name].__name__}\(")
    text = "\n".join(page for page in pages if named.search(page))
    keys = set(settings_model().tags["method"][name].model_fields) - {"name"}
    assert [
        key
        for key in sorted(keys)
        if not re.search(rf"`{key}( = [^`]*)?`|^{key} = |[{{,] {key} = |[(,] ?{key}=", text, re.M)
    ] == []


def test_a_new_method_needs_no_change_here(monkeypatch):
    @dataclass(frozen=True, kw_only=True)
    class Shuffle(Method):
        name: ClassVar[str] = "shuffle"
        guarantee: ClassVar[Guarantee] = RELEASE_ONLY
        goal: KAnonymity
        order: Literal["up", "down"] = "up"
        depths: tuple[int, ...] = (1,)

        def anonymize(self, table, *, rng, on_progress=silent):
            raise NotImplementedError

    monkeypatch.setitem(HOMES, "shuffle", ("shuffle", "Shuffle"))
    monkeypatch.setitem(sys.modules, "overt.algorithms.shuffle", SimpleNamespace(Shuffle=Shuffle))
    settings_model.cache_clear()
    try:
        text = RECIPE.replace('"mondrian"\nrelaxed = true', '"shuffle"\norder = "down"\ndepths = [2, 3]')
        recipe = parse(text)
        assert recipe.method == Shuffle(goal=recipe.goal, order="down", depths=(2, 3))
        assert refusal(text.replace('"down"', '"dwn"')) == (
            "recipe.toml, line 31: order = 'dwn' is unknown in [method]; did you mean 'down'?"
        )
        assert refusal(text.replace('"down"', '"expected"')) == (
            "recipe.toml, line 31: order = 'expected' is unknown in [method]; use one of 'up', 'down'."
        )
    finally:
        monkeypatch.undo()
        settings_model.cache_clear()
