# SPDX-License-Identifier: Apache-2.0
"""Choices that few make, over HTTP to the release: a budget that is spent and used up, and a learner."""

import io
import re
import time
import zipfile

import httpx
import pytest

import overt
from browsing import PATIENCE, serve_here
from overt.samples import hospital

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def owner(tmp_path_factory):
    with (
        serve_here(tmp_path_factory.mktemp("choices")) as served,
        httpx.Client(base_url=served.root, timeout=120) as client,
    ):
        client.get(served.entrance)
        client.headers["origin"] = served.root
        yield client


def bring(owner, rows):
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    answer = owner.post("/tables", files={"file": ("people.csv", "\n".join(lines).encode())})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].rpartition("/")[0]


def wait_for(owner, path, *words):
    until = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < until:
        text = owner.get(path).text
        if any(word in text for word in words):
            return text
        time.sleep(0.2)
    raise AssertionError(f"{path} never says {words}: {text[-2000:]}")


def names_in(owner, path):
    with zipfile.ZipFile(io.BytesIO(owner.get(path).content)) as archive:
        return set(archive.namelist())


def test_a_private_release_spends_the_budget_until_it_is_used_up(owner):
    session = bring(owner, [{"Age": 20 + i % 60, "Height": 150 + i * 7 % 50} for i in range(3000)])
    for column in (0, 1):
        owner.post(f"{session}/table/role", data={"column": column, "role": "quasi-identifier"})
    asked = {"made": "true", "confirmed": "true", "epsilon": "1", "delta": "0.00001", "n_rows": "3000"}
    owner.post(f"{session}/promise/dp", data=asked, headers={"hx-request": "true"})
    for column in (0, 1):
        assert owner.post(f"{session}/coarser/{column}/widths", data={"width": 10}).status_code in (200, 303)
    limit = {"limit_epsilon": "1.5", "limit_delta": "0.001"}
    answer = owner.post(f"{session}/promise/limit", data=limit, headers={"hx-request": "true"})
    assert "Spent so far" in answer.text
    owner.post(f"{session}/release/make")
    text = wait_for(owner, f"{session}/release", "public-box", "note bad")
    assert "public-box" in text
    assert "release.csv" in names_in(owner, f"{session}/release/public.zip")
    assert "replay/recipe.toml" in names_in(owner, f"{session}/release/owner.zip")
    assert "This release is differentially private" in text
    assert 'class="verdict good big"' in text
    made = owner.get(f"{session}/release/files/release.csv").content
    spent = re.findall("Spent so far: [^<]*", owner.get(f"{session}/promise").text)
    owner.post(f"{session}/release/make")
    refused = wait_for(owner, f"{session}/release", "note bad")
    assert "No other release was made." in refused
    assert "public-box" in refused  # the one that was made before is still there
    assert owner.get(f"{session}/release/files/release.csv").content == made
    assert (
        re.findall("Spent so far: [^<]*", owner.get(f"{session}/promise").text) == spent
    )  # what is refused costs nothing
    owner.post(f"{session}/close")


def test_a_learner_is_asked_from_a_run(owner):
    answer = owner.post("/tables", files={"file": ("people.csv", hospital().write_csv().encode())})
    session = answer.headers["location"].rpartition("/")[0]
    owner.post(f"{session}/compare/runs", data={"method": "mondrian"})
    wait_for(owner, f"{session}/compare", "Open Mondrian")
    assert owner.get(f"{session}/compare/runs/1/people?group=301815622078451325745185685504").status_code == 422
    assert owner.post(f"{session}/compare/runs/1/learner").status_code == 303
    assert "<h4" in wait_for(owner, f"{session}/compare/runs/1", "would guess", "failed")
    owner.post(f"{session}/close")


