# SPDX-License-Identifier: Apache-2.0
"""The papers of the project are true: their code runs, their links lead somewhere, and nothing public is missing.

Code blocks of a document run in order, in an empty folder. `python` blocks share their names. A `toml` block
whose first line is a comment with a file name is written to that file. In a `console` block the lines after `$ `
are run and, where lines follow, must print exactly those; `...` stands for any lines.
"""

import io
import itertools
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import util
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from cyclopts import CycloptsError, MissingArgumentError

import overt
from overt.algorithms import METHODS
from overt.algorithms.mondrian import Mondrian
from overt.cli import app, main
from overt.cli.console import Exit
from overt.hierarchy import Prefixes
from overt.io.frames import read_frame
from overt.io.publication import published_tables
from overt.privacy import PROPERTIES, AllOf, DistinctLDiversity, FrequencyLDiversity, KAnonymity

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
DOCS = ROOT / "docs"
FOLDERS = ("start", "guides", "reference", "theory", "research")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUNNABLE = [  # what shall not run is fenced as `text` or `py`
    path
    for path in DOCUMENTS
    if {"python", "console"} & {language for language, _ in FENCE.findall(path.read_text(encoding="utf-8"))}
]
FOR_STUDY = {name for name in METHODS if name == "gda" or name.endswith("-not-dp")}
EVERYTHING = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)

named = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())


def blocks_of(document: Path) -> Iterator[tuple[str, str]]:
    """(language, text) of every code block."""
    yield from FENCE.findall(document.read_text(encoding="utf-8"))


def test_most_pages_have_code_that_runs():
    assert len(RUNNABLE) > 25


@pytest.mark.parametrize("document", RUNNABLE, ids=lambda path: path.name)
def test_the_code_of_a_document_runs(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for language, text in blocks_of(document):
        if language == "python":
            exec(compile(text, f"{document.name}: {text.splitlines()[0]}", "exec"), names)
        elif language == "toml" and (found := re.match(r"# (\S+\.toml)\n", text)):
            Path(found[1]).write_text(text, encoding="utf-8")
        elif language == "console":
            run_console(text, names)


def run_console(text: str, names: dict[str, Any]) -> None:
    """Run the lines after `$ ` (all but make's) in this process, and compare what they print."""
    for command, *printed in (chunk.splitlines() for chunk in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]):
        program, *words = shlex.split(command, comments=True)
        if program == "make":
            continue
        with redirect_stdout(io.StringIO()) as output:
            if program == "mkdir":
                Path(words[0]).mkdir()
            elif program == "overt":
                assert main(words) == Exit.DONE, command
            else:
                assert (program, words[0]) == ("python", "-c"), command
                exec(words[1], names)
        if printed:
            parts = re.split(r"^ *\.\.\.\n", "\n".join(printed).rstrip() + "\n", flags=re.MULTILINE)
            pattern = r"(?:.*\n)*?".join(map(re.escape, parts))
            assert re.fullmatch(pattern, output.getvalue()), f"{command} printed\n{output.getvalue()}"


@named
def test_commands_that_a_document_names_can_be_given(document):
    """Those without a place holder are read as the command line reads them; what a sentence leaves out may be missing."""
    text = document.read_text(encoding="utf-8")
    blocks = "".join(block for language, block in blocks_of(document) if language in ("text", "console"))
    lines = re.findall(r"^(?:\$ )?(overt .*)$", blocks, re.MULTILINE)
    for line in [*re.findall(r"`(overt [^`\n]+)`", text), *lines]:
        words = shlex.split(line.partition(" > ")[0], comments=True)[1:]
        if not words or re.search(r"[\[…]|\.\.\.", line) or words[0].isupper():
            continue
        try:
            app.parse_args(words, exit_on_error=False, print_error=False)
        except MissingArgumentError:
            continue
        except CycloptsError as error:
            pytest.fail(f"{line}: {error}")


@named
def test_links_lead_to_files_and_headings(document):
    for target in re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", document.read_text(encoding="utf-8")):
        address = "".join(target)
        if address.startswith(("https://", "http://")):
            continue
        path, _, heading = address.partition("#")
        file = (document.parent / path).resolve() if path else document
        assert file.exists(), f"{document.name} links to {address}"
        if heading:
            assert heading in headings_of(file), f"{document.name} links to {address}"


