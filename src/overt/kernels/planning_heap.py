# SPDX-License-Identifier: Apache-2.0
"""A heap of values that gives the most frequent one first, ties by the lesser value.

A value and its count are one 64-bit key, so that comparing keys compares (count, then value backwards).
"""

import numpy as np

from overt.kernels.compiler import kernel

LAST = (1 << 31) - 1


@kernel
def key_of(count, value):
    """The key that sorts by count, and among equal counts puts the lesser value on top."""
    return (np.int64(count) << 31) | (LAST - value)


@kernel
def count_in(key):
    """The count that a key holds."""
    return key >> 31


@kernel
def value_in(key):
    """The value that a key holds."""
    return LAST - (key & LAST)


@kernel
def push(heap, size, key):
    """Put a key into the heap of this size; returns the new size."""
    place = size
    while place > 0:
        parent = (place - 1) >> 1
        if heap[parent] >= key:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = key
    return size + 1


@kernel
def pop(heap, size):
    """Take the greatest key out of the heap; it is left at `heap[size - 1]`, the new end."""
    top = heap[0]
    key = heap[size - 1]
    size -= 1
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= key:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = key
    heap[size] = top
    return top


@kernel
def fill_heap(heap, counts):
    """Put every value that occurs into the heap; returns its size."""
    size = 0
    for value in range(counts.size):
        if counts[value] > 0:
            size = push(heap, size, key_of(counts[value], value))
    return size
