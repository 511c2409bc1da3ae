# SPDX-License-Identifier: Apache-2.0
"""Schemathesis sends every address whatever fits its description, and what does not: nothing ends in a mistake of ours, nor in an undeclared answer."""

from pathlib import Path

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, status_code_conformance

from browsing import serve_here
from overt.studio.app import create_app
from overt.studio.workspace import Workspace

pytestmark = pytest.mark.slow
EXAMPLES = 8  # for each address: together some hundreds of requests
STREAMS = "/s/{session_id}/events"  # never ends; the tests that drive the studio read it


def described():
    app = create_app(Workspace())  # not entered: nothing is written
    app.state.pages.jobs.close()
    return app.openapi()


SCHEMA = schemathesis.openapi.from_dict(described()).exclude(path=STREAMS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("asked")


@pytest.fixture(scope="module")
def client(folder):
    with serve_here(folder) as served, httpx.Client(base_url=served.root, timeout=120) as known:
        known.get(served.entrance)
        known.headers["origin"] = served.root
        known.folder = folder
        yield known


@pytest.fixture(scope="module")
def session(client):
    """The id of a session that is there whenever it is asked for: some requests close it."""
    known = {"id": ""}

    def find():
        if not known["id"] or client.get(f"/s/{known['id']}/recipe").status_code != 200:
            known["id"] = client.post("/sample", data={"size": "small"}).headers["location"].split("/")[2]
        return known["id"]

    return find


@SCHEMA.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_address_answers_as_declared(case, client, session):
    if "session_id" in (case.path_parameters or {}):
        case.path_parameters["session_id"] = session()
    if isinstance(case.body, dict) and "folder" in case.body:
        case.body["folder"] = str(
            Path(client.folder) / str(case.body["folder"]).replace("/", "")[:40].replace("\0", "")
        )
    cookies = dict(client.cookies)
    answer = case.call(
        base_url=str(client.base_url).rstrip("/"),
        headers={"origin": client.headers["origin"]},
        cookies=cookies,
        timeout=120,
        allow_redirects=False,
    )
    case.validate_response(answer, checks=[not_a_server_error, status_code_conformance, content_type_conformance])


@pytest.mark.parametrize(
    ("route", "fields"),
    [
        ("lengths", {"lengths": "9" * 30}),
        ("lengths", {"lengths": "9" * 400}),
        ("tree", {"edit": "wrap", "path": "[" * 2000, "label": "x"}),
        ("tree", {"edit": "move", "path": "[]", "into": "[" * 2000}),
    ],
)
def test_what_no_page_sends_is_refused_beside_its_field(client, session, route, fields):
    answer = client.post(f"/s/{session()}/coarser/3/{route}", data=fields)
    assert answer.status_code < 500
