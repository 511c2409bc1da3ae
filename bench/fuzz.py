# SPDX-License-Identifier: Apache-2.0
"""Fuzz: a million inputs that are almost right, through every reader; each is read, or refused in words of ours.

Anything else (another exception, the end of the process, more than twenty seconds) is a crash: it is printed with the input, and becomes a test
(tests/contracts/test_crashes.py). Each reader works in a process of its own. OVERT_FUZZ_CASES says how many, OVERT_FUZZ_SEED draws others, and OVERT_FUZZ
takes only readers whose names hold that word. `python -m bench.fuzzing.guided READER` lets Atheris look for inputs that reach more of the code.
"""

import hashlib
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


def run(quick: bool = False) -> None:
    """Print how many inputs each reader was given, how many it read, and what crashed; quick: the short part of CI. Ends with 1 after a crash."""
    n_cases = int(os.environ.get("OVERT_FUZZ_CASES", IN_SHORT if quick else CASES))
    seed, chosen = int(os.environ.get("OVERT_FUZZ_SEED", SEED)), os.environ.get("OVERT_FUZZ", "")
    folder = Path(tempfile.mkdtemp(prefix="overt-fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    begun, crashes = time.monotonic(), list[dict[str, Any]]()
    n_given, reader, first = 0, 0, 0
    try:
        while reader >= 0:
            lines, process = _watched([str(n_cases), str(seed), chosen, str(folder), str(reader), str(first)], folder)
            for line in lines:
                n_given += line["given"]
                crashes += line["crashes"]
                _print(line)
            reader, first = _where_it_stopped(folder, process)
            if reader >= 0:
                content = (folder / "case").read_bytes()
                line = {"name": f"reader {reader}", "given": first, "read": 0, "seconds": 0.0}
                line["crashes"] = [{"why": f"the process ended ({process})", "content": repr(content)}]
                crashes += line["crashes"]
                _print(line)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(
        f"{n_given:10,}  inputs with seed {seed}, {len(crashes)} crashes, in {time.monotonic() - begun:.0f} s",
        flush=True,
    )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "fuzz.json").write_text(json.dumps(crashes, indent=1))
    if crashes:
        sys.exit(1)


def _print(line: dict[str, Any]) -> None:
    n, found = line["given"], line["crashes"]
    refused = n - line["read"] - line.get("crashed", len(found))
    print(
        f"{n:10,}  {line['name']}: {line['read']:,} read, {refused:,} refused, {len(found)} crashes, {line['seconds']:.1f} s of CPU",
        flush=True,
    )
    for crash in found:
        print(f"CRASH   {line['name']}: {crash['why']}  {crash['content'][:300]}", flush=True)


def _watched(words: list[str], folder: Path) -> tuple[list[dict[str, Any]], int]:
    """Fuzz in a process of its own until it ends, or takes too long over one input; what it told, and how it ended."""
    with (folder / "told").open("w+") as told:
        process = subprocess.Popen([sys.executable, "-m", "bench.fuzz", *words], stdout=told, stderr=subprocess.DEVNULL)
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
    """Give one reader its inputs; of each line of code that crashes, the shortest input is kept."""
    from overt.errors import OvertError

    begun, n_read, n_crashed, found = time.process_time(), 0, 0, {}
    for number in numbers:
        draw = random.Random(f"{seed} {reader.name} {number}")
        content = reader.mutate(draw.choice(reader.seeds), draw, reader.seeds)
        (folder / "case").write_bytes(content)
        (folder / "at").write_text(f"{place} {number}")
        try:
            reader.read(content, work)
            n_read += 1
        except OvertError:
            pass
        except BaseException as error:  # a panic of a compiled library is no Exception
            n_crashed += 1
            at = traceback.extract_tb(error.__traceback__)[-1]
            why = f"{type(error).__name__} at {Path(at.filename).name}:{at.lineno}"
            key = hashlib.sha256(why.encode()).hexdigest()
            if key not in found or len(content) < len(found[key][1]):
                found[key] = (f"{why}: {str(error)[:120]}", content)
    return {
        "name": reader.name,
        "given": len(numbers),
        "read": n_read,
        "crashed": n_crashed,
        "seconds": round(time.process_time() - begun, 1),
        "crashes": [{"reader": reader.name, "why": why, "content": repr(content)} for why, content in found.values()],
    }


if __name__ == "__main__":
    work(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6]))