def headings_of(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@named
def test_files_of_the_project_that_a_document_names_are_there(document):
    named = re.findall(
        r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|txt|toml|yml|ipynb)|[\w-]+\.(?:txt|cff))`", document.read_text("utf-8")
    )
    roots = (ROOT, ROOT / "src" / "overt", document.parent)
    assert [name for name in named if not any((root / name).exists() for root in roots)] == []


@named
def test_nothing_of_a_machine_is_in_a_document(document):
    text = document.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.])/(?:work|home|root|tmp)/", text)


@pytest.mark.parametrize("name", sorted(overt.__all__))
def test_every_public_name_is_in_the_docs(name):
    by_topic = (DOCS / "site.py").read_text(encoding="utf-8")  # the page of all names is made from this list
    assert re.search(rf"\b{re.escape(name)}\b", EVERYTHING + by_topic)


@pytest.mark.parametrize("name", sorted(PROPERTIES))
def test_every_property_is_explained(name):
    text = (DOCS / "reference" / "properties.md").read_text(encoding="utf-8")
    assert f"| `{name}` | `{PROPERTIES[name].__name__}` |" in text
    assert f"`{name}`" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(PROPERTIES))
def test_what_is_said_of_mergers_is_what_the_property_declares(name):
    row = re.search(
        rf"^\| `{name}` .*$", (DOCS / "reference" / "properties.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert row is not None
    assert row[0].endswith("| yes |" if PROPERTIES[name].monotone else "| no |")


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_is_explained_and_those_for_study_under_research_only(name):
    row = f"| `{name}` | `{METHODS[name].__name__}` |"
    pages = [page for page in sorted(DOCS.glob("**/*.md")) if row in page.read_text(encoding="utf-8")]
    where = "research/methods-for-study.md" if name in FOR_STUDY else "reference/methods.md"
    assert pages == [DOCS / where]
    named = re.search(rf"^\| .*`{name}`", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert bool(named) == (name not in FOR_STUDY)


def test_every_page_is_in_a_folder_and_on_the_map():
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.glob("**/*.md")} - {"index.md"}
    assert {page.split("/")[0] for page in pages} == set(FOLDERS)
    links = re.findall(r"^\| \[.*?\]\((.*?)\) \|", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(links) == sorted(pages)
    menu = re.findall(r"^ +- (\w+/[\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(menu) == sorted(pages), "the menu of the site; `make docs` refuses a page that is not in it"


@pytest.mark.parametrize("code", list(Exit), ids=lambda code: code.name)
def test_every_exit_code_is_in_the_readme(code):
    assert re.search(rf"^\| {int(code)} \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_papers_name_modules_and_tests_that_exist():
    rows = [line for line in (ROOT / "PAPERS.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    paths = {path for row in rows for path in re.findall(r"`([\w/]+\.py)`", row)}
    assert len(paths) > 10
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_the_picture_shows_what_really_comes_out():
    drawing = load_drawing()
    people = pl.DataFrame(drawing.PEOPLE, schema=["name", "age", "postcode", "disease"], orient="row")
    table = read_frame(
        people.with_columns(pl.col("age").cast(pl.Int64)),
        identifiers=["name"],
        quasi_identifiers=["age", "postcode"],
        sensitive=["disease"],
        hierarchies={"postcode": Prefixes(lengths=(4, 3, 2))},
    )
    release = Mondrian(goal=AllOf((KAnonymity(3), FrequencyLDiversity(3)))).anonymize(table)
    assert published_tables(release)["release"].rows() == list(drawing.RELEASE)


@pytest.mark.parametrize("palette", ["LIGHT", "DARK"])
def test_the_picture_is_the_one_that_its_script_draws(palette):
    drawing = load_drawing()
    colours = getattr(drawing, palette)
    file = DOCS / "images" / f"table-release-check-{colours.name}.svg"
    assert file.read_text(encoding="utf-8") == drawing.draw(colours)


def load_drawing() -> Any:
    spec = util.spec_from_file_location("draw", DOCS / "images" / "draw.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for their module
    spec.loader.exec_module(module)
    return module


def test_replaying_mondrian_gives_the_two_neighbours_away():
    # docs/reference/methods.md: 60 ways to hand out the diseases, 6 of which lead to the published table.
    def published(diseases: tuple[str, ...]) -> list[tuple[str, ...]]:
        people = pl.DataFrame({"street": ["A", "A", "B", "B", "B"], "disease": diseases})
        table = read_frame(people, quasi_identifiers=["street"], sensitive=["disease"])
        return published_tables(Mondrian(goal=DistinctLDiversity(2)).anonymize(table))["release"].rows()

    secret = ("HIV", "HIV", "flu", "cold", "asthma")
    worlds = sorted(set(itertools.permutations(secret)))
    seen = published(secret)
    possible = [world for world in worlds if published(world) == seen]
    assert (len(worlds), len(possible)) == (60, 6)
    assert len(seen) == 5 and len({street for street, _ in seen}) == 1  # one group: a belief of 2/5 to the eye
    assert all(world[0] == world[1] == "HIV" for world in possible)


def test_the_modules_of_metrics_are_there():
    rows = re.findall(r"^\| .* \| (`.*?) \|$", (DOCS / "reference" / "metrics.md").read_text("utf-8"), re.MULTILINE)
    named = {re.findall(r"`(\w+)`", row)[0] for row in rows}
    assert len(named) > 8
    assert [name for name in sorted(named) if util.find_spec(f"overt.metrics.{name}") is None] == []


def test_every_benchmark_that_is_named_can_be_run():
    """Figures of the docs are repeated by `python -m bench NAME`. What a benchmark imports from another must still be there."""
    named = {name for path in DOCUMENTS for name in re.findall(r"-m bench (\w+)", path.read_text(encoding="utf-8"))}
    modules = {path.stem for path in (ROOT / "bench").glob("*.py")} - {"__main__", "peer_releases"}
    assert named <= modules
    imports = "; ".join(f"import bench.{name}" for name in sorted(modules))
    done = subprocess.run([sys.executable, "-c", imports], cwd=ROOT, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