def test_what_is_for_readers_holds_nothing_of_the_owners(owner):
    """Canaries in names, in a column that is left out and in the file's name: none is in any public file, and no address gives others away."""
    diseases = ("flu", "cold", "gout", "measles")
    rows = [
        {"Name": f"CANARY{i}", "Age": 20 + i % 60, "Memo": f"WREN{i % 7}", "Disease": diseases[i * 7 % 4]}
        for i in range(400)
    ]
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    answer = owner.post("/tables", files={"file": ("FINCH.csv", "\n".join(lines).encode())})
    session = answer.headers["location"].rpartition("/")[0]
    for number, role in enumerate(("identifier", "quasi-identifier", "other", "sensitive")):
        owner.post(f"{session}/table/role", data={"column": number, "role": role})
    owner.post(f"{session}/release/make")
    text = wait_for(owner, f"{session}/release", "public-box", "note bad")
    assert "public-box" in text
    owner.post(f"{session}/release/sign", data={"name": "R. Adler", "role": "", "read": ["0", "1", "2"]})
    public, owners = (names_in(owner, f"{session}/release/{name}.zip") for name in ("public", "owner"))
    assert "release.signature.json" in public
    assert not public & owners
    assert not any("owner" in name for name in public)
    content = owner.get(f"{session}/release/public.zip").content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        texts = {name: archive.read(name) for name in archive.namelist()}
        assert {one.filename for one in archive.infolist()} == public  # names without folders
    texts |= {name: owner.get(f"{session}/{name}").content for name in ("release/report", "recipe.toml")}
    for name, said in texts.items():
        mine = (
            "release/report",
            "recipe.toml",
        )  # its title is what the owner calls the table; the recipe is the owner's, and names their file
        allowed = (b"FINCH",) if name in mine else ()
        for canary in (b"CANARY", b"WREN", b"FINCH"):
            assert canary in allowed or canary not in said, name
    for name in ("table.csv", "table.csv.pilot.owner.json", "recipe.toml", "release.toml", "proposed.toml"):
        assert owner.get(f"{session}/release/files/{name}").status_code == 404
    assert owner.get(f"{session}/release/owner.zip").headers["cache-control"] == "no-store"
    owner.post(f"{session}/close")


def test_what_the_table_does_not_tell_is_answered_where_it_is_asked(owner):
    """Dates that can be read in two ways, and marks that may mean "missing": each is asked with a control, and the rail stops asking."""
    rows = [
        {
            "Age": 20 + i % 9,
            "Visit": f"{1 + i % 12:02}/{1 + i * 5 % 12:02}/2020",
            "City": "?" if i % 40 == 0 else "abc"[i % 3],
        }
        for i in range(120)
    ]
    session = bring(owner, rows)
    for column in (0, 1, 2):
        owner.post(f"{session}/table/role", data={"column": column, "role": "quasi-identifier"})
    page = owner.get(f"{session}/table").text
    assert "2 columns need a look" in page
    [proposed] = re.findall(r'format = "(.*)"', owner.get(f"{session}/recipe.toml").text)
    other = {"%d/%m/%Y": "%m/%d/%Y", "%m/%d/%Y": "%d/%m/%Y"}[proposed]
    assert f'<option value="{other}"' in page

    answer = owner.post(f"{session}/table/dates", data={"column": 1, "form": other}, headers={"hx-request": "true"})
    assert "1 column needs a look" in answer.text
    assert f'format = "{other}"' in owner.get(f"{session}/recipe.toml").text
    owner.post(f"{session}/undo")
    assert f'format = "{proposed}"' in owner.get(f"{session}/recipe.toml").text
    owner.post(f"{session}/table/dates", data={"column": 1, "form": proposed})
    assert "1 column needs a look" in owner.get(f"{session}/table").text
    owner.post(f"{session}/table/dates", data={"column": 1, "form": ""})
    assert "2 columns need a look" in owner.get(f"{session}/table").text
    assert owner.post(f"{session}/table/dates", data={"column": 0, "form": proposed}).status_code == 404

    owner.post(f"{session}/table/missing", data={"column": 2, "is_missing": "true"})
    assert 'missing_values = ["", "?"]' in owner.get(f"{session}/recipe.toml").text
    assert "1 column needs a look" in owner.get(f"{session}/table").text
    owner.post(f"{session}/table/missing", data={"column": 2})
    assert "missing_values" not in owner.get(f"{session}/recipe.toml").text
    owner.post(f"{session}/close")


def test_a_column_is_read_as_was_proposed_whatever_role_it_had_in_between(owner):
    rows = [{"Age": "x" if i == 7 else 20 + i, "Visit": f"{13 + i % 9}.0{1 + i % 9}.2020"} for i in range(120)]
    session = bring(owner, rows)
    for role in ("quasi-identifier", "other", "sensitive"):
        for column in (0, 1):
            owner.post(f"{session}/table/role", data={"column": column, "role": role})
    recipe = owner.get(f"{session}/recipe.toml").text
    assert 'format = "%d.%m.%Y"' in recipe
    assert 'unreadable = "missing"' in recipe
    owner.post(f"{session}/close")


