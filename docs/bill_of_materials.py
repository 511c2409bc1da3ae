# SPDX-License-Identifier: Apache-2.0
"""A bill of materials in the CycloneDX format: what Overt brings with all extras, and the scripts that the studio ships. Nothing else.

`python docs/bill_of_materials.py dist/overt.cdx.json` writes it from the packages that are installed here. Tools for development are
installed too; they are left out.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

sys.path.insert(0, str(Path(__file__).parent))
from dependencies import ROOT, packages

VENDORED = ROOT / "src" / "overt" / "studio" / "static" / "vendor"
SCRIPTS = {  # file -> name in the npm registry, version as it stands in the file, licence
    "htmx": ("htmx.org", "2.0.10", "0BSD"),
    "vega": ("vega", "6.4.0", "BSD-3-Clause"),
    "vega-embed": ("vega-embed", "7.3.0", "BSD-3-Clause"),
    "vega-lite": ("vega-lite", "6.4.3", "BSD-3-Clause"),
}


def bill() -> dict[str, Any]:
    """The whole document."""
    found = of_environment()
    wanted = set(packages())
    kept = [part for part in found["components"] if canonicalize_name(part["name"]) in wanted]
    missing = wanted - {canonicalize_name(part["name"]) for part in kept}
    if missing:
        raise SystemExit(f"These are not installed, so their versions are not known: {', '.join(sorted(missing))}.")
    scripts = list(map(script, SCRIPTS))
    root = found["metadata"]["component"]["bom-ref"]
    refs = {root, *(part["bom-ref"] for part in kept)}
    links = [
        {**line, "dependsOn": [ref for ref in line.get("dependsOn", ()) if ref in refs]}
        for line in found["dependencies"]
        if line["ref"] in refs
    ]
    for line in links:
        if line["ref"] == root:
            line["dependsOn"] += [part["bom-ref"] for part in scripts]
    links += [{"ref": part["bom-ref"]} for part in scripts]
    return {**found, "components": [*kept, *scripts], "dependencies": links}


def of_environment() -> dict[str, Any]:
    """What the tool says of all that is installed here."""
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder, "all.json")
        words = ["environment", "--pyproject", str(ROOT / "pyproject.toml"), "--output-file", str(into), sys.executable]
        subprocess.run([sys.executable, "-m", "cyclonedx_py", *words], check=True)
        found: dict[str, Any] = json.loads(into.read_text("utf-8"))
        return found


def script(file: str) -> dict[str, Any]:
    """A script that the studio ships, as a part."""
    name, version, licence = SCRIPTS[file]
    content = (VENDORED / f"{file}.min.js").read_bytes()
    return {
        "type": "library",
        "bom-ref": f"{name}=={version}",
        "name": name,
        "version": version,
        "purl": f"pkg:npm/{name}@{version}",
        "licenses": [{"license": {"id": licence}}],
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}],
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(bill(), indent=1), "utf-8")
