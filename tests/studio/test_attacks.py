# SPDX-License-Identifier: Apache-2.0
"""What somebody on this machine, or a page of another site, could try against a studio that runs."""

import io
import socket
import stat
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from browsing import serve
from overt.samples import hospital
from overt.studio.guard import POLICY
from overt.studio.jobs import MOST_WAITING
from overt.studio.session import MOST_SESSIONS

pytestmark = pytest.mark.slow
PAYLOAD = "<img src=x onerror=alert(1)>\"'{{7*7}}&amp;"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("attacked")


@pytest.fixture(scope="module")
def attacked(folder):
    with serve(folder) as served:
        yield served


@pytest.fixture(scope="module")
def owner(attacked):
    with httpx.Client(base_url=attacked.root, timeout=120, headers={"origin": attacked.root}) as client:
        assert client.get(attacked.entrance).status_code == 303
        yield client


@pytest.fixture(scope="module")
def session(owner):
    return open_sample(owner)


def open_sample(owner):
    answer = owner.post("/sample", data={"size": "small"})
    assert answer.status_code == 303
    return answer.headers["location"].rpartition("/")[0]


def upload(owner, name, content):
    return owner.post("/tables", files={"file": (name, io.BytesIO(content))})


def test_the_studio_listens_on_the_loopback_address_alone(attacked):
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for address in {one for one in others if not one.startswith("127.")}:
        with pytest.raises(OSError, match="refused|unreachable|timed out"):
            socket.create_connection((address, attacked.port), timeout=2)
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ours = [
        fields[1] for fields in listening if fields[3] == "0A" and int(fields[1].split(":")[1], 16) == attacked.port
    ]
    assert [address.split(":")[0] for address in ours] == ["0100007F"]


def test_strangers_get_nothing(attacked, session):
    for path in ("/", f"{session}/table", f"{session}/recipe.toml", "/check", "/static/studio.js", "/enter?token=x"):
        answer = httpx.get(attacked.root + path)
        assert answer.status_code == 403
        assert "Postcode" not in answer.text
        assert answer.headers["content-security-policy"] == POLICY


def test_the_cookie_is_strict_and_the_token_is_not_kept_in_it(attacked):
    cookie = httpx.get(attacked.entrance).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert urlsplit(attacked.entrance).query.partition("=")[2] not in cookie


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example", ""]
)
def test_other_names_of_this_machine_are_refused(owner, host):
    assert owner.get("/", headers={"host": host}).status_code in (400, 421)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "null"},
        {"origin": "https://evil.example"},
        {"origin": "http://localhost.evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_forms_of_other_pages_change_nothing(owner, session, headers):
    before = owner.get(f"{session}/recipe.toml").text
    data = {"column": 1, "role": "other"}
    assert owner.post(f"{session}/table/role", data=data, headers=headers).status_code == 403
    assert owner.get(f"{session}/recipe.toml").text == before


def test_an_origin_is_required_of_what_changes_something(attacked, owner, session):
    cookies = dict(owner.cookies)
    answer = httpx.post(f"{attacked.root}{session}/undo", cookies=cookies)
    assert answer.status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/%2fetc/passwd",
        "{session}/release/files/..%2frecipe.toml",
        "{session}/release/files/recipe.toml",
        "{session}/release/files/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/s/..%2f..%2fetc/recipe.toml",
        "/s/%00/table",
        "/check/..%2f..%2fetc",
    ],
)
def test_paths_lead_nowhere_else(attacked, owner, session, path):
    answer = owner.get(path.format(session=session))
    assert answer.status_code in (400, 404)
    assert "root:" not in answer.text
    assert "SPDX" not in answer.text


@pytest.mark.parametrize(
    "name", ["../../evil.csv", "..\\..\\evil.csv", "/etc/cron.d/evil.csv", ".hidden.csv", "a\x00b.csv"]
)
def test_names_of_uploads_choose_no_place(owner, folder, name):
    answer = upload(owner, name, b"Age,City\n1,a\n2,b\n3,a\n4,b\n")
    assert answer.status_code in (303, 400, 422)
    found = [path for path in folder.rglob("*") if "evil" in path.name or "hidden" in path.name]
    assert found == []
    if answer.status_code == 303:
        owner.post(answer.headers["location"].rpartition("/")[0] + "/close")


def test_working_copies_are_the_owners_alone(owner, session, folder):
    [workspace] = [path for path in folder.iterdir() if path.name.startswith("overt-studio-")]
    assert stat.S_IMODE(workspace.stat().st_mode) == 0o700
    for path in workspace.rglob("*"):
        if path.is_dir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_a_huge_upload_is_refused_before_it_is_read(attacked, owner):
    cookie = "; ".join(f"{name}={value}" for name, value in owner.cookies.items())
    lines = [
        "POST /tables HTTP/1.1",
        f"Host: 127.0.0.1:{attacked.port}",
        f"Origin: {attacked.root}",
        f"Cookie: {cookie}",
        "Content-Type: multipart/form-data; boundary=x",
        f"Content-Length: {1 << 50}",
        "",
        "",
    ]
    with socket.create_connection(("127.0.0.1", attacked.port), timeout=20) as connection:
        connection.sendall("\r\n".join(lines).encode())
        answer = b"".join(
            iter(lambda: connection.recv(4000), b"")
        ).decode()  # it comes in parts, and then the server hangs up
    assert answer.startswith("HTTP/1.1 413")
    assert "at most 8 GiB" in answer