def test_what_the_command_line_cautions_of_a_whole_table_stands_on_its_page_too(owner):
    rows = [{"no": i, "age": 20 + i % 50, "HIV": "yes" if i % 7 == 0 else "no", "visits": i % 9} for i in range(60)]
    session = bring(owner, [*rows, {"no": "Summe", "age": "", "HIV": "", "visits": 4711}])
    assert "The last row seems to hold totals" in owner.get(f"{session}/table").text
    owner.post(f"{session}/close")


def test_against_whom_the_promise_holds_is_said_of_the_method_that_was_chosen(owner):
    session = owner.post("/sample", data={"size": "small"}).headers["location"].rpartition("/")[0]
    assert "Also someone who knows the method." in owner.get(f"{session}/promise").text
    owner.post(f"{session}/compare/runs", data={"method": "mondrian"})
    wait_for(owner, f"{session}/compare", "Choose Mondrian")
    owner.post(f"{session}/compare/runs/1/choose")
    page = owner.get(f"{session}/promise").text
    assert "Also someone who knows the method." not in page
    assert "Not someone who knows the method" in page
    owner.post(f"{session}/close")


def test_what_is_chosen_is_what_was_compared(owner):
    """A run was made with a promise, with columns and with settings; the promise has changed since."""
    session = owner.post("/sample", data={"size": "small"}).headers["location"].rpartition("/")[0]
    promised = {"property": "k-anonymity", "made": "true"}
    owner.post(f"{session}/promise/goal", data={**promised, "value": "6"})
    settings = {"method": "blind-buckets", "cuts": "strict", "cells": "tight"}
    assert owner.post(f"{session}/compare/runs", data=settings).status_code == 303
    page = wait_for(owner, f"{session}/compare", "runs/1/choose")
    assert "cuts = strict · cells = tight" in page
    owner.post(f"{session}/promise/goal", data={**promised, "value": "9"})
    owner.post(f"{session}/table/role", data={"column": 2, "role": "other"})
    before = owner.get(f"{session}/recipe.toml").text
    assert "k = 10" in before
    assert "made with another promise" in owner.get(f"{session}/compare").text

    owner.post(f"{session}/compare/runs/1/longer")
    wait_for(owner, f"{session}/compare", "runs/2/choose")
    for number in (1, 2):
        owner.post(f"{session}/compare/runs/{number}/choose")
        recipe = owner.get(f"{session}/recipe.toml").text
        assert "k = 7" in recipe
        assert 'cuts = "strict"' in recipe
        assert recipe != before
        owner.post(f"{session}/undo")
        assert owner.get(f"{session}/recipe.toml").text == before
    owner.post(f"{session}/close")


def test_settings_that_cannot_be_are_refused_in_words(owner):
    session = owner.post("/sample", data={"size": "small"}).headers["location"].rpartition("/")[0]
    for given, words in (
        ({"method": "blind-buckets", "rows_per_bucket": "many"}, "is a number"),
        ({"method": "mondrian", "cells": "square"}, "is one of"),
        ({"method": "full-domain", "max_suppressed": "7"}, "max_suppressed"),
    ):
        answer = owner.post(f"{session}/compare/runs", data=given)
        assert answer.status_code == 422
        assert words in answer.text
    assert "No runs yet" in owner.get(f"{session}/compare").text
    owner.post(f"{session}/close")


def patients(n=400):
    diseases = ("flu", "cold", "gout", "measles")
    return [{"Age": 20 + i % 60, "Town": f"T{i % 5}", "Disease": diseases[i * 7 % 4]} for i in range(n)]


def begin(owner, rows, name="patients.csv"):
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    content = "\n".join(lines).encode()
    answer = owner.post("/tables", files={"file": (name, content)})
    session = answer.headers["location"].rpartition("/")[0]
    for number, role in enumerate(("quasi-identifier", "quasi-identifier", "sensitive")):
        owner.post(f"{session}/table/role", data={"column": number, "role": role})
    return session, content


