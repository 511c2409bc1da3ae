# SPDX-License-Identifier: Apache-2.0
"""Answer golden files: `python tests/golden/answer.py FILE` prints the file with its answers filled in.

The family is told by the shape of the file, never by its name, and answers that are already there are not looked
at. Each family has a module beside this one with `recognises(document)` and `answer(document)`.
"""

import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
FAMILIES = sorted(
    path.stem
    for path in Path(__file__).parent.glob("*.py")
    if path.stem != "answer" and "_" not in path.stem  # with one: a test, or a part of a family
)


def answer(document):
    """The document with the answers of the first family that recognises it, unchanged if none does."""
    for name in FAMILIES:
        family = importlib.import_module(name)
        if family.recognises(document):
            return family.answer(document)
    return document


if __name__ == "__main__":
    json.dump(answer(json.loads(Path(sys.argv[1]).read_text("utf-8"))), sys.stdout)
    sys.stdout.write("\n")
