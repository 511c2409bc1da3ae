# SPDX-License-Identifier: Apache-2.0
"""Who a row is about: what a column says otherwise is shown, and what somebody answers against it is written so that a run refuses."""

import numpy as np
import pytest

from overt import samples
from overt.engine.course import prepare
from overt.errors import InvalidData
from overt.io.profiling import profile_file
from overt.io.recipe.proposal import propose_recipe
from overt.io.recipe.recipe import parse_recipe
from overt.io.recipe.toml_text import toml_of
from overt.studio.history import History
from overt.studio.person_question import PersonAnswer, edit_of, shown_person
from overt.studio.session import Session

EACH_ROW = PersonAnswer("row", None, "all", "random", "", ())


@pytest.mark.parametrize("number", ['Pat.-Nr "alt"', "Fall-Nr", "zq"])
def test_a_number_with_several_rows_is_shown_and_a_run_of_each_row_as_a_person_is_refused(tmp_path, number):
    frame = samples.discharges(900).rename({"Patient ID": number})
    frame.write_csv(tmp_path / "stays.csv")
    profile = profile_file(tmp_path / "stays.csv")
    text = propose_recipe(profile, recipe=tmp_path / "stays.toml", rng=np.random.default_rng(1))
    session = Session("session", tmp_path, "Stays", History.begin(text, "Read"))
    session.found["profile"] = profile
    assert session.document["input"]["person"] == number
    assert shown_person(session)["repeats"].name == number
    _, edit = edit_of(session, EACH_ROW)
    document = edit(session.document)
    assert "person" not in document["input"]
    assert document["columns"][number] == {"role": "identifier", "repeats": "refuse"}
    with pytest.raises(InvalidData, match="several rows for one person"):
        prepare(parse_recipe(toml_of(document), folder=tmp_path))
