# SPDX-License-Identifier: Apache-2.0
import io
import sys

from overt.cli.console import say_rows, say_table


class Terminal(io.StringIO):
    def isatty(self):
        return True


LONG = "a sentence that is longer than the terminal is wide, and names a/very/long/path/of/a/release.csv"


def test_a_pipe_gets_whole_lines(capsys):
    say_rows([("Files", LONG), ("Files", "b"), ("Check", "c")])
    assert capsys.readouterr().out == f"  Files     {LONG}\n            b\n  Check     c\n"


def test_a_terminal_gets_lines_wrapped_under_themselves(monkeypatch):
    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setattr(sys, "stdout", terminal)
    say_rows([("Files", LONG)])
    lines = terminal.getvalue().splitlines()
    assert lines[0].startswith("  Files     a sentence")
    assert all(line.startswith(" " * 12) for line in lines[1:])
    assert all(len(line) <= 50 for line in lines)
    assert "a/very/long/path/of/a/release.csv" in terminal.getvalue()


def test_a_table_is_aligned(capsys):
    say_table([["Age", "Sex"], ["7", "female"]])
    assert capsys.readouterr().out == "  Age  Sex\n  7    female\n"
