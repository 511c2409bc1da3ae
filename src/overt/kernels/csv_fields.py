# SPDX-License-Identifier: Apache-2.0
"""Separated text: where the fields of each record lie, and a number for every distinct text."""

import numpy as np

from overt.kernels.compiler import kernel

FINE, RAGGED, TEXT_AFTER_QUOTE, OPEN_QUOTE = 0, 1, 2, 3  # what `split_records` found

_SPACE, _TAB, _RETURN, _QUOTE = 32, 9, 13, 34
_ALL, _LOW = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0xFFFFFFFF)


@kernel
def split_records(block, n_bytes, is_last, by_line, tells_empty, separator, newline, place_of_field, starts, stops):
    """Find the fields of all whole records in `block[:n_bytes]`.

    `place_of_field[f]` is the line of `starts` and `stops` that takes field f, or -1 if nobody wants it. A
    doubled quote in a quoted field is made a single one, in place. Returns (n_records, n_bytes of whole records,
    n_lines of whole records, problem, n_fields of the record with the problem).

    With `by_line` every line is a record, quotes end with it, and a record with a problem has -1 for all starts and stops.
    With `tells_empty` a field of nothing, not even quotes, has -1 for both.
    """
    n_fields = place_of_field.size
    position = n_records = n_lines = 0
    while position < n_bytes:
        at = position
        lines = field = 0
        has_doubled = False
        problem = FINE
        while True:
            begin = at
            while at < n_bytes and block[at] == _SPACE:
                at += 1
            doubled = False
            is_quoted = at < n_bytes and block[at] == _QUOTE
            if is_quoted:
                at += 1
                begin = at
                closed = False
                while at < n_bytes:
                    byte = block[at]
                    if byte == _QUOTE:
                        if at + 1 < n_bytes and block[at + 1] == _QUOTE:
                            doubled = True
                            at += 2
                            continue
                        closed = True
                        break
                    if byte == newline:
                        if by_line:
                            break
                        lines += 1
                    at += 1
                stop = at
                if not closed:
                    problem = OPEN_QUOTE
                else:
                    at += 1
                    while at < n_bytes and block[at] != separator and block[at] != newline:
                        if block[at] != _SPACE and block[at] != _TAB and block[at] != _RETURN:
                            problem = TEXT_AFTER_QUOTE
                            break
                        at += 1
            else:
                while at < n_bytes and block[at] != separator and block[at] != newline:
                    at += 1
                stop = at
                if stop > begin and block[stop - 1] == _RETURN and (at == n_bytes or block[at] == newline):
                    stop -= 1
            if at == n_bytes and not is_last:
                return n_records, position, n_lines, FINE, 0
            if problem != FINE:
                field += 1
                break
            if field < n_fields:
                place = place_of_field[field]
                if place >= 0:
                    is_nothing = tells_empty and not is_quoted and stop == begin
                    starts[place, n_records] = -1 if is_nothing else begin
                    stops[place, n_records] = -1 if is_nothing else ~stop if doubled else stop
                    has_doubled |= doubled
            field += 1
            if at == n_bytes or block[at] == newline:
                break
            at += 1
        is_blank = field == 1 and stop == begin and at - position <= 1
        if problem != FINE or not (is_blank and n_fields > 1):
            if problem == FINE and field != n_fields:
                problem = RAGGED
            if problem != FINE:
                if not by_line:
                    return n_records, position, n_lines, problem, field
                while at < n_bytes and block[at] != newline:
                    at += 1
                if at == n_bytes and not is_last:
                    return n_records, position, n_lines, FINE, 0
                starts[:, n_records] = -1
                stops[:, n_records] = -1
            elif has_doubled:
                for place in range(starts.shape[0]):
                    if stops[place, n_records] < 0 <= starts[place, n_records]:
                        stops[place, n_records] = _undouble(block, starts[place, n_records], ~stops[place, n_records])
            n_records += 1
        position = min(at + 1, n_bytes)
        n_lines += lines + 1
    return n_records, position, n_lines, FINE, 0


@kernel
def _undouble(block, start, stop):
    """Make `""` a single quote in `block[start:stop]`; returns the new stop."""
    write = read = start
    while read < stop:
        block[write] = block[read]
        if block[read] == _QUOTE:
            read += 1
        read += 1
        write += 1
    return write


@kernel
def scatter(key):
    """Spread the bits of a key. Products of halves never overflow, so nothing changes without the compiler."""
    low = (key & _LOW) * np.uint64(0x9E3779B1)
    key = low ^ (((key >> np.uint64(32)) ^ (low >> np.uint64(32))) * np.uint64(0x85EBCA77))
    return key ^ (key >> np.uint64(32))


@kernel
def _bytes_at(words, position, n_bytes):
    """Up to eight bytes from a position on, as a number."""
    if n_bytes <= 0:
        return np.uint64(0)
    shift = np.uint64((position & 7) * 8)
    both = (words[position >> 3] >> shift) | ((words[(position >> 3) + 1] << np.uint64(1)) << (np.uint64(63) - shift))
    return both & (_ALL >> np.uint64(64 - 8 * min(n_bytes, 8)))


@kernel
def number_texts(block, starts, stops, slots, entries, arena, n_texts, n_arena, codes):
    """Give every text `block[starts[i]:stops[i]]` the number of its first occurrence, in `codes`.

    `entries[t]` knows the distinct text t: its first eight bytes, the next eight (of one longer than 16: a hash of the
    rest), where it begins in `arena`, and its length. In `arena` every text is followed by the byte 31. `slots` is an
    open hash table from texts to their numbers (a power of two, at least half empty), -1 where free. `block` is a
    multiple of 8 bytes, and 8 longer than what is read. A start of -1 is no text and has the number -1. Returns (n_texts,
    n_arena).
    """
    words = block.view(np.uint64)
    for i in range(starts.size):
        start = np.int64(starts[i])
        if start < 0:
            codes[i] = -1
            continue
        length = stops[i] - start
        head = _bytes_at(words, start, length)
        tail = _bytes_at(words, start + 8, length - 8)
        for done in range(16, length, 8):
            tail = scatter(tail) ^ _bytes_at(words, start + done, length - done)
        slot = _slot(slots, head, tail, np.uint64(length))
        while True:
            code = slots[slot]
            if code < 0:
                code = n_texts
                slots[slot] = code
                entries[code, 0] = head
                entries[code, 1] = tail
                entries[code, 2] = n_arena
                entries[code, 3] = length
                arena[n_arena : n_arena + length] = block[start : start + length]
                arena[n_arena + length] = 31
                n_arena += length + 1
                n_texts += 1
                break
            if entries[code, 0] == head and entries[code, 1] == tail and entries[code, 3] == np.uint64(length):
                same = True
                first = np.int64(entries[code, 2])
                for j in range(8 if length > 16 else length, length):  # up to 16 bytes, the entry is the text itself
                    if arena[first + j] != block[start + j]:
                        same = False
                        break
                if same:
                    break
            slot = (slot + 1) & (slots.size - 1)
        codes[i] = code
    return n_texts, n_arena


@kernel
def _slot(slots, head, tail, length):
    """Where the search for a text begins."""
    return np.int64(scatter(head ^ scatter(tail ^ length)) & np.uint64(slots.size - 1))


@kernel
def place_texts(slots, entries, n_texts):
    """Fill an empty hash table with the texts that are numbered already."""
    for code in range(n_texts):
        slot = _slot(slots, entries[code, 0], entries[code, 1], entries[code, 3])
        while slots[slot] >= 0:
            slot = (slot + 1) & (slots.size - 1)
        slots[slot] = code
