# SPDX-License-Identifier: Apache-2.0
"""What a method says of itself is declared: a misspelling fails at import, and nobody probes for attributes."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

import overt
from overt import method as method_module
from overt.algorithms import HOMES, METHODS
from overt.errors import InvalidInput
from overt.group_shape import GroupShape
from overt.guarantee import RELEASE_ONLY, STRONG, Adversary, Beliefs, Guarantee
from overt.io.recipe.recipe import parse_recipe
from overt.io.recipe.settings import (
    DatabaseInput,
    DatabaseOutput,
    Identifier,
    Input,
    Output,
    QuasiIdentifier,
    Sensitive,
)
from overt.method import FACTS, Inferring, Method, Searching, Traceable
from overt.partition import Partition
from overt.privacy.base import Property
from overt.release import GeneralizedRelease, Release
from tables import table_of

SOURCES_ROOT = Path(overt.__file__).parent
SOURCES = sorted(SOURCES_ROOT.rglob("*.py"))


def test_a_misspelt_class_variable_fails_when_the_class_is_made():
    with pytest.raises(TypeError, match=r"Loud\.draw_blind .*did you mean 'draws_blind'"):

        class Loud(Method):
            draw_blind: ClassVar[bool] = True

    with pytest.raises(TypeError, match=r"Odd\.holds_tight is nothing that a method can say of itself"):

        class Odd(Method):
            holds_tight = True


def test_a_misspelt_property_or_field_fails_too():
    with pytest.raises(TypeError, match="did you mean 'guarantee'"):

        class Weaker(Method):
            @property
            def garantee(self):
                return RELEASE_ONLY

    with pytest.raises(TypeError, match="did you mean 'max_suppressed'"):

        @dataclass(frozen=True)
        class Quiet(Method):
            max_supressed: float = 1


def test_the_words_of_a_guarantee_cannot_be_given_beside_it():
    with pytest.raises(TypeError, match="the words come from its guarantee"):

        class Bold(Method):
            against: ClassVar[str] = "everybody"


def test_what_a_method_does_not_say_has_one_default():
    @dataclass(frozen=True)
    class Plain(Method):
        name: ClassVar[str] = "plain"
        guarantee: ClassVar[Guarantee] = STRONG
        goal: None = None

        def anonymize(self, table, *, rng, on_progress=None):
            raise NotImplementedError

    said = {fact: getattr(Plain(), fact) for fact in FACTS - {"name", "guarantee", "goal", "anonymize", "against"}}
    assert said == {
        "shows": None,
        "is_dp": False,
        "generalizes_every_column": False,
        "max_suppressed": 0,
        "most_strata": None,
        "table_names": ("release",),
        "columns_read": (),
        "strata": (),
        "draws_blind": False,
        "takes_bundles": False,
        "refusal_is_shown": False,
        "external": None,
        "not_promised": (),
        "claimed_budget": None,
        "strict_cuts": None,
        "file_shape": GroupShape(method="plain", tables=frozenset({"release"})),
        "parts_the_alike": False,
    }
    with pytest.raises(TypeError, match="abstract"):
        type("Silent", (Method,), {"name": "silent"})()


ABILITIES = {kind for kind in vars(method_module).values() if isinstance(kind, type) and Method in kind.__bases__}


def test_contributing_names_every_fact_and_ability_of_a_method():
    words = (SOURCES_ROOT.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Add a method")[1]
    named = {*FACTS, *(ability.__name__ for ability in ABILITIES)}
    assert len(ABILITIES) > 3
    assert {name for name in named if not re.search(rf"`{name}\b", words)} == set()


def test_methods_are_at_home_where_their_names_say():
    assert all(method.name == name and method.__name__ == HOMES[name][1] for name, method in METHODS.items())


def test_abilities_are_declared():
    able = {
        ability: {n for n, kind in METHODS.items() if issubclass(kind, ability)}
        for ability in (Traceable, Searching, Inferring)
    }
    assert able == {Traceable: {"mondrian"}, Searching: {"full-domain"}, Inferring: {"in-order"}}


def test_a_guarantee_does_not_contradict_itself():
    with pytest.raises(InvalidInput, match="reader cannot be for every beliefs"):
        Guarantee(Adversary.READER, Beliefs.EVERY)
    with pytest.raises(InvalidInput, match="replayer cannot be for none beliefs"):
        Guarantee(Adversary.REPLAYER)
    with pytest.raises(InvalidInput, match="says nothing of what someone who replays"):
        Guarantee(Adversary.READER, posterior_is_share=True)


def test_a_release_of_another_tool_says_that_its_method_is_not_known():
    release = GeneralizedRelease(table_of([[0, 1]], [0, 1]), Partition.from_groups([[0, 1]]), made_by=None)
    with pytest.raises(InvalidInput, match="does not say which method made it"):
        _ = release.method


SECTIONS_OF_RECIPES = {"column", "kind", "parameter"}  # have keys of these names, and not all of them
DECLARED = {name for of in (Release, Property) for name in dir(of) if name[0] != "_"} - SECTIONS_OF_RECIPES


def test_methods_and_releases_are_not_probed():
    """No `getattr` or `hasattr` of a fact by its name, and none at all of something called a method or a release."""
    probes = [
        node
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("getattr", "hasattr")
        and isinstance(node.args[1], ast.Constant)
    ]
    assert probes  # of other things
    for probe in probes:
        last = ast.unparse(probe.args[0]).split(".")[-1]
        assert last not in ("method", "release", "made_by", "property", "part"), ast.unparse(probe)
        assert probe.args[1].value not in FACTS | DECLARED, ast.unparse(probe)


def test_a_method_is_known_by_its_type():
    """A variable that may be anything hides a misspelt fact from mypy. (Settings are narrowed to the methods that there are.)"""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            named = isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id
            named = node.arg if isinstance(node, ast.arg) else named
            if named == "method" and node.annotation is not None and ast.unparse(node.annotation) == "Any":
                assert path.relative_to(SOURCES_ROOT).as_posix() == "io/recipe/settings.py", path


ROOMS = ("engine", "io", "report", "metrics", "adversary", "cli", "checks", "studio", "analysis")
DISPATCH = (
    "io/publication.py",
    "report/sequence.py",
    "adversary/replay/engines.py",
)  # where a kind of release is told apart


def kinds_of_release(kind=Release):
    """All classes of releases below the one that declares what others may ask."""
    return {below for one in kind.__subclasses__() for below in {one, *kinds_of_release(one)}}


def test_nobody_outside_knows_a_particular_method():
    """Engine, io and report ask a method what it is; they do not import its class. Nor is a release asked for its class."""
    classes = {kind.__name__ for kind in METHODS.values()}
    for path in SOURCES:
        room = path.relative_to(SOURCES_ROOT).parts[0]
        if room not in ROOMS:
            continue
        place = path.relative_to(SOURCES_ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.MatchClass):
                told_apart = ast.unparse(node.cls)
                assert told_apart not in classes and (place in DISPATCH or not told_apart.endswith("Release")), place
            if isinstance(node, ast.ImportFrom):
                assert classes.isdisjoint(name.name for name in node.names), f"{path.name}: {ast.unparse(node)}"
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
                asked = ast.unparse(node.args[1])
                known = classes | {kind.__name__ for kind in kinds_of_release()}
                assert not known & set(asked.split(" | ")), f"{path.name}: {ast.unparse(node)}"


SECTIONS = (Input, DatabaseInput, Output, DatabaseOutput, Identifier, QuasiIdentifier, Sensitive)
RECIPE = """version = 1
input = { path = "people.csv" }
output = { path = "release.csv" }
goal = [{ property = "k-anonymity", k = 2 }]
method = { name = "mondrian" }
columns = { Age = { role = "quasi-identifier" }, Illness = { role = "sensitive" } }
"""
SECTIONS_OF_PLACES = {"Input", "Output", "DatabaseInput", "DatabaseOutput"}
SOURCES_AND_PLACES = {"FileSource", "DatabaseSource", "FrameSource", "CatalogSource", "TablePlace", "CatalogPlace"}
KINDS_OF_PLACE = {"Path", "Selection", "TableName", "Address"} | SECTIONS_OF_PLACES | SOURCES_AND_PLACES


def test_nobody_asks_what_kind_a_source_or_a_target_is():
    """Files, databases and frames are told apart where a recipe's words become a `Source` or a `Target`, and nowhere else."""
    for path in SOURCES:
        if path.relative_to(SOURCES_ROOT).parts[0] not in ("engine", "cli", "studio"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
                asked = set(ast.unparse(node.args[1]).split(" | "))
                is_door = asked == {"str", "Path"}  # a path or something read already
                assert is_door or not asked & KINDS_OF_PLACE, f"{path.name}: {ast.unparse(node)}"
            if isinstance(node, ast.MatchClass):
                assert ast.unparse(node.cls) not in KINDS_OF_PLACE, f"{path.name}: {ast.unparse(node)}"
            if isinstance(node, ast.Compare):  # a table of a catalog is no format of files
                words = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
                assert "table" not in words or ".format" not in ast.unparse(node), f"{path.name}: {ast.unparse(node)}"


def test_nobody_asks_whether_a_section_of_a_recipe_has_a_key():
    """Outside the reading of recipes, `source`, `target` and `Recipe.choices` say it; a misspelt key is refused there."""
    keys = {key for section in SECTIONS for key in section.model_fields}
    assert {"path", "format", "query", "hierarchy"} <= keys
    for path in SOURCES:
        place = path.relative_to(SOURCES_ROOT)
        if place.parts[0] not in ROOMS or place.parts[:2] == ("io", "recipe"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr"):
                asked = node.args[1]
                assert not isinstance(asked, ast.Constant) or asked.value not in keys, f"{place}: {ast.unparse(node)}"


def test_a_choice_that_no_column_can_make_is_refused(tmp_path):
    with pytest.raises(ValueError, match="hierarchi"):
        parse_recipe(RECIPE, folder=tmp_path).choices("hierarchi")
