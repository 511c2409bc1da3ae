# SPDX-License-Identifier: Apache-2.0
"""A closer look at the release of a run, also where a person has several rows: then of their rows, as utility is measured."""

import tomllib

import overt
from overt.engine.compare import compare
from overt.io.recipe.toml_text import toml_of
from overt.studio.closer_look import distributions_of, people_behind, previews_of, query_errors_of
from overt.studio.pages import in_page


def test_a_release_of_persons_is_looked_at_row_by_row(tmp_path):
    overt.samples.discharges(1500).write_csv(tmp_path / "table.csv")
    path = tmp_path / "recipe.toml"
    overt.init(tmp_path / "table.csv", into=path)
    document = tomllib.loads(path.read_text())
    assert document["input"]["keep"] > 1
    del document["pilot"]  # which people it draws is no matter of this test, nor whether their values allow the goals
    document["goal"] = [{"property": "k-anonymity", "k": 2}]
    path.write_text(toml_of(document))
    [tried] = compare([path], seconds=0).candidates
    assert {"Admitted", "Ward"} <= {one.name for one in distributions_of(tried.release, tried.utility)}
    errors = query_errors_of(tried.release)
    assert {one.column for one in errors} >= {"Diagnosis", "HIV"}
    assert all(one.error >= 0 for one in errors)
    assert previews_of(tried.release, {})[0].rows
    assert people_behind(tried.release, 1).rows
    assert people_behind(tried.release, 10**9) is None


def test_sentences_of_the_library_lose_the_place_in_a_file_that_nobody_sees():
    assert (
        in_page("recipe.toml, line 3: k is 0. run-4.toml, line 89: [method]: Anatomy cannot.")
        == "k is 0. Anatomy cannot."
    )
    assert in_page("proof: nothing more (docs/theory/safety.md)") == "proof: nothing more"
    assert in_page("Give table.toml: a file.") == "Give a file."
    assert in_page("The ratio is 1.5: no.") == "The ratio is 1.5: no."
