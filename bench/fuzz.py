# SPDX-License-Identifier: Apache-2.0
"""Fuzz: a million inputs that are almost right, through every reader; each is read, or refused in words of ours.

Anything else (another exception, the end of the process, more than twenty seconds) is a crash: it is printed with the input, and becomes a test
(tests/contracts/test_crashes.py). Each reader works in a process of its own. OVERT_FUZZ_CASES says how many, OVERT_FUZZ_SEED draws others, and OVERT_FUZZ
takes only readers whose names hold that word. `python -m bench.fuzzing.guided READER` lets Atheris look for inputs that reach more of the code.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

CASES, IN_SHORT, SEED = 1_000_000, 6_000, 20
FEWEST = 25  # for every reader
SLOWEST = 20.0  # seconds of CPU that one input may take
RESULTS = Path(__file__).parent / "results"
WORKER = ("-m", "bench.fuzz")


def run(quick: bool = False) -> None:
    """Print how many inputs each reader was given, how many it read, and what crashed; quick: the short part of CI. Ends with 1 after a crash."""
    n_cases = int(os.environ.get("OVERT_FUZZ_CASES", IN_SHORT if quick else CASES))
    seed, chosen = int(os.environ.get("OVERT_FUZZ_SEED", SEED)), os.environ.get("OVERT_FUZZ", "")
    folder = Path(tempfile.mkdtemp(prefix="overt-fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    begun = time.monotonic()
    reader, first = 0, 0
    tallies: dict[str, dict[str, Any]] = {}
    try:
        while reader >= 0:
            told, process = _watched([str(n_cases), str(seed), chosen, str(folder), str(reader), str(first)], folder)
            reader, first = _where_it_stopped(folder, process)
            if reader >= 0:
                told.append(last_words(_read(folder / "at"), (folder / "case").read_bytes(), process))
            for line in told:
                add(tallies, line)
    finally:
        for tally in tallies.values():
            _print(tally)
        shutil.rmtree(folder, ignore_errors=True)
    n_given = sum(tally["given"] for tally in tallies.values())
    crashes = [crash for tally in tallies.values() for crash in tally["crashes"]]
    print(
        f"{n_given:10,}  inputs with seed {seed}, {len(crashes)} crashes, in {time.monotonic() - begun:.0f} s",
        flush=True,
    )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "fuzz.json").write_text(json.dumps(crashes, indent=1))
    if crashes:
        sys.exit(1)


def add(tallies: dict[str, dict[str, Any]], line: dict[str, Any]) -> None:
    """Add what a reader did since its last line; a process that dies has told all but its last inputs, none of them twice."""
    tally = tallies.setdefault(
        line["name"], {"name": line["name"], "given": 0, "read": 0, "crashed": 0, "seconds": 0.0, "crashes": []}
    )
    for number in ("given", "read", "crashed", "seconds"):
        tally[number] += line[number]
    for crash in line["crashes"]:
        same = next((one for one in tally["crashes"] if one["where"] == crash["where"]), None)
        if same is None:
            tally["crashes"].append(crash)
        elif len(crash["content"]) < len(same["content"]):
            same.update(crash)


def last_words(at: str, content: bytes, code: int) -> dict[str, Any]:
    """The line of a process that died over an input: `at` is what it wrote down before it read it."""
    _, _, given, n_read, crashed, seconds, name = at.split(" ", 6)
    why = f"the process ended ({code})"
    return {
        "name": name,
        "given": int(given) + 1,
        "read": int(n_read),
        "crashed": int(crashed) + 1,
        "seconds": float(seconds),
        "crashes": [{"reader": name, "where": why, "why": why, "content": repr(content)}],
    }


def _print(line: dict[str, Any]) -> None:
    n, found = line["given"], line["crashes"]
    refused = n - line["read"] - line["crashed"]
    print(
        f"{n:10,}  {line['name']}: {line['read']:,} read, {refused:,} refused, {len(found)} crashes, {line['seconds']:.1f} s of CPU",
        flush=True,
    )
    for crash in found:
        print(f"CRASH   {line['name']}: {crash['why']}  {crash['content'][:300]}", flush=True)


def _watched(words: list[str], folder: Path) -> tuple[list[dict[str, Any]], int]:
    """Fuzz in a process of its own until it ends, or takes too long over one input; what it told, and how it ended."""
    with (folder / "told").open("w+") as told:
        process = subprocess.Popen([sys.executable, *WORKER, *words], stdout=told, stderr=subprocess.DEVNULL)
        at, since = "", 0.0
        while process.poll() is None:
            time.sleep(0.2)
            now, spent = _read(folder / "at"), _cpu_of(process.pid)
            if now != at:
                at, since = now, spent
            elif spent - since > SLOWEST and now:
                process.kill()
        told.seek(0)
        return [json.loads(line) for line in told], process.returncode


def _where_it_stopped(folder: Path, code: int) -> tuple[int, int]:
    """Which reader and which input to go on with; -1 if all is done."""
    if code == 0:
        return -1, 0
    at = _read(folder / "at").split()
    if not at:
        raise RuntimeError("The fuzzer does not start; run `python -m bench.fuzz 100 1 '' /tmp 0 0` to see why.")
    return int(at[0]), int(at[1]) + 1


def _cpu_of(process: int) -> float:
    parts = _read(Path(f"/proc/{process}/stat")).rpartition(") ")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK") if parts else 0.0


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def work(n_cases: int, seed: int, chosen: str, folder: Path, begin: int, first: int) -> None:
    """Give every reader its inputs, from one on, and print a line of JSON for each."""
    import warnings

    from bench.fuzzing.readers import readers

    warnings.simplefilter("ignore")
    all_readers = [reader for reader in readers() if chosen in reader.name]
    total = sum(reader.share for reader in all_readers)
    place = folder / "work"
    place.mkdir(exist_ok=True)
    for number, reader in enumerate(all_readers):
        if number >= begin:
            n = max(FEWEST, -(-n_cases * reader.share // total))
            line = fuzz(reader, number, range(first if number == begin else 0, n), seed, folder, place)
            print(json.dumps(line), flush=True)
            shutil.rmtree(place)
            place.mkdir()


def fuzz(reader: Any, place: int, numbers: range, seed: int, folder: Path, work: Path) -> dict[str, Any]:
    """Give one reader its inputs, and count them; of each line of code that crashes, the shortest input so far is printed as a line of JSON."""
    from overt.errors import OvertError

    begun, n_read, n_crashed, shortest = time.process_time(), 0, 0, dict[str, int]()

    def line(n_given: int, crashes: list[dict[str, str]]) -> dict[str, Any]:
        counts = {"given": n_given, "read": n_read, "crashed": n_crashed, "seconds": time.process_time() - begun}
        return {"name": reader.name, **(counts if not crashes else dict.fromkeys(counts, 0)), "crashes": crashes}

    for done, number in enumerate(numbers):
        draw = random.Random(f"{seed} {reader.name} {number}")
        content = reader.mutate(draw.choice(reader.seeds), draw, reader.seeds)
        (folder / "case").write_bytes(content)
        spent = time.process_time() - begun
        (folder / "at").write_text(f"{place} {number} {done} {n_read} {n_crashed} {spent:.2f} {reader.name}")
        try:
            reader.read(content, work)
            n_read += 1
        except OvertError:
            pass
        except BaseException as error:  # a panic of a compiled library is no Exception
            n_crashed += 1
            at = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{type(error).__name__} at {Path(at.filename).name}:{at.lineno}"
            if len(content) < shortest.get(where, len(content) + 1):
                shortest[where] = len(content)
                crash = {
                    "reader": reader.name,
                    "where": where,
                    "why": f"{where}: {str(error)[:120]}",
                    "content": repr(content),
                }
                print(json.dumps(line(0, [crash])), flush=True)  # at once: the next input may end the process
    return line(len(numbers), [])


if __name__ == "__main__":
    work(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6]))
