# SPDX-License-Identifier: Apache-2.0
"""What a release says of a table, by replaying a method with every table and every coin, in plain Python and fractions.

`make(people, values, coins)` is a method: it gives a release as (seen, groups), where `seen` is everything that somebody sees
who knows who is where, and `groups` are lists of people with the values of each; or None where it refuses. `values[person]`
is anything.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations, product
from math import factorial

import numpy as np


class EveryCoin:
    """Stands in for a generator; every draw is one of finitely many equally likely ones, and all are gone through in turn."""

    def __init__(self, path):
        self.path, self.used, self.n_outcomes = path, 0, 1

    def one_of(self, n_options):
        if self.used == len(self.path):
            self.path.append([0, n_options])
        chosen, known = self.path[self.used]
        assert known == n_options, "the same coins must lead to the same draws"
        self.used += 1
        self.n_outcomes *= n_options
        return chosen

    def permutation(self, things):
        things = np.arange(things) if np.ndim(things) == 0 else np.asarray(things)
        number, left, order = self.one_of(factorial(len(things))), list(range(len(things))), []
        for n in range(len(things), 0, -1):
            number, place = divmod(number, n)
            order.append(left.pop(place))
        return things[order]

    def shuffle(self, things):
        things[:] = self.permutation(things)

    def integers(self, low, high=None):
        low, high = (0, low) if high is None else (low, high)
        return low + self.one_of(int(high - low))

    def choice(self, things):
        return things[self.one_of(len(things))]

    def random(self, shape):
        """Numbers that say which of two: each is in the middle of one half."""
        return np.array([(2 * self.one_of(2) + 1) / 4 for _ in range(int(np.prod(shape)))]).reshape(shape)

    @classmethod
    def replay(cls, play):
        """Every result of `play(coins)`, each with its probability."""
        path = []
        while True:
            coins = cls(path)
            result = play(coins)
            yield result, Fraction(1, coins.n_outcomes)
            del path[coins.used :]
            while path and path[-1][0] + 1 == path[-1][1]:
                path.pop()
            if not path:
                return
            path[-1][0] += 1


def laws(make, values):
    """(seen) -> (table) -> P(seen | table), for every way to hand these values to people; and the groups of what is seen."""
    law, groups_of = defaultdict(lambda: defaultdict(Fraction)), {}
    for table in sorted(set(permutations(values))):
        for made, probability in EveryCoin.replay(lambda coins, table=table: make(table, coins)):
            if made is not None:
                seen, groups = made
                law[seen][table] += probability
                groups_of[seen] = groups
    return law, groups_of


def fits(table, groups):
    """Whether a table gives every group exactly the values that it shows."""
    return all(Counter(table[p] for p in people) == Counter(values) for people, values in groups)


def learnt(make, values):
    """What a replay teaches: (what is seen that some table it fits is likelier to lead to than another, the largest gain).

    The gain is how far somebody's posterior of a value lies from its share in their group, if all tables were equally likely before.
    """
    law, groups_of = laws(make, values)
    assert law, "the method refuses every table, and so nothing was tried"
    return learnt_of(law, groups_of, values)


def learnt_of(law, groups_of, values):
    """The same of laws that are known."""
    tables, uneven, gain = sorted(set(permutations(values))), [], Fraction(0)
    for seen, of_table in law.items():
        if len({of_table.get(table, 0) for table in tables if fits(table, groups_of[seen])}) > 1:
            uneven.append(seen)
        whole = sum(of_table.values())
        for people, shown in groups_of[seen]:
            share = {value: Fraction(count, len(shown)) for value, count in Counter(shown).items()}
            for person in people:
                believed = Counter()
                for table, weight in of_table.items():
                    believed[table[person]] += weight / whole
                gain = max(gain, *(abs(believed[v] - share.get(v, 0)) for v in set(believed) | set(share)))
    return uneven, gain


def most_believed(make, values):
    """The greatest probability that somebody has a value, given what is seen, if all tables were equally likely before: also of people in no group."""
    most = Fraction(0)
    for of_table in laws(make, values)[0].values():
        believed = Counter()
        for table, weight in of_table.items():
            believed.update(dict.fromkeys(enumerate(table), weight))
        most = max(most, max(believed.values()) / sum(of_table.values()))
    return most


def learnt_of_the_others(make, values, pilot):
    """What a replay teaches of the people who are not in a pilot: (what is seen that is likelier under another table with the same pilot, the gain).

    The groups of what is seen hold the others alone. The gain is as above: of all tables, whatever the pilot's people have.
    """
    law, groups_of = laws(make, values)
    tables, uneven, gain = sorted(set(permutations(values))), [], Fraction(0)
    for seen, of_table in law.items():
        weights = defaultdict(set)
        for table in tables:
            if fits(table, groups_of[seen]):
                weights[tuple(table[person] for person in pilot)].add(of_table.get(table, 0))
        uneven += [seen for of_pilot in weights.values() if len(of_pilot) > 1]
        whole = sum(of_table.values())
        for people, shown in groups_of[seen]:
            for person, value in product(people, set(values)):
                believed = sum(weight for table, weight in of_table.items() if table[person] == value) / whole
                gain = max(gain, abs(believed - Fraction(shown.count(value), len(shown))))
    return uneven, gain
