# SPDX-License-Identifier: Apache-2.0
"""On which line of a TOML text each key stands, so that an error can point there.

`tomllib` forgets positions. This scanner walks a text that `tomllib` has accepted, so it only tells
keys, strings, brackets and comments apart; it never has to judge the syntax.
"""

import re
import tomllib
from typing import Any

KeyPath = tuple[str | int, ...]  # the keys, and positions in arrays, that lead to a value

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[A-Za-z0-9_-]+')
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}' r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]+")


def document_of(text: str) -> dict[str, Any]:
    """The document that a text is; whatever cannot be read raises `TOMLDecodeError`, which the standard library does not promise.

    >>> document_of("a = " + "9" * 5_000)
    Traceback (most recent call last):
    tomllib.TOMLDecodeError: A number is too long, or values are nested too deeply
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except (ValueError, RecursionError):
        raise tomllib.TOMLDecodeError("A number is too long, or values are nested too deeply") from None


def lines_of_keys(text: str) -> dict[KeyPath, int]:
    r"""The line (from 1) of every key and of every element of an array.

    >>> lines_of_keys('a = 1\n[b]\nc = [7,\n  8]')
    {('a',): 1, ('b',): 2, ('b', 'c'): 3, ('b', 'c', 0): 3, ('b', 'c', 1): 4}
    """
    scanner = _Scanner(text)
    scanner.document()
    return scanner.lines


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self.n_tables: dict[KeyPath, int] = {}  # how many tables each array of tables has so far
        self.counted = (0, 1)  # (position, its line): lines are counted forward only

    def document(self) -> None:
        table: KeyPath = ()
        self.take(_BLANK)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.pair(table)
            self.take(_BLANK)

    def header(self) -> KeyPath:
        array = self.text.startswith("[[", self.at)
        line = self.line()
        self.at += 2 if array else 1
        self.take(_BLANK)
        *outer, last = self.key()
        path: KeyPath = ()
        for name in outer:
            path = self.inside((*path, name))
            self.lines.setdefault(path, line)
        path = (*path, last)
        self.lines.setdefault(path, line)
        if array:
            self.n_tables[path] = self.n_tables.get(path, 0) + 1
            path = self.inside(path)
            self.lines[path] = line
        self.take(_BLANK)
        self.at += 2 if array else 1
        return path

    def inside(self, path: KeyPath) -> KeyPath:
        """A path through an array of tables means its latest table."""
        return (*path, self.n_tables[path] - 1) if path in self.n_tables else path

    def pair(self, table: KeyPath) -> None:
        line = self.line()
        path = table
        for name in self.key():
            path = (*path, name)
            self.lines.setdefault(path, line)
        self.take(_BLANK)
        self.at += 1  # the equals sign
        self.take(_BLANK)
        self.value(path)

    def key(self) -> list[str]:
        names = [_unquoted(self.take(_KEY))]
        while self.take(_DOT):
            names.append(_unquoted(self.take(_KEY)))
        return names

    def value(self, path: KeyPath) -> None:
        if self.text[self.at] == "[":
            self.items("]", path)
        elif self.text[self.at] == "{":
            self.items("}", path)
        elif not self.take(_STRING):
            self.take(_SCALAR)

    def items(self, closing: str, path: KeyPath) -> None:
        self.at += 1
        self.take(_BLANK)
        position = 0
        while self.text[self.at] != closing:
            if closing == "}":
                self.pair(path)
            else:
                self.lines[(*path, position)] = self.line()
                self.value((*path, position))
            position += 1
            self.take(_BLANK)
            if self.text[self.at] == ",":
                self.at += 1
                self.take(_BLANK)
        self.at += 1

    def take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found.group()

    def line(self) -> int:
        position, line = self.counted
        line += self.text.count("\n", position, self.at)
        self.counted = (self.at, line)
        return line


def _unquoted(key: str) -> str:
    if key[0] not in "\"'":
        return key
    (name,) = tomllib.loads(f"{key} = 0")
    return name
