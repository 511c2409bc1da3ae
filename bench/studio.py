# SPDX-License-Identifier: Apache-2.0
"""`python -m bench studio [--quick]`: the studio with a large census, over HTTP, as a browser asks: seconds, the bytes of each page, and memory.

Pages are paged and pictures are counted before they leave the server, so that what a browser receives does not grow with the table.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx

import overt

PATIENCE = 3600.0


def run(*, quick: bool = False) -> None:
    """Print what every step takes on tables of 100,000 and, unless `quick`, 5,000,000 rows."""
    print("| rows | step | seconds | KiB of the page |")
    print("|---|---|---|---|")
    for n_rows in (100_000,) if quick else (100_000, 5_000_000):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "census.csv"
            overt.samples.census(n_rows).write_csv(path)
            _steps(path, n_rows, Path(folder))


def _steps(path: Path, n_rows: int, folder: Path) -> None:
    command = [sys.executable, "-m", "overt", "studio", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment(folder)) as served:
        try:
            assert served.stdout is not None
            entrance = next(line.strip() for line in served.stdout if "token=" in line)
            root = entrance.partition("/enter")[0]
            with httpx.Client(base_url=root, timeout=PATIENCE, headers={"origin": root}) as client:
                client.get(entrance)

                def say(step: str, work: Callable[[], str]) -> None:
                    began = time.perf_counter()
                    page = work()
                    seconds = time.perf_counter() - began
                    print(f"| {n_rows:,} | {step} | {seconds:.1f} | {len(page.encode()) / 1024:.0f} |", flush=True)

                def bring() -> str:
                    with path.open("rb") as content:
                        answer = client.post("/tables", files={"file": (path.name, content)})
                    found.append(answer.headers["location"].rpartition("/")[0])
                    return client.get(f"{found[0]}/table").text

                def wait(address: str) -> str:
                    while "data-waits" in (page := client.get(found[0] + address).text):
                        time.sleep(0.2)
                    return page

                def post(address: str, **data: str) -> str:
                    client.post(found[0] + address, data=data)
                    return wait(re.sub("/(runs|make)$", "", address))

                found: list[str] = []
                say("drop it, see the columns", bring)
                say("the risk as it is", lambda: wait("/risk"))
                say("whether the promise can be kept", lambda: wait("/promise/kept"))
                say("a run of blind buckets", lambda: post("/compare/runs", method="blind-buckets"))
                say("a closer look at it", lambda: client.get(f"{found[0]}/compare/runs/1").text)
                say("the release, checked", lambda: post("/release/make"))
                peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{served.pid}/status").read_text())
                print(f"| {n_rows:,} | most memory | {int(peak[1]) / 1024 / 1024:.1f} GiB | |" if peak else "")
        finally:
            served.terminate()


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(folder), "PYTHONUNBUFFERED": "1", "COLUMNS": "500"}


if __name__ == "__main__":
    run(quick="--quick" in sys.argv)
