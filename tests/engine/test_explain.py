# SPDX-License-Identifier: Apache-2.0
import dataclasses
import json
import re
import tomllib

import polars as pl
import pytest

import overt
from overt.algorithms import METHODS
from overt.cli import COMMANDS, app, main
from overt.errors import InvalidInput
from overt.partition import Groups, Partition
from overt.privacy import PROPERTIES
from overt.report.explanations import GROUPS, METHODS_EXPLAINED, PROPERTIES_EXPLAINED, WORDS_EXPLAINED
from overt.report.glossary import FOR_REPORTS, GLOSSARY

EASY = {"alpha": 1, "k": 1, "l": 2, "c": 9, "t": 1, "delta": 9, "beta": 9, "times": 9}


def test_everything_that_can_be_asked_for_is_explained():
    assert set(PROPERTIES_EXPLAINED) == set(PROPERTIES)
    assert set(METHODS_EXPLAINED) == set(METHODS)
    assert set(WORDS_EXPLAINED) == set(GLOSSARY) and set(FOR_REPORTS) <= set(GLOSSARY)
    for name in (*PROPERTIES, *METHODS, *GLOSSARY):
        found = overt.explain(name)
        assert min(len(part) for part in (found.what, found.not_promised, found.example)) > 10


@pytest.mark.parametrize("name", PROPERTIES)
def test_the_numbers_of_examples_are_measured(name):
    values = [value for group in GROUPS for value in group]
    frame = pl.DataFrame({"Age": list(range(8)), "Illness": values})
    table = overt.read_frame(frame, quasi_identifiers=["Age"], sensitive=["Illness"])
    groups = Groups.of(table, Partition.from_groups([[0, 1, 2, 3], [4, 5, 6, 7]]))
    kind = PROPERTIES[name]
    required = [f.name for f in dataclasses.fields(kind) if f.default is f.default_factory is dataclasses.MISSING]
    measured = kind(**{parameter: EASY[parameter] for parameter in required}).describe_measure(groups)
    example = PROPERTIES_EXPLAINED[name].example
    assert example.startswith(f"Two groups of four people: {', '.join(GROUPS[0])} and {', '.join(GROUPS[1])}.")
    assert measured in example or (measured.startswith("no ") and f"N{measured[1:]} holds" in example)


@pytest.mark.parametrize("name", METHODS)
def test_the_recipes_of_examples_are_recipes(name):
    example = METHODS_EXPLAINED[name].example
    if "[method]" not in example:
        assert "do not publish with it" in METHODS_EXPLAINED[name].not_promised
        return
    document = tomllib.loads(example.rpartition("\n\n")[0])
    assert document["method"].pop("name") == name
    goals = [PROPERTIES[one.pop("property")](**one) for one in document.get("goal", [])]
    schema = overt.schema().document["$defs"][METHODS[name].__name__]["properties"]
    assert set(document["method"]) <= set(schema) and all(str(goal) for goal in goals)


def test_a_term_is_explained_in_words_and_as_json(capsys):
    assert main(["explain", "l-diversity"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("l-diversity (property)\n") and "\nWhat it does not promise\n" in out and "\nExample\n" in out
    assert main(["explain", "replay", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "word"
    assert main(["explain"]) == 0
    assert "blind-buckets" in capsys.readouterr().out


def test_a_term_that_is_not_known_is_refused_with_the_nearest():
    with pytest.raises(InvalidInput, match=r"There is no explanation of 'l-diversty'; did you mean 'l-diversity'\?"):
        overt.explain("l-diversty")
    with pytest.raises(InvalidInput, match="overt explain, without a term, lists"):
        overt.explain("xyzzy")
    assert overt.explain("K Anonymity").term == "k-anonymity"


def test_every_key_of_the_schema_is_described():
    document = overt.schema().document
    sections = {"Recipe": document, **document["$defs"]}
    missing = [
        f"{name}.{key}"
        for name, section in sections.items()
        for key, value in section.get("properties", {}).items()
        if len(value.get("description", "")) < 8
    ]
    assert missing == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_text_ends_with_examples_that_can_be_parsed(name, capsys):
    main([name, "--help"])
    help_ = capsys.readouterr().out
    assert name in app
    for example in COMMANDS[name][1]:
        assert f"  {example}\n" in help_
        words = re.sub(r" > \S+$", "", example).split()
        command, bound, _ = app.parse_args(words[1:], exit_on_error=False, print_error=False)
        assert command.__name__ == name and bound is not None


def test_completion_knows_commands_and_their_options():
    script = app.generate_completion(shell="bash")
    assert all(name in script for name in COMMANDS) and "--report" in script and "--made-by" in script
