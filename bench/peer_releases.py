# SPDX-License-Identifier: Apache-2.0
"""Releases by anjana and anonypy, in a process of their own: they need other versions of other packages.

`python -m venv peers; peers/bin/pip install anjana anonypy`, then `OVERT_PEERS=peers/bin/python python -m bench leaderboard`.
This file runs in that environment, and imports nothing of Overt.
"""

import csv
import json
import sys
from pathlib import Path


def by_anonypy(data, asked):
    """The groups as it publishes them: one line for each group and value."""
    import anonypy

    for name in asked["quasi_identifiers"]:
        if name not in asked["numbers"]:
            data[name] = data[name].astype("category")
    made = anonypy.Preserver(data, asked["quasi_identifiers"], asked["sensitive"])
    return made.anonymize_l_diversity(k=asked["k"], l=asked["l"])


def by_anjana(data, asked):
    """One line for each row."""
    from anjana.anonymity import l_diversity

    hierarchies = {}
    for name, path in asked["hierarchies"].items():
        with Path(path).open(encoding="utf-8") as lines:
            levels = list(zip(*csv.reader(lines, delimiter=";"), strict=True))
        values = [int(value) for value in levels[0]] if name in asked["numbers"] else list(levels[0])
        hierarchies[name] = {i: values if i == 0 else list(level) for i, level in enumerate(levels)}
    names, l = asked["quasi_identifiers"], asked["l"]
    made = l_diversity(data, [], names, asked["sensitive"], asked["k"], l, 0, hierarchies)
    return made[[*names, asked["sensitive"]]].to_dict("records")


if __name__ == "__main__":
    import pandas as pd

    asked = json.loads(sys.argv[1])
    data = pd.read_csv(asked["path"], keep_default_na=False)
    rows = {"anonypy": by_anonypy, "anjana": by_anjana}[asked["tool"]](data, asked)
    flat = [{name: one[0] if isinstance(one, list) else one for name, one in row.items()} for row in rows]
    pd.DataFrame(flat).to_csv(asked["output"], index=False)
