# SPDX-License-Identifier: Apache-2.0
"""Studios that are killed while a person uploads, compares, releases and saves; and saved sessions that are damaged."""

import http.client
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from bench.fault_matrix.damage import DAMAGES
from bench.fault_matrix.folders import hidden, open_to_others, visible
from bench.fault_matrix.kills import Fault
from bench.fault_matrix.scenes import PERSON, VALUE, Stage

_BOUNDARY = "----of-the-fault-matrix"


class Person:
    """Somebody in front of a studio: forms are sent, and what comes back is not looked at but for its code."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.host = parts.netloc
        self.cookie = ""
        self._ask("GET", f"{parts.path}?{parts.query}")

    def post(self, path: str, **form: str) -> tuple[int, str, str]:
        return self._ask("POST", path, urlencode(form).encode(), "application/x-www-form-urlencoded")

    def get(self, path: str) -> tuple[int, str, str]:
        return self._ask("GET", path)

    def upload(self, name: str, content: bytes) -> tuple[int, str, str]:
        head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + f"\r\n--{_BOUNDARY}--\r\n".encode()
        return self._ask("POST", "/tables", body, f"multipart/form-data; boundary={_BOUNDARY}")

    def _ask(self, method: str, path: str, body: bytes = b"", kind: str = "") -> tuple[int, str, str]:
        connection = http.client.HTTPConnection(self.host, timeout=60)
        headers = {"Host": self.host, "Origin": f"http://{self.host}", "Cookie": self.cookie}
        if body or method == "POST":
            headers |= {"Content-Type": kind, "Content-Length": str(len(body))}
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        self.cookie = (answer.headers.get("set-cookie") or self.cookie).partition(";")[0]
        found = answer.status, answer.headers.get("location") or "", answer.read().decode("utf-8", "replace")
        connection.close()
        return found


def killed(stage: Stage, n: int, draw: random.Random, longest: float = 8.0) -> Iterator[Fault]:
    """Kill -9 at a random moment: the next studio removes what was left, and a saved folder is whole or not there."""
    people = (stage.inputs / "people.csv").read_bytes()
    for _ in range(n):
        folder = stage.folder / "now" / "studio"
        (folder / "tmp").mkdir(parents=True)
        moment = draw.uniform(0.0, longest)
        with studio(folder) as (process, address):
            timer = threading.Timer(moment, process.kill)
            timer.start()
            with suppress(OSError, http.client.HTTPException, AssertionError):
                work(Person(address), people, folder)
            process.wait()
            timer.cancel()
        problem = _why_open(folder)
        if not problem:
            with studio(folder):
                time.sleep(0.2)
            problem = _why_left(folder)
        yield Fault("kill -9 of the studio", "upload, compare, release, save", f"after {moment:.1f} s", problem)
        shutil.rmtree(folder)


def damaged_sessions(stage: Stage, n: int, draw: random.Random) -> Iterator[Fault]:
    """A saved session is damaged, and opened: the page says so in words, and the studio goes on."""
    folder = stage.folder / "now" / "studio"
    (folder / "tmp").mkdir(parents=True)
    people = (stage.inputs / "people.csv").read_bytes()
    with studio(folder) as (process, address):
        person = Person(address)
        session = person.upload("people.csv", people)[1].rpartition("/")[0]
        person.post(f"{session}/save", folder=str(folder / "saved"))
        names = sorted(path.name for path in (folder / "saved").iterdir())
        for number in range(n):
            broken = folder / "broken"
            shutil.copytree(folder / "saved", broken)
            name = draw.choice(["session.json", "session.json", *names])
            spoil = DAMAGES[number % len(DAMAGES)]
            (broken / name).write_bytes(spoil((broken / name).read_bytes(), draw))
            code, _, text = person.post("/saved", folder=str(broken))
            problem = "" if code in (303, 400, 422) else f"answer {code}"
            if not problem and code != 303 and (PERSON in text or VALUE in text or "Traceback" in text):
                problem = "the page shows what it must not"
            if not problem and person.get("/")[0] != 200:
                problem = "the studio does not go on"
            yield Fault("damaged session of the studio", "open a saved session", f"{name}, {spoil.__name__}", problem)
            shutil.rmtree(broken)
        process.kill()
    shutil.rmtree(folder)


def work(person: Person, people: bytes, folder: Path) -> None:
    """What a person does, again and again."""
    for number in range(50):
        code, place, _ = person.upload("people.csv", people)
        assert code == 303
        session = place.rpartition("/")[0]
        person.post(f"{session}/release/make")
        person.post(f"{session}/save", folder=str(folder / f"saved-{number}"))
        for _ in range(20):
            if "release.csv" in person.get(f"{session}/release")[2]:
                person.get(f"{session}/release/public.zip")
                break
            time.sleep(0.2)
        person.post(f"{session}/save", folder=str(folder / f"again-{number}"))


@contextmanager
def studio(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A studio, and the address that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", "overt", "studio", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TMPDIR": str(folder / "tmp"), "PYTHONUNBUFFERED": "1", "COLUMNS": "500"},
    )
    assert process.stdout is not None
    try:
        address = next((line.strip() for line in process.stdout if "token=" in line), "")
        if not address:
            raise RuntimeError("overt studio printed no address")
        yield process, address
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        process.stdout.close()


def _why_open(folder: Path) -> str:
    readable = open_to_others([path for path in (folder / "tmp").rglob("*") if path.is_file()])
    return f"others can read {readable}" if readable else ""


def _why_left(folder: Path) -> str:
    left = [
        str(path.relative_to(folder))
        for path in (folder / "tmp").rglob("*")
        if path.is_file() and path.read_bytes() not in (b"", b"blat")
    ]
    if left:
        return f"left among temporary files: {left}"
    behind = [path.name for path in hidden(folder)]
    if behind:
        return f"left behind: {behind}"
    for saved in [path for path in folder.iterdir() if path.name.startswith(("saved", "again"))]:
        if not {"session.json", "table.csv", "recipe.toml"} <= set(visible(saved)):
            return f"{saved.name} is not whole: {sorted(visible(saved))}"
    return ""
