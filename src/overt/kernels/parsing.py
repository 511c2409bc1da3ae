# SPDX-License-Identifier: Apache-2.0
"""Separated text: where the fields of each record lie, and a number for every distinct text."""

import numpy as np

from overt.kernels.compiling import kernel

FINE, RAGGED, TEXT_AFTER_QUOTE, OPEN_QUOTE = 0, 1, 2, 3  # what `split_records` found

_SPACE, _TAB, _RETURN, _QUOTE = 32, 9, 13, 34
_ONE, _SEVEN, _EIGHT, _THIRTEEN, _SEVENTEEN = (np.uint64(n) for n in (1, 7, 8, 13, 17))


@kernel
def split_records(block, n_bytes, is_last, separator, newline, place_of_field, starts, stops):
    """Find the fields of all whole records in `block[:n_bytes]`.

    `place_of_field[f]` is the line of `starts` and `stops` that takes field f, or -1 if nobody wants it. A
    doubled quote in a quoted field is made a single one, in place. Returns (n_records, n_bytes of whole records,
    n_lines of whole records, problem, n_fields of the record with the problem).
    """
    n_fields = place_of_field.size
    position = n_records = n_lines = 0
    while position < n_bytes:
        at = position
        lines = field = 0
        has_doubled = False
        while True:
            begin = at
            while at < n_bytes and block[at] == _SPACE:
                at += 1
            doubled = False
            if at < n_bytes and block[at] == _QUOTE:
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
                        lines += 1
                    at += 1
                if not closed:
                    if is_last:
                        return n_records, position, n_lines, OPEN_QUOTE, field + 1
                    return n_records, position, n_lines, FINE, 0
                stop = at
                at += 1
                while at < n_bytes and block[at] != separator and block[at] != newline:
                    if block[at] != _SPACE and block[at] != _TAB and block[at] != _RETURN:
                        return n_records, position, n_lines, TEXT_AFTER_QUOTE, field + 1
                    at += 1
            else:
                while at < n_bytes and block[at] != separator and block[at] != newline:
                    at += 1
                stop = at
                if stop > begin and block[stop - 1] == _RETURN and (at == n_bytes or block[at] == newline):
                    stop -= 1
            if at == n_bytes and not is_last:
                return n_records, position, n_lines, FINE, 0
            if field < n_fields:
                place = place_of_field[field]
                if place >= 0:
                    starts[place, n_records] = begin
                    stops[place, n_records] = ~stop if doubled else stop
                    has_doubled |= doubled
            field += 1
            if at == n_bytes or block[at] == newline:
                break
            at += 1
        is_blank = field == 1 and stop == begin and at - position <= 1
        if not (is_blank and n_fields > 1):
            if field != n_fields:
                return n_records, position, n_lines, RAGGED, field
            if has_doubled:
                for place in range(starts.shape[0]):
                    if stops[place, n_records] < 0:
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
def _scatter(key):
    """Spread the bits of a key (xorshift: shifts alone never overflow, so nothing changes without the compiler)."""
    key ^= key << _THIRTEEN
    key ^= key >> _SEVEN
    key ^= key << _SEVENTEEN
    return key


@kernel
def number_texts(block, starts, stops, slots, keys, firsts, arena, n_texts, codes):
    """Give every text `block[starts[i]:stops[i]]` the number of its first occurrence, in `codes`.

    The distinct texts so far are `arena[firsts[t]:firsts[t + 1] - 1]`, each followed by the byte 31. `slots` is an
    open hash table (a power of two, at least half empty) from `keys` to numbers, -1 where free. Returns n_texts.
    """
    mask = np.uint64(slots.size - 1)
    for i in range(starts.size):
        start = starts[i]
        length = stops[i] - start
        key = np.uint64(length)
        word = np.uint64(0)
        for j in range(length):
            if j & 7 == 0 and j > 0:
                key = _scatter(key ^ word)
                word = np.uint64(0)
            word = (word << _EIGHT) | np.uint64(block[start + j])
        key = word if length <= 8 else key ^ word  # up to eight bytes and their number are the text itself
        slot = _scatter(key ^ np.uint64(length)) & mask
        while True:
            code = slots[np.int64(slot)]
            if code < 0:
                code = n_texts
                slots[np.int64(slot)] = code
                keys[code] = key
                first = firsts[code]
                for j in range(length):
                    arena[first + j] = block[start + j]
                arena[first + length] = 31
                firsts[code + 1] = first + length + 1
                n_texts += 1
                break
            first = firsts[code]
            if keys[code] == key and firsts[code + 1] - first - 1 == length:
                same = True
                if length > 8:
                    for j in range(length):
                        if arena[first + j] != block[start + j]:
                            same = False
                            break
                if same:
                    break
            slot = (slot + _ONE) & mask
        codes[i] = code
    return n_texts


@kernel
def place_texts(slots, keys, firsts, n_texts):
    """Fill an empty hash table with the texts that are numbered already."""
    mask = np.uint64(slots.size - 1)
    for code in range(n_texts):
        slot = _scatter(keys[code] ^ np.uint64(firsts[code + 1] - firsts[code] - 1)) & mask
        while slots[np.int64(slot)] >= 0:
            slot = (slot + _ONE) & mask
        slots[np.int64(slot)] = code
