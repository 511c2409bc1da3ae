# SPDX-License-Identifier: Apache-2.0
"""Which rows can be behind which lines, decided by trying: nothing is indexed, counted or shared."""

from itertools import permutations


def most_pairs(fits):
    """The size of a maximum matching; `fits[row]` lists the lines that a row can be behind."""
    row_of_line = {}

    def place(row, tried):
        for line in fits[row]:
            if line not in tried:
                tried.add(line)
                if line not in row_of_line or place(row_of_line[line], tried):
                    row_of_line[line] = row
                    return True
        return False

    return sum(place(row, set()) for row in range(len(fits)))


def most_true_lines(rows, lines):
    """Rows are (codes, value); lines are (sets of codes, value)."""
    fits = [
        [
            number
            for number, (cells, shown) in enumerate(lines)
            if shown == value and all(code in cell for code, cell in zip(codes, cells, strict=True))
        ]
        for codes, value in rows
    ]
    return most_pairs(fits)


def can_be_in_buckets(rows, people, values):
    """Whether rows (person, value) can be the published people (person, bucket) with values (value, bucket)."""
    for order in set(permutations(people)):
        if all(person == shown for (person, _), (shown, _) in zip(rows, order, strict=True)):
            spread = [(value, bucket) for (_, value), (_, bucket) in zip(rows, order, strict=True)]
            if sorted(spread) == sorted(values):
                return True
    return False
