# SPDX-License-Identifier: Apache-2.0
"""What a line of a CSV file is if every line is a record by itself: from the definition, one character after the other."""

BLANKS = " \t\n\r\x0b\x0c\x85\xa0"  # what stands around a text and is no part of it


def cells_of_line(line, n_fields, separator=b",", encoding="utf-8"):
    """The cells of a line without its line feed: None for unknown ones; no list at all for a blank line."""
    line = line.removesuffix(b"\r")
    if not line and n_fields > 1:
        return None
    fields, rest = [], line
    while True:
        field, rest, is_sound = _first_field(rest, separator)
        fields.append(field)
        if not is_sound:
            return [None] * n_fields
        if rest is None:
            break
    return [_decoded(field, encoding) for field in fields] if len(fields) == n_fields else [None] * n_fields


def _first_field(text, separator):
    """(the field, what follows its separator or None, whether its quotes are sound)."""
    if not text.lstrip(b" ").startswith(b'"'):
        field, found, rest = text.partition(separator)
        return field, rest if found else None, True
    at, field = text.index(b'"') + 1, b""
    while True:
        end = text.find(b'"', at)
        if end < 0:
            return field, None, False
        field += text[at:end]
        if text[end + 1 : end + 2] != b'"':
            break
        field, at = field + b'"', end + 2
    blank, found, rest = text[end + 1 :].partition(separator)
    return field, rest if found else None, not blank.strip(b" \t\r")


def _decoded(field, encoding):
    try:
        return field.decode(encoding).strip(BLANKS) or None
    except UnicodeDecodeError:
        return None