def test_a_name_that_is_no_table_is_answered_in_words(owner):
    answer = upload(owner, "notes.docx", b"PK")
    assert answer.status_code == 422
    assert "The studio reads .csv" in answer.text
    answer = upload(owner, "broken.parquet", b"no parquet at all")
    assert answer.status_code == 422
    assert "Traceback" not in answer.text


def test_many_jobs_end_in_a_sentence_and_all_can_be_cancelled(owner):
    session = open_sample(owner)
    codes = [
        owner.post(f"{session}/compare/runs", data={"method": "mondrian"}).status_code for _ in range(MOST_WAITING + 8)
    ]
    assert codes[0] == 303
    assert codes[-1] == 409
    begun = time.monotonic()
    for number in range(1, 200):
        owner.post(f"{session}/jobs/{number}/cancel")
    assert "waiting" not in owner.get(f"{session}/jobs").text
    assert time.monotonic() - begun < 60
    owner.post(f"{session}/close")
    assert owner.get(f"{session}/table").status_code == 404


def test_many_tables_end_in_a_sentence(owner):
    opened = []
    for _ in range(MOST_SESSIONS + 1):
        answer = upload(owner, "small.csv", b"Age,City\n1,a\n2,b\n3,a\n4,b\n")
        if answer.status_code != 303:
            break
        opened.append(answer.headers["location"].rpartition("/")[0])
    assert answer.status_code == 422
    assert "close one of them first" in answer.text
    for session in opened:
        owner.post(f"{session}/close")


def test_what_a_file_says_is_never_markup(owner):
    header = f'"{PAYLOAD.replace(chr(34), chr(34) * 2)}",Age,"=HYPERLINK(""http://evil"")","</script><b>x"'
    rows = [f'"<script>alert({n % 3})</script>",{20 + n % 9},"=1+{n % 2}","</td>{n % 4}"' for n in range(60)]
    answer = upload(owner, "<b>table<x>.csv", "\n".join([header, *rows]).encode())
    assert answer.status_code == 303
    session = answer.headers["location"].rpartition("/")[0]
    for path in ("table", "risk", "promise", "coarser", "compare", "release", "recipe"):
        text = owner.get(f"{session}/{path}").text
        assert "<img src=x" not in text
        assert "<script>alert" not in text
        assert "<b>table" not in text
        assert "<b>x" not in text
    assert "{{7*7}}" in owner.get(f"{session}/table").text  # shown as it stands
    owner.post(f"{session}/close")


def test_a_saved_session_is_private_and_opens_again(owner, folder):
    session = open_sample(owner)
    owner.post(f"{session}/table/role", data={"column": 2, "role": "other"})
    owner.post(f"{session}/compare/runs", data={"method": "mondrian"})
    target = folder / "kept"
    assert owner.post(f"{session}/save", data={"folder": str(target)}).status_code == 303
    assert stat.S_IMODE(target.stat().st_mode) == 0o700
    other = open_sample(owner)
    assert owner.post(f"{other}/save", data={"folder": str(target)}).status_code == 422  # never over another
    owner.post(f"{other}/close")
    assert owner.post(f"{session}/save", data={"folder": str(target)}).status_code == 303  # over itself
    recipe = owner.get(f"{session}/recipe.toml").text
    owner.post(f"{session}/close")
    answer = owner.post("/saved", data={"folder": str(target)})
    assert answer.status_code == 303
    again = answer.headers["location"].rpartition("/")[0]
    assert owner.get(f"{again}/recipe.toml").text == recipe
    assert "Run again" in owner.get(f"{again}/compare").text
    owner.post(f"{again}/undo")
    assert owner.get(f"{again}/recipe.toml").text != recipe
    owner.post(f"{again}/close")


@pytest.mark.parametrize("given", ["relative/folder", "", "\x00", "/does/not/exist/at/all"])
def test_folders_that_cannot_be(owner, session, given):
    assert owner.post(f"{session}/save", data={"folder": given}).status_code == 422
    assert owner.post("/saved", data={"folder": given}).status_code == 422


def test_a_folder_that_somebody_made_up_is_refused(owner, folder):
    made_up = folder / "made-up"
    made_up.mkdir()
    (made_up / "session.json").write_text('{"session": 1, "audience": "owner", "name": "x", "done": [], "more": 1}')
    (made_up / "table.csv").symlink_to("/etc/passwd")
    answer = owner.post("/saved", data={"folder": str(made_up)})
    assert answer.status_code == 422
    assert "not as the studio writes it" in answer.text


def test_nothing_is_left_when_the_studio_ends(folder):
    with serve(folder) as served, httpx.Client(base_url=served.root, timeout=60) as client:
        client.get(served.entrance)
        client.headers["origin"] = served.root
        content = hospital().write_csv().encode()
        assert upload(client, "people.csv", content).status_code == 303
        assert len([path for path in folder.iterdir() if path.name.startswith("overt-studio-")]) == 2
    left = [path for path in folder.iterdir() if path.name.startswith("overt-studio-")]
    assert len(left) == 1  # of the studio of the other tests, which still runs
