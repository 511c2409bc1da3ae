# SPDX-License-Identifier: Apache-2.0
"""Tables come as files of every format, from a database, and a promise may be differential privacy; asked over HTTP, as a browser asks."""

import io
import json
import re
import socket
import sqlite3
import time

import httpx
import pytest

from browsing import serve_here
from overt.samples import hospital

pytestmark = pytest.mark.slow
PATIENCE = 120
MADE_UP = """version = 1
[input]
path = "table.csv"
[columns]
Age = { role = "quasi-identifier" }
[[goal]]
property = "k-anonymity"
k = 2
[method]
name = "mondrian"
[output]
path = "release.csv"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("brought")


@pytest.fixture(scope="module")
def owner(folder):
    with serve_here(folder) as served, httpx.Client(base_url=served.root, timeout=PATIENCE) as client:
        client.get(served.entrance)
        client.headers["origin"] = served.root
        yield client


def session_of(answer):
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].rpartition("/")[0]


def wait_for(owner, path, *words):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        text = owner.get(path).text
        if any(word in text for word in words):
            return text
        time.sleep(0.2)
    raise AssertionError(f"{path} never says {words}: {text[-2000:]}")


@pytest.mark.parametrize("name", ["people.parquet", "people.arrow", "people.jsonl"])
def test_every_format_can_be_dropped(owner, name):
    content = io.BytesIO()
    write = {"parquet": "write_parquet", "arrow": "write_ipc", "jsonl": "write_ndjson"}[name.partition(".")[2]]
    getattr(hospital(), write)(content)
    content.seek(0)
    session = session_of(owner.post("/tables", files={"file": (name, content)}))
    assert "96 rows" in owner.get(f"{session}/table").text
    assert "Who might look" in wait_for(owner, f"{session}/risk", "Who might look", "could not be measured")
    owner.post(f"{session}/close")


def test_a_table_of_a_database_is_read_and_released(owner, folder):
    path = folder / "clinic.sqlite"
    people = hospital()
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE TABLE people ({', '.join(chr(34) + name + chr(34) for name in people.columns)})")
        rows = [tuple(map(str, row)) for row in people.rows()]
        database.executemany(f"INSERT INTO people VALUES ({', '.join('?' * people.width)})", rows)
    database.close()
    both = owner.post("/databases", data={"address": str(path), "table": "people", "query": "SELECT 1"})
    assert both.status_code == 422
    assert "one of the two" in both.text
    session = session_of(owner.post("/databases", data={"address": str(path), "table": "people"}))
    assert "96 rows" in owner.get(f"{session}/table").text
    assert 'table = "people"' in owner.get(f"{session}/recipe.toml").text
    owner.post(f"{session}/release/make")
    text = wait_for(owner, f"{session}/release", "public-box", "note bad")
    assert "release.csv.manifest.json" in text
    owner.post(f"{session}/save", data={"folder": str(folder / "kept")})
    owner.post(f"{session}/close")

    asked = owner.post("/saved", data={"folder": str(folder / "kept")})
    assert asked.status_code == 200
    assert "This session reads a database" in asked.text
    assert str(path) in asked.text
    wanted = re.search('name="wanted" value="([0-9a-f]{64})"', asked.text)[1]
    again = session_of(owner.post("/saved", data={"folder": str(folder / "kept"), "wanted": wanted}))
    assert "96 rows" in owner.get(f"{again}/table").text
    owner.post(f"{again}/close")


@pytest.mark.parametrize(
    "named", ['database = "postgresql://127.0.0.1:{port}/x"', 'database = "host=127.0.0.1 port={port}"']
)
def test_a_saved_session_of_somebody_else_reaches_no_database_by_itself(owner, folder, tmp_path, named):
    """libpq hands the password in PGPASSWORD to any server that asks for it."""
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.settimeout(0.5)
        recipe = MADE_UP.replace(
            'path = "table.csv"', named.format(port=elsewhere.getsockname()[1]) + '\ntable = "people"'
        )
        saved = {"session": 1, "audience": "owner", "name": "x", "runs": [{"recipe": recipe}]}
        saved["done"] = [{"text": recipe, "words": "Read", "when": "2026-01-01T00:00:00"}]
        (tmp_path / "session.json").write_text(json.dumps(saved))
        answer = owner.post("/saved", data={"folder": str(tmp_path)})
        assert "This session reads a database" in answer.text
        with pytest.raises(TimeoutError):
            elsewhere.accept()
        saved["done"].insert(0, {**saved["done"][0], "text": MADE_UP})
        (tmp_path / "session.json").write_text(json.dumps(saved))
        wanted = re.search('name="wanted" value="([0-9a-f]{64})"', answer.text)[1]
        answer = owner.post("/saved", data={"folder": str(tmp_path), "wanted": wanted})
        assert answer.status_code == 422
        assert "from several places" in answer.text
        with pytest.raises(TimeoutError):
            elsewhere.accept()


def test_the_field_for_the_population_may_be_empty(owner):
    session = session_of(owner.post("/sample", data={"size": "small"}))
    wait_for(owner, f"{session}/risk", "Who might look")
    assert owner.get(f"{session}/risk?population=").status_code == 200
    assert "estimated" in owner.get(f"{session}/risk?population=0.1").text
    assert owner.get(f"{session}/risk?population=2").status_code == 422
    owner.post(f"{session}/close")


@pytest.mark.parametrize(
    ("address", "words"),
    [("postgresql://me:s3same@db/clinic", "password"), ("NO_SUCH_DB", "NO_SUCH_DB"), ("/nowhere/at/all.db", "no")],
)
def test_addresses_that_lead_nowhere_are_refused_in_words(owner, address, words):
    answer = owner.post("/databases", data={"address": address, "table": "people"})
    assert answer.status_code == 422
    assert words in answer.text
    assert "s3same" not in answer.text


def test_differential_privacy_takes_the_place_of_goals_and_can_be_taken_back(owner):
    session = session_of(owner.post("/sample", data={"size": "small"}))
    before = owner.get(f"{session}/recipe.toml").text
    asked = {"made": "true", "confirmed": "true", "epsilon": "1", "delta": "0.00001", "n_rows": "100000"}
    htmx = {"hx-request": "true"}
    too_few = owner.post(f"{session}/promise/dp", data=asked | {"n_rows": "10"}, headers=htmx)
    assert "too few" in too_few.text  # what the library refuses stands beside the control
    assert owner.get(f"{session}/recipe.toml").text == before
    owner.post(f"{session}/promise/dp", data=asked, headers=htmx)
    recipe = owner.get(f"{session}/recipe.toml").text
    assert 'name = "dp-full-domain"' in recipe
    assert "[[goal]]" not in recipe
    assert "hierarchy" in wait_for(owner, f"{session}/promise/kept", "Not as it stands")  # Sex and Disease have none
    page = owner.get(f"{session}/release").text
    assert "Not as it stands" in page and "hierarchy" in page
    assert re.search(r'release/make"><button class="btn primary" disabled>', page)
    owner.post(f"{session}/promise/dp", headers=htmx)
    assert owner.get(f"{session}/recipe.toml").text == before
    page = owner.get(f"{session}/release").text
    assert "Not as it stands" not in page and 'release/make"><button class="btn primary">' in page
    owner.post(f"{session}/close")


def test_a_hierarchy_is_exported_and_imported_as_a_file(owner):
    session = session_of(owner.post("/sample", data={"size": "small"}))
    number = re.search(
        r'<div id="coarser-(\d+)">\s*<div class="card"><div class="row apart"><h3>Postcode',
        owner.get(f"{session}/coarser").text,
    )
    assert number
    base = f"{session}/coarser/{number[1]}"
    exported = owner.get(f"{base}/hierarchy.csv")
    assert exported.status_code == 200
    assert "5311*" in exported.text
    answer = owner.post(f"{base}/file", files={"file": ("postcodes.csv", exported.content)})
    assert answer.status_code == 303
    assert 'file = "hierarchy-' in owner.get(f"{session}/recipe.toml").text
    assert owner.get(f"{base}/hierarchy.csv").text == exported.text
    owner.post(f"{session}/close")
