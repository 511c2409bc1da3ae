# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/test_explain.py
"""Glossary: the words of a report, each in a sentence or two. The same definitions are what `overt explain` says of them."""

from overt.markup import Markup, element

GLOSSARY: dict[str, str] = {
    "quasi-identifier": "A column that others may know about a person, such as age, postcode or sex. It is released as coarser values.",
    "sensitive": "A column whose value nobody should learn about a person, such as a diagnosis or an income.",
    "identifier": "A column that identifies a person, such as a name or a telephone number. It is never released.",
    "group": "The people for whom a release shows the same. Somebody who looks for one of them finds all of them.",
    "bucket": "Rows whose sensitive values are listed together, without saying which value belongs to whom.",
    "release": "What is published: the files or tables that a method makes.",
    "suppressed": "Rows that are left out of a release because no group could be found for them.",
    "replay": "To run the published method again, on every table that fits a release, and to rule out those that give another one.",
    "strong": "Replaying the method adds nothing to what the release shows, whatever somebody believed before.",
    "weak": (
        "The promise also holds against somebody who replays the method, if they do not know how values depend on quasi-identifiers. "
        "Somebody who knows more can learn more than is promised by replaying."
    ),
    "none": "The promise is for readers who do not replay the method. For those who do, it may not hold.",
    "prosecutor": "An attacker who knows that a certain person is in the table and looks for their row.",
    "journalist": "An attacker who looks for anybody at all, to show that it can be done.",
    "marketer": "An attacker who matches as many people as possible and is content if many matches are right.",
    "audit": "A measurement of what somebody who replays the method can conclude about each person.",
    "pilot": "Randomly drawn people whose values may be looked at when goals are chosen. They are not published.",
    "person": "Whoever a row is about. If somebody can have several rows, `person` in a recipe names the column that says whose each is, and people are counted.",
    "household": "People who live together. Named as the person, what is promised is that nobody learns whether anyone in it has a value.",
    "keep": "How many rows of each person are published at most; the others are cut before anything is planned, and never by what they say.",
    "box": "What a release shows of people who look alike: a range or a set for each quasi-identifier.",
    "base rate": "The share of all people who have a value. A bound is read beside it: a value that 2 % have may be as frequent as its goal says.",
    "known for certain": "Everybody who could be this person has the same value, so there is nothing to guess.",
}
FOR_REPORTS = ("quasi-identifier", "sensitive", "group", "bucket", "replay", "strong", "weak", "prosecutor", "journalist", "marketer", "known for certain")  # fmt: skip


def section_of_glossary() -> Markup:
    """The words that a report uses."""
    words = [element("div", element("dt", word), element("dd", GLOSSARY[word])) for word in FOR_REPORTS]
    return element("dl", words, class_="glossary")


def block_to_sign() -> Markup:
    """Lines for those who decide to publish, to be filled in by hand."""
    lines = [
        element("div", element("span", words), element("span", class_="line"))
        for words in ("Decision", "Name", "Function", "Place and date", "Signature")
    ]
    about = "The decision applies only to files with these digests."
    return element("div", element("p", about), lines, class_="sign")
