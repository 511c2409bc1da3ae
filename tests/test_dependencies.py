# SPDX-License-Identifier: Apache-2.0
"""What Overt brings with it has a licence that fits its own, and the page and the oldest versions say the same as pyproject.toml."""

import hashlib
import json
import re
import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PERMISSIVE = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "PSF-2.0",
    "Zlib",
}
VENDORED = ROOT / "src" / "overt" / "studio" / "static" / "vendor"


def script():
    spec = util.spec_from_file_location("dependencies_of_docs", ROOT / "docs" / "dependencies.py")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_package_that_overt_brings_has_a_licence_that_fits():
    dependencies = script()
    found = {name: dependencies.licence_of(name) for name in dependencies.packages()}
    assert len(found) > 30
    odd = {name: said for name, said in found.items() if not set(re.split(r" (?:AND|OR) ", said)) <= PERMISSIVE}
    assert odd == {}


def test_the_page_lists_what_is_asked_for_as_pyproject_has_it():
    page = (ROOT / "docs" / "reference" / "dependencies.md").read_text("utf-8")
    asked = [line for line in script().table() if "what others ask for" not in line]
    assert len(asked) > 15
    assert [line for line in asked if line not in page] == []


def test_the_oldest_versions_are_those_that_pyproject_admits():
    """Whoever raises a bound runs `make lowest-versions`, and with it `make test-lowest`."""
    lines = (ROOT / "requirements-lowest.txt").read_text("utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    for name, version in script().lowest().items():
        assert re.fullmatch(rf"{re.escape(version)}(\.\d+)*", pinned[name]), name


def test_what_the_studio_ships_has_its_licence_beside_it():
    scripts = {path.name.removesuffix(".min.js") for path in VENDORED.glob("*.js")}
    licences = {path.stem for path in VENDORED.glob("*.LICENSE")}
    assert scripts == licences and len(scripts) > 3
    assert "Mike Bostock" in (VENDORED / "vega.LICENSE").read_text("utf-8")  # its file contains D3


@pytest.mark.slow
def test_the_bill_of_materials_names_every_package_and_script_and_no_other(tmp_path):
    """As `make sbom` writes it: tools for development, which are installed here too, are no parts of Overt."""
    into = tmp_path / "overt.cdx.json"
    words = [sys.executable, ROOT / "docs" / "bill_of_materials.py", into]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(into.read_text("utf-8"))
    parts = [canonicalize_name(part["name"]) for part in found["components"]]
    scripts = {"htmx-org", "vega", "vega-embed", "vega-lite"}
    assert sorted(parts) == sorted({*script().packages(), *scripts})
    refs = {found["metadata"]["component"]["bom-ref"], *(part["bom-ref"] for part in found["components"])}
    assert {line["ref"] for line in found["dependencies"]} == refs
    assert all(set(line.get("dependsOn", ())) <= refs for line in found["dependencies"])
    shipped = {hashlib.sha256(path.read_bytes()).hexdigest(): path.read_text("utf-8") for path in VENDORED.glob("*.js")}
    named = {
        part["hashes"][0]["content"]: part["version"]
        for part in found["components"]
        if part["bom-ref"].startswith(("htmx", "vega"))
    }
    assert named.keys() == shipped.keys()
    assert all(f'"{version}"' in shipped[digest] for digest, version in named.items())