def test_what_the_owner_saves_replays_the_release_beside_their_table(owner, tmp_path):
    """The recipe leaves out the people of a pilot, and reads a hierarchy from a file: both come with it. The method has no coins."""
    session, content = begin(owner, patients())
    steps = "\n".join(f"T{i};{'near' if i < 3 else 'far'};*" for i in range(5))
    assert owner.post(f"{session}/coarser/1/file", files={"file": ("towns.csv", steps.encode())}).status_code == 303
    owner.post(f"{session}/compare/runs", data={"method": "full-domain"})
    wait_for(owner, f"{session}/compare", "runs/1/choose")
    owner.post(f"{session}/compare/runs/1/choose")
    owner.post(f"{session}/release/make")
    assert "public-box" in wait_for(owner, f"{session}/release", "public-box", "note bad")
    made = owner.get(f"{session}/release/files/release.csv").content
    with zipfile.ZipFile(io.BytesIO(owner.get(f"{session}/release/owner.zip").content)) as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / "replay"
    assert (folder / "patients.csv.pilot.owner.json").is_file()
    (folder / "patients.csv").write_bytes(content)
    assert overt.run(folder / "recipe.toml").ok
    assert (folder / "release.csv").read_bytes() == made
    assert 'path = "patients.csv"' in owner.get(f"{session}/recipe.toml").text
    owner.post(f"{session}/close")


def test_a_release_that_was_refused_leaves_the_signed_one_before(owner):
    """The people beside the pilot were released: other choices are refused for good, and the signature stays what it was."""
    session, _ = begin(owner, patients())
    owner.post(f"{session}/release/make")
    wait_for(owner, f"{session}/release", "public-box", "note bad")
    owner.post(f"{session}/release/sign", data={"name": " ", "role": "", "read": ["0", "1", "2"]})
    assert "Signed by" not in owner.get(f"{session}/release").text  # a blank is no name
    owner.post(f"{session}/release/sign", data={"name": "R. Adler", "role": "", "read": ["0", "1", "2"]})
    before = names_in(owner, f"{session}/release/public.zip")
    assert "release.signature.json" in before
    owner.post(f"{session}/promise/goal", data={"property": "k-anonymity", "value": "8", "made": "true"})
    owner.post(f"{session}/release/make")
    page = wait_for(owner, f"{session}/release", "No other release was made")
    assert "under other choices" in page
    assert "Signed by <b>R. Adler</b>" in page
    assert "The recipe has changed since" in page
    assert names_in(owner, f"{session}/release/public.zip") == before
    owner.post(f"{session}/close")


def test_a_saved_session_comes_back_with_its_release_and_without_what_was_cancelled(owner, tmp_path):
    session, _ = begin(owner, patients())
    for _ in range(2):
        owner.post(f"{session}/compare/runs", data={"method": "mondrian"})
    cancel = re.findall(
        r'formaction="([^"]*/jobs/\d+/cancel)"|action="([^"]*/jobs/\d+/cancel)"', owner.get(f"{session}/compare").text
    )
    owner.post("".join(cancel[-1]))
    owner.post("".join(cancel[0]))
    owner.post(f"{session}/release/make")
    wait_for(owner, f"{session}/release", "public-box", "note bad")
    owner.post(f"{session}/release/sign", data={"name": "R. Adler", "role": "", "read": ["0", "1", "2"]})
    files = names_in(owner, f"{session}/release/public.zip")
    folder = tmp_path / "kept"
    assert owner.post(f"{session}/save", data={"folder": str(folder)}).status_code == 303
    assert not list(folder.glob("run-*.toml"))
    owner.post(f"{session}/close")

    again = owner.post("/saved", data={"folder": str(folder)}).headers["location"].rpartition("/")[0]
    page = owner.get(f"{again}/release").text
    assert "Signed by <b>R. Adler</b>" in page
    assert names_in(owner, f"{again}/release/public.zip") == files
    assert "No runs yet" in owner.get(f"{again}/compare").text
    owner.post(f"{again}/promise/goal", data={"property": "k-anonymity", "value": "8", "made": "true"})
    assert "The recipe has changed since" in owner.get(f"{again}/release").text  # warned of before a second one
    assert owner.post(f"{again}/save", data={"folder": str(folder)}).status_code == 303
    assert "k = 9" in (folder / "session.json").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"kept"}
    (folder / "mine.txt").write_text("not of the studio")
    refused = owner.post(f"{again}/save", data={"folder": str(folder)})
    assert refused.status_code == 422
    assert "other files were put into the folder" in refused.text
    assert (folder / "mine.txt").exists()
    owner.post(f"{again}/close")
