# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.fuzzing.guided READER [-runs=N]`: Atheris looks for inputs that reach more of a reader's code.

It needs `pip install atheris`. Only our own modules are instrumented, and what it finds stands in a file `crash-...` in the current folder.
"""

import pkgutil
import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path


def main(words: list[str]) -> None:
    """Fuzz one reader until a crash, or so many runs."""
    import atheris

    import overt.kernels

    for module in pkgutil.iter_modules(
        overt.kernels.__path__, "overt.kernels."
    ):  # compiled, not interpreted: not instrumented
        import_module(module.name)
    with atheris.instrument_imports(include=["overt"]):
        from bench.fuzzing.readers import readers
        from overt.errors import OvertError

        known = {reader.name: reader for reader in readers()}
    if not words or words[0] not in known:
        sys.exit(f"Name one of these readers: {', '.join(known)}.")
    reader = known[words[0]]
    folder = Path(tempfile.mkdtemp(prefix="overt-guided-"))
    seeds, work = folder / "seeds", folder / "work"
    seeds.mkdir()
    work.mkdir()
    for number, seed in enumerate(reader.seeds):
        (seeds / str(number)).write_bytes(seed)

    def one(content: bytes) -> None:
        with suppress(OvertError):
            reader.read(content, work)

    atheris.Setup([sys.argv[0], *words[1:], str(seeds)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
