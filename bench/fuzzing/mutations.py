# SPDX-License-Identifier: Apache-2.0
"""Mutations: bytes and JSON documents that are almost right."""

import json
import random
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

TOKENS = (
    b"", b"\0", b"\n", b"\r\n", b"\r", b",", b";", b"\t", b"|", b'"', b'""', b"'", b"=", b"#", b"[", b"]", b"{", b"}", b":", b"*", b"..", b"\\", b"\\u0000",
    b"-", b"-0", b"1e999", b"-1e-999", b"NaN", b"inf", b"1/0", b"0" * 400, b"9" * 400, b"18446744073709551616", b"2024-02-30", b"0000-00-00", b"99999-01-01",
    b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", "\u2028".encode(), "\U0001f600".encode(),
    "\u0661\u0662".encode(), "\u0130".encode(), b"PK\x03\x04", b"PAR1", b"ARROW1", b"\x1f\x8b\x08", b"SQLite format 3\0", b"true", b"null", b"or missing",
    b"[" * 2_000, b"{\"a\":" * 2_000, b"(" * 500, b" " * 3_000,
)  # fmt: skip
HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**70), 10**400, 0.5, -0.0, 1e308, float("inf"), float("nan"), "", "0", "1/0", "0/1", "-1", "\0", "*",
    "..", "../../etc/passwd", "/dev/null", "a" * 5_000, "\ud800", "\u0661", "\U0001f600", "2024-02-30", "1/3", "9" * 5_000, [], {}, [[]], [None], {"": None}, ["a", "a"],
)  # fmt: skip


def mutated(content: bytes, draw: random.Random, others: Sequence[bytes]) -> bytes:
    """Bytes after one to four changes."""
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 4))):
        n = len(content)
        begin = draw.randrange(n + 1)
        end = min(n, begin + draw.choice((0, 1, 1, 2, 4, 16, 64)))
        how = draw.randrange(8)
        if how == 0:  # a bit is another
            if begin < n:
                content = content[:begin] + bytes([content[begin] ^ (1 << draw.randrange(8))]) + content[begin + 1 :]
        elif how == 1:
            content = content[:begin] + content[end:]
        elif how == 2:
            content = content[:begin] + draw.choice(TOKENS) + content[end:]
        elif how == 3:
            content = content[:begin] + draw.randbytes(end - begin) + content[end:]
        elif how == 4:  # something stands twice, elsewhere
            place = draw.randrange(n + 1)
            content = content[:place] + content[begin:end] + content[place:]
        elif how == 5:
            content = content[:begin]
        elif how == 6:  # the end of another
            other = draw.choice(others)
            content = content[:begin] + other[draw.randrange(len(other) + 1) :]
        else:  # lines change places
            lines = content.split(b"\n")
            draw.shuffle(lines)
            content = b"\n".join(lines[:200])
    return content[:200_000]


def mutated_document(document: Any, draw: random.Random) -> Any:
    """A document in which one to three values or keys are others."""
    document = json.loads(json.dumps(document))
    for _ in range(draw.choice((1, 1, 2, 3))):
        document = _changed(document, draw)
    return document


def _changed(node: Any, draw: random.Random) -> Any:
    if isinstance(node, dict) and node and draw.random() < 0.85:
        key = draw.choice(list(node))
        how = draw.randrange(6)
        if how == 0:
            del node[key]
        elif how == 1:
            node[draw.choice(("", "x", "\0", key.upper(), "a" * 300))] = node[key]
        else:
            node[key] = _changed(node[key], draw)
        return node
    if isinstance(node, list) and node and draw.random() < 0.85:
        place = draw.randrange(len(node))
        how = draw.randrange(6)
        if how == 0:
            del node[place]
        elif how == 1:
            node.insert(place, node[draw.randrange(len(node))])
        else:
            node[place] = _changed(node[place], draw)
        return node
    if isinstance(node, str) and node and draw.random() < 0.5:
        place = draw.randrange(len(node))
        return (
            node[:place]
            + draw.choice(("", "0", "/", "\0", "é", "\U0001f600", "\ud800", '"', "9" * 30))
            + node[place + draw.randrange(2) :]
        )
    return deepcopy(draw.choice(HOSTILE))
