# SPDX-License-Identifier: Apache-2.0
import io
import sys
import time

import numpy as np
import pytest
from numba import njit

from overt.cli import progress as module
from overt.cli.progress import COMPILING, progress
from overt.progress import silent


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_quiet_is_silent(capsys):
    with progress(quiet=True) as on_progress:
        assert on_progress is silent
    assert capsys.readouterr() == ("", "")


def test_a_line_per_stage_where_there_is_no_terminal(capsys):
    with progress() as on_progress:
        for stage, done in (("Reading", 0), ("Reading", 5), ("Cutting", 0), ("Reading", 0)):
            on_progress(stage, done, 10)
    assert capsys.readouterr() == ("", "Reading\nCutting\nReading\n")


def test_compiling_is_told_once(capsys, monkeypatch):
    monkeypatch.setattr(module, "_first_on_this_machine", lambda: True)
    with progress() as on_progress:
        on_progress("Cutting", 0, 10)
        for step in (1, 2):
            loop = njit(lambda codes, step=step: codes + step)
            loop(np.zeros(3))
        on_progress("Cutting", 5, 10)
    assert capsys.readouterr().err == f"Cutting\n{COMPILING}\n"


def in_terminal(monkeypatch, patience=module.PATIENCE):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(module, "PATIENCE", patience)
    return sys.stderr


def wait_for(terminal, text):
    """Until a text is shown; a busy machine may take its time."""
    for _ in range(600):
        if text in terminal.getvalue():
            return
        time.sleep(0.05)


def test_a_quick_run_leaves_the_terminal_alone(monkeypatch):
    terminal = in_terminal(monkeypatch)
    with progress() as on_progress:
        on_progress("Reading", 0, 10)
    assert terminal.getvalue() == ""


def test_a_long_run_shows_a_bar_and_takes_it_away(monkeypatch):
    terminal = in_terminal(monkeypatch, patience=0.01)
    with progress() as on_progress:
        on_progress("Reading [b]people[/b]", 3, 10)
        wait_for(terminal, "Reading")
        on_progress("Cutting", 0, 0)
        wait_for(terminal, "Cutting")
    shown = terminal.getvalue()
    assert "Reading [b]people[/b]" in shown and "Cutting" in shown
    assert shown.endswith("\x1b[2K")  # the line is erased


def test_a_bar_ends_with_the_work_that_fails(monkeypatch):
    terminal = in_terminal(monkeypatch, patience=0.01)
    with pytest.raises(KeyboardInterrupt), progress() as on_progress:
        on_progress("Reading", 3, 10)
        wait_for(terminal, "Reading")
        raise KeyboardInterrupt
    assert terminal.getvalue().endswith("\x1b[2K")


def test_compiling_is_told_once_on_a_machine_also_where_the_package_is_read_only(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(module.overt.kernels, "__file__", str(tmp_path / "kernels" / "__init__.py"))
    assert [module._first_on_this_machine() for _ in range(3)] == [True, False, False]
    (tmp_path / "a file").write_text("")
    monkeypatch.setattr(module.overt.kernels, "__file__", str(tmp_path / "a file" / "__init__.py"))
    assert [module._first_on_this_machine() for _ in range(3)] == [True, False, False]  # remembered at home
    monkeypatch.setenv("HOME", str(tmp_path / "a file"))
    assert module._first_on_this_machine()  # nowhere to remember it: said again rather than never
