# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_explain.py
"""Explanations: what a property or a method is, what it does not promise, and a tiny worked example, for `overt explain`.

The examples of properties are about the same two groups of four people, so that they can be compared; a test measures every number.
"""

from dataclasses import dataclass

GROUPS = (("flu", "flu", "gout", "HIV"), ("cold", "cold", "flu", "gout"))
EXAMPLE = "Two groups of four people: flu, flu, gout, HIV and cold, cold, flu, gout."


@dataclass(frozen=True)
class Explanation:
    """One term in three parts."""

    what: str
    not_promised: str
    example: str


PROPERTIES_EXPLAINED: dict[str, Explanation] = {
    "k-anonymity": Explanation(
        "Every group has at least k people, for whom the release shows the same. Somebody who looks for one of them finds at least k.",
        "Anything about sensitive values. If all k people have the same disease, everybody knows it.",
        f"{EXAMPLE} k = 4: the chance of finding somebody's row is at most 1 in 4.",
    ),
    "alpha-k-anonymity": Explanation(
        "Every group has at least k people, and no sensitive value has more than the share alpha of it.",
        "That the other values are plausible, or that a rare value stays rare.",
        f"{EXAMPLE} alpha = 0.5: half of the first group has flu, half of the second a cold.",
    ),
    "l-diversity": Explanation(
        "No sensitive value has more than 1/l of a group. So to a reader of the release, nobody's value has a probability above 1/l.",
        "That values differ in meaning (three kinds of cancer are three values), or that a rare value stays rare.",
        f"{EXAMPLE} l = 2: the most frequent value has half of its group. HIV, which 1 of 8 has, is 1 in 4 in the first group.",
    ),
    "distinct-l-diversity": Explanation(
        "Every group has at least l different sensitive values, however often each occurs.",
        "Any limit on what can be concluded: 97 of 100 people may have the same value. Ask for l-diversity instead.",
        f"{EXAMPLE} l = 3: each group has three different values.",
    ),
    "entropy-l-diversity": Explanation(
        "The sensitive values of every group are as mixed, measured by entropy, as l values that are equally frequent.",
        "A limit of 1/l on the most frequent value: one may have nine tenths of a group whose other rows are well spread.",
        f"{EXAMPLE} l = 2.828: shares of 1/2, 1/4 and 1/4 are as mixed as 2.828 equal ones.",
    ),
    "recursive-c-l-diversity": Explanation(
        "In every group, the most frequent value occurs less than c times as often as the l-th most frequent value and all rarer ones together.",
        "A limit that can be stated as one probability.",
        f"{EXAMPLE} With l = 2 it holds for every c > 1: two rows with flu against two others.",
    ),
    "t-closeness": Explanation(
        "The sensitive values of every group are distributed as in the whole table, up to a distance of t.",
        "A limit on a single rare value: with t = 0.3 a value that 2 % have may have 32 % of a group. Ask for relative-risk.",
        f"{EXAMPLE} t = 0.25: a quarter of a group would have to change to look like the whole table.",
    ),
    "delta-disclosure": Explanation(
        "In every group the logarithm of a value's probability changes by less than delta, for every value of the table.",
        "That it can be reached: a group in which nobody has a rare value breaks it, whatever delta is.",
        f"{EXAMPLE} No delta holds: nobody in the second group has HIV, and this alone is information.",
    ),
    "basic-beta-likeness": Explanation(
        "In no group is a sensitive value more than 1 + beta times as frequent as in the whole table.",
        "Anything about values that become less likely.",
        f"{EXAMPLE} beta = 1: HIV is 1 in 4 of the first group and 1 in 8 of all, twice as much.",
    ),
    "enhanced-beta-likeness": Explanation(
        "The same as basic beta-likeness, and frequent values may gain less: at most by -ln of their share.",
        "Anything about values that become less likely.",
        f"{EXAMPLE} beta = 1: HIV is twice as frequent in the first group as among all.",
    ),
    "relative-risk": Explanation(
        "In no group is a sensitive value more than `times` times as frequent as in the whole table; of all values, or of those in `positive`.",
        "Anything about values that are not listed, or that become less likely. Groups with a copy of a rare value are large.",
        f"{EXAMPLE} times = 2: HIV is 1 in 4 of the first group and 1 in 8 of all.",
    ),
}


def _method(what: str, not_promised: str, goals: str, after: str) -> Explanation:
    return Explanation(what, not_promised, f"{goals}\n\n{after}" if goals else after)


