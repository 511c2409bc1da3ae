# SPDX-License-Identifier: Apache-2.0
"""Templates escape what they are given, and fields have names that stay: both are promises of the code about every template."""

import re
from pathlib import Path

import pytest
from markupsafe import Markup

from overt.studio import pages
from overt.studio.pages import ENVIRONMENT

FOLDER = Path(pages.__file__).parent
TEMPLATES = sorted((FOLDER / "templates").glob("*.html"))
UNESCAPED = re.compile(r"\|\s*safe\b|autoescape|Markup|\{%-?\s*raw")
MARKED = {"check.py", "closer_look.py", "compare.py"}  # drawings of the library, which escapes the names in them


def test_everything_is_escaped():
    assert len(TEMPLATES) > 30
    assert ENVIRONMENT.autoescape is True
    said = {path.name: UNESCAPED.findall(path.read_text("utf-8")) for path in TEMPLATES}
    assert {name for name, found in said.items() if found} == {"base.html"}  # the icons, which are ours
    assert said["base.html"] == ["| safe"]
    assert not isinstance(ENVIRONMENT.globals["icons"], Markup)
    marked = {path.name for path in FOLDER.rglob("*.py") if "Markup(" in path.read_text("utf-8")}
    assert marked == MARKED


def test_a_script_in_a_value_is_text():
    shown = ENVIRONMENT.get_template("problem_fragment.html").render(words="<script>alert(1)</script>")
    assert "<script>" not in shown and "&lt;script&gt;" in shown


@pytest.mark.parametrize("name", ["promise_cards.html", "table_person.html", "coarser_card.html", "coarser_typed.html"])
def test_fields_of_cards_that_are_replaced_keep_the_focus(name):
    """htmx gives the focus back to the field with the same id."""
    text = (FOLDER / "templates" / name).read_text("utf-8")
    fields = re.findall(r"<(?:input|select|textarea)\b[^>]*>", re.sub(r"\{%.*?%\}", "", text))
    assert len(fields) > 5
    assert [one for one in fields if 'type="hidden"' not in one and " id=" not in one] == []
