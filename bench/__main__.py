# SPDX-License-Identifier: Apache-2.0
"""`python -m bench [NAME ...] [--quick]`: run the benchmarks and print ratios.

Without names every benchmark of this folder runs. `--quick` leaves out the largest tables.
"""

import sys
from importlib import import_module
from inspect import signature
from pathlib import Path

NOT_BENCHMARKS = {"__init__", "__main__", "measure", "adult", "peers", "peer_releases"}


def main(arguments: list[str]) -> None:
    """Run the benchmarks named, or all."""
    quick = "--quick" in arguments
    known = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_BENCHMARKS)
    chosen = [name for name in arguments if not name.startswith("--")] or known
    unknown = set(chosen) - set(known)
    if unknown:
        sys.exit(f"There is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(known)}.")
    for name in chosen:
        run = import_module(f"bench.{name}").run
        run(**({"quick": quick} if "quick" in signature(run).parameters else {}))


main(sys.argv[1:])