K_AND_L = '[[goal]]\nproperty = "k-anonymity"\nk = 5\n\n[[goal]]\nproperty = "l-diversity"\nl = 3\n\n'
L_ALONE = '[[goal]]\nproperty = "l-diversity"\nl = 3\n\n'
KNOWS_MORE = "That nobody can guess: somebody who knows how values depend on quasi-identifiers guesses better than the release alone allows."
WEAK = (
    "Anything against somebody who replays the method and also knows how values depend on quasi-identifiers: "
    "its guarantee is weak."
)
REPLAY = "Anything against somebody who replays the method, where the goal looks at sensitive values."
NOT_FOR_USE = "What its paper claims. It is for study only: do not publish with it."
METHODS_EXPLAINED: dict[str, Explanation] = {
    "blind-buckets": _method(
        "Boxes of at least k people who look alike, and buckets into which sensitive values are dealt at random. Start with "
        "this method: replaying it adds nothing, for any goal and whatever somebody believed before (strong).",
        KNOWS_MORE,
        f'{K_AND_L}[method]\nname = "blind-buckets"',
        'One table shows "Age 30..39, Town A or B, bucket 7" for five people; another says that bucket 7 holds flu 4, gout 4, cold 4.',
    ),
    "anatomy": _method(
        "Quasi-identifiers as they are, with a bucket number; in a second table the l or more different sensitive values of every bucket. Strong.",
        "That nobody sees who is in the table: quasi-identifiers are exact.",
        f'{L_ALONE}[method]\nname = "anatomy"',
        '"Age 34, Town A, bucket 2" is in one table, and bucket 2 has flu, gout and cold in the other: each has a probability of 1 in 3.',
    ),
    "batch-matching": _method(
        "Groups of about l similar people with different values; the values had no influence on who is with whom.",
        WEAK,
        f'{L_ALONE}[method]\nname = "batch-matching"',
        "Three people aged 31 to 34 with flu, gout and cold form a group: each has each value with a probability of 1 in 3.",
    ),
    "cross-bucket": _method(
        "Boxes of at least k people crossed with buckets of l values. Without k-anonymity boxes hold one person: quasi-identifiers are then exact.",
        WEAK,
        f'{K_AND_L}[method]\nname = "cross-bucket"',
        "Five people share one box, and their values are in five buckets of three. Somebody who looks for a person finds five rows, and each value has a probability of a third.",
    ),
    "dealing": _method(
        "Random groups of l or a few more people with different values; quasi-identifiers are not used. Strong, and weak where k exceeds l.",
        "Useful detail: the people of a group have nothing in common.",
        f'{L_ALONE}[method]\nname = "dealing"',
        "Six people with flu, flu, gout, gout, cold, cold become two groups of three with three values each.",
    ),
    "rda": _method(
        "Groups of l rows, the most frequent values first; quasi-identifiers are not used. Strong, and weak where k exceeds l.",
        "Useful detail: the people of a group have nothing in common.",
        f'{L_ALONE}[method]\nname = "rda"',
        "The first group is led by somebody with the most frequent value, and two people with other values are drawn to them.",
    ),
    "ria": _method(
        "Every row draws l - 1 others with different values at random, and all that are linked form a group. Strong, and weak where k exceeds l.",
        "Useful detail: groups are often as large as the table.",
        f'{L_ALONE}[method]\nname = "ria"',
        "If 1 draws 2 and 3, and 3 draws 4 and 5, all five are one group.",
    ),
    "in-order": _method(
        "Levels of generalization tried from fine to coarse; the first that its strategy accepts is released, judged by what somebody who knows "
        "the method can conclude. It may also release nothing.",
        WEAK,
        f'{L_ALONE}[method]\nname = "in-order"',
        "Towns fail, counties hold: counties are released only if the failure of towns gives nobody away.",
    ),
    "mondrian": _method(
        "The table is cut in two by one column, and each part again, for as long as both parts satisfy the goal. With strict cuts for k-anonymity alone: strong.",
        REPLAY,
        '[[goal]]\nproperty = "k-anonymity"\nk = 5\n\n[method]\nname = "mondrian"',
        "Twelve people aged 20 to 60 are cut at 40, six on each side; a further cut would leave fewer than five.",
    ),
    "full-domain": _method(
        "Every column at one level of its hierarchy, the same for all rows: the combination that costs least. For k-anonymity alone: strong.",
        REPLAY,
        '[[goal]]\nproperty = "k-anonymity"\nk = 5\n\n[method]\nname = "full-domain"\nmax_suppressed = 0.02',
        "All birth dates become years and all postcodes their first three digits; two rows in a hundred may be left out.",
    ),
    "record-threshold": _method(
        "Each row is generalized on its own, for the least risk at a required utility, compared with an external database.",
        "Anything about groups, or about somebody who looks at more than one row.",
        '[method]\nname = "record-threshold"\nc = 0.5',
        "A woman of 97 becomes 90 and over, a man of 34 stays 34: he is one of many.",
    ),
    "record-lagrangian": _method(
        "Each row is generalized on its own, for the best balance of risk and utility, compared with an external database.",
        "Anything about groups, or about somebody who looks at more than one row.",
        '[method]\nname = "record-lagrangian"\nlam = 0.5',
        "A row that would be found by three people of the register is generalized further than one that would be found by three hundred.",
    ),
    "dp-cube": _method(
        "A random sample of rows, generalized by public hierarchies with the help of noisy counts; rows with few copies are left out. "
        "(epsilon, delta)-differential privacy: whether anybody is in the table hardly changes what is released.",
        "More than epsilon and delta say. The budgets of several releases about the same people add up.",
        '[method]\nname = "dp-cube"\nepsilon = 1\ndelta = 1e-6',
        'Of 10,000 rows about 3,000 appear, each with many copies: "30..39, county B" 41 times.',
    ),
    "dp-full-domain": _method(
        "The same with every column at one level, which a part of the budget decides.",
        "More than epsilon and delta say. The budgets of several releases about the same people add up.",
        '[method]\nname = "dp-full-domain"\nepsilon = 1\ndelta = 1e-6',
        "All ages become decades, because the noisy score of decades was the best.",
    ),
    "dp-sampling": _method(
        "The same with levels that are fixed beforehand, or chosen by an external database that is public.",
        "More than epsilon and delta say. The budgets of several releases about the same people add up.",
        '[method]\nname = "dp-sampling"\nepsilon = 1\ndelta = 1e-6',
        "Decades were chosen for ages before anybody looked at the data; rare combinations are left out.",
    ),
    "gda": _method(
        "Groups of similar people with different values, as printed in its paper.",
        NOT_FOR_USE,
        "",
        "Four people with a, a, b, c become {a, b} and {a, c}. Only one of the twelve ways to assign the values gives that: all four are known.",
    ),
    "algorithm-3-as-published-not-dp": _method(
        "A mechanism that draws a generalization for every row, as published.",
        NOT_FOR_USE,
        "",
        "overt distinguish tells a table with one certain row from the same table without it.",
    ),
    "algorithm-3-threshold-as-published-not-dp": _method(
        "The same for generalizations that are useful enough.",
        NOT_FOR_USE,
        "",
        "overt distinguish tells a table with one certain row from the same table without it.",
    ),
    "algorithm-4-as-published-not-dp": _method(
        "The same for rows with many generalizations.",
        NOT_FOR_USE,
        "",
        "overt distinguish tells a table with one certain row from the same table without it.",
    ),
}
WORDS_EXPLAINED: dict[str, tuple[str, str]] = {  # (what it does not mean, example) of the glossary's words
    "quasi-identifier": ("That it is harmless: three of them single out most people.", "Birth date, sex and postcode."),
    "sensitive": ("That it is hidden: it is published, so that nobody can tell whose it is.", "A diagnosis, an income, a vote."),
    "identifier": ("That leaving it out is enough: quasi-identifiers find people too.", "A name, a telephone number, a case number."),
    "group": ("That its people have different sensitive values.", '"Age 30..39, Town A" stands in five rows.'),
    "bucket": ("That its people look alike.", "Bucket 7 holds flu, gout and cold, and three rows say bucket 7."),
    "release": ("That it was checked; overt check does that from its files.", "release.csv and its manifest."),
    "suppressed": ("That it reveals nothing: if few rows are left out, their number may reveal something.", "The only person over 100."),
    "replay": ("That the adversary has the data. They have the release, the method and quasi-identifiers.", "Of 60 tables only 6 give this release, and in all of them two people have HIV."),
    "strong": ("That nobody can guess from other knowledge.", "blind-buckets for any goal; Mondrian with strict cuts for k-anonymity alone."),
    "weak": ("That it holds against somebody who knows that young men rarely have breast cancer.", "batch-matching, cross-bucket, in-order."),
    "none": ("That somebody will replay it. It only says that nothing is promised if they do.", "Mondrian with l-diversity."),
    "prosecutor": ("That the person is found: a chance of 1 in the size of the group.", "A neighbour who knows that you were in this hospital."),
    "journalist": ("That they know who is in the table.", "A newspaper that wants to name any one patient."),
    "marketer": ("That any single match is certain.", "A company that matches the release with its customers."),
    "audit": ("That there is nothing else: if it sampled, it may have missed something.", "overt audit recipe.toml --seconds 60"),
    "pilot": ("That these people may be published later: they are always left out.", "One person in ten, drawn by overt init."),
    "person": ("That rows can be counted instead: five rows that look alike may be one person.", 'person = "Patient ID" under [input].'),
    "household": (
        "That a second release for persons can stand beside it: both together reveal more than either. Its members are covered: that one has a value is never likelier than that anyone has it.",
        'overt init people.csv --person "household id"',
    ),
    "keep": ("Anything about the rows that were cut: with keep = 1 it is the published row that is protected, and not whether somebody has a value in any of their rows.", "keep = 3 under [input]: of five visits three are published."),
    "box": ("That its ends are somebody's values: on a grid they are rounded outward.", '"Age 30..39, Town A or B".'),
    "base rate": ("That a group stays near it: goals differ in how far above it a value may be.", "HIV: 2 % of all; with relative-risk and times = 2 at most 4 % of any group."),
    "known for certain": ("That only these people are at risk.", "All five people of a group have HIV."),
}  # fmt: skip
