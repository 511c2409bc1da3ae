# SPDX-License-Identifier: Apache-2.0
"""`python -m bench roles`: the share of columns of invented schemas whose role `overt init` proposes right."""

import sys
import tempfile
from pathlib import Path

FIRST_TRY = {
    "held out": "71 of 88 (4 identifiers missed)",
    "held out again": "67 of 71 (1 identifier missed)",
    "messy exports": "64 of 76 (3 identifiers missed)",
}


def run() -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from schemas.held_out import HELD_OUT
    from schemas.held_out_again import HELD_OUT_AGAIN
    from schemas.messy import MESSY
    from schemas.proposals import share_right
    from schemas.tables import SCHEMAS

    with tempfile.TemporaryDirectory() as folder:
        kinds = {
            "twenty schemas": SCHEMAS,
            "held out": HELD_OUT,
            "held out again": HELD_OUT_AGAIN,
            "messy exports": MESSY,
        }
        for kind, schemas in kinds.items():
            n_right, n_columns, wrong = share_right(schemas, Path(folder))
            first = f"; at the first try {FIRST_TRY[kind]}" if kind in FIRST_TRY else ""
            print(f"{kind}: {n_right} of {n_columns} right, {n_right / n_columns:.1%}{first}")
            for schema, column, expected, proposed in wrong:
                print(f"  {schema}: {column}: {proposed} instead of {expected}")
