# SPDX-License-Identifier: Apache-2.0
"""Records that a reader could take amiss: of three columns, job, code and day."""

DIGITS = "9" * 5000
CSV_RECORDS = {
    "not UTF-8": b"caf\xe9,1011,2024-03-31",
    "all bytes": bytes(set(range(256)) - {10}),
    "fractional": b"caf\xc3\xa9,1011.5,2024-03-31",
    "open quote": b'"caf\xc3\xa9,1011,2024-03-31',
    "text after quote": b'"a"b,1,2',
    "ragged": b"x;1;2|3\t4,,,,,",
    "huge integer": b"x," + DIGITS.encode() + b",0",
    "zero bytes and marks": b"\xef\xbb\xbf\x00,\x1f,\xff\xfe",
    "line ends in quotes": b'"a\nb","\r\n",""\r',
    "nothing": b",,",
}
JSON_RECORDS = {
    "not UTF-8": b'{"job": "caf\xe9", "code": 1011}',
    "fractional": b'{"job": "x", "code": 1011.5}',
    "huge integer": b'{"code": ' + DIGITS.encode() + b"}",
    "huge number": b'{"code": 1e999, "day": -1e999, "job": NaN}',
    "list": b'{"code": [1, 2], "job": {"a": 1}, "day": [["2024-03-31"]]}',
    "deep": b'{"code": ' + b"[" * 100_000,
    "no object": b"[1, 2]",
    "no JSON": b'\x00}{"',
    "other keys": b'{"Code": 1, "": 2, "code\\u0000": 3}',
    "half a surrogate": b'{"job": "\\ud800", "day": "2024-03-31T25:00"}',
    "nulls": b'{"job": null, "code": null, "day": null}',
    "mark": b'\xef\xbb\xbf{"job": true}',
}
TYPED_RECORDS = {
    "fractional": ("café", 1011.5, "2024-03-31"),
    "infinite": ("x", float("inf"), ""),
    "not a number": ('"\n\0,', float("nan"), "0000-00-00"),
    "huge number": ("*", 1e300, "9" * 5000),
    "nulls": (None, None, None),
}
